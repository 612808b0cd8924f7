#include "scenarios/load/lua/store_policy.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/decode/decode.h"
#include "scenarios/load/lua/locate.h"
#include "sim/base/array.h"

enum { KEYS = 3, LIST_BYTES = 640, PATH_BYTES = 256 };

struct kvc_store_function {
    struct kvc_sandbox *sandbox;
    bool owns;
    int reference;
    int line; /* Line of system.policy. */
};

/* Arguments of a call. */
struct call {
    const struct kvc_store_function *function;
    const struct kvc_store_look *look;
    struct kvc_diag *diag;
};

/* Sets the keys that lead to a number, from the outermost table on. Returns how many there are. */
static uint32_t keys_of(const struct kvc_store_number *number, const char *keys[KEYS])
{
    uint32_t count = 0;
    if (number->table != NULL) {
        keys[count++] = number->table;
    }
    if (number->element != NULL) {
        keys[count++] = number->element;
    }
    keys[count++] = number->name;
    return count;
}

/* ---- the argument ---- */

/* Adds a number to the table on top. */
static void push_number(lua_State *lua, const struct kvc_store_number *number)
{
    const char *keys[KEYS];
    uint32_t count = keys_of(number, keys);
    int base = lua_gettop(lua);
    if (isnan(number->value)) {
        return;
    }
    for (uint32_t i = 0; i + 1 < count; i++) {
        kvc_decode_push(lua, -1, keys[i]);
        if (lua_isnil(lua, -1)) {
            lua_pop(lua, 1);
            lua_newtable(lua);
            lua_pushvalue(lua, -1);
            lua_setfield(lua, -3, keys[i]);
        }
    }
    lua_pushnumber(lua, number->value);
    lua_setfield(lua, -2, keys[count - 1]);
    lua_settop(lua, base);
}

static void push_look(lua_State *lua, const struct kvc_store_look *look)
{
    lua_newtable(lua);
    for (uint32_t i = 0; i < look->numbers; i++) {
        push_number(lua, &look->number[i]);
    }
    for (uint32_t i = 0; i < look->choices; i++) {
        push_number(lua, &look->choice[i].number);
    }
}

/* ---- the result ---- */

static enum kvc_status fail(const struct call *call, const char *what, const char *found, const char *allowed)
{
    return kvc_diag_fail_at(call->diag, KVC_ERR_SCENARIO, kvc_sandbox_file(call->function->sandbox),
                            call->function->line,
                            "system.policy: at %.4g ms the function returned %s%s, allowed: %s",
                            call->look->at_s * 1e3, what, found, allowed);
}

/* Returns whether a choice lies behind the first `depth` keys of a path. */
static bool is_below(const struct kvc_store_choice *choice, const char *const *path, uint32_t depth)
{
    const char *keys[KEYS];
    uint32_t count = keys_of(&choice->number, keys);
    bool below = count > depth;
    for (uint32_t i = 0; i < depth && below; i++) {
        below = strcmp(keys[i], path[i]) == 0;
    }
    return below;
}

static bool is_known(const struct kvc_store_look *look, const char *const *path, uint32_t depth,
                     const char *key)
{
    bool known = false;
    for (uint32_t i = 0; i < look->choices && !known; i++) {
        const char *keys[KEYS];
        keys_of(&look->choice[i].number, keys);
        known = is_below(&look->choice[i], path, depth) && strcmp(keys[depth], key) == 0;
    }
    return known;
}

/* Lists the keys that may follow a path. */
static void list_keys(const struct kvc_store_look *look, const char *const *path, uint32_t depth,
                      char list[LIST_BYTES])
{
    const char *latest = "";
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < look->choices && used < LIST_BYTES; i++) {
        const char *keys[KEYS];
        keys_of(&look->choice[i].number, keys);
        if (is_below(&look->choice[i], path, depth) && strcmp(keys[depth], latest) != 0) {
            latest = keys[depth];
            used += (size_t)snprintf(list + used, LIST_BYTES - used, "%s%s", used > 0 ? ", " : "", latest);
        }
    }
}

static void join(const char *const *path, uint32_t depth, const char *end, char out[PATH_BYTES])
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < depth && used < PATH_BYTES; i++) {
        used += (size_t)snprintf(out + used, PATH_BYTES - used, "%s.", path[i]);
    }
    if (used < PATH_BYTES) {
        snprintf(out + used, PATH_BYTES - used, "%s = ", end);
    }
}

/* Takes the number on top as a choice. */
static enum kvc_status take_number(lua_State *lua, const struct call *call, struct kvc_store_choice *choice,
                                   const char *const *path, uint32_t depth)
{
    char shown[80], what[PATH_BYTES], allowed[128];
    double value = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : NAN;
    if (!(value >= choice->min && value <= choice->max) || (choice->is_whole && value != floor(value))) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        join(path, depth, choice->number.name, what);
        snprintf(allowed, sizeof(allowed), "a %snumber from %.6g to %.6g", choice->is_whole ? "whole " : "",
                 choice->min, choice->max);
        return fail(call, what, shown, allowed);
    }
    choice->number.value = value;
    return KVC_OK;
}

/* Takes the choices from the table on top, which the first `depth` keys of the path have led to. Lua's order
 * of keys is arbitrary, so that the smallest wrong one is reported. */
static enum kvc_status take_table(lua_State *lua, const struct call *call, const char **path, uint32_t depth)
{
    const struct kvc_store_look *look = call->look;
    char shown[80], what[PATH_BYTES], list[LIST_BYTES];
    const char *wrong = NULL, *latest = "";
    int table = lua_gettop(lua);
    for (uint32_t i = 0; i < look->choices; i++) {
        struct kvc_store_choice *choice = &look->choice[i];
        const char *keys[KEYS];
        uint32_t count = keys_of(&choice->number, keys);
        if (!is_below(choice, path, depth) || strcmp(keys[depth], latest) == 0) {
            continue;
        }
        enum kvc_status status = KVC_OK;
        latest = keys[depth];
        kvc_decode_push(lua, table, latest);
        if (lua_isnil(lua, -1)) {
            lua_settop(lua, table);
            continue;
        }
        if (count == depth + 1) {
            status = take_number(lua, call, choice, path, depth);
        } else if (!lua_istable(lua, -1)) {
            kvc_decode_show(lua, -1, shown, sizeof(shown));
            join(path, depth, latest, what);
            status = fail(call, what, shown, "a table");
        } else {
            path[depth] = latest;
            status = take_table(lua, call, path, depth + 1);
        }
        lua_settop(lua, table);
        if (status != KVC_OK) {
            return status;
        }
    }
    for (lua_pushnil(lua); lua_next(lua, table) != 0; lua_pop(lua, 1)) {
        const char *key = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "a number";
        if (!is_known(look, path, depth, key) && (wrong == NULL || strcmp(key, wrong) < 0)) {
            wrong = key;
        }
    }
    if (wrong == NULL) {
        return KVC_OK;
    }
    list_keys(look, path, depth, list);
    join(path, depth, "", what);
    snprintf(shown, sizeof(shown), "%.*s\"%.60s\"", (int)(strlen(what) - 3), what, wrong);
    return fail(call, "a table with the key ", shown, list[0] != '\0' ? list : "nil");
}

/* Runs inside the sandbox. */
static enum kvc_status ask(lua_State *lua, void *data)
{
    const struct call *call = data;
    const char *path[KEYS];
    char shown[80];
    lua_rawgeti(lua, LUA_REGISTRYINDEX, call->function->reference);
    push_look(lua, call->look);
    lua_call(lua, 1, 1);
    if (lua_isnil(lua, -1)) {
        return KVC_OK;
    }
    if (!lua_istable(lua, -1)) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return fail(call, "", shown, "nil, or a table such as { batch = { count = 512 } }");
    }
    return take_table(lua, call, path, 0);
}

static enum kvc_status choose(void *data, const struct kvc_store_look *look, struct kvc_diag *diag)
{
    const struct kvc_store_function *function = data;
    struct call call = {function, look, diag};
    return kvc_sandbox_call(function->sandbox, ask, &call, diag);
}

static enum kvc_status refuse(void *data, const struct kvc_store_look *look, const char *found,
                              const char *allowed, struct kvc_diag *diag)
{
    const struct call call = {data, look, diag};
    return fail(&call, "", found, allowed);
}

struct kvc_store_function *kvc_store_function_create(struct kvc_sandbox *sandbox, bool owns, int reference,
                                                     struct kvc_store_policy *policy)
{
    size_t bytes;
    const char *source = kvc_sandbox_source(sandbox, &bytes);
    struct kvc_store_function *function = kvc_array_of(1, sizeof(*function));
    *function = (struct kvc_store_function){sandbox, owns, reference,
                                            kvc_locate(source, bytes, "system.policy").line};
    *policy = (struct kvc_store_policy){choose, refuse, function};
    return function;
}

void kvc_store_function_free(struct kvc_store_function *function)
{
    if (function != NULL && function->owns) {
        kvc_sandbox_free(function->sandbox);
    }
    free(function);
}
