/** @file
 * Metrics that are quotients of two counters, by batch of the measured time.
 *
 * A counter grows as long as the run lasts: events, busy time, energy, or the time itself. Whoever has
 * counters samples them when the measured time begins and at the end of every window, and at no other time.
 * What they have grown by belongs to the batch of that window (sim/metrics/batches.h).
 *
 * The interval is that of a ratio of two sums (Cochran, Sampling Techniques, 3rd ed., sec. 6.3): with the
 * run's quotient R, a batch stands for R + (part - R whole) / (mean whole), so that it counts as much as its
 * denominator. Every batch must have something in the denominator; joined batches do at last. */
#ifndef KVC_SIM_METRICS_RATIOS_H
#define KVC_SIM_METRICS_RATIOS_H

#include <stdint.h>

#include "sim/metrics/result.h"

enum { KVC_BATCH_DIGITS = 7 /**< Digits of what the engine counts in a batch that are reproducible. */ };

/** What a quotient is made of. */
enum kvc_ratio_kind {
    KVC_RATIO_OF_COUNTS, /**< Numbers that are the same for any order of additions. */
    KVC_RATIO_OF_ENGINE, /**< Times, work or energy of the engine, of which KVC_BATCH_DIGITS are reproducible.
                          */
    KVC_RATIO_OF_TIME, /**< Of the engine, and the denominator is the time [ns]. The metric is what the whole
                          measured time counts, such as a number of events: as much as at the batch's rate. */
};

/** A metric that is the quotient of two counters. Its texts must outlive the run. */
struct kvc_ratio {
    const char *group;        /**< "kernel", "model", "stages" or "devices". */
    const char *entry;        /**< Name of the stage or the device; NULL: the group has none. */
    const char *name;         /**< Name of the metric. */
    double part;              /**< Numerator, counted since the run began. */
    double whole;             /**< Denominator, counted since the run began. */
    enum kvc_ratio_kind kind; /**< What it is made of. */
};

/** A ratio with what its counters have grown by in each batch. */
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

#endif
