/* Paired runs: a simulated scenario and variants of it, which differ in nothing but a change of their
 * hardware.
 *
 * Every replica of a variant has the seed and the warm-up of the same replica of the unchanged scenario. The
 * interval of the difference between such runs is much narrower than the intervals of the runs. If the nodes
 * of a cluster are simulated apart, every node has the seed, the keys and the warm-up of its counterpart. */
#ifndef KVC_SCENARIOS_RUN_PAIRS_H
#define KVC_SCENARIOS_RUN_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/output/outcome.h"
#include "scenarios/run/driver.h"
#include "sim/base/diag.h"
#include "sim/metrics/statistics.h"
#include "sim/scenario.h"

/* The answer of a run of a variant. */
struct kvc_pair_answer {
    double throughput_mops;
    double latency_mean_us, latency_p50_us, latency_p95_us, latency_p99_us; /* NaN: no request completed. */
    /* Length of a window, as in struct kvc_result [us]. */
    double window_us;
    uint32_t window_count;
    float window_mops[KVC_WINDOWS_MAX];
    bool moves; /* As in struct kvc_result. */
};

struct kvc_pairs {
    const struct kvc_scenario *usual;  /* The unchanged scenario. */
    const struct kvc_outcome *outcome; /* Answer of the scenario. */
    uint32_t count;                    /* Variants. */
    struct kvc_scenario **variant;     /* Resolved copies of the scenario (models/model.h). */
    uint32_t replicas;                 /* Runs of each variant, at most as many as the outcome has. */
    const char *noun;                  /* The word for a run in messages and progress. */
    void *data;                        /* First argument of `take`. */
    /* Receives an answer: all replicas of the first variant, then all of the next one. */
    void (*take)(void *data, uint32_t variant, uint32_t replica, const struct kvc_pair_answer *answer);
};

/* Runs all replicas of all variants: each replica is a task of its own, or if the nodes of a cluster are
 * simulated apart, each of its nodes. */
enum kvc_status kvc_pairs_run(const struct kvc_pairs *pairs, const struct kvc_run_options *options,
                              struct kvc_diag *diag);

/* The throughput of one run, by window. */
struct kvc_pair_windows {
    double window_us;
    uint32_t count;
    const float *mops;
    bool moves; /* The load or the machine changes during the run. */
};

/* Returns the throughput of the second of two paired runs minus the first one's [Mops], with the interval of
 * the differences in parts of the measured time, which is NaN where the load or the machine changes. Both are
 * NaN if the runs have no windows in common. */
struct kvc_interval kvc_pairs_difference_mops(const struct kvc_pair_windows *first,
                                              const struct kvc_pair_windows *second);

#endif
