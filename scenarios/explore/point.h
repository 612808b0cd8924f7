/* One point that moves: a scenario whose options change one after the other, forecast after every change by
 * the closed form (models/forecast.h). Optimisers work like this; their values are not known beforehand, as
 * those of a space are.
 *
 * The point is the scenario loaded with its options in the order in which they were first set. Once the same
 * options have changed twice, plain ones are patched (scenarios/explore/evaluator.h). Others reload the
 * scenario, which takes a hundred times as long (scenarios/library/library_bench.c). The first patched
 * forecasts are compared with those of a reloaded scenario. Should one differ, every later one reloads it. */
#ifndef KVC_SCENARIOS_EXPLORE_POINT_H
#define KVC_SCENARIOS_EXPLORE_POINT_H

#include <stdbool.h>

#include "models/forecast.h"
#include "scenarios/load/loaded.h"

struct kvc_point;

/* Runs the script of the scenario file. *out is NULL unless KVC_OK is returned. */
enum kvc_status kvc_point_open(const char *path, struct kvc_point **out, struct kvc_diag *diag);

/* Sets an option as `--set path=value` does, or takes its last setting back if `value` is NULL. The value
 * itself is checked by the next forecast. */
enum kvc_status kvc_point_set(struct kvc_point *point, const char *path, const char *value,
                              struct kvc_diag *diag);

/* Returns the options that are set. They are valid until the next kvc_point_set(). */
const struct kvc_overrides *kvc_point_options(const struct kvc_point *point);

/* Forecasts the point. Returns KVC_ERR_SCENARIO with the loader's message if it refuses the options, or with
 * the closed form's; the point stays usable. */
enum kvc_status kvc_point_forecast(struct kvc_point *point, struct kvc_forecast *out, struct kvc_diag *diag);

/* Returns whether the next forecast needs no load. */
bool kvc_point_is_fast(const struct kvc_point *point);

/* NULL is allowed. */
void kvc_point_free(struct kvc_point *point);

#endif
