/* Watches a core from the thread that is pinned to it and never sleeps: for how long other work kept the
 * thread from running, and how fast the core is, by window (sim/probes/quiet.h).
 *
 * Every millisecond the watch compares the wall clock with the thread's own processor time: what is missing
 * went to other threads of this machine, or to other machines where the hypervisor says so. Every two
 * milliseconds it measures the core's speed for about 5 us. Between two questions for work, an idle thread
 * notices pauses by itself, whoever causes them. All this takes about 0.4 % of the time.
 *
 * Not noticed: a pause within a piece of work that the hypervisor hides from the guest's accounting. */
#ifndef KVC_SIM_PROBES_CORE_WATCH_H
#define KVC_SIM_PROBES_CORE_WATCH_H

#include <stdatomic.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/probes/timing.h"
#include "sim/probes/quiet.h"

/* Measures the speed of the core that the caller runs on with a short piece of arithmetic that fills the
 * execution units, so that a busy sibling, a lower clock and an interruption all show. Returns the steps of
 * the arithmetic that the core does in a nanosecond. 600 steps take about a microsecond. */
double kvc_speed_measure(uint32_t steps);

enum { KVC_CORE_WATCH_PROBES = 8, KVC_STALL_KINDS = 7 };

/* Times for which a thread was kept from running, by their length: the first kind is up to 80 us long, each
 * further one up to four times as long as the one before, and the last one has all that are longer. */
struct kvc_stall_counts {
    uint32_t count[KVC_STALL_KINDS];
    double sum_ns[KVC_STALL_KINDS]; /* Sum of their lengths [ns]. */
};

struct kvc_core_watch {
    double from_s;                  /* When the first window begins [s]. */
    uint32_t room;                  /* Windows that fit. */
    struct kvc_core_window *window; /* Measurements by window; windows below `done` are final. */
    atomic_uint done;               /* Windows that have passed. */
    /* The rest belongs to the watching thread. */
    double due_s;                   /* When there is something to do [s]. */
    struct kvc_lost read;           /* The clocks at their last reading. */
    double idle_s;                  /* The latest question for work that found none, or 0 after work [s]. */
    double gaps_s;                  /* Pauses that an idle thread noticed since the latest reading [s]. */
    struct kvc_stall_counts stalls; /* Stalls since the first window. */
    double probe_s;
    uint32_t probes; /* Speeds measured in the current window. */
    double speed[KVC_CORE_WATCH_PROBES];
    char apart[64]; /* Keeps the watches of two cores in different cache lines. */
};

/* Prepares a watch. KVC_ERR_RUNTIME: memory is short. It must be closed even then. */
enum kvc_status kvc_core_watch_open(struct kvc_core_watch *watch, double from_s, uint32_t room,
                                    struct kvc_diag *diag);
void kvc_core_watch_close(struct kvc_core_watch *watch); /* A zeroed one is allowed. */

/* Begins to watch the calling thread. */
void kvc_core_watch_begin(struct kvc_core_watch *watch);

/* Must be called after every piece of work and after every question for work, with the time at which it
 * ended. Returns the number of windows that have passed. */
uint32_t kvc_core_watch_tick(struct kvc_core_watch *watch, double now_s, bool idle);

#endif
