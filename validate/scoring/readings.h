/* The figures that measurement, simulation and closed form have in common. */
#ifndef KVC_VALIDATE_SCORING_READINGS_H
#define KVC_VALIDATE_SCORING_READINGS_H

#include <stdint.h>

#include "sim/metrics/result.h"

enum kvc_reading {
    KVC_READING_THROUGHPUT,
    KVC_READING_LATENCY_MEAN,
    KVC_READING_LATENCY_P99,
    KVC_READING_T_SEARCH, /* of one launch */
    KVC_READING_JOBS_PER_SEARCH,
    KVC_READING_T_INSERT,
    KVC_READING_JOBS_PER_INSERT,
    KVC_READINGS,
};

/* "throughput_mops", ...: columns of runs.csv; those of the model's own figures are the names of these. */
extern const char *const kvc_reading_names[KVC_READINGS];

struct kvc_readings {
    double value[KVC_READINGS]; /* NaN: there is no such figure */
    char bottleneck[KVC_NAME_MAX];
};

/* A closed form (a result without a histogram) has no p99. */
void kvc_readings_of(const struct kvc_result *result, struct kvc_readings *readings);

/* Median of each figure over the turns that have it, and the bottleneck named most often. *spread_frac:
 * (largest - smallest) / median of the throughput. */
void kvc_readings_median(const struct kvc_readings *repetitions, uint32_t count, struct kvc_readings *median,
                         double *spread_frac);

#endif
