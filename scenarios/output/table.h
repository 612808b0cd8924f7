/* The summary of a result for a terminal. A known 95 % interval follows its value as "+- half its width". */
#ifndef KVC_SCENARIOS_OUTPUT_TABLE_H
#define KVC_SCENARIOS_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "scenarios/output/report.h"

/* Writes throughput, latency, requests, stages, bottleneck, metrics, notes and the speed of the simulation,
 * with terminal escapes if `color` is set. */
void kvc_table_write(const struct kvc_report *report, bool color, FILE *out);

/* Returns whether `out` is a terminal with colours and NO_COLOR (no-color.org) is not set. */
bool kvc_table_color(FILE *out);

#endif
