/* Fills the result of a simulated MemcachedGPU. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "models/memcachedgpu/predict.h"
#include "models/memcachedgpu/simulation.h"
#include "sim/metrics/bottleneck.h"

static struct kvc_stage_result *add_stage(const struct kvc_memcachedgpu_simulation *simulation,
                                          const char *name, const char *device,
                                          enum kvc_memcachedgpu_stage stage, double servers, double sum_ns,
                                          struct kvc_result *result)
{
    struct kvc_stage_result *added =
        kvc_recorder_report_stage(&simulation->replica.recorder, name, device, 1u << stage, servers, result);
    added->mean_us = sum_ns / (double)simulation->batched * 1e-3;
    return added;
}

static void report_stages(const struct kvc_memcachedgpu_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_memcachedgpu_config *config = simulation->config;
    double nodes = config->shards;
    bool network = config->feed == KVC_MEMCACHEDGPU_NETWORK;
    if (network) {
        add_stage(simulation, "rx", "nic", KVC_MEMCACHEDGPU_RX,
                  nodes * (double)config->options->receive_ports, NAN, result);
        add_stage(simulation, "receive", "cpu", KVC_MEMCACHEDGPU_RECEIVE, nodes, NAN, result);
    }
    add_stage(simulation, "launch", "cpu", KVC_MEMCACHEDGPU_LAUNCH, nodes, simulation->launch_sum_ns, result);
    if (config->receive == KVC_MEMCACHEDGPU_RECEIVE_HOST) {
        add_stage(simulation, "copy_in", "pcie", KVC_MEMCACHEDGPU_COPY_IN, nodes, NAN, result);
    }
    add_stage(simulation, "kernel", "gpu", KVC_MEMCACHEDGPU_GPU, nodes * config->streams,
              simulation->gpu_sum_ns, result);
    add_stage(simulation, "copy_out", "pcie", KVC_MEMCACHEDGPU_COPY_OUT, nodes, NAN, result);
    add_stage(simulation, "answer", "cpu", KVC_MEMCACHEDGPU_ANSWER, nodes * config->post_threads,
              simulation->answer_sum_ns, result);
    if (network) {
        add_stage(simulation, "tx", "nic", KVC_MEMCACHEDGPU_TX, nodes * (double)config->nic->ports, NAN,
                  result);
    }
    if (config->writes) {
        struct kvc_stage_result *write = add_stage(simulation, "write", "cpu", KVC_MEMCACHEDGPU_SET,
                                                   nodes * (double)config->options->set_threads, NAN, result);
        write->served = simulation->sets + simulation->deletes;
        write->mean_us = simulation->set_latency_sum_ns / (double)write->served * 1e-3;
    }
}

static void sum_index(const struct kvc_memcachedgpu_simulation *simulation, struct kvc_index_stats *sum)
{
    *sum = (struct kvc_index_stats){0};
    for (uint32_t i = 0; i < simulation->config->shards && simulation->store->shards != NULL; i++) {
        kvc_index_stats_add(sum, &simulation->store->shards[i].index_stats);
    }
}

void kvc_memcachedgpu_count(void *data, bool begins)
{
    struct kvc_memcachedgpu_simulation *simulation = data;
    struct kvc_index_stats *stats = begins ? &simulation->first_index : &simulation->last_index;
    double batched = (double)simulation->batched, batches = (double)simulation->batches;
    sum_index(simulation, stats);
    const struct kvc_ratio ratio[] = {
        {"kernel", NULL, "lines_per_search", (double)stats->search_lines, (double)stats->searches,
         KVC_RATIO_OF_COUNTS},
        {"kernel", NULL, "lines_per_insert", (double)stats->insert_lines, (double)stats->inserts,
         KVC_RATIO_OF_COUNTS},
        {"stages", "launch", "mean_us", simulation->launch_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"stages", "kernel", "mean_us", simulation->gpu_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"stages", "answer", "mean_us", simulation->answer_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"stages", "write", "mean_us", simulation->set_latency_sum_ns * 1e-3,
         (double)(simulation->sets + simulation->deletes), KVC_RATIO_OF_ENGINE},
        {"model", NULL, "batching_mean_us", simulation->batching_sum_ns * 1e-3, batched, KVC_RATIO_OF_ENGINE},
        {"model", NULL, "jobs_per_search", batched, batches, KVC_RATIO_OF_COUNTS},
        {"model", NULL, "t_search_us", simulation->kernel_sum_ns * 1e-3, simulation->kernels,
         KVC_RATIO_OF_ENGINE},
        {"model", NULL, "search_ns_per_job", simulation->kernel_sum_ns, simulation->kernel_packets,
         KVC_RATIO_OF_ENGINE},
        {"model", NULL, "set_kops", (double)simulation->sets * 1e6, kvc_engine_now_ns(), KVC_RATIO_OF_ENGINE},
    };
    kvc_recorder_sample(&simulation->replica.recorder, ratio, sizeof(ratio) / sizeof(*ratio));
}

static double quotient(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

static void report_kernel(const struct kvc_memcachedgpu_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_index_stats *first = &simulation->first_index, *last = &simulation->last_index;
    struct kvc_metrics *kernel = &result->kernel;
    uint64_t used = 0, capacity = 0, rejected = 0, expired = 0, stale = 0, bad = 0;
    if (simulation->store->shards == NULL) {
        return;
    }
    for (uint32_t i = 0; i < simulation->config->shards; i++) {
        const struct kvc_memcachedgpu_shard *shard = &simulation->store->shards[i];
        used += kvc_memcachedgpu_tables_used(&shard->tables);
        capacity += kvc_memcachedgpu_tables_capacity(&shard->tables);
        rejected += shard->rejected;
        expired += shard->expired;
        stale += shard->stale;
    }
    for (uint32_t i = KVC_MEMCACHEDGPU_PACKET_OK + 1; i < KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT; i++) {
        bad += simulation->bad[i];
    }
    kvc_metrics_set(kernel, "load_factor_frac", quotient(used, capacity));
    kvc_metrics_set(kernel, "lines_per_search",
                    quotient(last->search_lines - first->search_lines, last->searches - first->searches));
    kvc_metrics_set(kernel, "lines_per_insert",
                    quotient(last->insert_lines - first->insert_lines, last->inserts - first->inserts));
    kvc_metrics_set(kernel, "replaced", (double)(last->replaced - first->replaced));
    kvc_metrics_set(kernel, "evictions", (double)(last->evicted - first->evicted));
    kvc_metrics_set(kernel, "rejected", (double)rejected);
    kvc_metrics_set(kernel, "expired", (double)expired);
    kvc_metrics_set(kernel, "stale", (double)stale);
    kvc_metrics_set(kernel, "bad_packets", (double)bad);
    for (uint32_t i = KVC_MEMCACHEDGPU_PACKET_OK + 1; i < KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT; i++) {
        if (simulation->bad[i] > 0) {
            char name[KVC_NAME_MAX];
            snprintf(name, sizeof(name), "bad_%s", kvc_memcachedgpu_packet_status_name(i));
            for (char *c = name; *c != '\0'; c++) {
                *c = *c == ' ' ? '_' : (char)tolower(*c);
            }
            kvc_metrics_set(kernel, name, (double)simulation->bad[i]);
        }
    }
}

static void report_background(const struct kvc_memcachedgpu_simulation *simulation, struct kvc_result *result)
{
    const struct kvc_memcachedgpu_watch *watch = &simulation->watch;
    struct kvc_metrics *model = &result->model;
    if (simulation->config->options->background_blocks == 0) {
        return;
    }
    if (isnan(watch->ended_ns)) {
        kvc_result_note(result, "the other task had not ended when the run did; a longer run.duration shows "
                                "what it does");
    }
    kvc_metrics_set(model, "background_ms", (watch->ended_ns - watch->started_ns) * 1e-6);
    kvc_metrics_set(model, "rtt_before_us", watch->before_sum_ns / watch->before_count * 1e-3);
    kvc_metrics_set(model, "rtt_max_us", watch->most_ns * 1e-3);
    kvc_metrics_set(model, "disturbed_ms", fmax(watch->disturbed_ns - watch->started_ns, 0) * 1e-6);
    kvc_metrics_set(model, "recovery_ms", fmax(watch->disturbed_ns - watch->ended_ns, 0) * 1e-6);
}

void kvc_memcachedgpu_report(struct kvc_memcachedgpu_simulation *simulation, struct kvc_result *result)
{
    struct kvc_recorder *recorder = &simulation->replica.recorder;
    double measured_ns = recorder->until_ns - recorder->from_ns, batched = (double)simulation->batched;
    result->completed = simulation->completed + simulation->sets + simulation->deletes;
    result->gets = simulation->completed;
    result->hits = simulation->hits;
    result->misses = simulation->misses;
    result->sets = simulation->sets;
    result->deletes = simulation->deletes;
    kvc_recorder_report(recorder, result);
    report_stages(simulation, result);
    kvc_metrics_set(&result->model, "batching_mean_us", simulation->batching_sum_ns / batched * 1e-3);
    kvc_metrics_set(&result->model, "jobs_per_search", batched / (double)simulation->batches);
    kvc_metrics_set(&result->model, "t_search_us", simulation->kernel_sum_ns / simulation->kernels * 1e-3);
    kvc_metrics_set(&result->model, "search_ns_per_job",
                    simulation->kernel_sum_ns / simulation->kernel_packets);
    if (simulation->config->writes) {
        kvc_metrics_set(&result->model, "lock_waits", (double)simulation->lock_waits);
        kvc_metrics_set(&result->model, "set_kops", (double)simulation->sets / measured_ns * 1e6);
    }
    report_background(simulation, result);
    report_kernel(simulation, result);
    kvc_memcachedgpu_add_price(simulation->scenario, result);
    kvc_bottleneck_find(result);
}
