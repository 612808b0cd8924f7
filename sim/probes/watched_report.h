/* The result of a watched run, as far as it is the same for all stores: which windows count, the metrics of
 * all windows, the intervals of those that were quiet, and how much the machine disturbed the run. */
#ifndef KVC_SIM_PROBES_WATCHED_REPORT_H
#define KVC_SIM_PROBES_WATCHED_REPORT_H

#include "sim/metrics/result.h"
#include "sim/probes/cores.h"
#include "sim/probes/watched.h"

enum { KVC_WATCHED_VALUES_MAX = 8 };

/* What a store did in some of its windows. */
struct kvc_watched_part {
    double mops;                             /* Throughput [million/s]. */
    double value[KVC_WATCHED_VALUES_MAX];    /* Metrics of the store; NaN: unknown. */
    double utilization_frac[KVC_STAGES_MAX]; /* In the order of the result's stages. */
};

/* How a store reads the copies of its counts. wanted[i] tells whether window i is meant. */
struct kvc_watched_store {
    const void *data; /* For the functions. */
    kvc_watched_flow_fn *flow_of;
    double from_ns; /* When the first window begins, on the clock of the flows [ns]. */
    bool open_loop;
    uint32_t first; /* Windows before this one do not count. */

    /* Adds up the wanted windows. Their latencies replace those in `latency`. */
    void (*add_up)(const void *data, const bool *wanted, struct kvc_histogram *latency,
                   struct kvc_watched_part *part);

    /* Fills a result with what the store did in the wanted windows, stages included. */
    void (*report)(const void *data, const bool *wanted, struct kvc_result *result);

    uint32_t values;                /* Metrics of the store that get intervals. */
    const char *const *half_widths; /* The names of these intervals. */
};

/* Ends a run whose threads have ended, and fills in its result: raw_throughput_mops and the raw latencies of
 * all windows, what the store reports of the quiet ones, `windows`, quiet_frac, and the relative half widths
 * of the intervals over batches of quiet windows. Without a quiet window all windows count and a note says
 * so. The histogram in `result` must be empty. */
void kvc_watched_report(struct kvc_watched *watched, const struct kvc_watched_store *store,
                        struct kvc_result *result);

/* How much the machine disturbed a run. */
struct kvc_watched_noise {
    double others_frac;     /* Fraction of all processors' time that other processes used; NaN: unknown. */
    struct kvc_cores cores; /* Speeds of the cores, measured right before the run. */
};

/* Adds the metrics others_frac, stalled_frac, slowest_core_frac and core_speed_steps_per_ns, and a note
 * if a core is slow. */
void kvc_watched_report_noise(const struct kvc_watched *watched, const struct kvc_watched_noise *noise,
                              struct kvc_result *result);

#endif
