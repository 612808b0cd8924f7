/* A report: an outcome with the command and the scenario that led to it. json.h and table.h write it. */
#ifndef KVC_SCENARIOS_OUTPUT_REPORT_H
#define KVC_SCENARIOS_OUTPUT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "scenarios/output/accuracy.h"
#include "scenarios/output/outcome.h"
#include "scenarios/output/sensitivity.h"

struct kvc_report {
    const char *command;      /* "run", "predict" or "measure". */
    const char *command_line; /* Command that repeats the result, without jobs and output files. */
    const struct kvc_loaded *loaded;
    const struct kvc_outcome *outcome;
    const struct kvc_sensitivity *sensitivity; /* NULL: not wanted. */
};

/* Returns what the report is a forecast of, and false if it is a measurement. */
bool kvc_report_is_forecast(const struct kvc_report *report, struct kvc_accuracy_kind *kind);

/* The nodes of a cluster in reports: all of them in the document, the outstanding ones in the table. */

/* Returns the member "cluster" of a result document: { nodes: [{ name, class, ... }] }. */
json_t *kvc_json_nodes(const struct kvc_outcome *outcome);

/* Writes one line each for the nodes with the largest share of the requests, the highest 99th percentile and
 * the smallest throughput, and the means of every class of nodes. Writes nothing if no nodes were simulated
 * apart. `bold` and `plain` are the escapes of a terminal, or empty. */
void kvc_table_write_nodes(const struct kvc_outcome *outcome, const char *bold, const char *plain, FILE *out);

/* The tenants of a load in reports. */

/* Returns the member "tenants" of a result document: [{ name, throughput_mops, ... }]. */
json_t *kvc_json_tenants(const struct kvc_report *report);

/* Writes one line for each tenant that a run tells apart, with the verdict on its objective. */
void kvc_table_write_tenants(const struct kvc_report *report, const char *bold, const char *plain, FILE *out);

#endif
