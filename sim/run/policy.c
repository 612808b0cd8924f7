#include "sim/run/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/engine.h"
#include "sim/metrics/statistics.h"

/* A reading of a unit's counters and meters. */
struct reading {
    double at_ns;
    struct kvc_policy_counters counters;
    double gpu_done_ns, gpu_capacity_ns, joules;
};

struct kvc_policy_state {
    struct kvc_policy *policy;
    struct kvc_policy_unit unit;
    uint32_t number;
    struct reading last;           /* Reading at the latest look. */
    struct kvc_histogram *latency; /* Latencies since the latest look. */
    double cpu_hz_ns, gpu_hz_ns;   /* Integrals of the clocks over the measured time. */
    uint32_t changes;              /* Looks that changed a clock. */
};

static bool has_gpu(const struct kvc_policy_state *state)
{
    return state->unit.gpu != KVC_POLICY_NONE;
}

static double clock_of(const struct kvc_policy *policy, int32_t host)
{
    uint32_t number = (uint32_t)host;
    return kvc_platform_host(policy->platform, number)->pstate[kvc_engine_pstate(number)].clock_hz;
}

/* ---- looking ---- */

static struct reading read_unit(const struct kvc_policy_state *state)
{
    struct reading reading = {.at_ns = kvc_engine_now_ns()};
    uint32_t cpu = (uint32_t)state->unit.cpu, gpu = (uint32_t)state->unit.gpu;
    state->policy->store.count(state->policy->store.data, state->number, &reading.counters);
    reading.joules = kvc_engine_host_joules(cpu);
    if (has_gpu(state)) {
        reading.joules += kvc_engine_host_joules(gpu);
        reading.gpu_done_ns = kvc_engine_work_done_ns(gpu);
        reading.gpu_capacity_ns = kvc_engine_capacity_ns(gpu);
    }
    return reading;
}

/* SimGrid adds up the shares of activities in an order that differs between processes, so the last digits of
 * its sums mean nothing and must not decide anything (sim/run/meters.c). */
static double reproducible(double value)
{
    return kvc_rounded(value, 9);
}

/* Returns the share of the time in which the busiest kind of CPU work was busy. */
static double busy_frac(const struct kvc_policy_counters *before, const struct kvc_policy_counters *now)
{
    double most = 0;
    for (uint32_t i = 0; i < KVC_POLICY_THREADS; i++) {
        double possible_ns = now->possible_ns[i] - before->possible_ns[i];
        if (possible_ns > 0) {
            most = fmax(most, (now->busy_ns[i] - before->busy_ns[i]) / possible_ns);
        }
    }
    return reproducible(fmin(most, 1));
}

static struct kvc_power_view view_of(const struct kvc_policy_state *state, const struct reading *now)
{
    const struct kvc_policy *policy = state->policy;
    const struct reading *last = &state->last;
    double span_ns = now->at_ns - last->at_ns;
    double served = now->counters.served - last->counters.served;
    double busy = busy_frac(&last->counters, &now->counters);
    double gpu_capacity_ns = now->gpu_capacity_ns - last->gpu_capacity_ns;
    struct kvc_power_view view = {
        .name = state->unit.name,
        .at_s = (now->at_ns - policy->from_ns) * 1e-9,
        .span_s = span_ns * 1e-9,
        .offered_mops = (now->counters.offered - last->counters.offered) / span_ns * 1e3,
        .served_mops = served / span_ns * 1e3,
        .capacity_mops = served > 0 && busy > 0 ? served / span_ns * 1e3 / busy : NAN,
        .cpu_busy_frac = busy,
        .gpu_busy_frac = gpu_capacity_ns > 0
                             ? reproducible((now->gpu_done_ns - last->gpu_done_ns) / gpu_capacity_ns)
                             : NAN,
        .latency_mean_us = kvc_histogram_mean_ns(state->latency) * 1e-3,
        .latency_p99_us = kvc_histogram_percentile_ns(state->latency, 0.99) * 1e-3,
        .watts = reproducible((now->joules - last->joules) / (span_ns * 1e-9)),
        .cpu = kvc_platform_host(policy->platform, (uint32_t)state->unit.cpu),
        .cpu_pstate = kvc_engine_pstate((uint32_t)state->unit.cpu),
    };
    if (has_gpu(state)) {
        view.gpu = kvc_platform_host(policy->platform, (uint32_t)state->unit.gpu);
        view.gpu_pstate = kvc_engine_pstate((uint32_t)state->unit.gpu);
    }
    return view;
}

/* ---- noting ---- */

/* Draws the clocks since the latest look on the timeline, and adds them over that time to the integrals. */
static void note_clocks(const struct kvc_policy_state *state, double now_ns, double *cpu_hz_ns,
                        double *gpu_hz_ns)
{
    const struct kvc_policy *policy = state->policy;
    double span_ns = now_ns - state->last.at_ns, cpu_hz = clock_of(policy, state->unit.cpu);
    char text[64];
    int used = snprintf(text, sizeof(text), "cpu %.3g GHz", cpu_hz * 1e-9);
    *cpu_hz_ns += cpu_hz * span_ns;
    if (has_gpu(state)) {
        double gpu_hz = clock_of(policy, state->unit.gpu);
        *gpu_hz_ns += gpu_hz * span_ns;
        snprintf(text + used, sizeof(text) - (size_t)used, ", gpu %.4g MHz", gpu_hz * 1e-6);
    }
    kvc_timeline_event(policy->timeline, state->number, state->unit.timeline_row, text, state->last.at_ns,
                       span_ns, state->latency->count);
}

static void note_look(struct kvc_policy_state *state, const struct kvc_power_view *view,
                      const struct kvc_power_choice *choice)
{
    struct kvc_policy *policy = state->policy;
    bool changed = choice->cpu_pstate != view->cpu_pstate || choice->gpu_pstate != view->gpu_pstate;
    state->changes += changed;
    if (policy->looks == KVC_LOOKS_MAX) {
        policy->looks_lost++;
        return;
    }
    struct kvc_look *look = &policy->look[policy->looks++];
    snprintf(look->unit, sizeof(look->unit), "%s", view->name);
    look->at_s = view->at_s;
    look->span_s = view->span_s;
    look->offered_mops = view->offered_mops;
    look->served_mops = view->served_mops;
    look->capacity_mops = view->capacity_mops;
    look->cpu_busy_frac = view->cpu_busy_frac;
    look->gpu_busy_frac = view->gpu_busy_frac;
    look->latency_mean_us = view->latency_mean_us;
    look->latency_p99_us = view->latency_p99_us;
    look->watts = view->watts;
    look->cpu_hz = view->cpu->pstate[choice->cpu_pstate].clock_hz;
    look->gpu_hz = view->gpu != NULL ? view->gpu->pstate[choice->gpu_pstate].clock_hz : NAN;
    look->changed = changed;
}

/* ---- choosing ---- */

/* Asks the policy. Returns the time until the next look [ns]; an error ends the run. */
static double ask(struct kvc_policy_state *state, const struct kvc_power_view *view,
                  struct kvc_power_choice *choice)
{
    struct kvc_policy *policy = state->policy;
    double next_ns = policy->power->period_ns;
    if (policy->power->policy == KVC_POWER_MANAGER) {
        policy->store.manage(policy->store.data, state->number, view, choice, &next_ns);
        return next_ns;
    }
    const struct kvc_power_function *function = &policy->power->function;
    enum kvc_status status = function->choose(function->data, view, choice, &policy->diag);
    if (status != KVC_OK) {
        policy->diag.status = status;
        kvc_engine_stop();
    }
    return next_ns;
}

/* Other actors run while a state is set, and one of them may end the run. */
static void apply(const struct kvc_policy_state *state, const struct kvc_power_view *view,
                  const struct kvc_power_choice *choice)
{
    if (choice->cpu_pstate != view->cpu_pstate) {
        kvc_engine_set_pstate((uint32_t)state->unit.cpu, choice->cpu_pstate);
    }
    if (has_gpu(state) && choice->gpu_pstate != view->gpu_pstate) {
        kvc_engine_set_pstate((uint32_t)state->unit.gpu, choice->gpu_pstate);
    }
}

static void unit_main(void *data)
{
    struct kvc_policy_state *state = data;
    struct kvc_policy *policy = state->policy;
    kvc_engine_sleep_until_ns(policy->from_ns);
    kvc_histogram_reset(state->latency);
    state->last = read_unit(state);
    double next_ns = policy->from_ns + policy->power->period_ns;
    for (;;) {
        kvc_engine_sleep_until_ns(next_ns);
        struct reading now = read_unit(state);
        struct kvc_power_view view = view_of(state, &now);
        struct kvc_power_choice choice = {view.cpu_pstate, view.gpu_pstate};
        next_ns += ask(state, &view, &choice);
        note_clocks(state, now.at_ns, &state->cpu_hz_ns, &state->gpu_hz_ns);
        note_look(state, &view, &choice);
        state->last = now;
        kvc_histogram_reset(state->latency);
        apply(state, &view, &choice);
    }
}

/* ---- interface ---- */

void kvc_policy_open(struct kvc_policy *policy, const struct kvc_power_policy *power,
                     const struct kvc_platform *platform, struct kvc_timeline *timeline,
                     const struct kvc_policy_unit *units, uint32_t count,
                     const struct kvc_policy_store *store)
{
    *policy =
        (struct kvc_policy){.power = power, .platform = platform, .timeline = timeline, .store = *store};
    if (!kvc_power_policy_looks(power)) {
        return;
    }
    policy->units = count;
    policy->unit = kvc_array_of(count, sizeof(*policy->unit));
    policy->look = kvc_array_of(KVC_LOOKS_MAX, sizeof(*policy->look));
    for (uint32_t i = 0; i < count; i++) {
        policy->unit[i] = (struct kvc_policy_state){.policy = policy, .unit = units[i], .number = i};
        policy->unit[i].latency = kvc_array_of(1, sizeof(*policy->unit[i].latency));
        kvc_timeline_row(timeline, i, units[i].timeline_row, units[i].name, "clocks");
    }
}

void kvc_policy_close(struct kvc_policy *policy)
{
    for (uint32_t i = 0; i < policy->units; i++) {
        free(policy->unit[i].latency);
    }
    free(policy->unit);
    free(policy->look);
}

void kvc_policy_start(struct kvc_policy *policy, double from_ns)
{
    if (policy->started) {
        return;
    }
    policy->started = true;
    policy->from_ns = from_ns;
    for (uint32_t i = 0; i < policy->units; i++) {
        policy->unit[i].last.at_ns = from_ns;
        kvc_engine_spawn("policy", unit_main, &policy->unit[i]);
    }
}

void kvc_policy_latencies(struct kvc_policy *policy, uint32_t unit, const double *sent_ns,
                          const double *done_ns, uint32_t count)
{
    if (policy->units > 0) {
        kvc_histogram_record(policy->unit[unit].latency, sent_ns, done_ns, count);
    }
}

enum kvc_status kvc_policy_error(const struct kvc_policy *policy, struct kvc_diag *diag)
{
    if (policy->diag.status != KVC_OK && diag != NULL) {
        *diag = policy->diag;
    }
    return policy->diag.status;
}

void kvc_policy_report(const struct kvc_policy *policy, double until_ns, struct kvc_result *result)
{
    double cpu_hz_ns = 0, gpu_hz_ns = 0, changes = 0, cpu_last_hz = INFINITY, gpu_last_hz = INFINITY;
    bool gpus = false;
    if (policy->units == 0 || !policy->started) {
        return;
    }
    for (uint32_t i = 0; i < policy->units; i++) {
        const struct kvc_policy_state *state = &policy->unit[i];
        note_clocks(state, until_ns, &cpu_hz_ns, &gpu_hz_ns);
        cpu_hz_ns += state->cpu_hz_ns;
        gpu_hz_ns += state->gpu_hz_ns;
        changes += state->changes;
        cpu_last_hz = fmin(cpu_last_hz, clock_of(policy, state->unit.cpu));
        gpus |= has_gpu(state);
        gpu_last_hz = has_gpu(state) ? fmin(gpu_last_hz, clock_of(policy, state->unit.gpu)) : gpu_last_hz;
    }
    double measured_ns = policy->units * (until_ns - policy->from_ns);
    kvc_metrics_set(&result->model, "clock_changes", changes);
    kvc_metrics_set(&result->model, "cpu_clock_mean_ghz", cpu_hz_ns / measured_ns * 1e-9);
    kvc_metrics_set(&result->model, "cpu_clock_last_ghz", cpu_last_hz * 1e-9);
    if (gpus) {
        kvc_metrics_set(&result->model, "gpu_core_mean_mhz", gpu_hz_ns / measured_ns * 1e-6);
        kvc_metrics_set(&result->model, "gpu_core_last_mhz", gpu_last_hz * 1e-6);
    }
    result->look_count = policy->looks;
    memcpy(result->look, policy->look, policy->looks * sizeof(*policy->look));
    if (policy->looks_lost > 0) {
        kvc_result_note(result, "the policy looked %u times more than the %d looks that are listed",
                        policy->looks_lost, KVC_LOOKS_MAX);
    }
}
