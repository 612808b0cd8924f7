/* The section `sweep`: axes by their paths, and the keys points, replicas and where. */
#include <lua.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/decode/sections.h"
#include "scenarios/load/lua/locate.h"

/* ---- values of an axis: scalars and whole sub-tables ---- */

enum {
    AXIS_VALUES_MAX = 4096,
    FIELDS_MAX = 64,      /* Most fields of one sub-table. */
    SUB_TABLE_LEVELS = 4, /* A list of clocks inside a device is two levels deep. */
    SETTINGS_MAX = 1 << 16,
};

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

static int compare_names(const void *a, const void *b)
{
    bool a_is_base = strcmp(a, "base") == 0, b_is_base = strcmp(b, "base") == 0;
    long a_number = strtol(a, NULL, 10), b_number = strtol(b, NULL, 10); /* Elements of a list. */
    return a_is_base != b_is_base ? (a_is_base ? -1 : 1)
           : a_number != b_number ? (a_number < b_number ? -1 : 1)
                                  : strcmp(a, b);
}

/* Lists the keys of the table on top: `base` first, the others by name, so that the order is the same in
 * every run. Elements of a list are called 1, 2, ... Returns false if there are too many or odd ones. */
static bool list_fields(lua_State *lua, char (*name)[KVC_PATH_MAX], size_t *count)
{
    *count = 0;
    for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
        bool is_named = lua_type(lua, -2) == LUA_TSTRING && lua_rawlen(lua, -2) < KVC_PATH_MAX;
        if (*count == FIELDS_MAX || (!is_named && !lua_isinteger(lua, -2))) {
            lua_pop(lua, 2);
            return false;
        }
        if (is_named) {
            snprintf(name[*count], KVC_PATH_MAX, "%s", lua_tostring(lua, -2));
        } else {
            snprintf(name[*count], KVC_PATH_MAX, "%lld", (long long)lua_tointeger(lua, -2));
        }
        ++*count;
    }
    qsort(name, *count, sizeof(*name), compare_names);
    return true;
}

static void push_field(lua_State *lua, const char *name)
{
    if (name[0] >= '0' && name[0] <= '9') {
        lua_rawgeti(lua, -1, strtol(name, NULL, 10));
    } else {
        lua_pushstring(lua, name);
        lua_rawget(lua, -2);
    }
}

static enum kvc_status fail_value(const struct kvc_decoder *decoder, const struct kvc_sweep_axis *axis,
                                  const char *what)
{
    char path[KVC_PATH_MAX], shown[80];
    kvc_decode_join(path, "sweep", axis->path);
    kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
    return kvc_decode_fail(decoder, path,
                           "sweep of %s: value %u %s %s, allowed: a number, a text, true or false, or a "
                           "table of these such as { base = \"tesla-k40c\", memory = \"24GB\" }",
                           axis->path, axis->count + 1, what, shown);
}

/* Appends to a label, which is cut if it is too long. */
static void append(char label[KVC_TEXT_MAX], const char *text)
{
    size_t used = strlen(label);
    snprintf(label + used, KVC_TEXT_MAX - used, "%s", text);
}

/* Adds an override. Its errors name the place of the axis. */
static enum kvc_status add_override(const struct kvc_decoder *decoder, const struct kvc_sweep_axis *axis,
                                    struct kvc_sweep_value *value, const char *path, const char *text)
{
    char place[KVC_PATH_MAX];
    struct kvc_diag inner = {0};
    if (++decoder->loaded->sweep.settings > SETTINGS_MAX) {
        kvc_decode_join(place, "sweep", axis->path);
        return kvc_decode_fail(decoder, place,
                               "sweep of %s: found too many values, allowed: %d in the sweep, where a table "
                               "counts as many as it has fields",
                               axis->path, SETTINGS_MAX);
    }
    enum kvc_status status = kvc_overrides_add(&value->set, path, text, &inner);
    if (status != KVC_OK) {
        kvc_decode_join(place, "sweep", axis->path);
        return kvc_decode_fail(decoder, place, "sweep of %s: %s", axis->path, inner.message);
    }
    return KVC_OK;
}

/* Makes overrides from the table on top of the stack. A table that names a base replaces the device, so it
 * begins with an override of the whole device. So do a list, and a table for a distribution or an arrival,
 * whose keys exclude one another. Every other table changes only the keys that it names. */
static enum kvc_status flatten(const struct kvc_decoder *decoder, const struct kvc_sweep_axis *axis,
                               const char *path, int level, struct kvc_sweep_value *value)
{
    char name[FIELDS_MAX][KVC_PATH_MAX], inner[KVC_PATH_MAX], text[KVC_TEXT_MAX];
    size_t count = 1;
    enum kvc_status status = KVC_OK;
    if (level == SUB_TABLE_LEVELS || !lua_checkstack(decoder->lua, 8) ||
        !list_fields(decoder->lua, name, &count) || count == 0) {
        return fail_value(decoder, axis, count == 0 ? "is empty:" : "is too deep or has odd keys:");
    }
    bool is_list = lua_rawlen(decoder->lua, -1) > 0;
    if (is_list || strcmp(path, "workload.dist") == 0 || strcmp(path, "workload.arrival") == 0) {
        status = add_override(decoder, axis, value, path, "none"); /* Drops the scenario's table. */
    }
    const char *separator = "{";
    for (size_t i = 0; i < count && status == KVC_OK; i++) {
        bool is_base = strcmp(name[i], "base") == 0;
        kvc_decode_join(inner, path, name[i]);
        push_field(decoder->lua, name[i]);
        if (level > 0 || !is_base) {
            append(value->label, separator);
            append(value->label, name[i]);
            append(value->label, "=");
            separator = ",";
        }
        if (lua_istable(decoder->lua, -1)) {
            status = flatten(decoder, axis, inner, level + 1, value);
        } else if (!scalar_text(decoder->lua, text)) {
            status = fail_value(decoder, axis, "contains");
        } else {
            append(value->label, text);
            status = add_override(decoder, axis, value, is_base ? path : inner, text);
        }
        lua_pop(decoder->lua, 1);
    }
    append(value->label, separator[0] == ',' ? "}" : "");
    return status;
}

static bool same_set(const struct kvc_overrides *a, const struct kvc_overrides *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; i < a->count && same; i++) {
        same = strcmp(a->entry[i].path, b->entry[i].path) == 0 &&
               strcmp(a->entry[i].value, b->entry[i].value) == 0;
    }
    return same;
}

/* Adds a value unless the axis has it. */
static enum kvc_status add_value(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis,
                                 struct kvc_sweep_value *value, uint32_t *index)
{
    for (*index = 0; *index < axis->count; ++*index) {
        if (same_set(&axis->value[*index].set, &value->set)) {
            kvc_overrides_clear(&value->set);
            return KVC_OK;
        }
    }
    if ((axis->count & (axis->count - 1)) == 0) { /* The table is full at every power of two. */
        size_t room = axis->count == 0 ? 1 : 2 * (size_t)axis->count;
        void *grown = realloc(axis->value, room * sizeof(*axis->value));
        if (grown == NULL) {
            kvc_overrides_clear(&value->set);
            return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
        }
        axis->value = grown;
    }
    axis->value[axis->count++] = *value;
    return KVC_OK;
}

/* Adds a scalar value to the axis. */
static enum kvc_status add_scalar(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis,
                                  const char *text)
{
    struct kvc_sweep_value value = {.number = NAN};
    uint32_t index;
    snprintf(value.label, sizeof(value.label), "%s", text);
    enum kvc_status status = add_override(decoder, axis, &value, axis->path, text);
    return status == KVC_OK ? add_value(decoder, axis, &value, &index) : status;
}

/* Reads the value at the top of the stack and adds it to the axis unless it is there already. Sets *index to
 * its place. */
static enum kvc_status read_value(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis,
                                  uint32_t *index)
{
    struct kvc_sweep_value value = {.number = NAN};
    enum kvc_status status;
    if (lua_istable(decoder->lua, -1)) {
        status = flatten(decoder, axis, axis->path, 0, &value);
    } else if (!scalar_text(decoder->lua, value.label)) {
        return fail_value(decoder, axis, "is");
    } else {
        status = add_override(decoder, axis, &value, axis->path, value.label);
    }
    if (status != KVC_OK) {
        kvc_overrides_clear(&value.set);
        return status;
    }
    return add_value(decoder, axis, &value, index);
}

/* ---- ranges: { from = "100us", to = "400us", steps = 7, scale = "log" } ---- */

enum { STEPS_MAX = 4096 };

struct range {
    double from, to;    /* Ends in the base unit. */
    enum kvc_unit unit; /* Unit of both ends. */
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
    return (lua_type(lua, -1) == LUA_TNUMBER || lua_type(lua, -1) == LUA_TSTRING) && scalar_text(lua, text) &&
           kvc_quantity_parse(text, unit, value, &expected);
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

/* Turns a short range of whole numbers into a list, from which the design draws. */
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

/* Returns the value of a step. Its nine digits are enough for any device, and keep 1e6 to 64e6 whole. */
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

static enum kvc_status read_range(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis)
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
    status = add_scalar(decoder, axis, range.from_text);
    for (uint32_t i = 1; i + 1 < range.steps && status == KVC_OK; i++) {
        kvc_quantity_print(step_of(&range, i), range.unit, text, sizeof(text));
        status = add_scalar(decoder, axis, text);
    }
    return status == KVC_OK ? add_scalar(decoder, axis, range.to_text) : status;
}

/* Reads the values of an axis from the list or range at the top of the stack. */
static enum kvc_status read_axis(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis)
{
    lua_State *lua = decoder->lua;
    char path[KVC_PATH_MAX];
    uint32_t index;
    kvc_decode_join(path, "sweep", axis->path);
    if (lua_istable(lua, -1) && (kvc_decode_has(lua, -1, "from") || kvc_decode_has(lua, -1, "to"))) {
        return read_range(decoder, axis);
    }
    size_t length = lua_istable(lua, -1) ? lua_rawlen(lua, -1) : 0;
    if (length == 0 || length > AXIS_VALUES_MAX) {
        return kvc_decode_fail(decoder, path,
                               "sweep of %s: allowed: a list of 1 to %d values, or a range such as "
                               "{ from = \"100us\", to = \"400us\", steps = 7 }",
                               axis->path, AXIS_VALUES_MAX);
    }
    for (size_t i = 1; i <= length; i++) {
        lua_rawgeti(lua, -1, (lua_Integer)i);
        enum kvc_status status = read_value(decoder, axis, &index);
        if (status != KVC_OK) {
            return status;
        }
        lua_pop(lua, 1);
    }
    return KVC_OK;
}

/* Returns the place in the text where the axis is written. Axes that the lexer cannot find come last. */
static size_t axis_offset(const struct kvc_decoder *decoder, const char *under, const char *name)
{
    char path[KVC_PATH_MAX];
    size_t bytes;
    const char *source = kvc_sandbox_source(decoder->sandbox, &bytes);
    kvc_decode_join(path, under, name);
    struct kvc_location location = kvc_locate(source, bytes, path);
    return location.exact ? location.offset : bytes;
}

/* Inserts an axis at its place: as the file writes them, then by name. */
static enum kvc_status insert_axis(const struct kvc_decoder *decoder, struct kvc_sweep *sweep,
                                   const char *under, const char *path, struct kvc_sweep_axis **axis)
{
    if (sweep->count == KVC_SWEEP_AXES_MAX) {
        return kvc_decode_fail(decoder, under, "sweep: found too many paths, allowed: up to %d",
                               KVC_SWEEP_AXES_MAX);
    }
    if (strlen(path) >= KVC_PATH_MAX - sizeof("sweep.points.1.")) {
        return kvc_decode_fail(decoder, under, "sweep: the path \"%.40s...\" is too long", path);
    }
    size_t offset = axis_offset(decoder, under, path);
    uint32_t at = sweep->count;
    for (; at > 0; at--) {
        const char *before = sweep->axis[at - 1].path;
        size_t other = sweep->axis[at - 1].offset;
        if (other < offset || (other == offset && strcmp(before, path) < 0)) {
            break;
        }
        sweep->axis[at] = sweep->axis[at - 1];
    }
    sweep->count++;
    *axis = &sweep->axis[at];
    **axis = (struct kvc_sweep_axis){.offset = offset};
    strcpy((*axis)->path, path);
    return KVC_OK;
}

/* ---- sweep.points: a list of whole points, or how to draw points from the axes ---- */

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

/* Makes an axis from every key of the first point, which is at the top of the stack. */
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
        enum kvc_status status = insert_axis(decoder, sweep, "sweep.points.1", lua_tostring(lua, -2), &axis);
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
        enum kvc_status status = read_value(decoder, &sweep->axis[i], &index[i]);
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

/* Reads sweep.points, at the top of the stack: a list of points, or a design. */
static enum kvc_status read_points(const struct kvc_decoder *decoder, struct kvc_sweep *sweep)
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

/* ---- the section ---- */

enum { REPLICAS_MAX = 1000 };

static const char *const own_keys[] = {"points", "replicas", "where", NULL};

static bool is_own(const char *name)
{
    bool own = false;
    for (int i = 0; own_keys[i] != NULL && !own; i++) {
        own = strcmp(name, own_keys[i]) == 0;
    }
    return own;
}

/* Fails for a key of the sweep that is neither a path nor one of its own. */
static enum kvc_status fail_key(const struct kvc_decoder *decoder)
{
    lua_State *lua = decoder->lua;
    char shown[80], suggestion[96] = "";
    kvc_decode_show(lua, -2, shown, sizeof(shown));
    if (lua_type(lua, -2) == LUA_TSTRING) {
        kvc_decode_suggest(lua_tostring(lua, -2), own_keys, suggestion, sizeof(suggestion));
    }
    return kvc_decode_fail(decoder, "sweep",
                           "sweep: found the key %s%s allowed: paths into system, node, cluster, workload, "
                           "run and power such as [\"run.duration\"], and points, replicas, where",
                           shown, suggestion[0] != '\0' ? suggestion : ",");
}

/* Returns whether the path leads into a section that a point may change. */
static bool is_section(const char *name)
{
    static const char *const sections[] = {"system", "node", "cluster", "workload", "run", "power"};
    bool found = false;
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !found; i++) {
        size_t bytes = strcspn(name, ".");
        found = strlen(sections[i]) == bytes && strncmp(name, sections[i], bytes) == 0;
    }
    return found;
}

static enum kvc_status read_axes(const struct kvc_decoder *decoder, int table, struct kvc_sweep *sweep)
{
    lua_State *lua = decoder->lua;
    struct kvc_sweep_axis *axis;
    for (lua_pushnil(lua); lua_next(lua, table) != 0; lua_pop(lua, 1)) {
        const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : NULL;
        if (name != NULL && is_own(name)) {
            continue;
        }
        if (name == NULL || !is_section(name)) {
            return fail_key(decoder);
        }
        enum kvc_status status = insert_axis(decoder, sweep, "sweep", name, &axis);
        if (status == KVC_OK) {
            status = read_axis(decoder, axis);
        }
        if (status != KVC_OK) {
            return status;
        }
    }
    return KVC_OK;
}

static enum kvc_status read_replicas(const struct kvc_decoder *decoder, struct kvc_sweep *sweep)
{
    lua_State *lua = decoder->lua;
    char shown[80];
    double count = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : NAN;
    if (lua_isnil(lua, -1)) {
        return KVC_OK;
    }
    if (!(count >= 1 && count <= REPLICAS_MAX) || count != floor(count)) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, "sweep.replicas",
                               "sweep.replicas: found %s, allowed: a whole number from 1 to %d", shown,
                               REPLICAS_MAX);
    }
    sweep->replicas = (uint32_t)count;
    return KVC_OK;
}

/* A range without steps has values only where the design draws them. */
static enum kvc_status check_ranges(const struct kvc_decoder *decoder, const struct kvc_sweep *sweep)
{
    bool draws = sweep->design == KVC_SWEEP_RANDOM || sweep->design == KVC_SWEEP_LATIN_HYPERCUBE;
    char path[KVC_PATH_MAX];
    for (uint32_t i = 0; i < sweep->count; i++) {
        if (sweep->axis[i].is_drawn && !draws) {
            kvc_decode_join(path, "sweep", sweep->axis[i].path);
            return kvc_decode_fail(
                decoder, path,
                "sweep of %s: found a range without steps, allowed in a grid: from, to and "
                "steps; points = { random = COUNT } needs no steps",
                sweep->axis[i].path);
        }
    }
    if (draws && sweep->count == 0) {
        return kvc_decode_fail(decoder, "sweep.points",
                               "sweep.points: found no path to draw from, such as "
                               "[\"system.cycle\"] = { from = \"100us\", to = \"400us\" }");
    }
    return KVC_OK;
}

static enum kvc_status check_where(const struct kvc_decoder *decoder)
{
    char shown[80];
    if (lua_isnil(decoder->lua, -1) || lua_isfunction(decoder->lua, -1)) {
        return KVC_OK;
    }
    kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
    return kvc_decode_fail(decoder, "sweep.where",
                           "sweep.where: found %s, allowed: a function of a point, such as "
                           "function(p) return p[\"node.sockets\"] <= 2 end",
                           shown);
}

enum kvc_status kvc_load_sweep(const struct kvc_decoder *decoder, int root, struct kvc_sweep *sweep)
{
    lua_State *lua = decoder->lua;
    enum kvc_status status = kvc_load_push_section(decoder, root, "sweep");
    if (status != KVC_OK) {
        return status;
    }
    int table = lua_gettop(lua);
    sweep->axis = calloc(KVC_SWEEP_AXES_MAX, sizeof(*sweep->axis));
    if (sweep->axis == NULL) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    status = read_axes(decoder, table, sweep);
    if (status == KVC_OK && kvc_decode_has(lua, table, "points")) {
        kvc_decode_push(lua, table, "points");
        status = read_points(decoder, sweep);
    }
    if (status == KVC_OK) {
        kvc_decode_push(lua, table, "replicas");
        status = read_replicas(decoder, sweep);
    }
    if (status == KVC_OK) {
        kvc_decode_push(lua, table, "where");
        status = check_where(decoder);
    }
    if (status == KVC_OK) {
        status = check_ranges(decoder, sweep);
    }
    if (status == KVC_OK) {
        lua_settop(lua, table - 1);
    }
    return status;
}

bool kvc_load_has_constraint(const struct kvc_decoder *decoder, int root)
{
    lua_State *lua = decoder->lua;
    kvc_decode_push(lua, root, "sweep");
    bool has = lua_istable(lua, -1) && kvc_decode_has(lua, -1, "where");
    lua_pop(lua, 1);
    return has;
}
