/* The function `system.policy` of a scenario, which sets numbers of the running store (sim/store_policy.h).
 *
 * It is called in the sandbox of the scenario, which stays open for it. Its argument is a table of tables:
 * state.batch.count, state.stages["copy in"].queue. It returns nil, to leave everything as it is, or a table
 * of the same shape with some of the numbers that it may choose. */
#ifndef KVC_SCENARIOS_LOAD_LUA_STORE_POLICY_H
#define KVC_SCENARIOS_LOAD_LUA_STORE_POLICY_H

#include <stdbool.h>

#include "scenarios/load/lua/sandbox.h"
#include "sim/store_policy.h"

struct kvc_store_function;

/* Lets `policy` call the function that Lua's registry holds under the number `reference`. If `owns` is set,
 * the sandbox is freed with the function; otherwise it must outlive the function. If memory is short, the
 * program ends (kvc_out_of_memory). */
struct kvc_store_function *kvc_store_function_create(struct kvc_sandbox *sandbox, bool owns, int reference,
                                                     struct kvc_store_policy *policy);

void kvc_store_function_free(struct kvc_store_function *function); /* NULL is allowed. */

#endif
