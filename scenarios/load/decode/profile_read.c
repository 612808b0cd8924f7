#include "scenarios/load/decode/profile_read.h"

#include <stdio.h>
#include <string.h>

#include <lua.h>

#include "models/registry.h"
#include "scenarios/load/lua/sandbox.h"
#include "sim/base/version.h"

const struct kvc_device_kind kvc_machine_kind = {.name = "machine",
                                                 .help = "Calibrated machine with several devices",
                                                 .options = &kvc_machine_option_table};

/* Writes "cpu, gpu, ... or machine". */
static void list_kinds(char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; kvc_device_kinds[i] != NULL && used < size; i++) {
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", kvc_device_kinds[i]->name);
    }
    if (used < size) {
        snprintf(out + used, size - used, " or %s", kvc_machine_kind.name);
    }
}

/* Reads the kind that the file states, and checks whether the profile may have it. */
static enum kvc_status check_kind(const struct kvc_decoder *decoder,
                                  const struct kvc_profile_reading *profile,
                                  const struct kvc_device_kind **said)
{
    char found[64], allowed[512];
    list_kinds(allowed, sizeof(allowed));
    lua_pushliteral(decoder->lua, "kind");
    lua_rawget(decoder->lua, 1);
    enum kvc_status status = kvc_decode_text(decoder, "kind", allowed, found, sizeof(found));
    lua_pop(decoder->lua, 1);
    if (status != KVC_OK) {
        return status;
    }
    *said = strcmp(found, kvc_machine_kind.name) == 0 ? &kvc_machine_kind : kvc_device_kind_find(found);
    if (*said == NULL) {
        return kvc_decode_fail(decoder, "kind", "kind: found \"%s\", allowed: %s", found, allowed);
    }
    const struct kvc_device_kind *needed = profile->machine_only ? &kvc_machine_kind : profile->kind;
    if (needed != NULL && *said != needed && *said != &kvc_machine_kind) {
        return kvc_decode_fail(decoder, "kind", "kind: found \"%s\", allowed: a profile of kind \"%s\"",
                               found, needed->name);
    }
    return KVC_OK;
}

enum kvc_status kvc_profile_check_device(const struct kvc_decoder *decoder,
                                         const struct kvc_device_kind *kind, const char *path,
                                         const char *parent, const void *device)
{
    struct kvc_diag inner = {0};
    char place[KVC_PATH_MAX], field[KVC_PATH_MAX];
    if (kind->check == NULL || kind->check(device, &inner) == KVC_OK) {
        return KVC_OK;
    }
    const char *dot = strchr(inner.message, '.');
    size_t bytes = dot != NULL ? strcspn(dot + 1, " :") : 0;
    snprintf(field, sizeof(field), "%.*s", (int)bytes, dot != NULL ? dot + 1 : "");
    kvc_decode_join(place, path, field);
    return kvc_decode_fail(decoder, place, "%s%s", parent, inner.message);
}

/* Reads the device's table, which is on top of the stack; `path` is where it stands in the file. */
static enum kvc_status decode_device(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                     const char *path, const char *const *extra, struct kvc_node *node)
{
    void *object = kvc_node_add(node, kind);
    enum kvc_status status = kvc_decode_table(
        decoder, lua_gettop(decoder->lua),
        &(struct kvc_table){.path = path, .options = kind->options, .object = object, .extra = extra});
    return status != KVC_OK ? status : kvc_profile_check_device(decoder, kind, path, "", object);
}

/* Reads what a machine file says about itself; `extra` are its other keys. */
static enum kvc_status decode_machine_frame(const struct kvc_decoder *decoder, const char *const *extra,
                                            struct kvc_machine *machine)
{
    memset(machine, 0, sizeof(*machine));
    return kvc_decode_table(
        decoder, lua_gettop(decoder->lua),
        &(struct kvc_table){
            .path = "", .options = &kvc_machine_option_table, .object = machine, .extra = extra});
}

/* Adds the hint that another version of kvcast may have written a machine file that has errors. */
static void add_version(struct kvc_diag *diag, const struct kvc_machine *machine)
{
    size_t used = strlen(diag->message);
    if (machine->commit[0] != '\0' && strcmp(machine->commit, kvc_version) != 0) {
        snprintf(diag->message + used, sizeof(diag->message) - used,
                 "; kvcast %s wrote the file, this is %s: calibrate again", machine->commit, kvc_version);
    }
}

/* Reads the frame of a machine file, and either the device that is wanted or all of them. */
static enum kvc_status decode_machine(struct kvc_decoder *decoder, struct kvc_profile_reading *profile)
{
    const char *extra[KVC_DEVICE_KINDS_MAX + 2] = {"kind"};
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        extra[i + 1] = kvc_device_kinds[i]->name;
    }
    bool alone = profile->kind == NULL;
    decoder->prefix = alone ? "" : "node.machine";
    enum kvc_status status = decode_machine_frame(decoder, extra, &profile->node->machine);
    decoder->prefix = alone ? "" : "node";
    for (size_t i = 0; status == KVC_OK && kvc_device_kinds[i] != NULL; i++) {
        const struct kvc_device_kind *kind = kvc_device_kinds[i];
        if (!alone && kind != profile->kind) {
            continue;
        }
        lua_pushstring(decoder->lua, kind->name);
        int type = lua_rawget(decoder->lua, 1);
        profile->has_device = type != LUA_TNIL;
        if (type == LUA_TTABLE) {
            status = decode_device(decoder, kind, kind->name, NULL, profile->node);
        } else if (type != LUA_TNIL) {
            status = kvc_decode_fail(decoder, kind->name, "%s: allowed: a table", kind->name);
        }
        if (status == KVC_OK) {
            lua_pop(decoder->lua, 1);
        }
    }
    if (status != KVC_OK && decoder->diag != NULL) {
        add_version(decoder->diag, &profile->node->machine);
    }
    return status;
}

static enum kvc_status decode_profile(lua_State *lua, void *data)
{
    static const char *const extra[] = {"kind", NULL};
    const struct kvc_device_kind *said;
    struct kvc_profile_reading *profile = data;
    struct kvc_decoder decoder = {.lua = lua,
                                  .sandbox = profile->sandbox,
                                  .loaded = profile->loaded,
                                  .sourcing = KVC_SOURCING_REQUIRED,
                                  .prefix = profile->prefix,
                                  .diag = profile->diag};
    if (!lua_checkstack(lua, 64)) {
        return kvc_diag_fail(profile->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    enum kvc_status status = check_kind(&decoder, profile, &said);
    if (status != KVC_OK) {
        return status;
    }
    profile->has_device = true;
    status = said == &kvc_machine_kind ? decode_machine(&decoder, profile)
                                       : decode_device(&decoder, said, "", extra, profile->node);
    profile->kind = said;
    return status;
}

enum kvc_status kvc_profile_read(const char *file, struct kvc_profile_reading *profile)
{
    struct kvc_sandbox *sandbox;
    enum kvc_status status = kvc_sandbox_run(file, &sandbox, profile->diag);
    if (status != KVC_OK) {
        return status;
    }
    profile->sandbox = sandbox;
    status = kvc_sandbox_protect(sandbox, decode_profile, profile, profile->diag);
    kvc_sandbox_free(sandbox);
    return status;
}
