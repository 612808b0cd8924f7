#include "scenarios/load/decode/hardware.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lua.h>

#include "models/registry.h"
#include "scenarios/load/profile_cache.h"
#include "scenarios/load/decode/profile_read.h"
#include "sim/base/array.h"
#include "sim/base/files/data_dir.h"

enum { FILE_NAME_MAX = 1024 };

const char *kvc_hardware_dir(void)
{
    static char folder[PATH_MAX];
    if (folder[0] == '\0') {
        kvc_data_path("scenarios/hardware", folder);
    }
    return folder;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

void kvc_hardware_list(struct kvc_profiles *profiles)
{
    profiles->count = 0;
    DIR *folder = opendir(kvc_hardware_dir());
    if (folder == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL && profiles->count < KVC_PROFILES_MAX;) {
        size_t bytes = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || bytes <= 4 || bytes - 4 >= KVC_PROFILE_NAME_MAX ||
            strcmp(entry->d_name + bytes - 4, ".lua") != 0) {
            continue;
        }
        memcpy(profiles->name[profiles->count], entry->d_name, bytes - 4);
        profiles->name[profiles->count++][bytes - 4] = '\0';
    }
    closedir(folder);
    qsort(profiles->name, profiles->count, sizeof(profiles->name[0]), compare_names);
}

enum kvc_status kvc_hardware_read(const char *file, const struct kvc_device_kind **kind,
                                  struct kvc_node *node, struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    *node = (struct kvc_node){.sockets = 1};
    struct kvc_profile_reading profile = {.node = node, .loaded = loaded, .prefix = "", .diag = diag};
    enum kvc_status status = kvc_profile_read(file, &profile);
    *kind = profile.kind;
    return status;
}

static bool ends_in_lua(const char *name)
{
    size_t bytes = strlen(name);
    return bytes > 4 && strcmp(name + bytes - 4, ".lua") == 0;
}

/* Finds the file that `name` stands for. */
static enum kvc_status find_file(const struct kvc_decoder *decoder, const char *path, const char *name,
                                 char file[FILE_NAME_MAX])
{
    const char *scenario = kvc_sandbox_file(decoder->sandbox), *slash = strrchr(scenario, '/');
    int folder = slash != NULL ? (int)(slash + 1 - scenario) : 0, bytes;
    if (ends_in_lua(name)) {
        bytes = snprintf(file, FILE_NAME_MAX, "%.*s%s", name[0] == '/' ? 0 : folder, scenario, name);
        if (bytes < FILE_NAME_MAX && access(file, R_OK) == 0) {
            return KVC_OK;
        }
        return kvc_decode_fail(decoder, path, "%s: the profile %s cannot be read: %s", path, file,
                               strerror(errno));
    }
    bytes = snprintf(file, FILE_NAME_MAX, "%s/%s.lua", kvc_hardware_dir(), name);
    if (strchr(name, '/') == NULL && bytes < FILE_NAME_MAX && access(file, R_OK) == 0) {
        return KVC_OK;
    }

    struct kvc_profiles profiles;
    const char *names[KVC_PROFILES_MAX + 1];
    char suggestion[96], allowed[512] = "";
    size_t used = 0;
    kvc_hardware_list(&profiles);
    for (size_t i = 0; i < profiles.count; i++) {
        names[i] = profiles.name[i];
        if (used < sizeof(allowed)) {
            used +=
                (size_t)snprintf(allowed + used, sizeof(allowed) - used, "%s%s", i > 0 ? ", " : "", names[i]);
        }
    }
    names[profiles.count] = NULL;
    kvc_decode_suggest(name, names, suggestion, sizeof(suggestion));
    return kvc_decode_fail(
        decoder, path, "%s: no hardware profile \"%.60s\"%s%s allowed: a file that ends in .lua, or %s", path,
        name, suggestion, suggestion[0] != '\0' ? "" : ";", used > 0 ? allowed : "(the library is empty)");
}

/* Decodes the device of a kind in a file. On failure, *profile is empty. */
static enum kvc_status decode_file(const struct kvc_decoder *decoder, const char *file, const char *path,
                                   bool machine_only, struct kvc_profile *profile)
{
    struct kvc_node node = {.sockets = 1};
    struct kvc_loaded *loaded = kvc_array_of(1, sizeof(*loaded));
    struct kvc_profile_reading reading = {.kind = profile->kind,
                                          .node = &node,
                                          .loaded = loaded,
                                          .prefix = path,
                                          .machine_only = machine_only,
                                          .diag = decoder->diag};
    enum kvc_status status = kvc_profile_read(file, &reading);
    if (status == KVC_OK) {
        profile->of_machine = reading.kind == &kvc_machine_kind;
        profile->machine = node.machine;
        profile->values = kvc_node_device(&node, profile->kind);
        profile->parameters = loaded->parameters;
        profile->provenance = loaded->provenance;
    } else {
        kvc_parameters_clear(&loaded->parameters);
        kvc_parameters_clear(&loaded->provenance);
        kvc_node_free(&node);
    }
    free(loaded);
    return status;
}

/* Adds the device of a profile, if there is one, and what the profile states. */
static enum kvc_status add_profile(const struct kvc_decoder *decoder, const struct kvc_profile *profile,
                                   struct kvc_node *node)
{
    if (profile->of_machine) {
        node->machine = profile->machine;
    }
    if (profile->values != NULL) {
        kvc_node_add_copy(node, profile->kind, profile->values);
    }
    return kvc_parameters_join(&decoder->loaded->parameters, &profile->parameters) &&
                   kvc_parameters_join(&decoder->loaded->provenance, &profile->provenance)
               ? KVC_OK
               : kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
}

/* Loads the profile `name`, which was named at `place`, into the device at `path`. A machine file without
 * such a device sets *found to false and loads nothing but what it says of the machine. Only machine files
 * may stand at node.machine. */
static enum kvc_status load_device(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                   const char *path, const char *place, const char *name,
                                   struct kvc_node *node, bool *found)
{
    char file[FILE_NAME_MAX];
    bool machine_only = strcmp(place, "node.machine") == 0;
    struct stat seen;
    enum kvc_status status = find_file(decoder, place, name, file);
    if (status != KVC_OK) {
        return status;
    }
    const struct kvc_profile *known = kvc_profile_cache_find(file, kind);
    if (known != NULL && (known->of_machine || !machine_only)) {
        *found = known->values != NULL;
        return add_profile(decoder, known, node);
    }
    struct kvc_profile profile = {.kind = kind};
    bool is_known = stat(file, &seen) == 0;
    status = decode_file(decoder, file, path, machine_only, &profile);
    if (status == KVC_OK) {
        *found = profile.values != NULL;
        status = add_profile(decoder, &profile, node);
    }
    if (status != KVC_OK || !is_known || !kvc_profile_cache_keep(file, &seen, &profile)) {
        kvc_profile_clear(&profile);
    }
    return status;
}

static enum kvc_status record_base(const struct kvc_decoder *decoder, const char *path, const char *name,
                                   const char *origin)
{
    char base_path[KVC_PATH_MAX];
    kvc_decode_join(base_path, path, "base");
    return kvc_decode_record(decoder, base_path, name, false, origin, false);
}

/* Loads a profile that must have the device. */
static enum kvc_status load_base(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                 const char *path, const char *place, const char *name, const char *origin,
                                 struct kvc_node *node)
{
    bool found = false;
    enum kvc_status status = record_base(decoder, path, name, origin);
    if (status == KVC_OK) {
        status = load_device(decoder, kind, path, place, name, node, &found);
    }
    if (status == KVC_OK && !found) {
        status =
            kvc_decode_fail(decoder, place, "%s: the machine file %s has no %s", place, name, kind->name);
    }
    return status;
}

/* Reads { base = "name", field = value, ... }: the fields override those of the base. */
static enum kvc_status decode_inline(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                     const char *by_default, const char *path, struct kvc_node *node)
{
    static const char *const extra[] = {"base", NULL};
    char base_path[KVC_PATH_MAX], name[KVC_TEXT_MAX];
    lua_State *lua = decoder->lua;
    int table = lua_gettop(lua);
    const char *origin = "default";
    kvc_decode_join(base_path, path, "base");
    lua_pushliteral(lua, "base");
    if (lua_rawget(lua, table) == LUA_TNIL) {
        if (by_default == NULL) {
            return kvc_decode_fail(decoder, base_path,
                                   "%s is missing, allowed: the name of a hardware profile", base_path);
        }
        snprintf(name, sizeof(name), "%s", by_default);
    } else {
        enum kvc_status status =
            kvc_decode_text(decoder, base_path, "the name of a hardware profile", name, sizeof(name));
        if (status != KVC_OK) {
            return status;
        }
        origin = kvc_decode_origin(decoder, base_path);
    }
    lua_pop(lua, 1);
    enum kvc_status status = load_base(decoder, kind, path, base_path, name, origin, node);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_decoder overriding = *decoder;
    overriding.sourcing = KVC_SOURCING_OPTIONAL;
    void *object = kvc_node_device(node, kind);
    status = kvc_decode_table(
        &overriding, table,
        &(struct kvc_table){
            .path = path, .options = kind->options, .object = object, .extra = extra, .present_only = true});
    return status != KVC_OK ? status : kvc_profile_check_device(&overriding, kind, path, "node.", object);
}

enum kvc_status kvc_hardware_decode(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                    const char *by_default, const char *machine, struct kvc_node *node)
{
    char path[KVC_PATH_MAX], name[KVC_TEXT_MAX];
    kvc_decode_join(path, "node", kind->name);
    if (lua_isnil(decoder->lua, -1) && machine[0] != '\0') {
        bool found = false;
        enum kvc_status status = load_device(decoder, kind, path, "node.machine", machine, node, &found);
        if (status == KVC_OK && found) {
            status = record_base(decoder, path, machine, kvc_decode_origin(decoder, "node.machine"));
        }
        if (status != KVC_OK || found) {
            return status;
        }
    }
    if (lua_isnil(decoder->lua, -1)) {
        return load_base(decoder, kind, path, path, by_default, "default", node);
    }
    if (lua_istable(decoder->lua, -1)) {
        return decode_inline(decoder, kind, by_default, path, node);
    }
    enum kvc_status status = kvc_decode_text(
        decoder, path, "the name of a hardware profile, or a table with base", name, sizeof(name));
    if (status != KVC_OK) {
        return status;
    }
    return load_base(decoder, kind, path, path, name, kvc_decode_origin(decoder, path), node);
}
