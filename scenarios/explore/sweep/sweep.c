#include "scenarios/explore/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/sweep/sweep_internal.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/output/folder.h"
#include "scenarios/run/memory_plan.h"
#include "scenarios/run/ranks.h"
#include "scenarios/run/ranks_check.h"
#include "sim/base/clock.h"

/* ---- points in messages ---- */

void kvc_sweep_show_point(const struct kvc_space *space, uint32_t point, char *text, size_t size)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    size_t used = 0;
    kvc_space_point(space, point, value);
    text[0] = '\0';
    for (uint32_t i = 0; i < space->axis_count && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s = %s", i > 0 ? ", " : "",
                                 space->axis[i].path, space->axis[i].value[value[i]].label);
    }
}

void kvc_sweep_name_point(const struct kvc_sweep_run *run, uint32_t point, struct kvc_diag *diag)
{
    char values[300], message[sizeof(diag->message)];
    kvc_sweep_show_point(run->space, point, values, sizeof(values));
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

void kvc_sweep_note(struct kvc_sweep_progress *progress, const struct kvc_row *row, const struct kvc_slo *slo)
{
    progress->ended++;
    if (progress->shown == NULL) {
        return;
    }
    double mops = row->number[KVC_ROW_THROUGHPUT];
    bool met = progress->judged && kvc_row_verdict(row, slo).state == KVC_SLO_MET;
    if ((met && !progress->best_met) || (met == progress->best_met && !(mops <= progress->best_mops))) {
        progress->best_mops = isnan(mops) ? progress->best_mops : mops;
        progress->best_met = met;
    }
}

void kvc_sweep_show(struct kvc_sweep_progress *progress, double fraction)
{
    char step[96];
    double elapsed_s = kvc_clock_wall_s() - progress->started_s;
    int used =
        snprintf(step, sizeof(step), "%u/%u points", progress->kept + progress->ended, progress->total);
    if (elapsed_s > 0 && progress->ended > 0) {
        used += snprintf(step + used, sizeof(step) - (size_t)used, ", %.3g/s", progress->ended / elapsed_s);
    }
    if (progress->best_mops > 0) {
        snprintf(step + used, sizeof(step) - (size_t)used, ", best %.4g Mops%s", progress->best_mops,
                 !progress->judged    ? ""
                 : progress->best_met ? " (slo met)"
                                      : " (slo not met)");
    }
    kvc_progress_report(progress->shown, step, fraction);
}

static void show_pool(void *data, const char *step, double fraction)
{
    (void)step;
    kvc_sweep_show(data, fraction);
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
static enum kvc_status load_base(struct kvc_sweep_run *run, struct kvc_diag *diag)
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
static enum kvc_status open_database(struct kvc_sweep_run *run, struct kvc_diag *diag)
{
    struct kvc_identity identity = {.count = 0};
    run->layout = (struct kvc_database_layout){
        .space = run->space, .slo = &run->base->slo, .predict = run->task->predict};
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
static enum kvc_status read_stored(struct kvc_sweep_run *run, uint8_t *stored, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_database_repair(run->database, &run->done->damage, diag);
    return status == KVC_OK ? kvc_database_stored(run->database, stored, &run->done->kept, diag) : status;
}

/* Finds out which points are stored, which only the first rank knows. */
static enum kvc_status find_stored(struct kvc_sweep_run *run, uint8_t *stored, struct kvc_diag *diag)
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
static enum kvc_status list_due(struct kvc_sweep_run *run, struct kvc_diag *diag)
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
    run->progress = (struct kvc_sweep_progress){.progress = {.report = show_pool, .data = &run->progress},
                                                .shown = run->task->progress,
                                                .started_s = kvc_clock_wall_s(),
                                                .total = points,
                                                .kept = run->done->kept,
                                                .judged = kvc_row_states_objectives(&run->base->slo)};
    return status;
}

/* ---- exports ---- */

/* Opens the files that the user asked for, so that a place that cannot be written is known before the work.
 */
static enum kvc_status open_exports(struct kvc_sweep_run *run, struct kvc_diag *diag)
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
static enum kvc_status export_table(const struct kvc_sweep_run *run, struct kvc_diag *diag)
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

static enum kvc_status write_exports(struct kvc_sweep_run *run, struct kvc_diag *diag)
{
    enum kvc_status status = export_table(run, diag);
    if (status == KVC_OK && run->csv.file != NULL) {
        status = kvc_export_csv(run->database, run->csv.file, diag);
        status = status == KVC_OK ? kvc_partial_file_commit(&run->csv, diag) : status;
    }
    if (status == KVC_OK && run->json.file != NULL) {
        status = kvc_export_json(run->database, run->json.file, diag);
        status = status == KVC_OK ? kvc_partial_file_commit(&run->json, diag) : status;
    } else if (status == KVC_OK && run->task->json != NULL) {
        status = kvc_export_json(run->database, run->task->out, diag);
    }
    return status;
}

static enum kvc_status export_all(struct kvc_sweep_run *run, struct kvc_diag *diag)
{
    double start_s = kvc_clock_cpu_s();
    enum kvc_status status = write_exports(run, diag);
    if (status == KVC_OK) {
        status = kvc_export_best(run->database, &run->done->best, diag);
    }
    if (status == KVC_OK && run->done->best.point > 0) {
        kvc_sweep_show_point(run->space, run->done->best.point - 1, run->done->best_values,
                             sizeof(run->done->best_values));
    }
    run->done->export_s = kvc_clock_cpu_s() - start_s;
    return status;
}

/* Opens what the first rank alone writes. */
static enum kvc_status open_files(struct kvc_sweep_run *run, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    if (kvc_ranks_is_first()) {
        status = open_database(run, diag);
        status = status == KVC_OK ? open_exports(run, diag) : status;
    }
    return kvc_ranks_agree(status, diag);
}

/* Answers what is due. What is done is exported in any case; the first failure is reported. */
static enum kvc_status answer_and_export(struct kvc_sweep_run *run, struct kvc_diag *diag)
{
    struct kvc_diag unused = {0};
    enum kvc_status status =
        run->task->predict ? kvc_sweep_predict(run, diag) : kvc_sweep_simulate(run, diag);
    if (!kvc_ranks_is_first()) {
        return status;
    }
    if (status == KVC_OK) {
        return export_all(run, diag);
    }
    export_table(run, &unused);
    return status;
}

enum kvc_status kvc_sweep_run(const struct kvc_sweep_options *task, struct kvc_sweep_done *done,
                              struct kvc_diag *diag)
{
    struct kvc_sweep_run run = {.task = task, .available_bytes = kvc_memory_available_bytes(), .done = done};
    *done = (struct kvc_sweep_done){0};
    enum kvc_status status = kvc_ranks_agree(load_base(&run, diag), diag);
    if (status == KVC_OK) {
        status = kvc_ranks_check_loaded(run.base, diag);
    }
    if (status == KVC_OK) {
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
