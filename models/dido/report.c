/* Fills the result of a simulated DIDO. */
#include <math.h>
#include <stdio.h>

#include "models/dido/predict.h"
#include "models/dido/adapt.h"
#include "models/dido/simulation.h"
#include "sim/metrics/bottleneck.h"

void kvc_dido_count(void *data, bool begins)
{
    struct kvc_dido_simulation *simulation = data;
    struct kvc_index_stats *stats = begins ? &simulation->first_index : &simulation->last_index;
    const struct kvc_dido_sums *sums = &simulation->sums;
    if (simulation->store->shards != NULL) {
        *stats = simulation->store->shards[0].index_stats;
    }
    const struct kvc_ratio ratio[] = {
        {"kernel", NULL, "lines_per_search", (double)stats->search_lines, (double)stats->searches,
         KVC_RATIO_OF_COUNTS},
        {"model", NULL, "batch_queries", (double)sums->queries, (double)sums->batches, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "period_us", sums->period_ns * 1e-3, (double)sums->batches, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "stolen_frac", (double)sums->stolen_queries, (double)sums->stage_queries,
         KVC_RATIO_OF_COUNTS},
    };
    kvc_recorder_sample(&simulation->replica.recorder, ratio, sizeof(ratio) / sizeof(*ratio));
}

const char *kvc_dido_device_of(const struct kvc_dido_simulation *simulation, uint32_t stage)
{
    const struct kvc_dido_config *config = simulation->config;
    bool on_gpu =
        config->adapts ? stage > 0 && stage < simulation->workers - 1 : config->pipeline.stage[stage].on_gpu;
    return on_gpu ? "gpu" : "cpu";
}

static void report_changes(const struct kvc_dido_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_workload *workload = &simulation->scenario->workload;
    double recovery_us = kvc_dido_recovery_us(workload, simulation->replica.recorder.from_ns, result);
    if (simulation->config->adapts) {
        kvc_metrics_set(&result->model, "plans", (double)simulation->plans);
    }
    if (workload->phase_count > 0 && isfinite(recovery_us)) {
        kvc_metrics_set(&result->model, "recovery_us", recovery_us);
    }
}

static void report_stages(const struct kvc_dido_simulation *simulation, struct kvc_result *result)
{
    for (uint32_t s = 0; s < simulation->workers; s++) {
        char name[KVC_NAME_MAX];
        snprintf(name, sizeof(name), "stage%u", s + 1);
        struct kvc_stage_result *added = kvc_recorder_report_stage(
            &simulation->replica.recorder, name, kvc_dido_device_of(simulation, s), 1u << s, 1, result);
        added->mean_us = simulation->sums.stage_ns[s] / (double)simulation->sums.batches * 1e-3;
    }
}

static void report_kernel(const struct kvc_dido_simulation *simulation, struct kvc_metrics *kernel)
{
    const struct kvc_index_stats *first = &simulation->first_index, *last = &simulation->last_index;
    const struct kvc_cuckoo_shard *shard = &simulation->store->shards[0];
    double rate = (double)simulation->store->sampling.rate; /* Requests that a kept one stands for. */
    kvc_metrics_set(kernel, "load_factor_frac",
                    (double)kvc_index_used(shard->index) / (double)kvc_index_capacity(shard->index));
    kvc_metrics_set_ratio(kernel, "lines_per_search", (double)(last->search_lines - first->search_lines),
                          (double)(last->searches - first->searches));
    kvc_metrics_set_ratio(kernel, "lines_per_insert", (double)(last->insert_lines - first->insert_lines),
                          (double)(last->inserts - first->inserts));
    kvc_metrics_set(kernel, "evictions", rate * (double)shard->slab_stats.evicted);
    kvc_metrics_set(kernel, "rejected", rate * (double)shard->rejected);
}

void kvc_dido_report(struct kvc_dido_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_dido_sums *sums = &simulation->sums;
    struct kvc_metrics *model = &result->model;
    result->completed = sums->completed;
    result->hits = sums->hits;
    result->misses = sums->misses;
    result->gets = sums->hits + sums->misses;
    result->sets = sums->sets;
    result->deletes = sums->deletes;
    kvc_recorder_report(&simulation->replica.recorder, result);
    report_stages(simulation, result);
    if (simulation->store->shards != NULL) {
        report_kernel(simulation, &result->kernel);
    }
    kvc_metrics_set_ratio(model, "batch_queries", (double)sums->queries, (double)sums->batches);
    kvc_metrics_set_ratio(model, "period_us", sums->period_ns * 1e-3, (double)sums->batches);
    kvc_metrics_set_ratio(model, "stolen_frac", (double)sums->stolen_queries, (double)sums->stage_queries);
    if (sums->gpu_ns > 0) {
        kvc_metrics_set(model, "gpu_insert_frac", sums->gpu_insert_ns / sums->gpu_ns);
        kvc_metrics_set(model, "gpu_delete_frac", sums->gpu_erase_ns / sums->gpu_ns);
    }
    report_changes(simulation, result);
    kvc_dido_report_pipeline(simulation->config, result);
    kvc_bottleneck_find(result);
}
