/* What a run or a prediction answers. A plain struct without pointers: replicas send it through pipes.
 *
 * `kvcast run`, `predict` and `measure` fill the same struct; what one of them cannot know stays NaN or 0. */
#ifndef KVC_SIM_RESULT_H
#define KVC_SIM_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/histogram.h"

enum {
    KVC_STAGES_MAX = 16,
    KVC_METRICS_MAX = 64,
    KVC_NOTES_MAX = 16,
    KVC_WINDOWS_MAX = 1024,
    KVC_NAME_MAX = 64,
    KVC_NOTE_BYTES = 320,
};

struct kvc_stage_result {
    char name[KVC_NAME_MAX];   /* "receive", "search", "insert", "send", ... */
    char device[KVC_NAME_MAX]; /* "cpu", "gpu", "nic" */
    double utilization_frac;   /* 0..1, mean over the devices of the stage */
    double busy_s;             /* summed over them */
    uint64_t served;           /* requests */
    double mean_us;            /* mean time of a request in the stage, waiting included; NaN: unknown */
};

/* A named number; the name ends in its unit. */
struct kvc_metric {
    char name[KVC_NAME_MAX];
    double value;
};

struct kvc_metrics {
    uint32_t count;
    struct kvc_metric entry[KVC_METRICS_MAX];
};

struct kvc_result {
    double throughput_mops;
    uint64_t offered, completed, dropped;
    uint64_t gets, hits, misses, sets, deletes; /* of the completed */
    double latency_mean_us, latency_p95_us;     /* set by predictions; runs have the histogram */
    bool has_histogram;

    uint32_t stage_count;
    struct kvc_stage_result stage[KVC_STAGES_MAX];
    char bottleneck_stage[KVC_NAME_MAX], bottleneck_device[KVC_NAME_MAX];
    char bottleneck_why[KVC_NOTE_BYTES];

    struct kvc_metrics kernel; /* what the real structures did: load_factor_frac, lines_per_search, ... */
    struct kvc_metrics model;  /* the model's own: t_search_us, cycle_min_us, overruns, ... */

    double watts_mean; /* of all nodes, at the wall; 0: not known */

    double simulated_s, warmup_s;
    double wall_s, source_wall_s, kernel_wall_s, engine_wall_s; /* wall clock: never compared between runs */
    double preload_wall_s;
    uint64_t requests_simulated; /* warm-up included */
    uint64_t activities;         /* of the engine */

    double window_us; /* length of one window */
    uint32_t window_count;
    float window_mops[KVC_WINDOWS_MAX];

    uint32_t note_count;
    char note[KVC_NOTES_MAX][KVC_NOTE_BYTES]; /* warnings that belong to the answer */

    struct kvc_histogram latency;
};

/* Adds a figure. The name must fit; KVC_BUG when the table is full. */
void kvc_metrics_set(struct kvc_metrics *metrics, const char *name, double value);

/* NaN when there is no figure of that name. */
double kvc_metrics_get(const struct kvc_metrics *metrics, const char *name);

/* Adds a stage of which nothing else is known yet: mean_us is NaN. KVC_BUG when the table is full. */
struct kvc_stage_result *kvc_result_add_stage(struct kvc_result *result, const char *name, const char *device,
                                              double utilization_frac);

/* Adds a note once; further ones beyond KVC_NOTES_MAX are lost. */
void kvc_result_note(struct kvc_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Folds one replica into a sum: counts and histograms add up, rates and figures are averaged with weight
 * 1/replicas. `sum` starts as a zeroed struct; call once per replica in replica order. */
void kvc_result_merge(struct kvc_result *sum, const struct kvc_result *replica, uint32_t replicas);

#endif
