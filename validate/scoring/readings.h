/* Readings: the metrics that a measurement, a simulation and a closed form have in common. */
#ifndef KVC_VALIDATE_SCORING_READINGS_H
#define KVC_VALIDATE_SCORING_READINGS_H

#include <stdint.h>

#include "sim/metrics/result.h"

enum kvc_reading {
    KVC_READING_THROUGHPUT,
    KVC_READING_LATENCY_MEAN,
    KVC_READING_LATENCY_P99,
    KVC_READING_T_SEARCH, /* Time of one search launch. */
    KVC_READING_JOBS_PER_SEARCH,
    KVC_READING_T_INSERT,
    KVC_READING_JOBS_PER_INSERT,
    KVC_READING_SEARCH_JOB, /* Time of search launches by job. */
    KVC_READING_INSERT_JOB,
    KVC_READINGS,
};

/* "throughput_mops", ...: the columns of runs.csv. Readings of the store's model have the metric's name. */
extern const char *const kvc_reading_names[KVC_READINGS];

/* "throughput_half_frac", ...: half the width of the 95 % interval of a measured reading, relative to it, as
 * metric of a measurement and as column of runs.csv. NULL for readings that have no interval. */
extern const char *const kvc_reading_half_names[KVC_READINGS];

struct kvc_readings {
    double value[KVC_READINGS];     /* NaN when there is no such metric. */
    double half_frac[KVC_READINGS]; /* NaN when the interval is not known. */
    char bottleneck[KVC_NAME_MAX];
};

/* A closed form, which is a result without a histogram, has no p99. */
void kvc_readings_of(const struct kvc_result *result, struct kvc_readings *readings);

/* Takes the median of each reading over the repetitions that have it. The bottleneck names the stages that
 * more than half of the repetitions name, or is undecided (sim/metrics/bottleneck.h) if there are none.
 * *spread_frac becomes (largest - smallest) / median of the throughput. The interval of a median is the wider
 * one of two: that of the means within the repetitions, and that of the repetitions among each other. */
void kvc_readings_median(const struct kvc_readings *repetitions, uint32_t count, struct kvc_readings *median,
                         double *spread_frac);

#endif
