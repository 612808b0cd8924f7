/* The summary of a result for a terminal. A known 95 % interval follows its value as "+- half its width". */
#ifndef KVC_SCENARIOS_OUTPUT_TABLE_H
#define KVC_SCENARIOS_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "scenarios/output/report.h"

/* Writes throughput, latency, requests, stages, bottleneck, metrics, notes and the speed of the simulation,
 * with terminal escapes if `color` is set. */
void kvc_table_write(const struct kvc_report *report, bool color, FILE *out);

/* Where a table goes, and the terminal escapes of its parts, or "". */
struct kvc_table {
    FILE *out;
    const char *bold, *dim, *warn, *plain;
};

/* Begins a table, with terminal escapes if `color` is set. */
struct kvc_table kvc_table_begin(FILE *out, bool color);

/* Returns whether `out` is a terminal with colours and NO_COLOR (no-color.org) is not set. */
bool kvc_table_color(FILE *out);

#endif
