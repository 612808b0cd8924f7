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

/* Begins a line with a name of up to 13 characters, or "" for one that goes on. */
void kvc_table_heading(const struct kvc_table *table, const char *name);

enum { KVC_TABLE_DIGITS_TEXT = 32 };

/* Returns the value with four significant digits and all digits before the point, without a point if it is a
 * whole number, with an exponent below 0.001 and from 1e7 on, and "-" for a value that is not finite. */
const char *kvc_table_digits(double value, char text[KVC_TABLE_DIGITS_TEXT]);

/* Returns whether `out` is a terminal with colours and NO_COLOR (no-color.org) is not set. */
bool kvc_table_color(FILE *out);

#endif
