#include "scenarios/run/simulate.h"

enum kvc_status kvc_simulate(const struct kvc_run_context *context, const char *timeline_path,
                             struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = context->scenario;
    struct kvc_run_context own = *context;
    if (scenario->model->prepare != NULL) {
        enum kvc_status status = scenario->model->prepare(scenario, own.seed, &own.state, own.progress, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    if (timeline_path != NULL) {
        own.timeline = kvc_timeline_open(timeline_path, KVC_TIMELINE_EVENTS_MAX, diag);
        if (own.timeline == NULL) {
            return diag->status;
        }
    }
    enum kvc_status status = scenario->model->run(&own, diag);
    if (status != KVC_OK) {
        return status;
    }
    return kvc_timeline_close(own.timeline, diag);
}
