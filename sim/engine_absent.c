/* The engine of a program built without SimGrid. Such a program measures, calibrates and predicts on machines
 * where no packages can be installed. kvc_engine_open fails with a message; the other functions that need
 * it are never reached. */
#include "sim/engine.h"

static _Noreturn void unreachable(void)
{
    KVC_BUG("the engine is used but not open");
}

bool kvc_engine_exists(void)
{
    return false;
}

enum kvc_status kvc_engine_open(struct kvc_partial_file *kept, const struct kvc_platform *platform,
                                struct kvc_diag *diag)
{
    (void)kept;
    (void)platform;
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                         "this kvcast was built without SimGrid and cannot simulate; it can predict, measure "
                         "and calibrate");
}

void kvc_engine_spawn(const char *name, void (*body)(void *data), void *data)
{
    (void)name;
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

void kvc_engine_start(struct kvc_work *work, const struct kvc_draw *draws, uint32_t count)
{
    (void)work;
    (void)draws;
    (void)count;
    unreachable();
}

void kvc_engine_finish(struct kvc_work *work)
{
    (void)work;
    unreachable();
}

struct kvc_poller *kvc_poller_create(uint32_t host)
{
    (void)host;
    unreachable();
}

void kvc_poller_free(struct kvc_poller *poller)
{
    (void)poller;
}

void kvc_poller_pause(struct kvc_poller *poller)
{
    (void)poller;
    unreachable();
}

void kvc_poller_resume(struct kvc_poller *poller)
{
    (void)poller;
    unreachable();
}

void kvc_engine_work(const struct kvc_draw *draws, uint32_t count)
{
    (void)draws;
    (void)count;
    unreachable();
}

void kvc_engine_transfer(uint32_t from, uint32_t to, double bytes)
{
    (void)from;
    (void)to;
    (void)bytes;
    unreachable();
}

void kvc_engine_queue_work(uint32_t host, double amount_ns, double alone_ns)
{
    (void)host;
    (void)amount_ns;
    (void)alone_ns;
    unreachable();
}

void kvc_engine_queue_bytes(uint32_t from, uint32_t to, double bytes)
{
    (void)from;
    (void)to;
    (void)bytes;
    unreachable();
}

void kvc_engine_set_pstate(uint32_t host, uint32_t pstate)
{
    (void)host;
    (void)pstate;
    unreachable();
}

uint32_t kvc_engine_pstate(uint32_t host)
{
    (void)host;
    unreachable();
}

void kvc_engine_outage_of_host(uint32_t host, double until_ns)
{
    (void)host;
    (void)until_ns;
    unreachable();
}

void kvc_engine_outage_of_link(uint32_t link, double until_ns)
{
    (void)link;
    (void)until_ns;
    unreachable();
}

double kvc_engine_link_open_ns(uint32_t link, double time_ns)
{
    (void)link;
    (void)time_ns;
    unreachable();
}

double kvc_engine_work_done_ns(uint32_t host)
{
    (void)host;
    unreachable();
}

double kvc_engine_capacity_ns(uint32_t host)
{
    (void)host;
    unreachable();
}

double kvc_engine_link_capacity_bytes(uint32_t link)
{
    (void)link;
    unreachable();
}

double kvc_engine_bytes_carried(uint32_t link)
{
    (void)link;
    unreachable();
}

double kvc_engine_host_joules(uint32_t host)
{
    (void)host;
    unreachable();
}

double kvc_engine_link_joules(uint32_t link)
{
    (void)link;
    unreachable();
}

struct kvc_outage kvc_engine_host_outage(uint32_t host)
{
    (void)host;
    unreachable();
}

struct kvc_outage kvc_engine_route_outage(uint32_t from, uint32_t to)
{
    (void)from;
    (void)to;
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

bool kvc_gate_wait_until(struct kvc_gate *gate, double time_ns)
{
    (void)gate;
    (void)time_ns;
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

uint64_t kvc_engine_ticks(void)
{
    return 0;
}
