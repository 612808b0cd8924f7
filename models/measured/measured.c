#include "models/measured/measured.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/diag.h"
#include "sim/probes/memory/co_runner.h"
#include "sim/probes/noise.h"
#include "sim/probes/pin.h"

/* Windows of a turn: 100 ms for a store that is alone, 30 ms for one of two. */
enum { TURN_ALONE = 10, TURN_PAIRED = 3, TURNS_OF_PATTERN = 4 };

enum kvc_status kvc_measured_open(struct kvc_measured *measured, const struct kvc_run *run, uint32_t pairs,
                                  struct kvc_diag *diag)
{
    uint32_t sides = pairs > 0 ? 2 : 1, turn = pairs > 0 ? TURN_PAIRED : TURN_ALONE;
    double counting_ns = pairs > 0 ? pairs * 2.0 * (TURN_PAIRED - 1) * kvc_quiet_window_ns : run->duration_ns;
    /* The first window begins a turn, that of side 0 of the first pair. */
    double unit_ns = turn * kvc_quiet_window_ns * (pairs > 0 ? TURNS_OF_PATTERN : 1);
    double warmup_ns = sides * kvc_run_real_warmup_ns(run);
    *measured = (struct kvc_measured){.sides = sides, .from_ns = ceil(warmup_ns / unit_ns) * unit_ns};
    kvc_watched_plan(&measured->watched, counting_ns, turn);
    if (pairs > 0) {
        measured->watched.room = measured->watched.least = pairs * 2 * turn; /* Half of them always count. */
        measured->meter = kvc_meter_open(kvc_meter_folder);
    }
    return kvc_cores_measure(&measured->noise.cores, diag);
}

void kvc_measured_close(struct kvc_measured *measured)
{
    for (uint32_t i = 0; i < measured->tasks; i++) {
        for (uint32_t w = 0; w < measured->watched.room; w++) {
            free(measured->copy[i][w].latency.slot);
        }
        free(measured->copy[i]);
    }
    kvc_co_runner_stop(measured->co_runner);
    kvc_memory_watch_close(&measured->memory);
    kvc_meter_close(measured->meter);
    kvc_watched_close(&measured->watched);
}

void kvc_measured_add(struct kvc_measured *measured, const struct kvc_measured_task *task)
{
    uint32_t number = measured->tasks++;
    if (number >= KVC_MEASURED_TASKS_MAX || task->stage >= KVC_STAGES_MAX) {
        KVC_BUG("a run has more than %d tasks or %d stages", KVC_MEASURED_TASKS_MAX, KVC_STAGES_MAX);
    }
    measured->task[number] = *task;
    measured->task[number].side = measured->side;
    measured->copy[number] = kvc_array_of(measured->watched.room, sizeof(*measured->copy[number]));
    if (task->core >= measured->cores) {
        measured->cores = task->core + 1;
    }
}

double kvc_measured_until_ns(const struct kvc_measured *measured)
{
    return measured->from_ns + kvc_watched_room_ns(&measured->watched);
}

static void copy_counts(void *copies, void *data, uint32_t number, uint32_t first, uint32_t last,
                        double at_ns)
{
    const struct kvc_measured *measured = copies;
    const struct kvc_measured_task *task = &measured->task[number];
    double joules = number == 0 && measured->meter != NULL ? kvc_meter_joules(measured->meter) : NAN;
    (void)data;
    for (uint32_t w = first; w <= last; w++) {
        struct kvc_measured_copy *copy = &measured->copy[number][w];
        copy->at_ns = at_ns;
        copy->joules = joules;
        task->count(task->data, &copy->counts);
        if (task->caught_up != NULL) {
            copy->caught_up = *task->caught_up;
            *task->caught_up = false;
        }
        if (task->oldest_sent_ns != NULL) {
            copy->oldest_sent_ns = *task->oldest_sent_ns + measured->rested_ns[task->side];
            *task->oldest_sent_ns = INFINITY;
        }
        if (task->latency != NULL && !kvc_histogram_take(task->latency, &copy->latency)) {
            kvc_out_of_memory("the latencies of a window");
        }
    }
}

static double taken_bytes_per_s(const struct kvc_measured *measured, uint32_t side)
{
    const struct kvc_node *node = measured->node[side];
    return node != NULL && node->co_runner_bytes_per_s > 0 ? node->co_runner_bytes_per_s : 0;
}

static void set_co_runner(const struct kvc_measured *measured, double bytes_per_s)
{
    if (measured->co_runner != NULL) {
        kvc_co_runner_set(measured->co_runner, bytes_per_s);
    }
}

/* Starts a co-runner on the cores behind those of the stores, if a side has one. */
static enum kvc_status start_co_runner(struct kvc_measured *measured, struct kvc_diag *diag)
{
    uint32_t wanted = 0, cores = kvc_pin_cores();
    for (uint32_t side = 0; side < measured->sides; side++) {
        bool beside = taken_bytes_per_s(measured, side) > 0;
        wanted = beside ? (uint32_t)fmax(wanted, (double)measured->node[side]->co_runner_cores) : wanted;
    }
    if (measured->cores + wanted > cores && wanted > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.co_runner: the store's threads take %u cores and the co-runner needs %u more "
            "(node.co_runner_cores), this machine has %u",
            measured->cores, wanted, cores);
    }
    return wanted > 0 ? kvc_co_runner_start(measured->cores, wanted, &measured->co_runner, diag) : KVC_OK;
}

/* The memory is read without the co-runner, whose effect is a part of the scenario. */
static void read_memory(void *data, uint32_t core)
{
    struct kvc_measured *measured = data;
    set_co_runner(measured, 0);
    kvc_memory_watch_read(&measured->memory, core);
}

static void begin_turn(void *data, uint32_t side, double clock_s)
{
    struct kvc_measured *measured = data;
    set_co_runner(measured, taken_bytes_per_s(measured, side));
    measured->rested_ns[side] = (clock_s - measured->started_s) * 1e9;
    measured->set_clock[side](measured->store[side], clock_s);
}

/* A co-runner that takes less than it should would be a measurement of something else. */
static const double reached_least_frac = 0.95;

static enum kvc_status check_co_runner(const struct kvc_measured *measured, struct kvc_diag *diag)
{
    double frac = measured->co_runner != NULL ? kvc_co_runner_reached_frac(measured->co_runner) : 1;
    return frac >= reached_least_frac
               ? KVC_OK
               : kvc_diag_fail(
                     diag, KVC_ERR_SCENARIO,
                     "node.co_runner: the co-runner took %.0f %% of the bandwidth that it should; ask for "
                     "less, or give it more cores by node.co_runner_cores",
                     100 * frac);
}

enum kvc_status kvc_measured_run(struct kvc_measured *measured, const atomic_bool *const failed[2],
                                 const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_watched *watched = &measured->watched;
    enum kvc_status status =
        kvc_memory_watch_open(&measured->memory, measured->cores, watched->room / watched->turn + 1, diag);
    if (status != KVC_OK) {
        return status;
    }
    status = start_co_runner(measured, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_watched_task task[KVC_MEASURED_TASKS_MAX];
    for (uint32_t i = 0; i < measured->tasks; i++) {
        const struct kvc_measured_task *own = &measured->task[i];
        task[i] = (struct kvc_watched_task){own->core, own->side, own->step, copy_counts, own->data, i};
    }
    measured->started_s = kvc_clock_wall_s();
    for (uint32_t side = 0; side < measured->sides; side++) {
        measured->set_clock[side](measured->store[side], measured->started_s);
    }
    const struct kvc_watched_turns turns = {
        .sides = measured->sides, .pause = read_memory, .begin = begin_turn, .data = measured};
    const struct kvc_watched_tasks tasks = {.task = task,
                                            .count = measured->tasks,
                                            .cores = measured->cores,
                                            .started_s = measured->started_s,
                                            .from_ns = measured->from_ns,
                                            .failed = {failed[0], failed[1]},
                                            .copies = measured,
                                            .turns = &turns};
    struct kvc_noise noise;
    set_co_runner(measured, taken_bytes_per_s(measured, 0));
    kvc_noise_begin(&noise);
    status = kvc_watched_threads_run(&measured->watched, &tasks, progress, diag);
    measured->noise.others_frac = kvc_noise_frac(&noise);
    return status == KVC_OK ? check_co_runner(measured, diag) : status;
}

/* ---- sums ---- */

static double answered(const struct kvc_measured_counts *counts)
{
    return counts->hits + counts->misses + counts->sets + counts->deletes;
}

/* Adds the work of a task between two copies. */
static void add_difference(const struct kvc_measured_counts *now, const struct kvc_measured_counts *before,
                           struct kvc_measured_counts *sum)
{
    sum->busy_ns += now->busy_ns - before->busy_ns;
    sum->served += now->served - before->served;
    sum->hits += now->hits - before->hits;
    sum->misses += now->misses - before->misses;
    sum->sets += now->sets - before->sets;
    sum->deletes += now->deletes - before->deletes;
    for (int i = 0; i < KVC_MEASURED_OWN_MAX; i++) {
        sum->own[i] += now->own[i] - before->own[i];
    }
}

/* Adds the wanted windows of a task. */
static void add_task(const struct kvc_measured *measured, uint32_t number, const bool *wanted,
                     struct kvc_histogram *latency, struct kvc_measured_sum *sum)
{
    const struct kvc_measured_copy none = {.at_ns = measured->from_ns};
    const struct kvc_measured_copy *copy = measured->copy[number];
    uint32_t stage = measured->task[number].stage;
    struct kvc_measured_counts counts = {0};
    double ns = 0;
    for (uint32_t w = 0; w < measured->watched.count; w++) {
        const struct kvc_measured_copy *before = w > 0 ? &copy[w - 1] : &none;
        if (wanted[w]) {
            add_difference(&copy[w].counts, &before->counts, &counts);
            ns += copy[w].at_ns - before->at_ns;
            if (measured->task[number].latency != NULL) {
                kvc_histogram_add_pack(latency, &copy[w].latency);
            }
        }
    }
    const struct kvc_measured_counts nothing = {0};
    add_difference(&counts, &nothing, &sum->all);
    add_difference(&counts, &nothing, &sum->stage[stage]);
    sum->stage_ns[stage] += ns;
    sum->mops += ns > 0 ? answered(&counts) / ns * 1e3 : 0;
}

void kvc_measured_add_up(const struct kvc_measured *measured, uint32_t side, const bool *wanted,
                         struct kvc_histogram *latency, struct kvc_measured_sum *sum)
{
    uint32_t windows = kvc_quiet_count(wanted, measured->watched.count);
    *sum = (struct kvc_measured_sum){.windows = windows, .window_ns = windows * kvc_quiet_window_ns};
    kvc_histogram_reset(latency);
    for (uint32_t i = 0; i < measured->tasks; i++) {
        if (measured->task[i].side == side) {
            add_task(measured, i, wanted, latency, sum);
        }
    }
}

double kvc_measured_watts(const struct kvc_measured *measured, const bool *wanted)
{
    const struct kvc_measured_copy *copy = measured->copy[0];
    double joules = 0, ns = 0;
    for (uint32_t w = 1; w < measured->watched.count; w++) {
        joules += wanted[w] ? copy[w].joules - copy[w - 1].joules : 0;
        ns += wanted[w] ? copy[w].at_ns - copy[w - 1].at_ns : 0;
    }
    return joules / ns * 1e9;
}

/* ---- the result ---- */

/* A run and the store that reports it. */
struct reported {
    const struct kvc_measured *measured;
    bool *usual; /* By turn: whether the reading of the memory after it is usual. */
    const struct kvc_measured_store *store;
};

static struct kvc_quiet_flow flow_of(const void *data, uint32_t window)
{
    const struct reported *reported = data;
    const struct kvc_measured *measured = reported->measured;
    bool one_feed = reported->store->one_feed;
    uint32_t turn = window / measured->watched.turn;
    bool after = turn >= measured->memory.count[0] || reported->usual[turn],
         before = turn == 0 || reported->usual[turn - 1];
    struct kvc_quiet_flow flow = {
        .unusual = !before || !after, .caught_up = !one_feed, .oldest_sent_ns = INFINITY};
    for (uint32_t i = 0; i < measured->tasks; i++) {
        const struct kvc_measured_copy *copy = &measured->copy[i][window];
        if (measured->task[i].caught_up != NULL && copy->caught_up == one_feed) {
            flow.caught_up = one_feed;
        }
        if (measured->task[i].oldest_sent_ns != NULL) {
            flow.oldest_sent_ns = fmin(flow.oldest_sent_ns, copy->oldest_sent_ns);
        }
    }
    return flow;
}

static void add_up(const void *data, const bool *wanted, struct kvc_histogram *latency,
                   struct kvc_watched_part *part)
{
    const struct reported *reported = data;
    struct kvc_measured_sum sum;
    kvc_measured_add_up(reported->measured, 0, wanted, latency, &sum);
    part->mops = sum.mops;
    reported->store->part(reported->store->data, &sum, part);
}

void kvc_measured_report_part(const struct kvc_measured *measured, uint32_t side,
                              const struct kvc_measured_store *store, const bool *wanted,
                              struct kvc_result *result)
{
    struct kvc_measured_sum sum;
    kvc_measured_add_up(measured, side, wanted, &result->latency, &sum);
    result->hits = (uint64_t)sum.all.hits;
    result->misses = (uint64_t)sum.all.misses;
    result->gets = result->hits + result->misses;
    result->sets = (uint64_t)sum.all.sets;
    result->deletes = (uint64_t)sum.all.deletes;
    result->completed = result->gets + result->sets + result->deletes;
    result->offered = (uint64_t)sum.stage[0].served;
    result->has_histogram = true;
    result->throughput_mops = sum.mops;
    result->simulated_s = sum.window_ns / 1e9;
    result->warmup_s = measured->from_ns / 1e9;
    store->report(store->data, &sum, result);
}

static void report(const void *data, const bool *wanted, struct kvc_result *result)
{
    const struct reported *reported = data;
    kvc_measured_report_part(reported->measured, 0, reported->store, wanted, result);
}

void kvc_measured_report(struct kvc_measured *measured, const struct kvc_measured_store *store,
                         struct kvc_result *result)
{
    const struct reported reported = {
        measured, kvc_array_of(measured->memory.room + 1, sizeof(*reported.usual)), store};
    kvc_memory_watch_usual(&measured->memory, KVC_MEMORY_STATE, reported.usual);
    const struct kvc_watched_store watched_store = {.data = &reported,
                                                    .flow_of = flow_of,
                                                    .from_ns = measured->from_ns,
                                                    .open_loop = store->open_loop,
                                                    .add_up = add_up,
                                                    .report = report,
                                                    .values = store->values,
                                                    .half_widths = store->value_name};
    kvc_watched_report(&measured->watched, &watched_store, result);
    kvc_watched_report_noise(&measured->watched, &measured->noise, result);
    struct kvc_memory_rates memory = kvc_memory_watch_rates(&measured->memory, reported.usual);
    kvc_metrics_set(&result->model, "memory_line_ns", memory.line_ns);
    kvc_metrics_set(&result->model, "memory_latency_ns", memory.latency_ns);
    kvc_metrics_set(&result->model, "memory_bytes_per_s", memory.bytes_per_s);
    kvc_metrics_set(&result->model, "memory_handoff_ns", memory.handoff_ns);
    free(reported.usual);
}
