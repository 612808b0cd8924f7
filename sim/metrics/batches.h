/** @file
 * Batches of the measured time, whose means give the 95 % intervals of a run without replicas.
 *
 * The measured time is divided into batches of equal length, each with its own counts and its own histogram
 * of latencies; the histograms add up to that of the run. A batch begins as one window of the recorder.
 * Whenever the run is longer than KVC_BATCHES_MAX batches, neighbours are joined in pairs, so that a run of
 * any length has between half as many and KVC_BATCHES_MAX. The batch that the end of the run cuts off counts
 * in the histogram, but in no mean.
 *
 * The means go into a result under the names of sim/metrics/values.h, and kvc_interval_of_batches() makes
 * intervals of them. A percentile needs KVC_BATCH_TAIL values on either side in every batch; batches are
 * joined until they have as many. Quotients of counters have intervals of their own (sim/metrics/ratios.h).
 * Not covered: extremes, and states at one moment; these need replicas. */
#ifndef KVC_SIM_METRICS_BATCHES_H
#define KVC_SIM_METRICS_BATCHES_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/metrics/histogram.h"
#include "sim/metrics/ratios.h"
#include "sim/metrics/result.h"

enum {
    KVC_BATCH_TAIL = 10,   /**< Values that a batch needs below and above a percentile, on average. */
    KVC_BATCH_STAGES = 12, /**< Stages whose busy time is counted. */
};

/** What one batch has counted. */
struct kvc_batch_counts {
    uint64_t offered;                 /**< Requests sent. */
    uint64_t dropped;                 /**< Those of them that were lost. */
    uint64_t completed;               /**< Requests answered. */
    uint64_t gets;                    /**< GET requests answered. */
    uint64_t hits;                    /**< Those of them that found their key. */
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

/** Prepares batches that begin with the length length_ns. Returns KVC_ERR_RUNTIME if memory is short. */
enum kvc_status kvc_batches_open(struct kvc_batches *batches, double length_ns, struct kvc_diag *diag);

/** Returns the memory that batches of this first length take in a measured time of duration_ns [bytes]. */
double kvc_batches_memory_bytes(double length_ns, double duration_ns);

/** Frees the memory of the batches, not the struct. */
void kvc_batches_close(struct kvc_batches *batches);

/** Returns the batch that a moment belongs to, offset_ns after the begin of the measured time (at least 0).
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
 * begin of the measured time. */
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
