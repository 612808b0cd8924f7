/* Functions of a scenario that are called after it is loaded: the constraint of a sweep, and a power policy.
 *
 * The constraint is the function `where` of the sweep. It returns whether a point is part of the sweep:
 *
 *     where = function(p) return p["system.cycle"] >= 2 * p["system.delay"] end
 *
 * Its argument is a table with the values of the point by their paths: numbers in the base unit of their
 * dimension (ns, bytes, bytes/s, Hz, Mops, W), and other values as the texts that tables show. A path that
 * the sweep does not have is an error. The function runs in the scenario's sandbox, with the limits of a
 * script for each point and 10 s of processor time for all points together.
 *
 * A power policy that is a Lua function is called once per period and unit of the store, in the sandbox of
 * the scenario, which stays open for it. Its argument is a table of what was observed; `kvcast describe
 * power.policy` and docs/power.md say what it holds. It returns nil, to leave the clocks alone, or a table
 * with one or both of cpu and gpu, which are clocks of the hardware profiles such as "1.6GHz". */
#ifndef KVC_SCENARIOS_LOAD_LUA_FUNCTIONS_H
#define KVC_SCENARIOS_LOAD_LUA_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/load/loaded.h"
#include "scenarios/load/lua/sandbox.h"
#include "sim/power_policy.h"

/* Takes over the sandbox, whose table has a function sweep.where. Returns NULL when memory runs out. */
struct kvc_constraint *kvc_constraint_create(struct kvc_sandbox *sandbox);

void kvc_constraint_free(struct kvc_constraint *constraint); /* NULL is allowed. */

/* Calls the constraint for the point whose value on axis[i] is value[i]. */
enum kvc_status kvc_constraint_allows(struct kvc_constraint *constraint, const struct kvc_sweep_axis *axis,
                                      uint32_t count, const struct kvc_sweep_value *const *value,
                                      bool *allowed, struct kvc_diag *diag);

struct kvc_policy_function;

/* Lets `power` call the function that Lua's registry holds under the number `reference`. If `owns` is set,
 * the sandbox is freed with the function; otherwise it must outlive the function. If memory is short, the
 * program ends (kvc_out_of_memory). */
struct kvc_policy_function *kvc_policy_function_create(struct kvc_sandbox *sandbox, bool owns, int reference,
                                                       struct kvc_power_policy *power);

void kvc_policy_function_free(struct kvc_policy_function *function); /* NULL is allowed. */

#endif
