/* Cases that combine the values of earlier cases, as a paper states a mean over its workloads.
 *
 * The parts of such a case are the earlier ones whose ids match the pattern in its column `scenario`, where *
 * stands for any characters: "gain-K8-*". */
#ifndef KVC_VALIDATE_SCORING_AGGREGATE_H
#define KVC_VALIDATE_SCORING_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/metrics/statistics.h"
#include "validate/scoring/cases.h"
#include "validate/scoring/score.h"

/* Returns whether case `part` is a part of the aggregate `at`. */
bool kvc_aggregate_has(const struct kvc_cases *cases, size_t at, size_t part);

/* Counts the parts of the aggregate `at`. None is an error. */
enum kvc_status kvc_aggregate_count(const struct kvc_cases *cases, size_t at, size_t *count,
                                    struct kvc_diag *diag);

/* Combines the predicted values of the parts, which do not depend on each other. The interval of the largest
 * or the smallest is that of this part. */
enum kvc_status kvc_aggregate_value(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores,
                                    struct kvc_interval *value, struct kvc_diag *diag);

#endif
