/* The result document, a JSON object of the schema "kvcast.result/1".
 *
 * Keys end in their unit and have a fixed order; unknown values are null. Values that depend on the clock
 * appear only under `simulation`, in keys that begin with wall_ or end in _per_wall_s, and so do those that
 * depend on the memory of the process, in keys that begin with memory_. Without them, two runs of a scenario
 * give the same bytes.
 *
 * Half the width of a value's 95 % interval stands next to it: in `ci95` where the value has an object of its
 * own, otherwise in a key with _ci95 before or after the unit, and for `kernel` and `model` in the objects
 * `kernel_ci95` and `model_ci95`, which have the same keys. `intervals` says what the intervals are made of
 * (scenarios/output/outcome.h). In one run, extremes, states at one moment and constants have none, nor has
 * what drifts or is too rare; docs/results.md lists them. */
#ifndef KVC_SCENARIOS_OUTPUT_JSON_H
#define KVC_SCENARIOS_OUTPUT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "scenarios/output/report.h"
#include "sim/base/diag.h"

/* Largest number of points in latency_us.cdf. */
enum { KVC_CDF_POINTS = 512 };

/* Return {"path": value} and {"path": "source"} for all parameters. */
json_t *kvc_json_values(const struct kvc_parameters *parameters);
json_t *kvc_json_sources(const struct kvc_parameters *parameters);

/* Writes the document and a newline. */
enum kvc_status kvc_json_write(const struct kvc_report *report, FILE *out, struct kvc_diag *diag);

#endif
