#include "scenarios/run/simulate.h"

#include <string.h>

#include "scenarios/load/locate.h"
#include "scenarios/run/memory_base.h"

/* A simulation that refuses an option of the run names it, but does not know where it was written. */
static enum kvc_status name_place(const struct kvc_scenario *scenario, enum kvc_status status,
                                  struct kvc_diag *diag)
{
    static const char path[] = "run.duration";
    if (diag != NULL && diag->line == 0 && strncmp(diag->message, path, strlen(path)) == 0) {
        char message[sizeof(diag->message)];
        memcpy(message, diag->message, sizeof(message));
        return kvc_diag_fail_at(diag, status, scenario->file, kvc_locate_line(scenario->file, path), "%s",
                                message);
    }
    return status;
}

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
    return status == KVC_OK ? KVC_OK : name_place(scenario, status, diag);
}
