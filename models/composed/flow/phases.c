#include "models/composed/flow/phases.h"

#include "models/composed/flow/prices.h"
#include "sim/base/array.h"
#include "sim/workload/phases.h"

void kvc_composed_phases_open(struct kvc_composed_server *server)
{
    const struct kvc_scenario *scenario = server->scenario;
    server->costs = server->config;
    if (scenario->workload.phase_count == 0) {
        return;
    }
    server->phase = kvc_array_of(scenario->workload.phase_count, sizeof(*server->phase));
    for (uint32_t i = 0; i < scenario->workload.phase_count; i++) {
        server->phase[i] = *server->config;
        kvc_composed_set_phase(&server->phase[i], scenario, i);
    }
    server->costs = server->phase;
}

void kvc_composed_phases_follow(struct kvc_composed_server *server, double time_ns)
{
    const struct kvc_composed_config *costs =
        server->phase == NULL ? server->config
                              : &server->phase[kvc_phases_at(&server->scenario->workload, time_ns)];
    if (costs != server->costs) {
        kvc_composed_forget_prices(server);
    }
    server->costs = costs;
}
