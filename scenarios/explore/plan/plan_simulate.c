#include "scenarios/explore/plan/plan_simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/explore/plan/plan_check.h"
#include "scenarios/explore/plan/plan_values.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/memory_plan.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"
#include "sim/base/seeds.h"

struct batch {
    const struct kvc_plan_simulator *simulator;
    const struct kvc_plan_task *task;
    struct kvc_loaded **loaded; /* By task; tasks of the same candidate share one. */
    uint32_t count;
    double *value;
};

struct answer {
    double value[KVC_PLAN_METRICS];
};

/* Loads the candidates. Tasks of one candidate follow each other. */
static enum kvc_status load(struct batch *batch, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < batch->count && status == KVC_OK; i++) {
        if (i > 0 && batch->task[i].candidate == batch->task[i - 1].candidate) {
            batch->loaded[i] = batch->loaded[i - 1];
            continue;
        }
        status = kvc_plan_load(batch->simulator->options, batch->simulator->planned, batch->task[i].candidate,
                               &batch->loaded[i], diag);
    }
    return status;
}

static void unload(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (i + 1 == batch->count || batch->loaded[i] != batch->loaded[i + 1]) {
            kvc_loaded_free(batch->loaded[i]);
        }
    }
    free(batch->loaded);
}

static double memory_bytes(const void *data, uint32_t task)
{
    return kvc_memory_needed_bytes(&((const struct batch *)data)->loaded[task]->scenario);
}

/* Runs in the child, which has the scenario for itself. */
static enum kvc_status simulate(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                                struct kvc_diag *diag)
{
    const struct batch *batch = data;
    struct kvc_scenario *scenario = &batch->loaded[task]->scenario;
    const struct kvc_run_options options = {
        .jobs = 1, .available_bytes = memory_bytes(batch, task), .progress = progress};
    struct kvc_outcome *outcome = NULL;
    scenario->run.seed = kvc_seed_of_replica(scenario->run.seed, batch->task[task].replica);
    scenario->run.replicas = 1;
    enum kvc_status status = kvc_driver_run(scenario, &options, &outcome, diag);
    if (status == KVC_OK) {
        kvc_plan_simulated_values(outcome, ((struct answer *)answer)->value);
    }
    kvc_outcome_free(outcome);
    return status;
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct batch *batch = data;
    double *value = batch->value + (size_t)task * KVC_PLAN_METRICS;
    const struct kvc_plan_candidate *candidate =
        &batch->simulator->planned->search.candidate[batch->task[task].candidate];
    (void)diag;
    memcpy(value, ((const struct answer *)answer)->value, sizeof(((const struct answer *)answer)->value));
    value[KVC_PLAN_PRICE_USD] = candidate->price_usd;
    return KVC_OK;
}

enum kvc_status kvc_plan_simulate(void *data, const struct kvc_plan_task *task, uint32_t count, double *value,
                                  struct kvc_diag *diag)
{
    const struct kvc_plan_simulator *simulator = data;
    struct batch batch = {.simulator = simulator,
                          .task = task,
                          .loaded = kvc_array_of(count, sizeof(*batch.loaded)),
                          .count = count,
                          .value = value};
    char noun[64];
    snprintf(noun, sizeof(noun), "replica of point %u", task[0].candidate + 1);
    const struct kvc_pool_options pool = {
        .tasks = count,
        .jobs = simulator->options->jobs > 0 ? simulator->options->jobs : kvc_pool_processors(),
        .answer_bytes = sizeof(struct answer),
        .noun = task[0].candidate == task[count - 1].candidate ? noun : "replica",
        .data = &batch,
        .body = simulate,
        .memory_bytes = memory_bytes,
        .available_bytes = kvc_memory_available_bytes(),
        .take = take,
    };
    enum kvc_status status = load(&batch, diag);
    if (status == KVC_OK) {
        status = kvc_pool_run(&pool, simulator->options->progress, diag);
    }
    unload(&batch);
    return status;
}
