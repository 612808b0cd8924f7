/* The values of one axis of a sweep: scalars, and whole sub-tables. */
#include "scenarios/load/decode/load_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>

enum {
    AXIS_VALUES_MAX = 4096,
    FIELDS_MAX = 64,      /* In one sub-table. */
    SUB_TABLE_LEVELS = 4, /* A list of clocks inside a device is two levels deep. */
    SETTINGS_MAX = 1 << 16,
};

void kvc_sweep_axis_free(struct kvc_sweep_axis *axis)
{
    for (uint32_t i = 0; i < axis->count; i++) {
        kvc_overrides_clear(&axis->value[i].set);
    }
    free(axis->value);
    axis->value = NULL;
    axis->count = 0;
}

bool kvc_load_scalar_text(lua_State *lua, char out[KVC_TEXT_MAX])
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
    return a_is_base != b_is_base ? (a_is_base ? -1 : 1) : strcmp(a, b);
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

/* Adds an override; what is wrong with it has its place in the sweep. */
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

/* Makes overrides of the table on top of the stack. A table that names a base replaces the device, so it
 * begins with an override of the whole; the same holds for a distribution or an arrival, whose keys exclude
 * one another. Every other table changes the keys that it names. */
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
    bool replaces = strcmp(path, "workload.dist") == 0 || strcmp(path, "workload.arrival") == 0;
    if (replaces) {
        status = add_override(decoder, axis, value, path, "none"); /* Drops what is there. */
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
        } else if (!kvc_load_scalar_text(decoder->lua, text)) {
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

enum kvc_status kvc_load_add_scalar(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis,
                                    const char *text)
{
    struct kvc_sweep_value value = {.number = NAN};
    uint32_t index;
    snprintf(value.label, sizeof(value.label), "%s", text);
    enum kvc_status status = add_override(decoder, axis, &value, axis->path, text);
    return status == KVC_OK ? add_value(decoder, axis, &value, &index) : status;
}

enum kvc_status kvc_load_value(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis,
                               uint32_t *index)
{
    struct kvc_sweep_value value = {.number = NAN};
    enum kvc_status status;
    if (lua_istable(decoder->lua, -1)) {
        status = flatten(decoder, axis, axis->path, 0, &value);
    } else if (!kvc_load_scalar_text(decoder->lua, value.label)) {
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

enum kvc_status kvc_load_axis(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis)
{
    lua_State *lua = decoder->lua;
    char path[KVC_PATH_MAX];
    uint32_t index;
    kvc_decode_join(path, "sweep", axis->path);
    if (lua_istable(lua, -1) && (kvc_decode_has(lua, -1, "from") || kvc_decode_has(lua, -1, "to"))) {
        return kvc_load_range(decoder, axis);
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
        enum kvc_status status = kvc_load_value(decoder, axis, &index);
        if (status != KVC_OK) {
            return status;
        }
        lua_pop(lua, 1);
    }
    return KVC_OK;
}
