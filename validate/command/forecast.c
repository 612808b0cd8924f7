/* Forecasts of measured configurations, by closed form and simulation. */
#include <math.h>

#include "models/resource.h"
#include "scenarios/run/driver.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "validate/command/validate.h"

/* Changes a forecast launch to the measured number of jobs by the store's costs, because a launch has a part
 * that does not depend on its jobs, and a saturated launch is as long as the backlog. Returns the change of
 * its time by job. */
static double at_measured_jobs(const struct kvc_scenario *scenario, const struct kvc_result *result,
                               const struct kvc_comparison_forecast *forecast, bool inserts,
                               struct kvc_readings *readings)
{
    double *job_ns = &readings->value[inserts ? KVC_READING_INSERT_JOB : KVC_READING_SEARCH_JOB];
    double jobs = readings->value[inserts ? KVC_READING_T_INSERT : KVC_READING_T_SEARCH] * 1e3 / *job_ns,
           measured = inserts ? forecast->insert_jobs : forecast->search_jobs;
    if (scenario->model->launch_ns == NULL || !(jobs > 0 && measured > 0)) {
        return 1;
    }
    double change = scenario->model->launch_ns(scenario, result, inserts, measured) / measured /
                    (scenario->model->launch_ns(scenario, result, inserts, jobs) / jobs);
    *job_ns *= change;
    return change;
}

/* Predicts one run by its closed form. */
static enum kvc_status predict_line(struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                    struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = NULL;
    enum kvc_status status = kvc_driver_predict(scenario, &outcome, diag);
    (void)options;
    if (status == KVC_OK) {
        kvc_readings_of(&outcome->result, &forecast->closed_form);
        at_measured_jobs(scenario, &outcome->result, forecast, false, &forecast->closed_form);
        at_measured_jobs(scenario, &outcome->result, forecast, true, &forecast->closed_form);
    }
    kvc_outcome_free(outcome);
    return status;
}

/* A measurement takes long because its machine is noisy. The simulation of the undisturbed machine begins
 * with this much measured time [ns], and takes four times as much while its throughput is not known well
 * enough, up to the measurement's. */
static const double simulated_first_ns = 50e6, simulated_more = 4;

/* A forecast throughput is known well enough if half the width of its interval, relative to it, is a quarter
 * of the bound of the mean error. */
static const double narrow_frac = 0.015;

/* A forecast keeps a sample of the keys, so that the store of any machine fits into this one. */
static const char forecast_overrides[] = "run.functional=sampled;run.sample_memory=64MiB";

/* Simulates a line for the duration that it has by now. */
static enum kvc_status simulate_once(const struct kvc_scenario *scenario,
                                     const struct kvc_run_options *options,
                                     struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = NULL;
    enum kvc_status status = kvc_driver_run(scenario, options, &outcome, diag);
    if (status == KVC_OK) {
        kvc_readings_of(&outcome->result, &forecast->simulated);
        forecast->warmup_ns = outcome->result.warmup_s * 1e9;
        for (int i = 0; i < KVC_READINGS; i++) {
            forecast->half_width[i] = kvc_outcome_interval(outcome, kvc_reading_names[i]).half_width;
        }
        forecast->half_width[KVC_READING_SEARCH_JOB] *=
            at_measured_jobs(scenario, &outcome->result, forecast, false, &forecast->simulated);
        forecast->half_width[KVC_READING_INSERT_JOB] *=
            at_measured_jobs(scenario, &outcome->result, forecast, true, &forecast->simulated);
    }
    kvc_outcome_free(outcome);
    return status;
}

static enum kvc_status simulate_line(struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                     struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    struct kvc_run *run = &scenario->run;
    double most_ns = run->duration_ns;
    enum kvc_status status = KVC_OK;
    bool narrow = false;
    kvc_validate_replicate(scenario);
    run->warmup_most_ns = kvc_run_real_warmup_ns(run); /* The measurement did not wait longer, either. */
    run->warmup_ns = forecast->warmup_ns > 0 ? forecast->warmup_ns : run->warmup_ns;
    if (forecast->only_warmup) {
        run->replicas = 1;
        most_ns = simulated_first_ns;
    }
    for (double next_ns = simulated_first_ns; !narrow && status == KVC_OK; next_ns *= simulated_more) {
        run->duration_ns = fmin(next_ns, most_ns);
        status = simulate_once(scenario, options, forecast, diag);
        narrow = run->duration_ns >= most_ns ||
                 forecast->half_width[KVC_READING_THROUGHPUT] <=
                     narrow_frac * forecast->simulated.value[KVC_READING_THROUGHPUT];
    }
    return status;
}

/* Simulates a line with the stalls of the measured run, for as long, because some stalls are rare. */
static enum kvc_status simulate_stalled(struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                        struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    struct kvc_comparison_forecast stalled = *forecast;
    kvc_validate_replicate(scenario);
    scenario->run.warmup_most_ns = kvc_run_real_warmup_ns(&scenario->run);
    enum kvc_status status = simulate_once(scenario, options, &stalled, diag);
    forecast->stalled_p99_us = stalled.simulated.value[KVC_READING_LATENCY_P99];
    forecast->stalled_p99_half_width_us = stalled.half_width[KVC_READING_LATENCY_P99];
    return status;
}

/* The capacity of the run that a line refers to, as this forecast has it. */
static double capacity_of(const struct kvc_measuring_plan_line *line, const struct kvc_readings *forecast_of)
{
    return kvc_measuring_plan_line_is_relative(line) ? forecast_of->value[KVC_READING_THROUGHPUT]
                                                     : kvc_validate_any_capacity_mops;
}

/* Forecasts a scenario in one way. */
typedef enum kvc_status forecast_fn(struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                    struct kvc_comparison_forecast *forecast, struct kvc_diag *diag);

/* Makes a resource of the scenario as fast as a run saw it; NaN: it is as fast as in the calibration.
 * `scenario` is NULL after an earlier failure. Frees the scenario that it replaces, unless it is the
 * original. */
static struct kvc_scenario *at_speed(struct kvc_scenario *scenario, const struct kvc_scenario *original,
                                     const struct kvc_device_kind *kind, double speed_frac,
                                     struct kvc_diag *diag)
{
    if (scenario == NULL || isnan(speed_frac)) {
        return scenario;
    }
    struct kvc_scenario *made =
        kvc_scenario_faster(scenario, kvc_scenario_resource(scenario, kind->name), speed_frac, diag);
    if (scenario != original) {
        kvc_scenario_free_copy(scenario);
    }
    return made;
}

/* Forecasts a scenario with its cores and its memory at the speeds that the run saw. */
static enum kvc_status forecast_at_speed(struct kvc_scenario *scenario, forecast_fn *method,
                                         const struct kvc_run_options *options,
                                         struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    struct kvc_scenario *seen = at_speed(scenario, scenario, &kvc_cpu_kind, forecast->core_speed_frac, diag);
    seen = at_speed(seen, scenario, &kvc_dram_kind, forecast->memory_speed_frac, diag);
    enum kvc_status status = seen != NULL ? method(seen, options, forecast, diag) : diag->status;
    if (seen != scenario) {
        kvc_scenario_free_copy(seen);
    }
    return status;
}

enum kvc_status kvc_forecast_load(const struct kvc_subject *subject,
                                  const struct kvc_measuring_plan_line *line, double capacity_mops,
                                  const char *more, struct kvc_loaded **loaded, struct kvc_diag *diag)
{
    struct kvc_diag of_sample = {0};
    char sampled[KVC_STALLS_BYTES + sizeof(forecast_overrides)];
    snprintf(sampled, sizeof(sampled), "%s;%s", forecast_overrides, more);
    enum kvc_status status =
        kvc_validate_load_line(subject, line, capacity_mops, sampled, loaded, &of_sample);
    return status == KVC_OK ? status
                            : kvc_validate_load_line(subject, line, capacity_mops, more, loaded, diag);
}

enum kvc_status kvc_forecast_line(const struct kvc_subject *subject,
                                  const struct kvc_measuring_plan_line *line,
                                  const struct kvc_comparison_forecast *of,
                                  const struct kvc_run_options *options,
                                  struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status =
        kvc_forecast_load(subject, line, capacity_of(line, &of->closed_form), "", &loaded, diag);
    if (status == KVC_OK) {
        status = forecast_at_speed(&loaded->scenario, predict_line, options, forecast, diag);
    }
    kvc_loaded_free(loaded);
    loaded = NULL;
    if (status == KVC_OK) {
        status = kvc_forecast_load(subject, line, capacity_of(line, &of->simulated), "", &loaded, diag);
    }
    if (status == KVC_OK) {
        status = forecast_at_speed(&loaded->scenario, simulate_line, options, forecast, diag);
    }
    bool stalls = status == KVC_OK && forecast->open_loop && forecast->stalls != NULL &&
                  forecast->stalls[0] != '\0' && loaded->scenario.model->takes_stalls;
    kvc_loaded_free(loaded);
    loaded = NULL;
    forecast->stalled_p99_us = NAN;
    if (stalls) {
        status = kvc_forecast_load(subject, line, capacity_of(line, &of->simulated), forecast->stalls,
                                   &loaded, diag);
    }
    if (stalls && status == KVC_OK) {
        status = forecast_at_speed(&loaded->scenario, simulate_stalled, options, forecast, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

double kvc_forecast_core_speed_frac(const struct kvc_scenario *scenario, double core_speed_steps_per_ns)
{
    const struct kvc_cpu *cpu = kvc_cpu_of(&scenario->node);
    bool known = cpu != NULL && cpu->core_speed_steps_per_ns > 0 && core_speed_steps_per_ns > 0 &&
                 kvc_scenario_resource(scenario, kvc_cpu_kind.name) != NULL;
    return known ? core_speed_steps_per_ns / cpu->core_speed_steps_per_ns : NAN;
}

double kvc_forecast_memory_speed_frac(const struct kvc_scenario *scenario, double memory_line_ns)
{
    const struct kvc_dram *dram = kvc_dram_of(&scenario->node);
    bool known = dram != NULL && dram->watched_line_ns > 0 && memory_line_ns > 0 &&
                 kvc_scenario_resource(scenario, kvc_dram_kind.name) != NULL;
    return known ? dram->watched_line_ns / memory_line_ns : NAN;
}
