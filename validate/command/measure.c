/* kvcast validate --measure: measures the plan of a machine on that machine, and calibrates it in between. */
#include <stdio_ext.h>
#include <stdlib.h>
#include <unistd.h>

#include "validate/command/validate.h"
#include "scenarios/run/calibrate.h"
#include "sim/base/array.h"
#include "sim/base/files/folder_lock.h"
#include "sim/base/files/partial_file.h"
#include "sim/base/version.h"
#include "sim/probes/pin.h"

/* The file in which an interrupted measurement leaves its repetitions. */
static const char unfinished_name[] = "runs.unfinished.csv";

struct measurement {
    const struct kvc_subject *subject;
    const struct kvc_measuring *measuring;
    const struct kvc_progress *progress;
    struct kvc_measuring_plan plan;
    /* Indexed by line, then by repetition; entries whose `repetitions` is 0 are not measured yet. */
    struct kvc_measured_run *repetition;
    struct kvc_calibrated calibrated[KVC_CALIBRATIONS_MAX];
    uint32_t calibrations;              /* Calibrations so far. */
    struct kvc_partial_file unfinished; /* Every run is added to it at once. */
    struct kvc_folder_lock lock;
};

/* Loads every line once, so that a mistake in the last one is found before the first one runs. */
static enum kvc_status check_all(struct measurement *measurement, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < measurement->plan.count && status == KVC_OK; i++) {
        struct kvc_loaded *loaded = NULL;
        status = kvc_validate_load_line(measurement->subject, &measurement->plan.entry[i],
                                        kvc_validate_any_capacity_mops, "", &loaded, diag);
        if (status == KVC_OK) {
            status = kvc_validate_check_capacity(&measurement->plan, i, loaded, diag);
        }
        kvc_loaded_free(loaded);
    }
    return status;
}

/* ---- calibration ---- */

/* Calibrates once more and writes machine.lua, whose values are the medians of all calibrations so far. */
static enum kvc_status calibrate(struct measurement *measurement, struct kvc_diag *diag)
{
    const struct kvc_calibration_options options = {.quick = measurement->measuring->quick,
                                                    .version = kvc_version};
    struct kvc_profile *passes[KVC_CALIBRATIONS_MAX];
    struct kvc_partial_file file = {0};
    char path[PATH_MAX];
    struct kvc_calibrated *latest = &measurement->calibrated[measurement->calibrations];
    kvc_subject_path(measurement->subject, "machine.lua", path);
    enum kvc_status status = kvc_calibrate(&options, measurement->progress, latest, diag);
    kvc_pin_release();
    if (status != KVC_OK) {
        kvc_calibrated_free(latest);
        return status;
    }
    measurement->calibrations++;
    for (uint32_t i = 0; i < measurement->calibrations; i++) {
        passes[i] = measurement->calibrated[i].profile;
    }
    status = kvc_partial_file_open(&file, path, diag);
    if (status == KVC_OK) {
        kvc_profile_write_medians(passes, measurement->calibrations, file.file);
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    return status;
}

/* Calibrates if it is due: the first calibration comes before all runs, the last one after them, and the
 * others are spread evenly, so that calibrations and runs see the same machine. */
static enum kvc_status calibrate_if_due(struct measurement *measurement, size_t done, size_t total,
                                        struct kvc_diag *diag)
{
    uint32_t wanted = measurement->measuring->calibrations;
    enum kvc_status status = KVC_OK;
    while (status == KVC_OK && measurement->calibrations < wanted &&
           done * (wanted > 1 ? wanted - 1 : 1) >= measurement->calibrations * total) {
        status = calibrate(measurement, diag);
    }
    return status;
}

/* ---- runs ---- */

static struct kvc_measured_run *repetitions_of(const struct measurement *measurement, size_t line)
{
    return &measurement->repetition[line * measurement->measuring->repetitions];
}

/* Returns the capacity for a line's relative load: the median of the capacity's repetitions so far, which are
 * one more than the line's. */
static double capacity_mops(const struct measurement *measurement, const struct kvc_measuring_plan_line *line,
                            uint32_t repetition)
{
    struct kvc_measured_run combined;
    if (!kvc_measuring_plan_line_is_relative(line)) {
        return kvc_validate_any_capacity_mops;
    }
    kvc_runs_combine(repetitions_of(measurement, line->of), repetition + 1, &combined);
    return combined.readings.value[KVC_READING_THROUGHPUT];
}

/* Adds a run to the file of an interrupted measurement. A line that does not fit on the disk is cut off
 * again, so that --resume finds whole lines only. */
static enum kvc_status add_unfinished(struct measurement *measurement, size_t line,
                                      const struct kvc_measured_run *run, struct kvc_diag *diag)
{
    FILE *out = measurement->unfinished.file;
    off_t before = ftello(out);
    kvc_runs_write_line(out, &measurement->plan, line, run);
    enum kvc_status status = kvc_partial_file_flush(&measurement->unfinished, diag);
    if (status != KVC_OK && before >= 0) {
        __fpurge(out);
        if (ftruncate(fileno(out), before) != 0) {
            return status;
        }
    }
    return status;
}

static enum kvc_status measure_once(struct measurement *measurement, size_t line, uint32_t repetition,
                                    struct kvc_diag *diag)
{
    const struct kvc_run_options silent = {.jobs = 1};
    const struct kvc_measuring_plan_line *planned = &measurement->plan.entry[line];
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    enum kvc_status status = kvc_validate_load_line(
        measurement->subject, planned, capacity_mops(measurement, planned, repetition), "", &loaded, diag);
    if (status == KVC_OK) {
        status = kvc_driver_measure(&loaded->scenario, &silent, &outcome, diag);
    }
    if (status == KVC_OK) {
        const struct kvc_metrics *metrics = &outcome->result.model;
        struct kvc_measured_run *run = repetitions_of(measurement, line) + repetition;
        *run = (struct kvc_measured_run){.repetitions = 1,
                                         .quiet_frac = kvc_metrics_get(metrics, "quiet_frac"),
                                         .windows = kvc_metrics_get(metrics, "windows"),
                                         .core_speed_steps_per_ns =
                                             kvc_metrics_get(metrics, "core_speed_steps_per_ns"),
                                         .stalled_frac = kvc_metrics_get(metrics, "stalled_frac"),
                                         .raw_latency_p99_us = kvc_metrics_get(metrics, "raw_latency_p99_us"),
                                         .memory = {kvc_metrics_get(metrics, "memory_line_ns"),
                                                    kvc_metrics_get(metrics, "memory_latency_ns"),
                                                    kvc_metrics_get(metrics, "memory_bytes_per_s")}};
        strcpy(run->stalls, outcome->result.stalls);
        kvc_readings_of(&outcome->result, &run->readings);
        status = add_unfinished(measurement, line, run, diag);
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    return status;
}

/* Measures every line once before any line is measured again. A temporary disturbance, such as a neighbour's
 * load or a lower clock, then widens the spread of many lines instead of shifting all repetitions of one. */
static enum kvc_status measure_all(struct measurement *measurement, struct kvc_diag *diag)
{
    size_t count = measurement->plan.count, total = count * measurement->measuring->repetitions;
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < total && status == KVC_OK; i++) {
        size_t line = i % count;
        uint32_t repetition = (uint32_t)(i / count);
        status = calibrate_if_due(measurement, i, total, diag);
        kvc_progress_report(measurement->progress, measurement->plan.entry[line].id,
                            (double)i / (double)total);
        if (status == KVC_OK && repetitions_of(measurement, line)[repetition].repetitions == 0) {
            status = measure_once(measurement, line, repetition, diag);
        }
    }
    return status == KVC_OK ? calibrate_if_due(measurement, total, total, diag) : status;
}

/* ---- files ---- */

/* Reads the repetitions of an interrupted measurement and writes them again, so that the file can grow. */
static enum kvc_status open_unfinished(struct measurement *measurement, const char *path,
                                       struct kvc_diag *diag)
{
    uint32_t repetitions = measurement->measuring->repetitions;
    enum kvc_status status = KVC_OK;
    if (measurement->measuring->resume) {
        status =
            kvc_runs_read_repetitions(path, &measurement->plan, repetitions, measurement->repetition, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    status = kvc_partial_file_replace(&measurement->unfinished, path, diag);
    if (status != KVC_OK) {
        return status;
    }
    kvc_runs_write_header(measurement->unfinished.file);
    for (size_t i = 0; i < measurement->plan.count * repetitions; i++) {
        if (measurement->repetition[i].repetitions > 0) {
            kvc_runs_write_line(measurement->unfinished.file, &measurement->plan, i / repetitions,
                                &measurement->repetition[i]);
        }
    }
    return kvc_partial_file_place(&measurement->unfinished, diag);
}

static enum kvc_status write_runs(const struct measurement *measurement, struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    char path[PATH_MAX];
    kvc_subject_path(measurement->subject, "runs.csv", path);
    enum kvc_status status = kvc_partial_file_open(&file, path, diag);
    if (status == KVC_OK) {
        kvc_runs_write_header(file.file);
        for (size_t i = 0; i < measurement->plan.count; i++) {
            struct kvc_measured_run combined;
            kvc_runs_combine(repetitions_of(measurement, i), measurement->measuring->repetitions, &combined);
            kvc_runs_write_line(file.file, &measurement->plan, i, &combined);
        }
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    return status;
}

/* Measures the pairs, whose relative loads refer to the medians of the runs in runs.csv. */
static enum kvc_status measure_pairs(const struct measurement *measurement, struct kvc_diag *diag)
{
    const struct kvc_measuring_plan *plan = &measurement->plan;
    double *mops = kvc_array_of(plan->count + 1, sizeof(*mops));
    struct kvc_measured_run *runs = kvc_array_of(plan->count + 1, sizeof(*runs));
    char path[PATH_MAX];
    kvc_subject_path(measurement->subject, "runs.csv", path);
    enum kvc_status status = plan->pairs > 0 ? kvc_runs_read(path, plan, runs, diag) : KVC_OK;
    for (size_t i = 0; i < plan->count; i++) {
        mops[i] = runs[i].readings.value[KVC_READING_THROUGHPUT];
    }
    if (status == KVC_OK) {
        status = kvc_machine_pairs_measure(measurement->subject, plan, mops, measurement->measuring->turns,
                                           measurement->progress, diag);
    }
    free(runs);
    free(mops);
    return status;
}

static void free_all(struct measurement *measurement)
{
    for (uint32_t i = 0; i < measurement->calibrations; i++) {
        kvc_calibrated_free(&measurement->calibrated[i]);
    }
    kvc_partial_file_discard(&measurement->unfinished);
    kvc_folder_lock_release(&measurement->lock);
    free(measurement->repetition);
    kvc_measuring_plan_free(&measurement->plan);
}

/* Reads the plan and checks it. A machine without a machine file is calibrated first, because the scenarios
 * name this file. */
static enum kvc_status prepare(struct measurement *measurement, const char *unfinished_path,
                               struct kvc_diag *diag)
{
    char path[PATH_MAX];
    kvc_subject_path(measurement->subject, "plan.csv", path);
    enum kvc_status status = kvc_folder_lock_take(&measurement->lock, measurement->subject->folder, diag);
    if (status == KVC_OK) {
        status = kvc_measuring_plan_read(path, &measurement->plan, diag);
    }
    if (status == KVC_OK) {
        size_t total = measurement->plan.count * measurement->measuring->repetitions;
        measurement->repetition = calloc(total + 1, sizeof(*measurement->repetition));
        status = measurement->repetition != NULL
                     ? open_unfinished(measurement, unfinished_path, diag)
                     : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu runs", total);
    }
    if (status == KVC_OK && measurement->measuring->repetitions == 0 && measurement->plan.pairs == 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0,
                                  "has no pairs, which are all that --repetitions 0 measures");
    }
    kvc_subject_path(measurement->subject, "machine.lua", path);
    if (status == KVC_OK && access(path, F_OK) != 0) {
        status = calibrate_if_due(measurement, 0, 1, diag);
    }
    return status == KVC_OK ? check_all(measurement, diag) : status;
}

enum kvc_status kvc_measured_machine_run(const struct kvc_subject *subject,
                                         const struct kvc_measuring *measuring,
                                         const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct measurement measurement = {.subject = subject, .measuring = measuring, .progress = progress};
    char unfinished[PATH_MAX];
    kvc_subject_path(subject, unfinished_name, unfinished);
    enum kvc_status status = prepare(&measurement, unfinished, diag);
    if (status == KVC_OK) {
        status = measure_all(&measurement, diag);
    }
    if (status == KVC_OK && measuring->repetitions > 0) {
        status = write_runs(&measurement, diag);
    }
    if (status == KVC_OK) {
        status = measure_pairs(&measurement, diag);
    }
    if (status == KVC_OK) {
        unlink(unfinished);
    }
    free_all(&measurement);
    return status;
}
