#include "scenarios/run/store_fixture.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/pages.h"
#include "models/model.h"
#include "sim/base/rng.h"
#include "sim/metrics/batches.h"
#include "sim/metrics/bottleneck.h"

enum { CELLS = 1 << 20, REQUESTS = 2000 };

unsigned kvc_fake_prepared, kvc_fake_ran;

static double memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_fake *fake = scenario->options;
    return fake->memory_bytes;
}

static enum kvc_status predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                               struct kvc_diag *diag)
{
    const struct kvc_fake *fake = scenario->options;
    (void)diag;
    result->throughput_mops = fake->rate_mops;
    result->predicted = (struct kvc_latencies){10, 9, 20, 30, 40};
    return KVC_OK;
}

static enum kvc_status prepare(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    uint64_t *cells = kvc_pages_alloc((CELLS + 1) * sizeof(*cells));
    (void)scenario;
    if (cells == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the cells");
    }
    for (uint32_t i = 0; i < CELLS; i++) {
        cells[i] = i;
    }
    cells[CELLS] = seed;
    kvc_progress_report(progress, "prepare", 1);
    kvc_fake_prepared++;
    *state = cells;
    return KVC_OK;
}

static enum kvc_status have_accident(enum kvc_fake_accident accident, struct kvc_diag *diag)
{
    switch (accident) {
    case KVC_FAKE_NONE:
        return KVC_OK;
    case KVC_FAKE_CRASH:
        signal(SIGABRT, SIG_DFL);
        raise(SIGABRT);
        return KVC_OK;
    case KVC_FAKE_EXIT:
        _exit(7);
    case KVC_FAKE_REFUSE:
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, "fake.lua", 12, "the fake store refuses");
    }
    return KVC_OK;
}

/* Adds two GPUs, a CPU and memory, whose power is unknown. */
static void add_devices(struct kvc_result *result, double watts)
{
    static const struct {
        const char *name, *kind;
        double share; /* Share of the power. */
    } devices[] = {{"gpu0", "gpu", 0.25}, {"dram", "dram", NAN}, {"cpu", "cpu", 0.25}, {"gpu1", "gpu", 0.5}};
    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices) && watts > 0; i++) {
        struct kvc_device_result *device = kvc_result_add_device(result, devices[i].name, devices[i].kind);
        device->utilization_frac = 0.5;
        device->watts_mean = devices[i].share * watts;
        device->joules = device->watts_mean * result->simulated_s;
    }
}

static void add_stage(struct kvc_result *result, double utilization_frac)
{
    struct kvc_stage_result *stage = kvc_result_add_stage(result, "work", "cpu", utilization_frac);
    stage->served = REQUESTS;
    stage->mean_us = 1.5;
}

/* Changes every cell that it visits, so that a replica that saw the writes of another one would give other
 * latencies. */
static void simulate(uint64_t *cells, struct kvc_rng *rng, struct kvc_result *result)
{
    double sent_ns[REQUESTS], done_ns[REQUESTS];
    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint64_t at = kvc_rng_below(rng, CELLS);
        sent_ns[i] = i;
        done_ns[i] = i + 1000 + (double)(cells[at] % 5000) + kvc_rng_exponential(rng, 300);
        cells[at] += 1;
    }
    kvc_histogram_reset(&result->latency);
    kvc_histogram_record(&result->latency, sent_ns, done_ns, REQUESTS);
}

static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    const struct kvc_fake *fake = context->scenario->options;
    struct kvc_result *result = context->result;
    struct kvc_rng rng;
    enum kvc_status status = context->replica == 1 ? have_accident(fake->accident, diag) : KVC_OK;
    if (status != KVC_OK) {
        return status;
    }
    if (((const uint64_t *)context->state)[CELLS] != context->seed) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the store of another replica");
    }
    kvc_fake_ran++;
    kvc_rng_init(&rng, context->seed, "fake", 0);
    simulate(context->state, &rng, result);
    kvc_timeline_event(context->timeline, 0, 0, "work", 0, 1000, REQUESTS);
    result->has_histogram = true;
    result->throughput_mops = fake->rate_mops + 5 * kvc_rng_unit(&rng);
    result->offered = result->completed = result->gets = result->hits = REQUESTS;
    add_stage(result, 0.95);
    result->watts_mean = fake->watts;
    strcpy(result->bottleneck_stage, "work");
    strcpy(result->bottleneck_device, "cpu");
    kvc_metrics_set(&result->model, "fake_us", fake->wild_numbers ? INFINITY : 3);
    kvc_metrics_set(&result->kernel, "fake_frac", fake->wild_numbers ? NAN : 0.25);
    if (fake->wild_numbers) {
        kvc_result_note(result, "quotes \" and a \\ and \x01");
    }
    result->window_us = 100;
    result->window_count = 4;
    for (uint32_t i = 0; i < result->window_count; i++) {
        result->window_mops[i] = (float)(fake->rate_mops + i);
    }
    result->simulated_s = 1e-3;
    result->joules = fake->watts * result->simulated_s;
    add_devices(result, fake->watts);
    /* They differ from run to run, as real times do. */
    result->wall_s = result->cpu_s = 0.01 * (1 + (double)getpid() / 1e6);
    result->requests_simulated = REQUESTS;
    kvc_progress_report(context->progress, "simulate", 1);
    return KVC_OK;
}

static const struct kvc_model fake_model = {
    .name = "fake",
    .memory_bytes = memory_bytes,
    .predict = predict,
    .prepare = prepare,
    .run = run,
};

struct kvc_fake *kvc_fake_of(struct kvc_loaded *loaded)
{
    return loaded->scenario.options;
}

static void add_parameter(struct kvc_parameters *list, const char *path, const char *value, bool bare,
                          const char *source)
{
    struct kvc_parameter parameter = {.bare = bare};
    snprintf(parameter.path, sizeof(parameter.path), "%s", path);
    snprintf(parameter.value, sizeof(parameter.value), "%s", value);
    snprintf(parameter.source, sizeof(parameter.source), "%s", source);
    if (!kvc_parameters_put(list, &parameter)) {
        kvc_out_of_memory("a parameter");
    }
}

struct kvc_loaded *kvc_fake_loaded(uint32_t replicas)
{
    struct kvc_loaded *loaded = calloc(1, sizeof(*loaded));
    struct kvc_fake *fake = calloc(1, sizeof(*fake));
    fake->rate_mops = 100;
    strcpy(loaded->scenario.name, "fake");
    loaded->scenario.model = &fake_model;
    loaded->scenario.options = fake;
    loaded->scenario.cluster.nodes = 1;
    loaded->scenario.run.replicas = replicas;
    loaded->scenario.run.seed = 42;
    loaded->slo = kvc_slo_none;
    add_parameter(&loaded->parameters, "system.share", "0.95", true, "scenario");
    add_parameter(&loaded->parameters, "system.cycle", "160us", false, "default");
    add_parameter(&loaded->provenance, "node.cpu.clock", "2.6GHz", false, "data sheet");
    return loaded;
}

static void add_axis(struct kvc_sweep *sweep, const char *path, uint32_t count, const char *const *values)
{
    sweep->axis = realloc(sweep->axis, (sweep->count + 1) * sizeof(*sweep->axis));
    struct kvc_sweep_axis *axis = &sweep->axis[sweep->count++];
    *axis = (struct kvc_sweep_axis){.count = count};
    snprintf(axis->path, sizeof(axis->path), "%s", path);
    axis->value = calloc(count, sizeof(*axis->value));
    axis->numeric = true;
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_sweep_value *value = &axis->value[i];
        snprintf(value->label, sizeof(value->label), "%s", values[i]);
        value->number = strtod(values[i], NULL);
        kvc_overrides_add(&value->set, path, values[i], NULL);
    }
}

enum kvc_status kvc_fake_load(const char *path, const struct kvc_overrides *set, struct kvc_loaded **out,
                              struct kvc_diag *diag)
{
    static const char *const rates[] = {"100", "200", "300"}, *const seeds[] = {"1", "2"};
    (void)path;
    (void)diag;
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    for (uint32_t i = 0; set != NULL && i < set->count; i++) {
        double value = strtod(set->entry[i].value, NULL);
        if (strcmp(set->entry[i].path, "system.rate") == 0) {
            kvc_fake_of(loaded)->rate_mops = value;
        } else if (strcmp(set->entry[i].path, "system.accident") == 0) {
            kvc_fake_of(loaded)->accident = (int)value;
        } else {
            loaded->scenario.run.seed = (uint64_t)value;
        }
        add_parameter(&loaded->parameters, set->entry[i].path, set->entry[i].value, true, "--set");
    }
    add_axis(&loaded->sweep, "system.rate", 3, rates);
    add_axis(&loaded->sweep, "run.seed", 2, seeds);
    *out = loaded;
    return KVC_OK;
}

enum { BATCHES = 20 };

/* Pollaczek and Khinchine's mean latency of an M/D/1 queue. */
static enum kvc_status predict_queue(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag)
{
    const struct kvc_queue *queue = scenario->options;
    double capacity_mops = 1e3 / queue->service_ns;
    double load = kvc_workload_rate_max_mops(&scenario->workload) / capacity_mops;
    (void)diag;
    result->throughput_mops = fmin(load, 1) * capacity_mops;
    double fill_us = queue->fill_requests / (load * capacity_mops);
    double mean_us = load < 1 ? queue->service_ns * 1e-3 * (1 + load / (2 * (1 - load))) + fill_us : NAN;
    result->predicted = (struct kvc_latencies){mean_us, NAN, NAN, NAN, NAN};
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

static void simulate_queue(const struct kvc_scenario *scenario, double service_ns, struct kvc_rng *rng,
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
    result->steady_s = result->warmup_s / 2;
    result->simulated_s = run->duration_ns * 1e-9;
    result->throughput_mops = (double)result->completed / run->duration_ns * 1e3;
    kvc_batches_report(batches, run->duration_ns, result);
}

static enum kvc_status run_queue(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct kvc_result *result = context->result;
    const struct kvc_queue *queue = context->scenario->options;
    struct kvc_rng rng;
    struct kvc_batches batches;
    (void)diag;
    kvc_batches_open(&batches, context->scenario->run.duration_ns / BATCHES);
    kvc_rng_init(&rng, context->seed, "queue", 0);
    result->has_histogram = true;
    double service_ns = queue->service_ns * (1 + context->replica * queue->slower_frac);
    simulate_queue(context->scenario, service_ns, &rng, &batches, result);
    kvc_batches_close(&batches);
    kvc_result_add_stage(result, "serve", "cpu", fmin(result->throughput_mops * service_ns * 1e-3, 1));
    kvc_bottleneck_find(result);
    return KVC_OK;
}

static const struct kvc_model queue_model = {.name = "queue", .predict = predict_queue, .run = run_queue};

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
