/* The engine of a program built without SimGrid. Such a program measures, calibrates and predicts on machines
 * where no packages can be installed. kvc_engine_open fails with a message; the other functions are never
 * reached. */
#include "sim/engine.h"

static _Noreturn void unreachable(void)
{
    KVC_BUG("the engine is used but not open");
}

enum kvc_status kvc_engine_open(const char *platform_path, const struct kvc_engine_host *hosts,
                                uint32_t count, struct kvc_diag *diag)
{
    (void)platform_path;
    (void)hosts;
    (void)count;
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                         "this kvcast was built without SimGrid and cannot simulate; it can predict, measure "
                         "and calibrate");
}

void kvc_engine_spawn(const char *name, const char *host, void (*body)(void *data), void *data)
{
    (void)name;
    (void)host;
    (void)body;
    (void)data;
    unreachable();
}

void kvc_engine_run(void)
{
    unreachable();
}

_Noreturn void kvc_engine_stop(void)
{
    unreachable();
}

double kvc_engine_now_ns(void)
{
    unreachable();
}

void kvc_engine_sleep_until_ns(double time_ns)
{
    (void)time_ns;
    unreachable();
}

void kvc_engine_occupy_ns(double duration_ns)
{
    (void)duration_ns;
    unreachable();
}

struct kvc_gate *kvc_gate_create(uint32_t tokens)
{
    (void)tokens;
    unreachable();
}

void kvc_gate_free(struct kvc_gate *gate)
{
    if (gate != NULL) {
        unreachable();
    }
}

void kvc_gate_wait(struct kvc_gate *gate)
{
    (void)gate;
    unreachable();
}

void kvc_gate_post(struct kvc_gate *gate)
{
    (void)gate;
    unreachable();
}

uint64_t kvc_engine_activities(void)
{
    return 0;
}

double kvc_engine_wall_s(void)
{
    return 0;
}
