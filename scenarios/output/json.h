/* The result document, schema "kvcast.result/1".
 *
 * Keys carry their units and keep one order. What is unknown is null. Wall-clock numbers stand under
 * `simulation` only, in keys that begin with wall_ or end in _per_wall_s: without those, two runs of a
 * scenario give the same bytes. `throughput_mops.ci95` is the half width of the 95 % interval over the
 * replicas. */
#ifndef KVC_SCENARIOS_OUTPUT_JSON_H
#define KVC_SCENARIOS_OUTPUT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "scenarios/output/report.h"
#include "sim/base/diag.h"

/* Percentiles that the document and the table list, as fractions. */
enum { KVC_PERCENTILES = 8 };
extern const double kvc_percentiles[KVC_PERCENTILES];

/* Points of latency_us.cdf at most. */
enum { KVC_CDF_POINTS = 512 };

/* {"path": value} of all parameters, {"path": "source"} of all sources. */
json_t *kvc_json_values(const struct kvc_parameters *parameters);
json_t *kvc_json_sources(const struct kvc_parameters *parameters);

/* Writes the document and a newline. */
enum kvc_status kvc_json_write(const struct kvc_report *report, FILE *out, struct kvc_diag *diag);

/* Is there a document at `path` that this version of `command` wrote for the same parameters? */
bool kvc_json_answers(const char *path, const char *command, const struct kvc_loaded *loaded);

#endif
