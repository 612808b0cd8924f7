#include "models/simulate.h"

#include <stdlib.h>

#include "models/model.h"
#include "sim/base/array.h"
#include "sim/metrics/bottleneck.h"

static enum kvc_status open_replica(const struct kvc_simulator *simulator, void *state,
                                    const struct kvc_run_context *context,
                                    const struct kvc_platform *platform, struct kvc_diag *diag)
{
    struct kvc_replica *replica = state;
    struct kvc_replica_options options = {.platform = platform,
                                          .source = kvc_scenario_source(context->scenario, 1, context->seed)};
    simulator->source(state, &options);
    enum kvc_status status = kvc_replica_open(replica, context, &options, diag);
    replica->monitor.drained = simulator->drained;
    replica->monitor.count = simulator->count;
    replica->monitor.data = state;
    return status;
}

static void report(const struct kvc_simulator *simulator, void *state, struct kvc_result *result)
{
    struct kvc_replica *replica = state;
    simulator->totals(state, result);
    result->gets = result->hits + result->misses;
    kvc_recorder_report(&replica->recorder, result);
    kvc_stages_report(simulator->stages, replica->context->scenario, &replica->recorder, simulator->sliced,
                      result);
    for (uint32_t i = 0; simulator->parts != NULL && simulator->parts[i] != NULL; i++) {
        kvc_paths_name(&result->paths, i, simulator->parts[i]);
    }
    if (simulator->report != NULL) {
        simulator->report(state, result);
    }
    kvc_scenario_note_room(replica->context->scenario, result);
    kvc_bottleneck_find(result);
    result->requests_simulated = replica->recorder.offered_in_all;
    kvc_replica_report(replica);
}

enum kvc_status kvc_simulate_replica(const struct kvc_simulator *simulator,
                                     const struct kvc_run_context *context, struct kvc_diag *diag)
{
    void *state = kvc_array_of(1, simulator->state_bytes);
    struct kvc_platform *platform = kvc_platform_create();
    simulator->machine(state, context, platform);
    enum kvc_status status = open_replica(simulator, state, context, platform, diag);
    if (status == KVC_OK) {
        simulator->open(state);
        status = kvc_replica_run(state, !simulator->looks, diag);
    }
    if (status == KVC_OK) {
        report(simulator, state, context->result);
    }
    if (simulator->close != NULL) {
        simulator->close(state);
    }
    kvc_replica_close(state);
    kvc_platform_free(platform);
    free(state);
    return status;
}

void kvc_simulate_slices(struct kvc_slice_server *server, const char *name, const char *operations)
{
    const struct kvc_replica *replica = server->slices->replica;
    kvc_timeline_row(replica->context->timeline, server->number, 0, name, operations);
    kvc_engine_spawn("server", kvc_slice_server_main, server);
}
