/* Why an answer is what it is: what binds, what each resource would gain if it were 5 % faster, and where
 * requests spend their time.
 *
 * The gains come from paired runs, which differ in nothing but the speed of one resource
 * (scenarios/run/gain.h), or from the closed form. A gain is certain if it exceeds its 95 % interval.
 *
 * The way of a request (sim/metrics/paths.h) tells what each part adds to the mean latency and to that of the
 * slowest 1 %, which are those beyond the 99th percentile. Mega-KV without a database, MemcachedGPU
 * (GETs) and DIDO record parts. Other stores and the closed form do not; the analysis then has only the mean
 * times of stages, where they are known, and a note says so.
 *
 * The analysis is a JSON object of the schema "kvcast.why/1", from which the table is written:
 *
 *     schema, version, name, scenario, system, seed, replicas, answer: "simulation" or "closed form"
 *     bottleneck       { stage, device, why }
 *     throughput_mops  { mean, ci95 }
 *     latency_us       { mean, mean_ci95, p99, p99_ci95 }
 *     resources        [{ resource, device, utilization_frac, throughput: { change_frac, ci95_frac },
 *                         latency_mean: {...}, latency_p99: {...} }, ...]
 *     stages           [{ stage, device, utilization_frac, mean_us, mean_ci95_us }, ...]
 *     path             { requests, slowest_requests, parts: [{ part, mean_us, mean_frac, slowest_us,
 *                        slowest_frac }, ...], mean_us, slowest_us }, or null
 *     accuracy, notes, parameters, provenance
 *
 * What is unknown is null. `requests` are those that were looked at. */
#ifndef KVC_SCENARIOS_OUTPUT_WHY_H
#define KVC_SCENARIOS_OUTPUT_WHY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "scenarios/output/accuracy.h"
#include "scenarios/output/outcome.h"

struct kvc_why {
    const char *name; /* What the user called it. */
    const struct kvc_loaded *loaded;
    const struct kvc_outcome *outcome;
    enum kvc_accuracy_answer answer; /* How it was answered. */
    uint32_t count;
    const struct kvc_relief *relief; /* `count` resources. */
    const char *note;                /* A note for the reader, or NULL. */
};

/* Returns the analysis. The caller releases the object. */
json_t *kvc_why_json(const struct kvc_why *why);

/* Writes the columns
 * kind,name,device,utilization_frac,throughput_frac,throughput_ci95_frac,latency_mean_frac,
 * latency_mean_ci95_frac,latency_p99_frac,latency_p99_ci95_frac,mean_us,slowest_us; a row is a resource, a
 * stage or a part, and what is unknown is empty. */
void kvc_why_write_csv(const json_t *why, FILE *out);

/* Writes the analysis for people, with terminal escapes if `color` is set. */
void kvc_why_write_table(const json_t *why, bool color, FILE *out);

#endif
