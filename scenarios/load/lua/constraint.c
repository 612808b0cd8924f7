#include "scenarios/load/lua/constraint.h"

#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>

#include "scenarios/load/decode/decode.h"
#include "scenarios/load/lua/locate.h"

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
        lua_pushboolean(lua, false); /* With __gc in it, the script would run outside the limits. */
        lua_setfield(lua, -2, "__metatable");
    }
    lua_setmetatable(lua, -2);
}

/* Runs inside the sandbox, whose table is at index 1. */
static enum kvc_status ask(lua_State *lua, void *data)
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
    return kvc_sandbox_call(constraint->sandbox, ask, &question, diag);
}
