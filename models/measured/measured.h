/* A measured run of a store on threads of this machine: its tasks, their counts by window, and the parts of
 * the result that every measured store has.
 *
 * Every task keeps counts from its beginning. At the end of each window of 10 ms (sim/probes/quiet.h), the
 * task's thread copies its counts, and the difference of two copies is the work done in between. Copies are
 * taken between pieces of work, so each piece lies wholly between two copies. A copy may be late by the
 * length of a piece, and therefore carries its time. */
#ifndef KVC_MODELS_MEASURED_MEASURED_H
#define KVC_MODELS_MEASURED_MEASURED_H

#include <stdatomic.h>

#include "sim/metrics/histogram.h"
#include "sim/probes/memory/memory_watch.h"
#include "sim/probes/meter.h"
#include "sim/probes/watched.h"
#include "sim/scenario.h"

enum {
    KVC_MEASURED_TASKS_MAX = 160,
    KVC_MEASURED_OWN_MAX = 16, /* Counts that only one store has. */
};

/* Work that a task has done. */
struct kvc_measured_counts {
    double busy_ns;                   /* Time spent working, not waiting [ns]. */
    double served;                    /* Requests served. */
    double hits, misses;              /* GETs answered. */
    double sets, deletes;             /* SETs and DELETEs answered. */
    double own[KVC_MEASURED_OWN_MAX]; /* Counts that the store defines. */
};

/* A task of the store. */
struct kvc_measured_task {
    uint32_t core;  /* From 0. */
    uint32_t side;  /* Side of a run of two stores; kvc_measured_add() sets it. */
    uint32_t stage; /* Counts are summed up by stage; a stage may have several tasks. */
    kvc_watched_step_fn *step;
    void (*count)(const void *data, struct kvc_measured_counts *counts); /* Sets the counts so far. */
    void *data;                                                          /* Argument of both functions. */

    /* Values that the task records during a window and a copy resets. Each may be NULL. */
    bool *caught_up;               /* The task has found that no request was due. */
    double *oldest_sent_ns;        /* Earliest send time among the answered requests [ns]. */
    struct kvc_histogram *latency; /* Latencies of the answered requests. */
};

/* A task at the end of a window. */
struct kvc_measured_copy {
    double at_ns; /* When the counts were copied [ns]. */
    struct kvc_measured_counts counts;
    /* Values of this window. */
    bool caught_up;
    double oldest_sent_ns;
    struct kvc_histogram_pack latency;
    double joules; /* The first task's copies have the energy that the meter showed [J]; NaN: no meter. */
};

/* Sums over some windows. */
struct kvc_measured_sum {
    uint32_t windows;
    double window_ns; /* Total length of these windows [ns]. */
    double mops;      /* Throughput [million/s]. */
    struct kvc_measured_counts all;
    struct kvc_measured_counts stage[KVC_STAGES_MAX];
    double stage_ns[KVC_STAGES_MAX]; /* Time between the copies, summed over the tasks of the stage [ns]. */
};

/* What a run needs to know of a store, and the functions by which the store fills in its part of a result. */
struct kvc_measured_store {
    const void *data;              /* Argument of the functions. */
    const atomic_bool *failed;     /* The store has failed: the run ends early. */
    double preload_wall_s;         /* Wall clock time that it took to fill the store [s]. */
    bool open_loop;                /* The clients do not wait for answers. */
    bool one_feed;                 /* It is enough if one task has caught up; false: all must have. */
    uint32_t values;               /* Metrics of the store that get intervals. */
    const char *const *value_name; /* The names of these intervals. */

    /* Sets the utilizations, in the order of the result's stages, and the values. */
    void (*part)(const void *data, const struct kvc_measured_sum *sum, struct kvc_watched_part *part);

    /* Adds the stages and the store's own metrics. The requests, the throughput, the latencies and the times
     * of the run are filled in. */
    void (*report)(const void *data, const struct kvc_measured_sum *sum, struct kvc_result *result);
};

/* A measured run. A zeroed struct can be closed. */
struct kvc_measured {
    uint32_t sides; /* 1, or 2 stores that take turns. */
    uint32_t side;  /* Side to which added tasks belong. */
    uint32_t tasks, cores;
    struct kvc_measured_task task[KVC_MEASURED_TASKS_MAX];
    double from_ns; /* When the first window begins, after the warm-up [ns]. */
    struct kvc_watched watched;
    struct kvc_watched_noise noise;
    struct kvc_memory_watch memory;
    struct kvc_meter *meter;        /* NULL: there is none. */
    const struct kvc_node *node[2]; /* The node of each side, which may have a co-runner; NULL: none. */
    struct kvc_co_runner *co_runner;
    void *store[2];                                      /* Argument of set_clock. */
    void (*set_clock[2])(void *store, double started_s); /* Sets time 0 of the clock of a side's store [s]. */
    double started_s;                                    /* Wall clock at the beginning [s]. */
    double rested_ns[2]; /* How far the clock of each side lags behind [ns]. */
    struct kvc_measured_copy *copy[KVC_MEASURED_TASKS_MAX]; /* By task and window. */
};

/* Plans a run of one store with windows for the duration of `run`, and for several times as long in case too
 * few are quiet, or a run of two stores with `pairs` pairs of turns, and measures the speed of the cores. A
 * run of two stores opens the meter of the machine, if there is one (sim/probes/meter.h).
 * Returns the errors of kvc_cores_measure(). The run must be closed even then. */
enum kvc_status kvc_measured_open(struct kvc_measured *measured, const struct kvc_run *run, uint32_t pairs,
                                  struct kvc_diag *diag);
void kvc_measured_close(struct kvc_measured *measured);

/* Adds a task before the run. The tasks of a core run in the order in which they were added. */
void kvc_measured_add(struct kvc_measured *measured, const struct kvc_measured_task *task);

/* Returns the time of the last window for which there is room [ns]. */
double kvc_measured_until_ns(const struct kvc_measured *measured);

/* Runs the tasks, each core's on a thread that is pinned to it, until enough windows are quiet, there is no
 * room for more, or a side's flag `failed` is set. Between turns, the threads watch the memory. All times
 * count from now on. Returns KVC_ERR_RUNTIME if a thread cannot be started, or if memory is short. */
enum kvc_status kvc_measured_run(struct kvc_measured *measured, const atomic_bool *const failed[2],
                                 const struct kvc_progress *progress, struct kvc_diag *diag);

/* Adds up the wanted windows of all tasks of a side. `latency` is replaced by the latencies of these windows.
 */
void kvc_measured_add_up(const struct kvc_measured *measured, uint32_t side, const bool *wanted,
                         struct kvc_histogram *latency, struct kvc_measured_sum *sum);

/* Returns the mean power of the processors in the wanted windows [W]; NaN: there is no meter. The first
 * window of a run must not be wanted, because no reading of the meter comes before it. */
double kvc_measured_watts(const struct kvc_measured *measured, const bool *wanted);

/* Fills in the result of a side in the wanted windows: everything but the parts that all windows decide. The
 * histogram in `result` must be empty. */
void kvc_measured_report_part(const struct kvc_measured *measured, uint32_t side,
                              const struct kvc_measured_store *store, const bool *wanted,
                              struct kvc_result *result);

/* Fills in the result of a run of one store whose threads have ended. Metrics cover the quiet windows, with
 * intervals; the raw metrics cover all windows. Without a quiet window, all windows count, and a note says
 * so. The histogram in `result` must be empty. */
void kvc_measured_report(struct kvc_measured *measured, const struct kvc_measured_store *store,
                         struct kvc_result *result);

#endif
