/* sweep.csv: one row per point, read back from the points' result documents.
 *
 * Columns: point, the swept parameters by their paths, throughput_mops, throughput_ci95_mops,
 * latency_mean_us, latency_p50_us, latency_p95_us, latency_p99_us, completed, dropped,
 * <stage>_utilization_frac of every stage that some point has, bottleneck. What a point does not know stays
 * empty. */
#ifndef KVC_SCENARIOS_OUTPUT_SWEEP_TABLE_H
#define KVC_SCENARIOS_OUTPUT_SWEEP_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "sim/base/diag.h"

struct kvc_sweep_row;

/* Start with { .sweep = ... }, the rest zero. */
struct kvc_sweep_table {
    const struct kvc_sweep *sweep;
    uint32_t count, room;
    struct kvc_sweep_row *row;
};

void kvc_sweep_table_free(struct kvc_sweep_table *table);

/* Appends the row of the document at `path`. */
enum kvc_status kvc_sweep_table_add(struct kvc_sweep_table *table, const char *path, struct kvc_diag *diag);

/* The last row's value of an axis. */
void kvc_sweep_table_value(struct kvc_sweep_table *table, uint32_t axis, const char *value);

/* Errors stay in the stream (ferror). */
void kvc_sweep_table_write(const struct kvc_sweep_table *table, FILE *out);

#endif
