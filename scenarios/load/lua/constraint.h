/* The constraint of a sweep: the function `where` of the scenario, which says of every point whether it is
 * part of the sweep.
 *
 *     where = function(p) return p["system.cycle"] >= 2 * p["system.delay"] end
 *
 * Its argument is a table with the values of the point by their paths: numbers in the base unit of their
 * dimension (ns, bytes, bytes/s, Hz, Mops, W), and of values that are no numbers what tables show of them. A
 * path that the sweep does not have is an error. The function runs in the scenario's sandbox, with the
 * limits of a script for each point and of 10 s of processor time for all points together. */
#ifndef KVC_SCENARIOS_LOAD_LUA_CONSTRAINT_H
#define KVC_SCENARIOS_LOAD_LUA_CONSTRAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/load/load.h"
#include "scenarios/load/lua/sandbox.h"

/* Takes over the sandbox, whose table has a function sweep.where. Returns NULL when memory runs out. */
struct kvc_constraint *kvc_constraint_create(struct kvc_sandbox *sandbox);

void kvc_constraint_free(struct kvc_constraint *constraint); /* NULL is allowed. */

/* Asks about a point: value[i] is its value on axis[i]. */
enum kvc_status kvc_constraint_allows(struct kvc_constraint *constraint, const struct kvc_sweep_axis *axis,
                                      uint32_t count, const struct kvc_sweep_value *const *value,
                                      bool *allowed, struct kvc_diag *diag);

#endif
