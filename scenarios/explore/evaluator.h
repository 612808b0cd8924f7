/* An evaluator forecasts the points of a space by the closed form (models/forecast.h).
 *
 * A point is the scenario loaded with the user's assignments and then the point's values, in the order of the
 * axes. A combination of values that the loader refuses is an error of that point, with the loader's message.
 */
#ifndef KVC_SCENARIOS_EXPLORE_EVALUATOR_H
#define KVC_SCENARIOS_EXPLORE_EVALUATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "models/forecast.h"
#include "scenarios/explore/space.h"

struct kvc_evaluator;

/* Creates an evaluator of the scenario file `path` with the user's overrides `set` (NULL: none). The space
 * must outlive it. *out is NULL unless KVC_OK is returned. */
enum kvc_status kvc_evaluator_create(const char *path, const struct kvc_overrides *set,
                                     const struct kvc_space *space, struct kvc_evaluator **out,
                                     struct kvc_diag *diag);

/* Returns whether points are patched (scenarios/explore/patches/patches.h) and not decoded one by one, which
 * takes a hundred times as long. */
bool kvc_evaluator_is_fast(const struct kvc_evaluator *evaluator);

/* Replaces a value of an axis by a text, which the space must state already. Returns false, and changes
 * nothing, unless the evaluator is fast and the axis is a plain option: a number, a choice or a flag from
 * which the loader derives nothing else. */
bool kvc_evaluator_assign(struct kvc_evaluator *evaluator, uint32_t axis, uint32_t value, const char *text);

/* Forecasts the point with the indices value[0] .. value[axis_count - 1]. Returns KVC_ERR_SCENARIO if its
 * values do not go together or the closed form refuses it; the evaluator stays usable. */
enum kvc_status kvc_evaluator_forecast(struct kvc_evaluator *evaluator, const uint32_t *value,
                                       struct kvc_forecast *out, struct kvc_diag *diag);

/* NULL is allowed. */
void kvc_evaluator_free(struct kvc_evaluator *evaluator);

#endif
