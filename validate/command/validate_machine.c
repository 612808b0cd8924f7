/* kvcast validate: forecasts the runs of a measured machine and scores them. */
#include <math.h>
#include <stdlib.h>

#include "models/resource.h"
#include "scenarios/run/memory_plan.h"
#include "scenarios/run/pool.h"
#include "validate/command/validate.h"
#include "sim/devices/cpu.h"

/* Predicts one run by its closed form. */
static enum kvc_status predict_line(struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                    struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = NULL;
    enum kvc_status status = kvc_driver_predict(scenario, &outcome, diag);
    (void)options;
    if (status == KVC_OK) {
        kvc_readings_of(&outcome->result, &forecast->closed_form);
    }
    kvc_outcome_free(outcome);
    return status;
}

/* A measurement takes long because its machine is noisy. The simulation of the undisturbed machine begins
 * with this much measured time [ns], and takes four times as much while its throughput is not known well
 * enough, up to that of the measurement. */
static const double simulated_first_ns = 50e6, simulated_more = 4;

/* Half the width of the interval of a forecast throughput, relative to it, that is narrow enough: a quarter
 * of what a mean error may be. */
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
        for (int i = 0; i < KVC_READINGS; i++) {
            forecast->half_width[i] = kvc_outcome_interval(outcome, kvc_reading_names[i]).half_width;
        }
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
    run->warmup_most_ns =
        kvc_run_real_warmup_ns(run); /* A store that changes for longer did so there, too. */
    for (double next_ns = simulated_first_ns; !narrow && status == KVC_OK; next_ns *= simulated_more) {
        run->duration_ns = fmin(next_ns, most_ns);
        status = simulate_once(scenario, options, forecast, diag);
        narrow = run->duration_ns >= most_ns ||
                 forecast->half_width[KVC_READING_THROUGHPUT] <=
                     narrow_frac * forecast->simulated.value[KVC_READING_THROUGHPUT];
    }
    return status;
}

/* The capacity of the run that a line refers to, as this forecast has it. */
static double capacity_of(const struct kvc_plan_line *line, const struct kvc_readings *forecast_of)
{
    return kvc_plan_line_is_relative(line) ? forecast_of->value[KVC_READING_THROUGHPUT]
                                           : kvc_validate_any_capacity_mops;
}

/* Forecasts a scenario in one way. */
typedef enum kvc_status forecast_fn(struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                    struct kvc_comparison_forecast *forecast, struct kvc_diag *diag);

/* Forecasts a scenario with its cores at the speed that the run saw. */
static enum kvc_status forecast_at_speed(struct kvc_scenario *scenario, forecast_fn *method,
                                         const struct kvc_run_options *options,
                                         struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    if (isnan(forecast->core_speed_frac)) {
        return method(scenario, options, forecast, diag);
    }
    struct kvc_scenario *seen = kvc_scenario_faster(
        scenario, kvc_scenario_resource(scenario, kvc_cpu_kind.name), forecast->core_speed_frac, diag);
    enum kvc_status status = seen != NULL ? method(seen, options, forecast, diag) : diag->status;
    kvc_scenario_free_copy(seen);
    return status;
}

/* Loads a line with a sample of the keys, or, if its store keeps none, whole. */
static enum kvc_status load_forecast(const struct kvc_measured_machine *machine,
                                     const struct kvc_plan_line *line, double capacity_mops,
                                     struct kvc_loaded **loaded, struct kvc_diag *diag)
{
    struct kvc_diag of_sample = {0};
    enum kvc_status status =
        kvc_validate_load_line(machine->subject, line, capacity_mops, forecast_overrides, loaded, &of_sample);
    return status == KVC_OK ? status
                            : kvc_validate_load_line(machine->subject, line, capacity_mops, "", loaded, diag);
}

/* Forecasts one run. A relative load is a fraction of the capacity that the same method forecasts: closed
 * form and simulation both work at the utilization of the measurement. */
static enum kvc_status forecast_line(const struct kvc_measured_machine *machine, uint32_t task,
                                     const struct kvc_run_options *options,
                                     struct kvc_comparison_forecast *forecast, struct kvc_diag *diag)
{
    const struct kvc_plan_line *line = &machine->plan.entry[task];
    const struct kvc_comparison_forecast *of = &machine->forecasts[line->of];
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = load_forecast(machine, line, capacity_of(line, &of->closed_form), &loaded, diag);
    if (status == KVC_OK) {
        status = forecast_at_speed(&loaded->scenario, predict_line, options, forecast, diag);
    }
    kvc_loaded_free(loaded);
    loaded = NULL;
    if (status == KVC_OK) {
        status = load_forecast(machine, line, capacity_of(line, &of->simulated), &loaded, diag);
    }
    if (status == KVC_OK) {
        status = forecast_at_speed(&loaded->scenario, simulate_line, options, forecast, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

/* Returns the speed of the cores in a run, relative to the one that its profile was calibrated at; NaN if one
 * of them is unknown or nothing depends on it. */
static double core_speed_frac(const struct kvc_scenario *scenario, const struct kvc_measured_run *run)
{
    const struct kvc_cpu *cpu = kvc_cpu_of(&scenario->node);
    bool known = cpu != NULL && cpu->core_speed_steps_per_ns > 0 && run->core_speed_steps_per_ns > 0 &&
                 kvc_scenario_resource(scenario, kvc_cpu_kind.name) != NULL;
    return known ? run->core_speed_steps_per_ns / cpu->core_speed_steps_per_ns : NAN;
}

/* Loads every line, so that a mistake in the last one is found before the first one runs: first as it is
 * written, then as it is forecast. */
static enum kvc_status find_arrivals(struct kvc_measured_machine *machine, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < machine->plan.count && status == KVC_OK; i++) {
        struct kvc_loaded *loaded = NULL;
        status = kvc_validate_load_line(machine->subject, &machine->plan.entry[i],
                                        kvc_validate_any_capacity_mops, "", &loaded, diag);
        if (status == KVC_OK && kvc_measured_machine_shows(machine, i)) {
            status = kvc_validate_check(loaded, machine->plan.entry[i].overrides, machine->plan.path,
                                        machine->plan.entry[i].line, diag);
        }
        if (status == KVC_OK) {
            status = kvc_validate_check_capacity(&machine->plan, i, loaded, diag);
            machine->forecasts[i].open_loop = loaded->scenario.workload.arrival != KVC_ARRIVAL_SATURATE;
            kvc_loaded_free(loaded);
            loaded = NULL;
            status = load_forecast(machine, &machine->plan.entry[i], kvc_validate_any_capacity_mops, &loaded,
                                   diag);
        }
        if (status == KVC_OK) {
            machine->forecasts[i].memory_bytes = kvc_memory_needed_bytes(&loaded->scenario);
            machine->forecasts[i].core_speed_frac = core_speed_frac(&loaded->scenario, &machine->runs[i]);
        }
        kvc_loaded_free(loaded);
    }
    return status;
}

/* Returns whether the forecast of this line is reported, or is the capacity of one that is. */
static bool is_needed(const struct kvc_measured_machine *machine, size_t line)
{
    bool needed = kvc_measured_machine_shows(machine, line);
    for (size_t i = line + 1; i < machine->plan.count && !needed; i++) {
        const struct kvc_plan_line *other = &machine->plan.entry[i];
        needed =
            kvc_plan_line_is_relative(other) && other->of == line && kvc_measured_machine_shows(machine, i);
    }
    return needed;
}

/* The lines of one pass: first those that state their load, then those that refer to the forecasts of the
 * first ones. */
struct pass {
    struct kvc_measured_machine *machine;
    bool relative;
};

static enum kvc_status forecast_task(void *data, uint32_t task, const struct kvc_progress *progress,
                                     void *answer, struct kvc_diag *diag)
{
    const struct pass *pass = data;
    const struct kvc_measured_machine *machine = pass->machine;
    struct kvc_comparison_forecast *forecast = answer;
    const struct kvc_run_options options = {.jobs = 1, .progress = progress};
    *forecast = machine->forecasts[task];
    if (kvc_plan_line_is_relative(&machine->plan.entry[task]) != pass->relative ||
        !is_needed(machine, task)) {
        return KVC_OK;
    }
    return forecast_line(machine, task, &options, forecast, diag);
}

static double memory_bytes(const void *data, uint32_t task)
{
    const struct pass *pass = data;
    return pass->machine->forecasts[task].memory_bytes;
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct pass *pass = data;
    (void)diag;
    pass->machine->forecasts[task] = *(const struct kvc_comparison_forecast *)answer;
    return KVC_OK;
}

static enum kvc_status forecast_all(struct kvc_measured_machine *machine,
                                    const struct kvc_run_options *options, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (int relative = 0; relative <= 1 && status == KVC_OK; relative++) {
        struct pass pass = {machine, relative != 0};
        const struct kvc_pool_options pool = {
            .tasks = (uint32_t)machine->plan.count,
            .jobs = options->jobs > 0 ? options->jobs : kvc_pool_processors(),
            .answer_bytes = sizeof(struct kvc_comparison_forecast),
            .noun = "run",
            .data = &pass,
            .body = forecast_task,
            .memory_bytes = memory_bytes,
            .available_bytes = kvc_memory_available_bytes(),
            .take = take,
        };
        status = kvc_pool_run(&pool, options->progress, diag);
    }
    return status;
}

void kvc_measured_machine_free(struct kvc_measured_machine *machine)
{
    kvc_plan_free(&machine->plan);
    free(machine->runs);
    free(machine->forecasts);
    kvc_comparison_free(&machine->comparison);
    machine->runs = NULL;
    machine->forecasts = NULL;
}

/* Reads plan, runs and baseline, so that all mistakes in files are found before the simulations start. */
static enum kvc_status read_all(struct kvc_measured_machine *machine, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    kvc_subject_path(machine->subject, "plan.csv", path);
    enum kvc_status status = kvc_plan_read(path, &machine->plan, diag);
    if (status != KVC_OK) {
        return status;
    }
    machine->runs = calloc(machine->plan.count, sizeof(*machine->runs));
    machine->forecasts = calloc(machine->plan.count, sizeof(*machine->forecasts));
    if (machine->runs == NULL || machine->forecasts == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu runs", machine->plan.count);
    }
    kvc_subject_path(machine->subject, "runs.csv", path);
    status = kvc_runs_read(path, &machine->plan, machine->runs, diag);
    if (status == KVC_OK) {
        status = find_arrivals(machine, diag);
    }
    if (status == KVC_OK) {
        status = kvc_comparison_list(&machine->plan, machine->runs, machine->forecasts, machine->unseen,
                                     &machine->comparison, diag);
    }
    kvc_subject_path(machine->subject, "baseline.csv", path);
    return status != KVC_OK
               ? status
               : kvc_baseline_read(path, &machine->comparison.cases, machine->comparison.score, diag);
}

enum kvc_status kvc_measured_machine_score(const struct kvc_subject *subject, bool unseen,
                                           const struct kvc_run_options *options,
                                           struct kvc_measured_machine *machine, struct kvc_diag *diag)
{
    *machine = (struct kvc_measured_machine){.subject = subject, .unseen = unseen};
    enum kvc_status status = read_all(machine, diag);
    if (status == KVC_OK) {
        status = forecast_all(machine, options, diag);
    }
    if (status == KVC_OK) {
        kvc_comparison_score(&machine->comparison, machine->forecasts);
    }
    return status;
}
