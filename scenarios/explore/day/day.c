#include "scenarios/explore/day/day.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/lua/locate.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"

enum { RATE_TEXT = 32, HOURS = 24 };

/* ---- the curve ---- */

/* Returns the integral of a straight line between two hours, within a part of them [million/s * h]. */
static double area(struct kvc_day_point a, struct kvc_day_point b, double from_hour, double to_hour)
{
    double slope = (b.rate_mops - a.rate_mops) / (b.hour - a.hour), low = fmax(a.hour, from_hour),
           high = fmin(b.hour, to_hour);
    return high > low ? (high - low) * (a.rate_mops + slope * ((low + high) / 2 - a.hour)) : 0;
}

double kvc_day_rate_mops(const struct kvc_day *day, double from_hour, double to_hour)
{
    double sum = 0;
    for (uint32_t i = 0; i < day->points; i++) {
        struct kvc_day_point a = day->curve[i], b = day->curve[(i + 1) % day->points];
        b.hour += i + 1 == day->points ? HOURS : 0;
        sum += area(a, b, from_hour, to_hour) + area(a, b, from_hour + HOURS, to_hour + HOURS);
    }
    return sum / (to_hour - from_hour);
}

/* ---- the runs ---- */

/* The work on a day. */
struct work {
    const struct kvc_day_options *options;
    struct kvc_day_answer *answer;
    char (*rate)[RATE_TEXT]; /* By run. */
    double *memory_bytes;    /* By run. */
    double available_bytes;
};

static enum kvc_status refuse(const struct kvc_day_options *options, const char *path, const char *message,
                              struct kvc_diag *diag)
{
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, kvc_locate_line(options->path, path), "%s",
                            message);
}

static enum kvc_status check(const struct kvc_day_options *options, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &options->loaded->scenario.workload;
    if (options->loaded->day.points == 0) {
        return refuse(options, "day",
                      "the scenario has no day table, such as day = { curve = { { hour = 4, rate = 12 }, "
                      "{ hour = 16, rate = 50 } } }",
                      diag);
    }
    if (!kvc_workload_is_steady(workload) && workload->arrival != KVC_ARRIVAL_BURSTS &&
        workload->arrival != KVC_ARRIVAL_SATURATE) {
        return refuse(
            options, "workload.arrival",
            "workload.arrival: allowed with a day, which states the rates, are poisson_mops with or without "
            "bursts, fixed_mops, or none",
            diag);
    }
    return KVC_OK;
}

/* Cuts the day into windows, and lists their rates, each once. */
static void cut(struct work *work)
{
    const struct kvc_day *day = &work->options->loaded->day;
    struct kvc_day_answer *answer = work->answer;
    answer->count = (uint32_t)day->windows;
    answer->window = kvc_array_of(answer->count, sizeof(*answer->window));
    answer->run = kvc_array_of(answer->count, sizeof(*answer->run));
    work->rate = kvc_array_of(answer->count, sizeof(*work->rate));
    work->memory_bytes = kvc_array_of(answer->count, sizeof(*work->memory_bytes));
    for (uint32_t i = 0; i < answer->count; i++) {
        struct kvc_day_window *window = &answer->window[i];
        char rate[RATE_TEXT];
        window->from_hour = (double)HOURS * i / answer->count;
        window->to_hour = (double)HOURS * (i + 1) / answer->count;
        snprintf(rate, sizeof(rate), "%.9g", kvc_day_rate_mops(day, window->from_hour, window->to_hour));
        window->rate_mops = strtod(rate, NULL);
        while (window->run < answer->runs && strcmp(work->rate[window->run], rate) != 0) {
            window->run++;
        }
        if (window->run == answer->runs) {
            memcpy(work->rate[answer->runs++], rate, sizeof(rate));
        }
    }
}

static enum kvc_status load_run(const struct work *work, uint32_t run, struct kvc_loaded **out,
                                struct kvc_diag *diag)
{
    const struct kvc_day_options *options = work->options;
    bool fixed = options->loaded->scenario.workload.arrival == KVC_ARRIVAL_FIXED;
    struct kvc_overrides set = {0};
    enum kvc_status status = kvc_overrides_join(&set, options->set, diag);
    if (status == KVC_OK) {
        status =
            kvc_overrides_add(&set, fixed ? "workload.arrival.fixed_mops" : "workload.arrival.poisson_mops",
                              work->rate[run], diag);
    }
    if (status == KVC_OK) {
        status = kvc_scenario_load_point(options->path, &set, out, diag);
    }
    kvc_overrides_clear(&set);
    return status;
}

static uint32_t jobs_of(const struct kvc_day_options *options)
{
    return options->jobs != 0 ? options->jobs : kvc_pool_processors();
}

/* Loads every run, so that a mistake is found before the first one begins, and plans its memory and time. */
static enum kvc_status check_runs(struct work *work, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    double least_s = 0;
    work->available_bytes = kvc_memory_available_bytes();
    for (uint32_t i = 0; i < work->answer->runs && status == KVC_OK; i++) {
        struct kvc_loaded *loaded = NULL;
        uint32_t jobs;
        status = load_run(work, i, &loaded, diag);
        if (status == KVC_OK && !work->options->predict) {
            const struct kvc_scenario *scenario = &loaded->scenario;
            least_s += (double)scenario->run.replicas * kvc_time_least_s(scenario) / jobs_of(work->options);
            work->memory_bytes[i] = kvc_memory_needed_bytes(scenario);
            status = kvc_time_plan(scenario, least_s, "the day", diag);
            if (status == KVC_OK) {
                status = kvc_memory_plan(work->memory_bytes[i], work->available_bytes,
                                         (uint32_t)scenario->run.replicas, 1, 1, &jobs, diag);
            }
        }
        kvc_loaded_free(loaded);
    }
    return status;
}

static double memory_bytes(const void *data, uint32_t run)
{
    return ((const struct work *)data)->memory_bytes[run];
}

static enum kvc_status simulate(const struct kvc_loaded *loaded, const struct kvc_run_options *options,
                                struct kvc_row *row, struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = NULL;
    enum kvc_status status = kvc_driver_run(&loaded->scenario, options, &outcome, diag);
    if (status == KVC_OK) {
        status = kvc_driver_judge(&loaded->scenario, outcome, diag);
    }
    if (status == KVC_OK) {
        kvc_row_of_outcome(loaded, outcome, row);
    }
    kvc_outcome_free(outcome);
    return status;
}

/* Runs in the child. */
static enum kvc_status run_body(void *data, uint32_t run, const struct kvc_progress *progress, void *answer,
                                struct kvc_diag *diag)
{
    const struct work *work = data;
    const struct kvc_run_options options = {
        .jobs = 1, .available_bytes = work->memory_bytes[run], .progress = progress};
    struct kvc_loaded *loaded = NULL;
    struct kvc_forecast forecast;
    enum kvc_status status = load_run(work, run, &loaded, diag);
    if (status == KVC_OK && work->options->predict) {
        status = kvc_scenario_forecast(&loaded->scenario, &forecast, diag);
        if (status == KVC_OK) {
            kvc_row_of_forecast(&forecast, answer);
        }
    } else if (status == KVC_OK) {
        status = simulate(loaded, &options, answer, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

static enum kvc_status take_run(void *data, uint32_t run, const void *answer, struct kvc_diag *diag)
{
    struct work *work = data;
    (void)diag;
    memcpy(&work->answer->run[run], answer, sizeof(struct kvc_row));
    return KVC_OK;
}

static enum kvc_status answer_runs(struct work *work, struct kvc_diag *diag)
{
    const struct kvc_pool_options pool = {.tasks = work->answer->runs,
                                          .jobs = jobs_of(work->options),
                                          .answer_bytes = sizeof(struct kvc_row),
                                          .noun = "window",
                                          .data = work,
                                          .body = run_body,
                                          .take = take_run,
                                          .memory_bytes = memory_bytes,
                                          .available_bytes = work->available_bytes};
    double limit_s = kvc_time_limit_s(); /* Each run gets its share of the limit. */
    kvc_time_limit_set(limit_s / ceil((double)pool.tasks / pool.jobs));
    enum kvc_status status = kvc_pool_run(&pool, work->options->progress, diag);
    kvc_time_limit_set(limit_s);
    return status;
}

/* ---- the whole day ---- */

double kvc_day_margin_frac(const struct kvc_slo_verdict *verdict)
{
    double least = NAN;
    for (uint32_t i = 0; i < verdict->count; i++) {
        least = fmin(least, verdict->judged[i].margin_frac); /* Ignores a NaN. */
    }
    return least;
}

/* Returns whether window a is worse than b. */
static bool is_worse(const struct kvc_day_answer *answer, const struct kvc_day_window *a,
                     const struct kvc_day_window *b)
{
    double p99_a = answer->run[a->run].number[KVC_ROW_P99], p99_b = answer->run[b->run].number[KVC_ROW_P99];
    double margin_a = kvc_day_margin_frac(&a->verdict), margin_b = kvc_day_margin_frac(&b->verdict);
    bool missed_a = a->verdict.state == KVC_SLO_MISSED, missed_b = b->verdict.state == KVC_SLO_MISSED;
    if (missed_a != missed_b) {
        return missed_a;
    }
    if (margin_a < margin_b || margin_a > margin_b) {
        return margin_a < margin_b;
    }
    return isnan(p99_a) || isnan(p99_b) ? a->rate_mops > b->rate_mops : p99_a > p99_b;
}

static void sum_up(const struct kvc_loaded *loaded, struct kvc_day_answer *answer)
{
    const double kwh_per_watt_hour = 1e-3, seconds = 3600, per_mega = 1e6;
    answer->kwh = answer->kwh_ci95 = 0;
    for (uint32_t i = 0; i < answer->count; i++) {
        struct kvc_day_window *window = &answer->window[i];
        const double *number = answer->run[window->run].number;
        double hours = window->to_hour - window->from_hour;
        window->verdict = kvc_row_verdict(&answer->run[window->run], &loaded->slo);
        window->kwh = number[KVC_ROW_WATTS] * hours * kwh_per_watt_hour;
        window->usd = window->kwh * loaded->day.usd_per_kwh;
        answer->kwh += window->kwh;
        answer->kwh_ci95 += number[KVC_ROW_WATTS_CI95] * hours * kwh_per_watt_hour;
        answer->requests += number[KVC_ROW_THROUGHPUT] * per_mega * hours * seconds;
        answer->missed_hours += window->verdict.state == KVC_SLO_MISSED ? hours : 0;
        answer->worst = is_worse(answer, window, &answer->window[answer->worst]) ? i : answer->worst;
    }
    answer->usd = answer->kwh * loaded->day.usd_per_kwh;
}

enum kvc_status kvc_day_make(const struct kvc_day_options *options, struct kvc_day_answer *answer,
                             struct kvc_diag *diag)
{
    struct work work = {.options = options, .answer = answer};
    enum kvc_status status = check(options, diag);
    if (status == KVC_OK) {
        cut(&work);
        status = check_runs(&work, diag);
    }
    if (status == KVC_OK) {
        status = answer_runs(&work, diag);
    }
    if (status == KVC_OK) {
        sum_up(options->loaded, answer);
    }
    free(work.rate);
    free(work.memory_bytes);
    return status;
}

void kvc_day_free(struct kvc_day_answer *answer)
{
    free(answer->window);
    free(answer->run);
    *answer = (struct kvc_day_answer){.count = 0};
}
