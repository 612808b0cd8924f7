#include "models/megakv/real/report.h"

#include <math.h>

#include "sim/metrics/bottleneck.h"
#include "validate/probes/noise.h"

/* The machine counts as busy if others use more than this fraction of its processor time. */
static const double busy_frac = 0.01;

static void add_stage(struct kvc_result *result, const char *name, const char *device,
                      const struct kvc_megakv_real_task_time *time, double threads, double measured_ns)
{
    struct kvc_stage_result *stage =
        kvc_result_add_stage(result, name, device, fmin(time->busy_ns / threads / measured_ns, 1));
    stage->busy_s = time->busy_ns / 1e9;
    stage->served = time->served;
}

static void add_time(struct kvc_megakv_real_task_time *sum, const struct kvc_megakv_real_task_time *time)
{
    sum->busy_ns += time->busy_ns;
    sum->served += time->served;
}

/* The work of all pipelines of a node. */
struct sums {
    struct kvc_megakv_real_task_time receive, send;
    struct kvc_megakv_slab_stats slab;
    uint64_t received, rejected;
};

/* Adds up the pipelines; the answered requests go straight into `result`. */
static struct sums sum_pipelines(const struct kvc_megakv_real_node *node, struct kvc_result *result)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < node->count; i++) {
        const struct kvc_megakv_real_pipeline *pipeline = node->pipeline[i];
        const struct kvc_megakv_real_answerer *answerer = &pipeline->answerer;
        add_time(&sums.receive, &pipeline->receive);
        add_time(&sums.send, &pipeline->send);
        sums.received += pipeline->received;
        sums.rejected += pipeline->rejected;
        sums.slab.reads += answerer->stats.reads;
        sums.slab.read_lines += answerer->stats.read_lines;
        sums.slab.marked += answerer->stats.marked;
        sums.slab.evicted += pipeline->receive_stats.evicted;
        result->completed += answerer->completed;
        result->hits += answerer->hits;
        result->misses += answerer->misses;
        result->sets += answerer->sets;
        result->deletes += answerer->deletes;
        result->requests_simulated += answerer->answered;
        kvc_histogram_add(&result->latency, answerer->latency);
    }
    return sums;
}

static void report_stages(const struct kvc_megakv_real_node *node, const struct sums *sums,
                          double measured_ns, struct kvc_result *result)
{
    struct kvc_megakv_real_task_time index = node->search;
    add_time(&index, &node->insert);
    add_stage(result, "receive", "cpu", &sums->receive, node->receive_cores, measured_ns);
    add_stage(result, "index", node->on_gpu ? "gpu" : "cpu", &index, 1, measured_ns);
    add_stage(result, "send", "cpu", &sums->send, node->send_cores, measured_ns);
    if (node->shared) { /* The receivers and the scheduler share a core. */
        double both_frac = result->stage[0].utilization_frac + result->stage[1].utilization_frac;
        result->stage[0].utilization_frac = result->stage[1].utilization_frac = fmin(both_frac, 1);
    }
    kvc_bottleneck_find(result);
}

static void report_kernel(const struct kvc_megakv_real_node *node, const struct sums *sums,
                          struct kvc_result *result)
{
    const struct kvc_megakv_shard *shard = node->shard;
    const struct kvc_megakv_slab_stats *slab = &sums->slab;
    const struct kvc_index_stats *index = &shard->index_stats;
    double slots = (double)kvc_index_capacity(shard->index);
    kvc_metrics_set(&result->kernel, "load_factor_frac", (double)kvc_index_used(shard->index) / slots);
    if (index->searches > 0) {
        kvc_metrics_set(&result->kernel, "lines_per_search",
                        (double)index->search_lines / (double)index->searches);
    }
    if (index->inserts > 0) {
        kvc_metrics_set(&result->kernel, "lines_per_insert",
                        (double)index->insert_lines / (double)index->inserts);
    }
    if (slab->reads > 0) {
        kvc_metrics_set(&result->kernel, "lines_per_read", (double)slab->read_lines / (double)slab->reads);
        kvc_metrics_set(&result->kernel, "marks_per_read", (double)slab->marked / (double)slab->reads);
    }
    kvc_metrics_set(&result->kernel, "index_dropped", (double)index->dropped);
    kvc_metrics_set(&result->kernel, "evictions", (double)slab->evicted);
    kvc_metrics_set(&result->kernel, "rejected", (double)sums->rejected);
}

static void report_launches(struct kvc_result *result, const char *time_name, const char *jobs_name,
                            const struct kvc_megakv_real_task_time *time, uint64_t launches)
{
    if (launches == 0) {
        return;
    }
    kvc_metrics_set(&result->model, time_name, time->busy_ns / (double)launches / 1e3);
    kvc_metrics_set(&result->model, jobs_name, (double)time->served / (double)launches);
}

void kvc_megakv_real_report(const struct kvc_megakv_real_node *node, struct kvc_result *result)
{
    double measured_ns = node->until_ns - node->from_ns;
    struct sums sums = sum_pipelines(node, result);
    result->gets = result->hits + result->misses;
    result->offered = sums.received;
    result->has_histogram = true;
    result->throughput_mops = (double)result->completed / measured_ns * 1e3;
    result->simulated_s = measured_ns / 1e9;
    result->warmup_s = node->from_ns / 1e9;
    report_stages(node, &sums, measured_ns, result);
    report_kernel(node, &sums, result);
    report_launches(result, "t_search_us", "jobs_per_search", &node->search, node->search_launches);
    report_launches(result, "t_insert_us", "jobs_per_insert", &node->insert, node->insert_launches);
    if (node->search_launches > 0) {
        double launches = (double)node->search_launches;
        kvc_metrics_set(&result->model, "cycle_effective_us", measured_ns / launches / 1e3);
        kvc_metrics_set(&result->model, "launches_late_frac", (double)node->late_launches / launches);
    }
}

void kvc_megakv_real_report_noise(const struct kvc_megakv_real_noise *noise, struct kvc_result *result)
{
    double slowest_frac = kvc_cores_slowest_frac(&noise->cores);
    kvc_metrics_set(&result->model, "others_frac", noise->others_frac);
    kvc_metrics_set(&result->model, "stalled_frac", noise->stalled_frac);
    kvc_metrics_set(&result->model, "slowest_core_frac", slowest_frac);
    if (slowest_frac < kvc_cores_shared_frac) {
        kvc_result_note(
            result,
            "the slowest core ran at %.0f %% of the fastest while all worked: it shares its units with another "
            "core or with a neighbour of this machine, and pipelines wait for it",
            100 * slowest_frac);
    }
    if (noise->stalled_frac > kvc_noise_stalled_frac) {
        kvc_result_note(
            result,
            "threads were kept from running for %.1f %% of the time: the highest latencies are those of the "
            "machine, measure again",
            100 * noise->stalled_frac);
    }
    if (noise->others_frac > busy_frac) {
        kvc_result_note(result,
                        "the machine was busy: others used %.1f %% of its processor time, measure again",
                        100 * noise->others_frac);
    }
}
