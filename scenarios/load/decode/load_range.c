/* Ranges of a sweep: { from = "100us", to = "400us", steps = 7, scale = "log" }. */
#include "scenarios/load/decode/load_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>

enum { STEPS_MAX = 4096 };

struct range {
    double from, to;    /* In the base unit. */
    enum kvc_unit unit; /* Of both ends. */
    uint32_t steps;     /* 0: not given. */
    bool is_log, is_whole;
    char from_text[KVC_TEXT_MAX], to_text[KVC_TEXT_MAX];
};

static enum kvc_status fail(const struct kvc_decoder *decoder, const struct kvc_sweep_axis *axis,
                            const char *key, const char *allowed)
{
    char path[KVC_PATH_MAX], inner[KVC_PATH_MAX], shown[80];
    kvc_decode_join(path, "sweep", axis->path);
    kvc_decode_join(inner, path, key);
    kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
    return kvc_decode_fail(decoder, inner, "sweep of %s: found %s = %s, allowed: %s", axis->path, key, shown,
                           allowed);
}

/* Reads one end of the range, at the top of the stack. */
static bool read_end(lua_State *lua, enum kvc_unit unit, char text[KVC_TEXT_MAX], double *value)
{
    const char *expected;
    return (lua_type(lua, -1) == LUA_TNUMBER || lua_type(lua, -1) == LUA_TSTRING) &&
           kvc_load_scalar_text(lua, text) && kvc_quantity_parse(text, unit, value, &expected);
}

static enum kvc_status read_ends(const struct kvc_decoder *decoder, const struct kvc_sweep_axis *axis,
                                 struct range *range)
{
    lua_State *lua = decoder->lua;
    const char *expected = NULL;
    kvc_decode_push(lua, -1, "from");
    for (range->unit = KVC_UNIT_NONE; !read_end(lua, range->unit, range->from_text, &range->from);
         range->unit++) {
        if (range->unit == KVC_UNIT_WATTS) {
            return fail(decoder, axis, "from", "a number, or a text with a unit such as \"100us\"");
        }
    }
    lua_pop(lua, 1);
    kvc_decode_push(lua, -1, "to");
    if (!read_end(lua, range->unit, range->to_text, &range->to)) {
        double ignored;
        kvc_quantity_parse("", range->unit, &ignored, &expected);
        return fail(decoder, axis, "to", expected);
    }
    if (!(range->to > range->from)) {
        return fail(decoder, axis, "to", "more than from");
    }
    lua_pop(lua, 1);
    return KVC_OK;
}

static enum kvc_status read_shape(const struct kvc_decoder *decoder, const struct kvc_sweep_axis *axis,
                                  struct range *range)
{
    lua_State *lua = decoder->lua;
    kvc_decode_push(lua, -1, "steps");
    if (!lua_isnil(lua, -1)) {
        double steps = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : NAN;
        if (!(steps >= 2 && steps <= STEPS_MAX) || steps != floor(steps)) {
            return fail(decoder, axis, "steps", "a whole number from 2 to 4096");
        }
        range->steps = (uint32_t)steps;
    }
    lua_pop(lua, 1);
    kvc_decode_push(lua, -1, "scale");
    const char *scale = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
    range->is_log = strcmp(scale, "log") == 0;
    if (!lua_isnil(lua, -1) && !range->is_log && strcmp(scale, "linear") != 0) {
        return fail(decoder, axis, "scale", "\"linear\" or \"log\"");
    }
    if (range->is_log && range->from <= 0) {
        return fail(decoder, axis, "scale", "\"linear\", because from is not above 0");
    }
    lua_pop(lua, 1);
    kvc_decode_push(lua, -1, "whole");
    if (!lua_isnil(lua, -1) && !lua_isboolean(lua, -1)) {
        return fail(decoder, axis, "whole", "true or false");
    }
    range->is_whole = lua_toboolean(lua, -1);
    if (range->is_whole && (range->from != floor(range->from) || range->to != floor(range->to))) {
        return fail(decoder, axis, "whole", "only between whole numbers");
    }
    if (range->is_whole && range->steps == 0 && range->is_log && range->to - range->from < STEPS_MAX) {
        return fail(decoder, axis, "whole",
                    "with scale = \"log\" only together with steps, or over more than "
                    "4096 numbers, since a draw would give most of them several times");
    }
    lua_pop(lua, 1);
    return KVC_OK;
}

/* The design draws from few whole numbers as it does from a list. */
static void list_whole_numbers(struct range *range)
{
    if (range->is_whole && range->steps == 0 && range->to - range->from < STEPS_MAX) {
        range->steps = (uint32_t)(range->to - range->from) + 1;
    }
}

static enum kvc_status check_keys(const struct kvc_decoder *decoder, const struct kvc_sweep_axis *axis)
{
    static const char *const names[] = {"from", "to", "steps", "scale", "whole", NULL};
    lua_State *lua = decoder->lua;
    for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
        char path[KVC_PATH_MAX], shown[80], suggestion[96] = "";
        bool known = false;
        const char *found = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
        for (int i = 0; names[i] != NULL && !known; i++) {
            known = strcmp(found, names[i]) == 0;
        }
        if (!known) {
            kvc_decode_join(path, "sweep", axis->path);
            kvc_decode_show(lua, -2, shown, sizeof(shown));
            kvc_decode_suggest(found, names, suggestion, sizeof(suggestion));
            return kvc_decode_fail(decoder, path,
                                   "sweep of %s: found the key %s in a range%s allowed: from, to, steps, "
                                   "scale, whole",
                                   axis->path, shown, suggestion[0] != '\0' ? suggestion : ",");
        }
    }
    return KVC_OK;
}

/* Returns a step between the ends. Nine digits are enough for any device, and keep 1e6 to 64e6 whole. */
static double step_of(const struct range *range, uint32_t step)
{
    double part = (double)step / (range->steps - 1);
    double value = range->is_log ? range->from * pow(range->to / range->from, part)
                                 : range->from + part * (range->to - range->from);
    char digits[40];
    snprintf(digits, sizeof(digits), "%.9g", value);
    value = strtod(digits, NULL);
    return range->is_whole ? round(value) : value;
}

enum kvc_status kvc_load_range(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis)
{
    struct range range = {0};
    char text[KVC_TEXT_MAX];
    enum kvc_status status = check_keys(decoder, axis);
    if (status == KVC_OK) {
        status = read_ends(decoder, axis, &range);
    }
    if (status == KVC_OK) {
        status = read_shape(decoder, axis, &range);
    }
    if (status != KVC_OK) {
        return status;
    }
    list_whole_numbers(&range);
    axis->unit = range.unit;
    axis->is_whole = range.is_whole;
    axis->is_drawn = range.steps == 0;
    axis->is_log = range.is_log;
    status = kvc_load_add_scalar(decoder, axis, range.from_text);
    for (uint32_t i = 1; i + 1 < range.steps && status == KVC_OK; i++) {
        kvc_quantity_print(step_of(&range, i), range.unit, text, sizeof(text));
        status = kvc_load_add_scalar(decoder, axis, text);
    }
    return status == KVC_OK ? kvc_load_add_scalar(decoder, axis, range.to_text) : status;
}
