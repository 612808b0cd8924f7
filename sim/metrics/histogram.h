/* Latency histogram with bounded relative error (the log-linear layout of HdrHistogram, hdrhistogram.org).
 *
 * Values are nanoseconds, 1 .. 2^40 (18 minutes); smaller ones count as 1, larger ones as 2^40 and are
 * reported by `clipped`. Relative error at most 1/2048. A plain struct without pointers: replicas send it
 * through pipes and add it up. */
#ifndef KVC_SIM_METRICS_HISTOGRAM_H
#define KVC_SIM_METRICS_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

enum {
    KVC_HISTOGRAM_SUB_BITS = 10, /* linear steps per power of two: 2^10 */
    KVC_HISTOGRAM_MAX_BITS = 40,
    KVC_HISTOGRAM_SLOTS = KVC_HISTOGRAM_MAX_BITS << KVC_HISTOGRAM_SUB_BITS,
};

struct kvc_histogram {
    uint64_t count, clipped;
    double sum_ns, min_ns, max_ns; /* exact */
    uint64_t slot[KVC_HISTOGRAM_SLOTS];
};

void kvc_histogram_reset(struct kvc_histogram *histogram);

/* Records done_ns[i] - sent_ns[i] for i in [0, count). */
void kvc_histogram_record(struct kvc_histogram *histogram, const double *sent_ns, const double *done_ns,
                          uint32_t count);

void kvc_histogram_add(struct kvc_histogram *sum, const struct kvc_histogram *other);

double kvc_histogram_mean_ns(const struct kvc_histogram *histogram); /* NaN when empty */

/* Smallest value v such that at least p (0..1) of the values are <= v, to the histogram's precision. NaN when
 * empty. */
double kvc_histogram_percentile_ns(const struct kvc_histogram *histogram, double p);

/* The CDF as at most `max` points (value_ns, fraction), both rising, ending at fraction 1. Returns how many.
 */
uint32_t kvc_histogram_cdf(const struct kvc_histogram *histogram, uint32_t max, double *value_ns,
                           double *fraction);

/* HdrHistogram's percentile text format (.hgrm), in microseconds. Returns 0, or -1 with errno. */
int kvc_histogram_write_hgrm(const struct kvc_histogram *histogram, FILE *out);

#endif
