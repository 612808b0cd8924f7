#include "scenarios/load/decode/load_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>

#include "models/registry.h"

enum { COPIED_KEYS_MAX = 10000 }; /* Of a table that an override changes. */

static void push_key(lua_State *lua, const char *name, size_t bytes)
{
    if (strspn(name, "0123456789") >= bytes && bytes < 10) {
        lua_pushinteger(lua, strtol(name, NULL, 10));
    } else {
        lua_pushlstring(lua, name, bytes);
    }
}

void kvc_load_push_value(lua_State *lua, const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        lua_pushboolean(lua, text[0] == 't');
    } else if (lua_stringtonumber(lua, text) == 0) {
        lua_pushstring(lua, text);
    }
}

/* Replaces the table on top, which is at the first `bytes` of `path`, by a shallow copy. */
static enum kvc_status copy_table(const struct kvc_decoder *decoder, const char *path, size_t bytes)
{
    lua_State *lua = decoder->lua;
    int from = lua_gettop(lua), keys = 0;
    lua_newtable(lua);
    for (lua_pushnil(lua); lua_next(lua, from) != 0;) {
        if (++keys > COPIED_KEYS_MAX) {
            char table[KVC_PATH_MAX];
            snprintf(table, sizeof(table), "%.*s", (int)bytes, path);
            return kvc_decode_fail(decoder, table, "%s has more than %d keys",
                                   bytes > 0 ? table : "the returned table", COPIED_KEYS_MAX);
        }
        lua_pushvalue(lua, -2);
        lua_insert(lua, -2);
        lua_rawset(lua, from + 1);
    }
    lua_replace(lua, from);
    return KVC_OK;
}

static bool is_device_path(const char *path, size_t bytes)
{
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        const char *name = kvc_device_kinds[i]->name;
        if (bytes == 5 + strlen(name) && strncmp(path, "node.", 5) == 0 &&
            strncmp(path + 5, name, bytes - 5) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_path(const char *path, size_t bytes, const char *wanted)
{
    return bytes == strlen(wanted) && strncmp(path, wanted, bytes) == 0;
}

/* Replaces what an override walks into, on top of the stack, by a fresh table. `bytes` is the length of the
 * path so far. A device that is named by its profile becomes that profile with fields overridden; a text in
 * dist or arrival is dropped. Fails if the path leads through any other value. */
static enum kvc_status make_table(const struct kvc_decoder *decoder, const char *path, size_t bytes)
{
    lua_State *lua = decoder->lua;
    if (lua_istable(lua, -1)) {
        return copy_table(decoder, path, bytes);
    }
    bool device = is_device_path(path, bytes) && lua_type(lua, -1) == LUA_TSTRING;
    bool word = is_path(path, bytes, "workload.dist") || is_path(path, bytes, "workload.arrival");
    if (!lua_isnil(lua, -1) && !device && !word) {
        return kvc_diag_fail_at(decoder->diag, KVC_ERR_SCENARIO, "--set", 0,
                                "%s: %.*s is a value in the scenario, not a table", path, (int)bytes, path);
    }
    lua_newtable(lua);
    if (device) {
        lua_pushvalue(lua, -2);
        lua_setfield(lua, -2, "base");
    }
    lua_remove(lua, -2);
    return KVC_OK;
}

/* Sets override->path of the table on top. It copies what it changes, because the script may use one table in
 * several places. */
static enum kvc_status apply_override(const struct kvc_decoder *decoder, const struct kvc_override *override)
{
    lua_State *lua = decoder->lua;
    const char *path = override->path, *at = path;
    int root = lua_gettop(lua);
    for (;;) {
        size_t bytes = strcspn(at, ".");
        push_key(lua, at, bytes);
        if (at[bytes] == '\0') {
            break;
        }
        lua_pushvalue(lua, -1);
        lua_rawget(lua, -3);
        enum kvc_status status = make_table(decoder, path, (size_t)(at - path) + bytes);
        if (status != KVC_OK) {
            return status;
        }
        lua_pushvalue(lua, -2);
        lua_pushvalue(lua, -2);
        lua_rawset(lua, -5); /* The parent is a copy already. */
        lua_remove(lua, -2);
        at += bytes + 1;
        if (!lua_checkstack(lua, 8)) {
            return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
        }
    }
    kvc_load_push_value(lua, override->value);
    lua_rawset(lua, -3);
    lua_settop(lua, root);
    return KVC_OK;
}

enum kvc_status kvc_load_push_root(const struct kvc_decoder *decoder)
{
    lua_pushvalue(decoder->lua, 1);
    enum kvc_status status = copy_table(decoder, "", 0);
    for (uint32_t i = 0; status == KVC_OK && decoder->set != NULL && i < decoder->set->count; i++) {
        status = apply_override(decoder, &decoder->set->entry[i]);
    }
    return status;
}
