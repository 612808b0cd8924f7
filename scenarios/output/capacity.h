/* A capacity: the highest load that a store serves, with every load that was probed to find it, and its
 * files.
 *
 * capacity.json has the schema "kvcast.capacity/1". Its members are schema, scenario, system, seed, version,
 * command, command_line, machine, capacity_mops {low, high, mean}, closed_form_mops, closed_form_limit_mops,
 * loss_bound_frac, latency_bound (null or {metric, us}), precision_frac, bottleneck, points, notes,
 * parameters and provenance. `partial` is true in the answer of a search that was interrupted, and absent in
 * others; the first note then says where. Each point has offered_mops, share_frac, served, served_by,
 * replicas, throughput_mops, loss_frac, backlog_growth_frac, unserved_frac, latency_us (mean, p50, p95, p99,
 * p999, each with its ci95), warmup_s, duration_s, closed_form and, if the load has them, tenants.
 * capacity.csv has the same numbers, one row per point. No value depends on the wall clock. */
#ifndef KVC_SCENARIOS_OUTPUT_CAPACITY_H
#define KVC_SCENARIOS_OUTPUT_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "scenarios/output/verdict.h"
#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/metrics/statistics.h"

/* The latencies of a point. */
enum kvc_capacity_latency {
    KVC_CAPACITY_MEAN,
    KVC_CAPACITY_P50,
    KVC_CAPACITY_P95,
    KVC_CAPACITY_P99,
    KVC_CAPACITY_P999,
    KVC_CAPACITY_LATENCIES,
    KVC_CAPACITY_TENANT = KVC_CAPACITY_LATENCIES, /* p99 of the first tenant; those of the others follow. */
    KVC_CAPACITY_VALUES = KVC_CAPACITY_TENANT + KVC_TENANTS_MAX,
};

/* "mean", "p50", ..., by enum kvc_capacity_latency, without those of tenants; NULL-terminated. */
extern const char *const kvc_capacity_latency_names[];

/* Bounds that a load must meet to count as served. */
struct kvc_capacity_bounds {
    double loss_frac;      /* Largest share of the requests that may be lost. */
    bool bounds_latency;   /* `latency` must be at most latency_us. */
    int latency;           /* enum kvc_capacity_latency. */
    double latency_us;     /* Largest latency [us]. */
    double precision_frac; /* Width of the capacity's interval, relative to the capacity. */
};

/* One load that was probed. */
struct kvc_capacity_point {
    double offered_mops; /* Offered load [million/s]. For a curve of rates, its highest rate. */
    double share_frac;   /* Share of the capacity, for a point of the latency curve; otherwise NaN. */
    bool served;         /* More than half of the replicas serve the load. */
    bool disputed;       /* Chance may have decided what a replica serves. */
    uint32_t served_by, replicas;   /* Replicas that serve it, and all. */
    double warmup_ns, duration_ns;  /* Warm-up and measured time of a replica [simulated ns]. */
    double loss_frac;               /* Share of the offered requests that the store dropped. */
    double growth_frac;             /* Growth of the backlog as a share of the offered load. */
    double unserved_frac;           /* Share that is lost or left behind, as a run judges it. */
    struct kvc_interval throughput; /* [million/s] */
    struct kvc_interval latency[KVC_CAPACITY_VALUES]; /* NaN: unknown [us]. */
    struct {
        double throughput_mops, latency_us[KVC_CAPACITY_VALUES]; /* NaN: unknown. */
    } closed_form;
    char bottleneck_stage[KVC_NAME_MAX], bottleneck_device[KVC_NAME_MAX], bottleneck_why[KVC_NOTE_BYTES];
};

struct kvc_capacity {
    struct kvc_capacity_bounds bounds;
    double low_mops, high_mops; /* All replicas serve the low load, none the high one [million/s]. A partial
                                 * answer may lack each of them: 0 and NaN. */
    double mean_mops;           /* Middle of the same interval for the majority of the replicas; NaN: unknown
                                 * [million/s]. */
    double closed_form_mops;    /* Capacity by the closed form; NaN where it cannot tell [million/s]. */
    double closed_form_limit_mops;    /* Limit of the closed form without the latency bound [million/s]. */
    uint32_t count;                   /* Number of points. */
    struct kvc_capacity_point *point; /* Sorted by load. */
    uint32_t best; /* Index of the highest load that most replicas serve, whose bottleneck is reported;
                    * `count` if there is none. */
    uint32_t sure; /* Index of the load that low_mops comes from; `count` if there is none. */
    char interrupted_in[48]; /* The step in which the search was interrupted; empty for a whole answer. */
};

/* A capacity with the command and the scenario that led to it. */
struct kvc_capacity_report {
    const char *command_line; /* Command that repeats the result, without jobs and output files. */
    const struct kvc_loaded *loaded;
    const struct kvc_capacity *capacity;
};

/* Frees the points, not the struct. */
void kvc_capacity_free(struct kvc_capacity *capacity);

/* Writes the JSON document and a newline. */
enum kvc_status kvc_capacity_write_json(const struct kvc_capacity_report *report, FILE *out,
                                        struct kvc_diag *diag);

/* Writes the points as CSV. Write errors stay in the stream (ferror). */
void kvc_capacity_write_csv(const struct kvc_capacity_report *report, FILE *out);

/* Writes the summary for a terminal, with escapes if `color` is set. */
void kvc_capacity_write_table(const struct kvc_capacity_report *report, bool color, FILE *out);

#endif
