#include "scenarios/load/load.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lua.h>

#include "models/registry.h"
#include "scenarios/load/decode.h"
#include "scenarios/load/hardware.h"
#include "scenarios/load/locate.h"
#include "scenarios/load/sections.h"
#include "sim/workload/presets.h"

enum { AXES_MAX = 16, AXIS_VALUES_MAX = 4096, MODELS_MAX = 64, WORKLOAD_ROWS_MAX = 32 };

void kvc_loaded_free(struct kvc_loaded *loaded)
{
    if (loaded == NULL) {
        return;
    }
    for (uint32_t i = 0; i < loaded->sweep.count; i++) {
        free(loaded->sweep.axis[i].value);
    }
    free(loaded->sweep.axis);
    free(loaded->parameters.entry);
    free(loaded->provenance.entry);
    free(loaded->warning);
    free(loaded->scenario.system);
    kvc_node_free(&loaded->scenario.node);
    free(loaded);
}

/* Pushes the field `name` of the root; must be a table or absent. Absent ones become an empty table. */
static enum kvc_status push_section(const struct kvc_decoder *decoder, int root, const char *name)
{
    char shown[80];
    lua_pushstring(decoder->lua, name);
    if (lua_rawget(decoder->lua, root) == LUA_TTABLE) {
        return KVC_OK;
    }
    if (!lua_isnil(decoder->lua, -1)) {
        kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, name, "%s: found %s, allowed: a table", name, shown);
    }
    lua_pop(decoder->lua, 1);
    lua_newtable(decoder->lua);
    return KVC_OK;
}

static enum kvc_status decode_plain(const struct kvc_decoder *decoder, int root,
                                    const struct kvc_option_table *options, const char *path, void *object)
{
    enum kvc_status status = push_section(decoder, root, path);
    if (status != KVC_OK) {
        return status;
    }
    kvc_option_table_set_defaults(options, object);
    status = kvc_decode_table(decoder, -1,
                              &(struct kvc_table){.path = path, .options = options, .object = object});
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}

/* ---- name and system ---- */

static enum kvc_status decode_name(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario)
{
    lua_pushliteral(decoder->lua, "name");
    if (lua_rawget(decoder->lua, root) != LUA_TNIL) {
        enum kvc_status status =
            kvc_decode_text(decoder, "name", "a text", scenario->name, sizeof(scenario->name));
        if (status != KVC_OK) {
            return status;
        }
        if (scenario->name[0] == '\0' || strchr(scenario->name, '/') != NULL) {
            return kvc_decode_fail(decoder, "name", "name: found \"%s\", allowed: a text without \"/\"",
                                   scenario->name);
        }
    } else {
        const char *file = kvc_sandbox_file(decoder->sandbox), *slash = strrchr(file, '/');
        const char *base = slash != NULL ? slash + 1 : file, *dot = strrchr(base, '.');
        int bytes = dot != NULL && dot > base ? (int)(dot - base) : (int)strlen(base);
        snprintf(scenario->name, sizeof(scenario->name), "%.*s", bytes, base);
    }
    lua_pop(decoder->lua, 1);
    return KVC_OK;
}

static enum kvc_status find_model(const struct kvc_decoder *decoder, struct kvc_scenario *scenario)
{
    const char *names[MODELS_MAX + 1] = {NULL};
    char kind[KVC_TEXT_MAX], allowed[256] = "", suggestion[96];
    size_t used = 0;
    for (size_t i = 0; i < MODELS_MAX && kvc_models[i] != NULL; i++) {
        names[i] = kvc_models[i]->name;
        if (used < sizeof(allowed)) {
            used +=
                (size_t)snprintf(allowed + used, sizeof(allowed) - used, "%s%s", i > 0 ? ", " : "", names[i]);
        }
    }
    lua_pushliteral(decoder->lua, "kind");
    if (lua_rawget(decoder->lua, -2) == LUA_TNIL) {
        return kvc_decode_fail(decoder, "system", "system.kind is missing; allowed: %s", allowed);
    }
    enum kvc_status status = kvc_decode_text(decoder, "system.kind", allowed, kind, sizeof(kind));
    if (status != KVC_OK) {
        return status;
    }
    lua_pop(decoder->lua, 1);
    scenario->model = kvc_model_find(kind);
    if (scenario->model == NULL) {
        kvc_decode_suggest(kind, names, suggestion, sizeof(suggestion));
        return kvc_decode_fail(decoder, "system.kind", "no system \"%.60s\"%s%s allowed: %s", kind,
                               suggestion, suggestion[0] != '\0' ? "" : ";", allowed);
    }
    return kvc_decode_record(decoder, "system.kind", kind, false, kvc_decode_origin(decoder, "system.kind"),
                             false);
}

static enum kvc_status decode_system(const struct kvc_decoder *decoder, int root,
                                     struct kvc_scenario *scenario)
{
    static const char *const extra[] = {"kind", NULL};
    enum kvc_status status = push_section(decoder, root, "system");
    if (status == KVC_OK) {
        status = find_model(decoder, scenario);
    }
    if (status != KVC_OK) {
        return status;
    }
    const struct kvc_option_table *options = scenario->model->options;
    scenario->system = calloc(1, options->size);
    if (scenario->system == NULL) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    kvc_option_table_set_defaults(options, scenario->system);
    status = kvc_decode_table(
        decoder, -1,
        &(struct kvc_table){
            .path = "system", .options = options, .object = scenario->system, .extra = extra});
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}

/* ---- node ---- */

static bool has_device(const struct kvc_model *model, const struct kvc_device_kind *kind)
{
    const struct kvc_model_device *device = model->devices;
    while (device->kind != NULL && device->kind != kind) {
        device++;
    }
    return device->kind != NULL;
}

/* Refuses a device that the store does not look at, as node.gpu of a store without one. */
static enum kvc_status refuse_device(const struct kvc_decoder *decoder, const struct kvc_model *model,
                                     const char *kind)
{
    char path[KVC_PATH_MAX], allowed[256] = "";
    size_t used = 0;
    for (const struct kvc_model_device *device = model->devices; device->kind != NULL; device++) {
        if (used < sizeof(allowed)) {
            used += (size_t)snprintf(allowed + used, sizeof(allowed) - used, "%s%s", used > 0 ? ", " : "",
                                     device->kind->name);
        }
    }
    kvc_decode_join(path, "node", kind);
    return kvc_decode_fail(decoder, path, "%s: %s has none, its nodes have %s", path, model->name, allowed);
}

/* Reads the devices that the store looks at from the table on top of the stack. */
static enum kvc_status decode_devices(const struct kvc_decoder *decoder, const struct kvc_model *model,
                                      const char *machine, struct kvc_node *node)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        if (!has_device(model, kvc_device_kinds[i]) &&
            kvc_decode_has(decoder->lua, -1, kvc_device_kinds[i]->name)) {
            return refuse_device(decoder, model, kvc_device_kinds[i]->name);
        }
    }
    for (const struct kvc_model_device *device = model->devices; status == KVC_OK && device->kind != NULL;
         device++) {
        lua_pushstring(decoder->lua, device->kind->name);
        lua_rawget(decoder->lua, -2);
        status = kvc_hardware_decode(decoder, device->kind, device->profile, machine, node);
        if (status == KVC_OK) {
            lua_pop(decoder->lua, 1);
        }
    }
    return status;
}

static enum kvc_status decode_node(const struct kvc_decoder *decoder, int root, const struct kvc_model *model,
                                   struct kvc_node *node)
{
    const char *extra[KVC_DEVICE_KINDS_MAX + 2] = {"machine"};
    char machine[KVC_TEXT_MAX] = "";
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        extra[i + 1] = kvc_device_kinds[i]->name;
    }
    enum kvc_status status = push_section(decoder, root, "node");
    if (status != KVC_OK) {
        return status;
    }
    kvc_option_table_set_defaults(&kvc_node_option_table, node);
    status = kvc_decode_table(
        decoder, -1,
        &(struct kvc_table){
            .path = "node", .options = &kvc_node_option_table, .object = node, .extra = extra});
    if (status == KVC_OK && !model->has_sockets && kvc_decode_has(decoder->lua, -1, "sockets")) {
        kvc_decode_warn(decoder, "node.sockets", "node.sockets has no effect with %s", model->name);
    }
    if (status == KVC_OK && kvc_decode_has(decoder->lua, -1, "machine")) {
        lua_pushliteral(decoder->lua, "machine");
        lua_rawget(decoder->lua, -2);
        status =
            kvc_decode_text(decoder, "node.machine", "the name of a machine file, as calibrate writes it",
                            machine, sizeof(machine));
        if (status == KVC_OK) {
            lua_pop(decoder->lua, 1);
        }
    }
    if (status == KVC_OK) {
        status = decode_devices(decoder, model, machine, node);
    }
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}

/* ---- workload ---- */

/* What absent workload keys mean and where that is from. */
struct presets {
    const char *source[WORKLOAD_ROWS_MAX];
    char label[WORKLOAD_ROWS_MAX][KVC_PROFILE_NAME_MAX];
    size_t labels;
};

static void note_preset(struct presets *presets, const struct kvc_workload *before,
                        const struct kvc_workload *after, const struct kvc_workload_preset *preset)
{
    if (presets->labels == WORKLOAD_ROWS_MAX) {
        return;
    }
    char *label = presets->label[presets->labels++];
    snprintf(label, sizeof(presets->label[0]), "preset %s", preset->name);
    for (size_t i = 0; i < kvc_workload_option_table.count && i < WORKLOAD_ROWS_MAX; i++) {
        size_t offset = kvc_workload_option_table.rows[i].offset;
        bool mix = offset == offsetof(struct kvc_workload, get_frac) ||
                   offset == offsetof(struct kvc_workload, set_frac) ||
                   offset == offsetof(struct kvc_workload, delete_frac);
        bool size =
            offset == offsetof(struct kvc_workload, sizes) ||
            (preset->sizes == KVC_SIZES_FIXED && (offset == offsetof(struct kvc_workload, key_bytes) ||
                                                  offset == offsetof(struct kvc_workload, value_bytes)));
        if ((mix && preset->has_mix) || (size && preset->has_sizes) ||
            memcmp((const char *)before + offset, (const char *)after + offset, sizeof(int)) != 0) {
            presets->source[i] = label;
        }
    }
}

static enum kvc_status apply_preset(const struct kvc_decoder *decoder, const char *path,
                                    struct kvc_workload *workload, struct presets *presets)
{
    char name[KVC_PROFILE_NAME_MAX];
    struct kvc_diag inner = {0};
    struct kvc_workload before = *workload;
    enum kvc_status status = kvc_decode_text(decoder, path, "the name of a preset", name, sizeof(name));
    if (status != KVC_OK) {
        return status;
    }
    if (kvc_workload_apply_preset(workload, name, &inner) != KVC_OK) {
        return kvc_decode_fail(decoder, path, "%s", inner.message);
    }
    note_preset(presets, &before, workload, kvc_workload_preset_find(name));
    return KVC_OK;
}

/* workload.preset: one name or a list of them, applied in order. */
static enum kvc_status apply_presets(const struct kvc_decoder *decoder, struct kvc_workload *workload,
                                     struct presets *presets)
{
    lua_State *lua = decoder->lua;
    char path[KVC_PATH_MAX], number[24];
    enum kvc_status status = KVC_OK;
    lua_pushliteral(lua, "preset");
    lua_rawget(lua, -2);
    if (lua_istable(lua, -1)) {
        size_t length = lua_rawlen(lua, -1);
        for (size_t i = 1; status == KVC_OK && i <= length; i++) {
            snprintf(number, sizeof(number), "%zu", i);
            kvc_decode_join(path, "workload.preset", number);
            lua_rawgeti(lua, -1, (lua_Integer)i);
            status = apply_preset(decoder, path, workload, presets);
            if (status == KVC_OK) {
                lua_pop(lua, 1);
            }
        }
    } else if (!lua_isnil(lua, -1)) {
        status = apply_preset(decoder, "workload.preset", workload, presets);
    }
    if (status == KVC_OK) {
        lua_pop(lua, 1);
    }
    return status;
}

static double rounded_rest(double a, double b)
{
    return round((1 - a - b) * 1e12) * 1e-12;
}

/* One or two given shares decide the others: GET and SET share what is left over. */
static enum kvc_status complete_mix(const struct kvc_decoder *decoder, struct kvc_workload *workload)
{
    bool get = kvc_decode_has(decoder->lua, -1, "get"), set = kvc_decode_has(decoder->lua, -1, "set");
    bool deletes = kvc_decode_has(decoder->lua, -1, "delete");
    double *rest;
    const char *path, *source;
    char text[48];
    if (get && !set) {
        if (!deletes) {
            workload->delete_frac = 0;
        }
        workload->set_frac = rounded_rest(workload->get_frac, workload->delete_frac);
        rest = &workload->set_frac, path = "workload.set", source = "1 - get - delete";
    } else if (!get && (set || deletes)) {
        if (!deletes) {
            workload->delete_frac = 0;
        }
        workload->get_frac = rounded_rest(workload->set_frac, workload->delete_frac);
        rest = &workload->get_frac, path = "workload.get", source = "1 - set - delete";
    } else {
        return KVC_OK;
    }
    if (*rest < 0) {
        return kvc_decode_fail(
            decoder, get ? "workload.get" : "workload.delete",
            "workload.get = %g, set = %g and delete = %g: one is below 0; they must add up to 1",
            workload->get_frac, workload->set_frac, workload->delete_frac);
    }
    kvc_quantity_print(*rest, KVC_UNIT_NONE, text, sizeof(text));
    enum kvc_status status = kvc_decode_record(decoder, path, text, true, source, false);
    if (status == KVC_OK && !deletes) {
        kvc_quantity_print(workload->delete_frac, KVC_UNIT_NONE, text, sizeof(text));
        status = kvc_decode_record(decoder, "workload.delete", text, true, source, false);
    }
    return status;
}

static enum kvc_status decode_dist(const struct kvc_decoder *decoder, struct kvc_workload *workload)
{
    static const char *const names[] = {"uniform", "zipf", NULL};
    lua_State *lua = decoder->lua;
    char shown[80], suggestion[96] = "";
    workload->popularity = KVC_POPULARITY_UNIFORM;
    lua_pushliteral(lua, "dist");
    int type = lua_rawget(lua, -2);
    if (type == LUA_TNIL) {
        lua_pop(lua, 1);
        return kvc_decode_record(decoder, "workload.dist", "uniform", false, "default", false);
    }
    const char *word = type == LUA_TSTRING ? lua_tostring(lua, -1) : "";
    bool zipf = strcmp(word, "zipf") == 0;
    if (strcmp(word, "uniform") == 0) {
        lua_pop(lua, 1);
        return kvc_decode_record(decoder, "workload.dist", "uniform", false,
                                 kvc_decode_origin(decoder, "workload.dist"), false);
    }
    if (type != LUA_TTABLE && !zipf) {
        kvc_decode_suggest(word, names, suggestion, sizeof(suggestion));
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(
            decoder, "workload.dist",
            "workload.dist: found %s%s%s allowed: \"uniform\", \"zipf\" or { zipf = 0.99 }", shown,
            suggestion, suggestion[0] != '\0' ? "" : ",");
    }
    if (zipf) {
        lua_newtable(lua);
    }
    workload->popularity = KVC_POPULARITY_ZIPF;
    kvc_option_table_set_defaults(&kvc_dist_option_table, workload);
    enum kvc_status status = kvc_decode_table(
        decoder, -1,
        &(struct kvc_table){.path = "workload.dist", .options = &kvc_dist_option_table, .object = workload});
    if (status == KVC_OK) {
        lua_pop(lua, zipf ? 2 : 1);
    }
    return status;
}

/* Which arrival each key of the table stands for. */
static const struct {
    const char *key;
    enum kvc_arrival arrival;
} arrival_kinds[] = {
    {"poisson_mops", KVC_ARRIVAL_POISSON}, {"fixed_mops", KVC_ARRIVAL_FIXED}, {"clients", KVC_ARRIVAL_CLOSED},
    {"curve", KVC_ARRIVAL_CURVE},          {"trace", KVC_ARRIVAL_TRACE},
};

#define ARRIVAL_ALLOWED                                                                                      \
    "\"saturate\", { poisson_mops = 50 }, { fixed_mops = 50 }, { clients = 1000, think = \"0us\" }, "        \
    "{ curve = { { time = \"0us\", rate = 10 }, ... } } or { trace = \"file.csv\" }"

static enum kvc_status pick_arrival(const struct kvc_decoder *decoder, struct kvc_workload *workload)
{
    const char *found = NULL;
    char path[KVC_PATH_MAX];
    for (size_t i = 0; i < sizeof(arrival_kinds) / sizeof(*arrival_kinds); i++) {
        const char *key = arrival_kinds[i].key;
        if (!kvc_decode_has(decoder->lua, -1, key)) {
            continue;
        }
        kvc_decode_join(path, "workload.arrival", key);
        if (found != NULL) {
            return kvc_decode_fail(
                decoder, path, "workload.arrival: found both %s and %s, allowed: one of them", found, key);
        }
        found = key;
        workload->arrival = arrival_kinds[i].arrival;
    }
    if (found == NULL) {
        return kvc_decode_fail(decoder, "workload.arrival",
                               "workload.arrival names no kind, allowed: " ARRIVAL_ALLOWED);
    }
    if (kvc_decode_has(decoder->lua, -1, "think") && workload->arrival != KVC_ARRIVAL_CLOSED) {
        return kvc_decode_fail(decoder, "workload.arrival.think",
                               "workload.arrival.think has no effect with %s; it belongs to clients", found);
    }
    return KVC_OK;
}

/* Traces are named relative to the scenario. */
static enum kvc_status resolve_trace(const struct kvc_decoder *decoder, struct kvc_workload *workload)
{
    char resolved[2 * KVC_TEXT_MAX];
    const char *scenario = kvc_sandbox_file(decoder->sandbox), *slash = strrchr(scenario, '/');
    int folder = slash != NULL && workload->trace[0] != '/' ? (int)(slash + 1 - scenario) : 0;
    int bytes = snprintf(resolved, sizeof(resolved), "%.*s%s", folder, scenario, workload->trace);
    if (bytes >= KVC_TEXT_MAX) {
        return kvc_decode_fail(decoder, "workload.arrival.trace",
                               "workload.arrival.trace: the path is longer than %d bytes", KVC_TEXT_MAX - 1);
    }
    memcpy(workload->trace, resolved, (size_t)bytes + 1);
    if (access(workload->trace, R_OK) != 0) {
        return kvc_decode_fail(decoder, "workload.arrival.trace",
                               "workload.arrival.trace: %.200s cannot be read: %s", workload->trace,
                               strerror(errno));
    }
    return KVC_OK;
}

static enum kvc_status decode_arrival_table(const struct kvc_decoder *decoder, struct kvc_workload *workload)
{
    enum kvc_status status = kvc_decode_table(decoder, -1,
                                              &(struct kvc_table){.path = "workload.arrival",
                                                                  .options = &kvc_arrival_option_table,
                                                                  .object = workload,
                                                                  .present_only = true});
    if (status == KVC_OK) {
        status = pick_arrival(decoder, workload);
    }
    if (status == KVC_OK && workload->arrival == KVC_ARRIVAL_TRACE) {
        status = resolve_trace(decoder, workload);
    }
    return status;
}

static enum kvc_status decode_arrival(const struct kvc_decoder *decoder, struct kvc_workload *workload)
{
    lua_State *lua = decoder->lua;
    char shown[80];
    const char *source = "default";
    enum kvc_status status;
    workload->arrival = KVC_ARRIVAL_SATURATE;
    lua_pushliteral(lua, "arrival");
    int type = lua_rawget(lua, -2);
    if (type == LUA_TTABLE) {
        status = decode_arrival_table(decoder, workload);
    } else {
        if (type != LUA_TNIL) {
            if (type != LUA_TSTRING || strcmp(lua_tostring(lua, -1), "saturate") != 0) {
                kvc_decode_show(lua, -1, shown, sizeof(shown));
                return kvc_decode_fail(decoder, "workload.arrival",
                                       "workload.arrival: found %s, allowed: " ARRIVAL_ALLOWED, shown);
            }
            source = kvc_decode_origin(decoder, "workload.arrival");
        }
        status = kvc_decode_record(decoder, "workload.arrival", "saturate", false, source, false);
    }
    if (status == KVC_OK) {
        lua_pop(lua, 1);
    }
    return status;
}

static void warn_without_effect(const struct kvc_decoder *decoder, const char *const *keys, const char *why)
{
    char path[KVC_PATH_MAX];
    for (; *keys != NULL; keys++) {
        if (!kvc_decode_has(decoder->lua, -1, *keys)) {
            continue;
        }
        kvc_decode_join(path, "workload", *keys);
        kvc_decode_warn(decoder, path, "%s has no effect %s", path, why);
    }
}

static enum kvc_status decode_workload(const struct kvc_decoder *decoder, int root,
                                       struct kvc_workload *workload)
{
    static const char *const extra[] = {"preset", "dist", "arrival", NULL};
    static const char *const fixed_only[] = {"key", "value", NULL};
    static const char *const not_traced[] = {"sizes",  "key",  "value",     "get",    "set",
                                             "delete", "dist", "per_frame", "preset", NULL};
    struct presets presets = {.labels = 0};
    enum kvc_status status = push_section(decoder, root, "workload");
    if (status != KVC_OK) {
        return status;
    }
    kvc_option_table_set_defaults(&kvc_workload_option_table, workload);
    status = apply_presets(decoder, workload, &presets);
    if (status == KVC_OK) {
        status = kvc_decode_table(decoder, -1,
                                  &(struct kvc_table){.path = "workload",
                                                      .options = &kvc_workload_option_table,
                                                      .object = workload,
                                                      .extra = extra,
                                                      .absent_source = presets.source});
    }
    if (status == KVC_OK) {
        status = complete_mix(decoder, workload);
    }
    if (status == KVC_OK) {
        status = decode_dist(decoder, workload);
    }
    if (status == KVC_OK) {
        status = decode_arrival(decoder, workload);
    }
    if (status != KVC_OK) {
        return status;
    }
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        warn_without_effect(decoder, not_traced, "when a trace is replayed");
    } else if (workload->sizes != KVC_SIZES_FIXED) {
        warn_without_effect(decoder, fixed_only, "unless workload.sizes is \"fixed\"");
    }
    lua_pop(decoder->lua, 1);
    return KVC_OK;
}

/* ---- run, slo ---- */

static enum kvc_status decode_run(const struct kvc_decoder *decoder, int root, struct kvc_run *run)
{
    enum kvc_status status = decode_plain(decoder, root, &kvc_run_option_table, "run", run);
    if (status != KVC_OK || run->functional == KVC_FUNCTIONAL_SAMPLED) {
        return status;
    }
    status = push_section(decoder, root, "run");
    for (size_t i = 0; status == KVC_OK && i < kvc_run_option_table.count; i++) {
        const struct kvc_option *row = &kvc_run_option_table.rows[i];
        char path[KVC_PATH_MAX];
        if ((row->offset != offsetof(struct kvc_run, sample_rate) &&
             row->offset != offsetof(struct kvc_run, sample_bytes)) ||
            !kvc_decode_has(decoder->lua, -1, row->name)) {
            continue;
        }
        kvc_decode_join(path, "run", row->name);
        kvc_decode_warn(decoder, path, "%s has no effect unless run.functional is \"sampled\"", path);
    }
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}

static enum kvc_status decode_slo(const struct kvc_decoder *decoder, int root, struct kvc_slo *slo)
{
    *slo = (struct kvc_slo){NAN, NAN, NAN, NAN};
    enum kvc_status status = push_section(decoder, root, "slo");
    if (status == KVC_OK) {
        status = kvc_decode_table(
            decoder, -1,
            &(struct kvc_table){
                .path = "slo", .options = &kvc_slo_option_table, .object = slo, .present_only = true});
    }
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}

/* ---- sweep ---- */

/* The scalar at the top of the stack as an override would write it. */
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

/* The list of values at the top of the stack. */
static enum kvc_status decode_axis(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis)
{
    lua_State *lua = decoder->lua;
    char path[KVC_PATH_MAX], shown[80];
    kvc_decode_join(path, "sweep", axis->path);
    size_t length = lua_istable(lua, -1) ? lua_rawlen(lua, -1) : 0;
    if (length == 0 || length > AXIS_VALUES_MAX) {
        return kvc_decode_fail(decoder, path, "sweep of %s: allowed is a list of 1 to %d values", axis->path,
                               AXIS_VALUES_MAX);
    }
    axis->value = calloc(length, sizeof(*axis->value));
    if (axis->value == NULL) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    for (; axis->count < length; axis->count++) {
        lua_rawgeti(lua, -1, (lua_Integer)axis->count + 1);
        if (!scalar_text(lua, axis->value[axis->count])) {
            kvc_decode_show(lua, -1, shown, sizeof(shown));
            return kvc_decode_fail(decoder, path,
                                   "sweep of %s: value %u is %s, allowed: a number, a text, true or false",
                                   axis->path, axis->count + 1, shown);
        }
        lua_pop(lua, 1);
    }
    return KVC_OK;
}

/* Where the axis is written; those that the lexer cannot find come last. */
static size_t axis_offset(const struct kvc_decoder *decoder, const char *name)
{
    char path[KVC_PATH_MAX];
    size_t bytes;
    const char *source = kvc_sandbox_source(decoder->sandbox, &bytes);
    kvc_decode_join(path, "sweep", name);
    struct kvc_location location = kvc_locate(source, bytes, path);
    return location.exact ? location.offset : bytes;
}

/* Inserts an axis so that they stay in written order, then by name. */
static struct kvc_sweep_axis *insert_axis(const struct kvc_decoder *decoder, struct kvc_sweep *sweep,
                                          const char *name)
{
    size_t offset = axis_offset(decoder, name);
    uint32_t at = sweep->count;
    for (; at > 0; at--) {
        const char *before = sweep->axis[at - 1].path;
        size_t other = axis_offset(decoder, before);
        if (other < offset || (other == offset && strcmp(before, name) < 0)) {
            break;
        }
        sweep->axis[at] = sweep->axis[at - 1];
    }
    sweep->count++;
    memset(&sweep->axis[at], 0, sizeof(sweep->axis[at]));
    strcpy(sweep->axis[at].path, name);
    return &sweep->axis[at];
}

static enum kvc_status decode_sweep(const struct kvc_decoder *decoder, int root, struct kvc_sweep *sweep)
{
    lua_State *lua = decoder->lua;
    char shown[80];
    enum kvc_status status = push_section(decoder, root, "sweep");
    if (status != KVC_OK) {
        return status;
    }
    int table = lua_gettop(lua);
    sweep->axis = calloc(AXES_MAX, sizeof(*sweep->axis));
    if (sweep->axis == NULL) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    for (lua_pushnil(lua); lua_next(lua, table) != 0; lua_pop(lua, 1)) {
        if (lua_type(lua, -2) != LUA_TSTRING || lua_rawlen(lua, -2) >= KVC_PATH_MAX - sizeof("sweep.")) {
            kvc_decode_show(lua, -2, shown, sizeof(shown));
            return kvc_decode_fail(decoder, "sweep",
                                   "sweep: found the key %s, allowed: paths such as [\"system.cycle\"]",
                                   shown);
        }
        if (sweep->count == AXES_MAX) {
            return kvc_decode_fail(decoder, "sweep", "sweep: allowed are up to %d paths", AXES_MAX);
        }
        status = decode_axis(decoder, insert_axis(decoder, sweep, lua_tostring(lua, -2)));
        if (status != KVC_OK) {
            return status;
        }
    }
    lua_pop(lua, 1);
    return KVC_OK;
}

/* ---- overrides ---- */

static void push_key(lua_State *lua, const char *name, size_t bytes)
{
    if (strspn(name, "0123456789") >= bytes && bytes < 10) {
        lua_pushinteger(lua, strtol(name, NULL, 10));
    } else {
        lua_pushlstring(lua, name, bytes);
    }
}

static void push_value(lua_State *lua, const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        lua_pushboolean(lua, text[0] == 't');
    } else if (lua_stringtonumber(lua, text) == 0) {
        lua_pushstring(lua, text);
    }
}

/* Replaces the table on top by a shallow copy. */
static void copy_table(lua_State *lua)
{
    int from = lua_gettop(lua);
    lua_newtable(lua);
    for (lua_pushnil(lua); lua_next(lua, from) != 0;) {
        lua_pushvalue(lua, -2);
        lua_insert(lua, -2);
        lua_rawset(lua, from + 1);
    }
    lua_replace(lua, from);
}

static bool is_device_path(const char *path, size_t bytes)
{
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        const char *name = kvc_device_kinds[i]->name;
        if (bytes == 5 + strlen(name) && strncmp(path, "node.", 5) == 0 &&
            strncmp(path + 5, name, bytes - 5) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_path(const char *path, size_t bytes, const char *wanted)
{
    return bytes == strlen(wanted) && strncmp(path, wanted, bytes) == 0;
}

/* What an override walks into, on top of the stack: always becomes a fresh table. `bytes`: of the path so
 * far. A device named by its profile becomes that profile with fields overridden; the words of dist and
 * arrival give way. */
static bool make_table(lua_State *lua, const char *path, size_t bytes)
{
    if (lua_istable(lua, -1)) {
        copy_table(lua);
        return true;
    }
    bool device = is_device_path(path, bytes) && lua_type(lua, -1) == LUA_TSTRING;
    bool word = is_path(path, bytes, "workload.dist") || is_path(path, bytes, "workload.arrival");
    if (!lua_isnil(lua, -1) && !device && !word) {
        return false;
    }
    lua_newtable(lua);
    if (device) {
        lua_pushvalue(lua, -2);
        lua_setfield(lua, -2, "base");
    }
    lua_remove(lua, -2);
    return true;
}

/* Sets override->path of the table on top, copying what it changes: the script may use one table in several
 * places. */
static enum kvc_status apply_override(const struct kvc_decoder *decoder, const struct kvc_override *override)
{
    lua_State *lua = decoder->lua;
    const char *path = override->path, *at = path;
    int root = lua_gettop(lua);
    for (;;) {
        size_t bytes = strcspn(at, ".");
        push_key(lua, at, bytes);
        if (at[bytes] == '\0') {
            break;
        }
        lua_pushvalue(lua, -1);
        lua_rawget(lua, -3);
        if (!make_table(lua, path, (size_t)(at - path) + bytes)) {
            return kvc_diag_fail_at(decoder->diag, KVC_ERR_SCENARIO, "--set", 0,
                                    "%s: %.*s is a value in the scenario, not a table", path,
                                    (int)((at - path) + (long)bytes), path);
        }
        lua_pushvalue(lua, -2);
        lua_pushvalue(lua, -2);
        lua_rawset(lua, -5); /* the parent was copied before */
        lua_remove(lua, -2);
        at += bytes + 1;
        if (!lua_checkstack(lua, 8)) {
            return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
        }
    }
    push_value(lua, override->value);
    lua_rawset(lua, -3);
    lua_settop(lua, root);
    return KVC_OK;
}

/* Pushes the returned table with all overrides applied. */
static enum kvc_status push_root(const struct kvc_decoder *decoder)
{
    enum kvc_status status = KVC_OK;
    lua_pushvalue(decoder->lua, 1);
    copy_table(decoder->lua);
    for (uint32_t i = 0; status == KVC_OK && decoder->set != NULL && i < decoder->set->count; i++) {
        status = apply_override(decoder, &decoder->set->entry[i]);
    }
    return status;
}

/* ---- the whole ---- */

static enum kvc_status decode_scenario(const struct kvc_decoder *decoder, int root)
{
    static const char *const sections[] = {"name", "system", "node", "cluster", "workload",
                                           "run",  "sweep",  "slo",  NULL};
    struct kvc_loaded *loaded = decoder->loaded;
    struct kvc_scenario *scenario = &loaded->scenario;
    enum kvc_status status =
        kvc_decode_table(decoder, root, &(struct kvc_table){.path = "", .extra = sections});
    if (status == KVC_OK) {
        status = decode_name(decoder, root, scenario);
    }
    if (status == KVC_OK) {
        status = decode_system(decoder, root, scenario);
    }
    if (status == KVC_OK) {
        status = decode_node(decoder, root, scenario->model, &scenario->node);
    }
    if (status == KVC_OK) {
        status = decode_plain(decoder, root, &kvc_cluster_option_table, "cluster", &scenario->cluster);
    }
    if (status == KVC_OK) {
        status = decode_workload(decoder, root, &scenario->workload);
    }
    if (status == KVC_OK) {
        status = decode_run(decoder, root, &scenario->run);
    }
    return status;
}

/* A model or the workload found something; its message starts with the path that it is about, if with any. */
static enum kvc_status fail_check(const struct kvc_decoder *decoder, const char *section,
                                  const struct kvc_diag *inner)
{
    char path[KVC_PATH_MAX];
    size_t bytes = strspn(inner->message, "abcdefghijklmnopqrstuvwxyz_0123456789.");
    bool is_named = memchr(inner->message, '.', bytes) != NULL && bytes < sizeof(path);
    while (bytes > 0 && inner->message[bytes - 1] == '.') {
        bytes--;
    }
    snprintf(path, sizeof(path), "%.*s", is_named ? (int)bytes : (int)strlen(section),
             is_named ? inner->message : section);
    if (inner->status != KVC_ERR_SCENARIO || inner->file[0] != '\0') {
        *decoder->diag = *inner;
        return inner->status;
    }
    return kvc_decode_fail(decoder, path, "%s", inner->message);
}

static enum kvc_status check_scenario(const struct kvc_decoder *decoder)
{
    const struct kvc_scenario *scenario = &decoder->loaded->scenario;
    struct kvc_diag inner = {0};
    if (kvc_workload_check(&scenario->workload, &inner) != KVC_OK) {
        return fail_check(decoder, "workload", &inner);
    }
    if (kvc_run_check(&scenario->run, scenario->workload.keys, &inner) != KVC_OK) {
        return fail_check(decoder, "run", &inner);
    }
    if (scenario->model->check != NULL && scenario->model->check(scenario, &inner) != KVC_OK) {
        return fail_check(decoder, "system", &inner);
    }
    return KVC_OK;
}

/* Every value of every axis on its own must decode; whether combinations fit is seen when they are run. */
static enum kvc_status check_sweep(const struct kvc_decoder *decoder, const struct kvc_sweep *sweep)
{
    int base = lua_gettop(decoder->lua);
    for (uint32_t i = 0; i < sweep->count; i++) {
        const struct kvc_sweep_axis *axis = &sweep->axis[i];
        for (uint32_t j = 0; j < axis->count; j++) {
            struct kvc_diag inner = {0};
            struct kvc_overrides set = {0};
            struct kvc_decoder trial = *decoder;
            char path[KVC_PATH_MAX + 32];
            trial.loaded = calloc(1, sizeof(*trial.loaded));
            trial.diag = &inner;
            trial.set = &set;
            enum kvc_status status = trial.loaded != NULL ? KVC_OK : KVC_ERR_RUNTIME;
            for (uint32_t k = 0; status == KVC_OK && decoder->set != NULL && k < decoder->set->count; k++) {
                status = kvc_overrides_add(&set, decoder->set->entry[k].path, decoder->set->entry[k].value,
                                           &inner);
            }
            if (status == KVC_OK) {
                status = kvc_overrides_add(&set, axis->path, axis->value[j], &inner);
            }
            if (status == KVC_OK) {
                status = push_root(&trial);
            }
            if (status == KVC_OK) {
                status = decode_scenario(&trial, base + 1);
            }
            kvc_overrides_clear(&set);
            kvc_loaded_free(trial.loaded);
            lua_settop(decoder->lua, base);
            if (status == KVC_OK) {
                continue;
            }
            snprintf(path, sizeof(path), "sweep.%s.%u", axis->path, j + 1);
            return kvc_decode_fail(decoder, path, "sweep of %s, value \"%.60s\": %.800s", axis->path,
                                   axis->value[j], inner.message);
        }
    }
    return KVC_OK;
}

static enum kvc_status decode_all(lua_State *lua, void *data)
{
    struct kvc_decoder *decoder = data;
    decoder->lua = lua;
    if (!lua_checkstack(lua, 128)) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    enum kvc_status status = push_root(decoder);
    if (status == KVC_OK) {
        status = decode_scenario(decoder, 2);
    }
    if (status == KVC_OK) {
        status = decode_slo(decoder, 2, &decoder->loaded->slo);
    }
    if (status == KVC_OK) {
        status = decode_sweep(decoder, 2, &decoder->loaded->sweep);
    }
    if (status == KVC_OK) {
        status = check_scenario(decoder);
    }
    if (status == KVC_OK) {
        status = check_sweep(decoder, &decoder->loaded->sweep);
    }
    return status;
}

enum kvc_status kvc_scenario_load(const char *path, const struct kvc_overrides *set, struct kvc_loaded **out,
                                  struct kvc_diag *diag)
{
    struct kvc_diag unused = {0};
    struct kvc_sandbox *sandbox;
    *out = NULL;
    if (diag == NULL) {
        diag = &unused;
    }
    if (strlen(path) >= KVC_TEXT_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path %.100s... is longer than %d bytes", path,
                             KVC_TEXT_MAX - 1);
    }
    enum kvc_status status = kvc_sandbox_run(path, &sandbox, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_loaded *loaded = calloc(1, sizeof(*loaded));
    if (loaded == NULL) {
        kvc_sandbox_free(sandbox);
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    }
    strcpy(loaded->scenario.file, path);
    struct kvc_decoder decoder = {
        .sandbox = sandbox, .set = set, .loaded = loaded, .prefix = "", .diag = diag};
    status = kvc_sandbox_protect(sandbox, decode_all, &decoder, diag);
    kvc_sandbox_free(sandbox);
    if (status != KVC_OK) {
        kvc_loaded_free(loaded);
        return status;
    }
    *out = loaded;
    return KVC_OK;
}
