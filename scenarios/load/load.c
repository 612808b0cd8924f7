#include "scenarios/load/load.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "models/registry.h"
#include "scenarios/load/decode/decode.h"
#include "scenarios/load/decode/sections.h"
#include "scenarios/load/lua/functions.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/load/lua/sandbox.h"
#include "scenarios/load/lua/store_policy.h"
#include "sim/devices/dram.h"
#include "sim/run/cache_aside.h"
#include "sim/workload/keys/zipf.h"
#include "sim/workload/tenants.h"

void kvc_loaded_free(struct kvc_loaded *loaded)
{
    if (loaded == NULL) {
        return;
    }
    kvc_constraint_free(loaded->sweep.where);
    kvc_store_function_free(loaded->store_function);
    kvc_policy_function_free(loaded->function);
    kvc_loaded_clear(loaded);
    free(loaded);
}

/* Numbers of a scenario's functions in Lua's registry, or LUA_NOREF. */
struct functions {
    int power, system;
};

static void forget_functions(lua_State *lua, const struct functions *functions)
{
    luaL_unref(lua, LUA_REGISTRYINDEX, functions->power);
    luaL_unref(lua, LUA_REGISTRYINDEX, functions->system);
}

/* Reads name, system, node, cluster, workload, run and power. */
static enum kvc_status decode_scenario(const struct kvc_decoder *decoder, int root,
                                       struct functions *functions)
{
    static const char *const sections[] = {"name",     "calibrated", "system", "node",  "cluster",
                                           "workload", "run",        "power",  "sweep", "slo",
                                           "plan",     "day",        NULL};
    struct kvc_loaded *loaded = decoder->loaded;
    struct kvc_scenario *scenario = &loaded->scenario;
    *functions = (struct functions){LUA_NOREF, LUA_NOREF};
    enum kvc_status status =
        kvc_decode_table(decoder, root, &(struct kvc_table){.path = "", .extra = sections});
    if (status == KVC_OK) {
        status = kvc_load_name(decoder, root, scenario);
    }
    if (status == KVC_OK) {
        status = kvc_load_system(decoder, root, scenario, &functions->system);
    }
    if (status == KVC_OK) {
        status = kvc_load_node(decoder, root, scenario->model, &scenario->node);
    }
    if (status == KVC_OK) {
        status = kvc_load_cluster(decoder, root, &scenario->cluster);
    }
    if (status == KVC_OK) {
        status = kvc_load_workload(decoder, root, &scenario->workload);
    }
    if (status == KVC_OK) {
        status = kvc_load_run(decoder, root, &scenario->run);
    }
    if (status == KVC_OK) {
        status = kvc_load_power(decoder, root, &scenario->power, &functions->power);
    }
    return status;
}

/* Passes on the error of a check. Its place is the path at the start of its message, or the section if there
 * is no path. */
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

/* Refuses a section that only the stores whose model has the flag at `offset` take. */
static enum kvc_status refuse_for_store(const struct kvc_scenario *scenario, const char *section,
                                        size_t offset, struct kvc_diag *diag)
{
    char names[KVC_DECODE_LIST_MAX] = "";
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        size_t used = strlen(names);
        if (*(const bool *)((const char *)kvc_models[i] + offset)) {
            snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", kvc_models[i]->name);
        }
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "%s: found with system.kind \"%s\", allowed only with %s",
                         section, scenario->model->name, names);
}

/* Checks whether the store takes a load that alternates, or one of several tenants. */
static enum kvc_status check_parts(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    if (scenario->workload.tenant_count > 0 && !scenario->model->takes_tenants) {
        return refuse_for_store(scenario, "workload.tenants", offsetof(struct kvc_model, takes_tenants),
                                diag);
    }
    if (scenario->workload.phase_count == 0) {
        return KVC_OK;
    }
    if (!scenario->model->takes_phases) {
        return refuse_for_store(scenario, "workload.phases", offsetof(struct kvc_model, takes_phases), diag);
    }
    return kvc_run_is_whole(&scenario->run)
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "run.functional: allowed with workload.phases is \"compact\" or \"full\"");
}

/* Checks that every request runs through the real structures if the popularity of keys changes, which a
 * sample and closed forms do not know. */
static enum kvc_status check_popularity(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    return !kvc_workload_popularity_changes(&scenario->workload) || kvc_run_is_whole(&scenario->run)
               ? KVC_OK
               : kvc_diag_fail(
                     diag, KVC_ERR_SCENARIO,
                     "run.functional: allowed with workload.churn or workload.storms is \"compact\" or "
                     "\"full\"");
}

/* Checks whether the store follows power policies and meets the policy's requirements. */
static enum kvc_status check_power(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    if (scenario->power.policy != KVC_POWER_FIXED && !scenario->model->takes_power) {
        return refuse_for_store(scenario, "power.policy", offsetof(struct kvc_model, takes_power), diag);
    }
    return kvc_power_policy_check(&scenario->power, scenario->run.duration_ns, diag);
}

/* Checks whether the store, and its measured costs, tell what the state of the machine does. */
static enum kvc_status check_machine_state(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_node *node = &scenario->node;
    const struct kvc_dram *dram = kvc_dram_of(node);
    bool beside = node->co_runner_bytes_per_s > 0;
    if (node->stall_count > 0 && !scenario->model->takes_stalls) {
        return refuse_for_store(scenario, "node.stalls", offsetof(struct kvc_model, takes_stalls), diag);
    }
    if ((!node->huge_pages || beside) && !scenario->model->takes_memory_state) {
        return refuse_for_store(scenario, beside ? "node.co_runner" : "node.huge_pages",
                                offsetof(struct kvc_model, takes_memory_state), diag);
    }
    if (beside && dram->contention_count < 2) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.co_runner: found %.3g GB/s, allowed with node.dram.contention, measured lines "
            "beside a co-runner, which kvcast calibrate writes to the machine file of "
            "node.machine on two cores or more",
            node->co_runner_bytes_per_s / 1e9);
    }
    if (beside &&
        node->co_runner_bytes_per_s > dram->contention[dram->contention_count - 1].taken_bytes_per_s) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.co_runner: found %.3g GB/s, allowed: up to the measured %.3g GB/s",
                             node->co_runner_bytes_per_s / 1e9,
                             dram->contention[dram->contention_count - 1].taken_bytes_per_s / 1e9);
    }
    return scenario->node.huge_pages || dram->page_count > 0
               ? KVC_OK
               : kvc_diag_fail(
                     diag, KVC_ERR_SCENARIO,
                     "node.huge_pages: found false, allowed with node.dram.pages, measured lines of "
                     "small pages, which kvcast calibrate writes to the machine file of node.machine");
}

/* Checks and resolves the decoded scenario, with or without the devices of the simulation. */
static enum kvc_status check_scenario(const struct kvc_decoder *decoder, bool with_devices)
{
    struct kvc_scenario *scenario = &decoder->loaded->scenario;
    struct kvc_diag inner = {0};
    kvc_tenants_settle(&scenario->workload);
    if (kvc_workload_check(&scenario->workload, &inner) != KVC_OK) {
        return fail_check(decoder, "workload", &inner);
    }
    kvc_run_settle(&scenario->run, &scenario->workload);
    if (kvc_run_check(&scenario->run, scenario->workload.keys, &inner) != KVC_OK) {
        return fail_check(decoder, "run", &inner);
    }
    if (kvc_cache_aside_check(scenario, &inner) != KVC_OK) {
        return fail_check(decoder, "workload", &inner);
    }
    if (check_parts(scenario, &inner) != KVC_OK || check_popularity(scenario, &inner) != KVC_OK) {
        return fail_check(decoder, "workload", &inner);
    }
    if (kvc_cluster_check(&scenario->cluster, &inner) != KVC_OK) {
        return fail_check(decoder, "cluster", &inner);
    }
    if (check_power(scenario, &inner) != KVC_OK) {
        return fail_check(decoder, "power", &inner);
    }
    if (check_machine_state(scenario, &inner) != KVC_OK) {
        return fail_check(decoder, "node", &inner);
    }
    if (kvc_scenario_resolve(scenario, &inner) != KVC_OK ||
        (scenario->model->check != NULL && scenario->model->check(scenario, &inner) != KVC_OK)) {
        return fail_check(decoder, "system", &inner);
    }
    if (with_devices && kvc_scenario_check_devices(scenario, &inner) != KVC_OK) {
        return fail_check(decoder, "node", &inner);
    }
    if (kvc_cluster_check_scenario(scenario, &inner) != KVC_OK) {
        return fail_check(decoder, "cluster", &inner);
    }
    return KVC_OK;
}

/* Returns whether the sweep sets the load of its points. */
static bool sweeps_load(const struct kvc_sweep *sweep)
{
    bool found = false;
    for (uint32_t i = 0; i < sweep->count && !found; i++) {
        found = strncmp(sweep->axis[i].path, "workload", 8) == 0;
    }
    return found;
}

/* Checks that the measured time has windows, and not too many. */
static enum kvc_status check_window(const struct kvc_decoder *decoder)
{
    const struct kvc_loaded *loaded = decoder->loaded;
    double most_ns = loaded->scenario.run.duration_ns, least_ns = most_ns / KVC_SPANS_MAX;
    char found[48], least[48], most[48];
    if (isnan(loaded->slo.window_ns) ||
        (loaded->slo.window_ns >= least_ns && loaded->slo.window_ns <= most_ns)) {
        return KVC_OK;
    }
    kvc_quantity_print(loaded->slo.window_ns, KVC_UNIT_NS, found, sizeof(found));
    kvc_quantity_print(least_ns, KVC_UNIT_NS, least, sizeof(least));
    kvc_quantity_print(most_ns, KVC_UNIT_NS, most, sizeof(most));
    return kvc_decode_fail(decoder, "slo.window",
                           "slo.window: found %s, allowed: from %s to %s, which are run.duration / %d and "
                           "run.duration",
                           found, least, most, KVC_SPANS_MAX);
}

/* Refuses objectives for the latency under saturation, where clients keep the queues full, so that the
 * latency says nothing about an objective. */
static enum kvc_status check_slo(const struct kvc_decoder *decoder)
{
    const struct kvc_loaded *loaded = decoder->loaded;
    const struct kvc_slo *slo = &loaded->slo;
    const char *key = !isnan(slo->p50_ns)    ? "p50"
                      : !isnan(slo->p95_ns)  ? "p95"
                      : !isnan(slo->p99_ns)  ? "p99"
                      : !isnan(slo->p999_ns) ? "p999"
                                             : NULL;
    char path[KVC_PATH_MAX];
    if (key == NULL || loaded->scenario.workload.arrival != KVC_ARRIVAL_SATURATE ||
        sweeps_load(&loaded->sweep) || loaded->day.points > 0) {
        return check_window(decoder);
    }
    kvc_decode_join(path, "slo", key);
    return kvc_decode_fail(decoder, path,
                           "%s: found an objective for the latency without a load, allowed: one with a load "
                           "such as workload.arrival = { poisson_mops = 80 }, because clients that saturate "
                           "the store keep its queues full",
                           path);
}

/* Sets the number of the value as the scenario resolves it: a size of 8 means 8 bytes. `trial` is NULL if the
 * value does not decode on its own. */
static void resolve_number(const struct kvc_loaded *trial, struct kvc_sweep_axis *axis,
                           struct kvc_sweep_value *value)
{
    const char *text = value->label, *expected;
    const struct kvc_parameter *resolved =
        trial != NULL ? kvc_parameters_find(&trial->parameters, axis->path) : NULL;
    if (resolved != NULL) {
        text = resolved->value;
    }
    bool is_first = value == axis->value;
    value->number = NAN;
    for (enum kvc_unit unit = KVC_UNIT_NONE; unit <= KVC_UNIT_WATTS && isnan(value->number); unit++) {
        if ((is_first || unit == axis->unit) && kvc_quantity_parse(text, unit, &value->number, &expected)) {
            axis->unit = unit;
        }
    }
    axis->numeric = (is_first || axis->numeric) && !isnan(value->number);
}

/* Records the resolved values of the scenario, by which a changed sweep is recognized. */
static void note_resolved(const struct kvc_loaded *trial, struct kvc_sweep_value *value)
{
    const struct kvc_workload *workload = &trial->scenario.workload;
    value->resolved_hash = kvc_parameters_hash(&trial->parameters);
    snprintf(value->trace, sizeof(value->trace), "%s",
             workload->arrival == KVC_ARRIVAL_TRACE ? workload->trace.path : "");
}

/* Decodes the scenario with one value of a sweep. `inner` receives the error. */
static enum kvc_status try_value(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis,
                                 struct kvc_sweep_value *value, struct kvc_diag *inner)
{
    int base = lua_gettop(decoder->lua);
    struct functions functions;
    struct kvc_overrides set = {0};
    struct kvc_decoder trial = *decoder;
    trial.loaded = calloc(1, sizeof(*trial.loaded));
    trial.diag = inner;
    trial.set = &set;
    trial.is_trial = true;
    enum kvc_status status =
        trial.loaded != NULL ? KVC_OK : kvc_diag_fail(inner, KVC_ERR_RUNTIME, "out of memory");
    if (status == KVC_OK) {
        status = kvc_overrides_join(&set, decoder->set, inner);
    }
    if (status == KVC_OK) {
        status = kvc_overrides_join(&set, &value->set, inner);
    }
    if (status == KVC_OK) {
        status = kvc_load_push_root(&trial);
    }
    if (status == KVC_OK) {
        status = decode_scenario(&trial, base + 1, &functions);
        forget_functions(decoder->lua, &functions);
    }
    if (status == KVC_OK) {
        resolve_number(trial.loaded, axis, value);
        note_resolved(trial.loaded, value);
    }
    if (status != KVC_OK && trial.loaded != NULL &&
        strcmp(inner->file, trial.loaded->scenario.workload.trace.path) == 0) {
        snprintf(value->trace, sizeof(value->trace), "%s", inner->file);
    }
    kvc_overrides_clear(&set);
    kvc_loaded_free(trial.loaded);
    lua_settop(decoder->lua, base);
    return status;
}

/* Checks that every value of every axis decodes on its own in the scenario. The values of a listed point may
 * need one another; the sweep checks such points, like all combinations, before it runs them. */
static enum kvc_status check_sweep(const struct kvc_decoder *decoder, const struct kvc_sweep *sweep)
{
    for (uint32_t i = 0; i < sweep->count; i++) {
        struct kvc_sweep_axis *axis = &sweep->axis[i];
        for (uint32_t j = 0; j < axis->count; j++) {
            struct kvc_diag inner = {0};
            char path[KVC_PATH_MAX + 32];
            enum kvc_status status = try_value(decoder, axis, &axis->value[j], &inner);
            if (status == KVC_OK) {
                continue;
            }
            if (status == KVC_ERR_RUNTIME) {
                return kvc_diag_fail(decoder->diag, status, "%s", inner.message);
            }
            if (axis->value[j].trace[0] != '\0' && decoder->diag != NULL) { /* A row of the trace is wrong. */
                *decoder->diag = inner;
                return status;
            }
            if (sweep->design == KVC_SWEEP_LIST) {
                resolve_number(NULL, axis, &axis->value[j]);
                continue;
            }
            snprintf(path, sizeof(path), "sweep.%s.%u", axis->path, j + 1);
            return kvc_decode_fail(decoder, path, "sweep of %s, value \"%.60s\": %.800s", axis->path,
                                   axis->value[j].label, inner.message);
        }
    }
    return KVC_OK;
}

/* Warns of a popularity by which a run measures a single key: more than half of all requests go to it. */
static enum kvc_status warn_popularity(const struct kvc_decoder *decoder)
{
    const struct kvc_workload *workload = &decoder->loaded->scenario.workload;
    if (workload->popularity != KVC_POPULARITY_ZIPF || workload->arrival == KVC_ARRIVAL_TRACE) {
        return KVC_OK;
    }
    double hottest_frac = kvc_zipf_mass(workload->keys, workload->zipf_s, 1);
    if (hottest_frac > 0.5) {
        kvc_decode_warn(decoder, "workload.dist.zipf",
                        "workload.dist.zipf: found %g, with which %.4g %% of the requests go to one key; the "
                        "answer is about that key alone",
                        workload->zipf_s, 100 * hottest_frac);
    }
    return KVC_OK;
}

/* Warns of what the store finds strange. */
static void warn_of_store(const struct kvc_decoder *decoder)
{
    const struct kvc_scenario *scenario = &decoder->loaded->scenario;
    char text[256];
    const char *path =
        scenario->model->warning != NULL ? scenario->model->warning(scenario, text, sizeof(text)) : NULL;
    if (path != NULL) {
        kvc_decode_warn(decoder, path, "%s: %s", path, text);
    }
}

/* State of decode_all. */
struct loading {
    struct kvc_decoder decoder;
    bool is_point;              /* Leave the sweep out. */
    bool has_constraint;        /* Out: the sandbox stays in use after the loading. */
    struct functions functions; /* Out. */
    char shown_policy[2][KVC_TEXT_MAX];
};

static enum kvc_status decode_all(lua_State *lua, void *data)
{
    struct loading *loading = data;
    struct kvc_decoder *decoder = &loading->decoder;
    decoder->lua = lua;
    decoder->shown_policy = loading->shown_policy;
    loading->functions = (struct functions){LUA_NOREF, LUA_NOREF};
    if (!lua_checkstack(lua, 128)) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    enum kvc_status status = kvc_load_push_root(decoder);
    if (status == KVC_OK) {
        status = decode_scenario(decoder, 2, &loading->functions);
    }
    if (status == KVC_OK) {
        status = kvc_load_slo(decoder, 2, &decoder->loaded->slo);
    }
    if (status == KVC_OK && !loading->is_point) {
        status = kvc_load_plan(decoder, 2, &decoder->loaded->plan);
    }
    if (status == KVC_OK && !loading->is_point) {
        status = kvc_load_sweep(decoder, 2, &decoder->loaded->sweep);
    }
    if (status == KVC_OK && !loading->is_point) {
        status = kvc_load_day(decoder, 2, &decoder->loaded->day);
    }
    if (status == KVC_OK) {
        status = check_scenario(decoder, true);
    }
    if (status == KVC_OK) {
        status = warn_popularity(decoder);
        warn_of_store(decoder);
    }
    if (status == KVC_OK) {
        status = check_slo(decoder);
    }
    if (status == KVC_OK) {
        status = check_sweep(decoder, &decoder->loaded->sweep);
    }
    loading->has_constraint = !loading->is_point && status == KVC_OK && kvc_load_has_constraint(decoder, 2);
    return status;
}

static enum kvc_status load(const char *path, const struct kvc_overrides *set, bool is_point,
                            struct kvc_loaded **out, struct kvc_diag *diag)
{
    struct kvc_diag unused = {0};
    struct kvc_sandbox *sandbox, *kept;
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
    struct loading loading = {
        .decoder = {.sandbox = sandbox, .set = set, .loaded = loaded, .prefix = "", .diag = diag},
        .is_point = is_point};
    status = kvc_sandbox_protect(sandbox, decode_all, &loading, diag);
    kept = sandbox;
    if (status == KVC_OK && loading.has_constraint) {
        loaded->sweep.where = kvc_constraint_create(sandbox);
        sandbox = loaded->sweep.where != NULL ? NULL : sandbox;
        status = loaded->sweep.where != NULL ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    }
    bool keeps = sandbox != NULL; /* Otherwise the constraint does. */
    if (status == KVC_OK && loading.functions.power != LUA_NOREF) {
        loaded->function =
            kvc_policy_function_create(kept, keeps, loading.functions.power, &loaded->scenario.power);
        sandbox = NULL;
    }
    keeps = sandbox != NULL;
    if (status == KVC_OK && loading.functions.system != LUA_NOREF) {
        loaded->store_function =
            kvc_store_function_create(kept, keeps, loading.functions.system, &loaded->scenario.policy);
        sandbox = NULL;
    }
    kvc_sandbox_free(sandbox);
    if (status != KVC_OK) {
        kvc_loaded_free(loaded);
        return status;
    }
    *out = loaded;
    return KVC_OK;
}

enum kvc_status kvc_scenario_load(const char *path, const struct kvc_overrides *set, struct kvc_loaded **out,
                                  struct kvc_diag *diag)
{
    return load(path, set, false, out, diag);
}

enum kvc_status kvc_scenario_load_point(const char *path, const struct kvc_overrides *set,
                                        struct kvc_loaded **out, struct kvc_diag *diag)
{
    return load(path, set, true, out, diag);
}

struct kvc_load_session {
    struct kvc_sandbox *sandbox;
};

/* State of a protected call. */
struct call {
    struct kvc_decoder decoder;
    const char *section;
    const struct kvc_option *row;
    const char *text;
    void *field;
};

static enum kvc_status decode_section(const struct kvc_decoder *decoder, const struct call *call)
{
    struct kvc_scenario *scenario = &decoder->loaded->scenario;
    if (strcmp(call->section, "workload") == 0) {
        return kvc_load_workload(decoder, 2, &scenario->workload);
    }
    if (strcmp(call->section, "run") == 0) {
        return kvc_load_run(decoder, 2, &scenario->run);
    }
    if (strcmp(call->section, "cluster") == 0) {
        return kvc_load_plain(decoder, 2, &kvc_cluster_option_table, "cluster", &scenario->cluster);
    }
    int function; /* A policy does not matter to the closed form. */
    enum kvc_status status = kvc_load_system(decoder, 2, scenario, &function);
    luaL_unref(decoder->lua, LUA_REGISTRYINDEX, function);
    return status;
}

static enum kvc_status decode(lua_State *lua, void *data)
{
    struct call *call = data;
    call->decoder.lua = lua;
    lua_settop(lua, 1);
    if (!lua_checkstack(lua, 128)) {
        return kvc_diag_fail(call->decoder.diag, KVC_ERR_RUNTIME, "out of memory");
    }
    enum kvc_status status = kvc_load_push_root(&call->decoder);
    if (status == KVC_OK && call->section != NULL) {
        status = decode_section(&call->decoder, call);
    } else if (status == KVC_OK) {
        struct functions functions; /* Policies do not matter to the closed form. */
        status = decode_scenario(&call->decoder, 2, &functions);
        forget_functions(lua, &functions);
        if (status == KVC_OK) {
            status = kvc_load_slo(&call->decoder, 2, &call->decoder.loaded->slo);
        }
    }
    lua_settop(lua, 1);
    return status;
}

static enum kvc_status decode_value(lua_State *lua, void *data)
{
    struct call *call = data;
    call->decoder.lua = lua;
    lua_settop(lua, 1);
    kvc_load_push_value(lua, call->text);
    enum kvc_status status = kvc_decode_scalar(&call->decoder, "value", call->row, call->field);
    lua_settop(lua, 1);
    return status;
}

enum kvc_status kvc_load_session_open(const char *path, struct kvc_load_session **out, struct kvc_diag *diag)
{
    *out = NULL;
    struct kvc_load_session *session = calloc(1, sizeof(*session));
    if (session == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to load %s", path);
    }
    enum kvc_status status = kvc_sandbox_run(path, &session->sandbox, diag);
    if (status != KVC_OK) {
        free(session);
        return status;
    }
    *out = session;
    return KVC_OK;
}

enum kvc_status kvc_load_session_decode(struct kvc_load_session *session, const struct kvc_overrides *set,
                                        const char *section, struct kvc_loaded **out, struct kvc_diag *diag)
{
    *out = NULL;
    struct kvc_loaded *loaded = calloc(1, sizeof(*loaded));
    if (loaded == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    }
    snprintf(loaded->scenario.file, sizeof(loaded->scenario.file), "%s", kvc_sandbox_file(session->sandbox));
    struct call call = {.decoder = {.sandbox = session->sandbox,
                                    .set = set,
                                    .loaded = loaded,
                                    .prefix = "",
                                    .is_plain = true,
                                    .diag = diag},
                        .section = section};
    enum kvc_status status = kvc_sandbox_protect(session->sandbox, decode, &call, diag);
    if (status != KVC_OK) {
        kvc_loaded_free(loaded);
        return status;
    }
    *out = loaded;
    return KVC_OK;
}

bool kvc_load_session_value(struct kvc_load_session *session, const struct kvc_option *row, const char *text,
                            void *field)
{
    struct kvc_diag unused = {0};
    struct call call = {.decoder = {.sandbox = session->sandbox, .prefix = "", .diag = &unused},
                        .row = row,
                        .text = text,
                        .field = field};
    return kvc_sandbox_protect(session->sandbox, decode_value, &call, &unused) == KVC_OK;
}

/* Resolves and checks a decoded scenario, with or without the devices of the simulation. */
static enum kvc_status check_decoded(const struct kvc_load_session *session, struct kvc_loaded *loaded,
                                     bool with_devices, struct kvc_diag *diag)
{
    const struct kvc_decoder decoder = {
        .sandbox = session->sandbox, .loaded = loaded, .prefix = "", .diag = diag};
    enum kvc_status status = check_scenario(&decoder, with_devices);
    return status == KVC_OK ? check_slo(&decoder) : status;
}

enum kvc_status kvc_load_session_check(struct kvc_load_session *session, struct kvc_loaded *loaded,
                                       const struct kvc_overrides *set, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    kvc_overrides_clear(&loaded->set);
    if (set != NULL) {
        status = kvc_overrides_join(&loaded->set, set, diag);
    }
    return status == KVC_OK ? check_decoded(session, loaded, false, diag) : status;
}

enum kvc_status kvc_load_session_point(struct kvc_load_session *session, const struct kvc_overrides *set,
                                       struct kvc_loaded **out, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_load_session_decode(session, set, NULL, out, diag);
    if (status == KVC_OK) {
        status = check_decoded(session, *out, true, diag);
    }
    if (status != KVC_OK) {
        kvc_loaded_free(*out);
        *out = NULL;
    }
    return status;
}

void kvc_load_session_close(struct kvc_load_session *session)
{
    if (session == NULL) {
        return;
    }
    kvc_sandbox_free(session->sandbox);
    free(session);
}
