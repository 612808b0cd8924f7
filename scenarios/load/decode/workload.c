#include <errno.h>
#include <lua.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/registry.h"
#include "scenarios/load/decode/hardware.h"
#include "scenarios/load/decode/sections.h"
#include "sim/workload/tenants.h"
#include "sim/workload/workload.h"

enum { WORKLOAD_ROWS_MAX = 32 };

/* Sources of the values of absent workload keys. */
struct presets {
    const char *source[WORKLOAD_ROWS_MAX];
    char label[WORKLOAD_ROWS_MAX][KVC_PROFILE_NAME_MAX];
    size_t labels;
    char popularity[KVC_PROFILE_NAME_MAX]; /* Preset that sets the popularity; empty: none does. */
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

/* Records the actions of a preset, which a scenario's own list replaces. */
static enum kvc_status record_actions(const struct kvc_decoder *decoder,
                                      const struct kvc_workload_preset *preset)
{
    char path[KVC_PATH_MAX], frac[48], source[KVC_PROFILE_NAME_MAX];
    enum kvc_status status = KVC_OK;
    snprintf(source, sizeof(source), "preset %s", preset->name);
    for (uint32_t i = 0; status == KVC_OK && i < preset->action_count; i++) {
        const struct kvc_action *action = &preset->actions[i];
        kvc_quantity_print(action->frac, KVC_UNIT_NONE, frac, sizeof(frac));
        snprintf(path, sizeof(path), "workload.actions.%u.name", i + 1);
        status = kvc_decode_record(decoder, path, action->name, false, source, false);
        if (status == KVC_OK) {
            snprintf(path, sizeof(path), "workload.actions.%u.frac", i + 1);
            status = kvc_decode_record(decoder, path, frac, true, source, false);
        }
        if (status == KVC_OK) {
            snprintf(path, sizeof(path), "workload.actions.%u.invalidates", i + 1);
            status = kvc_decode_record(decoder, path, action->invalidates, false, source, false);
        }
    }
    return status;
}

static enum kvc_status apply_preset(const struct kvc_decoder *decoder, const char *path,
                                    struct kvc_workload *workload, struct presets *presets)
{
    char name[KVC_PROFILE_NAME_MAX];
    struct kvc_diag inner = {0};
    const struct kvc_workload_preset *preset;
    struct kvc_workload before = *workload;
    enum kvc_status status = kvc_decode_text(decoder, path, "the name of a preset", name, sizeof(name));
    if (status != KVC_OK) {
        return status;
    }
    if (kvc_workload_preset_choose(kvc_workload_preset_lists, name, &preset, &inner) != KVC_OK) {
        return kvc_decode_fail(decoder, path, "%s", inner.message);
    }
    kvc_workload_preset_apply(preset, workload);
    note_preset(presets, &before, workload, preset);
    if (preset->has_popularity) {
        snprintf(presets->popularity, sizeof(presets->popularity), "preset %s", preset->name);
    }
    return record_actions(decoder, preset);
}

/* Applies workload.preset, which is one name or a list of names, in order. */
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
        if (length > WORKLOAD_ROWS_MAX) {
            return kvc_decode_fail(decoder, "workload.preset",
                                   "workload.preset: found %zu names, allowed: up to %d", length,
                                   WORKLOAD_ROWS_MAX);
        }
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

/* Derives the shares that the scenario does not state: the rest goes to SET if GET is stated, else to GET. */
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

/* Records a popularity that the scenario does not state: a preset's, or the default. */
static enum kvc_status record_dist(const struct kvc_decoder *decoder, const struct kvc_workload *workload,
                                   const struct presets *presets)
{
    const char *source = presets->popularity[0] != '\0' ? presets->popularity : "default";
    char exponent[48];
    if (workload->popularity == KVC_POPULARITY_UNIFORM) {
        return kvc_decode_record(decoder, "workload.dist", "uniform", false, source, false);
    }
    kvc_quantity_print(workload->zipf_s, KVC_UNIT_NONE, exponent, sizeof(exponent));
    return kvc_decode_record(decoder, "workload.dist.zipf", exponent, true, source, false);
}

static enum kvc_status decode_dist(const struct kvc_decoder *decoder, struct kvc_workload *workload,
                                   const struct presets *presets)
{
    static const char *const names[] = {"uniform", "zipf", NULL};
    lua_State *lua = decoder->lua;
    char shown[80], suggestion[96] = "";
    lua_pushliteral(lua, "dist");
    int type = lua_rawget(lua, -2);
    if (type == LUA_TNIL) {
        lua_pop(lua, 1);
        return record_dist(decoder, workload, presets);
    }
    const char *word = type == LUA_TSTRING ? lua_tostring(lua, -1) : "";
    bool zipf = strcmp(word, "zipf") == 0;
    if (strcmp(word, "uniform") == 0) {
        lua_pop(lua, 1);
        workload->popularity = KVC_POPULARITY_UNIFORM;
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

/* Keys of the table workload.arrival, each with the kind of arrival that it stands for. */
static const struct {
    const char *key;
    enum kvc_arrival arrival;
} arrival_kinds[] = {
    {"poisson_mops", KVC_ARRIVAL_POISSON}, {"fixed_mops", KVC_ARRIVAL_FIXED}, {"clients", KVC_ARRIVAL_CLOSED},
    {"curve", KVC_ARRIVAL_CURVE},          {"mmpp", KVC_ARRIVAL_MMPP},        {"trace", KVC_ARRIVAL_TRACE},
};

/* Keys that only one kind of arrival has. */
static const struct {
    const char *key;
    int arrival; /* enum kvc_arrival */
} arrival_details[] = {
    {"think", KVC_ARRIVAL_CLOSED}, {"speed", KVC_ARRIVAL_TRACE},  {"mops", KVC_ARRIVAL_TRACE},
    {"copies", KVC_ARRIVAL_TRACE}, {"sample", KVC_ARRIVAL_TRACE}, {"bursts", KVC_ARRIVAL_POISSON},
};

#define ARRIVAL_ALLOWED                                                                                        \
    "\"saturate\", { poisson_mops = 50 }, { fixed_mops = 50 }, { clients = 1000, think = \"0us\" }, "          \
    "{ curve = { { time = \"0us\", rate = 10 }, ... } }, { mmpp = { { rate = 10, length = \"9ms\" }, ... } } " \
    "or { trace = \"file.csv\" }"

/* Returns the key of a kind of arrival. */
static const char *owner_of(int arrival)
{
    size_t i = 0;
    while ((int)arrival_kinds[i].arrival != arrival) {
        i++;
    }
    return arrival_kinds[i].key;
}

/* Refuses two kinds of arrival. Who sets one from outside learns how to take away that of the file. */
static enum kvc_status fail_both(const struct kvc_decoder *decoder, const char *one, const char *other)
{
    char first[KVC_PATH_MAX], second[KVC_PATH_MAX];
    kvc_decode_join(first, "workload.arrival", one);
    kvc_decode_join(second, "workload.arrival", other);
    bool is_set = strcmp(kvc_decode_origin(decoder, first), "--set") == 0 ||
                  strcmp(kvc_decode_origin(decoder, second), "--set") == 0;
    return kvc_decode_fail(
        decoder, second, "workload.arrival: found both %s and %s, allowed: one of them%s", one, other,
        is_set ? "; --set workload.arrival=saturate in front takes the other one away" : "");
}

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
            return fail_both(decoder, found, key);
        }
        found = key;
        workload->arrival = arrival_kinds[i].arrival;
    }
    if (found == NULL) {
        return kvc_decode_fail(decoder, "workload.arrival",
                               "workload.arrival names no kind, allowed: " ARRIVAL_ALLOWED);
    }
    for (size_t i = 0; i < sizeof(arrival_details) / sizeof(*arrival_details); i++) {
        const char *key = arrival_details[i].key;
        if (kvc_decode_has(decoder->lua, -1, key) && workload->arrival != arrival_details[i].arrival) {
            kvc_decode_join(path, "workload.arrival", key);
            return kvc_decode_fail(decoder, path, "%s has no effect with %s; it belongs to %s", path, found,
                                   owner_of(arrival_details[i].arrival));
        }
    }
    if (kvc_decode_has(decoder->lua, -1, "misses") && workload->arrival == KVC_ARRIVAL_CLOSED) {
        return kvc_decode_fail(
            decoder, "workload.arrival.misses",
            "workload.arrival.misses has no effect with clients; it belongs to an open loop or a trace");
    }
    if (kvc_decode_has(decoder->lua, -1, "speed") && kvc_decode_has(decoder->lua, -1, "mops")) {
        return kvc_decode_fail(decoder, "workload.arrival.mops",
                               "workload.arrival: found both speed and mops, allowed: one of them");
    }
    if (workload->burst_count > 0) {
        workload->arrival = KVC_ARRIVAL_BURSTS;
    }
    return KVC_OK;
}

/* Turns the path of the trace, which is relative to the scenario, into one that can be opened. */
static enum kvc_status resolve_trace(const struct kvc_decoder *decoder, struct kvc_workload *workload)
{
    char resolved[2 * KVC_TEXT_MAX];
    const char *scenario = kvc_sandbox_file(decoder->sandbox);
    int folder = workload->trace.path[0] != '/' ? kvc_sandbox_folder_bytes(decoder->sandbox) : 0;
    int bytes = snprintf(resolved, sizeof(resolved), "%.*s%s", folder, scenario, workload->trace.path);
    if (workload->trace.path[0] == '\0') {
        return kvc_decode_fail(decoder, "workload.arrival.trace",
                               "workload.arrival.trace: found \"\", allowed: the path of a trace");
    }
    if (bytes >= KVC_TEXT_MAX) {
        return kvc_decode_fail(decoder, "workload.arrival.trace",
                               "workload.arrival.trace: the path is longer than %d bytes", KVC_TEXT_MAX - 1);
    }
    memcpy(workload->trace.path, resolved, (size_t)bytes + 1);
    struct stat found;
    bool is_folder = stat(workload->trace.path, &found) == 0 && S_ISDIR(found.st_mode);
    if (is_folder || access(workload->trace.path, R_OK) != 0) {
        return kvc_decode_fail(decoder, "workload.arrival.trace",
                               "workload.arrival.trace: %.200s cannot be read: %s", workload->trace.path,
                               strerror(is_folder ? EISDIR : errno));
    }
    return kvc_workload_read_trace(workload, decoder->diag);
}

static enum kvc_status decode_arrival_table(const struct kvc_decoder *decoder, struct kvc_workload *workload)
{
    workload->trace.copies = 1;
    workload->trace.sampled_frac = 1;
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
    workload->rate_of_tenants = type == LUA_TNIL && workload->tenant_count > 0;
    if (type == LUA_TTABLE) {
        status = decode_arrival_table(decoder, workload);
    } else if (workload->rate_of_tenants) {
        workload->arrival = KVC_ARRIVAL_POISSON;
        kvc_tenants_settle(workload);
        kvc_quantity_print(workload->rate_mops, KVC_UNIT_MOPS, shown, sizeof(shown));
        status = kvc_decode_record(decoder, "workload.arrival.poisson_mops", shown, true,
                                   "sum over workload.tenants", false);
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

/* Forgets the values of keys without effect that the user has not stated, such as defaults that a trace
 * replaces. */
static void forget_without_effect(const struct kvc_decoder *decoder, const char *const *keys)
{
    char path[KVC_PATH_MAX];
    for (; *keys != NULL; keys++) {
        if (!kvc_decode_has(decoder->lua, -1, *keys)) {
            kvc_decode_join(path, "workload", *keys);
            kvc_parameters_forget(&decoder->loaded->parameters, path);
        }
    }
}

enum kvc_status kvc_load_workload(const struct kvc_decoder *decoder, int root, struct kvc_workload *workload)
{
    static const char *const extra[] = {"preset", "dist", "arrival", NULL};
    static const char *const fixed_only[] = {"key", "value", NULL};
    static const char *const same_only[] = {"value", NULL};
    static const char *const not_traced[] = {"keys",    "sizes",  "key",    "value",     "get",    "set",
                                             "actions", "delete", "dist",   "per_frame", "preset", "preload",
                                             "churn",   "storms", "values", "multiget",  NULL};
    static const char *const not_phased[] = {"sizes",  "key",  "value",  "get", "set",
                                             "delete", "dist", "preset", NULL};
    static const char *const not_tenanted[] = {"keys", "sizes",  "key",  "value",  "get",
                                               "set",  "delete", "dist", "preset", NULL};
    static const char *const open_only[] = {"fill_timeout", NULL};
    struct presets presets = {.labels = 0};
    workload->popularity = KVC_POPULARITY_UNIFORM;
    enum kvc_status status = kvc_load_push_section(decoder, root, "workload");
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
        status = decode_dist(decoder, workload, &presets);
    }
    if (status == KVC_OK) {
        status = decode_arrival(decoder, workload);
    }
    if (status != KVC_OK) {
        return status;
    }
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        warn_without_effect(decoder, not_traced, "when a trace is replayed");
        forget_without_effect(decoder, not_traced);
    } else if (workload->tenant_count > 0) {
        warn_without_effect(decoder, not_tenanted, "with workload.tenants");
    } else if (workload->phase_count > 0) {
        warn_without_effect(decoder, not_phased, "with workload.phases");
    } else if (workload->sizes != KVC_SIZES_FIXED) {
        warn_without_effect(decoder, fixed_only, "unless workload.sizes is \"fixed\"");
    } else if (workload->value_count > 0) {
        warn_without_effect(decoder, same_only, "with workload.values");
    }
    if (!isfinite(kvc_workload_rate_max_mops(workload))) {
        warn_without_effect(decoder, open_only, "unless workload.arrival is an open loop");
    }
    lua_pop(decoder->lua, 1);
    return KVC_OK;
}
