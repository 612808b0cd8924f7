/* Messages about a table: where a path was written, and what was found there. */
#include "scenarios/load/decode/decode_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "scenarios/load/lua/locate.h"
#include "sim/base/text/printable.h"

bool kvc_decode_is_below(const char *path, const char *ancestor)
{
    size_t bytes = strlen(ancestor);
    return strncmp(path, ancestor, bytes) == 0 && path[bytes] == '.';
}

static bool was_set(const struct kvc_decoder *decoder, const char *path)
{
    for (uint32_t i = 0; decoder->set != NULL && i < decoder->set->count; i++) {
        if (strcmp(path, decoder->set->entry[i].path) == 0 ||
            kvc_decode_is_below(path, decoder->set->entry[i].path)) {
            return true;
        }
    }
    return false;
}

static bool was_made_by_set(const struct kvc_decoder *decoder, const char *path)
{
    for (uint32_t i = 0; decoder->set != NULL && i < decoder->set->count; i++) {
        if (kvc_decode_is_below(decoder->set->entry[i].path, path)) {
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
    if (decoder->is_trial) { /* A sweep has thousands of them, and the search reads the whole text. */
        return kvc_sandbox_file(decoder->sandbox);
    }
    const char *source = kvc_sandbox_source(decoder->sandbox, &bytes);
    struct kvc_location location = kvc_locate(source, bytes, path);
    if (decoder->member != NULL) { /* A value that the member does not have is that of the scenario. */
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
    if (decoder->is_trial) {
        return;
    }
    const char *file = place_of(decoder, path, &line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    void *grown = realloc(loaded->warning, (loaded->warning_count + 1) * sizeof(*loaded->warning));
    if (grown == NULL) {
        return;
    }
    loaded->warning = grown;
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
        out[KVC_PATH_MAX - 1] = '\0'; /* Only unknown keys are so long; they are cut. */
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
    return was_set(decoder, path) ? "--set" : "scenario";
}

void kvc_decode_list_names(const char *const *names, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; names[i] != NULL && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
}
