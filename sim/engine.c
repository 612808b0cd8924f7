#include "sim/engine.h"

#include <errno.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <simgrid/version.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/clock.h"

/* On every host, one flop takes one nanosecond. */
#define HOST_SPEED 1e9

/* By default, SimGrid rounds times below 1 ns. Later versions have renamed the setting. */
#if SIMGRID_VERSION >= 33400
#define PRECISION_SETTING "--cfg=precision/timing:1e-12"
#else
#define PRECISION_SETTING "--cfg=surf/precision:1e-12"
#endif

/* AddressSanitizer cannot follow context switches without threads. */
#ifdef __SANITIZE_ADDRESS__
#define CONTEXT_SETTING "--cfg=contexts/factory:thread"
#else
#define CONTEXT_SETTING "--cfg=contexts/factory:raw"
#endif

/* What an actor executes. The list keeps the memory of killed actors reachable, for leak checkers. */
struct actor_start {
    void (*body)(void *data);
    void *data;
    struct actor_start *next;
};

static struct {
    bool open;
    uint64_t activities;
    double inside_s;  /* Wall-clock time spent in SimGrid so far. */
    double entered_s; /* When an actor last entered SimGrid. */
    struct actor_start *actors;
} engine;

static void enter(void)
{
    engine.activities++;
    engine.entered_s = kvc_clock_wall_s();
}

/* Other actors run between enter() and leave(). Each of them leaves SimGrid when it resumes and enters it
 * when it yields, so the intervals never overlap. */
static void leave(void)
{
    engine.inside_s += kvc_clock_wall_s() - engine.entered_s;
}

static enum kvc_status write_platform(FILE *out, const struct kvc_engine_host *hosts, uint32_t count)
{
    fprintf(out, "<?xml version=\"1.0\"?>\n"
                 "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                 "<!-- one flop is one nanosecond -->\n"
                 "<platform version=\"4.1\">\n  <zone id=\"kvcast\" routing=\"None\">\n");
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "    <host id=\"%s\" speed=\"1Gf\" core=\"%u\"/>\n", hosts[i].name, hosts[i].cores);
    }
    fprintf(out, "  </zone>\n</platform>\n");
    return fclose(out) == 0 ? KVC_OK : KVC_ERR_RUNTIME;
}

enum kvc_status kvc_engine_open(const char *platform_path, const struct kvc_engine_host *hosts,
                                uint32_t count, struct kvc_diag *diag)
{
    char temporary[] = "/tmp/kvcast-platform-XXXXXX.xml";
    FILE *out;
    if (engine.open) {
        KVC_BUG("a second engine in one process");
    }
    if (platform_path != NULL) {
        out = fopen(platform_path, "w");
    } else {
        int fd = mkstemps(temporary, 4);
        out = fd >= 0 ? fdopen(fd, "w") : NULL;
    }
    const char *path = platform_path != NULL ? platform_path : temporary;
    if (out == NULL || write_platform(out, hosts, count) != KVC_OK) {
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, 0, "cannot write the platform: %s",
                                strerror(errno));
    }

    char *arguments[] = {
        (char *)"kvcast",        (char *)"--log=root.threshold:error",    (char *)PRECISION_SETTING,
        (char *)CONTEXT_SETTING, (char *)"--cfg=contexts/stack-size:256", NULL};
    int argument_count = sizeof(arguments) / sizeof(*arguments) - 1;
    simgrid_init(&argument_count, arguments);
    simgrid_load_platform(path);
    if (platform_path == NULL) {
        unlink(temporary);
    }
    engine.open = true;
    return KVC_OK;
}

static void actor_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct actor_start *start = sg_actor_self_get_data();
    leave();
    start->body(start->data);
    enter();
}

void kvc_engine_spawn(const char *name, const char *host, void (*body)(void *data), void *data)
{
    struct actor_start *start = malloc(sizeof(*start));
    if (start == NULL) {
        kvc_out_of_memory("actor %s", name);
    }
    *start = (struct actor_start){body, data, engine.actors};
    engine.actors = start;
    sg_actor_t actor = sg_actor_init(name, sg_host_by_name(host));
    sg_actor_set_data(actor, start);
    sg_actor_start_(actor, actor_main, 0, NULL);
}

void kvc_engine_run(void)
{
    enter();
    simgrid_run();
    leave();
}

_Noreturn void kvc_engine_stop(void)
{
    enter();
    sg_actor_kill_all();
    sg_actor_exit();
}

double kvc_engine_now_ns(void)
{
    return simgrid_get_clock() * 1e9;
}

void kvc_engine_sleep_until_ns(double time_ns)
{
    enter();
    sg_actor_sleep_until(time_ns * 1e-9);
    leave();
}

void kvc_engine_occupy_ns(double duration_ns)
{
    enter();
    sg_actor_execute(duration_ns * 1e-9 * HOST_SPEED);
    leave();
}

struct kvc_gate *kvc_gate_create(uint32_t tokens)
{
    return (struct kvc_gate *)sg_sem_init((int)tokens);
}

void kvc_gate_free(struct kvc_gate *gate)
{
    if (gate != NULL) {
        sg_sem_destroy((sg_sem_t)gate);
    }
}

void kvc_gate_wait(struct kvc_gate *gate)
{
    enter();
    sg_sem_acquire((sg_sem_t)gate);
    leave();
}

void kvc_gate_post(struct kvc_gate *gate)
{
    enter();
    sg_sem_release((sg_sem_t)gate);
    leave();
}

uint64_t kvc_engine_activities(void)
{
    return engine.activities;
}

double kvc_engine_wall_s(void)
{
    return engine.inside_s;
}
