/* A measured run of a store that is cut into windows (sim/probes/quiet.h), with a watch on every core.
 *
 * The store copies its counts at the end of each window, so that the difference of two copies is its work in
 * between. This module decides how many windows to measure, whether enough of them were quiet, and which
 * ones. It runs a thread for each core, pinned to it, which does the tasks of that core in turn and watches
 * the core meanwhile. It also fills the part of the result that is the same for all stores: the windows that
 * count, the metrics of all windows, the intervals of the quiet ones, and how much the machine disturbed the
 * run. */
#ifndef KVC_SIM_PROBES_WATCHED_H
#define KVC_SIM_PROBES_WATCHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"
#include "sim/probes/core_watch.h"
#include "sim/probes/cores.h"
#include "sim/probes/quiet.h"

/* A zeroed struct can be closed. */
struct kvc_watched {
    uint32_t room;  /* Windows that fit. */
    uint32_t least; /* Windows to measure at least, when enough of them are quiet. */
    uint32_t count; /* Windows that were measured; kvc_watched_stop() sets it. */
    uint32_t turn;  /* Windows of a turn, whose first one does not count; 0: there are no turns. */
    uint32_t cores; /* Cores that are watched. */
    struct kvc_core_watch *watch; /* A watch for each core. */
};

/* Plans for windows of `duration_ns` that may count, and for several times as long in case that too few of
 * them are quiet. A turn has `turn` windows; 0: there are no turns. No core is watched yet. */
void kvc_watched_plan(struct kvc_watched *watched, double duration_ns, uint32_t turn);

/* The time for which there is room [ns]. */
double kvc_watched_room_ns(const struct kvc_watched *watched);

/* Prepares a watch for each of the first `cores` cores; the first window begins at from_s. KVC_ERR_RUNTIME:
 * memory is short. It must be closed even then. */
enum kvc_status kvc_watched_open(struct kvc_watched *watched, uint32_t cores, double from_s,
                                 struct kvc_diag *diag);
void kvc_watched_close(struct kvc_watched *watched);

/* Returns whether a window may count: it is not the first one of a turn, in which the store settles. */
bool kvc_watched_counts(const struct kvc_watched *watched, uint32_t window);

/* Finds the windows in which no core was disturbed, among those that may count. */
void kvc_watched_undisturbed(const struct kvc_watched *watched, uint32_t count, bool *quiet);

/* Returns whether the measurement may end: the least number of windows has passed, and enough of them were
 * quiet or there is no room for more. May be called while the threads work. */
bool kvc_watched_suffices(const struct kvc_watched *watched);

/* Sets `count` after the threads have ended. */
void kvc_watched_stop(struct kvc_watched *watched);

/* Returns the work of the store in a window. */
typedef struct kvc_quiet_flow kvc_watched_flow_fn(const void *store, uint32_t window);

/* Fills quiet[0] .. quiet[count - 1]: windows in which no core was disturbed, without the recovery after a
 * disturbance. The clock of the flows shows from_ns when the first window begins. */
void kvc_watched_judge(const struct kvc_watched *watched, kvc_watched_flow_fn *flow_of, const void *store,
                       double from_ns, bool open_loop, bool *quiet);

/* Time for which the threads were kept from running, summed over the cores, relative to the measured time. */
double kvc_watched_stalled_frac(const struct kvc_watched *watched);

/* The mean over the cores of their fast speeds [steps of arithmetic per ns]. */
double kvc_watched_core_speed(const struct kvc_watched *watched);

/* Does one piece of a task's work, if there is any. Returns the time at which it ended [ns], or 0 if there
 * was none. */
typedef double kvc_watched_step_fn(void *data);

/* Copies the counts of a task at the end of the windows first .. last. A copy is taken between two pieces of
 * work, so that a piece lies wholly between two copies; it may be late by the length of a piece of work,
 * which is why it has the time at_ns. */
typedef void kvc_watched_copy_fn(void *copies, void *data, uint32_t number, uint32_t first, uint32_t last,
                                 double at_ns);

/* The turns of a run, all equally long. Between two turns all threads wait for each other, do something else
 * for about a millisecond, and the next turn begins.
 *
 * Two sides take turns in the order 0 1 1 0: two successive turns are a pair, and a machine that gets slower
 * or faster all the time favours neither side. */
struct kvc_watched_turns {
    uint32_t sides; /* 1 or 2. Tasks of another side than that of the turn rest. */
    /* What each thread does between two turns, at the same time as the others. */
    void (*pause)(void *data, uint32_t core);
    /* Begins a turn of this side. One thread calls it while the others wait. A side's clock stands while it
     * rests, so its time 0 moves; clock_s is its place on the wall clock now [s]. */
    void (*begin)(void *data, uint32_t side, double clock_s);
    void *data; /* Argument of both functions. */
};

/* Returns the side whose turn it is. */
uint32_t kvc_watched_side(uint32_t sides, uint32_t turn);

/* A task of a core. */
struct kvc_watched_task {
    uint32_t core; /* Number of its core, from 0. */
    uint32_t side; /* Side to which it belongs, from 0. */
    kvc_watched_step_fn *step;
    kvc_watched_copy_fn *copy;
    void *data;      /* Argument of both functions. */
    uint32_t number; /* Argument of copy(). */
};

/* The tasks of a run. All times count from started_s. */
struct kvc_watched_tasks {
    const struct kvc_watched_task
        *task; /* The tasks. Each core has at least one, and its tasks take turns in this order. */
    uint32_t count;
    uint32_t cores;
    double started_s;             /* Wall clock at time 0, also of the clock of each side [s]. */
    double from_ns;               /* When the first window begins [ns]. */
    const atomic_bool *failed[2]; /* A task sets the flag of its side to end the run early; NULL: no flag. */
    void *copies;                 /* Argument of copy(). */
    const struct kvc_watched_turns *turns; /* NULL: the run has none. */
};

/* Runs the tasks on the first cores of the process until enough windows are quiet or there is no room for
 * more. Opens the watches of a planned run. KVC_ERR_RUNTIME: a thread cannot be started, or memory is short.
 */
enum kvc_status kvc_watched_threads_run(struct kvc_watched *watched, const struct kvc_watched_tasks *tasks,
                                        const struct kvc_progress *progress, struct kvc_diag *diag);

enum { KVC_WATCHED_VALUES_MAX = 8 };

/* Work of a store in some of its windows. */
struct kvc_watched_part {
    double mops;                             /* Throughput [million/s]. */
    double value[KVC_WATCHED_VALUES_MAX];    /* Metrics of the store; NaN: unknown. */
    double utilization_frac[KVC_STAGES_MAX]; /* Utilizations, in the order of the result's stages. */
};

/* Functions that read the copies of a store's counts. wanted[i] selects window i. */
struct kvc_watched_store {
    const void *data; /* Argument of the functions. */
    kvc_watched_flow_fn *flow_of;
    double from_ns; /* When the first window begins, on the clock of the flows [ns]. */
    bool open_loop;

    /* Adds up the wanted windows. Their latencies replace those in `latency`. */
    void (*add_up)(const void *data, const bool *wanted, struct kvc_histogram *latency,
                   struct kvc_watched_part *part);

    /* Fills a result with the store's work in the wanted windows, including stages. */
    void (*report)(const void *data, const bool *wanted, struct kvc_result *result);

    uint32_t values;                /* Metrics of the store that get intervals. */
    const char *const *half_widths; /* The names of these intervals. */
};

/* Ends a run whose threads have ended, and fills in its result: raw_throughput_mops and the raw latencies of
 * all windows, the store's report of the quiet ones, `windows`, quiet_frac, and the relative half widths of
 * the intervals over batches of quiet windows. Without a quiet window all windows count and a note says so.
 * The histogram in `result` must be empty. */
void kvc_watched_report(struct kvc_watched *watched, const struct kvc_watched_store *store,
                        struct kvc_result *result);

/* Disturbance of a run by the machine. */
struct kvc_watched_noise {
    double others_frac;     /* Fraction of all processors' time that other processes used; NaN: unknown. */
    struct kvc_cores cores; /* Speeds of the cores, measured right before the run. */
};

/* Adds the metrics others_frac, stalled_frac, slowest_core_frac and core_speed_steps_per_ns, and a note
 * if a core is slow. */
void kvc_watched_report_noise(const struct kvc_watched *watched, const struct kvc_watched_noise *noise,
                              struct kvc_result *result);

#endif
