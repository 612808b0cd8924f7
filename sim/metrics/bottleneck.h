/** @file
 * Determines which stage limits the throughput of a result, by utilization.
 *
 * One run, or a real machine, suffices to know utilization. The gain of a faster resource needs more runs
 * (scenarios/run/gain.h). */
#ifndef KVC_SIM_METRICS_BOTTLENECK_H
#define KVC_SIM_METRICS_BOTTLENECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/metrics/result.h"

/** Utilization from which on a stage, and not the offered load, limits the throughput. */
extern const double kvc_bottleneck_saturated_frac;

/** Sets the bottleneck fields of a result. The bottleneck is the stage with the highest utilization; the
 * reason gives this utilization and the runner-up's. If no stage is busy for at least 90 % of the time, the
 * offered load is the limit, and stage and device are both "load". */
void kvc_bottleneck_find(struct kvc_result *result);

/** The bottleneck that a measurement reports if it cannot tell any stage from any other. */
extern const char kvc_bottleneck_undecided[];

/** Names the bottleneck of a measured result, whose stages are set, from the utilizations in parts of the
 * measured time. utilization[stage * parts + part] is the utilization of a stage in a part of the measured
 * time. The stage becomes the busiest one and, joined by "+", those whose utilization cannot be told from it:
 * the 95 % interval of the mean difference contains 0. If all stages are named, it becomes
 * kvc_bottleneck_undecided. If it cannot be told whether the busiest stage is busy for 90 % of the time,
 * "load" is named as well. With fewer than two parts, or without stages, this is kvc_bottleneck_find(). */
void kvc_bottleneck_find_in_parts(struct kvc_result *result, const double *utilization, uint32_t parts);

/** Appends a stage to `bottleneck`, which has room for KVC_NAME_MAX bytes and may be empty. */
void kvc_bottleneck_add_name(char *bottleneck, const char *stage);

/** Returns whether a bottleneck names this stage, alone or joined with others by "+". */
bool kvc_bottleneck_names(const char *bottleneck, const char *stage);

/** Returns the busiest stage, or NULL if no utilization is known. */
const struct kvc_stage_result *kvc_bottleneck_busiest_stage(const struct kvc_result *result);

/** Writes the two busiest stages with their utilizations, as a part of a sentence of at most `size` bytes. */
void kvc_bottleneck_busiest(const struct kvc_result *result, char *text, size_t size);

#endif
