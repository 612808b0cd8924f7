#include "scenarios/load/load_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>

#include "scenarios/load/locate.h"

enum { AXES_MAX = 16, AXIS_VALUES_MAX = 4096 };

/* Writes the scalar at the top of the stack as an override would. Returns false if it is not a scalar. */
static bool scalar_text(lua_State *lua, char out[KVC_TEXT_MAX])
{
    switch (lua_type(lua, -1)) {
    case LUA_TBOOLEAN:
        snprintf(out, KVC_TEXT_MAX, "%s", lua_toboolean(lua, -1) ? "true" : "false");
        return true;
    case LUA_TNUMBER:
        if (lua_isinteger(lua, -1)) {
            snprintf(out, KVC_TEXT_MAX, "%lld", (long long)lua_tointeger(lua, -1));
            return true;
        }
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(out, KVC_TEXT_MAX, "%.*g", digits, lua_tonumber(lua, -1));
            if (strtod(out, NULL) == lua_tonumber(lua, -1)) {
                return true;
            }
        }
        return false; /* NaN */
    case LUA_TSTRING:
        return (size_t)snprintf(out, KVC_TEXT_MAX, "%s", lua_tostring(lua, -1)) == lua_rawlen(lua, -1);
    default:
        return false;
    }
}

/* Reads the list of values at the top of the stack. */
static enum kvc_status decode_axis(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis)
{
    lua_State *lua = decoder->lua;
    char path[KVC_PATH_MAX], shown[80];
    kvc_decode_join(path, "sweep", axis->path);
    size_t length = lua_istable(lua, -1) ? lua_rawlen(lua, -1) : 0;
    if (length == 0 || length > AXIS_VALUES_MAX) {
        return kvc_decode_fail(decoder, path, "sweep of %s: allowed: a list of 1 to %d values", axis->path,
                               AXIS_VALUES_MAX);
    }
    axis->value = calloc(length, sizeof(*axis->value));
    if (axis->value == NULL) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    for (; axis->count < length; axis->count++) {
        lua_rawgeti(lua, -1, (lua_Integer)axis->count + 1);
        if (!scalar_text(lua, axis->value[axis->count])) {
            kvc_decode_show(lua, -1, shown, sizeof(shown));
            return kvc_decode_fail(decoder, path,
                                   "sweep of %s: value %u is %s, allowed: a number, a text, true or false",
                                   axis->path, axis->count + 1, shown);
        }
        lua_pop(lua, 1);
    }
    return KVC_OK;
}

/* Finds the place where the axis is written. Axes that the lexer cannot find come last. */
static size_t axis_offset(const struct kvc_decoder *decoder, const char *name)
{
    char path[KVC_PATH_MAX];
    size_t bytes;
    const char *source = kvc_sandbox_source(decoder->sandbox, &bytes);
    kvc_decode_join(path, "sweep", name);
    struct kvc_location location = kvc_locate(source, bytes, path);
    return location.exact ? location.offset : bytes;
}

/* Inserts an axis. The axes stay in the order in which they are written, then by name. */
static struct kvc_sweep_axis *insert_axis(const struct kvc_decoder *decoder, struct kvc_sweep *sweep,
                                          const char *name)
{
    size_t offset = axis_offset(decoder, name);
    uint32_t at = sweep->count;
    for (; at > 0; at--) {
        const char *before = sweep->axis[at - 1].path;
        size_t other = axis_offset(decoder, before);
        if (other < offset || (other == offset && strcmp(before, name) < 0)) {
            break;
        }
        sweep->axis[at] = sweep->axis[at - 1];
    }
    sweep->count++;
    memset(&sweep->axis[at], 0, sizeof(sweep->axis[at]));
    strcpy(sweep->axis[at].path, name);
    return &sweep->axis[at];
}

enum kvc_status kvc_load_sweep(const struct kvc_decoder *decoder, int root, struct kvc_sweep *sweep)
{
    lua_State *lua = decoder->lua;
    char shown[80];
    enum kvc_status status = kvc_load_push_section(decoder, root, "sweep");
    if (status != KVC_OK) {
        return status;
    }
    int table = lua_gettop(lua);
    sweep->axis = calloc(AXES_MAX, sizeof(*sweep->axis));
    if (sweep->axis == NULL) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    for (lua_pushnil(lua); lua_next(lua, table) != 0; lua_pop(lua, 1)) {
        if (lua_type(lua, -2) != LUA_TSTRING || lua_rawlen(lua, -2) >= KVC_PATH_MAX - sizeof("sweep.")) {
            kvc_decode_show(lua, -2, shown, sizeof(shown));
            return kvc_decode_fail(decoder, "sweep",
                                   "sweep: found the key %s, allowed: paths such as [\"run.duration\"]",
                                   shown);
        }
        if (sweep->count == AXES_MAX) {
            return kvc_decode_fail(decoder, "sweep", "sweep: found too many paths, allowed: up to %d",
                                   AXES_MAX);
        }
        status = decode_axis(decoder, insert_axis(decoder, sweep, lua_tostring(lua, -2)));
        if (status != KVC_OK) {
            return status;
        }
    }
    lua_pop(lua, 1);
    return KVC_OK;
}
