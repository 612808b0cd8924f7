/* kvcast validate --measure: measures the plan of a machine on that machine. */
#include <math.h>
#include <stdlib.h>

#include "sim/base/partial_file.h"
#include "scenarios/cli/validate.h"
#include "validate/probes/noise.h"

struct measurement {
    const struct kvc_subject *subject;
    const struct kvc_run_options *options;
    struct kvc_plan plan;
    uint32_t repetitions;
    struct kvc_loaded **loaded;    /* By line of the plan. */
    struct kvc_readings *readings; /* By line, then by repetition. */
    struct kvc_measured_run *runs;
};

enum { TRIES_MAX = 5 };

/* Loads every line, so that a mistake in the last one is found before the first one runs. */
static enum kvc_status load_all(struct measurement *measurement, struct kvc_diag *diag)
{
    size_t count = measurement->plan.count;
    enum kvc_status status = KVC_OK;
    measurement->loaded = calloc(count, sizeof(*measurement->loaded));
    measurement->readings = calloc(count * measurement->repetitions, sizeof(*measurement->readings));
    measurement->runs = calloc(count, sizeof(*measurement->runs));
    if (measurement->loaded == NULL || measurement->readings == NULL || measurement->runs == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu runs", count);
    }
    for (size_t i = 0; i < count && status == KVC_OK; i++) {
        status = kvc_validate_load_line(measurement->subject, &measurement->plan.entry[i],
                                        &measurement->loaded[i], diag);
    }
    return status;
}

/* Measures once more, and keeps the result if its threads were stalled less than *stalled_frac, the smallest
 * fraction so far. */
static enum kvc_status measure_once(struct measurement *measurement, size_t line,
                                    struct kvc_readings *readings, double *stalled_frac,
                                    struct kvc_diag *diag)
{
    const struct kvc_run_options silent = {.jobs = measurement->options->jobs};
    const struct kvc_scenario *scenario = &measurement->loaded[line]->scenario;
    struct kvc_outcome *outcome = NULL;
    enum kvc_status status = kvc_driver_measure(scenario, &silent, &outcome, diag);
    if (status != KVC_OK) {
        return status;
    }
    double found_frac = kvc_metrics_get(&outcome->result.model, "stalled_frac");
    if (found_frac < *stalled_frac) {
        *stalled_frac = found_frac;
        kvc_readings_of(&outcome->result, readings);
    }
    kvc_outcome_free(outcome);
    return KVC_OK;
}

/* Repeats a disturbed measurement of an open-loop load a few times and keeps the least disturbed one, because
 * its highest latencies would be caused by other work on the machine. The threads of a saturating load are
 * never idle, so no stall is noticed and one measurement suffices. */
static enum kvc_status measure_repetition(struct measurement *measurement, size_t line, uint32_t repetition,
                                          struct kvc_diag *diag)
{
    struct kvc_readings *readings = &measurement->readings[line * measurement->repetitions + repetition];
    struct kvc_measured_run *run = &measurement->runs[line];
    const struct kvc_workload *workload = &measurement->loaded[line]->scenario.workload;
    int tries = workload->arrival == KVC_ARRIVAL_SATURATE ? 1 : TRIES_MAX;
    double stalled_frac = INFINITY;
    enum kvc_status status = KVC_OK;
    for (int i = 0; i < tries && status == KVC_OK && stalled_frac > kvc_noise_stalled_frac; i++) {
        status = measure_once(measurement, line, readings, &stalled_frac, diag);
    }
    run->stalled_frac = fmax(run->stalled_frac, stalled_frac);
    return status;
}

/* Measures every line once before any line is measured again. A temporary disturbance, such as a neighbour's
 * load or a lower clock, then widens the spread of many lines instead of shifting all repetitions of one. */
static enum kvc_status measure_all(struct measurement *measurement, struct kvc_diag *diag)
{
    const struct kvc_progress *progress = measurement->options->progress;
    size_t count = measurement->plan.count, total = count * measurement->repetitions;
    for (size_t i = 0; i < total; i++) {
        kvc_progress_report(progress, measurement->plan.entry[i % count].id, (double)i / (double)total);
        enum kvc_status status = measure_repetition(measurement, i % count, (uint32_t)(i / count), diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    return KVC_OK;
}

static void take_medians(struct measurement *measurement)
{
    for (size_t i = 0; i < measurement->plan.count; i++) {
        struct kvc_measured_run *run = &measurement->runs[i];
        run->repetitions = measurement->repetitions;
        kvc_readings_median(&measurement->readings[i * measurement->repetitions], measurement->repetitions,
                            &run->readings, &run->spread_frac);
    }
}

static void free_all(struct measurement *measurement)
{
    for (size_t i = 0; measurement->loaded != NULL && i < measurement->plan.count; i++) {
        kvc_loaded_free(measurement->loaded[i]);
    }
    free(measurement->loaded);
    free(measurement->readings);
    free(measurement->runs);
    kvc_plan_free(&measurement->plan);
}

enum kvc_status kvc_measured_machine_run(const struct kvc_subject *subject, uint32_t repetitions,
                                         const struct kvc_run_options *options, struct kvc_diag *diag)
{
    struct measurement measurement = {.subject = subject, .options = options, .repetitions = repetitions};
    struct kvc_partial_file file = {0};
    char path[PATH_MAX];
    kvc_subject_path(subject, "plan.csv", path);
    enum kvc_status status = kvc_plan_read(path, &measurement.plan, diag);
    if (status == KVC_OK) {
        status = load_all(&measurement, diag);
    }
    kvc_subject_path(subject, "runs.csv", path);
    if (status == KVC_OK) {
        status = kvc_partial_file_open(&file, path, diag);
    }
    if (status == KVC_OK) {
        status = measure_all(&measurement, diag);
    }
    if (status == KVC_OK) {
        take_medians(&measurement);
        kvc_runs_write(file.file, &measurement.plan, measurement.runs);
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    free_all(&measurement);
    return status;
}
