#include "scenarios/run/capacity_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "sim/base/rng.h"
#include "sim/metrics/batches.h"
#include "sim/metrics/bottleneck.h"

enum { BATCHES = 20 };

/* Pollaczek and Khinchine's mean latency of an M/D/1 queue. */
static enum kvc_status predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                               struct kvc_diag *diag)
{
    const struct kvc_queue *queue = scenario->options;
    double capacity_mops = 1e3 / queue->service_ns;
    double load = kvc_workload_rate_max_mops(&scenario->workload) / capacity_mops;
    (void)diag;
    result->throughput_mops = fmin(load, 1) * capacity_mops;
    double fill_us = queue->fill_requests / (load * capacity_mops);
    result->latency_mean_us =
        load < 1 ? queue->service_ns * 1e-3 * (1 + load / (2 * (1 - load))) + fill_us : NAN;
    result->latency_p95_us = NAN;
    return KVC_OK;
}

/* The responses of the requests that are in the system, oldest first. */
struct ring {
    double done_ns[64];
    uint64_t head, tail;
};

static bool admit(struct ring *ring, uint32_t room, double sent_ns)
{
    while (ring->head < ring->tail && ring->done_ns[ring->head % 64] <= sent_ns) {
        ring->head++;
    }
    return room == 0 || ring->tail - ring->head < room;
}

static void simulate(const struct kvc_scenario *scenario, double service_ns, struct kvc_rng *rng,
                     struct kvc_batches *batches, struct kvc_result *result)
{
    const struct kvc_queue *queue = scenario->options;
    const struct kvc_run *run = &scenario->run;
    double from_ns = run->warmup_ns >= 0 ? run->warmup_ns : 1e6, until_ns = from_ns + run->duration_ns;
    double gap_ns = 1e3 / scenario->workload.rate_mops, sent_ns = 0, free_ns = 0;
    bool fixed = scenario->workload.arrival == KVC_ARRIVAL_FIXED;
    struct ring ring = {.head = 0};
    while (sent_ns < until_ns) {
        sent_ns += fixed ? gap_ns : kvc_rng_exponential(rng, gap_ns);
        bool admitted = admit(&ring, queue->room, sent_ns);
        if (sent_ns >= from_ns && sent_ns < until_ns) {
            struct kvc_batch_counts *batch = kvc_batches_at(batches, sent_ns - from_ns);
            batch->offered++;
            batch->dropped += !admitted;
        }
        if (!admitted) {
            continue;
        }
        free_ns = fmax(sent_ns, free_ns) + service_ns;
        if (queue->room > 0) {
            ring.done_ns[ring.tail++ % 64] = free_ns;
        }
        if (free_ns >= from_ns && free_ns < until_ns) {
            double intended_ns = sent_ns - queue->fill_requests * gap_ns;
            kvc_batches_latencies(batches, from_ns, &intended_ns, &free_ns, 1);
            kvc_batches_completions(batches, from_ns, &free_ns, 1);
            result->completed++;
        }
    }
    result->warmup_s = from_ns * 1e-9;
    result->simulated_s = run->duration_ns * 1e-9;
    result->throughput_mops = (double)result->completed / run->duration_ns * 1e3;
    kvc_batches_report(batches, run->duration_ns, result);
}

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct kvc_result *result = context->result;
    const struct kvc_queue *queue = context->scenario->options;
    struct kvc_rng rng;
    struct kvc_batches batches;
    enum kvc_status status = kvc_batches_open(&batches, context->scenario->run.duration_ns / BATCHES, diag);
    if (status != KVC_OK) {
        return status;
    }
    kvc_rng_init(&rng, context->seed, "queue", 0);
    result->has_histogram = true;
    double service_ns = queue->service_ns * (1 + context->replica * queue->slower_frac);
    simulate(context->scenario, service_ns, &rng, &batches, result);
    kvc_batches_close(&batches);
    kvc_result_add_stage(result, "serve", "cpu", fmin(result->throughput_mops * service_ns * 1e-3, 1));
    kvc_bottleneck_find(result);
    return KVC_OK;
}

static const struct kvc_model queue_model = {.name = "queue", .predict = predict, .run = run};

struct kvc_loaded kvc_queue_loaded(struct kvc_queue *queue, double duration_ns)
{
    struct kvc_loaded loaded = {
        .scenario = {.name = "queue",
                     .file = "queue.lua",
                     .model = &queue_model,
                     .options = queue,
                     .cluster = {.nodes = 1},
                     .workload = {.arrival = KVC_ARRIVAL_SATURATE},
                     .run = {.warmup_ns = -1, .duration_ns = duration_ns, .seed = 42, .replicas = 1}},
        .slo = kvc_slo_none};
    return loaded;
}
