#include "sim/metrics/node_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
