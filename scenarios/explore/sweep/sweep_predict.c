/* Answers the points of a sweep by the closed form, in this process. */
#include "scenarios/explore/evaluator.h"
#include "scenarios/explore/sweep/sweep_internal.h"
#include "scenarios/run/ranks.h"
#include "sim/base/clock.h"

enum { BATCH = 5000 }; /* Points in a transaction; also the points that a kill can lose. */

/* Evaluates and stores a batch of due points. */
static enum kvc_status answer_batch(struct kvc_sweep_run *run, struct kvc_evaluator *evaluator,
                                    uint32_t first, uint32_t count, struct kvc_row *rows,
                                    struct kvc_diag *diag)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    struct kvc_forecast forecast;
    enum kvc_status status = KVC_OK;
    double start_s = kvc_clock_cpu_s();
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        kvc_space_point(run->space, run->due[first + i], value);
        status = kvc_evaluator_forecast(evaluator, value, &forecast, diag);
        if (status != KVC_OK) {
            kvc_sweep_name_point(run, run->due[first + i], diag);
            return status;
        }
        kvc_row_of_forecast(&forecast, &rows[i]);
    }
    double evaluated_s = kvc_clock_cpu_s();
    status = kvc_database_begin(run->database, diag);
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        kvc_space_point(run->space, run->due[first + i], value);
        status = kvc_database_add(run->database, run->due[first + i], value, &rows[i], NULL, diag);
        kvc_sweep_note(&run->progress, &rows[i], &run->base->slo);
    }
    if (status == KVC_OK) {
        status = kvc_database_commit(run->database, diag);
    }
    run->done->evaluate_s += evaluated_s - start_s;
    run->done->store_s += kvc_clock_cpu_s() - evaluated_s;
    return status;
}

enum kvc_status kvc_sweep_predict(struct kvc_sweep_run *run, struct kvc_diag *diag)
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
        status = answer_batch(run, evaluator, first, left < BATCH ? left : BATCH, rows, diag);
        kvc_sweep_show(&run->progress, (double)run->progress.ended / run->due_count);
    }
    kvc_evaluator_free(evaluator);
    free(rows);
    return status;
}
