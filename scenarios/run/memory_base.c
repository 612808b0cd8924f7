#include "scenarios/run/memory_base.h"

#include <stdbool.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <unistd.h>

#include "models/model.h"
#include "scenarios/run/ranks.h"
#include "sim/base/array.h"
#include "sim/base/cleanup.h"
#include "sim/engine.h"

void kvc_memory_begin(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, KVC_ARRAY_MAPPED_BYTES);
#endif
}

double kvc_memory_taken_bytes(void)
{
    static const double kib = 1024;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? kib * (double)usage.ru_maxrss : 0;
}

/* Does what every simulation does once. */
static void work(void *data)
{
    const struct kvc_platform *platform = data;
    for (uint32_t i = 0; i < kvc_platform_hosts(platform); i++) {
        kvc_engine_work(&(struct kvc_draw){.host = i, .amount_ns = 1, .alone_ns = 1}, 1);
    }
    kvc_engine_sleep_until_ns(kvc_engine_now_ns() + 1);
}

/* Runs in the child. */
_Noreturn static void rehearse(const struct kvc_scenario *scenario, int fd)
{
    struct kvc_platform *platform = kvc_platform_create();
    struct kvc_diag unused = {0};
    double bytes = 0;
    kvc_ranks_leave();
    kvc_memory_begin();
    if (scenario->model->platform != NULL) {
        scenario->model->platform(scenario, platform);
    }
    if (kvc_engine_open(NULL, platform, &unused) == KVC_OK) {
        kvc_engine_spawn("work", work, platform);
        kvc_engine_run();
        bytes = kvc_memory_taken_bytes();
    }
    bool sent = write(fd, &bytes, sizeof(bytes)) == sizeof(bytes);
    _exit(sent ? 0 : 1);
}

static double measure(const struct kvc_scenario *scenario)
{
    int ends[2];
    double bytes = 0;
    if (pipe(ends) != 0) {
        return 0;
    }
    pid_t pid = kvc_cleanup_fork();
    if (pid == 0) {
        close(ends[0]);
        rehearse(scenario, ends[1]);
    }
    close(ends[1]);
    if (pid > 0) {
        bytes = read(ends[0], &bytes, sizeof(bytes)) == sizeof(bytes) ? bytes : 0;
        kvc_cleanup_reap(pid);
    }
    close(ends[0]);
    return bytes;
}

double kvc_memory_base_bytes(const struct kvc_scenario *scenario)
{
    static double bytes = -1;
    if (bytes < 0) {
        bytes = measure(scenario);
    }
    return bytes;
}
