/* The table of a sweep, sweep.csv: one row per point, read back from the points' result documents.
 *
 * The columns are point, the paths of the swept parameters, throughput_mops, throughput_ci95_mops,
 * latency_mean_us, latency_p50_us, latency_p95_us, latency_p99_us, completed, dropped, STAGE_utilization_frac
 * for every stage that some point has, bottleneck, watts_mean, and the metrics of kernels and model. Values
 * that a point does not have stay empty. */
#ifndef KVC_SCENARIOS_OUTPUT_SWEEP_TABLE_H
#define KVC_SCENARIOS_OUTPUT_SWEEP_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "sim/base/diag.h"

struct kvc_sweep_row;

/* Starts as { .sweep = ... } with all other fields zero. */
struct kvc_sweep_table {
    const struct kvc_sweep *sweep;
    uint32_t count, room;
    struct kvc_sweep_row *row;
};

void kvc_sweep_table_free(struct kvc_sweep_table *table);

/* Appends a row for the document at `path`. */
enum kvc_status kvc_sweep_table_add(struct kvc_sweep_table *table, const char *path, struct kvc_diag *diag);

/* Sets the value of an axis in the last row. The table keeps the pointer. */
void kvc_sweep_table_value(struct kvc_sweep_table *table, uint32_t axis, const char *value);

/* Writes the table. Write errors stay in the stream (ferror). */
void kvc_sweep_table_write(const struct kvc_sweep_table *table, FILE *out);

#endif
