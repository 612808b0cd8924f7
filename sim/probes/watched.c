#include "sim/probes/watched.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/text/option.h"
#include "sim/metrics/bottleneck.h"
#include "sim/probes/pin.h"

/* A measurement continues until quiet windows make up quiet_enough_frac of the requested duration, but at
 * most for EXTENSION_MAX times this duration. */
static const double quiet_enough_frac = 0.5;
enum { EXTENSION_MAX = 6 };

void kvc_watched_plan(struct kvc_watched *watched, double duration_ns, uint32_t turn)
{
    double counting_frac = turn > 0 ? (turn - 1.0) / turn : 1;
    double least = fmax(ceil(duration_ns / kvc_quiet_window_ns / counting_frac - 1e-9), turn > 0 ? 2 : 1);
    *watched =
        (struct kvc_watched){.room = (uint32_t)least * EXTENSION_MAX, .least = (uint32_t)least, .turn = turn};
}

double kvc_watched_room_ns(const struct kvc_watched *watched)
{
    return watched->room * kvc_quiet_window_ns;
}

enum kvc_status kvc_watched_open(struct kvc_watched *watched, uint32_t cores, double from_s,
                                 struct kvc_diag *diag)
{
    watched->watch = calloc(cores, sizeof(*watched->watch));
    if (watched->watch == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to watch %u cores", cores);
    }
    enum kvc_status status = KVC_OK;
    for (; watched->cores < cores && status == KVC_OK; watched->cores++) {
        status = kvc_core_watch_open(&watched->watch[watched->cores], from_s, watched->room, diag);
    }
    return status;
}

void kvc_watched_close(struct kvc_watched *watched)
{
    for (uint32_t i = 0; i < watched->cores; i++) {
        kvc_core_watch_close(&watched->watch[i]);
    }
    free(watched->watch);
    *watched = (struct kvc_watched){.watch = NULL};
}

/* Windows that have passed on all cores. */
static uint32_t passed(const struct kvc_watched *watched)
{
    uint32_t least = watched->room;
    for (uint32_t i = 0; i < watched->cores; i++) {
        uint32_t done = atomic_load_explicit(&watched->watch[i].done, memory_order_acquire);
        least = done < least ? done : least;
    }
    return least;
}

bool kvc_watched_counts(const struct kvc_watched *watched, uint32_t window)
{
    return watched->turn == 0 || window % watched->turn != 0;
}

void kvc_watched_undisturbed(const struct kvc_watched *watched, uint32_t count, bool *quiet)
{
    const struct kvc_core_window **cores = kvc_array_of(watched->cores + 1, sizeof(*cores));
    for (uint32_t i = 0; i < watched->cores; i++) {
        cores[i] = watched->watch[i].window;
    }
    kvc_quiet_find(cores, watched->cores, count, quiet);
    free(cores);
    for (uint32_t i = 0; i < count; i++) {
        quiet[i] = quiet[i] && kvc_watched_counts(watched, i);
    }
}

bool kvc_watched_suffices(const struct kvc_watched *watched)
{
    uint32_t count = passed(watched), enough = 0;
    if (count < watched->least || count == watched->room) {
        return count == watched->room;
    }
    bool *quiet = kvc_array_of(count, sizeof(*quiet));
    kvc_watched_undisturbed(watched, count, quiet);
    for (uint32_t i = 1; i < count; i++) {
        /* The window after a disturbed one is lost to recovery, unless that was not to count. */
        enough += quiet[i] && (quiet[i - 1] || !kvc_watched_counts(watched, i - 1));
    }
    free(quiet);
    return enough + 1 >= quiet_enough_frac * watched->least;
}

void kvc_watched_stop(struct kvc_watched *watched)
{
    watched->count = passed(watched);
}

void kvc_watched_judge(const struct kvc_watched *watched, kvc_watched_flow_fn *flow_of, const void *store,
                       double from_ns, bool open_loop, bool *quiet)
{
    struct kvc_quiet_flow *flow = kvc_array_of(watched->count + 1, sizeof(*flow));
    for (uint32_t i = 0; i < watched->count; i++) {
        flow[i] = flow_of(store, i);
    }
    kvc_watched_undisturbed(watched, watched->count, quiet);
    kvc_quiet_drop_recovery(flow, watched->count, from_ns, open_loop, quiet);
    uint32_t usual = 0;
    for (uint32_t i = 0; i < watched->count; i++) {
        usual += quiet[i] && !flow[i].unusual;
    }
    /* Fewer would have no interval. */
    for (uint32_t i = 0; i < watched->count && usual >= KVC_QUIET_BATCHES; i++) {
        quiet[i] = quiet[i] && !flow[i].unusual;
    }
    free(flow);
}

double kvc_watched_stalled_frac(const struct kvc_watched *watched)
{
    double stalled_ns = 0;
    for (uint32_t core = 0; core < watched->cores; core++) {
        for (uint32_t i = 0; i < watched->count; i++) {
            stalled_ns += kvc_core_window_stalled_ns(&watched->watch[core].window[i]);
        }
    }
    return stalled_ns / (watched->count * kvc_quiet_window_ns);
}

double kvc_watched_core_speed(const struct kvc_watched *watched)
{
    double sum = 0;
    for (uint32_t core = 0; core < watched->cores; core++) {
        sum += kvc_quiet_fast_speed(watched->watch[core].window, watched->count);
    }
    return sum / watched->cores;
}

struct crew {
    const struct kvc_watched_tasks *tasks;
    atomic_bool stop;    /* Tells the threads to end. */
    atomic_uint arrived; /* Threads that have come to a meeting, over all meetings. */
    double turn_s;       /* Length of a turn [s]. */
    double clock_s[2];   /* Time 0 of the clock of each side, on the wall clock [s]. */
    double rests_s[2];   /* Since when each side rests [s]. */
};

/* A core and its tasks, one piece of work each in turn. */
struct core {
    struct crew *crew;
    struct kvc_core_watch *watch;
    pthread_t thread;
    uint32_t number, tasks;
    struct kvc_watched_task *task;
    uint32_t turn;     /* The turn that runs. */
    uint32_t meetings; /* Meetings that the thread has come to. */
};

/* Gives the core its tasks. */
static void deal(const struct kvc_watched_tasks *all, struct core *core)
{
    core->task = kvc_array_of(all->count, sizeof(*core->task));
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->task[i].core == core->number) {
            core->task[core->tasks++] = all->task[i];
        }
    }
}

/* Copies the counts of the core's tasks at the end of the windows first .. last. */
static void copy_counts(const struct core *core, uint32_t first, uint32_t last)
{
    const struct kvc_watched_tasks *all = core->crew->tasks;
    double at_ns = (kvc_clock_wall_s() - all->started_s) * 1e9;
    for (uint32_t i = 0; i < core->tasks; i++) {
        const struct kvc_watched_task *task = &core->task[i];
        task->copy(all->copies, task->data, task->number, first, last, at_ns);
    }
}

uint32_t kvc_watched_side(uint32_t sides, uint32_t turn)
{
    return sides == 2 ? (turn + 1) / 2 % 2 : 0;
}

static void rest(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waits until all threads have come here. Returns whether this one was the last. */
static bool meet(struct core *core)
{
    struct crew *crew = core->crew;
    uint32_t all = ++core->meetings * crew->tasks->cores;
    bool last = atomic_fetch_add(&crew->arrived, 1) + 1 == all;
    while (atomic_load(&crew->arrived) < all && !atomic_load_explicit(&crew->stop, memory_order_relaxed)) {
        rest();
    }
    return last;
}

/* Begins the next turn if this one has ended. */
static void change_turn(struct core *core, double now_s)
{
    struct crew *crew = core->crew;
    const struct kvc_watched_turns *turns = crew->tasks->turns;
    if (turns == NULL || now_s < crew->tasks->started_s + (core->turn + 1) * crew->turn_s) {
        return;
    }
    uint32_t last = kvc_watched_side(turns->sides, core->turn);
    uint32_t next = kvc_watched_side(turns->sides, ++core->turn);
    if (meet(core)) {
        crew->rests_s[last] = kvc_clock_wall_s();
    }
    turns->pause(turns->data, core->number);
    if (meet(core)) {
        crew->clock_s[next] += kvc_clock_wall_s() - crew->rests_s[next];
        turns->begin(turns->data, next, crew->clock_s[next]);
    }
    meet(core);
    kvc_core_watch_tick(core->watch, kvc_clock_wall_s(), false);
}

static void *work(void *data)
{
    struct core *core = data;
    struct crew *crew = core->crew;
    uint32_t sides = crew->tasks->turns != NULL ? crew->tasks->turns->sides : 1, passed = 0;
    kvc_pin_core(core->number);
    kvc_core_watch_begin(core->watch);
    while (!atomic_load_explicit(&crew->stop, memory_order_relaxed)) {
        double worked_ns = 0;
        uint32_t side = kvc_watched_side(sides, core->turn);
        for (uint32_t i = 0; i < core->tasks; i++) {
            if (core->task[i].side == side) {
                worked_ns = fmax(core->task[i].step(core->task[i].data), worked_ns);
            }
        }
        bool idle = worked_ns <= 0;
        double now_s = idle ? kvc_clock_wall_s() : crew->clock_s[side] + worked_ns * 1e-9;
        uint32_t now_passed = kvc_core_watch_tick(core->watch, now_s, idle);
        if (now_passed > passed) {
            copy_counts(core, passed, now_passed - 1);
            passed = now_passed;
        }
        change_turn(core, now_s);
        if (idle) {
            rest();
        }
    }
    return NULL;
}

static bool has_failed(const struct kvc_watched_tasks *tasks)
{
    return atomic_load(tasks->failed[0]) || (tasks->failed[1] != NULL && atomic_load(tasks->failed[1]));
}

static void sleep_until_enough(const struct kvc_watched *watched, const struct kvc_watched_tasks *tasks,
                               const struct kvc_progress *progress)
{
    const struct timespec step = {0, 30000000};
    double least_ns = tasks->from_ns + watched->least * kvc_quiet_window_ns;
    while (!kvc_watched_suffices(watched) && !has_failed(tasks)) {
        double now_ns = (kvc_clock_wall_s() - tasks->started_s) * 1e9;
        kvc_progress_report(progress, "measure", fmin(now_ns / least_ns, 1));
        nanosleep(&step, NULL);
    }
}

/* Starts the thread of each core. Sets `started` to the number of those that run. */
static enum kvc_status start(struct core *cores, uint32_t count, uint32_t *started, struct kvc_diag *diag)
{
    for (*started = 0; *started < count; (*started)++) {
        if (pthread_create(&cores[*started].thread, NULL, work, &cores[*started]) != 0) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "thread %u of %u cannot be started", *started + 1,
                                 count);
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_watched_threads_run(struct kvc_watched *watched, const struct kvc_watched_tasks *tasks,
                                        const struct kvc_progress *progress, struct kvc_diag *diag)
{
    uint32_t count = tasks->cores, started = 0;
    double from_s = tasks->started_s + tasks->from_ns * 1e-9;
    enum kvc_status status = kvc_watched_open(watched, count, from_s, diag);
    if (status != KVC_OK) {
        return status;
    }
    double started_s = tasks->started_s;
    struct crew crew = {.tasks = tasks,
                        .turn_s = watched->turn * kvc_quiet_window_ns * 1e-9,
                        .clock_s = {started_s, started_s},
                        .rests_s = {started_s, started_s}};
    struct core *cores = kvc_array_of(count, sizeof(*cores));
    for (uint32_t i = 0; i < count; i++) {
        cores[i] = (struct core){.crew = &crew, .watch = &watched->watch[i], .number = i};
        deal(tasks, &cores[i]);
    }
    status = start(cores, count, &started, diag);
    if (status == KVC_OK) {
        sleep_until_enough(watched, tasks, progress);
    }
    atomic_store(&crew.stop, true);
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(cores[i].thread, NULL);
    }
    for (uint32_t i = 0; i < count; i++) {
        free(cores[i].task);
    }
    free(cores);
    return status;
}

/* A smaller share of quiet windows is worth a note. */
static const double quiet_least_frac = 0.1;

/* ---- all windows ---- */

static void want_all(const struct kvc_watched *watched, bool *wanted)
{
    for (uint32_t i = 0; i < watched->count; i++) {
        wanted[i] = kvc_watched_counts(watched, i);
    }
}

/* Adds the metrics of all windows, as they would be without a choice. */
static void report_raw(const struct kvc_watched *watched, const struct kvc_watched_store *store, bool *wanted,
                       struct kvc_result *result)
{
    const struct kvc_histogram *latency = &result->latency;
    struct kvc_watched_part raw;
    want_all(watched, wanted);
    store->add_up(store->data, wanted, &result->latency, &raw);
    kvc_metrics_set(&result->model, "raw_throughput_mops", raw.mops);
    if (latency->count > 0) {
        kvc_metrics_set(&result->model, "raw_latency_mean_us", kvc_histogram_mean_ns(latency) / 1e3);
        kvc_metrics_set(&result->model, "raw_latency_p99_us",
                        kvc_histogram_percentile_ns(latency, 0.99) / 1e3);
    }
}

/* ---- windows that count ---- */

/* Finds the windows that count: the quiet ones, or all if no request was answered in a quiet one. Returns the
 * number of quiet ones that count. */
static uint32_t choose(const struct kvc_watched *watched, const struct kvc_watched_store *store, bool *wanted,
                       struct kvc_histogram *latency)
{
    struct kvc_watched_part part;
    kvc_watched_judge(watched, store->flow_of, store->data, store->from_ns, store->open_loop, wanted);
    store->add_up(store->data, wanted, latency, &part);
    if (part.mops > 0) {
        return kvc_quiet_count(wanted, watched->count);
    }
    want_all(watched, wanted);
    return 0;
}

static void report_windows(const struct kvc_watched *watched, uint32_t quiet, struct kvc_result *result)
{
    uint32_t windows = 0;
    for (uint32_t i = 0; i < watched->count; i++) {
        windows += kvc_watched_counts(watched, i);
    }
    double quiet_frac = (double)quiet / windows;
    kvc_metrics_set(&result->model, "windows", windows);
    kvc_metrics_set(&result->model, "quiet_frac", quiet_frac);
    if (quiet == 0) {
        kvc_result_note(result,
                        "none of the %u windows of 10 ms was quiet and had answers: the metrics hold for the "
                        "disturbed machine and have no intervals, measure again",
                        windows);
    } else if (quiet_frac < quiet_least_frac) {
        kvc_result_note(result, "only %u of the %u windows of 10 ms were quiet: the intervals are wide",
                        quiet, windows);
    }
}

/* ---- intervals ---- */

/* The metrics with intervals that all stores have; the store's own metrics follow them. */
enum { MOPS, MEAN_US, P99_US, COMMON, VALUES_MAX = COMMON + KVC_WATCHED_VALUES_MAX };
static const char *const common_names[COMMON] = {"throughput_half_frac", "latency_mean_half_frac",
                                                 "latency_p99_half_frac"};

/* Sets the metrics and the utilizations of some windows. */
static void find_values(const struct kvc_watched_store *store, const bool *wanted,
                        struct kvc_histogram *latency, double value[VALUES_MAX],
                        struct kvc_watched_part *part)
{
    store->add_up(store->data, wanted, latency, part);
    value[MOPS] = part->mops;
    value[MEAN_US] = kvc_histogram_mean_ns(latency) / 1e3;
    value[P99_US] = kvc_histogram_percentile_ns(latency, 0.99) / 1e3;
    for (uint32_t i = 0; i < store->values; i++) {
        value[COMMON + i] = part->value[i];
    }
}

/* Adds the half widths of the intervals. batch_value[i] are the values of metric i by batch, and all[i] is
 * its value over all quiet windows. */
static void report_half_widths(const struct kvc_watched_store *store,
                               double batch_value[VALUES_MAX][KVC_QUIET_BATCHES], uint32_t batches,
                               const double all[VALUES_MAX], struct kvc_result *result)
{
    for (uint32_t i = 0; i < COMMON + store->values; i++) {
        double half_frac = kvc_quiet_half_width(batch_value[i], batches) / all[i];
        if (isfinite(half_frac)) {
            kvc_metrics_set(&result->model, i < COMMON ? common_names[i] : store->half_widths[i - COMMON],
                            half_frac);
        }
    }
}

/* Adds the intervals of the metrics over the quiet windows by the means of batches, which also tell how well
 * the bottleneck is known. */
static void report_intervals(const struct kvc_watched *watched, const struct kvc_watched_store *store,
                             const bool *quiet, struct kvc_result *result)
{
    uint32_t count = kvc_quiet_count(quiet, watched->count), stages = result->stage_count;
    uint32_t batches = count < KVC_QUIET_BATCHES ? count : KVC_QUIET_BATCHES;
    double batch_value[VALUES_MAX][KVC_QUIET_BATCHES], value[VALUES_MAX];
    double utilization[KVC_STAGES_MAX * KVC_QUIET_BATCHES];
    struct kvc_watched_part part;
    struct kvc_histogram *latency = kvc_array_of(1, sizeof(*latency));
    bool *wanted = kvc_array_of(watched->count + 1, sizeof(*wanted));
    for (uint32_t batch = 0; batch < batches; batch++) {
        for (uint32_t i = 0, order = 0; i < watched->count; i++) {
            wanted[i] = quiet[i] && kvc_quiet_batch(order, count) == batch;
            order += quiet[i];
        }
        find_values(store, wanted, latency, value, &part);
        for (uint32_t i = 0; i < COMMON + store->values; i++) {
            batch_value[i][batch] = value[i];
        }
        for (uint32_t i = 0; i < stages; i++) {
            utilization[i * batches + batch] = part.utilization_frac[i];
        }
    }
    kvc_bottleneck_find_in_parts(result, utilization, batches);
    find_values(store, quiet, latency, value, &part);
    report_half_widths(store, batch_value, batches, value, result);
    free(latency);
    free(wanted);
}

void kvc_watched_report(struct kvc_watched *watched, const struct kvc_watched_store *store,
                        struct kvc_result *result)
{
    kvc_watched_stop(watched);
    bool *wanted = kvc_array_of(watched->count + 1, sizeof(*wanted));
    report_raw(watched, store, wanted, result);
    uint32_t quiet = choose(watched, store, wanted, &result->latency);
    store->report(store->data, wanted, result);
    report_windows(watched, quiet, result);
    if (quiet > 0) {
        report_intervals(watched, store, wanted, result);
    }
    free(wanted);
}

/* ---- noise ---- */

/* Writes the stalls of a core, seen over the measured time of all, as node.stalls and as its overrides. */
static void report_stalls(const struct kvc_watched *watched, struct kvc_result *result)
{
    double seen_ns = watched->count * kvc_quiet_window_ns * watched->cores;
    char list[KVC_NOTE_BYTES] = "", length[32], every[32];
    size_t used = 0, overrides = 0;
    for (int kind = 0, number = 0; kind < KVC_STALL_KINDS; kind++) {
        double count = 0, sum_ns = 0;
        for (uint32_t core = 0; core < watched->cores; core++) {
            count += watched->watch[core].stalls.count[kind];
            sum_ns += watched->watch[core].stalls.sum_ns[kind];
        }
        if (count > 0 && used < sizeof(list) && overrides < sizeof(result->stalls)) {
            kvc_quantity_print(round(sum_ns / count / 1e3) * 1e3, KVC_UNIT_NS, length, sizeof(length));
            kvc_quantity_print(round(seen_ns / count / 1e6) * 1e6, KVC_UNIT_NS, every, sizeof(every));
            used +=
                (size_t)snprintf(list + used, sizeof(list) - used, "%s{ length = \"%s\", every = \"%s\" }",
                                 used > 0 ? ", " : "", length, every);
            number++;
            overrides += (size_t)snprintf(result->stalls + overrides, sizeof(result->stalls) - overrides,
                                          "%snode.stalls.%d.length=%s;node.stalls.%d.every=%s",
                                          number > 1 ? ";" : "", number, length, number, every);
        }
    }
    if (used > 0) {
        kvc_result_note(result, "stalls = { %s }", list);
    }
}

void kvc_watched_report_noise(const struct kvc_watched *watched, const struct kvc_watched_noise *noise,
                              struct kvc_result *result)
{
    double slowest_frac = kvc_cores_slowest_frac(&noise->cores);
    kvc_metrics_set(&result->model, "others_frac", noise->others_frac);
    kvc_metrics_set(&result->model, "stalled_frac", kvc_watched_stalled_frac(watched));
    kvc_metrics_set(&result->model, "slowest_core_frac", slowest_frac);
    kvc_metrics_set(&result->model, "core_speed_steps_per_ns", kvc_watched_core_speed(watched));
    report_stalls(watched, result);
    if (slowest_frac < kvc_cores_shared_frac) {
        kvc_result_note(
            result,
            "the slowest core ran at %.0f %% of the fastest while all worked: it shares its units with another "
            "core or with a neighbour of this machine, and the store's other threads may wait for it",
            100 * slowest_frac);
    }
}
