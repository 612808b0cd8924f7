/** @file
 * Determines which stage limits the throughput of a result, by utilization.
 *
 * Utilization is what one run, or a real machine, tells about itself. What a faster resource would gain needs
 * more runs (scenarios/run/gain.h). */
#ifndef KVC_SIM_METRICS_BOTTLENECK_H
#define KVC_SIM_METRICS_BOTTLENECK_H

#include <stddef.h>

#include "sim/metrics/result.h"

/** Sets the bottleneck fields of a result. The bottleneck is the stage with the highest utilization; the
 * reason gives this utilization and that of the runner-up. If no stage is busy for at least 90 % of the time,
 * the offered load is the limit, and stage and device are both "load". */
void kvc_bottleneck_find(struct kvc_result *result);

/** Writes the two busiest stages with their utilizations, as a part of a sentence of at most `size` bytes. */
void kvc_bottleneck_busiest(const struct kvc_result *result, char *text, size_t size);

#endif
