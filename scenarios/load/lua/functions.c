#include "scenarios/load/lua/functions.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/decode/decode.h"
#include "scenarios/load/lua/locate.h"
#include "sim/base/array.h"

/* ---- the constraint of a sweep ---- */

struct kvc_constraint {
    struct kvc_sandbox *sandbox;
};

struct question {
    const struct kvc_constraint *constraint;
    const struct kvc_sweep_axis *axis;
    uint32_t count;
    const struct kvc_sweep_value *const *value;
    bool *allowed;
    struct kvc_diag *diag;
};

struct kvc_constraint *kvc_constraint_create(struct kvc_sandbox *sandbox)
{
    struct kvc_constraint *constraint = calloc(1, sizeof(*constraint));
    if (constraint != NULL) {
        constraint->sandbox = sandbox;
    }
    return constraint;
}

void kvc_constraint_free(struct kvc_constraint *constraint)
{
    if (constraint != NULL) {
        kvc_sandbox_free(constraint->sandbox);
        free(constraint);
    }
}

static int read_unknown(lua_State *lua)
{
    return luaL_error(lua, "sweep.where: the sweep has no path \"%s\"",
                      lua_isstring(lua, 2) ? lua_tostring(lua, 2) : luaL_typename(lua, 2));
}

static void push_point(lua_State *lua, const struct question *question)
{
    lua_createtable(lua, 0, (int)question->count);
    for (uint32_t i = 0; i < question->count; i++) {
        if (question->axis[i].numeric) {
            lua_pushnumber(lua, question->value[i]->number);
        } else {
            lua_pushstring(lua, question->value[i]->label);
        }
        lua_setfield(lua, -2, question->axis[i].path);
    }
    if (luaL_newmetatable(lua, "kvcast.point")) {
        lua_pushcfunction(lua, read_unknown);
        lua_setfield(lua, -2, "__index");
        lua_pushboolean(lua, false); /* A metatable with __gc would let the script run outside the limits. */
        lua_setfield(lua, -2, "__metatable");
    }
    lua_setmetatable(lua, -2);
}

/* Runs inside the sandbox, whose table is at index 1. */
static enum kvc_status ask_constraint(lua_State *lua, void *data)
{
    const struct question *question = data;
    const char *file = kvc_sandbox_file(question->constraint->sandbox);
    char shown[80];
    kvc_decode_push(lua, 1, "sweep");
    kvc_decode_push(lua, -1, "where");
    push_point(lua, question);
    lua_call(lua, 1, 1);
    if (!lua_isboolean(lua, -1)) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return kvc_diag_fail_at(question->diag, KVC_ERR_SCENARIO, file, kvc_locate_line(file, "sweep.where"),
                                "sweep.where: returned %s, allowed: true or false", shown);
    }
    *question->allowed = lua_toboolean(lua, -1);
    return KVC_OK;
}

enum kvc_status kvc_constraint_allows(struct kvc_constraint *constraint, const struct kvc_sweep_axis *axis,
                                      uint32_t count, const struct kvc_sweep_value *const *value,
                                      bool *allowed, struct kvc_diag *diag)
{
    struct question question = {constraint, axis, count, value, allowed, diag};
    return kvc_sandbox_call(constraint->sandbox, ask_constraint, &question, diag);
}

enum { LIST_BYTES = 640, CLOCK_BYTES = 48 };

/* ---- a power policy ---- */

struct kvc_policy_function {
    struct kvc_sandbox *sandbox;
    bool owns;
    int reference;
    int line; /* Line of power.policy. */
};

/* Arguments and result of a call. */
struct call {
    const struct kvc_policy_function *function;
    const struct kvc_power_view *view;
    struct kvc_power_choice *choice;
    struct kvc_diag *diag;
};

/* ---- the argument of a power policy ---- */

static void print_clock(const struct kvc_platform_host *host, uint32_t pstate, char out[CLOCK_BYTES])
{
    kvc_quantity_print(host->pstate[pstate].clock_hz, KVC_UNIT_HZ, out, CLOCK_BYTES);
}

/* Adds the current clock of a host to the table on top, and the list of all its clocks, fastest first. */
static void push_clocks(lua_State *lua, const struct kvc_platform_host *host, uint32_t pstate,
                        const char *current, const char *list)
{
    char clock[CLOCK_BYTES];
    print_clock(host, pstate, clock);
    lua_pushstring(lua, clock);
    lua_setfield(lua, -2, current);
    lua_createtable(lua, (int)host->pstates, 0);
    for (uint32_t i = 0; i < host->pstates; i++) {
        print_clock(host, i, clock);
        lua_pushstring(lua, clock);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    lua_setfield(lua, -2, list);
}

static void push_view(lua_State *lua, const struct kvc_power_view *view)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"time_s", view->at_s},
        {"span_s", view->span_s},
        {"offered_mops", view->offered_mops},
        {"served_mops", view->served_mops},
        {"capacity_mops", view->capacity_mops},
        {"cpu_busy_frac", view->cpu_busy_frac},
        {"gpu_busy_frac", view->gpu_busy_frac},
        {"latency_mean_us", view->latency_mean_us},
        {"latency_p99_us", view->latency_p99_us},
        {"watts", view->watts},
    };
    lua_createtable(lua, 0, 16);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (!isnan(numbers[i].value)) {
            lua_pushnumber(lua, numbers[i].value);
            lua_setfield(lua, -2, numbers[i].name);
        }
    }
    lua_pushstring(lua, view->name);
    lua_setfield(lua, -2, "unit");
    push_clocks(lua, view->cpu, view->cpu_pstate, "cpu", "cpu_clocks");
    if (view->gpu != NULL) {
        push_clocks(lua, view->gpu, view->gpu_pstate, "gpu", "gpu_clocks");
    }
}

/* ---- the result of a power policy ---- */

static enum kvc_status fail(const struct call *call, const char *what, const char *found, const char *allowed)
{
    return kvc_diag_fail_at(call->diag, KVC_ERR_SCENARIO, kvc_sandbox_file(call->function->sandbox),
                            call->function->line,
                            "power.policy: at %.4g ms the function returned %s%s, allowed: %s",
                            call->view->at_s * 1e3, what, found, allowed);
}

static void list_clocks(const struct kvc_platform_host *host, char list[LIST_BYTES])
{
    size_t used = 0;
    char clock[CLOCK_BYTES];
    list[0] = '\0';
    for (uint32_t i = 0; i < host->pstates && used < LIST_BYTES; i++) {
        print_clock(host, i, clock);
        used += (size_t)snprintf(list + used, LIST_BYTES - used, "%s%s", i > 0 ? ", " : "", clock);
    }
}

/* Reads the field `name` of the table on top, a clock of the host. */
static enum kvc_status take_clock(lua_State *lua, const struct call *call, const char *name,
                                  const struct kvc_platform_host *host, uint32_t *pstate)
{
    char shown[80], what[16], list[LIST_BYTES];
    const char *ignored;
    double clock_hz;
    enum kvc_status status = KVC_OK;
    lua_pushstring(lua, name);
    if (lua_rawget(lua, -2) == LUA_TNIL) {
        lua_pop(lua, 1);
        return KVC_OK;
    }
    snprintf(what, sizeof(what), "%s = ", name);
    kvc_decode_show(lua, -1, shown, sizeof(shown));
    bool is_clock = lua_type(lua, -1) == LUA_TSTRING &&
                    kvc_quantity_parse(lua_tostring(lua, -1), KVC_UNIT_HZ, &clock_hz, &ignored);
    uint32_t found = 0;
    while (is_clock && host != NULL && found < host->pstates &&
           fabs(host->pstate[found].clock_hz - clock_hz) > 1e-6 * clock_hz) {
        found++;
    }
    if (host == NULL) {
        status = fail(call, what, shown, "none, because the store has no such processor");
    } else if (!is_clock || found == host->pstates) {
        list_clocks(host, list);
        status = fail(call, what, shown, list);
    } else {
        *pstate = found;
    }
    lua_pop(lua, 1);
    return status;
}

/* Refuses keys other than cpu and gpu in the table on top. */
static enum kvc_status check_keys(lua_State *lua, const struct call *call)
{
    char shown[80];
    int table = lua_gettop(lua);
    for (lua_pushnil(lua); lua_next(lua, table) != 0; lua_pop(lua, 1)) {
        const char *key = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
        if (strcmp(key, "cpu") != 0 && strcmp(key, "gpu") != 0) {
            kvc_decode_show(lua, -2, shown, sizeof(shown));
            return fail(call, "a table with the key ", shown, "cpu and gpu");
        }
    }
    return KVC_OK;
}

/* Runs inside the sandbox. */
static enum kvc_status ask_policy(lua_State *lua, void *data)
{
    const struct call *call = data;
    char shown[80];
    lua_rawgeti(lua, LUA_REGISTRYINDEX, call->function->reference);
    push_view(lua, call->view);
    lua_call(lua, 1, 1);
    if (lua_isnil(lua, -1)) {
        return KVC_OK;
    }
    if (!lua_istable(lua, -1)) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return fail(call, "", shown, "nil, or a table such as { cpu = \"1.6GHz\" }");
    }
    enum kvc_status status = check_keys(lua, call);
    if (status == KVC_OK) {
        status = take_clock(lua, call, "cpu", call->view->cpu, &call->choice->cpu_pstate);
    }
    if (status == KVC_OK) {
        status = take_clock(lua, call, "gpu", call->view->gpu, &call->choice->gpu_pstate);
    }
    return status;
}

static enum kvc_status choose(void *data, const struct kvc_power_view *view, struct kvc_power_choice *choice,
                              struct kvc_diag *diag)
{
    struct kvc_policy_function *function = data;
    struct call call = {function, view, choice, diag};
    return kvc_sandbox_call(function->sandbox, ask_policy, &call, diag);
}

struct kvc_policy_function *kvc_policy_function_create(struct kvc_sandbox *sandbox, bool owns, int reference,
                                                       struct kvc_power_policy *power)
{
    size_t bytes;
    const char *source = kvc_sandbox_source(sandbox, &bytes);
    struct kvc_policy_function *function = kvc_array_of(1, sizeof(*function));
    *function = (struct kvc_policy_function){sandbox, owns, reference,
                                             kvc_locate(source, bytes, "power.policy").line};
    power->function = (struct kvc_power_function){choose, function};
    return function;
}

void kvc_policy_function_free(struct kvc_policy_function *function)
{
    if (function != NULL && function->owns) {
        kvc_sandbox_free(function->sandbox);
    }
    free(function);
}
