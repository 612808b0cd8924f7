#include "sim/metrics/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/diag.h"
#include "sim/base/text/copy.h"
#include "sim/metrics/statistics.h"

void kvc_metrics_set(struct kvc_metrics *metrics, const char *name, double value)
{
    if (metrics->count == KVC_METRICS_MAX || strlen(name) >= KVC_NAME_MAX) {
        KVC_BUG("no room for metric %s", name);
    }
    struct kvc_metric *metric = &metrics->entry[metrics->count++];
    strcpy(metric->name, name);
    metric->value = value;
}

void kvc_metrics_set_ratio(struct kvc_metrics *metrics, const char *name, double part, double whole)
{
    if (whole > 0) {
        kvc_metrics_set(metrics, name, part / whole);
    }
}

double kvc_metrics_get(const struct kvc_metrics *metrics, const char *name)
{
    for (uint32_t i = 0; i < metrics->count; i++) {
        if (strcmp(metrics->entry[i].name, name) == 0) {
            return metrics->entry[i].value;
        }
    }
    return NAN;
}

struct kvc_stage_result *kvc_result_add_stage(struct kvc_result *result, const char *name, const char *device,
                                              double utilization_frac)
{
    if (result->stage_count == KVC_STAGES_MAX) {
        KVC_BUG("no room for stage %s", name);
    }
    struct kvc_stage_result *stage = &result->stage[result->stage_count++];
    *stage = (struct kvc_stage_result){.utilization_frac = utilization_frac,
                                       .served_mops = NAN,
                                       .mean_us = NAN,
                                       .waiting_requests = NAN,
                                       .wait_us = NAN};
    kvc_text_copy(stage->name, sizeof(stage->name), name);
    kvc_text_copy(stage->device, sizeof(stage->device), device);
    return stage;
}

void kvc_missing_add(char missing[KVC_MISSING_BYTES], const char *names)
{
    static const char between[] = ", ";
    size_t used = strlen(missing), bytes;
    for (const char *name = names; (bytes = strcspn(name += strspn(name, between), between)) > 0;
         name += bytes) {
        if (memmem(missing, used, name, bytes) != NULL ||
            used + bytes + sizeof(between) > KVC_MISSING_BYTES) {
            continue;
        }
        memcpy(missing + used, between, used > 0 ? strlen(between) : 0);
        used += used > 0 ? strlen(between) : 0;
        memcpy(missing + used, name, bytes);
        missing[used += bytes] = '\0';
    }
}

double kvc_result_stage_mops(const struct kvc_result *result, uint32_t stage)
{
    double served_mops = result->stage[stage].served_mops;
    return isnan(served_mops) ? result->throughput_mops : served_mops;
}

struct kvc_device_result *kvc_result_add_device(struct kvc_result *result, const char *name, const char *kind)
{
    if (result->device_count == KVC_DEVICES_MAX) {
        KVC_BUG("no room for device %s", name);
    }
    struct kvc_device_result *device = &result->device[result->device_count++];
    *device = (struct kvc_device_result){.joules = NAN, .watts_mean = NAN};
    kvc_text_copy(device->name, sizeof(device->name), name);
    kvc_text_copy(device->device, sizeof(device->device), kind);
    return device;
}

double kvc_result_latency_mean_us(const struct kvc_result *result)
{
    if (!result->has_histogram) {
        return result->predicted.mean_us;
    }
    return result->latency.count > 0 ? kvc_histogram_mean_ns(&result->latency) * 1e-3 : NAN;
}

double kvc_result_latency_percentile_us(const struct kvc_result *result, double p)
{
    const struct kvc_latencies *predicted = &result->predicted;
    const struct {
        double p, us;
    } known[] = {{0.5, predicted->p50_us},
                 {0.95, predicted->p95_us},
                 {0.99, predicted->p99_us},
                 {0.999, predicted->p999_us}};
    if (result->has_histogram) {
        return result->latency.count > 0 ? kvc_histogram_percentile_ns(&result->latency, p) * 1e-3 : NAN;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (known[i].p == p) {
            return known[i].us;
        }
    }
    return NAN;
}

double kvc_result_window_latency_us(const struct kvc_result *result, uint32_t window)
{
    double mops = (double)result->window_mops[window];
    double on_their_way = (double)result->window_latency[window];
    return on_their_way > 0 ? on_their_way / mops : NAN;
}

const struct kvc_batch_means *kvc_result_batch_means(const struct kvc_result *result, const char *name)
{
    for (uint32_t i = 0; i < result->batch_means_count; i++) {
        if (strcmp(result->batch_means[i].name, name) == 0) {
            return &result->batch_means[i];
        }
    }
    return NULL;
}

void kvc_result_add_half_width(struct kvc_result *result, const char *name, double half_width)
{
    if (result->half_width_count == KVC_HALF_WIDTHS_MAX) {
        KVC_BUG("no room for the interval of %s", name);
    }
    struct kvc_half_width *added = &result->half_width[result->half_width_count++];
    kvc_text_copy(added->name, sizeof(added->name), name);
    added->half_width = half_width;
}

double kvc_result_half_width(const struct kvc_result *result, const char *name)
{
    const struct kvc_batch_means *means = kvc_result_batch_means(result, name);
    if (means != NULL) {
        return kvc_interval_of_batches(means->mean, means->count).half_width;
    }
    for (uint32_t i = 0; i < result->half_width_count; i++) {
        if (strcmp(result->half_width[i].name, name) == 0) {
            return result->half_width[i].half_width;
        }
    }
    return NAN;
}

const char kvc_extrapolated_name[] = "extrapolated_frac";

void kvc_result_note(struct kvc_result *result, const char *format, ...)
{
    char text[KVC_NOTE_BYTES];
    va_list arguments;
    if (result->is_wordless) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (uint32_t i = 0; i < result->note_count; i++) {
        if (strcmp(result->note[i], text) == 0) {
            return;
        }
    }
    if (result->note_count < KVC_NOTES_MAX) {
        strcpy(result->note[result->note_count++], text);
    }
}

void kvc_node_result_of(const struct kvc_result *result, struct kvc_node_result *node)
{
    const struct kvc_histogram *latency = &result->latency;
    double gets = (double)(result->hits + result->misses);
    node->throughput_mops = result->throughput_mops;
    node->offered = (double)result->offered;
    node->dropped = (double)result->dropped;
    node->hit_frac = gets > 0 ? (double)result->hits / gets : NAN;
    node->latency_mean_us = kvc_histogram_mean_ns(latency) * 1e-3;
    node->latency_p50_us = kvc_histogram_percentile_ns(latency, 0.5) * 1e-3;
    node->latency_p99_us = kvc_histogram_percentile_ns(latency, 0.99) * 1e-3;
    node->watts_mean = result->watts_mean;
    node->utilization_frac = NAN;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct kvc_stage_result *stage = &result->stage[i];
        if (!isnan(stage->utilization_frac) && !(stage->utilization_frac <= node->utilization_frac)) {
            node->utilization_frac = stage->utilization_frac;
            memcpy(node->stage, stage->name, sizeof(node->stage));
        }
    }
}

void kvc_node_result_add(struct kvc_node_result *sum, const struct kvc_node_result *replica,
                         uint32_t replicas)
{
    double weight = 1.0 / replicas;
    memcpy(sum->name, replica->name, sizeof(sum->name));
    memcpy(sum->class, replica->class, sizeof(sum->class));
    memcpy(sum->stage, replica->stage, sizeof(sum->stage));
    sum->key_frac += weight * replica->key_frac;
    sum->request_frac += weight * replica->request_frac;
    sum->throughput_mops += weight * replica->throughput_mops;
    sum->offered += weight * replica->offered;
    sum->dropped += weight * replica->dropped;
    sum->hit_frac += weight * replica->hit_frac;
    sum->latency_mean_us += weight * replica->latency_mean_us;
    sum->latency_p50_us += weight * replica->latency_p50_us;
    sum->latency_p99_us += weight * replica->latency_p99_us;
    sum->utilization_frac += weight * replica->utilization_frac;
    sum->watts_mean += weight * replica->watts_mean;
}
