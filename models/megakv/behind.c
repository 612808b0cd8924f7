#include "models/megakv/behind.h"

#include <math.h>

#include "sim/workload/keys/hottest_shard.h"
#include "sim/workload/keys/popularity_blocks.h"

/* Returns the share of the GETs that hit in the long run. */
static double hit_frac(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double room = config->shards * kvc_megakv_items_max(config);
    double held = room < (double)workload->keys ? kvc_popularity_mass(workload, room) : 1;
    return held * kvc_cache_aside_valid_frac(workload);
}

/* Makes the load of the application that of the store. */
static void set_load(struct kvc_workload *workload, const struct kvc_megakv_behind *behind)
{
    double most_mops = kvc_workload_rate_max_mops(workload);
    double factor = behind->messages * fmin(behind->limit_mops / most_mops, 1);
    workload->rate_mops *= factor;
    for (uint32_t i = 0; i < workload->curve_points; i++) {
        workload->curve[i].rate_mops *= factor;
    }
    workload->get_frac = behind->mix.get / behind->messages;
    workload->set_frac = behind->mix.set / behind->messages;
    workload->delete_frac = behind->mix.delete / behind->messages;
}

/* Sets the mean sizes. A GET that misses has an empty response. */
static void set_means(struct kvc_megakv_behind *behind)
{
    struct kvc_megakv_config *config = &behind->config;
    struct kvc_workload gets = behind->scenario.workload;
    config->means = kvc_cuckoo_means_of(&gets, config->dram, config->nic, config->api == KVC_MEGAKV_GETK);
    double missed = gets.get_frac * (1 - behind->mix.hit);
    gets.get_frac = 1;
    gets.set_frac = gets.delete_frac = 0;
    double hit_bytes =
        kvc_cuckoo_means_of(&gets, config->dram, config->nic, config->api == KVC_MEGAKV_GETK).response_bytes;
    config->means.response_bytes -= missed * (hit_bytes - (double)config->nic->response_header_bytes);
}

void kvc_megakv_behind_open(struct kvc_megakv_behind *behind, const struct kvc_scenario *scenario)
{
    const struct kvc_database *database = kvc_megakv_config_of(scenario)->database;
    const struct kvc_workload *workload = &scenario->workload;
    *behind = (struct kvc_megakv_behind){.scenario = *scenario,
                                         .config = *kvc_megakv_config_of(scenario),
                                         .messages = 1,
                                         .limit_mops = INFINITY};
    behind->scenario.config = &behind->config;
    if (database == NULL) {
        return;
    }
    double nodes = (double)scenario->cluster.nodes;
    double share =
        kvc_hottest_shard_frac(workload, (uint32_t)nodes, 1, (uint32_t)scenario->cluster.virtual_nodes);
    behind->mix = kvc_cache_aside_mix_of(workload, true, hit_frac(scenario));
    behind->messages = behind->mix.get + behind->mix.set + behind->mix.delete;
    behind->load = kvc_cache_aside_load_of(&behind->mix, database, (double)workload->keys / nodes);
    behind->limit_mops = behind->load.busy_ns > 0 ? 1e3 / behind->load.busy_ns / share : INFINITY;
    set_load(&behind->scenario.workload, behind);
    set_means(behind);
}

void kvc_megakv_behind_costs(const struct kvc_megakv_behind *behind, struct kvc_megakv_costs *costs)
{
    kvc_megakv_costs_open(costs, &behind->scenario);
    if (behind->config.database != NULL) {
        costs->hit_frac = behind->mix.hit;
        costs->lookup_mix.missed_frac = costs->measured ? 1 - behind->mix.hit : 0;
    }
}

double kvc_megakv_behind_latency_ns(const struct kvc_megakv_behind *behind, double latency_ns, double fill_ns)
{
    const struct kvc_database *database = behind->config.database;
    const struct kvc_cache_aside_mix *mix = &behind->mix;
    if (database == NULL) {
        return latency_ns;
    }
    double keys = (double)behind->scenario.workload.keys / (double)behind->scenario.cluster.nodes;
    if (mix->get > 0) {
        double query_ns = kvc_database_load_of(database, false, keys).time_ns + database->latency_ns;
        return latency_ns + (1 - mix->hit) * (query_ns + latency_ns - fill_ns);
    }
    double deletes = 1 - mix->updates; /* Of the application. */
    return mix->delete *latency_ns - (mix->delete - deletes) * fill_ns + behind->load.time_ns;
}
