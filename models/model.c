#include "models/model.h"

#include <math.h>
#include <stdlib.h>

#include "models/cluster/cluster.h"
#include "sim/base/array.h"
#include "sim/devices/database.h"
#include "sim/run/changes.h"

enum kvc_status kvc_scenario_resolve(struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_model *model = scenario->model;
    kvc_scenario_unresolve(scenario);
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

enum kvc_status kvc_scenario_check_devices(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    if (scenario->model->platform == NULL) {
        return scenario->run.change_count == 0
                   ? KVC_OK
                   : kvc_diag_fail(
                         diag, KVC_ERR_SCENARIO,
                         "run.changes: found %u changes, allowed: none, because the simulation of %s "
                         "has no devices that change",
                         scenario->run.change_count, scenario->model->name);
    }
    struct kvc_platform *platform = kvc_platform_create();
    scenario->model->platform(scenario, platform);
    enum kvc_status status = kvc_platform_check(platform, diag);
    if (status == KVC_OK) {
        status = kvc_changes_check(&scenario->run, platform, diag);
    }
    kvc_platform_free(platform);
    return status;
}

/* Returns the memory of a scenario in one engine, where `databases` are behind its nodes. */
static double engine_bytes(const struct kvc_scenario *scenario, double databases)
{
    const struct kvc_database *database = kvc_database_of(&scenario->node);
    double pool_bytes = database != NULL ? databases * kvc_database_memory_bytes(database) : 0;
    return pool_bytes + (scenario->model->memory_bytes != NULL ? scenario->model->memory_bytes(scenario) : 0);
}

/* Returns the memory of one node of a cluster whose nodes are simulated apart. */
static double node_bytes(const struct kvc_scenario *scenario)
{
    double most = 0;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario); i++) {
        struct kvc_diag unused = {0};
        struct kvc_scenario *class = kvc_cluster_class_scenario(scenario, i, &unused);
        if (class != NULL) {
            most = fmax(most, engine_bytes(class, 1));
        }
        kvc_cluster_free_class(class);
    }
    return most;
}

double kvc_scenario_memory_bytes(const struct kvc_scenario *scenario)
{
    bool own = scenario->cluster.database == KVC_CLUSTER_PER_NODE;
    if (kvc_cluster_is_apart(scenario)) {
        uint32_t epochs = scenario->cluster.change_count > 0 ? 2 : 1;
        return node_bytes(scenario) + kvc_key_parts_bytes(scenario->workload.keys, epochs);
    }
    return engine_bytes(scenario, own ? (double)scenario->cluster.nodes : 1);
}
