#include "scenarios/explore/sweep/sweep.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/evaluator.h"
#include "scenarios/explore/sweep/row.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/output/folder.h"
#include "scenarios/output/json.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "scenarios/run/ranks/ranks.h"
#include "scenarios/run/answer.h"
#include "sim/base/cleanup.h"
#include "sim/base/clock.h"
#include "sim/base/files/folder_lock.h"
#include "sim/base/files/partial_file.h"
#include "sim/workload/tenants.h"

/* State of the progress bar. */
struct progress {
    struct kvc_progress progress;     /* Passed to the pool; forwards to `shown`. */
    const struct kvc_progress *shown; /* May be NULL. */
    double started_s;
    uint32_t total, kept, ended;     /* Numbers of points; `ended` counts points of this run. */
    bool judged;                     /* The scenario states objectives. */
    const struct kvc_best_value *by; /* The value that makes a point better than others. */
    double best;                     /* Best value of the points that meet the objectives; NaN: none yet. */
};

struct run {
    const struct kvc_sweep_options *task;
    struct kvc_overrides set; /* The user's, and run.replicas if the sweep states it. */
    struct kvc_loaded *base;  /* The scenario without the values of a point. */
    struct kvc_space *space;
    struct kvc_database_layout layout;
    struct kvc_folder_lock lock; /* Held by the first rank. */
    struct kvc_database *database;
    uint32_t *due; /* Points that are not stored. */
    uint32_t due_count;
    double available_bytes;            /* 0 when unknown. */
    double *due_memory_bytes;          /* Memory reserved while a point runs, by its place in `due`. */
    struct kvc_partial_file csv, json; /* Files that the user asked for besides FOLDER/sweep.csv. */
    struct progress progress;
    struct kvc_sweep_done *done;
};

/* Puts the number and the values of a point in front of a message about it. */
static void name_point(const struct run *run, uint32_t point, struct kvc_diag *diag)
{
    char values[300], message[sizeof(diag->message)];
    kvc_space_show(run->space, point, values, sizeof(values));
    snprintf(message, sizeof(message), "point %u (%s): %.600s", point + 1, values, diag->message);
    memcpy(diag->message, message, sizeof(message));
    if (strcmp(diag->file, "--set") ==
        0) { /* A point is set like an option, but it was written in the sweep. */
        const char *file = run->base->scenario.file;
        snprintf(diag->file, sizeof(diag->file), "%s", file);
        diag->line = kvc_locate_line(file, "sweep");
    }
}

/* ---- progress ---- */

/* Counts a point that has ended and shows the progress, with the share of this run that is done. */
static void note_end(struct progress *progress, const struct kvc_row *row, const struct kvc_slo *slo)
{
    progress->ended++;
    if (progress->shown == NULL) {
        return;
    }
    double value = row->number[progress->by->column];
    if (!progress->judged || kvc_row_verdict(row, slo).state == KVC_SLO_MET) {
        progress->best = progress->by->highest ? fmax(progress->best, value) : fmin(progress->best, value);
    }
}

static void show_progress(struct progress *progress, double fraction)
{
    char step[96];
    double elapsed_s = kvc_clock_wall_s() - progress->started_s;
    int used =
        snprintf(step, sizeof(step), "%u/%u points", progress->kept + progress->ended, progress->total);
    if (elapsed_s > 0 && progress->ended > 0) {
        used += snprintf(step + used, sizeof(step) - (size_t)used, ", %.3g/s", progress->ended / elapsed_s);
    }
    if (!isnan(progress->best)) {
        snprintf(step + used, sizeof(step) - (size_t)used, ", best %.4g %s", progress->best,
                 progress->by->unit);
    } else if (progress->judged && progress->ended > 0) {
        snprintf(step + used, sizeof(step) - (size_t)used, ", none meets the slo yet");
    }
    kvc_progress_report(progress->shown, step, fraction);
}

static void show_pool(void *data, const char *step, double fraction)
{
    (void)step;
    show_progress(data, fraction);
}

/* ---- preparation ---- */

static bool sets_replicas(const struct kvc_overrides *set)
{
    bool found = false;
    for (uint32_t i = 0; set != NULL && i < set->count && !found; i++) {
        found = strcmp(set->entry[i].path, "run.replicas") == 0;
    }
    return found;
}

/* Loads the scenario, again if the sweep states the replicas and the user does not. */
static enum kvc_status load_base(struct run *run, struct kvc_diag *diag)
{
    const struct kvc_sweep_options *task = run->task;
    char replicas[16];
    enum kvc_status status = kvc_overrides_join(&run->set, task->set, diag);
    if (status == KVC_OK) {
        status = task->load(task->path, &run->set, &run->base, diag);
    }
    if (status != KVC_OK || run->base->sweep.replicas == 0 || sets_replicas(task->set)) {
        return status;
    }
    snprintf(replicas, sizeof(replicas), "%u", run->base->sweep.replicas);
    status = kvc_overrides_add(&run->set, "run.replicas", replicas, diag);
    if (status == KVC_OK) {
        kvc_loaded_free(run->base);
        run->base = NULL;
        status = task->load(task->path, &run->set, &run->base, diag);
    }
    return status;
}

/* Owns the folder and opens the database, which refuses another sweep's points. */
static enum kvc_status open_database(struct run *run, struct kvc_diag *diag)
{
    struct kvc_identity identity = {.count = 0};
    run->layout = (struct kvc_database_layout){
        .space = run->space, .slo = &run->base->slo, .plan = &run->base->plan, .predict = run->task->predict};
    enum kvc_status status =
        kvc_identity_of(run->base, &run->set, run->space, run->task->predict, &identity, diag);
    if (status == KVC_OK) {
        status = kvc_folder_own(run->task->folder, &run->lock, diag);
    }
    if (status == KVC_OK) {
        status = kvc_database_open(run->task->folder, &identity, &run->layout, run->task->restart,
                                   &run->database, diag);
    }
    kvc_identity_free(&identity);
    return status;
}

/* Finds out which points are stored. */
static enum kvc_status read_stored(struct run *run, uint8_t *stored, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_database_repair(run->database, &run->done->damage, diag);
    return status == KVC_OK ? kvc_database_stored(run->database, stored, &run->done->kept, diag) : status;
}

/* Finds out which points are stored, which only the first rank knows. */
static enum kvc_status find_stored(struct run *run, uint8_t *stored, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_ranks_is_first() ? read_stored(run, stored, diag) : KVC_OK;
    status = kvc_ranks_agree(status, diag);
    if (status == KVC_OK) {
        kvc_ranks_share(stored, run->space->points);
        kvc_ranks_share(&run->done->kept, sizeof(run->done->kept));
    }
    return status;
}

/* Lists the points that are not stored, in their order. */
static enum kvc_status list_due(struct run *run, struct kvc_diag *diag)
{
    uint32_t points = run->space->points;
    uint8_t *stored = calloc(points, sizeof(*stored));
    run->due = calloc(points, sizeof(*run->due));
    enum kvc_status status =
        stored != NULL && run->due != NULL
            ? find_stored(run, stored, diag)
            : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %u points", points);
    for (uint32_t i = 0; i < points && status == KVC_OK; i++) {
        if (!stored[i]) {
            run->due[run->due_count++] = i;
        }
    }
    free(stored);
    run->done->points = points;
    run->progress = (struct progress){.progress = {.report = show_pool, .data = &run->progress},
                                      .shown = run->task->progress,
                                      .started_s = kvc_clock_wall_s(),
                                      .total = points,
                                      .kept = run->done->kept,
                                      .judged = kvc_row_states_objectives(&run->base->slo),
                                      .by = kvc_best_value_of(&run->base->slo, &run->base->plan),
                                      .best = NAN};
    return status;
}

/* ---- answers of the closed form, in this process ---- */

enum { BATCH = 5000 }; /* Points in a transaction, and thus the most that a kill can lose. */

/* Evaluates and stores a batch of due points. */
static enum kvc_status answer_batch(struct run *run, struct kvc_evaluator *evaluator, uint32_t first,
                                    uint32_t count, struct kvc_row *rows, struct kvc_diag *diag)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    struct kvc_forecast forecast;
    enum kvc_status status = KVC_OK;
    double start_s = kvc_clock_cpu_s();
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        kvc_space_point(run->space, run->due[first + i], value);
        status = kvc_evaluator_forecast(evaluator, value, &forecast, diag);
        if (status != KVC_OK) {
            name_point(run, run->due[first + i], diag);
            return status;
        }
        kvc_row_of_forecast(&forecast, &rows[i]);
    }
    double evaluated_s = kvc_clock_cpu_s();
    status = kvc_database_begin(run->database, diag);
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        kvc_space_point(run->space, run->due[first + i], value);
        status = kvc_database_add(run->database, run->due[first + i], value, &rows[i], NULL, diag);
        note_end(&run->progress, &rows[i], &run->base->slo);
    }
    if (status == KVC_OK) {
        status = kvc_database_commit(run->database, diag);
    }
    run->done->evaluate_s += evaluated_s - start_s;
    run->done->store_s += kvc_clock_cpu_s() - evaluated_s;
    return status;
}

static enum kvc_status predict(struct run *run, struct kvc_diag *diag)
{
    struct kvc_evaluator *evaluator = NULL;
    if (!kvc_ranks_is_first()) { /* One process answers faster than the database stores. */
        return KVC_OK;
    }
    struct kvc_row *rows = calloc(BATCH, sizeof(*rows));
    double start_s = kvc_clock_cpu_s();
    enum kvc_status status =
        rows != NULL ? kvc_evaluator_create(run->task->path, &run->set, run->space, &evaluator, diag)
                     : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a batch of points");
    run->done->evaluate_s += kvc_clock_cpu_s() - start_s;
    for (uint32_t first = 0; first < run->due_count && status == KVC_OK; first += BATCH) {
        uint32_t left = run->due_count - first;
        if (kvc_cleanup_is_interrupted()) {
            status = kvc_diag_fail(diag, KVC_ERR_INTERRUPTED, "interrupted");
            break;
        }
        status = answer_batch(run, evaluator, first, left < BATCH ? left : BATCH, rows, diag);
        show_progress(&run->progress, (double)run->progress.ended / run->due_count);
    }
    kvc_evaluator_free(evaluator);
    free(rows);
    return status;
}

/* ---- simulations, each in a child process ---- */

/* Answer of a point's child process. */
struct answer {
    struct kvc_row row;
    struct kvc_pool_block details; /* kvc_row_pack */
};

static enum kvc_status load_point(const struct run *run, uint32_t point, struct kvc_loaded **out,
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
            name_point(run, point, diag);
        }
    }
    kvc_overrides_clear(&overrides);
    return status;
}

static uint32_t jobs_of(const struct run *run)
{
    return run->task->jobs != 0 ? run->task->jobs : kvc_pool_processors();
}

/* Checks that a point has the tenants that the columns are named after, with the same objectives. */
static enum kvc_status check_tenants(const struct run *run, const struct kvc_loaded *loaded, uint32_t point,
                                     struct kvc_diag *diag)
{
    const struct kvc_workload *base = &run->base->scenario.workload, *own = &loaded->scenario.workload;
    uint32_t tenants = own->tenant_count;
    bool same = base->tenant_count == tenants ||
                (base->tenant_count == 0 && kvc_tenants_with_objective(own) == tenants);
    for (uint32_t i = 0; i < base->tenant_count && same; i++) {
        same = strcmp(base->tenants[i].name, own->tenants[i].name) == 0 &&
               base->tenants[i].p99_ns == own->tenants[i].p99_ns;
    }
    if (same) {
        return KVC_OK;
    }
    const char *file = run->base->scenario.file;
    kvc_diag_fail_at(
        diag, KVC_ERR_SCENARIO, file, kvc_locate_line(file, "sweep"),
        "workload.tenants: found other tenants than without the values of the point, allowed: the "
        "same number of them, with the same names and objectives");
    name_point(run, point, diag);
    return KVC_ERR_SCENARIO;
}

/* Loads every point that is due, so that a mistake in the last one is found before the first one runs, and
 * reserves its memory. Its replicas run one after the other. */
static enum kvc_status check_points(struct run *run, struct kvc_diag *diag)
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
        if (kvc_cleanup_is_interrupted()) {
            return kvc_diag_fail(diag, KVC_ERR_INTERRUPTED, "interrupted");
        }
        status = load_point(run, run->due[i], &loaded, diag);
        if (status == KVC_OK) {
            status = check_tenants(run, loaded, run->due[i], diag);
        }
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
    const struct run *run = data;
    return run->due_memory_bytes[task];
}

/* Returns the result document. */
static enum kvc_status write_document(const struct run *run, uint32_t point, const struct kvc_loaded *loaded,
                                      const struct kvc_outcome *outcome, char **text, size_t *bytes,
                                      struct kvc_diag *diag)
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

static enum kvc_status answer_point(const struct run *run, uint32_t task, const struct kvc_loaded *loaded,
                                    const struct kvc_progress *progress, struct answer *answer,
                                    struct kvc_diag *diag)
{
    const struct kvc_run_options options = {
        .jobs = 1, .available_bytes = run->due_memory_bytes[task], .progress = progress};
    struct kvc_outcome *outcome = NULL;
    char *document = NULL;
    size_t bytes = 0;
    enum kvc_status status = kvc_driver_run(&loaded->scenario, &options, &outcome, diag);
    if (status == KVC_OK) {
        status = kvc_driver_judge(&loaded->scenario, outcome, diag);
    }
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
    struct run *run = data;
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
    struct run *run = data;
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
    note_end(&run->progress, &answer->row, &run->base->slo);
    return status;
}

/* Load and answer the points that are due. */
static enum kvc_status simulate(struct run *run, struct kvc_diag *diag)
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
        double limit_s = kvc_time_limit_s(); /* Each point gets its share of the limit. */
        kvc_time_limit_set(limit_s / ceil((double)run->due_count / pool.jobs));
        status = kvc_pool_run(&pool, run->task->progress != NULL ? &run->progress.progress : NULL, diag);
        kvc_time_limit_set(limit_s);
    }
    return status;
}

/* ---- exports ---- */

/* Opens the files that the user asked for, so that an unwritable place is reported before the work. */
static enum kvc_status open_exports(struct run *run, struct kvc_diag *diag)
{
    const struct kvc_sweep_options *task = run->task;
    enum kvc_status status = KVC_OK;
    if (task->csv != NULL) {
        status = kvc_partial_file_open(&run->csv, task->csv, diag);
    }
    if (status == KVC_OK && task->json != NULL && strcmp(task->json, "-") != 0) {
        status = kvc_partial_file_open(&run->json, task->json, diag);
    }
    return status;
}

/* Writes FOLDER/sweep.csv with the points that are done. */
static enum kvc_status export_table(const struct run *run, struct kvc_diag *diag)
{
    struct kvc_partial_file partial = {0};
    enum kvc_status status = kvc_partial_file_open_in(&partial, run->task->folder, "sweep.csv", diag);
    if (status == KVC_OK) {
        status = kvc_export_csv(run->database, partial.file, diag);
    }
    if (status == KVC_OK) {
        status = kvc_partial_file_commit(&partial, diag);
    }
    kvc_partial_file_discard(&partial);
    return status;
}

static enum kvc_status write_exports(struct run *run, struct kvc_diag *diag)
{
    enum kvc_status status = export_table(run, diag);
    if (status == KVC_OK && run->csv.file != NULL) {
        status = kvc_export_csv(run->database, run->csv.file, diag);
        status = status == KVC_OK ? kvc_partial_file_commit(&run->csv, diag) : status;
    }
    if (status == KVC_OK && run->json.file != NULL) {
        status = kvc_export_json(run->database, &run->done->kind, run->json.file, diag);
        status = status == KVC_OK ? kvc_partial_file_commit(&run->json, diag) : status;
    } else if (status == KVC_OK && run->task->json != NULL) {
        status = kvc_export_json(run->database, &run->done->kind, run->task->out, diag);
    }
    return status;
}

static enum kvc_status export_all(struct run *run, struct kvc_diag *diag)
{
    double start_s = kvc_clock_cpu_s();
    enum kvc_status status = write_exports(run, diag);
    if (status == KVC_OK) {
        status = kvc_best_find(run->database, &run->done->best, diag);
    }
    if (status == KVC_OK && run->done->best.leader > 0) {
        kvc_space_show(run->space, run->done->best.leader - 1, run->done->best_values,
                       sizeof(run->done->best_values));
    }
    run->done->export_s = kvc_clock_cpu_s() - start_s;
    return status;
}

/* Opens the files that only the first rank writes. */
static enum kvc_status open_files(struct run *run, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    if (kvc_ranks_is_first()) {
        status = open_database(run, diag);
        status = status == KVC_OK ? open_exports(run, diag) : status;
    }
    return kvc_ranks_agree(status, diag);
}

/* Answers the points that are due. It exports the points that are done even after a failure, which it
 * returns. */
static enum kvc_status answer_and_export(struct run *run, struct kvc_diag *diag)
{
    struct kvc_diag unused = {0};
    kvc_cleanup_defer(kvc_ranks_count() == 1);
    enum kvc_status status = run->task->predict ? predict(run, diag) : simulate(run, diag);
    kvc_cleanup_defer(false);
    if (!kvc_ranks_is_first()) {
        return status;
    }
    if (status == KVC_OK) {
        kvc_progress_done(run->task->progress);
        return export_all(run, diag);
    }
    uint32_t done = run->progress.kept + run->progress.ended;
    if (status == KVC_ERR_INTERRUPTED && done == 0) { /* A table without points does not know its columns. */
        return kvc_diag_fail(diag, status, "interrupted before the first of %u points has ended",
                             run->progress.total);
    }
    if (export_table(run, &unused) == KVC_OK && status == KVC_ERR_INTERRUPTED) {
        kvc_diag_fail(
            diag, status,
            "interrupted after %u of %u points, which %.300s/sweep.csv has; the same command goes on "
            "with the others",
            done, run->progress.total, run->task->folder);
    }
    return status;
}

enum kvc_status kvc_sweep_run(const struct kvc_sweep_options *task, struct kvc_sweep_done *done,
                              struct kvc_diag *diag)
{
    struct run run = {.task = task, .available_bytes = kvc_memory_available_bytes(), .done = done};
    *done = (struct kvc_sweep_done){0};
    enum kvc_status status = load_base(&run, diag);
    status = kvc_ranks_agree(status, diag);
    if (status == KVC_OK) {
        status = kvc_ranks_check_loaded(run.base, diag);
    }
    if (status == KVC_OK) {
        done->kind = kvc_accuracy_kind_of(
            run.base, task->predict ? KVC_ACCURACY_CLOSED_FORM : KVC_ACCURACY_SIMULATION, true);
        status = kvc_space_create(run.base, &run.space, diag);
    }
    if (status == KVC_OK) {
        status = open_files(&run, diag);
    }
    if (status == KVC_OK) {
        status = list_due(&run, diag);
    }
    if (status == KVC_OK) {
        status = answer_and_export(&run, diag);
    }
    kvc_partial_file_discard(&run.csv);
    kvc_partial_file_discard(&run.json);
    kvc_database_close(run.database);
    kvc_folder_lock_release(&run.lock);
    kvc_space_free(run.space);
    kvc_loaded_free(run.base);
    kvc_overrides_clear(&run.set);
    free(run.due_memory_bytes);
    free(run.due);
    return status;
}
