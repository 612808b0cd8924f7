#include "scenarios/run/simulate.h"

#include "scenarios/run/memory_base.h"
#include "scenarios/run/time_plan.h"

enum kvc_status kvc_simulate(const struct kvc_run_context *context, struct kvc_partial_file *timeline,
                             struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = context->scenario;
    struct kvc_run_context own = *context;
    kvc_memory_begin();
    if (scenario->model->prepare != NULL) {
        enum kvc_status status = scenario->model->prepare(scenario, own.seed, &own.state, own.progress, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    if (timeline != NULL) {
        own.timeline = kvc_timeline_open(timeline->file, KVC_TIMELINE_EVENTS_MAX);
    }
    enum kvc_status status = scenario->model->run(&own, diag);
    int error = kvc_timeline_close(own.timeline);
    if (status == KVC_OK) {
        own.result->timeline_error = error;
    }
    own.result->memory_taken_bytes = kvc_memory_taken_bytes();
    return status == KVC_OK ? KVC_OK : kvc_time_name_place(scenario, status, diag);
}
