#include "scenarios/load/decode/load_internal.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "sim/base/rng.h"

/* Writes how results show the function on top of the stack: by its lines, and by a hash of their text, so
 * that another function is another value. */
static void show_function(const struct kvc_decoder *decoder, char out[KVC_TEXT_MAX])
{
    lua_Debug info;
    char text[4096];
    size_t bytes, used = 0;
    const char *source = kvc_sandbox_source(decoder->sandbox, &bytes), *end = source + bytes;
    lua_pushvalue(decoder->lua, -1);
    lua_getinfo(decoder->lua, ">S", &info);
    uint64_t hash = 0;
    for (int line = 1; source < end; line++) {
        const char *next = memchr(source, '\n', (size_t)(end - source));
        next = next != NULL ? next + 1 : end;
        if (line >= info.linedefined && line <= info.lastlinedefined) {
            used = (size_t)(next - source) < sizeof(text) - 24 ? (size_t)(next - source) : sizeof(text) - 24;
            memcpy(text, source, used);
            snprintf(text + used, sizeof(text) - used, "%llx", (unsigned long long)hash);
            hash = kvc_name_hash(text);
        }
        source = next;
    }
    snprintf(out, KVC_TEXT_MAX, "function of lines %d to %d, %016llx", info.linedefined, info.lastlinedefined,
             (unsigned long long)hash);
}

/* Replaces the function in power.policy, on top of the stack below its section, by the word that stands for
 * it. The section is a copy, because the script may use the table elsewhere. */
static void replace_function(lua_State *lua, int section)
{
    lua_newtable(lua);
    for (lua_pushnil(lua); lua_next(lua, section) != 0;) {
        lua_pushvalue(lua, -2);
        lua_insert(lua, -2);
        lua_rawset(lua, section + 1);
    }
    lua_pushliteral(lua, "function");
    lua_setfield(lua, -2, "policy");
    lua_replace(lua, section);
}

/* Returns an option of the policy that has no effect, or NULL. */
static const char *unused(const struct kvc_power_policy *power, const char *name)
{
    bool for_looks = strcmp(name, "period") == 0, for_policy = strcmp(name, "policy") == 0;
    if (for_policy || power->policy == KVC_POWER_MANAGER ||
        (for_looks && power->policy == KVC_POWER_FUNCTION)) {
        return NULL;
    }
    return for_looks ? "power.policy is \"manager\" or a function" : "power.policy is \"manager\"";
}

static void warn_unused(const struct kvc_decoder *decoder, const struct kvc_power_policy *power)
{
    for (size_t i = 0; i < kvc_power_policy_option_table.count; i++) {
        const char *name = kvc_power_policy_option_table.rows[i].name, *needed = unused(power, name);
        char path[KVC_PATH_MAX];
        if (needed != NULL && kvc_decode_has(decoder->lua, -1, name)) {
            kvc_decode_join(path, "power", name);
            kvc_decode_warn(decoder, path, "%s has no effect unless %s", path, needed);
        }
    }
}

enum kvc_status kvc_load_power(const struct kvc_decoder *decoder, int root, struct kvc_power_policy *power,
                               int *function)
{
    lua_State *lua = decoder->lua;
    char shown[KVC_TEXT_MAX] = "";
    *function = LUA_NOREF;
    kvc_option_table_set_defaults(&kvc_power_policy_option_table, power);
    if (!kvc_decode_has(lua, root, "power")) {
        return KVC_OK; /* Results say nothing about a policy that nobody asked for. */
    }
    enum kvc_status status = kvc_load_push_section(decoder, root, "power");
    if (status != KVC_OK) {
        return status;
    }
    int section = lua_gettop(lua);
    lua_pushliteral(lua, "policy");
    if (lua_rawget(lua, section) == LUA_TFUNCTION && !lua_iscfunction(lua, -1)) {
        if (decoder->shown_policy == NULL || decoder->shown_policy[0] == '\0') {
            show_function(decoder, shown);
        } else { /* A sweep decodes the scenario thousands of times. */
            snprintf(shown, sizeof(shown), "%s", decoder->shown_policy);
        }
        if (decoder->shown_policy != NULL) {
            snprintf(decoder->shown_policy, KVC_TEXT_MAX, "%s", shown);
        }
        *function = luaL_ref(lua, LUA_REGISTRYINDEX);
        replace_function(lua, section);
    } else {
        lua_pop(lua, 1);
    }
    status = kvc_decode_table(
        decoder, section,
        &(struct kvc_table){.path = "power", .options = &kvc_power_policy_option_table, .object = power});
    if (status == KVC_OK && power->policy == KVC_POWER_FUNCTION && *function == LUA_NOREF) {
        return kvc_decode_fail(
            decoder, "power.policy",
            "power.policy: found \"function\", allowed: the function itself, as in policy = "
            "function(observed) ... end");
    }
    if (status == KVC_OK && *function != LUA_NOREF) {
        status = kvc_decode_record(decoder, "power.policy", shown, false,
                                   kvc_decode_origin(decoder, "power.policy"), false);
    }
    if (status == KVC_OK) {
        warn_unused(decoder, power);
        lua_pop(lua, 1);
    }
    return status;
}
