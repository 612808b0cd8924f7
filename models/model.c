#include "models/model.h"

#include <stdlib.h>

#include "sim/base/array.h"
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
