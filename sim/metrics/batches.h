/** @file
 * Batches of the measured time, whose means give the 95 % intervals of a run without replicas.
 *
 * The measured time is divided into batches of equal length, each with its own counts and its own histogram
 * of latencies; the histograms add up to the run's. A batch begins as one window of the recorder. Whenever
 * the run is longer than KVC_BATCHES_MAX batches, neighbours are joined in pairs, so that a long run has
 * between KVC_BATCHES_MAX / 2 and KVC_BATCHES_MAX batches. The batch that the end of the run cuts off counts
 * in the histogram, but in no mean.
 *
 * The means go into a result under the names of sim/metrics/values.h, and kvc_interval_of_batches() makes
 * intervals of them. A percentile needs KVC_BATCH_TAIL values on either side in every batch; batches are
 * joined until each has them. Quotients of counters have intervals of their own. Not covered: extremes, and
 * states at one moment; these need replicas.
 *
 * A ratio is a metric that is the quotient of two counters. A counter grows throughout the run: events, busy
 * time, energy, or the time itself. The owner of counters samples them when the measured time begins and at
 * the end of every window, and at no other time. Their growth belongs to the batch of that window.
 *
 * The interval of a ratio is computed as for a ratio of two sums (Cochran, Sampling Techniques, 3rd ed., sec.
 * 6.3): with the run's quotient R, a batch stands for R + (part - R whole) / (mean whole), so that it counts
 * as much as its denominator. Every batch must have something in the denominator, so batches without are
 * joined with others. */
#ifndef KVC_SIM_METRICS_BATCHES_H
#define KVC_SIM_METRICS_BATCHES_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/metrics/histogram.h"
#include "sim/metrics/result.h"

enum { KVC_BATCH_DIGITS = 7 /**< Reproducible digits of the engine's counts in a batch. */ };

/** Kind of counters in a quotient. */
enum kvc_ratio_kind {
    KVC_RATIO_OF_COUNTS, /**< Numbers that do not depend on the order of additions. */
    KVC_RATIO_OF_ENGINE, /**< Times, work or energy of the engine, of which KVC_BATCH_DIGITS are reproducible.
                          */
    KVC_RATIO_OF_TIME,   /**< A count of the engine over the time [ns]. The metric is the count that the whole
                            measured time has at the batch's rate, such as a number of events. */
};

/** A metric that is the quotient of two counters. Its texts must outlive the run. */
struct kvc_ratio {
    const char *group;        /**< "kernel", "model", "stages" or "devices". */
    const char *entry;        /**< Name of the stage or the device; NULL: the group has none. */
    const char *name;         /**< Name of the metric. */
    double part;              /**< Numerator, counted since the run began. */
    double whole;             /**< Denominator, counted since the run began. */
    enum kvc_ratio_kind kind; /**< Kind of its counters. */
};

/** A ratio with the growth of its counters in each batch. */
struct kvc_ratio_batches {
    struct kvc_ratio latest;       /**< The ratio with its latest counters. */
    double part[KVC_BATCHES_MAX];  /**< Growth of the numerator by batch. */
    double whole[KVC_BATCHES_MAX]; /**< Growth of the denominator by batch. */
};

/** All ratios of a run. A zeroed struct can be closed. */
struct kvc_ratios {
    struct kvc_ratio_batches *ratio; /**< In the order in which they are sampled. */
    uint32_t count;                  /**< Used entries. */
    uint32_t room;                   /**< Allocated entries. */
    uint32_t next;                   /**< Ratios sampled since kvc_ratios_begin(). */
    int32_t batch;                   /**< Batch of the window that has ended; -1: it was not measured. */
};

/** Frees the memory of the ratios, not the struct. */
void kvc_ratios_close(struct kvc_ratios *ratios);

/** Begins with the samples at the end of a window of this batch; -1: the window was not measured. */
void kvc_ratios_begin(struct kvc_ratios *ratios, int32_t batch);

/** Samples the counters of the next ratio. The ratios are the same in the same order after every
 * kvc_ratios_begin(). The first sample only says where the counters begin. If memory is short, the program
 * ends (kvc_out_of_memory). */
void kvc_ratios_sample(struct kvc_ratios *ratios, const struct kvc_ratio *ratio);

/** Joins neighbouring batches in pairs. */
void kvc_ratios_join(struct kvc_ratios *ratios);

/** Adds the half width of every ratio's interval to a result whose measured time is measured_ns and of which
 * `count` batches are whole. Batches are joined in pairs while one of them has nothing in the denominator.
 * Call it last: no more samples can be taken. */
void kvc_ratios_report(struct kvc_ratios *ratios, uint32_t count, double measured_ns,
                       struct kvc_result *result);

enum {
    KVC_BATCH_TAIL = 10,   /**< Values that a batch needs below and above a percentile, on average. */
    KVC_BATCH_STAGES = 12, /**< Stages whose busy time is counted. */
};

/** Counts of one batch. */
struct kvc_batch_counts {
    uint64_t offered;                 /**< Requests sent. */
    uint64_t dropped;                 /**< Requests sent that were lost. */
    uint64_t completed;               /**< Requests answered. */
    uint64_t gets;                    /**< GET requests answered. */
    uint64_t hits;                    /**< GET requests answered that found their key. */
    double busy_ns[KVC_BATCH_STAGES]; /**< Busy time by stage [ns]. */
    double joules;                    /**< Energy of all devices whose power is known [J]. */
    struct kvc_histogram latency;     /**< Latencies of requests answered. */
};

/** The batches of a run. A zeroed struct can be closed. */
struct kvc_batches {
    double length_ns;               /**< Length of a batch [ns]. */
    struct kvc_batch_counts *batch; /**< KVC_BATCHES_MAX batches in the order of time. */
    struct kvc_ratios ratios;       /**< Quotients of counters by batch. */
};

/** Prepares batches that begin with the length length_ns. If memory is short, the program ends
 * (kvc_out_of_memory). */
void kvc_batches_open(struct kvc_batches *batches, double length_ns);

/** Returns the memory that batches of this first length take in a measured time of duration_ns [bytes].
 * latency_octaves is log2 of the longest latency over the shortest: other slots of the histograms are not
 * written, and take no memory. */
double kvc_batches_memory_bytes(double length_ns, double duration_ns, double latency_octaves);

/** Frees the memory of the batches, not the struct. */
void kvc_batches_close(struct kvc_batches *batches);

/** Returns the batch that a moment belongs to, offset_ns after the start of the measured time (at least 0).
 * The pointer is valid until the next call. */
struct kvc_batch_counts *kvc_batches_at(struct kvc_batches *batches, double offset_ns);

/** Records the latencies done_ns[i] - sent_ns[i] of requests in ascending order of done_ns, all of them
 * within the measured time that begins at from_ns. */
void kvc_batches_latencies(struct kvc_batches *batches, double from_ns, const double *sent_ns,
                           const double *done_ns, uint32_t count);

/** Records the completion of requests, as kvc_batches_latencies() does their latencies. */
void kvc_batches_completions(struct kvc_batches *batches, double from_ns, const double *done_ns,
                             uint32_t count);

/** Adds the busy time of a server of `stage` to the batches. It begins and ends start_ns and end_ns after the
 * start of the measured time. */
void kvc_batches_busy(struct kvc_batches *batches, uint32_t stage, double start_ns, double end_ns);

/** Returns the sum of the busy times of the stages whose bits are set [ns]. */
double kvc_sum_of_stages(const double busy_ns[KVC_BATCH_STAGES], unsigned stages);

/** Adds the histogram of the run, the means of the batches and the intervals of the quotients to a result.
 * measured_ns is the length of the measured time. Joins histograms, so that nothing can be recorded any more.
 */
void kvc_batches_report(struct kvc_batches *batches, double measured_ns, struct kvc_result *result);

/** Adds the utilizations of a stage by batch, after kvc_batches_report(). `stages` has a bit for each number
 * whose busy time belongs to it, and `servers` share the work. */
void kvc_batches_report_stage(const struct kvc_batches *batches, const char *name, unsigned stages,
                              double servers, double measured_ns, struct kvc_result *result);

#endif
