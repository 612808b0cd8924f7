/* Scalars: from the Lua stack into the field of an option, and from there to text. */
#include "scenarios/load/decode/decode_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lua.h>

#include "sim/base/text/printable.h"

void kvc_decode_push(lua_State *lua, int index, const char *name)
{
    index = lua_absindex(lua, index);
    lua_pushstring(lua, name);
    lua_rawget(lua, index);
}

bool kvc_decode_has(lua_State *lua, int index, const char *name)
{
    kvc_decode_push(lua, index, name);
    bool has = !lua_isnil(lua, -1);
    lua_pop(lua, 1);
    return has;
}

enum kvc_status kvc_decode_text(const struct kvc_decoder *decoder, const char *path, const char *allowed,
                                char *out, size_t size)
{
    char shown[80];
    size_t bytes = 0;
    const char *text =
        lua_type(decoder->lua, -1) == LUA_TSTRING ? lua_tolstring(decoder->lua, -1, &bytes) : NULL;
    if (text == NULL) {
        kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, path, "%s: found %s, allowed: %s", path, shown, allowed);
    }
    if (bytes >= size) {
        return kvc_decode_fail(decoder, path, "%s: the text is longer than %zu bytes", path, size - 1);
    }
    if (!kvc_is_printable(text, bytes)) {
        return kvc_decode_fail(decoder, path, "%s: the text has control characters, or is not UTF-8", path);
    }
    memcpy(out, text, bytes + 1);
    return KVC_OK;
}

static const char *expected_quantity(enum kvc_unit unit)
{
    double ignored;
    const char *expected = "";
    kvc_quantity_parse("", unit, &ignored, &expected);
    return expected;
}

/* Writes the allowed values, such as: a whole number, from 1 to 64, or "auto". */
static void show_allowed(const struct kvc_option *row, char *out, size_t size)
{
    char low[48], high[48];
    size_t used = 0;
    if (row->type == KVC_OPTION_COUNT) {
        snprintf(low, sizeof(low), "%.0f", row->min);
        snprintf(high, sizeof(high), "%.0f", row->max);
        used = (size_t)snprintf(out, size, "a whole number");
    } else {
        kvc_quantity_print(row->min, row->unit, low, sizeof(low));
        kvc_quantity_print(row->max, row->unit, high, sizeof(high));
        used = (size_t)snprintf(out, size, "%s", expected_quantity(row->unit));
    }
    used += (size_t)snprintf(out + used, size - used, ", from %s to %s", low, high);
    if (row->auto_word != NULL) {
        snprintf(out + used, size - used, ", or \"%s\"", row->auto_word);
    }
}

static enum kvc_status fail_found(const struct kvc_decoder *decoder, const char *path,
                                  const struct kvc_option *row)
{
    char shown[80], allowed[256];
    kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
    show_allowed(row, allowed, sizeof(allowed));
    return kvc_decode_fail(decoder, path, "%s: found %s, allowed: %s", path, shown, allowed);
}

static bool takes_plain_number(enum kvc_unit unit)
{
    return unit == KVC_UNIT_NONE || unit == KVC_UNIT_BYTES || unit == KVC_UNIT_MOPS || unit == KVC_UNIT_WATTS;
}

static enum kvc_status decode_number(const struct kvc_decoder *decoder, const char *path,
                                     const struct kvc_option *row, void *field)
{
    lua_State *lua = decoder->lua;
    bool text = lua_type(lua, -1) == LUA_TSTRING, is_count = row->type == KVC_OPTION_COUNT;
    double value;
    const char *expected;
    if (text && row->auto_word != NULL && strcmp(lua_tostring(lua, -1), row->auto_word) == 0) {
        if (is_count) {
            *(uint64_t *)field = (uint64_t)row->auto_value;
        } else {
            *(double *)field = row->auto_value;
        }
        return KVC_OK;
    }
    if (text && !is_count) {
        size_t bytes;
        const char *written = lua_tolstring(lua, -1, &bytes);
        if (strlen(written) != bytes || !kvc_quantity_parse(written, row->unit, &value, &expected)) {
            return fail_found(decoder, path, row);
        }
    } else if (lua_type(lua, -1) == LUA_TNUMBER && (is_count || takes_plain_number(row->unit))) {
        value = lua_tonumber(lua, -1);
    } else {
        return fail_found(decoder, path, row);
    }
    if (!(value >= row->min && value <= row->max) ||
        (is_count && (value != floor(value) || value >= 0x1p64))) {
        return fail_found(decoder, path, row);
    }
    if (!is_count) {
        *(double *)field = value;
    } else if (lua_isinteger(lua, -1)) {
        *(uint64_t *)field = (uint64_t)lua_tointeger(lua, -1);
    } else {
        *(uint64_t *)field = (uint64_t)value;
    }
    return KVC_OK;
}

static enum kvc_status decode_choice(const struct kvc_decoder *decoder, const char *path,
                                     const struct kvc_option *row, int *field)
{
    char shown[80], suggestion[96] = "", names[KVC_DECODE_LIST_MAX];
    if (lua_type(decoder->lua, -1) == LUA_TSTRING) {
        const char *found = lua_tostring(decoder->lua, -1);
        for (int i = 0; row->choices[i] != NULL; i++) {
            if (strcmp(found, row->choices[i]) == 0) {
                *field = i;
                return KVC_OK;
            }
        }
        kvc_decode_suggest(found, row->choices, suggestion, sizeof(suggestion));
    }
    kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
    kvc_decode_list_names(row->choices, names, sizeof(names));
    return kvc_decode_fail(decoder, path, "%s: found %s%s%s allowed: %s", path, shown, suggestion,
                           suggestion[0] != '\0' ? "" : ",", names);
}

enum kvc_status kvc_decode_scalar(const struct kvc_decoder *decoder, const char *path,
                                  const struct kvc_option *row, void *field)
{
    char shown[80];
    switch (row->type) {
    case KVC_OPTION_BOOL:
        if (!lua_isboolean(decoder->lua, -1)) {
            kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
            return kvc_decode_fail(decoder, path, "%s: found %s, allowed: true or false", path, shown);
        }
        *(bool *)field = lua_toboolean(decoder->lua, -1);
        return KVC_OK;
    case KVC_OPTION_CHOICE:
        return decode_choice(decoder, path, row, field);
    case KVC_OPTION_TEXT:
        return kvc_decode_text(decoder, path, "a text", field, KVC_TEXT_MAX);
    default:
        return decode_number(decoder, path, row, field);
    }
}

bool kvc_decode_print(const struct kvc_option *row, const void *field, char *out, size_t size)
{
    switch (row->type) {
    case KVC_OPTION_BOOL:
        snprintf(out, size, "%s", *(const bool *)field ? "true" : "false");
        return true;
    case KVC_OPTION_CHOICE:
        snprintf(out, size, "%s", row->choices[*(const int *)field]);
        return false;
    case KVC_OPTION_TEXT:
        snprintf(out, size, "%s", (const char *)field);
        return false;
    case KVC_OPTION_COUNT:
        if (row->auto_word != NULL && *(const uint64_t *)field == (uint64_t)row->auto_value) {
            snprintf(out, size, "%s", row->auto_word);
            return false;
        }
        snprintf(out, size, "%llu", (unsigned long long)*(const uint64_t *)field);
        return true;
    default:
        if (row->auto_word != NULL && *(const double *)field == row->auto_value) {
            snprintf(out, size, "%s", row->auto_word);
            return false;
        }
        kvc_quantity_print(*(const double *)field, row->unit, out, size);
        return row->unit == KVC_UNIT_NONE;
    }
}
