/** @file
 * All numbers of a result as one flat list of named values, of which replicas give intervals.
 *
 * The names are the same as in the result document:
 *
 * - throughput_mops, offered_mops, lost_frac (lost of offered requests), hit_frac (hits of GET requests)
 * - latency_mean_us, latency_min_us, latency_max_us, latency_p50_us and the other percentiles
 * - watts_mean, joules, kops_per_watt
 * - tenants.NUMBER.throughput_mops, tenants.NUMBER.hit_frac, and their latency_mean_us and percentiles
 * - stages.NAME.utilization_frac, stages.NAME.mean_us
 * - devices.NAME.utilization_frac, devices.NAME.watts_mean, devices.NAME.joules
 * - kernel.NAME and model.NAME, the metrics of kernels and model
 *
 * An unknown value is NaN. Counts of requests have no interval of their own: their rates and ratios do. */
#ifndef KVC_SIM_METRICS_VALUES_H
#define KVC_SIM_METRICS_VALUES_H

#include <stdint.h>

#include "sim/metrics/result.h"

enum {
    KVC_PERCENTILES = 8, /**< Percentiles of the latency that a result reports. */
};

/** The percentiles that a result reports, as fractions in ascending order. */
extern const double kvc_percentiles[KVC_PERCENTILES];

/** Writes the name of a percentile's value: 0.999 is "latency_p99.9_us". */
void kvc_percentile_name(double p, char name[KVC_NAME_MAX]);

/** Writes GROUP.ENTRY.NAME, without the parts that are NULL. `name` is never NULL. */
void kvc_value_name(const char *group, const char *entry, const char *name, char full[KVC_VALUE_NAME_MAX]);

/** A named value. */
struct kvc_value {
    char name[KVC_VALUE_NAME_MAX]; /**< For example "stages.search.utilization_frac". */
    double value;                  /**< In the unit that the name ends in; NaN: unknown. */
};

/** A list of values. A zeroed list is empty. */
struct kvc_values {
    uint32_t count;          /**< Values in the list. */
    uint32_t room;           /**< Values that it has room for. */
    struct kvc_value *value; /**< The values. Results of one scenario have the same ones in the same order. */
};

/** Frees the values of a list and empties it. */
void kvc_values_free(struct kvc_values *values);

/** Fills an empty list with the values of a result. If memory is short, the program ends (kvc_out_of_memory).
 */
void kvc_values_of(const struct kvc_result *result, struct kvc_values *values);

/** Returns the position of a value, or -1 if the list has none of this name. A name without "model." or
 * "kernel." also finds the metric of the model or else of the kernels. */
int64_t kvc_values_find(const struct kvc_values *values, const char *name);

/** Returns the value of that name, or NaN if the list has none. `hint` is a position where it may be, such as
 * the one in the list of another replica. */
double kvc_values_get(const struct kvc_values *values, const char *name, int64_t hint);

#endif
