/* The report of kvcast trace: what a trace is like, as JSON, CSV and a table. */
#ifndef KVC_SCENARIOS_OUTPUT_TRACE_REPORT_H
#define KVC_SCENARIOS_OUTPUT_TRACE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "sim/workload/trace/profile.h"

/* Returns the document "kvcast.trace/1" of a profile. */
json_t *kvc_trace_report(const char *path, const struct kvc_trace_profile *profile);

/* Adds the twin that was written to `path`, how far its miss-ratio curve is from the trace's at most, and at
 * which size of the cache. */
void kvc_trace_report_add_twin(json_t *report, const char *path, const struct kvc_trace_profile *twin);

/* Writes the miss-ratio curve, a line for each size of the cache. */
void kvc_trace_report_write_csv(const json_t *report, FILE *out);

/* Writes a table for people, with terminal escapes if `color` is set. */
void kvc_trace_report_write_table(const json_t *report, bool color, FILE *out);

#endif
