/* The answer of kvcast measure --against: two stores measured in pairs, as a JSON object of the schema
 * "kvcast.pair/1":
 *
 *     schema, version
 *     a, b                {scenario, system, seed}
 *     parameters          [{path, values: [a, b]}, ...]: those that differ
 *     pairs, counted_pairs  pairs of turns, and those that count
 *     metrics             [{name, a, b, ratio, low, high}, ...]: medians, b / a, and its 95 % interval
 *     machine             {core_speed_steps_per_ns, memory_line_ns, memory_latency_ns, memory_bytes_per_s,
 *                          memory_handoff_ns, core_line_ns: [by core], stalled_frac, others_frac,
 * disturbed_frac} notes               ["...", ...]
 *
 * What is unknown is null. */
#ifndef KVC_SCENARIOS_OUTPUT_COMPARED_PAIR_H
#define KVC_SCENARIOS_OUTPUT_COMPARED_PAIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "models/measured/pair.h"
#include "scenarios/load/loaded.h"

/* Returns the document, which the caller releases. */
json_t *kvc_pair_json(const struct kvc_loaded *const loaded[2], const struct kvc_pair_result *result);

/* Writes a line for each metric. */
void kvc_pair_write_csv(const json_t *pair, FILE *out);

/* Writes a table for people, with terminal escapes if `color` is set. */
void kvc_pair_write_table(const json_t *pair, bool color, FILE *out);

#endif
