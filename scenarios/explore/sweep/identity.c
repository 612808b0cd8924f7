#include "scenarios/explore/sweep/identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/output/json.h"
#include "sim/base/rng.h"
#include "sim/base/version.h"

void kvc_identity_free(struct kvc_identity *identity)
{
    for (uint32_t i = 0; i < identity->count; i++) {
        free(identity->entry[i].text);
    }
    identity->count = 0;
}

/* Adds an entry and takes over its text. */
static void add(struct kvc_identity *identity, const char *key, const char *noun, char *text)
{
    if (text == NULL) {
        kvc_out_of_memory("the description of the sweep");
    }
    identity->entry[identity->count++] = (struct kvc_identity_entry){key, noun, text};
}

static void add_number(struct kvc_identity *identity, const char *key, const char *noun, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    add(identity, key, noun, strdup(text));
}

static char *dump(json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

static json_t *axes_json(const struct kvc_space *space)
{
    json_t *axes = json_array();
    for (uint32_t i = 0; i < space->axis_count; i++) {
        const struct kvc_sweep_axis *axis = &space->axis[i];
        json_t *entry = json_object(), *values = json_array();
        for (uint32_t j = 0; j < axis->count; j++) {
            json_array_append_new(values, json_string(axis->value[j].label));
        }
        json_object_set_new(entry, "path", json_string(axis->path));
        json_object_set_new(entry, "values", values);
        json_array_append_new(axes, entry);
    }
    return axes;
}

/* Hashes what the values resolve to: a hardware profile may have changed behind its name. */
static uint64_t values_hash(const struct kvc_space *space)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < space->axis_count; i++) {
        for (uint32_t j = 0; j < space->axis[i].count; j++) {
            hash = kvc_mix64(hash ^ space->axis[i].value[j].resolved_hash);
        }
    }
    return hash;
}

static uint64_t points_hash(const struct kvc_space *space)
{
    uint64_t hash = space->points;
    for (size_t i = 0; space->tuple != NULL && i < (size_t)space->points * space->axis_count; i++) {
        hash = kvc_mix64(hash ^ space->tuple[i]);
    }
    return hash;
}

static json_t *slo_json(const struct kvc_slo *slo)
{
    const double bounds[] = {slo->p50_ns, slo->p95_ns,   slo->p99_ns, slo->p999_ns,
                             slo->mops,   slo->hit_frac, slo->watts,  slo->price_usd};
    json_t *array = json_array();
    for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
        json_t *bound = json_real(bounds[i]); /* NULL for NaN. */
        json_array_append_new(array, bound != NULL ? bound : json_null());
    }
    return array;
}

static json_t *overrides_json(const struct kvc_overrides *set)
{
    json_t *array = json_array();
    for (uint32_t i = 0; set != NULL && i < set->count; i++) {
        json_array_append_new(array, json_pack("[s,s]", set->entry[i].path, set->entry[i].value));
    }
    return array;
}

static const char *design_name(const struct kvc_sweep *sweep)
{
    static const char *const names[] = {[KVC_SWEEP_GRID] = "grid",
                                        [KVC_SWEEP_LIST] = "list",
                                        [KVC_SWEEP_RANDOM] = "random",
                                        [KVC_SWEEP_LATIN_HYPERCUBE] = "latin_hypercube"};
    return names[sweep->design];
}

/* Reads a file in pieces. Returns false with errno if it cannot be read. */
static bool read_file(const char *path, void (*take)(void *data, const char *bytes, size_t count), void *data)
{
    char buffer[1 << 16];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    for (size_t count; (count = fread(buffer, 1, sizeof(buffer), file)) > 0;) {
        take(data, buffer, count);
    }
    bool whole = !ferror(file);
    fclose(file);
    return whole;
}

static void take_text(void *data, const char *bytes, size_t count)
{
    fwrite(bytes, 1, count, data);
}

/* FNV-1a over the bytes. */
static void take_hash(void *data, const char *bytes, size_t count)
{
    uint64_t *hash = data;
    for (size_t i = 0; i < count; i++) {
        *hash = (*hash ^ (unsigned char)bytes[i]) * 0x100000001b3ull;
    }
}

static char *scenario_text(const char *path)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);
    if (memory == NULL) {
        kvc_out_of_memory("the text of %s", path);
    }
    read_file(path, take_text, memory); /* The loader has read it; what is missing is only not kept. */
    bool whole = !ferror(memory);
    if (fclose(memory) != 0 || !whole) {
        kvc_out_of_memory("the text of %s", path);
    }
    return text;
}

/* Adds the hash of a trace, once for each file. */
static enum kvc_status add_trace(json_t *traces, const char *path, struct kvc_diag *diag)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    char text[24];
    if (path[0] == '\0' || json_object_get(traces, path) != NULL) {
        return KVC_OK;
    }
    if (!read_file(path, take_hash, &hash)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot be read: %s", strerror(errno));
    }
    snprintf(text, sizeof(text), "%016" PRIx64, hash);
    json_object_set_new(traces, path, json_string(text));
    return KVC_OK;
}

static enum kvc_status add_traces(const struct kvc_loaded *loaded, const struct kvc_space *space,
                                  json_t *traces, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &loaded->scenario.workload;
    enum kvc_status status =
        workload->arrival == KVC_ARRIVAL_TRACE ? add_trace(traces, workload->trace, diag) : KVC_OK;
    for (uint32_t i = 0; i < space->axis_count; i++) {
        for (uint32_t j = 0; j < space->axis[i].count && status == KVC_OK; j++) {
            status = add_trace(traces, space->axis[i].value[j].trace, diag);
        }
    }
    return status;
}

enum kvc_status kvc_identity_of(const struct kvc_loaded *loaded, const struct kvc_overrides *set,
                                const struct kvc_space *space, bool predict, struct kvc_identity *identity,
                                struct kvc_diag *diag)
{
    json_t *traces = json_object();
    enum kvc_status status = add_traces(loaded, space, traces, diag);
    *identity = (struct kvc_identity){0};
    add(identity, "version", "the version of kvcast", strdup(kvc_version));
    add(identity, "command", "--predict", strdup(predict ? "predict" : "run"));
    add_number(identity, "seed", "the seed", loaded->scenario.run.seed);
    json_t *parameters = kvc_json_values(&loaded->parameters);
    json_object_del(parameters, "run.seed"); /* It has an entry of its own. */
    add(identity, "parameters", "the scenario", dump(parameters));
    add(identity, "slo", "the objectives", dump(slo_json(&loaded->slo)));
    add(identity, "axes", "the axes", dump(axes_json(space)));
    add_number(identity, "values_hash", "what the values of the axes stand for", values_hash(space));
    add(identity, "design", "the design", strdup(design_name(&loaded->sweep)));
    add_number(identity, "points_hash", "the points", points_hash(space));
    add(identity, "traces", "a trace", dump(traces));
    add_number(identity, "points", NULL, space->points);
    add(identity, "scenario_file", NULL, strdup(loaded->scenario.file));
    add(identity, "scenario_text", NULL, scenario_text(loaded->scenario.file));
    add(identity, "overrides", NULL, dump(overrides_json(set)));
    return status;
}
