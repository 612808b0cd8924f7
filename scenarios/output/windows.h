/* The verdict on an answer window by window: the worst window, how long objectives were missed, and how soon
 * a change of the machine is overcome.
 *
 * A window is a span of the measured time (sim/metrics/spans.h). Throughput, loss and hit ratio are known in
 * each of them. A percentile of the latency is met in a window if no larger share of the requests that
 * clients sent in it took longer than the bound: 1 % for p99. A request without an answer counts as one that
 * took longer once it has waited for longer than the bound. Power and price are not judged by window, because
 * energy is read at the ends of the store's own windows and a price does not vary.
 *
 * The worst window of an objective is the one in which its value is worst; with replicas, the value is the
 * mean over the worst windows of the replicas.
 *
 * The time to recover from a change counts from its beginning to the end of the last window that misses an
 * objective before the next change. A later window has to meet all objectives, and so surely that the
 * requests sent in it that still wait cannot change that. Without an objective, the time counts to the last
 * window that is unlike those before the first change: it loses more than any of them, or its throughput is
 * outside of the interval in which all windows of an undisturbed run would be with 95 % probability
 * (Student's t, Bonferroni). */
#ifndef KVC_SCENARIOS_OUTPUT_WINDOWS_H
#define KVC_SCENARIOS_OUTPUT_WINDOWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "scenarios/output/outcome.h"
#include "scenarios/output/verdict.h"

enum { KVC_WINDOW_CHANGES_MAX = KVC_RUN_CHANGES_MAX + KVC_CLUSTER_CHANGES_MAX };

/* The worst window of an objective. Of a percentile, `judged` has the share of the requests over limit_us. */
struct kvc_window_worst {
    struct kvc_judged judged;
    double limit_us; /* Bound of the latency; NaN: not a latency. */
    double from_us;  /* Start of the worst window of all replicas, after the start of the measured time. */
};

/* One or several changes at the same time. */
struct kvc_window_change {
    double at_us;                   /* When, after the start of the measured time. */
    char what[160];                 /* "node0.socket0.gpu off for 2ms". */
    struct kvc_interval recover_us; /* Time to recover; NaN: a replica does not recover, or it is unknown. */
    uint32_t recovered; /* Replicas that recover; those that are never disturbed are among them. */
};

struct kvc_slo_windows {
    uint32_t count; /* Windows of a replica; 0: there are none, and nothing else is set. */
    double length_us, measured_us;
    uint32_t worst_count;
    struct kvc_window_worst worst[KVC_OBJECTIVES]; /* Throughput and loss, and all that is bounded. */
    struct kvc_interval missed_us;                 /* Time of the windows that miss an objective. */
    bool
        by_throughput; /* No objective is known by window: windows are compared with those before a change. */
    double low_mops, high_mops; /* The interval of these, of the last replica; NaN: too few windows before the
                                   first change, or the load moves. */
    double lost_frac;           /* Largest share of lost requests in these. */
    double margin_frac; /* Smallest margin of an objective, of a bound of 0 the distance; NaN: unknown. */
    uint32_t change_count;
    struct kvc_window_change change[KVC_WINDOW_CHANGES_MAX]; /* In the order of time. */
};

/* Judges the windows of an outcome of `loaded`. */
struct kvc_slo_windows kvc_slo_windows_of(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome);

/* Judges an outcome over the run and over its windows. */
struct kvc_slo_verdict kvc_slo_judge(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome,
                                     struct kvc_slo_windows *windows);

/* Returns the member `worst_window` of a result document, or NULL without windows. */
json_t *kvc_slo_windows_json(const struct kvc_slo_windows *windows);

/* Writes the lines of a table; nothing without windows, unless the objectives state them. What is missed
 * stands between `warn` and `plain`. */
void kvc_slo_windows_write(const struct kvc_slo_windows *windows, const struct kvc_slo *slo,
                           uint32_t replicas, const char *warn, const char *plain, FILE *out);

#endif
