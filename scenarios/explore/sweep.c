#include "scenarios/explore/sweep.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/space.h"
#include "scenarios/output/folder.h"
#include "scenarios/output/json.h"
#include "sim/base/partial_file.h"
#include "scenarios/output/sweep_table.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/memory_plan.h"
#include "scenarios/run/pool.h"

struct point {
    char path[PATH_MAX]; /* Path of the result document. */
    double memory_bytes; /* Memory reserved while the point runs. */
};

struct sweep_run {
    const struct kvc_sweep_options *task;
    struct kvc_loaded *base; /* The scenario without the values of a point; it has the axes. */
    struct kvc_space *space;
    struct point *points;
    uint32_t count;
    uint32_t *due; /* Points without a document. */
    uint32_t due_count;
    double available_bytes; /* 0 when unknown. */
};

static const char *command_of(const struct kvc_sweep_options *task)
{
    return task->predict ? "predict" : "run";
}

static enum kvc_status load_point(const struct sweep_run *run, uint32_t point, struct kvc_loaded **out,
                                  struct kvc_diag *diag)
{
    struct kvc_overrides overrides = {0};
    enum kvc_status status = kvc_overrides_join(&overrides, run->task->set, diag);
    if (status == KVC_OK) {
        status = kvc_space_set(run->space, point, &overrides, diag);
    }
    if (status == KVC_OK) {
        status = run->task->load_point(run->task->path, &overrides, out, diag);
    }
    kvc_overrides_clear(&overrides);
    return status;
}

static enum kvc_status make_points(struct sweep_run *run, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_space_create(run->base, &run->space, diag);
    if (status != KVC_OK) {
        return status;
    }
    run->count = run->space->points;
    run->points = calloc(run->count, sizeof(*run->points));
    run->due = calloc(run->count, sizeof(*run->due));
    if (run->points == NULL || run->due == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %u points", run->count);
    }
    return KVC_OK;
}

/* Reserves the memory of a point. Its replicas run one after the other. */
static enum kvc_status reserve(const struct sweep_run *run, struct point *point,
                               const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    uint32_t jobs;
    point->memory_bytes = kvc_scenario_memory_bytes(scenario);
    return kvc_memory_plan(point->memory_bytes, run->available_bytes, (uint32_t)scenario->run.replicas, 1, 1,
                           &jobs, diag);
}

/* Loads every point, so that a mistake in the last one is found before the first one runs. */
static enum kvc_status check_points(struct sweep_run *run, struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < run->count; i++) {
        struct point *point = &run->points[i];
        struct kvc_loaded *loaded = NULL;
        if (snprintf(point->path, sizeof(point->path), "%s/points/%04u.json", run->task->folder, i + 1) >=
            (int)sizeof(point->path)) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the folder is too long: %.200s...",
                                 run->task->folder);
        }
        enum kvc_status status = load_point(run, i, &loaded, diag);
        if (status == KVC_OK && !run->task->predict) {
            status = reserve(run, point, &loaded->scenario, diag);
        }
        if (status == KVC_OK && !kvc_json_answers(point->path, command_of(run->task), loaded)) {
            run->due[run->due_count++] = i;
        }
        kvc_loaded_free(loaded);
        if (status != KVC_OK) {
            return status;
        }
    }
    return KVC_OK;
}

static double memory_bytes(const void *data, uint32_t task)
{
    const struct sweep_run *run = data;
    return run->points[run->due[task]].memory_bytes;
}

static enum kvc_status answer_point(const struct sweep_run *run, uint32_t number,
                                    const struct kvc_loaded *loaded, const struct kvc_progress *progress,
                                    struct kvc_diag *diag)
{
    const struct point *point = &run->points[number];
    const struct kvc_run_options options = {
        .jobs = 1, .available_bytes = point->memory_bytes, .progress = progress};
    char command_line[PATH_MAX + 64];
    struct kvc_outcome *outcome = NULL;
    struct kvc_partial_file partial = {0};
    enum kvc_status status = kvc_partial_file_open(&partial, point->path, diag);
    if (status == KVC_OK) {
        status = run->task->predict ? kvc_driver_predict(&loaded->scenario, &outcome, diag)
                                    : kvc_driver_run(&loaded->scenario, &options, &outcome, diag);
    }
    if (status == KVC_OK && loaded->scenario.run.bottleneck == KVC_BOTTLENECK_BY_GAIN) {
        status = kvc_gain_find(&loaded->scenario, run->task->predict ? NULL : &options, outcome, diag);
    }
    if (status == KVC_OK) {
        snprintf(command_line, sizeof(command_line), "kvcast sweep %s%s (point %u)", run->task->path,
                 run->task->predict ? " --predict" : "", number + 1);
        const struct kvc_report report = {.command = command_of(run->task),
                                          .command_line = command_line,
                                          .loaded = loaded,
                                          .outcome = outcome};
        status = kvc_json_write(&report, partial.file, diag);
    }
    if (status == KVC_OK) {
        status = kvc_partial_file_commit(&partial, diag);
    }
    kvc_partial_file_discard(&partial);
    kvc_outcome_free(outcome);
    return status;
}

static enum kvc_status point_body(void *data, uint32_t task, const struct kvc_progress *progress,
                                  void *answer, struct kvc_diag *diag)
{
    struct sweep_run *run = data;
    struct kvc_loaded *loaded = NULL;
    (void)answer;
    enum kvc_status status = load_point(run, run->due[task], &loaded, diag);
    if (status == KVC_OK) {
        status = answer_point(run, run->due[task], loaded, progress, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

static enum kvc_status write_table(const struct sweep_run *run, struct kvc_diag *diag)
{
    const struct kvc_sweep *sweep = &run->base->sweep;
    char path[PATH_MAX];
    struct kvc_partial_file partial = {0};
    struct kvc_sweep_table table = {.sweep = sweep};
    if (snprintf(path, sizeof(path), "%s/sweep.csv", run->task->folder) >= (int)sizeof(path)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the folder is too long");
    }
    enum kvc_status status = kvc_partial_file_open(&partial, path, diag);
    for (uint32_t i = 0; i < run->count && status == KVC_OK; i++) {
        status = kvc_sweep_table_add(&table, run->points[i].path, diag);
        uint32_t value[KVC_SWEEP_AXES_MAX];
        kvc_space_point(run->space, i, value);
        for (uint32_t axis = 0; axis < sweep->count && status == KVC_OK; axis++) {
            kvc_sweep_table_value(&table, axis, run->space->axis[axis].value[value[axis]].label);
        }
    }
    if (status == KVC_OK) {
        kvc_sweep_table_write(&table, partial.file);
    }
    if (status == KVC_OK) {
        status = kvc_partial_file_commit(&partial, diag);
    }
    kvc_sweep_table_free(&table);
    kvc_partial_file_discard(&partial);
    return status;
}

static enum kvc_status make_folder(const struct kvc_sweep_options *task, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/points", task->folder) >= (int)sizeof(path)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path of the folder is too long: %.200s...",
                             task->folder);
    }
    return kvc_folder_create(path, diag);
}

static enum kvc_status run_points(struct sweep_run *run, struct kvc_diag *diag)
{
    const struct kvc_pool_options pool = {
        .tasks = run->due_count,
        .jobs = run->task->jobs != 0 ? run->task->jobs : kvc_pool_processors(),
        .noun = "point",
        .data = run,
        .body = point_body,
        .memory_bytes = memory_bytes,
        .available_bytes = run->available_bytes,
    };
    return run->due_count > 0 ? kvc_pool_run(&pool, run->task->progress, diag) : KVC_OK;
}

enum kvc_status kvc_sweep_run(const struct kvc_sweep_options *task, struct kvc_sweep_done *done,
                              struct kvc_diag *diag)
{
    struct sweep_run run = {.task = task, .available_bytes = kvc_memory_available_bytes()};
    *done = (struct kvc_sweep_done){0};
    enum kvc_status status = task->load(task->path, task->set, &run.base, diag);
    if (status == KVC_OK) {
        status = make_points(&run, diag);
    }
    if (status == KVC_OK) {
        status = make_folder(task, diag);
    }
    if (status == KVC_OK) {
        status = check_points(&run, diag);
    }
    if (status == KVC_OK) {
        status = run_points(&run, diag);
    }
    if (status == KVC_OK) {
        status = write_table(&run, diag);
    }
    if (status == KVC_OK) {
        *done = (struct kvc_sweep_done){.points = run.count, .kept = run.count - run.due_count};
    }
    kvc_space_free(run.space);
    kvc_loaded_free(run.base);
    free(run.points);
    free(run.due);
    return status;
}
