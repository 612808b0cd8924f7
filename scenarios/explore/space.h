/* The space of a sweep: its axes, and its points in a fixed order.
 *
 * A point is a tuple of value indices, one for each axis, whatever design made it:
 *
 * - A grid has every combination; the first axis varies slowest.
 * - A list has the points of the scenario in their order; a point that was listed before is left out.
 * - A random design draws points independently. On an axis with a list of values every value is equally
 *   likely; a range without steps is uniform, or uniform in its logarithm. No point comes twice.
 * - A Latin hypercube of n points divides each range without steps into n parts of equal probability and has
 *   one point in each, at a random place within it. On an axis with k values, each comes n/k times, rounded
 * up or down (McKay, Beckman and Conover, Technometrics 21(2), 1979).
 *
 * The draws follow from run.seed alone, in a stream called "sweep". A constraint leaves out points of a grid,
 * a list or a Latin hypercube; a random design draws until it has the number of points that it should have.
 */
#ifndef KVC_SCENARIOS_EXPLORE_SPACE_H
#define KVC_SCENARIOS_EXPLORE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/load/load.h"

enum { KVC_SPACE_POINTS_MAX = 10000000 };

struct kvc_space {
    uint32_t axis_count;
    struct kvc_sweep_axis *axis; /* The axes, including the values that the design drew. */
    uint32_t points;
    uint32_t *tuple; /* The points one after the other; NULL in a grid without constraint. */
};

/* Makes the space of a loaded scenario. Returns KVC_ERR_SCENARIO if there is no sweep, if no point meets the
 * constraint, or if there are more points than KVC_SPACE_POINTS_MAX. *out is NULL after an error. */
enum kvc_status kvc_space_create(const struct kvc_loaded *loaded, struct kvc_space **out,
                                 struct kvc_diag *diag);

void kvc_space_free(struct kvc_space *space); /* NULL is allowed. */

/* Writes the value indices of a point, counted from 0, to value[0 .. axis_count - 1]. */
void kvc_space_point(const struct kvc_space *space, uint32_t point, uint32_t *value);

/* Writes the values of a point: "system.cycle = 160us, run.seed = 1". Long ones are cut. */
void kvc_space_show(const struct kvc_space *space, uint32_t point, char *text, size_t size);

/* Adds the overrides of a point to `set`, in the order of the axes. */
enum kvc_status kvc_space_set(const struct kvc_space *space, uint32_t point, struct kvc_overrides *set,
                              struct kvc_diag *diag);

#endif
