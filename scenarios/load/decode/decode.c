/* ---- messages: where a path was written, and what was found there ---- */
#include "scenarios/load/decode/decode.h"

#include <float.h>
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/lua/locate.h"
#include "sim/base/array.h"
#include "sim/base/text/printable.h"

/* Returns whether `path` lies below `ancestor`, as "run.seed" lies below "run". */
static bool is_below(const char *path, const char *ancestor)
{
    size_t bytes = strlen(ancestor);
    return strncmp(path, ancestor, bytes) == 0 && path[bytes] == '.';
}

/* The overrides of a scenario; a single value has none. */
static struct kvc_overrides set_of(const struct kvc_decoder *decoder)
{
    return decoder->loaded != NULL ? decoder->loaded->set : (struct kvc_overrides){0};
}

static bool was_set(const struct kvc_decoder *decoder, const char *path)
{
    const struct kvc_overrides overrides = set_of(decoder), *set = &overrides;
    for (uint32_t i = 0; i < set->count; i++) {
        if (strcmp(path, set->entry[i].path) == 0 || is_below(path, set->entry[i].path)) {
            return true;
        }
    }
    return false;
}

static bool was_made_by_set(const struct kvc_decoder *decoder, const char *path)
{
    const struct kvc_overrides overrides = set_of(decoder), *set = &overrides;
    for (uint32_t i = 0; i < set->count; i++) {
        if (is_below(set->entry[i].path, path)) {
            return true;
        }
    }
    return false;
}

static const char *place_of(const struct kvc_decoder *decoder, const char *path, int *line)
{
    size_t bytes;
    char in_member[KVC_PATH_MAX];
    *line = 0;
    if (decoder->is_trial) { /* A sweep makes thousands of trials, and the search reads the whole text. */
        return kvc_sandbox_file(decoder->sandbox);
    }
    const char *source = kvc_sandbox_source(decoder->sandbox, &bytes);
    struct kvc_location location = kvc_locate(source, bytes, path);
    if (decoder->member != NULL) { /* A value that the member lacks comes from the scenario. */
        kvc_decode_join(in_member, decoder->member, path);
        struct kvc_location own = kvc_locate(source, bytes, in_member);
        location = own.exact || !location.exact ? own : location;
        path = own.exact || was_set(decoder, in_member) ? in_member : path;
    }
    if (was_set(decoder, path) || (!location.exact && was_made_by_set(decoder, path))) {
        return "--set";
    }
    *line = location.line;
    return kvc_sandbox_file(decoder->sandbox);
}

enum kvc_status kvc_decode_fail(const struct kvc_decoder *decoder, const char *path, const char *format, ...)
{
    char message[sizeof(decoder->diag->message)];
    int line;
    const char *file = place_of(decoder, path, &line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return kvc_diag_fail_at(decoder->diag, KVC_ERR_SCENARIO, file, line, "%s", message);
}

void kvc_decode_warn(const struct kvc_decoder *decoder, const char *path, const char *format, ...)
{
    struct kvc_loaded *loaded = decoder->loaded;
    char message[256];
    int line;
    if (decoder->is_trial || decoder->is_plain) {
        return;
    }
    const char *file = place_of(decoder, path, &line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    loaded->warning = kvc_array_grown(loaded->warning, loaded->warning_count + 1, sizeof(*loaded->warning));
    char *out = loaded->warning[loaded->warning_count++];
    if (line > 0) {
        snprintf(out, sizeof(*loaded->warning), "%.240s:%d: %s", file, line, message);
    } else {
        snprintf(out, sizeof(*loaded->warning), "%.240s: %s", file, message);
    }
    kvc_make_printable(out);
}

void kvc_decode_join(char out[KVC_PATH_MAX], const char *path, const char *name)
{
    if (snprintf(out, KVC_PATH_MAX, "%s%s%s", path, path[0] != '\0' ? "." : "", name) >= KVC_PATH_MAX) {
        out[KVC_PATH_MAX - 1] = '\0'; /* Only unknown keys are that long; they are cut. */
    }
}

void kvc_decode_show(lua_State *lua, int index, char *out, size_t size)
{
    switch (lua_type(lua, index)) {
    case LUA_TBOOLEAN:
        snprintf(out, size, "%s", lua_toboolean(lua, index) ? "true" : "false");
        break;
    case LUA_TNUMBER:
        if (isnan(lua_tonumber(lua, index))) {
            snprintf(out, size, "NaN");
        } else {
            snprintf(out, size, "%.14g", lua_tonumber(lua, index));
        }
        break;
    case LUA_TSTRING:
        snprintf(out, size, "\"%.60s\"", lua_tostring(lua, index));
        break;
    case LUA_TNIL:
        snprintf(out, size, "nothing");
        break;
    default:
        snprintf(out, size, "a %s", luaL_typename(lua, index));
    }
}

void kvc_decode_suggest(const char *found, const char *const *names, char *out, size_t size)
{
    const char *nearest = kvc_nearest_name(found, names);
    if (nearest != NULL) {
        snprintf(out, size, "; did you mean \"%s\"?", nearest);
    } else {
        out[0] = '\0';
    }
}

const char *kvc_decode_origin(const struct kvc_decoder *decoder, const char *path)
{
    const struct kvc_loaded *loaded = decoder->loaded;
    if (was_set(decoder, path)) {
        return "--set";
    }
    for (uint32_t i = 0; i < loaded->calibrated.count; i++) {
        if (strcmp(path, loaded->calibrated.entry[i].path) == 0) {
            return loaded->calibrated_source;
        }
    }
    return "scenario";
}

/* Writes "a, b, c" from the NULL-terminated names. */
static void kvc_decode_list_names(const char *const *names, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; names[i] != NULL && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
}

/* ---- scalars: from the Lua stack into the field of an option, and from there to text ---- */

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

/* Fails because the value at the top of the stack is none of the words, or `found` is none, which is a part
 * of `bytes` characters of it. */
static enum kvc_status fail_word(const struct kvc_decoder *decoder, const char *path,
                                 const struct kvc_option *row, const char *found, size_t bytes)
{
    char shown[80], word[64], suggestion[96] = "", names[KVC_DECODE_LIST_MAX];
    kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
    if (found != NULL) {
        snprintf(word, sizeof(word), "%.*s", (int)(bytes < sizeof(word) ? bytes : sizeof(word) - 1), found);
        snprintf(shown, sizeof(shown), "\"%s\"", word);
        kvc_decode_suggest(word, row->choices, suggestion, sizeof(suggestion));
    }
    kvc_decode_list_names(row->choices, names, sizeof(names));
    return kvc_decode_fail(decoder, path, "%s: found %s%s%s allowed: %s", path, shown, suggestion,
                           suggestion[0] != '\0' ? "" : ",", names);
}

static enum kvc_status decode_choice(const struct kvc_decoder *decoder, const char *path,
                                     const struct kvc_option *row, int *field)
{
    size_t bytes = 0;
    bool is_text = lua_type(decoder->lua, -1) == LUA_TSTRING;
    const char *found = is_text ? lua_tolstring(decoder->lua, -1, &bytes) : NULL;
    int word = is_text ? kvc_word_find(row->choices, found, bytes) : -1;
    if (word < 0) {
        return fail_word(decoder, path, row, found, bytes);
    }
    *field = word;
    return KVC_OK;
}

/* Decodes a list of texts, or a text, each of which is a word or several such as "a, b". */
static enum kvc_status decode_words(const struct kvc_decoder *decoder, const char *path,
                                    const struct kvc_option *row, uint32_t *field)
{
    lua_State *lua = decoder->lua;
    bool is_list = lua_istable(lua, -1);
    size_t length = is_list ? lua_rawlen(lua, -1) : 1, bytes;
    int list = lua_gettop(lua);
    *field = 0;
    for (size_t i = 1; i <= length; i++) {
        const char *unknown;
        uint32_t bits;
        if (is_list) {
            lua_rawgeti(lua, list, (lua_Integer)i);
        }
        if (lua_type(lua, -1) != LUA_TSTRING) {
            return fail_word(decoder, path, row, NULL, 0);
        }
        if (!kvc_words_parse(lua_tostring(lua, -1), row->choices, &bits, &unknown, &bytes)) {
            return fail_word(decoder, path, row, unknown, bytes);
        }
        *field |= bits;
        lua_settop(lua, list);
    }
    for (lua_pushnil(lua); is_list && lua_next(lua, list) != 0; lua_pop(lua, 1)) {
        if (!lua_isinteger(lua, -2)) {
            return kvc_decode_fail(decoder, path, "%s: found a key, allowed: a list of words without keys",
                                   path);
        }
    }
    lua_settop(lua, list);
    return KVC_OK;
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
    case KVC_OPTION_WORDS:
        return decode_words(decoder, path, row, field);
    case KVC_OPTION_TEXT:
        return kvc_decode_text(decoder, path, "a text", field, KVC_TEXT_MAX);
    default:
        return decode_number(decoder, path, row, field);
    }
}

/* Writes the recorded form of the field's value. Returns whether the value is bare, a number or a boolean in
 * JSON; other values are texts. */
static bool print_field(const struct kvc_option *row, const void *field, char *out, size_t size)
{
    switch (row->type) {
    case KVC_OPTION_BOOL:
        snprintf(out, size, "%s", *(const bool *)field ? "true" : "false");
        return true;
    case KVC_OPTION_CHOICE:
        snprintf(out, size, "%s", row->choices[*(const int *)field]);
        return false;
    case KVC_OPTION_WORDS:
        kvc_words_print(*(const uint32_t *)field, row->choices, out, size);
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

enum {
    NAMES_MAX = 96,
    LOCATED_MAX = 16, /* Largest number of unknown keys of a table that are located in the text. */
};

static enum kvc_status out_of_memory(const struct kvc_decoder *decoder)
{
    return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
}

static enum kvc_status record(const struct kvc_decoder *decoder, const char *path, const char *value,
                              bool bare, const char *source, bool hardware, const struct kvc_bounds *interval)
{
    struct kvc_parameter parameter = {.bare = bare, .interval = *interval};
    if (decoder->is_plain) {
        return KVC_OK;
    }
    kvc_decode_join(parameter.path, decoder->prefix, path);
    snprintf(parameter.value, sizeof(parameter.value), "%s", value);
    snprintf(parameter.source, sizeof(parameter.source), "%s", source);
    if (!kvc_parameters_put(&decoder->loaded->parameters, &parameter) ||
        (hardware && !kvc_parameters_put(&decoder->loaded->provenance, &parameter))) {
        return out_of_memory(decoder);
    }
    return KVC_OK;
}

enum kvc_status kvc_decode_record(const struct kvc_decoder *decoder, const char *path, const char *value,
                                  bool bare, const char *source, bool hardware)
{
    return record(decoder, path, value, bare, source, hardware, &(struct kvc_bounds){NAN, NAN});
}

static const char sourced_form[] =
    "{ value, source = \"...\" }, and for a measured number low and high, the ends "
    "of its 95 % interval";

/* Reads `low` or `high` of the table at the index, in the unit of the value; NaN if it is absent. Unlike the
 * value, the end of an interval may lie beyond the range of the option. */
static enum kvc_status decode_bound(const struct kvc_decoder *decoder, const char *path, int index,
                                    const char *name, const struct kvc_option *row, double *bound)
{
    struct kvc_option unlimited = *row;
    lua_State *lua = decoder->lua;
    char bound_path[KVC_PATH_MAX];
    unlimited.type = KVC_OPTION_REAL;
    unlimited.min = -DBL_MAX;
    unlimited.max = DBL_MAX;
    unlimited.auto_word = NULL;
    *bound = NAN;
    kvc_decode_join(bound_path, path, name);
    lua_pushstring(lua, name);
    enum kvc_status status = lua_rawget(lua, index) != LUA_TNIL
                                 ? kvc_decode_scalar(decoder, bound_path, &unlimited, bound)
                                 : KVC_OK;
    if (status == KVC_OK) {
        lua_pop(lua, 1);
    }
    return status;
}

/* Reads the 95 % interval of the table at the index. */
static enum kvc_status decode_interval(const struct kvc_decoder *decoder, const char *path, int index,
                                       const struct kvc_option *row, struct kvc_bounds *interval)
{
    bool is_number = row->type == KVC_OPTION_REAL || row->type == KVC_OPTION_COUNT;
    bool has_low = kvc_decode_has(decoder->lua, index, "low");
    if (!is_number || has_low != kvc_decode_has(decoder->lua, index, "high")) {
        return is_number || has_low
                   ? kvc_decode_fail(decoder, path, "%s: found %s, allowed: %s", path,
                                     is_number ? "one of low and high" : "low and high of a word",
                                     is_number ? "both or neither" : "a value and its source")
                   : KVC_OK;
    }
    enum kvc_status status = decode_bound(decoder, path, index, "low", row, &interval->low);
    return status != KVC_OK ? status : decode_bound(decoder, path, index, "high", row, &interval->high);
}

static bool is_sourced_key(lua_State *lua, int index)
{
    static const char *const names[] = {"source", "low", "high"};
    if (lua_isinteger(lua, index)) {
        return lua_tointeger(lua, index) == 1;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && lua_type(lua, index) == LUA_TSTRING; i++) {
        if (strcmp(lua_tostring(lua, index), names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Reads `source` of the table at the top of the stack. Without one, the table has the source of what is
 * around it, and a source that begins with a comma continues that one: points of a measured curve share their
 * date. */
static enum kvc_status decode_source(const struct kvc_decoder *decoder, const char *path, const char *allowed,
                                     const char *around, char source[KVC_TEXT_MAX])
{
    char own[KVC_TEXT_MAX] = "";
    lua_State *lua = decoder->lua;
    lua_pushliteral(lua, "source");
    if (lua_rawget(lua, -2) != LUA_TNIL) {
        enum kvc_status status = kvc_decode_text(decoder, path, allowed, own, sizeof(own));
        if (status != KVC_OK) {
            return status;
        }
    }
    lua_pop(lua, 1);
    size_t used = own[0] == ',' || own[0] == '\0' ? strlen(around) : 0;
    if ((own[0] == ',' && used == 0) || used + strlen(own) >= KVC_TEXT_MAX) {
        return kvc_decode_fail(
            decoder, path,
            "%s: found source = \"%.60s\", allowed: a text that begins with a comma only if "
            "the list has a source, and %d bytes with it",
            path, own, KVC_TEXT_MAX - 1);
    }
    snprintf(source, KVC_TEXT_MAX, "%s%s", used > 0 ? around : "", own);
    return KVC_OK;
}

/* Replaces { value, source = "...", low = ..., high = ... } at the top of the stack by the value. */
static enum kvc_status unwrap(const struct kvc_decoder *decoder, const char *path, const char *table_source,
                              const struct kvc_option *row, char source[KVC_TEXT_MAX],
                              struct kvc_bounds *interval)
{
    lua_State *lua = decoder->lua;
    snprintf(source, KVC_TEXT_MAX, "%s", table_source);
    if (lua_istable(lua, -1)) {
        int index = lua_gettop(lua);
        enum kvc_status status = decode_interval(decoder, path, index, row, interval);
        if (status == KVC_OK) {
            status = decode_source(decoder, path, "{ value, source = \"where the value comes from\" }",
                                   table_source, source);
        }
        if (status != KVC_OK) {
            return status;
        }
        for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1)) {
            if (!is_sourced_key(lua, -2)) {
                return kvc_decode_fail(decoder, path, "%s: found a table, allowed: %s", path, sourced_form);
            }
        }
        lua_rawgeti(lua, index, 1);
        lua_replace(lua, index);
    }
    if (decoder->sourcing == KVC_SOURCING_REQUIRED && row->type != KVC_OPTION_TEXT && source[0] == '\0') {
        return kvc_decode_fail(decoder, path,
                               "%s has no source; write { value, source = \"where the value comes from\" }",
                               path);
    }
    return KVC_OK;
}

static enum kvc_status decode_options(const struct kvc_decoder *decoder, int index,
                                      const struct kvc_table *table, const char *table_source);

/* Refuses the key at index -2 in a list of tables, whose names may have been meant. */
static enum kvc_status fail_key(const struct kvc_decoder *decoder, const char *path, int list)
{
    lua_State *lua = decoder->lua;
    char shown[80], place[KVC_PATH_MAX], names[KVC_DECODE_LIST_MAX] = "";
    size_t used = 0;
    kvc_decode_show(lua, -2, shown, sizeof(shown));
    kvc_decode_join(place, path, lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "");
    for (size_t i = 1; i <= lua_rawlen(lua, list) && used < sizeof(names); i++) {
        if (lua_rawgeti(lua, list, (lua_Integer)i) == LUA_TTABLE) {
            lua_pushliteral(lua, "name");
            if (lua_rawget(lua, -2) == LUA_TSTRING) {
                used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.40s",
                                         used > 0 ? ", " : " of its elements: ", lua_tostring(lua, -1));
            }
            lua_pop(lua, 1);
        }
        lua_pop(lua, 1);
    }
    return kvc_decode_fail(decoder, place, "%s: found the key %s, allowed: a list of tables without keys%s%s",
                           path, shown, used > 0 ? ", or in a path one of the names" : "", names);
}

/* Checks that the table at the top of the stack is a list of at most as many elements as the option holds. */
static enum kvc_status check_list(const struct kvc_decoder *decoder, const char *path,
                                  const struct kvc_option *row, size_t *length)
{
    lua_State *lua = decoder->lua;
    char shown[80];
    if (!lua_istable(lua, -1)) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, path, "%s: found %s, allowed: a list of tables", path, shown);
    }
    int list = lua_gettop(lua);
    *length = lua_rawlen(lua, list);
    for (lua_pushnil(lua); lua_next(lua, list) != 0; lua_pop(lua, 1)) {
        if (decoder->sourcing != KVC_SOURCING_NONE && lua_type(lua, -2) == LUA_TSTRING &&
            strcmp(lua_tostring(lua, -2), "source") == 0) {
            continue;
        }
        if (!lua_isinteger(lua, -2) || lua_tointeger(lua, -2) < 1 ||
            (size_t)lua_tointeger(lua, -2) > *length) {
            return fail_key(decoder, path, list);
        }
    }
    if (*length > row->element->max_list) {
        return kvc_decode_fail(decoder, path, "%s: found %zu elements, allowed: up to %zu", path, *length,
                               row->element->max_list);
    }
    return KVC_OK;
}

/* Decodes the element at the top of the stack into `element`. */
static enum kvc_status decode_element(const struct kvc_decoder *decoder, const char *path,
                                      const struct kvc_option_table *options, const char *list_source,
                                      void *element)
{
    static const char *const extra[] = {"source", NULL};
    lua_State *lua = decoder->lua;
    char shown[80], source[KVC_TEXT_MAX] = "";
    if (!lua_istable(lua, -1)) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, path, "%s: found %s, allowed: a table", path, shown);
    }
    if (decoder->sourcing != KVC_SOURCING_NONE) {
        enum kvc_status status = decode_source(decoder, path, "a text as source", list_source, source);
        if (status != KVC_OK) {
            return status;
        }
    }
    kvc_option_table_set_defaults(options, element);
    const struct kvc_table inner = {.path = path,
                                    .options = options,
                                    .object = element,
                                    .extra = decoder->sourcing != KVC_SOURCING_NONE ? extra : NULL};
    return decode_options(decoder, lua_gettop(lua), &inner, source);
}

/* Decodes the list at the top of the stack. */
static enum kvc_status decode_list(const struct kvc_decoder *decoder, const char *path,
                                   const struct kvc_option *row, char *object)
{
    lua_State *lua = decoder->lua;
    char element_path[KVC_PATH_MAX], record_path[KVC_PATH_MAX], number[24], source[KVC_TEXT_MAX] = "";
    size_t length = 0;
    enum kvc_status status = check_list(decoder, path, row, &length);
    if (status == KVC_OK && decoder->sourcing != KVC_SOURCING_NONE) {
        status = decode_source(decoder, path, "a text as source", "", source);
    }
    if (status != KVC_OK) {
        return status;
    }
    int list = lua_gettop(lua);
    kvc_decode_join(record_path, decoder->prefix, path);
    kvc_parameters_forget_below(&decoder->loaded->parameters, record_path);
    kvc_parameters_forget_below(&decoder->loaded->provenance, record_path);
    for (size_t i = 0; i < length && status == KVC_OK; i++) {
        snprintf(number, sizeof(number), "%zu", i + 1);
        kvc_decode_join(element_path, path, number);
        lua_rawgeti(lua, list, (lua_Integer)i + 1);
        status = decode_element(decoder, element_path, row->element, source,
                                object + row->offset + i * row->element->size);
        if (status == KVC_OK) {
            lua_pop(lua, 1);
        }
    }
    if (status == KVC_OK) {
        *(uint32_t *)(void *)(object + row->count_offset) = (uint32_t)length;
    }
    return status;
}

/* Decodes the table at the top of the stack into the struct inside `object`; nil is an empty table. */
static enum kvc_status decode_group(const struct kvc_decoder *decoder, const char *path,
                                    const struct kvc_option *row, char *object)
{
    lua_State *lua = decoder->lua;
    char shown[80];
    if (lua_isnil(lua, -1)) {
        lua_newtable(lua);
        lua_replace(lua, -2);
    }
    if (!lua_istable(lua, -1)) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, path, "%s: found %s, allowed: a table", path, shown);
    }
    const struct kvc_table inner = {.path = path, .options = row->element, .object = object + row->offset};
    return decode_options(decoder, lua_gettop(lua), &inner, "");
}

/* Checks that the interval of a number contains it. */
static enum kvc_status check_interval(const struct kvc_decoder *decoder, const char *path,
                                      const struct kvc_option *row, const void *field,
                                      const struct kvc_bounds *interval)
{
    if (isnan(interval->low)) {
        return KVC_OK;
    }
    char value[KVC_TEXT_MAX], low[48], high[48];
    double number = row->type == KVC_OPTION_COUNT ? (double)*(const uint64_t *)field : *(const double *)field;
    if (number >= interval->low && number <= interval->high) {
        return KVC_OK;
    }
    print_field(row, field, value, sizeof(value));
    kvc_quantity_print(interval->low, row->unit, low, sizeof(low));
    kvc_quantity_print(interval->high, row->unit, high, sizeof(high));
    return kvc_decode_fail(decoder, path,
                           "%s: found %.48s with the interval from %s to %s, allowed: one around it", path,
                           value, low, high);
}

/* Refuses a table at `place` without a required option. */
static enum kvc_status fail_missing(const struct kvc_decoder *decoder, const char *place, const char *path,
                                    const struct kvc_option *row)
{
    char names[KVC_DECODE_LIST_MAX];
    if (row->type != KVC_OPTION_CHOICE) {
        return kvc_decode_fail(decoder, place, "%s is missing: %s", path, row->help);
    }
    kvc_decode_list_names(row->choices, names, sizeof(names));
    return kvc_decode_fail(decoder, place, "%s is missing, allowed: %s", path, names);
}

static enum kvc_status decode_row(const struct kvc_decoder *decoder, int index, const struct kvc_table *table,
                                  size_t at, const char *table_source)
{
    lua_State *lua = decoder->lua;
    const struct kvc_option *row = &table->options->rows[at];
    void *field = (char *)table->object + row->offset;
    char path[KVC_PATH_MAX], value[KVC_TEXT_MAX], source[KVC_TEXT_MAX];
    struct kvc_bounds interval = {NAN, NAN};
    enum kvc_status status = KVC_OK;
    kvc_decode_join(path, table->path, row->name);
    lua_pushstring(lua, row->name);
    bool present = lua_rawget(lua, index) != LUA_TNIL;
    if (!present && (table->present_only || row->optional)) {
        lua_pop(lua, 1);
        return KVC_OK;
    }
    if (row->type == KVC_OPTION_LIST || row->type == KVC_OPTION_GROUP) {
        if (row->type == KVC_OPTION_GROUP) {
            status = decode_group(decoder, path, row, table->object);
        } else if (present) {
            status = decode_list(decoder, path, row, table->object);
        }
        if (status == KVC_OK) {
            lua_pop(lua, 1);
        }
        return status;
    }
    if (present) {
        source[0] = '\0';
        if (decoder->sourcing != KVC_SOURCING_NONE) {
            status = unwrap(decoder, path, table_source, row, source, &interval);
        }
        if (status == KVC_OK) {
            status = kvc_decode_scalar(decoder, path, row, field);
        }
        if (status == KVC_OK) {
            status = check_interval(decoder, path, row, field, &interval);
        }
        if (status == KVC_OK && source[0] == '\0') {
            snprintf(source, sizeof(source), "%s",
                     decoder->sourcing == KVC_SOURCING_REQUIRED ? "profile"
                                                                : kvc_decode_origin(decoder, path));
        }
    } else if (row->by_default == NULL) {
        status = fail_missing(decoder, table->path, path, row);
    } else {
        const char *from = table->absent_source != NULL ? table->absent_source[at] : NULL;
        snprintf(source, sizeof(source), "%s", from != NULL ? from : "default");
    }
    if (status != KVC_OK) {
        return status;
    }
    lua_pop(lua, 1);
    if (decoder->is_plain) { /* Printing the value takes longer than decoding it. */
        return KVC_OK;
    }
    bool bare = print_field(row, field, value, sizeof(value));
    bool hardware = decoder->sourcing != KVC_SOURCING_NONE && row->type != KVC_OPTION_TEXT;
    return record(decoder, path, value, bare, source, hardware, &interval);
}

static size_t known_names(const struct kvc_table *table, const char *names[NAMES_MAX + 1])
{
    size_t count = 0;
    for (size_t i = 0; table->extra != NULL && table->extra[i] != NULL && count < NAMES_MAX; i++) {
        names[count++] = table->extra[i];
    }
    for (size_t i = 0; table->options != NULL && i < table->options->count && count < NAMES_MAX; i++) {
        names[count++] = table->options->rows[i].name;
    }
    names[count] = NULL;
    return count;
}

static bool is_known(const char *const *names, const char *name)
{
    for (; *names != NULL; names++) {
        if (strcmp(*names, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Reports the unknown key that comes first in the text, or the smallest one if the text has none of them or
 * there are too many to locate. Lua's order of keys is arbitrary. */
static enum kvc_status refuse_unknown(const struct kvc_decoder *decoder, int index,
                                      const struct kvc_table *table)
{
    lua_State *lua = decoder->lua;
    const char *names[NAMES_MAX + 1], *first = NULL, *smallest = NULL;
    char path[KVC_PATH_MAX], suggestion[96], allowed[KVC_DECODE_LIST_MAX], shown[80];
    size_t bytes, first_offset = 0, unknown = 0;
    const char *text = kvc_sandbox_source(decoder->sandbox, &bytes);
    known_names(table, names);
    kvc_decode_list_names(names, allowed, sizeof(allowed));
    const char *where = table->path[0] != '\0' ? table->path : "the returned table";
    for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1)) {
        if (lua_type(lua, -2) != LUA_TSTRING) {
            kvc_decode_show(lua, -2, shown, sizeof(shown));
            return kvc_decode_fail(decoder, table->path, "found element %s without a name in %s; allowed: %s",
                                   shown, where, allowed);
        }
        const char *name = lua_tostring(lua, -2);
        if (is_known(names, name)) {
            continue;
        }
        smallest = smallest == NULL || strcmp(name, smallest) < 0 ? name : smallest;
        if (decoder->is_trial || ++unknown > LOCATED_MAX) {
            continue;
        }
        kvc_decode_join(path, table->path, name);
        struct kvc_location location = kvc_locate(text, bytes, path);
        size_t offset = location.exact ? location.offset : bytes;
        if (first == NULL || offset < first_offset || (offset == first_offset && strcmp(name, first) < 0)) {
            first = name;
            first_offset = offset;
        }
    }
    if (smallest == NULL) {
        return KVC_OK;
    }
    first = decoder->is_trial || unknown > LOCATED_MAX ? smallest : first;
    kvc_decode_join(path, table->path, first);
    kvc_decode_suggest(first, names, suggestion, sizeof(suggestion));
    return kvc_decode_fail(decoder, path, "unknown key \"%.60s\" in %s%s%s allowed: %s", first, where,
                           suggestion, suggestion[0] != '\0' ? "" : ";", allowed);
}

static enum kvc_status decode_options(const struct kvc_decoder *decoder, int index,
                                      const struct kvc_table *table, const char *table_source)
{
    enum kvc_status status = refuse_unknown(decoder, index, table);
    for (size_t i = 0; status == KVC_OK && table->options != NULL && i < table->options->count; i++) {
        status = decode_row(decoder, index, table, i, table_source);
    }
    return status;
}

enum kvc_status kvc_decode_table(const struct kvc_decoder *decoder, int index, const struct kvc_table *table)
{
    return decode_options(decoder, lua_absindex(decoder->lua, index), table, "");
}
