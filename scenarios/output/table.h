/* The summary for a terminal. */
#ifndef KVC_SCENARIOS_OUTPUT_TABLE_H
#define KVC_SCENARIOS_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "scenarios/output/report.h"

/* Throughput, latency, requests, stages, bottleneck, figures, notes and the simulator's own speed. `color`:
 * with terminal escapes. */
void kvc_table_write(const struct kvc_report *report, bool color, FILE *out);

/* May `out` be coloured: it is a terminal and NO_COLOR (no-color.org) is not set. */
bool kvc_table_color(FILE *out);

#endif
