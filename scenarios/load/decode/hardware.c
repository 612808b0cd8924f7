#include "scenarios/load/decode/hardware.h"

#include <dirent.h>
#include <errno.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/registry.h"
#include "scenarios/load/lua/sandbox.h"
#include "scenarios/load/profile_cache.h"
#include "sim/base/array.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/version.h"

/* ---- the library ---- */

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

static bool ends_in_lua(const char *name)
{
    size_t bytes = strlen(name);
    return bytes > 4 && strcmp(name + bytes - 4, ".lua") == 0;
}

/* Finds the file that `name` stands for. */
static enum kvc_status find_file(const struct kvc_decoder *decoder, const char *path, const char *name,
                                 char file[FILE_NAME_MAX])
{
    const char *scenario = kvc_sandbox_file(decoder->sandbox);
    int folder = kvc_sandbox_folder_bytes(decoder->sandbox), bytes;
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
    if (used >= sizeof(allowed)) { /* There are more than a message has room for. */
        snprintf(allowed, sizeof(allowed), "a name that kvcast list hardware prints with its kind");
    }
    names[profiles.count] = NULL;
    kvc_decode_suggest(name, names, suggestion, sizeof(suggestion));
    return kvc_decode_fail(
        decoder, path, "%s: no hardware profile \"%.60s\"%s%s allowed: a file that ends in .lua, or %s", path,
        name, suggestion, suggestion[0] != '\0' ? "" : ";", used > 0 ? allowed : "(the library is empty)");
}

/* ---- one file of the library ---- */

/* The kind of a machine file, which is not in the registry. Its values go to node->machine, and its devices
 * have the kinds of the registry. */
static const struct kvc_device_kind machine_kind = {.name = "machine",
                                                    .help = "Calibrated machine with several devices",
                                                    .options = &kvc_machine_option_table};

/* A profile that is read in a sandbox of its own. */
struct profile_reading {
    const struct kvc_device_kind *kind; /* Kind that is wanted (NULL: any); then the file's kind. */
    struct kvc_node *node;              /* Receives the devices. */
    struct kvc_loaded *loaded;          /* Receives parameters and provenance. */
    const char *prefix; /* Prefix of the recorded paths: "node.cpu"; "" if any kind is wanted. */
    bool machine_only;  /* Refuse a profile of the device alone. */
    bool is_base;       /* The file is the base of another one. */
    bool has_device;    /* Result: the file has the device that is wanted. */
    const struct kvc_sandbox *sandbox; /* Sandbox in which the file is read. */
    struct kvc_diag *diag;
};

/* Writes "cpu, gpu, ... or machine". */
static void list_kinds(char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; kvc_device_kinds[i] != NULL && used < size; i++) {
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", kvc_device_kinds[i]->name);
    }
    if (used < size) {
        snprintf(out + used, size - used, " or %s", machine_kind.name);
    }
}

/* Reads the kind that the file states, and checks whether the profile may have it. */
static enum kvc_status check_kind(const struct kvc_decoder *decoder, const struct profile_reading *profile,
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
    *said = strcmp(found, machine_kind.name) == 0 ? &machine_kind : kvc_device_kind_find(found);
    if (*said == NULL) {
        return kvc_decode_fail(decoder, "kind", "kind: found \"%s\", allowed: %s", found, allowed);
    }
    const struct kvc_device_kind *needed = profile->machine_only ? &machine_kind : profile->kind;
    if (needed != NULL && *said != needed && *said != &machine_kind) {
        return kvc_decode_fail(decoder, "kind", "kind: found \"%s\", allowed: a profile of kind \"%s\"",
                               found, needed->name);
    }
    return KVC_OK;
}

/* Runs the kind's own check. `path` is where the device stands in the file; `parent` goes in front of the
 * message, which starts with the kind's name. */
static enum kvc_status check_device(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                    const char *path, const char *parent, const void *device)
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

/* Reads the device's table, which is on top of the stack; `path` is where it stands in the file. If the node
 * has the device already, that of a base, the table changes it. */
static enum kvc_status decode_device(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                     const char *path, const char *const *extra, struct kvc_node *node)
{
    void *base = kvc_node_device(node, kind), *object = base != NULL ? base : kvc_node_add(node, kind);
    enum kvc_status status = kvc_decode_table(decoder, lua_gettop(decoder->lua),
                                              &(struct kvc_table){.path = path,
                                                                  .options = kind->options,
                                                                  .object = object,
                                                                  .extra = extra,
                                                                  .present_only = base != NULL});
    return status != KVC_OK ? status : check_device(decoder, kind, path, "", object);
}

/* Reads the description of the machine; `extra` are the other keys of its file. */
static enum kvc_status decode_machine_frame(const struct kvc_decoder *decoder, const char *const *extra,
                                            struct kvc_machine *machine)
{
    memset(machine, 0, sizeof(*machine));
    return kvc_decode_table(
        decoder, lua_gettop(decoder->lua),
        &(struct kvc_table){
            .path = "", .options = &kvc_machine_option_table, .object = machine, .extra = extra});
}

/* Adds a hint to the error of a machine file that another version of kvcast wrote. */
static void add_version(struct kvc_diag *diag, const struct kvc_machine *machine)
{
    size_t used = strlen(diag->message);
    if (machine->commit[0] != '\0' && strcmp(machine->commit, kvc_version) != 0) {
        snprintf(diag->message + used, sizeof(diag->message) - used,
                 "; kvcast %s wrote the file, this is %s: calibrate again", machine->commit, kvc_version);
    }
}

/* Reads the frame of a machine file, and either the device that is wanted or all of them. */
static enum kvc_status decode_machine(struct kvc_decoder *decoder, struct profile_reading *profile)
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

static enum kvc_status read_profile(const char *file, struct profile_reading *profile);

/* Reads the device of the profile that the file names as its base, if it names one. */
static enum kvc_status decode_base(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                   const struct profile_reading *profile)
{
    char name[KVC_TEXT_MAX], file[FILE_NAME_MAX];
    struct profile_reading base = *profile;
    if (!kvc_decode_has(decoder->lua, 1, "base")) {
        return KVC_OK;
    }
    kvc_decode_push(decoder->lua, 1, "base");
    enum kvc_status status =
        kvc_decode_text(decoder, "base", "the name of a hardware profile", name, sizeof(name));
    lua_pop(decoder->lua, 1);
    if (status == KVC_OK && profile->is_base) {
        status = kvc_decode_fail(
            decoder, "base", "base: found \"%s\" in a profile that is a base itself, allowed: nothing", name);
    }
    if (status == KVC_OK) {
        status = find_file(decoder, "base", name, file);
    }
    if (status != KVC_OK) {
        return status;
    }
    base.kind = kind;
    base.is_base = true;
    status = read_profile(file, &base);
    if (status == KVC_OK && base.kind == &machine_kind) {
        status = kvc_decode_fail(decoder, "base",
                                 "base: found the machine file \"%s\", allowed: a profile of kind \"%s\"",
                                 name, kind->name);
    }
    return status;
}

static enum kvc_status decode_profile(lua_State *lua, void *data)
{
    static const char *const extra[] = {"kind", "base", NULL};
    const struct kvc_device_kind *said;
    struct profile_reading *profile = data;
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
    if (said == &machine_kind) {
        status = decode_machine(&decoder, profile);
    } else {
        status = decode_base(&decoder, said, profile);
        status = status == KVC_OK ? decode_device(&decoder, said, "", extra, profile->node) : status;
    }
    profile->kind = said;
    return status;
}

static enum kvc_status read_profile(const char *file, struct profile_reading *profile)
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

enum kvc_status kvc_hardware_read(const char *file, const struct kvc_device_kind **kind,
                                  struct kvc_node *node, struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    *node = (struct kvc_node){.sockets = 1};
    struct profile_reading profile = {.node = node, .loaded = loaded, .prefix = "", .diag = diag};
    enum kvc_status status = read_profile(file, &profile);
    *kind = profile.kind;
    return status;
}

/* ---- devices of a node ---- */

/* Decodes the device of a kind in a file. On failure, *profile is empty. */
static enum kvc_status decode_file(const struct kvc_decoder *decoder, const char *file, const char *path,
                                   bool machine_only, struct kvc_profile *profile)
{
    struct kvc_node node = {.sockets = 1};
    struct kvc_loaded *loaded = kvc_array_of(1, sizeof(*loaded));
    struct profile_reading reading = {.kind = profile->kind,
                                      .node = &node,
                                      .loaded = loaded,
                                      .prefix = path,
                                      .machine_only = machine_only,
                                      .diag = decoder->diag};
    enum kvc_status status = read_profile(file, &reading);
    if (status == KVC_OK) {
        profile->of_machine = reading.kind == &machine_kind;
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

/* Adds the device of a profile, if there is one, and the profile's parameters. */
static enum kvc_status add_profile(const struct kvc_decoder *decoder, const struct kvc_profile *profile,
                                   struct kvc_node *node)
{
    if (profile->of_machine) {
        node->machine = profile->machine;
    }
    if (profile->values != NULL) {
        kvc_node_add_copy(node, profile->kind, profile->values);
    }
    if (decoder->is_plain) {
        return KVC_OK;
    }
    return kvc_parameters_join(&decoder->loaded->parameters, &profile->parameters) &&
                   kvc_parameters_join(&decoder->loaded->provenance, &profile->provenance)
               ? KVC_OK
               : kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
}

/* Loads the profile `name`, which was named at `place`, into the device at `path`. If a machine file has no
 * such device, *found becomes false and only the description of the machine is loaded. node.machine takes
 * only machine files. */
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

/* Reads { base = "name", field = value, ... }: the fields override the base's. */
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
            return kvc_decode_fail(
                decoder, base_path,
                "%s is missing, allowed: the name of a hardware profile of kind %s (kvcast list hardware)",
                base_path, kind->name);
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
    return status != KVC_OK ? status : check_device(&overriding, kind, path, "node.", object);
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
        if (status != KVC_OK || found || by_default == NULL) {
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
