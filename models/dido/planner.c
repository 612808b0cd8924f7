
#include <math.h>

#include "models/dido/simulation.h"

/* Waits for a request to plan, plans, and hands the plan to the next batch. */
static void planner_main(void *data)
{
    struct kvc_dido_simulation *simulation = data;
    struct kvc_dido_planner *planner = &simulation->planner;
    double planning_ns = simulation->config->options->planning_ns;
    const struct kvc_draw search = {simulation->machine.cpu, planning_ns, planning_ns};
    for (;;) {
        kvc_gate_wait(planner->gate);
        kvc_engine_work(&search, 1);
        simulation->pipeline = planner->plan.pipeline;
        simulation->batch_queries = planner->plan.queries;
        simulation->larger_queries = 0;
        simulation->plans++;
        planner->plans = false;
    }
}

void kvc_dido_planner_open(struct kvc_dido_simulation *simulation)
{
    struct kvc_dido_planner *planner = &simulation->planner;
    struct kvc_workload load = kvc_phases_workload(&simulation->scenario->workload, 0);
    const struct kvc_dido_profile profile = {.get_frac = load.get_frac,
                                             .set_frac = load.set_frac,
                                             .key_bytes = kvc_workload_key_bytes_mean(&load),
                                             .value_bytes = kvc_workload_value_bytes_mean(&load)};
    double zipf_s = load.popularity == KVC_POPULARITY_ZIPF ? load.zipf_s : 0;
    kvc_dido_adapter_open(&planner->adapter, simulation->config->options->adapt_threshold_frac, &profile,
                          zipf_s);
    planner->found = simulation->load[0].mix;
    planner->gate = kvc_gate_create(0);
    kvc_engine_spawn("planner", planner_main, simulation);
}

void kvc_dido_planner_close(struct kvc_dido_planner *planner)
{
    kvc_gate_free(planner->gate);
    kvc_dido_adapter_close(&planner->adapter);
}

/* Returns how many items the store has, at least 1. A sampled run keeps a part of them, and a run without
 * structures counts those that it began with. */
static uint64_t stored_items(const struct kvc_dido_simulation *simulation)
{
    const struct kvc_shards *store = simulation->store;
    const struct kvc_workload *workload = &simulation->scenario->workload;
    uint64_t items = store->shards != NULL
                         ? kvc_index_used(store->shards[0].index) * store->sampling.rate
                         : (uint64_t)llround((double)workload->keys * workload->preload_frac);
    return items > 0 ? items : 1;
}

void kvc_dido_planner_look(struct kvc_dido_simulation *simulation, const struct kvc_dido_batch *batch)
{
    struct kvc_dido_planner *planner = &simulation->planner;
    if (planner->plans) {
        return;
    }
    uint64_t items = stored_items(simulation);
    struct kvc_dido_profile profile = kvc_dido_profile_of(&planner->adapter, batch->rows);
    if (kvc_dido_has_changed(&planner->adapter, &profile, items)) {
        planner->plan =
            kvc_dido_adapt(&planner->adapter, simulation->config, &profile, &planner->found, items);
        planner->plans = true;
        kvc_gate_post(planner->gate);
    }
}
