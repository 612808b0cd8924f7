#include "models/measured/measured.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/array.h"
#include "sim/base/clock.h"

enum { WINDOWS = 4 };

static double started_s;

static void set_clock(void *store, double to_s)
{
    (void)store;
    started_s = to_s;
}

/* A task that answers one GET in each step. */
struct getter {
    double gets, busy_ns;
    struct kvc_histogram latency;
    double oldest_sent_ns;
};

static double step(void *data)
{
    struct getter *getter = data;
    double start_ns = (kvc_clock_wall_s() - started_s) * 1e9, now_ns = start_ns;
    while (now_ns < start_ns + 1e4) {
        now_ns = (kvc_clock_wall_s() - started_s) * 1e9;
    }
    getter->gets++;
    getter->busy_ns += now_ns - start_ns;
    getter->oldest_sent_ns = fmin(getter->oldest_sent_ns, start_ns);
    kvc_histogram_record(&getter->latency, &start_ns, &now_ns, 1);
    return now_ns;
}

static void count(const void *data, struct kvc_measured_counts *counts)
{
    const struct getter *getter = data;
    *counts = (struct kvc_measured_counts){.busy_ns = getter->busy_ns,
                                           .served = getter->gets,
                                           .hits = getter->gets,
                                           .own = {[0] = 2 * getter->gets}};
}

static void find_part(const void *data, const struct kvc_measured_sum *sum, struct kvc_watched_part *part)
{
    (void)data;
    part->utilization_frac[0] = sum->stage[0].busy_ns / sum->window_ns;
}

static void report(const void *data, const struct kvc_measured_sum *sum, struct kvc_result *result)
{
    (void)data;
    kvc_result_add_stage(result, "get", "cpu", fmin(sum->stage[0].busy_ns / sum->window_ns, 1));
    kvc_metrics_set(&result->model, "own", sum->all.own[0]);
}

/* Opens a run of `tasks` tasks of a getter, each in a stage of its own. */
static struct kvc_measured *open_run(uint32_t tasks, struct getter *getter)
{
    const struct kvc_run run = {.duration_ns = 5e7, .warmup_ns = 1e7};
    struct kvc_diag diag = {.status = KVC_OK};
    struct kvc_measured *measured = kvc_array_of(1, sizeof(*measured));
    cr_assert_eq(kvc_measured_open(measured, &run, 0, &diag), KVC_OK, "%s", diag.message);
    kvc_histogram_reset(&getter->latency);
    measured->set_clock[0] = set_clock;
    for (uint32_t i = 0; i < tasks; i++) {
        kvc_measured_add(measured, &(struct kvc_measured_task){.core = 0,
                                                               .stage = i,
                                                               .step = step,
                                                               .count = count,
                                                               .data = getter,
                                                               .oldest_sent_ns = &getter->oldest_sent_ns,
                                                               .latency = &getter->latency});
    }
    return measured;
}

Test(measured, windows_add_up_to_the_differences_of_their_copies)
{
    static struct getter getter;
    static struct kvc_histogram latency;
    struct kvc_measured *measured = open_run(2, &getter);
    struct kvc_measured_sum sum;
    measured->watched.count = WINDOWS;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        for (uint32_t task = 0; task < 2; task++) {
            measured->copy[task][w] = (struct kvc_measured_copy){
                .at_ns = measured->from_ns + (w + 1) * 1e7,
                .counts = {.busy_ns = (w + 1) * 1e6, .hits = (task + 1) * 1e3 * (w + 1) * (w + 1)},
            };
        }
    }
    /* The first task answers 1000, 3000, 5000 and 7000 requests in the windows, the second twice as many. */
    const bool wanted[WINDOWS] = {true, false, true, false};
    kvc_measured_add_up(measured, 0, wanted, &latency, &sum);
    cr_expect_eq(sum.windows, 2);
    cr_expect_float_eq(sum.stage[0].hits, 6000, 1e-6);
    cr_expect_float_eq(sum.stage[1].hits, 12000, 1e-6);
    cr_expect_float_eq(sum.all.hits, 18000, 1e-6);
    cr_expect_float_eq(sum.stage_ns[0], 2e7, 1e-3, "the first window begins after the warm-up");
    cr_expect_float_eq(sum.stage[0].busy_ns, 2e6, 1e-6);
    cr_expect_float_eq(sum.mops, 18000 / 2e7 * 1e3, 1e-9);
    kvc_measured_close(measured);
    free(measured);
}

Test(measured, a_run_reports_what_its_tasks_did)
{
    static struct getter getter = {.oldest_sent_ns = INFINITY};
    static struct kvc_result result;
    const struct kvc_measured_store store = {.part = find_part, .report = report};
    struct kvc_diag diag = {.status = KVC_OK};
    atomic_bool failed = false;
    struct kvc_measured *measured = open_run(1, &getter);
    const atomic_bool *const flags[2] = {&failed};
    cr_assert_eq(kvc_measured_run(measured, flags, NULL, &diag), KVC_OK, "%s", diag.message);
    kvc_measured_report(measured, &store, &result);
    cr_expect_gt(result.completed, 0);
    cr_expect_lt((double)result.completed, getter.gets, "warm-up and first window do not count");
    cr_expect_eq(result.completed, result.hits);
    cr_expect_eq(result.offered, result.hits);
    cr_expect_eq(result.latency.count, result.completed, "every answer has a latency");
    cr_expect_eq(kvc_metrics_get(&result.model, "own"), 2 * (double)result.hits);
    cr_expect_geq(kvc_metrics_get(&result.model, "windows"), 5);
    cr_expect_gt(kvc_metrics_get(&result.model, "memory_latency_ns"),
                 kvc_metrics_get(&result.model, "memory_line_ns"), "independent lines overlap");
    cr_expect_gt(kvc_metrics_get(&result.model, "memory_bytes_per_s"), 1e8);
    cr_expect_leq(kvc_histogram_percentile_ns(&result.latency, 0), 1.1e4);
    cr_expect_geq(kvc_histogram_percentile_ns(&result.latency, 0), 0.9e4);
    kvc_measured_close(measured);
    free(measured);
}

/* ---- energy ---- */

enum { PAIRS = 12, WATTS_A = 20, WATTS_B = 50 };

static char powercap[] = "/tmp/kvc_powercap_XXXXXX";
static atomic_int watts;
static atomic_bool metered;

static void write_zone(const char *name, const char *text)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/intel-rapl:0", powercap);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/intel-rapl:0/%s", powercap, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

/* Moves the counter as a processor would that takes `watts`. */
static void *take_energy(void *unused)
{
    const struct timespec step = {0, 500000};
    char path[96], text[32];
    snprintf(path, sizeof(path), "%s/intel-rapl:0/energy_uj", powercap);
    FILE *file = fopen(path, "r+");
    double uj = 0, last_s = kvc_clock_wall_s();
    while (atomic_load(&metered)) {
        double now_s = kvc_clock_wall_s();
        uj += atomic_load(&watts) * (now_s - last_s) * 1e6;
        last_s = now_s;
        int length = snprintf(text, sizeof(text), "%016.0f\n", uj);
        if (pwrite(fileno(file), text, (size_t)length, 0) != length) {
            break;
        }
        nanosleep(&step, NULL);
    }
    fclose(file);
    return unused;
}

static double step_a(void *data)
{
    atomic_store(&watts, WATTS_A);
    return step(data);
}

static double step_b(void *data)
{
    atomic_store(&watts, WATTS_B);
    return step(data);
}

/* Returns the power of a side, from the turns' windows that count. */
static double watts_of(const struct kvc_measured *measured, uint32_t side)
{
    const struct kvc_watched *watched = &measured->watched;
    bool wanted[PAIRS * 2 * 3];
    for (uint32_t w = 0; w < watched->count; w++) {
        wanted[w] = kvc_watched_side(2, w / watched->turn) == side && kvc_watched_counts(watched, w);
    }
    return kvc_measured_watts(measured, wanted);
}

Test(measured, turns_of_two_stores_take_the_energy_that_a_meter_shows)
{
    static struct getter getter[2] = {{.oldest_sent_ns = INFINITY}, {.oldest_sent_ns = INFINITY}};
    const struct kvc_run run = {.duration_ns = 5e7, .warmup_ns = 1e7};
    struct kvc_diag diag = {.status = KVC_OK};
    struct kvc_measured *measured = kvc_array_of(1, sizeof(*measured));
    atomic_bool failed[2] = {false, false};
    const atomic_bool *const flags[2] = {&failed[0], &failed[1]};
    pthread_t processor;
    cr_assert_eq(kvc_measured_open(measured, &run, PAIRS, &diag), KVC_OK, "%s", diag.message);
    for (uint32_t side = 0; side < 2; side++) {
        measured->side = side;
        measured->set_clock[side] = set_clock;
        kvc_histogram_reset(&getter[side].latency);
        kvc_measured_add(measured, &(struct kvc_measured_task){.step = side == 0 ? step_a : step_b,
                                                               .count = count,
                                                               .data = &getter[side],
                                                               .oldest_sent_ns = &getter[side].oldest_sent_ns,
                                                               .latency = &getter[side].latency});
    }
    cr_assert_not_null(mkdtemp(powercap));
    write_zone("name", "package-0\n");
    write_zone("max_energy_range_uj", "262143328850\n");
    write_zone("energy_uj", "0000000000000000\n");
    kvc_meter_close(measured->meter);
    measured->meter = kvc_meter_open(powercap);
    cr_assert_not_null(measured->meter);
    atomic_store(&metered, true);
    cr_assert_eq(pthread_create(&processor, NULL, take_energy, NULL), 0);
    cr_expect_eq(kvc_measured_run(measured, flags, NULL, &diag), KVC_OK, "%s", diag.message);
    atomic_store(&metered, false);
    pthread_join(processor, NULL);
    kvc_watched_stop(&measured->watched);
    cr_expect_float_eq(watts_of(measured, 0), WATTS_A, 0.25 * WATTS_A, "%g W", watts_of(measured, 0));
    cr_expect_float_eq(watts_of(measured, 1), WATTS_B, 0.25 * WATTS_B, "%g W", watts_of(measured, 1));
    kvc_measured_close(measured);
    free(measured);
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", powercap);
    cr_expect_eq(system(command), 0);
}
