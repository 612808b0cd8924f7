/* A power policy that a scenario writes as a Lua function.
 *
 * The function is called once per period and unit of the store, in the sandbox that the scenario was loaded
 * in, which lives on for it. Its argument is a table of what was observed; `kvcast describe power.policy` and
 * docs/power.md say what it holds. It returns nil, to leave the clocks alone, or a table with one or both of
 * cpu and gpu, which are clocks of the hardware profiles such as "1.6GHz". */
#ifndef KVC_SCENARIOS_LOAD_LUA_POLICY_FUNCTION_H
#define KVC_SCENARIOS_LOAD_LUA_POLICY_FUNCTION_H

#include <stdbool.h>

#include "scenarios/load/lua/sandbox.h"
#include "sim/power_policy.h"

struct kvc_policy_function;

/* Lets `power` call the function that Lua's registry holds under the number `reference`. If `owns`, the
 * sandbox is freed with the function; otherwise it must outlive it. If memory is short, the program ends
 * (kvc_out_of_memory). */
struct kvc_policy_function *kvc_policy_function_create(struct kvc_sandbox *sandbox, bool owns, int reference,
                                                       struct kvc_power_policy *power);

void kvc_policy_function_free(struct kvc_policy_function *function); /* NULL is allowed. */

#endif
