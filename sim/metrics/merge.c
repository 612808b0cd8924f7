#include "sim/metrics/merge.h"

#include <math.h>
#include <string.h>

#include "sim/metrics/bottleneck.h"

static void merge_metrics(struct kvc_metrics *sum, const struct kvc_metrics *replica, double weight)
{
    for (uint32_t i = 0; i < replica->count; i++) {
        uint32_t at = 0;
        while (at < sum->count && strcmp(sum->entry[at].name, replica->entry[i].name) != 0) {
            at++;
        }
        if (at == sum->count) {
            kvc_metrics_set(sum, replica->entry[i].name, 0);
        }
        sum->entry[at].value += weight * replica->entry[i].value;
    }
}

/* Adds the stages. Every replica of a scenario has the same ones in the same order. */
static void merge_stages(struct kvc_result *sum, const struct kvc_result *replica, double weight)
{
    for (uint32_t i = 0; i < replica->stage_count; i++) {
        struct kvc_stage_result *stage = &sum->stage[i];
        const struct kvc_stage_result *other = &replica->stage[i];
        if (i >= sum->stage_count) {
            *stage = *other;
            stage->utilization_frac = stage->mean_us = stage->busy_s = 0;
            stage->served = 0;
            sum->stage_count++;
        }
        stage->utilization_frac += weight * other->utilization_frac;
        stage->mean_us += weight * other->mean_us;
        stage->busy_s += other->busy_s;
        stage->served += other->served;
    }
}

/* Keeps the windows that every replica has. Windows of different lengths cannot be averaged: none is kept. */
static void merge_windows(struct kvc_result *sum, const struct kvc_result *replica, double weight)
{
    uint32_t shared = replica->window_count;
    if (sum->window_us == 0) {
        sum->window_us = replica->window_us;
    } else if (sum->window_us != replica->window_us) {
        shared = 0;
    } else if (sum->window_count < shared) {
        shared = sum->window_count;
    }
    for (uint32_t i = 0; i < shared; i++) {
        sum->window_mops[i] += (float)(weight * (double)replica->window_mops[i]);
    }
    for (uint32_t i = shared; i < sum->window_count; i++) {
        sum->window_mops[i] = 0;
    }
    sum->window_count = shared;
}

/* All replicas have the same platform, so their devices agree. */
static void merge_devices(struct kvc_result *sum, const struct kvc_result *replica, double weight)
{
    bool first = sum->device_count == 0;
    for (uint32_t i = 0; i < replica->device_count; i++) {
        const struct kvc_device_result *from = &replica->device[i];
        if (first) {
            struct kvc_device_result *added = kvc_result_add_device(sum, from->name, from->device);
            added->joules = added->watts_mean = isnan(from->joules) ? NAN : 0;
        }
        sum->device[i].utilization_frac += weight * from->utilization_frac;
        sum->device[i].joules += from->joules;
        sum->device[i].watts_mean += weight * from->watts_mean;
    }
}

void kvc_result_merge(struct kvc_result *sum, const struct kvc_result *replica, uint32_t replicas)
{
    double weight = 1.0 / replicas;
    sum->throughput_mops += weight * replica->throughput_mops;
    sum->offered += replica->offered;
    sum->completed += replica->completed;
    sum->dropped += replica->dropped;
    sum->gets += replica->gets;
    sum->hits += replica->hits;
    sum->misses += replica->misses;
    sum->sets += replica->sets;
    sum->deletes += replica->deletes;
    sum->latency_mean_us += weight * replica->latency_mean_us;
    sum->latency_p95_us += weight * replica->latency_p95_us;
    if (replica->has_histogram) {
        kvc_histogram_add(&sum->latency, &replica->latency);
    }
    sum->has_histogram |= replica->has_histogram;
    merge_stages(sum, replica, weight);
    merge_metrics(&sum->kernel, &replica->kernel, weight);
    merge_metrics(&sum->model, &replica->model, weight);
    sum->watts_mean += weight * replica->watts_mean;
    sum->joules += replica->joules;
    merge_devices(sum, replica, weight);
    sum->simulated_s += replica->simulated_s;
    sum->warmup_s += weight * replica->warmup_s;
    sum->wall_s += replica->wall_s;
    sum->memory_taken_bytes = fmax(sum->memory_taken_bytes, replica->memory_taken_bytes);
    sum->source_wall_s += replica->source_wall_s;
    sum->kernel_wall_s += replica->kernel_wall_s;
    sum->engine_wall_s += replica->engine_wall_s;
    sum->preload_wall_s = fmax(sum->preload_wall_s, replica->preload_wall_s);
    sum->requests_simulated += replica->requests_simulated;
    sum->activities += replica->activities;
    merge_windows(sum, replica, weight);
    if (replicas == 1) { /* With more, the replicas themselves give the intervals. */
        sum->batch_s = replica->batch_s;
        sum->batch_means_count = replica->batch_means_count;
        memcpy(sum->batch_means, replica->batch_means, sizeof(sum->batch_means));
        sum->half_width_count = replica->half_width_count;
        memcpy(sum->half_width, replica->half_width, replica->half_width_count * sizeof(*sum->half_width));
    }
    if (sum->timeline_error == 0) {
        sum->timeline_error = replica->timeline_error;
    }
    if (sum->look_count == 0) {
        sum->look_count = replica->look_count;
        memcpy(sum->look, replica->look, replica->look_count * sizeof(*sum->look));
    }
    for (uint32_t i = 0; i < replica->note_count; i++) {
        kvc_result_note(sum, "%s", replica->note[i]);
    }
    kvc_bottleneck_find(sum);
}
