/* A comparison of results: the same metrics side by side, how much each differs from the first result's, and
 * which parameters differ.
 *
 * A difference is that of two means; the half width of its 95 % interval is the root of the sum of the
 * squares of theirs. Its verdict is "higher" or "lower" if it exceeds that, "same" if it does not or if the
 * values are equal, and null where an interval is unknown, as in predictions. Runs with the same seed share
 * their load, so that true intervals are narrower: "same" then means that the results do not tell. Totals of
 * which some device is unknown, such as watts without the NIC's, have no verdict, and a note says so.
 *
 * The comparison is a JSON object of the schema "kvcast.compare/1", from which the table is written:
 *
 *     schema, version
 *     results     [{name, scenario, system, command, version, seed, bottleneck}, ...]
 *     metrics     [{name, label, values: [{mean, ci95}, ...], differences: [...]}, ...]
 *     parameters  [{path, values: [...]}, ...]: those that differ
 *     notes       ["...", ...]
 *
 * `values` have an entry for each result, and `differences` for each but the first: {change, ci95,
 * change_frac, verdict}. What a result lacks is null. Names of metrics end in their unit; metrics of kernels
 * and models have no label and are not in the table. */
#ifndef KVC_SCENARIOS_OUTPUT_COMPARED_COMPARE_H
#define KVC_SCENARIOS_OUTPUT_COMPARED_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { KVC_COMPARED_MAX = 8 /* Results that a table has room for. */ };

/* One result. */
struct kvc_compared {
    const char *name;       /* What the user called it: a path, or the change of a scenario. */
    const json_t *document; /* It has the schema "kvcast.result/1". */
};

/* Compares two or more results with the first one. The caller releases the object. */
json_t *kvc_compare(const struct kvc_compared *result, uint32_t count);

/* Writes the columns metric,result,mean,ci95,change,change_ci95,change_frac,verdict; results are A, B and so
 * on, and what is unknown is empty. */
void kvc_compare_write_csv(const json_t *comparison, FILE *out);

/* Writes the comparison for people, with terminal escapes if `color` is set. */
void kvc_compare_write_table(const json_t *comparison, bool color, FILE *out);

#endif
