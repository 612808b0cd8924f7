/* Simulates the points of a sweep, each in a child process. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/sweep/sweep_internal.h"
#include "scenarios/output/json.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/memory_plan.h"
#include "scenarios/run/pool.h"
#include "scenarios/run/ranks.h"
#include "scenarios/run/time_plan.h"

/* What the child of a point sends. */
struct answer {
    struct kvc_row row;
    struct kvc_pool_block details; /* kvc_row_pack */
};

static enum kvc_status load_point(const struct kvc_sweep_run *run, uint32_t point, struct kvc_loaded **out,
                                  struct kvc_diag *diag)
{
    struct kvc_overrides overrides = {0};
    enum kvc_status status = kvc_overrides_join(&overrides, &run->set, diag);
    if (status == KVC_OK) {
        status = kvc_space_set(run->space, point, &overrides, diag);
    }
    if (status == KVC_OK) {
        status = run->task->load_point(run->task->path, &overrides, out, diag);
        if (status != KVC_OK) {
            kvc_sweep_name_point(run, point, diag);
        }
    }
    kvc_overrides_clear(&overrides);
    return status;
}

static uint32_t jobs_of(const struct kvc_sweep_run *run)
{
    return run->task->jobs != 0 ? run->task->jobs : kvc_pool_processors();
}

/* Loads every point that is due, so that a mistake in the last one is found before the first one runs, and
 * reserves its memory. Its replicas run one after the other. */
static enum kvc_status check_points(struct kvc_sweep_run *run, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    double least_s = 0;
    run->due_memory_bytes = calloc((size_t)run->due_count + 1, sizeof(*run->due_memory_bytes));
    if (run->due_memory_bytes == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %u points", run->due_count);
    }
    for (uint32_t i = 0; i < run->due_count && status == KVC_OK; i++) {
        struct kvc_loaded *loaded = NULL;
        uint32_t jobs;
        kvc_progress_report(run->task->progress, "checking points", (double)i / run->due_count);
        status = load_point(run, run->due[i], &loaded, diag);
        if (status == KVC_OK) {
            double replicas = (double)loaded->scenario.run.replicas;
            least_s += replicas * kvc_time_least_s(&loaded->scenario) / jobs_of(run);
            status = kvc_time_plan(&loaded->scenario, least_s, "the sweep", diag);
        }
        if (status == KVC_OK) {
            run->due_memory_bytes[i] = kvc_memory_needed_bytes(&loaded->scenario);
            status = kvc_memory_plan(run->due_memory_bytes[i], run->available_bytes,
                                     (uint32_t)loaded->scenario.run.replicas, 1, 1, &jobs, diag);
        }
        kvc_loaded_free(loaded);
    }
    return status;
}

static double memory_bytes(const void *data, uint32_t task)
{
    const struct kvc_sweep_run *run = data;
    return run->due_memory_bytes[task];
}

/* Returns the result document. */
static enum kvc_status write_document(const struct kvc_sweep_run *run, uint32_t point,
                                      const struct kvc_loaded *loaded, const struct kvc_outcome *outcome,
                                      char **text, size_t *bytes, struct kvc_diag *diag)
{
    char command_line[PATH_MAX + 64];
    FILE *memory = open_memstream(text, bytes);
    if (memory == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for the result of point %u", point + 1);
    }
    snprintf(command_line, sizeof(command_line), "kvcast sweep %s (point %u)", run->task->path, point + 1);
    const struct kvc_report report = {
        .command = "run", .command_line = command_line, .loaded = loaded, .outcome = outcome};
    enum kvc_status status = kvc_json_write(&report, memory, diag);
    if (fclose(memory) != 0 && status == KVC_OK) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for the result of point %u", point + 1);
    }
    return status;
}

static enum kvc_status answer_point(const struct kvc_sweep_run *run, uint32_t task,
                                    const struct kvc_loaded *loaded, const struct kvc_progress *progress,
                                    struct answer *answer, struct kvc_diag *diag)
{
    const struct kvc_run_options options = {
        .jobs = 1, .available_bytes = run->due_memory_bytes[task], .progress = progress};
    struct kvc_outcome *outcome = NULL;
    char *document = NULL;
    size_t bytes = 0;
    enum kvc_status status = kvc_driver_run(&loaded->scenario, &options, &outcome, diag);
    if (status == KVC_OK && loaded->scenario.run.bottleneck == KVC_BOTTLENECK_BY_GAIN) {
        status = kvc_gain_find(&loaded->scenario, &options, outcome, diag);
    }
    if (status == KVC_OK) {
        status = write_document(run, run->due[task], loaded, outcome, &document, &bytes, diag);
    }
    if (status == KVC_OK) {
        kvc_row_of_outcome(loaded, outcome, &answer->row);
        answer->details.data = kvc_row_pack(loaded, outcome, document, bytes, &answer->details.bytes);
    }
    free(document);
    kvc_outcome_free(outcome);
    return status;
}

/* Runs in the child. */
static enum kvc_status point_body(void *data, uint32_t task, const struct kvc_progress *progress,
                                  void *answer, struct kvc_diag *diag)
{
    struct kvc_sweep_run *run = data;
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = load_point(run, run->due[task], &loaded, diag);
    if (status == KVC_OK) {
        status = answer_point(run, task, loaded, progress, answer, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

static struct kvc_pool_block *details_of(void *answer)
{
    return &((struct answer *)answer)->details;
}

/* Only the first rank has the database. */
static enum kvc_status store(void *data, uint32_t task, const void *taken, struct kvc_diag *diag)
{
    struct kvc_sweep_run *run = data;
    const struct answer *answer = taken;
    struct kvc_row_details details;
    uint32_t value[KVC_SWEEP_AXES_MAX], point = run->due[task];
    if (!kvc_ranks_is_first()) {
        return KVC_OK;
    }
    kvc_space_point(run->space, point, value);
    kvc_row_unpack(answer->details.data, &details);
    enum kvc_status status = kvc_database_begin(run->database, diag);
    if (status == KVC_OK) {
        status = kvc_database_add(run->database, point, value, &answer->row, &details, diag);
    }
    if (status == KVC_OK) {
        status = kvc_database_commit(run->database, diag);
    }
    kvc_sweep_note(&run->progress, &answer->row, &run->base->slo);
    return status;
}

enum kvc_status kvc_sweep_simulate(struct kvc_sweep_run *run, struct kvc_diag *diag)
{
    const struct kvc_pool_options pool = {
        .tasks = run->due_count,
        .jobs = jobs_of(run),
        .answer_bytes = sizeof(struct answer),
        .noun = "point",
        .data = run,
        .body = point_body,
        .block = details_of,
        .take = store,
        .memory_bytes = memory_bytes,
        .available_bytes = run->available_bytes,
        .any_order = true,
    };
    enum kvc_status status = kvc_ranks_agree(check_points(run, diag), diag);
    if (status == KVC_OK && run->due_count > 0) {
        double limit_s = kvc_time_limit_s(); /* Each point has its share. */
        kvc_time_limit_set(limit_s / ceil((double)run->due_count / pool.jobs));
        status = kvc_pool_run(&pool, run->task->progress != NULL ? &run->progress.progress : NULL, diag);
        kvc_time_limit_set(limit_s);
    }
    return status;
}
