/** @file
 * Whether a simulation is steady, judged from five series over windows of equal length.
 *
 * A mean latency may be steady long before the rest: a store that fills loses hits for seconds, a queue grows
 * while its head is served as before. So throughput, hit ratio, backlog (requests sent but neither answered
 * nor lost) and mean latency are all examined. All four are steady while clients that share one stream send
 * more than its slowest shard serves: only what waits at the clients grows, and throughput falls when they
 * may not run further ahead. So the clients' lead is examined, too. */
#ifndef KVC_SIM_METRICS_STEADY_STATE_H
#define KVC_SIM_METRICS_STEADY_STATE_H

#include <stdbool.h>
#include <stdint.h>

/** What one window counted. */
struct kvc_window {
    uint64_t offered;   /**< Requests sent in it. */
    uint64_t dropped;   /**< Those of them that were lost. */
    uint64_t completed; /**< Requests answered in it. */
    uint64_t gets;      /**< GET requests answered in it, as far as their results are known. */
    uint64_t hits;      /**< Those of them that found their key. */
    double latency_ns;  /**< Sum of the latencies of the requests answered in it [ns]. */
    double lead;        /**< By how many requests the clients are ahead of the slowest shard at its end. */
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
extern const char *const kvc_series_units[KVC_SERIES]; /**< Units of struct kvc_drift. */

/** Returns the first series that is not steady in the windows 0 to count - 1, or KVC_SERIES if all are. A
 * window without answers repeats the window before it. A series is steady in two cases:
 * - The means of five windows in its second half differ by less than 0.1 % of their mean.
 * - MSER-5 (sim/metrics/statistics.h) truncates less than its first half, and what it keeps has no trend. A
 *   trend is the least-squares line through the means of ten equal parts, if its slope exceeds two of its
 *   standard errors and its change over all parts is one that kvc_windows_drift() calls large enough.
 *
 * MSER-5 alone accepts a slow drift under the noise of single windows. kvc_windows_drift() often misses it,
 * too, because the drift itself scatters the parts of its halves, and so does a cycle of the store that is
 * longer than a part. By chance, the trend refuses 6 % of the noisy series that MSER-5 accepts if their
 * windows are independent, and 16 % if neighbours correlate by 0.95; the caller then looks again later. A
 * drift below the noise of a line through so few windows is not seen, nor is one that turns round in the
 * middle of them.
 *
 * The lead is steady unless it grows in the second half by more than 1 % of the requests that are answered
 * meanwhile, by which throughput would fall later, and by more than two standard errors of this growth. */
enum kvc_series kvc_windows_unsteady(const struct kvc_window *windows, uint32_t count);

/** Returns the share of the requests that stays behind, if more is sent than answered throughout the second
 * half of the windows 0 to count - 1: by at least 1 %, and by more than four standard errors. Otherwise
 * returns 0. */
double kvc_windows_overload_frac(const struct kvc_window *windows, uint32_t count);

/** How a series changed between two halves of a time. */
struct kvc_drift {
    double first;     /**< Mean of the first half, in kvc_series_units. */
    double second;    /**< Mean of the second half, in kvc_series_units. */
    bool significant; /**< The change is neither chance nor too small to matter. */
};

/** Compares the halves of the windows `first` to first + count - 1. A change is significant if it exceeds
 * four of its standard errors, which the means of ten parts of each half give, and is larger than 1 % of the
 * throughput, 0.005 of the hit ratio, 10 % of the backlog or 5 % of the latency. That of the lead is none,
 * because throughput shows its effect. With fewer than 20 windows, none is. */
struct kvc_drift kvc_windows_drift(const struct kvc_window *windows, uint32_t first, uint32_t count,
                                   enum kvc_series series);

#endif
