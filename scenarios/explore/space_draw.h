/* Draws of points from the axes of a sweep, and a set of points. */
#ifndef KVC_SCENARIOS_EXPLORE_SPACE_DRAW_H
#define KVC_SCENARIOS_EXPLORE_SPACE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/load/load.h"
#include "sim/base/rng.h"

/* A set of points with the same number of axes. */
struct kvc_tuple_set;

/* Returns an empty set with room for about `expected` points; it grows. NULL when memory runs out. */
struct kvc_tuple_set *kvc_tuple_set_create(uint32_t axes, uint32_t expected);
void kvc_tuple_set_free(struct kvc_tuple_set *set); /* NULL is allowed. */

/* Adds a copy of the point. Returns false if the set has it already. */
bool kvc_tuple_set_add(struct kvc_tuple_set *set, const uint32_t *value);

/* Independent draws. */
struct kvc_draws {
    const struct kvc_sweep *sweep;
    struct kvc_rng rng[KVC_SWEEP_AXES_MAX]; /* A stream for each axis. */
};

void kvc_draws_init(struct kvc_draws *draws, const struct kvc_sweep *sweep, uint64_t seed);

/* Draws a point. Values from ranges are appended to their axes. */
enum kvc_status kvc_draws_next(struct kvc_draws *draws, struct kvc_sweep_axis *axis, uint32_t *value,
                               struct kvc_diag *diag);

/* Removes the values that the last draw appended. */
void kvc_draws_forget(struct kvc_draws *draws, struct kvc_sweep_axis *axis);

/* Draws the points of a Latin hypercube, and the values of its ranges, into an array that the caller frees.
 */
enum kvc_status kvc_draw_latin_hypercube(const struct kvc_sweep *sweep, uint64_t seed,
                                         struct kvc_sweep_axis *axis, uint32_t **tuples,
                                         struct kvc_diag *diag);

#endif
