#include "scenarios/run/memory_base.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <unistd.h>

#include "models/model.h"
#include "scenarios/run/ranks.h"
#include "sim/base/array.h"
#include "sim/base/cleanup.h"
#include "sim/base/diag.h"
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

/* What the child found. */
struct rehearsal {
    double bytes;
    struct kvc_diag diag; /* Why it found nothing. */
};

static void tell_parent(void *data, const struct kvc_diag *diag)
{
    struct rehearsal rehearsal = {.diag = *diag};
    bool sent = write(*(const int *)data, &rehearsal, sizeof(rehearsal)) == sizeof(rehearsal);
    (void)sent; /* If this fails, too, the parent misses the answer. */
}

/* Runs in the child. */
_Noreturn static void rehearse(const struct kvc_scenario *scenario, int fd)
{
    struct rehearsal rehearsal = {0};
    kvc_out_of_memory_tell(tell_parent, &fd);
    kvc_ranks_leave();
    kvc_memory_begin();
    struct kvc_platform *platform = kvc_platform_create();
    if (scenario->model->platform != NULL) {
        scenario->model->platform(scenario, platform);
    }
    if (kvc_engine_open(NULL, platform, &rehearsal.diag) == KVC_OK) {
        kvc_engine_spawn("work", work, platform);
        kvc_engine_run();
        rehearsal.bytes = kvc_memory_taken_bytes();
    }
    bool sent = write(fd, &rehearsal, sizeof(rehearsal)) == sizeof(rehearsal);
    _exit(sent ? 0 : 1);
}

static double measure(const struct kvc_scenario *scenario)
{
    static const char what[] = "the memory of a process that simulates cannot be measured";
    struct rehearsal rehearsal;
    int ends[2];
    pid_t pid = -1;
    if (pipe(ends) != 0 || (pid = kvc_cleanup_fork()) < 0) {
        kvc_give_up("%s: %s", what, strerror(errno));
    }
    if (pid == 0) {
        close(ends[0]);
        rehearse(scenario, ends[1]);
    }
    close(ends[1]);
    bool answered = read(ends[0], &rehearsal, sizeof(rehearsal)) == sizeof(rehearsal);
    close(ends[0]);
    kvc_cleanup_reap(pid);
    if (!answered || rehearsal.bytes <= 0) {
        kvc_give_up("%s: %s", what, answered ? rehearsal.diag.message : "the process ended early");
    }
    return rehearsal.bytes;
}

double kvc_memory_base_bytes(const struct kvc_scenario *scenario)
{
    static double bytes = -1;
    if (bytes < 0) {
        bytes = kvc_engine_exists() ? measure(scenario) : kvc_memory_taken_bytes();
    }
    return bytes;
}
