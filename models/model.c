#include "models/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/seeds.h"
#include "sim/run/changes.h"

enum kvc_status kvc_scenario_resolve(struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_model *model = scenario->model;
    kvc_scenario_unresolve(scenario);
    scenario->workload.trace.key_bytes_most = model->key_bytes_most;
    if (model->pair_bytes_most > 0) {
        scenario->workload.trace.value_bytes_most =
            model->pair_bytes_most - kvc_workload_key_bytes_max(&scenario->workload);
    }
    if (model->config_bytes == 0) {
        return KVC_OK;
    }
    void *config = kvc_array_of(1, model->config_bytes);
    enum kvc_status status = model->resolve(scenario, config, diag);
    if (status != KVC_OK) {
        free(config);
        return status;
    }
    scenario->config = config;
    return KVC_OK;
}

void kvc_scenario_unresolve(struct kvc_scenario *scenario)
{
    free((void *)scenario->config);
    scenario->config = NULL;
}

enum kvc_status kvc_scenario_refuse_phases(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    uint32_t phases = scenario->workload.phase_count;
    return phases == 0
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "workload.phases: found %u phases, the closed form knows no loads that "
                               "alternate; predict each phase as a load of its own",
                               phases);
}

struct kvc_platform *kvc_scenario_platform(const struct kvc_scenario *scenario)
{
    struct kvc_platform *platform = NULL;
    if (scenario->model->platform != NULL) {
        platform = kvc_platform_create();
        scenario->model->platform(scenario, platform);
    }
    return platform;
}

enum kvc_status kvc_scenario_check_platform(const struct kvc_scenario *scenario,
                                            const struct kvc_platform *platform, struct kvc_diag *diag)
{
    if (platform == NULL) {
        return scenario->run.change_count == 0
                   ? KVC_OK
                   : kvc_diag_fail(
                         diag, KVC_ERR_SCENARIO,
                         "run.changes: found %u changes, allowed: none, because the simulation of %s "
                         "has no devices that change",
                         scenario->run.change_count, scenario->model->name);
    }
    enum kvc_status status = kvc_platform_check(platform, diag);
    return status == KVC_OK ? kvc_changes_check(&scenario->run, platform, diag) : status;
}

enum kvc_status kvc_scenario_check_devices(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    struct kvc_platform *platform = kvc_scenario_platform(scenario);
    enum kvc_status status = kvc_scenario_check_platform(scenario, platform, diag);
    kvc_platform_free(platform);
    return status;
}

static unsigned stages_of(const struct kvc_model_resource *resource, const struct kvc_scenario *scenario)
{
    return resource->stages_of != NULL ? resource->stages_of(scenario) : resource->stages;
}

bool kvc_resource_is_used(const struct kvc_model_resource *resource, const struct kvc_scenario *scenario)
{
    if (resource->used != NULL) {
        return resource->used(scenario);
    }
    struct kvc_model_stage stage[KVC_MODEL_STAGES_MAX];
    uint32_t count = scenario->model->stages(scenario, stage);
    unsigned stages = stages_of(resource, scenario);
    bool used = stages >> count != 0;
    for (uint32_t i = 0; i < count && !used; i++) {
        used = (stages >> i & 1) != 0 && stage[i].servers > 0;
    }
    return used;
}

const struct kvc_model_resource *kvc_scenario_resource(const struct kvc_scenario *scenario,
                                                       const char *device)
{
    const struct kvc_model_resource *resource = scenario->model->resources;
    for (; resource != NULL && resource->name != NULL; resource++) {
        if (strcmp(resource->device, device) == 0 && kvc_resource_is_used(resource, scenario)) {
            return resource;
        }
    }
    return NULL;
}

bool kvc_scenario_has_stage(const struct kvc_scenario *scenario, const struct kvc_model_resource *resource,
                            const char *name)
{
    struct kvc_model_stage stage[KVC_MODEL_STAGES_MAX];
    unsigned stages = stages_of(resource, scenario);
    for (uint32_t i = 0, count = scenario->model->stages(scenario, stage); i < count; i++) {
        if ((stages >> i & 1) != 0 && strcmp(stage[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes);
    if (copy == NULL) {
        kvc_out_of_memory("the copy of a scenario");
    }
    return memcpy(copy, from, bytes);
}

/* Replaces the original's options and devices by copies. */
static void own_machine(const struct kvc_model *model, void **options, struct kvc_node *node)
{
    if (*options != NULL) {
        *options = copy_of(*options, model->options->size);
    }
    for (struct kvc_device *device = node->device; device->kind != NULL; device++) {
        device->values = copy_of(device->values, device->kind->options->size);
    }
}

struct kvc_scenario *kvc_scenario_copy(const struct kvc_scenario *scenario)
{
    struct kvc_scenario *copy = copy_of(scenario, sizeof(*scenario));
    struct kvc_cluster *cluster = &copy->cluster;
    own_machine(copy->model, &copy->options, &copy->node);
    if (cluster->member_count > 0) {
        cluster->member = copy_of(cluster->member, cluster->member_count * sizeof(*cluster->member));
    }
    for (uint32_t i = 0; i < cluster->member_count; i++) {
        own_machine(copy->model, &cluster->member[i].options, &cluster->member[i].node);
    }
    copy->config = NULL; /* The configuration belongs to the original. */
    return copy;
}

void kvc_scenario_free_copy(struct kvc_scenario *scenario)
{
    if (scenario == NULL) {
        return;
    }
    kvc_scenario_unresolve(scenario);
    kvc_node_free(&scenario->node);
    free(scenario->options);
    for (uint32_t i = 0; i < scenario->cluster.member_count; i++) {
        kvc_node_free(&scenario->cluster.member[i].node);
        free(scenario->cluster.member[i].options);
    }
    if (scenario->cluster.member_count > 0) {
        free(scenario->cluster.member);
    }
    free(scenario);
}

struct kvc_scenario *kvc_scenario_faster(const struct kvc_scenario *scenario,
                                         const struct kvc_model_resource *resource, double factor,
                                         struct kvc_diag *diag)
{
    struct kvc_scenario *faster = kvc_scenario_copy(scenario);
    faster->config = scenario->config; /* speed_up reads it. */
    resource->speed_up(faster, factor);
    faster->config = NULL;
    if (kvc_scenario_resolve(faster, diag) != KVC_OK) {
        kvc_scenario_free_copy(faster);
        return NULL;
    }
    return faster;
}

enum kvc_status kvc_scenario_prepare(const struct kvc_scenario *scenario, uint32_t replica, void **state,
                                     const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_model *model = scenario->model;
    uint64_t seed = kvc_seed_of_replica(scenario->run.seed, replica);
    return model->prepare != NULL ? model->prepare(scenario, seed, state, progress, diag) : KVC_OK;
}

bool kvc_scenario_prepares_same(const struct kvc_scenario *first, const struct kvc_scenario *second)
{
    const struct kvc_model *model = first->model;
    double one[KVC_MODEL_SIZES_MAX], other[KVC_MODEL_SIZES_MAX];
    if (model->prepare == NULL || model->sizes == NULL) {
        return false;
    }
    uint32_t count = model->sizes(first, one);
    return model->sizes(second, other) == count && memcmp(one, other, count * sizeof(*one)) == 0;
}

bool kvc_scenario_lacks_room(const struct kvc_scenario *scenario, const char **option, char *text,
                             size_t size)
{
    static const double lost_frac_most = 1e-3;
    struct kvc_model_room room[KVC_MODEL_ROOMS_MAX];
    const struct kvc_model_room *least = NULL;
    double keys = (double)scenario->workload.keys;
    if (scenario->model->rooms == NULL || scenario->workload.arrival == KVC_ARRIVAL_TRACE) {
        return false;
    }
    for (uint32_t i = 0, count = scenario->model->rooms(scenario, room); i < count; i++) {
        least = least == NULL || room[i].keys < least->keys ? &room[i] : least;
    }
    if (least == NULL || least->keys >= (1 - lost_frac_most) * keys) {
        return false;
    }
    char has[64], needs[64];
    kvc_quantity_print(least->size, least->unit, has, sizeof(has));
    kvc_quantity_print(least->needed, least->unit, needs, sizeof(needs));
    *option = least->option;
    snprintf(text, size, "%s: %s has room for %.4g of %.4g keys, so GETs miss the others; %s holds all",
             least->option, has, least->keys, keys, needs);
    return true;
}

void kvc_scenario_note_room(const struct kvc_scenario *scenario, struct kvc_result *result)
{
    const char *option;
    char text[256];
    if (kvc_scenario_lacks_room(scenario, &option, text, sizeof(text))) {
        kvc_result_note(result, "%s", text);
    }
}
