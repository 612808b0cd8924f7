/** @file
 * Collects the measurements of one run: throughput windows, the end of the warm-up, latencies and busy times.
 *
 * A run has a warm-up and a steady state, as in BigHouse (Meisner et al., ISPASS 2012). Every window of the
 * run counts what was sent, lost and answered in it, and sums the latencies. If the end of the warm-up is to
 * be detected, four series of the windows are examined: throughput, hit ratio, backlog and mean latency. What
 * MSER-5 (sim/metrics/statistics.h) keeps of them must have no trend, and the clients' lead must not grow
 * either. The warm-up ends when all are steady (kvc_windows_unsteady()). Measuring then starts late
 * enough that no batch already recorded reaches into the measured time. The histogram, the busy times and all
 * counts cover the measured time only.
 *
 * A mean latency may be steady long before the rest: a store that fills loses hits for seconds, a queue grows
 * while its head is served as before. So throughput, hit ratio, backlog (requests sent but neither answered
 * nor lost) and mean latency are all examined. Yet all four are steady while clients that share one stream
 * send more than its slowest shard serves: only what waits at the clients grows, and throughput falls when
 * they may not run further ahead. So the clients' lead is the fifth series. */
#ifndef KVC_SIM_METRICS_RECORDER_H
#define KVC_SIM_METRICS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/metrics/batches.h"
#include "sim/metrics/multigets.h"
#include "sim/metrics/result.h"
#include "sim/metrics/spans.h"

/** Counts of one window. */
struct kvc_window {
    uint64_t offered;   /**< Requests sent in it. */
    uint64_t dropped;   /**< Requests sent that were lost. */
    uint64_t completed; /**< Requests answered in it. */
    uint64_t gets;      /**< GET requests answered in it whose results are known. */
    uint64_t hits;      /**< GET requests answered that found their key. */
    uint64_t timed;     /**< Requests answered in it whose latency counts. */
    double latency_ns;  /**< Sum of their latencies [ns]. */
    double lead;        /**< Requests by which the clients are ahead of the slowest shard at its end. */
};

/** The series that are examined. */
enum kvc_series {
    KVC_SERIES_THROUGHPUT, /**< Requests answered in a window. */
    KVC_SERIES_HIT_RATIO,  /**< Share of GET requests that found their key. */
    KVC_SERIES_BACKLOG,    /**< Requests sent but not answered or lost at the end of a window. */
    KVC_SERIES_LATENCY,    /**< Mean latency of the requests answered in a window [us]. */
    KVC_SERIES_LEAD,       /**< Requests by which the clients are ahead of the slowest shard. */
    KVC_SERIES,            /**< Number of series; as a value: none of them. */
};

extern const char *const kvc_series_names[KVC_SERIES]; /**< "throughput", ... */

/** Returns the first series that is not steady in the windows 0 to count - 1, or KVC_SERIES if all are. A
 * window without answers repeats the window before it. A series is steady if what is kept of it has no trend.
 * MSER-5 (sim/metrics/statistics.h) cuts off its beginning, or, where that finds no cut in the first half,
 * the whole first half is cut off. A trend is the least-squares line through the means of ten equal parts, if
 * its slope exceeds two of its standard errors and its change over all parts is one that kvc_windows_drift()
 * calls large enough.
 *
 * MSER-5 alone accepts a slow drift under the noise of single windows, and refuses a steady series for long
 * in which a cycle of the store repeats, because a few of its last means may be equal. kvc_windows_drift()
 * often misses a slow drift, too, because the drift itself scatters the parts of its halves, and so does a
 * cycle of the store that is longer than a part. By chance, 6 % of noisy series are refused if their windows
 * are independent, and 36 % if neighbours correlate by 0.95; the caller then looks again later. The test
 * misses a drift below the noise of a line through few windows, and a drift that turns round in the middle.
 *
 * Throughput is not steady either while the last tenth of what is kept has no answers.
 *
 * The lead is steady unless it grows in the second half by more than 1 % of the requests answered in that
 * time, by which throughput would fall later, and by more than two standard errors of this growth.
 *
 * *from is the first window that no examined series cuts off, the lead apart: if all are steady, they are so
 * from it on. */
enum kvc_series kvc_windows_unsteady(const struct kvc_window *windows, uint32_t count, uint32_t *from);

/** Returns the share of the requests that is not served, if more is sent than answered throughout the second
 * half of the windows 0 to count - 1: by at least 1 %, and by more than four standard errors. Otherwise
 * returns 0, or NaN if there are fewer than 6 windows. */
double kvc_windows_overload_frac(const struct kvc_window *windows, uint32_t count);

/** Change of a series between two halves of a time. */
struct kvc_drift {
    double first;     /**< Mean of the first half, in the unit of the series. */
    double second;    /**< Mean of the second half, in the unit of the series. */
    bool significant; /**< The change is neither chance nor too small to matter. */
};

/** Compares the halves of the windows `first` to first + count - 1. A change is significant if it exceeds
 * four of its standard errors, which the means of ten parts of each half give, and is larger than 1 % of the
 * throughput, 0.005 of the hit ratio, 10 % of the backlog or 5 % of the latency. A change of the lead is
 * never significant, because throughput shows its effect. A change over fewer than 20 windows is never
 * significant either. */
struct kvc_drift kvc_windows_drift(const struct kvc_window *windows, uint32_t first, uint32_t count,
                                   enum kvc_series series);

enum {
    /** Windows before the first look for the end of the warm-up: MSER-5 needs several batches of five. */
    KVC_RECORDER_WINDOWS_FIRST = 50,
};

/** What is recorded of a tenant (sim/workload/tenants.h) in the measured time. */
struct kvc_tenant_record {
    uint64_t completed;           /**< Requests answered. */
    uint64_t gets;                /**< GET requests answered whose results are known. */
    uint64_t hits;                /**< GET requests answered that found their key. */
    struct kvc_histogram latency; /**< Latencies of the requests whose latency counts. */
};

/** A recorder. */
struct kvc_recorder {
    double window_ns;         /**< Length of a window [ns]. */
    double from_ns;           /**< Start of the measured time [ns]; +infinity during the warm-up. */
    double until_ns;          /**< End of the measured time [ns]. */
    double duration_ns;       /**< Length of the measured time [ns]. */
    double steady_ns;         /**< Time from which on a detected warm-up turned out to be steady [ns]. */
    bool detect;              /**< The end of the warm-up is detected. */
    double warmup_most_ns;    /**< Time from which on the run is measured without a steady state [ns]; 0: 2000
                                 windows. */
    bool clients_wait;        /**< Clients send no request that the store does not take: no backlog grows. */
    bool changing;            /**< The load or the machine changes on purpose: drifts are no surprise. */
    enum kvc_series unsteady; /**< The last series that was not steady; KVC_SERIES: none. */
    double overload_frac;     /**< Share of the requests that were not served in the warm-up; 0: none. */
    double longest_span_ns;   /**< Longest time from the record of a batch to its last completion [ns]. */
    double longest_lag_ns;    /**< Longest time from a completion to the record of its batch [ns]. */
    struct kvc_window *window;        /**< Counts of each window of the run. */
    uint32_t windows;                 /**< Windows in use. */
    uint32_t window_room;             /**< Windows allocated. */
    struct kvc_batches batches;       /**< Latencies and completions of the measured time. */
    struct kvc_spans_request judged;  /**< The spans that are counted; set after opening. */
    struct kvc_spans spans;           /**< Their counts. */
    struct kvc_paths paths;           /**< Ways of the requests of the measured time. */
    struct kvc_multigets *multigets;  /**< Multigets; NULL: GETs are sent alone. Set after opening. */
    uint32_t tenants;                 /**< Tenants; 0: none are told apart. */
    struct kvc_tenant_record *tenant; /**< Records by tenant. */
    double busy_ns[KVC_BATCH_STAGES]; /**< Busy time by stage within the measured time [ns]. */
    double joules;           /**< Energy since the measured time began, as of the latest reading [J]. */
    uint64_t offered;        /**< Requests sent within the measured time. */
    uint64_t dropped;        /**< Requests sent that were lost. */
    uint64_t offered_in_all; /**< Requests sent in the whole run. */
};

/** Starts recording. A negative warmup_ns means that the end of the warm-up is detected. If memory
 * is short, the program ends (kvc_out_of_memory). */
void kvc_recorder_open(struct kvc_recorder *recorder, double window_ns, double warmup_ns, double duration_ns);

/** Returns the memory that a recorder takes with this warm-up, which may be negative, this measured time, and
 * latencies that span 2^latency_octaves [bytes]. */
double kvc_recorder_memory_bytes(double window_ns, double warmup_ns, double duration_ns,
                                 double latency_octaves);

/** Frees the memory of a recorder, not the struct. */
void kvc_recorder_close(struct kvc_recorder *recorder);

/** Returns the sum of done_ns[i] - sent_ns[i] [ns] and adds the sum of done_ns to *done_sum_ns. The order of
 * the additions is fixed, so that results are reproducible. */
double kvc_recorder_sum(const double *sent_ns, const double *done_ns, uint32_t count, double *done_sum_ns);

/** Records the latencies of a batch at now_ns: `count` requests in the order of done_ns. Returns the sum of
 * their latencies, measured or not [ns]. */
double kvc_recorder_latencies(struct kvc_recorder *recorder, double now_ns, const double *sent_ns,
                              const double *done_ns, uint32_t count);

/** Records the ways of the same requests, which passed the marks (sim/metrics/paths.h). done_ns is in
 * ascending order. */
void kvc_recorder_paths(struct kvc_recorder *recorder, const double *sent_ns, const double *done_ns,
                        uint32_t count, const double *mark_ns, uint32_t marks, uint32_t stride);

/** Records the completions of a batch at now_ns: requests sent at sent_ns[i], in the order of done_ns.
 * Requests *first to *last - 1 complete within the measured time. */
void kvc_recorder_completions(struct kvc_recorder *recorder, double now_ns, const double *sent_ns,
                              const double *done_ns, uint32_t count, uint32_t *first, uint32_t *last);

/** Requests whose tenants are known, in the order of done_ns. */
struct kvc_tenant_rows {
    const uint32_t *tenant; /**< The tenants. */
    const double *sent_ns;  /**< When they were sent [ns]. */
    const double *done_ns;  /**< When their responses arrived [ns]. */
    const uint8_t *outcome; /**< What became of them. */
    uint8_t hit;            /**< Outcome of GETs that found their key. */
    uint8_t miss;           /**< Outcome of GETs that did not, ... */
    uint8_t other_miss;     /**< ... and another one of them; `miss` if there is none. */
    bool times_all;         /**< Latencies of all requests count; otherwise, those of GETs do. */
    uint32_t count;         /**< Number of requests. */
};

/** Tells `tenants` tenants apart from now on. */
void kvc_recorder_open_tenants(struct kvc_recorder *recorder, uint32_t tenants);

/** Records requests by their tenants; without tenants, this has no effect. */
void kvc_recorder_tenants(struct kvc_recorder *recorder, const struct kvc_tenant_rows *rows);

/** Records that `count` requests were sent, at sent_ns[0] to sent_ns[count - 1]. */
void kvc_recorder_offered(struct kvc_recorder *recorder, const double *sent_ns, uint32_t count);

/** Records that `count` requests are lost that were recorded as sent at these times. */
void kvc_recorder_dropped(struct kvc_recorder *recorder, const double *sent_ns, uint32_t count);

/** Records that `hits` of `gets` GET requests whose responses arrive around done_ns found their key. They
 * count in the series of the hit ratio only. */
void kvc_recorder_lookups(struct kvc_recorder *recorder, double done_ns, uint64_t gets, uint64_t hits);

/** Returns whether answers of a moment count as measured. */
static inline bool kvc_recorder_measures(const struct kvc_recorder *recorder, double time_ns)
{
    return time_ns >= recorder->from_ns && time_ns < recorder->until_ns;
}

/** Records by how many requests the clients are ahead of the slowest shard at now_ns, the end of a window. */
void kvc_recorder_lead(struct kvc_recorder *recorder, double now_ns, double lead);

/** Records that a server of `stage` is busy from start_ns to end_ns. */
void kvc_recorder_busy(struct kvc_recorder *recorder, uint32_t stage, double start_ns, double end_ns);

/** Records that a server of `stage` was busy for busy_ns in a time that ends at now_ns and is much shorter
 * than a window. */
void kvc_recorder_worked(struct kvc_recorder *recorder, uint32_t stage, double now_ns, double busy_ns);

/** Records the energy from the start of the measured time to now_ns, the end of a window [J]. */
void kvc_recorder_joules(struct kvc_recorder *recorder, double now_ns, double joules);

/** Begins with the samples of counters at now_ns: first when the measured time begins, then at the end of
 * each window. */
void kvc_recorder_sample_begin(struct kvc_recorder *recorder, double now_ns);

/** Samples the counters of some metrics. They are the same in the same order after every
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

/** Sets the requests offered and dropped, the histogram, throughput, windows, spans, simulated time and
 * warm-up time of a result. `result->completed` must be set before. Notes say which series was never steady
 * before the measured time, and which one drifted within it. */
void kvc_recorder_report(struct kvc_recorder *recorder, struct kvc_result *result);

#endif
