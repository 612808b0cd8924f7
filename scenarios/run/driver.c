#include "scenarios/run/driver.h"

#include <math.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/registry.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/run/cluster.h"
#include "scenarios/run/memory_plan.h"
#include "scenarios/run/pool.h"
#include "scenarios/run/simulate.h"
#include "scenarios/run/time_plan.h"
#include "sim/base/seeds.h"

struct replicas {
    const struct kvc_scenario *scenario;
    const struct kvc_run_options *options;
    struct kvc_outcome *outcome;
    double wall_limit_s; /* Of each replica. */
};

/* Runs in the child. */
static enum kvc_status simulate(void *data, uint32_t replica, const struct kvc_progress *progress,
                                void *answer, struct kvc_diag *diag)
{
    const struct replicas *run = data;
    const struct kvc_run_context context = {.scenario = run->scenario,
                                            .seed = kvc_seed_of_replica(run->scenario->run.seed, replica),
                                            .replica = replica,
                                            .progress = progress,
                                            .wall_limit_s = run->wall_limit_s,
                                            .platform = replica == 0 ? run->options->platform : NULL,
                                            .result = answer};
    return kvc_simulate(&context, replica == 0 ? run->options->timeline : NULL, diag);
}

static enum kvc_status take_replica(void *data, uint32_t replica, const void *answer, struct kvc_diag *diag)
{
    struct replicas *run = data;
    (void)diag;
    kvc_outcome_take(run->outcome, replica, answer);
    return KVC_OK;
}

static enum kvc_status run_replicas(struct replicas *run, uint32_t jobs, struct kvc_diag *diag)
{
    const struct kvc_pool_options pool = {
        .tasks = run->outcome->replicas,
        .jobs = jobs,
        .answer_bytes = sizeof(struct kvc_result),
        .noun = "replica",
        .data = run,
        .body = simulate,
        .take = take_replica,
    };
    return kvc_pool_run(&pool, run->options->progress, diag);
}

enum kvc_status kvc_driver_run(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                               struct kvc_outcome **out, struct kvc_diag *diag)
{
    uint32_t replicas = (uint32_t)scenario->run.replicas;
    uint32_t jobs;
    *out = NULL;
    if (kvc_cluster_is_apart(scenario)) {
        return kvc_cluster_run(scenario, options, NULL, out, diag);
    }
    double available = options->available_bytes > 0 ? options->available_bytes : kvc_memory_available_bytes();
    double needed = kvc_memory_needed_bytes(scenario);
    enum kvc_status status =
        kvc_memory_plan(needed, available, replicas, options->jobs, kvc_pool_processors(), &jobs, diag);
    double rounds = status == KVC_OK ? ceil((double)replicas / jobs) : 0;
    if (status == KVC_OK) {
        status = kvc_time_plan(scenario, rounds * kvc_time_least_s(scenario), "the run", diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_outcome *outcome = kvc_outcome_create(replicas);
    if (outcome == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the result");
    }
    struct replicas run = {.scenario = scenario,
                           .options = options,
                           .outcome = outcome,
                           .wall_limit_s = kvc_time_limit_s() / rounds};
    outcome->result.memory_planned_bytes = needed;
    status = run_replicas(&run, jobs, diag);
    if (status != KVC_OK) {
        kvc_outcome_free(outcome);
        return status;
    }
    *out = outcome;
    return KVC_OK;
}

/* Hands out an answer without replicas, or frees it after an error. */
static enum kvc_status hand_out(struct kvc_outcome *outcome, enum kvc_status status, struct kvc_outcome **out)
{
    *out = NULL;
    if (status != KVC_OK) {
        kvc_outcome_free(outcome);
        return status;
    }
    kvc_outcome_close(outcome);
    *out = outcome;
    return KVC_OK;
}

/* Names the stores that have a measured runtime. */
static enum kvc_status fail_unmeasurable(const struct kvc_model *model, struct kvc_diag *diag)
{
    char names[256] = "";
    size_t length = 0;
    for (size_t i = 0; kvc_models[i] != NULL && length < sizeof(names); i++) {
        if (kvc_models[i]->measure != NULL) {
            length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s", length > 0 ? ", " : "",
                                       kvc_models[i]->name);
        }
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "system.kind: found \"%s\", which has no measured runtime; stores that have one: %s",
                         model->name, names);
}

/* A measurement cannot turn devices of this machine off or change their clocks. */
static enum kvc_status fail_changes(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, scenario->file,
                            kvc_locate_line(scenario->file, "run.changes"),
                            "run.changes: found changes of devices during the run, allowed in a measurement: "
                            "none, because it does not change this machine");
}

/* Nor can it follow a power policy. */
static enum kvc_status fail_policy(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    return kvc_diag_fail_at(
        diag, KVC_ERR_SCENARIO, scenario->file, kvc_locate_line(scenario->file, "power.policy"),
        "power.policy: found another policy than \"fixed\", allowed in a measurement: only "
        "that, because it does not change this machine");
}

/* Completes a message such as "system.feed: found ..." with the place of that option in the scenario. */
static void place(const struct kvc_scenario *scenario, enum kvc_status status, struct kvc_diag *diag)
{
    char path[sizeof(diag->message)];
    if (status != KVC_ERR_SCENARIO || diag->file[0] != '\0') {
        return;
    }
    snprintf(path, sizeof(path), "%.*s", (int)strcspn(diag->message, ":"), diag->message);
    snprintf(diag->file, sizeof(diag->file), "%s", scenario->file);
    diag->line = kvc_locate_line(scenario->file, path);
}

enum kvc_status kvc_driver_measure(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                   struct kvc_outcome **out, struct kvc_diag *diag)
{
    uint32_t jobs;
    double available = options->available_bytes > 0 ? options->available_bytes : kvc_memory_available_bytes();
    enum kvc_status status =
        kvc_memory_plan(kvc_memory_needed_bytes(scenario), available, 1, 1, 1, &jobs, diag);
    struct kvc_outcome *outcome = NULL;
    *out = NULL;
    if (status == KVC_OK && scenario->model->measure == NULL) {
        status = fail_unmeasurable(scenario->model, diag);
    }
    if (status == KVC_OK && scenario->run.change_count > 0) {
        status = fail_changes(scenario, diag);
    }
    if (status == KVC_OK && scenario->power.policy != KVC_POWER_FIXED) {
        status = fail_policy(scenario, diag);
    }
    if (status == KVC_OK) {
        status = scenario->model->measure_check(scenario, diag);
    }
    place(scenario, status, diag);
    if (status == KVC_OK && (outcome = kvc_outcome_create(0)) == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the result");
    }
    if (status == KVC_OK) {
        status = scenario->model->measure(scenario, options->progress, &outcome->result, diag);
    }
    return hand_out(outcome, status, out);
}

enum kvc_status kvc_driver_predict(const struct kvc_scenario *scenario, struct kvc_outcome **out,
                                   struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = kvc_outcome_create(0);
    *out = NULL;
    if (outcome == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the result");
    }
    enum kvc_status status = kvc_scenario_predict(scenario, &outcome->result, diag);
    if (status == KVC_OK && scenario->run.change_count > 0) {
        kvc_result_note(&outcome->result,
                        "the closed form ignores run.changes: it holds for devices as they are at the begin");
    }
    if (status == KVC_OK && kvc_power_policy_looks(&scenario->power)) {
        kvc_result_note(&outcome->result,
                        "the closed form ignores power.policy: it holds for the clocks of the begin");
    }
    return hand_out(outcome, status, out);
}
