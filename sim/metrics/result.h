/** @file
 * The result of a simulation, a prediction or a measurement.
 *
 * `kvcast run`, `predict` and `measure` all fill this struct. A value that one of them cannot know stays NaN
 * or 0. The struct contains no pointers, so that a replica can send it through a pipe. */
#ifndef KVC_SIM_METRICS_RESULT_H
#define KVC_SIM_METRICS_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/histogram.h"
#include "sim/metrics/paths.h"
#include "sim/metrics/spans.h"

enum {
    KVC_STAGES_MAX = 16,        /**< Stages in a result. */
    KVC_RESULT_TENANTS_MAX = 8, /**< Tenants in a result. */
    KVC_DEVICES_MAX = 512,      /**< Devices in a result. */
    KVC_METRICS_MAX = 64,       /**< Metrics in one table. */
    KVC_NOTES_MAX = 16,         /**< Notes in a result. */
    KVC_WINDOWS_MAX = 1024,     /**< Throughput windows in a result. */
    KVC_VALUE_NAME_MAX =
        160,                /**< Bytes of a value's name (sim/metrics/values.h), terminating zero included. */
    KVC_NAME_MAX = 64,      /**< Bytes of a name, including the terminating zero. */
    KVC_STALLS_BYTES = 512, /**< Bytes of the stalls of a measurement, including the terminating zero. */
    KVC_NOTE_BYTES = 400,   /**< Bytes of a note, including the terminating zero. */
    KVC_BATCHES_MAX = 80,   /**< Batches of the measured time (sim/metrics/batches.h). */
    KVC_BATCH_MEANS_MAX = 48, /**< Values whose means by batch a result has. */
    KVC_LOOKS_MAX = 512,      /**< Looks of a power policy that a result has. */
    KVC_HALF_WIDTHS_MAX =
        3 * KVC_DEVICES_MAX + 3 * KVC_STAGES_MAX + 2 * KVC_METRICS_MAX, /**< Other values with an interval. */
};

enum { KVC_MISSING_BYTES = 64 /**< Bytes of a list of devices, including the terminating zero. */ };

/** Adds the names of a list such as "gpu, nic" to another one that lacks them. Names that do not fit are left
 * out. */
void kvc_missing_add(char missing[KVC_MISSING_BYTES], const char *names);

/** One stage of the store's pipeline. */
struct kvc_stage_result {
    char name[KVC_NAME_MAX];   /**< "receive", "search", "insert", "send", ... */
    char device[KVC_NAME_MAX]; /**< "cpu", "gpu" or "nic". */
    double utilization_frac;   /**< Share of the time for which its servers have a request, 0 to 1; NaN:
                                  unknown. */
    double busy_s;             /**< Busy time, summed over the devices of this stage [s]. */
    uint64_t served;           /**< Requests that passed through the stage. */
    double served_mops; /**< Predicted rate of these requests [million/s]; NaN: that of all, or none is known.
                         */
    double mean_us;     /**< Mean time of a request in the stage, including waiting [us]; NaN if unknown. */
    double waiting_requests; /**< Mean number of requests that wait for the stage; NaN: unknown. */
    double
        wait_us; /**< Mean time for which a request that passed through waited for it [us]; NaN: unknown. */
};

/** One device of the simulated machines. */
struct kvc_device_result {
    char name[KVC_NAME_MAX];   /**< "node0.socket1.gpu". */
    char device[KVC_NAME_MAX]; /**< Kind of device: "gpu". */
    double utilization_frac;   /**< Mean utilization within the measured time, 0 to 1. */
    double joules;             /**< Energy within the measured time [J]; NaN: its power is unknown. */
    double watts_mean;         /**< Mean power [W]; NaN: unknown. */
};

/** A named number. The name ends in its unit. */
struct kvc_metric {
    char name[KVC_NAME_MAX]; /**< For example "load_factor_frac". */
    double value;            /**< In the unit that the name ends in. */
};

/** A small table of metrics, in the order in which they were added. */
struct kvc_metrics {
    uint32_t count;                           /**< Used entries. */
    struct kvc_metric entry[KVC_METRICS_MAX]; /**< The metrics. */
};

/** The means of one value over the batches of a run. */
struct kvc_batch_means {
    char name[KVC_VALUE_NAME_MAX]; /**< The name of the value (sim/metrics/values.h). */
    uint32_t count;                /**< Used entries of `mean`. */
    double mean[KVC_BATCHES_MAX];  /**< By batch; NaN: the batch has none. */
};

/** Half the width of a value's 95 % interval over the batches of a run. */
struct kvc_half_width {
    char name[KVC_VALUE_NAME_MAX]; /**< The name of the value (sim/metrics/values.h). */
    double half_width;             /**< In the unit of the value; NaN: unknown. */
};

/** Observations of a power policy for a unit of the store, and the clocks that it chose (sim/run/policy.h).
 */
struct kvc_look {
    char unit[KVC_NAME_MAX]; /**< Name of the unit: "node0.socket1". */
    double at_s;             /**< When it looked, since the start of the measured time [s]. */
    double span_s;           /**< Time since the previous look, for which the rest holds [s]. */
    double offered_mops;     /**< Requests that reached the unit [million/s]. */
    double served_mops;      /**< Requests answered [million/s]. */
    double capacity_mops;    /**< Requests that the CPU could have answered [million/s]; NaN: unknown. */
    double cpu_busy_frac;    /**< Share of the time in which the busiest kind of thread was busy. */
    double gpu_busy_frac;    /**< Share of the time in which the GPU worked; NaN: there is none. */
    double latency_mean_us;  /**< Mean latency [us]; NaN: nothing was answered. */
    double latency_p99_us;   /**< 99th percentile of the latency [us]; NaN: nothing was answered. */
    double watts;            /**< Mean power of CPU and GPU [W]; NaN: unknown. */
    double cpu_hz;           /**< Clock of the CPU from then on [Hz]. */
    double gpu_hz;           /**< Core clock of the GPU from then on [Hz]; NaN: there is none. */
    bool changed;            /**< Whether a clock has changed. */
};

/** Latencies of a closed form, client to client [us]; NaN: unknown. Runs have the histogram instead. */
struct kvc_latencies {
    double mean_us; /**< Mean. */
    double p50_us;  /**< Median. */
    double p95_us;  /**< Of 95 % of the requests. */
    double p99_us;  /**< Of 99 % of the requests. */
    double p999_us; /**< Of 99.9 % of the requests. */
};

/** How a tenant fares (sim/workload/tenants.h). Values of several replicas are their means. */
struct kvc_tenant_result {
    double throughput_mops;       /**< Its requests answered per time [million/s]. */
    double hit_frac;              /**< Share of its GETs that found their key; NaN: there are none. */
    struct kvc_latencies latency; /**< Its latencies. */
};

/** The result of a run, a prediction or a measurement. */
struct kvc_result {
    double throughput_mops; /**< Completed requests per time [million/s]. */
    uint64_t offered;       /**< Requests sent to the store. */
    uint64_t completed;     /**< Requests answered. */
    uint64_t dropped;       /**< Requests lost on the way. */
    double growth_frac;     /**< Share of the offered requests by which the backlog grew; 0: it did not grow
                                 (kvc_windows_overload_frac()); NaN: the run is too short to tell. */
    uint64_t gets;          /**< Completed GET requests. */
    uint64_t hits;          /**< GET requests that found their key. */
    uint64_t misses;        /**< GET requests that did not. */
    uint64_t sets;          /**< Completed SET requests. */
    uint64_t deletes;       /**< Completed DELETE requests. */
    struct kvc_latencies predicted; /**< Predicted latencies. */
    /** What the predicted latencies assume, or why they are unknown, as a sentence; empty: nothing is said.
     */
    char latency_assumes[KVC_NOTE_BYTES];
    bool has_histogram; /**< Whether `latency` is filled. */

    uint32_t tenant_count; /**< Used entries of `tenant`; 0: a prediction, or a load without tenants. */
    struct kvc_tenant_result tenant[KVC_RESULT_TENANTS_MAX]; /**< Tenants in the order of the scenario. */

    uint32_t stage_count;                          /**< Used entries of `stage`. */
    struct kvc_stage_result stage[KVC_STAGES_MAX]; /**< The stages in pipeline order. */
    char bottleneck_stage[KVC_NAME_MAX];           /**< Name of the limiting stage, or "load". */
    char bottleneck_device[KVC_NAME_MAX];          /**< Device of the limiting stage, or "load". */
    char bottleneck_why[KVC_NOTE_BYTES];           /**< One sentence with the utilizations; may be empty. */

    struct kvc_metrics kernel; /**< Observed on the real data structures: load_factor_frac, ... */
    struct kvc_metrics model;  /**< Specific to the store's model: t_search_us, cycle_min_us, ... */

    double watts_mean; /**< Mean power of all devices whose power is known [W]; 0 if none is. */
    double joules;     /**< Energy of these devices within the measured time [J]; 0 if none is known. */
    char watts_missing[KVC_MISSING_BYTES]; /**< Kinds of devices that work but do not state their power:
                                                "gpu, nic"; empty: `watts_mean` is the whole power. */
    uint32_t device_count;                 /**< Used entries of `device`. */
    struct kvc_device_result device[KVC_DEVICES_MAX]; /**< Hosts and links of the platform. */

    double simulated_s; /**< Length of the measured part of the run [simulated s]. */
    double warmup_s;    /**< Length of the warm-up before it [simulated s]. */
    double steady_s;    /**< Part of the warm-up after which the store was steady; all of it if that is not
                             detected [simulated s]. */
    double wall_s;      /**< Wall-clock time of the whole run [s]. Never compared between runs. */
    double cpu_s;       /**< Processor time of the process during wall_s [s]. Never compared between runs. */
    double source_wall_s;  /**< Wall-clock time spent producing requests [s]. */
    double kernel_wall_s;  /**< Wall-clock time spent in the real data structures [s]. */
    double engine_wall_s;  /**< Wall-clock time spent in the event engine [s]. */
    double preload_wall_s; /**< Wall-clock time spent preloading keys [s]. */
    double
        memory_planned_bytes; /**< Predicted memory of each process that simulates [bytes]. Never compared. */
    double memory_taken_bytes; /**< Largest memory of such a process [bytes]. Never compared between runs. */
    uint64_t requests_simulated; /**< Requests, including the warm-up. */
    uint64_t activities;         /**< Activities that the event engine executed. */

    double window_us;                      /**< Length of one throughput window [us]. */
    uint32_t window_count;                 /**< Used entries of `window_mops` and `window_latency`. */
    float window_mops[KVC_WINDOWS_MAX];    /**< Throughput by window [million/s]. */
    float window_latency[KVC_WINDOWS_MAX]; /**< Throughput by window times the mean latency of what it
                                              answers, by which nodes and replicas add up: requests that are
                                              on their way. */

    bool moves;     /**< The load or the machine changes during the run: batches of it tell no interval. */
    double batch_s; /**< Length of a batch of the measured time [s]; 0: there are none. */
    uint32_t batch_means_count;                              /**< Used entries of `batch_means`. */
    struct kvc_batch_means batch_means[KVC_BATCH_MEANS_MAX]; /**< Values by batch, of one replica only. */
    uint32_t half_width_count;                               /**< Used entries of `half_width`. */
    struct kvc_half_width half_width[KVC_HALF_WIDTHS_MAX];   /**< Intervals of the quotients of counters
                                                                (sim/metrics/batches.h), of one replica only. */

    uint32_t look_count;                 /**< Used entries of `look`; 0: no policy looked. */
    struct kvc_look look[KVC_LOOKS_MAX]; /**< Looks of the power policy, of the first replica. */

    struct kvc_spans spans; /**< Spans that objectives are judged over, of one replica only. */

    int timeline_error; /**< Error of writing the timeline (errno); 0: it was written, or there is none. */

    bool is_wordless;    /**< Notes, `latency_assumes` and `bottleneck_why` stay empty. */
    uint32_t note_count; /**< Used entries of `note`. */
    char note[KVC_NOTES_MAX][KVC_NOTE_BYTES]; /**< Warnings that the user must see with the result. */

    /** Stalls of the machine in a measurement, as overrides of a scenario that has them:
     * "node.stalls.1.length=41us;node.stalls.1.every=210ms"; empty: there were none. */
    char stalls[KVC_STALLS_BYTES];

    struct kvc_paths paths;       /**< Ways of these requests, if the store records them. */
    struct kvc_histogram latency; /**< Latency of the measured requests. */
};

/** Adds a metric. A name that is too long or a full table is a bug (KVC_BUG). */
void kvc_metrics_set(struct kvc_metrics *metrics, const char *name, double value);

/** Adds a quotient of two counters; nothing if the whole is 0. */
void kvc_metrics_set_ratio(struct kvc_metrics *metrics, const char *name, double part, double whole);

/** Returns the value of the metric `name`, or NaN if there is none. */
double kvc_metrics_get(const struct kvc_metrics *metrics, const char *name);

/** Adds a stage and returns it for the caller to fill in. Its mean time starts as NaN, its other values as 0.
 * A full table is a bug (KVC_BUG). */
struct kvc_stage_result *kvc_result_add_stage(struct kvc_result *result, const char *name, const char *device,
                                              double utilization_frac);

/** Returns the rate of the requests that a stage of a prediction is for [million/s]. */
double kvc_result_stage_mops(const struct kvc_result *result, uint32_t stage);

/** Adds a device and returns it for the caller to fill in. A full table is a bug (KVC_BUG). */
struct kvc_device_result *kvc_result_add_device(struct kvc_result *result, const char *name,
                                                const char *kind);

/** Returns the mean latency, simulated, measured or predicted [us]; NaN: unknown. */
double kvc_result_latency_mean_us(const struct kvc_result *result);

/** Returns a percentile of the latency, `p` from 0 to 1 [us]; NaN: unknown. Of a prediction, only the
 * percentiles of struct kvc_latencies are known. */
double kvc_result_latency_percentile_us(const struct kvc_result *result, double p);

/** Returns the mean latency of the requests answered in a window [us]; NaN: none was, or their latencies
 * do not count. */
double kvc_result_window_latency_us(const struct kvc_result *result, uint32_t window);

/** Returns the means by batch of a value, or NULL if there are none. */
const struct kvc_batch_means *kvc_result_batch_means(const struct kvc_result *result, const char *name);

/** Adds half the width of a value's interval. A full table is a bug (KVC_BUG). */
void kvc_result_add_half_width(struct kvc_result *result, const char *name, double half_width);

/** Returns half the width of a value's interval over the batches of the run, or NaN if it has none. */
double kvc_result_half_width(const struct kvc_result *result, const char *name);

/** Name of a model's metric: by how much the costs that it extrapolated beyond its calibration may be off,
 * relative to them. A model that extrapolates nothing does not have it. */
extern const char kvc_extrapolated_name[];

/** Adds a note unless the result already has it. Notes beyond KVC_NOTES_MAX are lost. */
void kvc_result_note(struct kvc_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Contribution of one node of a cluster to a result. Values are means over the replicas; NaN: unknown. */
struct kvc_node_result {
    char name[KVC_NAME_MAX];  /**< "node17". */
    char class[KVC_NAME_MAX]; /**< Name of its group of equal nodes. */
    double key_frac;          /**< Share of all keys that it owns at the start. */
    double request_frac;      /**< Share of all requests that are sent to it at the start. */
    double throughput_mops;   /**< Requests that it answers [million/s]. */
    double offered;           /**< Requests sent to it in a replica. */
    double dropped;           /**< Requests sent to it that were lost. */
    double hit_frac;          /**< Share of the GETs that hit. */
    double latency_mean_us;   /**< Mean latency [us]. */
    double latency_p50_us;    /**< Median of the latency [us]. */
    double latency_p99_us;    /**< 99th percentile of the latency [us]. */
    double utilization_frac;  /**< Utilization of its busiest stage, 0 to 1. */
    char stage[KVC_NAME_MAX]; /**< Busiest stage of the node in the last replica. */
    double watts_mean;        /**< Mean power of its devices whose power is known [W]; 0: none is. */
};

/** Fills all but name, class and shares from the result of a node. */
void kvc_node_result_of(const struct kvc_result *result, struct kvc_node_result *node);

/** Adds a replica's values with the weight 1/replicas. `sum` starts as a zeroed struct. */
void kvc_node_result_add(struct kvc_node_result *sum, const struct kvc_node_result *replica,
                         uint32_t replicas);

#endif
