#include "scenarios/load/decode/sections.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/registry.h"
#include "scenarios/load/loaded.h"
#include "sim/base/rng.h"
#include "sim/workload/workload.h"

static const struct kvc_option dist_rows[] = {
    KVC_REAL_ROW(kvc_workload, "zipf", zipf_s, KVC_UNIT_NONE, 1e-3, 10, "0.99",
                 "exponent of the Zipf distribution of keys; larger is more skewed"),
};

const struct kvc_option_table kvc_dist_option_table =
    KVC_OPTION_TABLE(kvc_workload, dist_rows, "workload.dist");

static const struct kvc_option arrival_rows[] = {
    KVC_REAL_ROW(kvc_workload, "poisson_mops", rate_mops, KVC_UNIT_MOPS, 1e-6, 1e6, NULL,
                 "open loop: frames arrive as a Poisson process; rate of requests to all nodes together"),
    KVC_REAL_ROW(kvc_workload, "fixed_mops", rate_mops, KVC_UNIT_MOPS, 1e-6, 1e6, NULL,
                 "open loop: frames arrive at equal intervals; rate of requests to all nodes together"),
    KVC_COUNT_ROW(
        kvc_workload, "clients", clients, 1, 16777216, NULL,
        "closed loop: number of clients, each of which sends its next request after its last response"),
    KVC_REAL_ROW(kvc_workload, "think", think_ns, KVC_UNIT_NS, 0, 1e12, NULL,
                 "closed loop: pause of a client between response and next request"),
    KVC_LIST_ROW(kvc_workload, "curve", curve, curve_points, &kvc_rate_curve_option_table,
                 "open loop, Poisson: the rate follows these points and is linear between them"),
    KVC_LIST_ROW(kvc_workload, "bursts", bursts, burst_count, &kvc_burst_option_table,
                 "with poisson_mops: times for which the rate is a multiple, once or again and again"),
    KVC_LIST_ROW(
        kvc_workload, "mmpp", mmpp, mmpp_states, &kvc_mmpp_option_table,
        "open loop, Markov-modulated Poisson: states that are entered in turn, the first again after the last; "
        "each has a rate and an exponentially distributed length with the given mean"),
    KVC_TEXT_ROW(
        kvc_workload, "trace", trace.path, NULL,
        "file to replay, relative to the scenario: kvcast's CSV "
        "(time_us,op,key,key_bytes,value_bytes), libCacheSim's oracleGeneral, Twitter's or CacheLib's "
        "CSV, or the log of `watch fetchers mutations deletions`; plain, gzip or zstd"),
    KVC_REAL_ROW(kvc_workload, "speed", trace.speed, KVC_UNIT_NONE, 1e-9, 1e12, NULL,
                 "trace: how many times as fast as recorded its requests come", .optional = true),
    KVC_REAL_ROW(kvc_workload, "mops", trace.mops, KVC_UNIT_MOPS, 1e-9, 1e6, NULL,
                 "trace: mean rate of its requests, to which the recorded times are scaled",
                 .optional = true),
    KVC_COUNT_ROW(
        kvc_workload, "copies", trace.copies, 1, 4096, "1",
        "trace: sets of users who do the same, each with its own keys; more need more of everything"),
    KVC_REAL_ROW(kvc_workload, "sample", trace.sampled_frac, KVC_UNIT_NONE, 1e-9, 1, "1",
                 "trace: share of its keys, chosen by their hashes, whose requests are replayed"),
    KVC_CHOICE_ROW(
        kvc_workload, "misses", trace.misses, kvc_trace_misses_names, "auto",
        "trace or open loop: what clients do when a GET misses; fill: they SET the pair at once; leave: nothing; "
        "auto: they fill if a trace records no writes, and do nothing in an open loop"),
};

const struct kvc_option_table kvc_arrival_option_table =
    KVC_OPTION_TABLE(kvc_workload, arrival_rows, "workload.arrival");

static const struct kvc_option slo_rows[] = {
    KVC_REAL_ROW(kvc_slo, "p50", p50_ns, KVC_UNIT_NS, 1, 1e12, NULL,
                 "largest allowed median latency; a smaller one needs faster or less busy devices",
                 .optional = true),
    KVC_REAL_ROW(kvc_slo, "p95", p95_ns, KVC_UNIT_NS, 1, 1e12, NULL,
                 "largest allowed 95th percentile of the latency", .optional = true),
    KVC_REAL_ROW(kvc_slo, "p99", p99_ns, KVC_UNIT_NS, 1, 1e12, NULL,
                 "largest allowed 99th percentile of the latency", .optional = true),
    KVC_REAL_ROW(kvc_slo, "p999", p999_ns, KVC_UNIT_NS, 1, 1e12, NULL,
                 "largest allowed 99.9th percentile of the latency", .optional = true),
    KVC_REAL_ROW(kvc_slo, "mops", mops, KVC_UNIT_MOPS, 1e-6, 1e6, NULL,
                 "smallest allowed throughput of all nodes together", .optional = true),
    KVC_REAL_ROW(
        kvc_slo, "loss", loss_frac, KVC_UNIT_NONE, 0, 1, NULL,
        "largest allowed share of the offered requests that are lost or stay behind, 0 to 1; 0 where a "
        "latency or a throughput is bounded",
        .optional = true),
    KVC_REAL_ROW(kvc_slo, "hit", hit_frac, KVC_UNIT_NONE, 1e-6, 1, NULL,
                 "smallest allowed share of GETs that hit, 0 to 1", .optional = true),
    KVC_REAL_ROW(
        kvc_slo, "watts", watts, KVC_UNIT_WATTS, 1e-3, 1e9, NULL,
        "largest allowed mean power of all nodes together; unknown unless every device that works states its watts",
        .optional = true),
    KVC_REAL_ROW(kvc_slo, "price", price_usd, KVC_UNIT_NONE, 1e-2, 1e12, NULL,
                 "largest allowed price of all nodes together, in US dollars", .optional = true),
    KVC_REAL_ROW(
        kvc_slo, "window", window_ns, KVC_UNIT_NS, 1, 1e13, NULL,
        "length of the windows in each of which latency, throughput, loss and hit ratio have to be within their "
        "bounds, too; a shorter one is stricter; left out: a fiftieth of the measured time if a device or the "
        "cluster changes or the load has bursts, an MMPP or storms, and otherwise no windows",
        .optional = true),
};

const struct kvc_option_table kvc_slo_option_table = KVC_OPTION_TABLE(kvc_slo, slo_rows, "slo");

enum { COPIED_KEYS_MAX = 10000 }; /* Most keys of a table that an override changes. */

static void push_key(lua_State *lua, const char *name, size_t bytes)
{
    if (strspn(name, "0123456789") >= bytes && bytes < 10) {
        lua_pushinteger(lua, strtol(name, NULL, 10));
    } else {
        lua_pushlstring(lua, name, bytes);
    }
}

void kvc_load_push_value(lua_State *lua, const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        lua_pushboolean(lua, text[0] == 't');
    } else if (lua_stringtonumber(lua, text) == 0) {
        lua_pushstring(lua, text);
    }
}

/* Returns whether a part of a path, of `bytes` characters, is a name; "-" and "_" stand for a space. */
static bool is_named(const char *part, size_t bytes, const char *name)
{
    if (strlen(name) != bytes) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        bool space = name[i] == ' ' && (part[i] == '-' || part[i] == '_');
        if (part[i] != name[i] && !space) {
            return false;
        }
    }
    return true;
}

/* Returns the number of the element with the name `part`, of `bytes` characters, in the list on top; 0: there
 * is none, or it is no list. */
static lua_Integer element_named(lua_State *lua, const char *part, size_t bytes)
{
    lua_Integer length = lua_istable(lua, -1) ? (lua_Integer)lua_rawlen(lua, -1) : 0, found = 0;
    for (lua_Integer i = 1; i <= length && i <= COPIED_KEYS_MAX && found == 0; i++) {
        int top = lua_gettop(lua);
        if (lua_rawgeti(lua, -1, i) == LUA_TTABLE) {
            kvc_decode_push(lua, -1, "name");
            found = lua_type(lua, -1) == LUA_TSTRING && is_named(part, bytes, lua_tostring(lua, -1)) ? i : 0;
        }
        lua_settop(lua, top);
    }
    return found;
}

/* Replaces the part of `bytes` characters at `at` in the path by the number of the list's element that it
 * names, if the table on top is a list with such an element. Returns the length of the part. */
static size_t number_element(lua_State *lua, char path[KVC_PATH_MAX], char *at)
{
    char rest[KVC_PATH_MAX];
    size_t bytes = strcspn(at, ".");
    lua_Integer number = element_named(lua, at, bytes);
    if (number == 0) {
        return bytes;
    }
    snprintf(rest, sizeof(rest), "%s", at + bytes);
    snprintf(at, KVC_PATH_MAX - (size_t)(at - path), "%lld%s", (long long)number, rest);
    return strcspn(at, ".");
}

/* Replaces the table on top, which is at the first `bytes` of `path`, by a shallow copy. */
static enum kvc_status copy_table(const struct kvc_decoder *decoder, const char *path, size_t bytes)
{
    lua_State *lua = decoder->lua;
    int from = lua_gettop(lua), keys = 0;
    lua_newtable(lua);
    for (lua_pushnil(lua); lua_next(lua, from) != 0;) {
        if (++keys > COPIED_KEYS_MAX) {
            char table[KVC_PATH_MAX];
            snprintf(table, sizeof(table), "%.*s", (int)bytes, path);
            return kvc_decode_fail(decoder, table, "%s has more than %d keys",
                                   bytes > 0 ? table : "the returned table", COPIED_KEYS_MAX);
        }
        lua_pushvalue(lua, -2);
        lua_insert(lua, -2);
        lua_rawset(lua, from + 1);
    }
    lua_replace(lua, from);
    return KVC_OK;
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

/* Replaces the value on top of the stack, which is inside an override's path, by a fresh table. `bytes` is
 * the length of the path up to it. A device that is named by its profile becomes that profile with overridden
 * fields; a text in dist or arrival is dropped, and so is "none" anywhere. Fails if the path leads through
 * any other value. */
static enum kvc_status make_table(const struct kvc_decoder *decoder, const char *path, size_t bytes)
{
    lua_State *lua = decoder->lua;
    if (lua_istable(lua, -1)) {
        return copy_table(decoder, path, bytes);
    }
    bool device = is_device_path(path, bytes) && lua_type(lua, -1) == LUA_TSTRING;
    bool none = lua_type(lua, -1) == LUA_TSTRING && strcmp(lua_tostring(lua, -1), "none") == 0;
    bool word = none || is_path(path, bytes, "workload.dist") || is_path(path, bytes, "workload.arrival");
    if (!lua_isnil(lua, -1) && !device && !word) {
        return kvc_diag_fail_at(decoder->diag, KVC_ERR_SCENARIO, "--set", 0,
                                "%s: %.*s is a value in the scenario, not a table", path, (int)bytes, path);
    }
    lua_newtable(lua);
    if (device) {
        lua_pushvalue(lua, -2);
        lua_setfield(lua, -2, "base");
    }
    lua_remove(lua, -2);
    return KVC_OK;
}

/* Sets override->path of the table on top. It copies every table that it changes, because the script may use
 * one table in several places. Names of elements of lists become their numbers. */
static enum kvc_status apply_override(const struct kvc_decoder *decoder, struct kvc_override *override)
{
    lua_State *lua = decoder->lua;
    char *path = override->path, *at = path;
    int root = lua_gettop(lua);
    for (;;) {
        size_t bytes = number_element(lua, path, at);
        push_key(lua, at, bytes);
        if (at[bytes] == '\0') {
            break;
        }
        lua_pushvalue(lua, -1);
        lua_rawget(lua, -3);
        enum kvc_status status = make_table(decoder, path, (size_t)(at - path) + bytes);
        if (status != KVC_OK) {
            return status;
        }
        lua_pushvalue(lua, -2);
        lua_pushvalue(lua, -2);
        lua_rawset(lua, -5); /* The parent is a copy already. */
        lua_remove(lua, -2);
        at += bytes + 1;
        if (!lua_checkstack(lua, 8)) {
            return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
        }
    }
    kvc_load_push_value(lua, override->value);
    lua_rawset(lua, -3);
    lua_settop(lua, root);
    return KVC_OK;
}

enum kvc_status kvc_load_push_root(const struct kvc_decoder *decoder)
{
    struct kvc_loaded *loaded = decoder->loaded;
    lua_pushvalue(decoder->lua, 1);
    enum kvc_status status = copy_table(decoder, "", 0);
    int root = lua_gettop(decoder->lua);
    kvc_overrides_clear(&loaded->set);
    if (status == KVC_OK) {
        status = kvc_overrides_join(&loaded->set, decoder->set, decoder->diag);
    }
    for (uint32_t i = 0; status == KVC_OK && i < loaded->set.count; i++) {
        status = apply_override(decoder, &loaded->set.entry[i]);
    }
    if (status == KVC_OK) {
        status = kvc_load_calibrated(decoder, root, &loaded->calibrated, loaded->calibrated_source);
    }
    for (uint32_t i = 0; status == KVC_OK && i < loaded->calibrated.count; i++) {
        struct kvc_override *value = &loaded->calibrated.entry[i];
        if (strcmp(kvc_decode_origin(decoder, value->path), "--set") != 0) {
            status = apply_override(decoder, value);
        }
    }
    return status;
}

enum kvc_status kvc_load_push_section(const struct kvc_decoder *decoder, int root, const char *name)
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

enum kvc_status kvc_load_plain(const struct kvc_decoder *decoder, int root,
                               const struct kvc_option_table *options, const char *path, void *object)
{
    enum kvc_status status = kvc_load_push_section(decoder, root, path);
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

/* Returns the condition under which an option of the run would have an effect, or NULL if it has one now. */
static const char *needs(const struct kvc_run *run, const struct kvc_option *option)
{
    bool of_samples = option->offset == offsetof(struct kvc_run, sample_rate) ||
                      option->offset == offsetof(struct kvc_run, sample_bytes);
    if (of_samples && run->functional != KVC_FUNCTIONAL_SAMPLED) {
        return "run.functional is \"sampled\"";
    }
    if (option->offset == offsetof(struct kvc_run, warmup_most_ns) && run->warmup_ns >= 0) {
        return "run.warmup is \"auto\"";
    }
    return NULL;
}

enum kvc_status kvc_load_run(const struct kvc_decoder *decoder, int root, struct kvc_run *run)
{
    enum kvc_status status = kvc_load_plain(decoder, root, &kvc_run_option_table, "run", run);
    if (status == KVC_OK) {
        status = kvc_load_push_section(decoder, root, "run");
    }
    if (status != KVC_OK) {
        return status;
    }
    for (size_t i = 0; i < kvc_run_option_table.count; i++) {
        const struct kvc_option *option = &kvc_run_option_table.rows[i];
        const char *needed = needs(run, option);
        char path[KVC_PATH_MAX];
        if (needed != NULL && kvc_decode_has(decoder->lua, -1, option->name)) {
            kvc_decode_join(path, "run", option->name);
            kvc_decode_warn(decoder, path, "%s has no effect unless %s", path, needed);
        }
    }
    lua_pop(decoder->lua, 1);
    return KVC_OK;
}

enum kvc_status kvc_load_slo(const struct kvc_decoder *decoder, int root, struct kvc_slo *slo)
{
    *slo = kvc_slo_none;
    slo->workload = &decoder->loaded->scenario.workload;
    enum kvc_status status = kvc_load_push_section(decoder, root, "slo");
    if (status == KVC_OK) {
        status = kvc_decode_table(
            decoder, -1,
            &(struct kvc_table){
                .path = "slo", .options = &kvc_slo_option_table, .object = slo, .present_only = true});
    }
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    decoder->loaded->scenario.run.judged = (struct kvc_spans_request){
        isnan(slo->window_ns) ? 0 : slo->window_ns, {slo->p50_ns, slo->p95_ns, slo->p99_ns, slo->p999_ns}};
    return status;
}

enum { MODELS_MAX = 64 };

enum kvc_status kvc_load_name(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario)
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

/* Writes the text that results show for the function on top of the stack: its lines, and a hash of their
 * text, so that another function is another value. */
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

enum { OF_POWER, OF_SYSTEM };

/* Takes the function out of the option `policy` of the section on top of the stack, whose number in Lua's
 * registry it returns, or LUA_NOREF. The section becomes a copy, because the script may use the table
 * elsewhere; there `word`, or the text that results show, stands for the function. */
static int take_function(const struct kvc_decoder *decoder, int which, const char *word,
                         char shown[KVC_TEXT_MAX])
{
    lua_State *lua = decoder->lua;
    int section = lua_gettop(lua);
    lua_pushliteral(lua, "policy");
    if (lua_rawget(lua, section) != LUA_TFUNCTION || lua_iscfunction(lua, -1)) {
        lua_pop(lua, 1);
        return LUA_NOREF;
    }
    char *kept = decoder->shown_policy != NULL ? decoder->shown_policy[which] : NULL;
    if (kept == NULL || kept[0] == '\0') {
        show_function(decoder, shown);
    } else { /* A sweep decodes the scenario thousands of times. */
        snprintf(shown, KVC_TEXT_MAX, "%s", kept);
    }
    if (kept != NULL) {
        snprintf(kept, KVC_TEXT_MAX, "%s", shown);
    }
    int function = luaL_ref(lua, LUA_REGISTRYINDEX);
    lua_newtable(lua);
    for (lua_pushnil(lua); lua_next(lua, section) != 0;) {
        lua_pushvalue(lua, -2);
        lua_insert(lua, -2);
        lua_rawset(lua, section + 1);
    }
    lua_pushstring(lua, word != NULL ? word : shown);
    lua_setfield(lua, -2, "policy");
    lua_replace(lua, section);
    return function;
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

enum kvc_status kvc_load_system(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario,
                                int *function)
{
    static const char *const extra[] = {"kind", NULL};
    char shown[KVC_TEXT_MAX] = "";
    *function = LUA_NOREF;
    enum kvc_status status = kvc_load_push_section(decoder, root, "system");
    if (status == KVC_OK) {
        status = find_model(decoder, scenario);
    }
    if (status != KVC_OK) {
        return status;
    }
    const struct kvc_option_table *options = scenario->model->options;
    scenario->options = calloc(1, options->size);
    if (scenario->options == NULL) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    kvc_option_table_set_defaults(options, scenario->options);
    if (scenario->model->takes_policy) {
        *function = take_function(decoder, OF_SYSTEM, NULL, shown);
        lua_getfield(decoder->lua, -1, "policy"); /* Results show none as an empty text. */
        bool stated = !lua_isnil(decoder->lua, -1) &&
                      (!lua_isstring(decoder->lua, -1) || lua_rawlen(decoder->lua, -1) > 0);
        lua_pop(decoder->lua, 1);
        if (stated && (*function == LUA_NOREF || decoder->member != NULL)) {
            return kvc_decode_fail(decoder, "system.policy", "system.policy: found %s, allowed: %s",
                                   *function == LUA_NOREF ? "no function" : "one with cluster.members",
                                   *function == LUA_NOREF
                                       ? "a function, as in policy = function(state) ... end"
                                       : "without them");
        }
    }
    status = kvc_decode_table(
        decoder, -1,
        &(struct kvc_table){
            .path = "system", .options = options, .object = scenario->options, .extra = extra});
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}

static const struct kvc_option rows[] = {
    KVC_CHOICE_ROW(
        kvc_plan_request, "minimise", minimise, kvc_plan_objective_names, NULL,
        "quantity that the chosen point of the sweep minimises: price (then watts), watts (then price), or "
        "nodes (then price)"),
    KVC_COUNT_ROW(
        kvc_plan_request, "replicas", replicas, 3, 64, "12",
        "largest number of replicas of a candidate; more replicas resolve candidates closer to a bound"),
    KVC_REAL_ROW(kvc_plan_request, "confidence", confidence, KVC_UNIT_NONE, 0.5, 0.9999, "0.95",
                 "probability that the decision on a candidate is right; a higher one takes more replicas"),
    KVC_COUNT_ROW(
        kvc_plan_request, "ahead", ahead, 1, 4096, "1",
        "candidates that are simulated at the same time; more of them keep more processors busy, but some "
        "replicas may turn out unneeded; the chosen point stays the same"),
};

const struct kvc_option_table kvc_plan_option_table = KVC_OPTION_TABLE(kvc_plan_request, rows, "plan");

enum kvc_status kvc_load_plan(const struct kvc_decoder *decoder, int root, struct kvc_plan_request *plan)
{
    if (!kvc_decode_has(decoder->lua, root, "plan")) {
        return KVC_OK;
    }
    plan->is_stated = true;
    return kvc_load_plain(decoder, root, &kvc_plan_option_table, "plan", plan);
}

static const struct kvc_option day_curve_rows[] = {
    KVC_REAL_ROW(kvc_day_point, "hour", hour, KVC_UNIT_NONE, 0, 24, NULL,
                 "time of the day in hours, 0 to 24"),
    KVC_REAL_ROW(kvc_day_point, "rate", rate_mops, KVC_UNIT_MOPS, 1e-6, 1e6, NULL,
                 "request rate of all nodes at this hour"),
};

const struct kvc_option_table kvc_day_curve_option_table =
    KVC_OPTION_TABLE(kvc_day_point, day_curve_rows, "curve", .max_list = KVC_DAY_POINTS_MAX);

static const struct kvc_option day_rows[] = {
    KVC_COUNT_ROW(
        kvc_day, "windows", windows, 1, KVC_DAY_WINDOWS_MAX, "24",
        "windows of equal length, each simulated with its mean rate; more follow the curve more closely"),
    KVC_REAL_ROW(kvc_day, "usd_per_kwh", usd_per_kwh, KVC_UNIT_NONE, 0, 1e3, NULL,
                 "price of electricity in US dollars per kWh; left out: the answer has no cost",
                 .optional = true),
    KVC_LIST_ROW(
        kvc_day, "curve", curve, points, &kvc_day_curve_option_table,
        "the load follows these points and is linear between them, and from the last one to the first of the "
        "next day"),
};

const struct kvc_option_table kvc_day_option_table = KVC_OPTION_TABLE(kvc_day, day_rows, "day");

enum kvc_status kvc_load_day(const struct kvc_decoder *decoder, int root, struct kvc_day *day)
{
    if (!kvc_decode_has(decoder->lua, root, "day")) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_load_plain(decoder, root, &kvc_day_option_table, "day", day);
    if (status == KVC_OK && day->points == 0) {
        return kvc_decode_fail(decoder, "day.curve", "day.curve: found no point, allowed: 1 to %d",
                               KVC_DAY_POINTS_MAX);
    }
    for (uint32_t i = 1; status == KVC_OK && i < day->points; i++) {
        char path[KVC_PATH_MAX];
        snprintf(path, sizeof(path), "day.curve.%u.hour", i + 1);
        if (day->curve[i].hour <= day->curve[i - 1].hour) {
            return kvc_decode_fail(decoder, path,
                                   "%s: found %g, allowed: later than %g, the hour of the point before it",
                                   path, day->curve[i].hour, day->curve[i - 1].hour);
        }
    }
    return status;
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
        return KVC_OK; /* Results do not mention a policy that the scenario does not state. */
    }
    enum kvc_status status = kvc_load_push_section(decoder, root, "power");
    if (status != KVC_OK) {
        return status;
    }
    *function = take_function(decoder, OF_POWER, "function", shown);
    status = kvc_decode_table(
        decoder, -1,
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
