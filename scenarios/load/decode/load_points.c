/* sweep.points: a list of whole points, or how to draw points from the axes. */
#include "scenarios/load/decode/load_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>

enum { LIST_MAX = 10000, DRAWS_MAX = 100000 };

/* Reads { random = 500 } or { latin_hypercube = 200 } at the top of the stack. */
static enum kvc_status read_design(const struct kvc_decoder *decoder, struct kvc_sweep *sweep)
{
    static const char allowed[] = "{ random = COUNT }, { latin_hypercube = COUNT } with a count from 1 to "
                                  "100000, or a list of points such as { { [\"run.seed\"] = 1 } }";
    lua_State *lua = decoder->lua;
    uint32_t keys = 0;
    for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1), keys++) {
        const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
        double count = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : NAN;
        bool is_random = strcmp(name, "random") == 0;
        if ((!is_random && strcmp(name, "latin_hypercube") != 0) || !(count >= 1 && count <= DRAWS_MAX) ||
            count != floor(count) || keys > 0) {
            char shown[80], key[80];
            kvc_decode_show(lua, -2, key, sizeof(key));
            kvc_decode_show(lua, -1, shown, sizeof(shown));
            return kvc_decode_fail(decoder, "sweep.points",
                                   "sweep.points: found the key %s with %s, allowed: %s", key, shown,
                                   allowed);
        }
        sweep->design = is_random ? KVC_SWEEP_RANDOM : KVC_SWEEP_LATIN_HYPERCUBE;
        sweep->draws = (uint32_t)count;
    }
    return keys > 0 ? KVC_OK
                    : kvc_decode_fail(decoder, "sweep.points",
                                      "sweep.points: found an empty table, allowed: %s", allowed);
}

/* Makes an axis of every key of the first point, which is at the top of the stack. */
static enum kvc_status make_axes(const struct kvc_decoder *decoder, struct kvc_sweep *sweep)
{
    lua_State *lua = decoder->lua;
    char shown[80];
    struct kvc_sweep_axis *axis;
    for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
        if (lua_type(lua, -2) != LUA_TSTRING) {
            kvc_decode_show(lua, -2, shown, sizeof(shown));
            return kvc_decode_fail(decoder, "sweep.points.1",
                                   "sweep.points: point 1 has the key %s, allowed: paths such as "
                                   "[\"run.duration\"]",
                                   shown);
        }
        enum kvc_status status =
            kvc_load_insert_axis(decoder, sweep, "sweep.points.1", lua_tostring(lua, -2), &axis);
        if (status != KVC_OK) {
            return status;
        }
    }
    return KVC_OK;
}

static enum kvc_status fail_point(const struct kvc_decoder *decoder, uint32_t number, const char *what)
{
    char path[KVC_PATH_MAX];
    snprintf(path, sizeof(path), "sweep.points.%u", number);
    return kvc_decode_fail(decoder, path,
                           "sweep.points: point %u %s, allowed: a table with the same paths as point 1",
                           number, what);
}

/* Reads the point at the top of the stack into the list. */
static enum kvc_status read_point(const struct kvc_decoder *decoder, struct kvc_sweep *sweep, uint32_t number)
{
    lua_State *lua = decoder->lua;
    uint32_t keys = 0, *index = &sweep->list[(size_t)sweep->list_count * sweep->count];
    char what[KVC_PATH_MAX + 32];
    for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
        if (++keys > sweep->count) {
            return fail_point(decoder, number, "has other paths");
        }
    }
    for (uint32_t i = 0; i < sweep->count; i++) {
        lua_pushstring(lua, sweep->axis[i].path);
        if (lua_rawget(lua, -2) == LUA_TNIL) {
            snprintf(what, sizeof(what), "has no %s", sweep->axis[i].path);
            return fail_point(decoder, number, what);
        }
        enum kvc_status status = kvc_load_value(decoder, &sweep->axis[i], &index[i]);
        if (status != KVC_OK) {
            return status;
        }
        lua_pop(lua, 1);
    }
    sweep->list_count++;
    return KVC_OK;
}

static enum kvc_status read_list(const struct kvc_decoder *decoder, struct kvc_sweep *sweep, size_t length)
{
    lua_State *lua = decoder->lua;
    if (sweep->count > 0) {
        return kvc_decode_fail(decoder, "sweep.points",
                               "sweep.points lists whole points, so it allows no other path beside it; found "
                               "[\"%s\"]",
                               sweep->axis[0].path);
    }
    if (length > LIST_MAX) {
        return kvc_decode_fail(decoder, "sweep.points", "sweep.points: found %zu points, allowed: up to %d",
                               length, LIST_MAX);
    }
    sweep->design = KVC_SWEEP_LIST;
    for (uint32_t number = 1; number <= length; number++) {
        enum kvc_status status = KVC_OK;
        lua_rawgeti(lua, -1, number);
        if (!lua_istable(lua, -1)) {
            return fail_point(decoder, number, "is no table");
        }
        if (number == 1) {
            status = make_axes(decoder, sweep);
            sweep->list = calloc(length, (sweep->count + 1) * sizeof(*sweep->list));
            if (status == KVC_OK && sweep->list == NULL) {
                status = kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
            }
        }
        if (status == KVC_OK) {
            status = read_point(decoder, sweep, number);
        }
        if (status != KVC_OK) {
            return status;
        }
        lua_pop(lua, 1);
    }
    return KVC_OK;
}

enum kvc_status kvc_load_points(const struct kvc_decoder *decoder, struct kvc_sweep *sweep)
{
    char shown[80];
    if (!lua_istable(decoder->lua, -1)) {
        kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, "sweep.points",
                               "sweep.points: found %s, allowed: a list of points, { random = COUNT } or "
                               "{ latin_hypercube = COUNT }",
                               shown);
    }
    size_t length = lua_rawlen(decoder->lua, -1);
    return length > 0 ? read_list(decoder, sweep, length) : read_design(decoder, sweep);
}
