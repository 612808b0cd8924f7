/* The table of a sweep, sweep.csv: one row per point, read back from the points' result documents.
 *
 * The columns are point, the paths of the swept parameters, the throughput, the offered rate (offered_mops),
 * the shares of lost requests and of hits (lost_frac, hit_frac), and the mean and percentiles of the latency,
 * each with half the width of its 95 % interval in a column with _ci95 before the unit; completed, dropped,
 * STAGE_utilization_frac for every stage that some point has, bottleneck, watts_mean, the metrics of kernels
 * and model, and the notes. Values that a point does not have stay empty.
 *
 * No two columns have one name: a stage or metric whose name another column has gets the prefix stage_,
 * kernel_ or model_. */
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
