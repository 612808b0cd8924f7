#include "models/dido/predict.h"

#include <math.h>

#include "models/dido/resources.h"
#include "models/latency.h"
#include "sim/metrics/bottleneck.h"

enum { BISECTIONS = 60 };

/* Adds the stages of a plan that does a batch every `every_ns`. */
static void add_stages(const struct kvc_scenario *scenario, const struct kvc_dido_plan *plan, double every_ns,
                       struct kvc_result *result)
{
    double utilization_frac[KVC_MODEL_STAGES_MAX];
    for (uint32_t s = 0; s < kvc_dido_stages_most(scenario); s++) {
        utilization_frac[s] = s < plan->pipeline.stages ? plan->period.busy_ns[s] / every_ns : NAN;
    }
    kvc_stages_predict(kvc_dido_stages, scenario, utilization_frac, result);
    for (uint32_t s = 0; s < result->stage_count; s++) {
        result->stage[s].mean_us = plan->period.served_ns[s] * 1e-3;
    }
    kvc_metrics_set(&result->model, "memory_frac", fmin(plan->period.memory_ns / every_ns, 1));
}

/* Adds the shares of the GPU's time that its kernels take. */
static void add_gpu_shares(const struct kvc_dido_config *config, const struct kvc_dido_plan *plan,
                           const struct kvc_dido_mix *mix, struct kvc_result *result)
{
    for (uint32_t s = 0; s < plan->pipeline.stages; s++) {
        const struct kvc_dido_stage *stage = &plan->pipeline.stage[s];
        if (!stage->on_gpu) {
            continue;
        }
        struct kvc_dido_cost cost =
            kvc_dido_cost_of(config, &plan->pipeline, stage->tasks, true, mix, plan->queries);
        double sum_ns = cost.kernel_ns + cost.launch_ns;
        kvc_metrics_set(&result->model, "gpu_insert_frac", cost.task_ns[KVC_DIDO_INSERT] / sum_ns);
        kvc_metrics_set(&result->model, "gpu_delete_frac", cost.task_ns[KVC_DIDO_ERASE] / sum_ns);
        kvc_metrics_set(&result->model, "gpu_launch_us", cost.launch_ns * 1e-3);
    }
}

/* In an open load, a batch consists of the queries that arrive while the batch before it is received. */
static struct kvc_dido_plan loaded(const struct kvc_dido_config *config, const struct kvc_dido_plan *full,
                                   const struct kvc_dido_mix *mix, double per_ns)
{
    struct kvc_dido_plan plan = *full;
    double interval_ns = kvc_dido_interval_ns(config, &full->pipeline);
    plan.queries = fmax(per_ns * interval_ns, 1);
    plan.period = kvc_dido_period_of(config, &full->pipeline, mix, plan.queries, interval_ns);
    plan.per_ns = per_ns;
    return plan;
}

void kvc_dido_report_pipeline(const struct kvc_dido_config *config, struct kvc_result *result)
{
    char text[KVC_DIDO_PIPELINE_TEXT_MAX];
    int index_tasks = 0, other_tasks = 0;
    for (int i = 0; i < KVC_DIDO_TASKS; i++) {
        enum kvc_dido_task task = (enum kvc_dido_task)i;
        bool on_gpu = config->pipeline.stage[kvc_dido_stage_of(&config->pipeline, task)].on_gpu;
        *(kvc_dido_is_index(task) ? &index_tasks : &other_tasks) += on_gpu;
    }
    kvc_metrics_set(&result->model, "gpu_index_tasks", index_tasks);
    kvc_metrics_set(&result->model, "gpu_other_tasks", other_tasks);
    if (config->plans) {
        kvc_dido_pipeline_print(&config->pipeline, text, sizeof(text));
        kvc_result_note(result, "system.pipeline = \"auto\" is %s", text);
    }
}

/* Returns the latencies without waiting for a batch before. Queries wait for the next batch, for up to
 * spread_ns; NaN: batches are full, and clients send their queries while the first stage receives them. */
static struct kvc_latency_law law_of(const struct kvc_dido_plan *plan, double path_ns, double spread_ns)
{
    struct kvc_latency_law law = {
        .assumes = "queries come evenly while their batch is collected, and a batch waits for no other one"};
    double served_ns = 2 * path_ns;
    for (uint32_t s = 0; s < plan->pipeline.stages; s++) {
        served_ns += plan->period.served_ns[s];
    }
    if (isnan(spread_ns)) {
        spread_ns = plan->period.served_ns[0];
        served_ns -= spread_ns;
    }
    kvc_latency_add(&law, 1, served_ns, spread_ns);
    return law;
}

/* Returns the rate at which clients that wait for their answers send, by Little's law: the time of a query
 * and a pause, at this rate, are that of all clients. If their rate would exceed that of full batches, it is
 * the rate of clients whose batches are full. */
static double clients_per_ns(const struct kvc_dido_config *config, const struct kvc_dido_plan *full,
                             const struct kvc_dido_mix *mix, const struct kvc_workload *workload)
{
    double interval_ns = kvc_dido_interval_ns(config, &full->pipeline), clients = (double)workload->clients;
    double low = 0, high = full->per_ns, middle = high;
    for (int i = 0; i < BISECTIONS; i++) {
        struct kvc_dido_plan plan = loaded(config, full, mix, middle);
        struct kvc_latency_law law = law_of(&plan, config->path_ns, interval_ns);
        *(middle * (kvc_latency_alone_ns(&law) + workload->think_ns) < clients ? &low : &high) = middle;
        middle = (low + high) / 2;
    }
    if (low < full->per_ns * (1 - 1e-9)) {
        return middle;
    }
    struct kvc_latency_law law = law_of(full, config->path_ns, NAN);
    return fmin(full->per_ns, clients / (kvc_latency_alone_ns(&law) + workload->think_ns));
}

static void set_latencies(const struct kvc_workload *workload, const struct kvc_dido_plan *plan,
                          double path_ns, double spread_ns, struct kvc_result *result)
{
    struct kvc_latency_law law = law_of(plan, path_ns, spread_ns);
    if (workload->arrival == KVC_ARRIVAL_CLOSED) {
        kvc_latency_closed(&law, (double)workload->clients / plan->per_ns - workload->think_ns);
    }
    kvc_result_set_latencies(result, &law, workload);
    kvc_result_add_server_latency(result, path_ns);
}

enum kvc_status kvc_dido_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                 struct kvc_diag *diag)
{
    enum kvc_status status = kvc_scenario_refuse_phases(scenario, diag);
    if (status != KVC_OK) {
        return status;
    }
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    struct kvc_dido_mix mix = kvc_dido_mix_of(config, &scenario->workload);
    struct kvc_dido_plan plan = *kvc_dido_configured_plan(config, &mix);
    bool waits = scenario->workload.arrival == KVC_ARRIVAL_CLOSED;
    double offered = waits ? clients_per_ns(config, &plan, &mix, &scenario->workload)
                           : kvc_workload_rate_max_mops(&scenario->workload) * 1e-3;
    double every_ns = plan.period.ns, spread_ns = NAN;
    if (offered < plan.per_ns) {
        plan = loaded(config, &plan, &mix, offered);
        every_ns = kvc_dido_interval_ns(config, &plan.pipeline);
        spread_ns = every_ns;
    }
    result->throughput_mops = plan.per_ns * 1e3;
    set_latencies(&scenario->workload, &plan, config->path_ns, spread_ns, result);
    add_stages(scenario, &plan, every_ns, result);
    kvc_metrics_set(&result->model, "batch_queries", plan.queries);
    kvc_metrics_set(&result->model, "period_us", plan.period.ns * 1e-3);
    kvc_metrics_set(&result->model, "stolen_frac", plan.period.stolen_frac);
    kvc_metrics_set(&result->model, "hit_frac", mix.hit_frac);
    if (config->pcie != NULL) {
        kvc_metrics_set(&result->model, "link_frac", fmin(plan.period.link_ns / every_ns, 1));
    }
    add_gpu_shares(config, &plan, &mix, result);
    kvc_dido_report_pipeline(config, result);
    kvc_bottleneck_find(result);
    return KVC_OK;
}
