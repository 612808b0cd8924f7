/** @file
 * A latency histogram with bounded relative error, in the log-linear layout of HdrHistogram
 * (hdrhistogram.org).
 *
 * Values are 1 ns to 2^40 ns (18 minutes), with a relative error of at most 1/2048. Smaller values count as
 * 1 ns, larger ones as 2^40 ns. The struct contains no pointers, so that replicas can send it through a pipe
 * and their histograms can be added up. */
#ifndef KVC_SIM_METRICS_HISTOGRAM_H
#define KVC_SIM_METRICS_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    KVC_HISTOGRAM_SUB_BITS = 10, /**< Each power of two has 2^10 slots of equal width. */
    KVC_HISTOGRAM_MAX_BITS = 40, /**< Values go up to 2^40 ns. */
    /** Number of slots. */
    KVC_HISTOGRAM_SLOTS = KVC_HISTOGRAM_MAX_BITS << KVC_HISTOGRAM_SUB_BITS,
};

/** A histogram. A zeroed struct is empty. */
struct kvc_histogram {
    uint64_t count;                     /**< Recorded values. */
    uint64_t clipped;                   /**< Values above 2^40 ns. */
    double sum_ns;                      /**< Exact sum of the values [ns]. */
    double min_ns;                      /**< Exact smallest value [ns]. */
    double max_ns;                      /**< Exact largest value [ns]. */
    uint64_t slot[KVC_HISTOGRAM_SLOTS]; /**< Values per slot. */
};

/** Empties a histogram. */
void kvc_histogram_reset(struct kvc_histogram *histogram);

/** Records the values done_ns[i] - sent_ns[i] for i from 0 to count - 1. */
void kvc_histogram_record(struct kvc_histogram *histogram, const double *sent_ns, const double *done_ns,
                          uint32_t count);

/** Adds the values of another histogram to `sum`. */
void kvc_histogram_add(struct kvc_histogram *sum, const struct kvc_histogram *other);

/** The values of a histogram in little memory: the slots from the smallest value to the largest. */
struct kvc_histogram_pack {
    uint64_t count;   /**< Values. */
    uint64_t clipped; /**< Values above 2^40 ns. */
    double sum_ns;    /**< Exact sum of the values [ns]. */
    double min_ns;    /**< Exact smallest value [ns]. */
    double max_ns;    /**< Exact largest value [ns]. */
    uint32_t first;   /**< The slot of the smallest value. */
    uint32_t slots;   /**< Entries of `slot`. */
    uint32_t *slot;   /**< Values per slot, to be freed with free(); NULL when there are none. */
};

/** Moves the values of a histogram to a pack and leaves the histogram empty. Returns false if memory is
 * short; the pack is then empty and the values are lost. */
bool kvc_histogram_take(struct kvc_histogram *histogram, struct kvc_histogram_pack *pack);

/** Adds the values of a pack to `sum`. */
void kvc_histogram_add_pack(struct kvc_histogram *sum, const struct kvc_histogram_pack *pack);

/** Returns the value that stands for a slot [ns]. */
double kvc_histogram_slot_ns(uint32_t slot);

/** Returns the exact mean [ns], or NaN if the histogram is empty. */
double kvc_histogram_mean_ns(const struct kvc_histogram *histogram);

/** Returns the smallest value v such that at least a share p (0 to 1) of the values are at most v, with the
 * precision of the histogram [ns]. Returns NaN if the histogram is empty. */
double kvc_histogram_percentile_ns(const struct kvc_histogram *histogram, double p);

/** Computes the cumulative distribution as at most `max` points (value_ns[i], fraction[i]). Both ascend, and
 * the last fraction is 1. Returns the number of points. */
uint32_t kvc_histogram_cdf(const struct kvc_histogram *histogram, uint32_t max, double *value_ns,
                           double *fraction);

/** Writes the percentile text format of HdrHistogram (.hgrm), in microseconds. Returns 0, or -1 with errno if
 * the file cannot be written. */
int kvc_histogram_write_hgrm(const struct kvc_histogram *histogram, FILE *out);

#endif
