/** @file
 * Collects the measurements of one run: throughput windows, the end of the warm-up, latencies and busy times.
 *
 * A run has a warm-up and a steady state, as in BigHouse (Meisner et al., ISPASS 2012). Every window of the
 * run counts what was sent, lost and answered in it, and sums the latencies. If the end of the warm-up is to
 * be detected, MSER-5 (sim/metrics/statistics.h) examines four series of the windows: throughput, hit ratio,
 * backlog and mean latency. What it keeps of them must have no trend, and the clients' lead must not grow
 * either. The warm-up ends when all are steady (sim/metrics/steady_state.h). Measuring then starts late
 * enough that no batch already recorded reaches into the measured time. The histogram, the busy times and all
 * counts cover the measured time only. */
#ifndef KVC_SIM_METRICS_RECORDER_H
#define KVC_SIM_METRICS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/metrics/batches.h"
#include "sim/metrics/result.h"
#include "sim/metrics/steady_state.h"

enum {
    /** Windows before the first look for the end of the warm-up: MSER-5 needs several batches of five. */
    KVC_RECORDER_WINDOWS_FIRST = 50,
};

/** A recorder. */
struct kvc_recorder {
    double window_ns;           /**< Length of a window [ns]. */
    double from_ns;             /**< Start of the measured time [ns]; +infinity during the warm-up. */
    double until_ns;            /**< End of the measured time [ns]. */
    double duration_ns;         /**< Length of the measured time [ns]. */
    bool detect;                /**< The end of the warm-up is detected. */
    double warmup_most_ns;      /**< From then on, the run is measured without a steady state [ns]; 0: 2000
                                   windows. */
    bool changing;              /**< The load or the machine changes on purpose: drifts are no surprise. */
    enum kvc_series unsteady;   /**< The last series that was not steady; KVC_SERIES: none. */
    double overload_frac;       /**< Share of the requests that stayed behind in the warm-up; 0: none. */
    double longest_span_ns;     /**< Longest time from the record of a batch to its last completion [ns]. */
    double longest_lag_ns;      /**< Longest time from a completion to the record of its batch [ns]. */
    struct kvc_window *window;  /**< What each window of the run counted. */
    uint32_t windows;           /**< Windows in use. */
    uint32_t window_room;       /**< Windows allocated. */
    struct kvc_batches batches; /**< Latencies and completions of the measured time. */
    double busy_ns[KVC_BATCH_STAGES]; /**< Busy time by stage within the measured time [ns]. */
    double joules;           /**< Energy since the measured time began, as of the latest reading [J]. */
    uint64_t offered;        /**< Requests sent within the measured time. */
    uint64_t dropped;        /**< Those of them that were lost. */
    uint64_t offered_in_all; /**< Requests sent in the whole run. */
};

/** Starts recording. A negative warmup_ns means that the end of the warm-up is detected. Returns
 * KVC_ERR_RUNTIME if memory is short. */
enum kvc_status kvc_recorder_open(struct kvc_recorder *recorder, double window_ns, double warmup_ns,
                                  double duration_ns, struct kvc_diag *diag);

/** Returns the memory that a recorder takes with this warm-up, which may be negative, and measured time
 * [bytes]. */
double kvc_recorder_memory_bytes(double window_ns, double warmup_ns, double duration_ns);

/** Frees the memory of a recorder, not the struct. */
void kvc_recorder_close(struct kvc_recorder *recorder);

/** Returns the sum of done_ns[i] - sent_ns[i] [ns] and adds the sum of done_ns to *done_sum_ns. The order of
 * the additions is fixed, so that results are reproducible. */
double kvc_recorder_sum(const double *sent_ns, const double *done_ns, uint32_t count, double *done_sum_ns);

/** Records the latencies of a batch at now_ns: `count` requests in the order of done_ns. Returns the sum of
 * their latencies, measured or not [ns]. */
double kvc_recorder_latencies(struct kvc_recorder *recorder, double now_ns, const double *sent_ns,
                              const double *done_ns, uint32_t count);

/** Records the completions of a batch at now_ns, in the order of done_ns. Requests *first to *last - 1
 * complete within the measured time. */
void kvc_recorder_completions(struct kvc_recorder *recorder, double now_ns, const double *done_ns,
                              uint32_t count, uint32_t *first, uint32_t *last);

/** Records that `count` requests were sent, at sent_ns[0] to sent_ns[count - 1]. */
void kvc_recorder_offered(struct kvc_recorder *recorder, const double *sent_ns, uint32_t count);

/** Records that `count` requests are lost which were recorded as sent at these times. */
void kvc_recorder_dropped(struct kvc_recorder *recorder, const double *sent_ns, uint32_t count);

/** Records that `hits` of `gets` GET requests whose responses arrive around done_ns found their key. They
 * count in the series of the hit ratio only. */
void kvc_recorder_lookups(struct kvc_recorder *recorder, double done_ns, uint64_t gets, uint64_t hits);

/** Records by how many requests the clients are ahead of the slowest shard at now_ns, the end of a window. */
void kvc_recorder_lead(struct kvc_recorder *recorder, double now_ns, double lead);

/** Records that a server of `stage` is busy from start_ns to end_ns. */
void kvc_recorder_busy(struct kvc_recorder *recorder, uint32_t stage, double start_ns, double end_ns);

/** Records that a server of `stage` was busy for busy_ns in a time that ends at now_ns and is much shorter
 * than a window. */
void kvc_recorder_worked(struct kvc_recorder *recorder, uint32_t stage, double now_ns, double busy_ns);

/** Records the energy from the begin of the measured time to now_ns, the end of a window [J]. */
void kvc_recorder_joules(struct kvc_recorder *recorder, double now_ns, double joules);

/** Begins with the samples of counters at now_ns: first when the measured time begins, then at the end of
 * each window. */
void kvc_recorder_sample_begin(struct kvc_recorder *recorder, double now_ns);

/** Samples the counters of some metrics, the same ones in the same order after every
 * kvc_recorder_sample_begin(). */
void kvc_recorder_sample(struct kvc_recorder *recorder, const struct kvc_ratio *ratio, uint32_t ratios);

/** Checks whether the warm-up is over, and returns true once the measured time has passed. The caller calls
 * this once per window. */
bool kvc_recorder_check(struct kvc_recorder *recorder, double now_ns);

/** Ends the measured time now, for example because a trace has ended. */
void kvc_recorder_cut(struct kvc_recorder *recorder, double now_ns);

/** Adds a stage and its utilizations by batch to a result whose `completed` is set, after
 * kvc_recorder_report(). `stages` has a bit for each number whose busy time belongs to it, summed over the
 * `servers` that share the work. */
struct kvc_stage_result *kvc_recorder_report_stage(const struct kvc_recorder *recorder, const char *name,
                                                   const char *device, unsigned stages, double servers,
                                                   struct kvc_result *result);

/** Sets the requests offered and dropped, the histogram, throughput, windows, simulated time and warm-up time
 * of a result. `result->completed` must be set before. Notes say which series was never steady before the
 * measured time, and which one drifted within it. */
void kvc_recorder_report(struct kvc_recorder *recorder, struct kvc_result *result);

#endif
