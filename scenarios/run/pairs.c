#include "scenarios/run/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"
#include "sim/base/seeds.h"

enum { PARTS = 8 /* Parts of the measured time of a single replica. */ };

static void take_windows(const struct kvc_result *result, struct kvc_pair_answer *answer)
{
    answer->window_us = result->window_us;
    answer->window_count = result->window_count;
    answer->moves = result->moves;
    memcpy(answer->window_mops, result->window_mops, sizeof(answer->window_mops));
}

static void take_result(const struct kvc_result *result, struct kvc_pair_answer *answer)
{
    const struct kvc_histogram *latency = &result->latency;
    bool known = result->has_histogram && latency->count > 0;
    answer->throughput_mops = result->throughput_mops;
    answer->latency_mean_us = known ? kvc_histogram_mean_ns(latency) * 1e-3 : NAN;
    answer->latency_p50_us = known ? kvc_histogram_percentile_ns(latency, 0.5) * 1e-3 : NAN;
    answer->latency_p95_us = known ? kvc_histogram_percentile_ns(latency, 0.95) * 1e-3 : NAN;
    answer->latency_p99_us = known ? kvc_histogram_percentile_ns(latency, 0.99) * 1e-3 : NAN;
    take_windows(result, answer);
}

/* Runs one replica of a variant on a prepared store. It measures the same time as its pair. */
static enum kvc_status simulate(const struct kvc_pairs *pairs, uint32_t task, void *state,
                                const struct kvc_progress *progress, struct kvc_pair_answer *answer,
                                struct kvc_diag *diag)
{
    const uint32_t replica = task % pairs->replicas;
    struct kvc_scenario *variant = pairs->variant[task / pairs->replicas];
    struct kvc_result *result = kvc_array_of(1, sizeof(*result));
    const struct kvc_run_context context = {.scenario = variant,
                                            .usual = pairs->usual,
                                            .state = state,
                                            .seed = kvc_seed_of_replica(variant->run.seed, replica),
                                            .replica = replica,
                                            .progress = progress,
                                            .result = result};
    variant->run.warmup_ns = kvc_outcome_value(pairs->outcome, replica, "warmup_s") * 1e9;
    enum kvc_status status = variant->model->run(&context, diag);
    take_result(result, answer);
    free(result);
    return status;
}

/* Runs in a child of its own. */
static enum kvc_status run_task(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                                struct kvc_diag *diag)
{
    const struct kvc_pairs *pairs = data;
    void *state = NULL;
    enum kvc_status status = kvc_scenario_prepare(pairs->variant[task / pairs->replicas],
                                                  task % pairs->replicas, &state, progress, diag);
    return status == KVC_OK ? simulate(pairs, task, state, progress, answer, diag) : status;
}

/* ---- stores that variants share ----
 *
 * A keeper for each replica (scenarios/run/pool.h) prepares the store of the unchanged scenario. Variants
 * whose hardware does not change the store begin with copies of it. */

static enum kvc_status keep_store(void *data, uint32_t replica, void **state,
                                  const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_pairs *pairs = data;
    return kvc_scenario_prepare(pairs->usual, replica, state, progress, diag);
}

/* Runs in a child of a keeper. The order is the number of the task. */
static enum kvc_status run_order(void *data, uint32_t replica, void *state, const void *order,
                                 const struct kvc_progress *progress, void *answer, struct kvc_diag *diag)
{
    (void)replica;
    return simulate(data, *(const uint32_t *)order, state, progress, answer, diag);
}

/* Hands a task over to the keeper of its replica, if its variant has the same store. */
static const void *order_of(const void *data, uint32_t task, uint32_t *replica)
{
    static uint32_t order;
    const struct kvc_pairs *pairs = data;
    order = task;
    *replica = task % pairs->replicas;
    return kvc_scenario_prepares_same(pairs->usual, pairs->variant[task / pairs->replicas]) ? &order : NULL;
}

/* Creates the keepers if several variants share a store, and all stores fit into memory beside the runs. */
static struct kvc_keepers *open_keepers(const struct kvc_pairs *pairs, struct kvc_pool_options *pool)
{
    const struct kvc_keepers_options options = {
        .keepers = pairs->replicas,
        .order_bytes = sizeof(uint32_t),
        .answer_bytes = sizeof(struct kvc_pair_answer),
        .data = (void *)pairs,
        .prepare = keep_store,
        .body = run_order,
    };
    uint32_t sharing = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        sharing += kvc_scenario_prepares_same(pairs->usual, pairs->variant[i]);
    }
    double needed_bytes = kvc_memory_needed_bytes(pairs->usual), kept_bytes = pairs->replicas * needed_bytes;
    bool fits = pool->available_bytes <= 0 || kept_bytes + pool->jobs * needed_bytes <= pool->available_bytes;
    if (sharing < 2 || !fits) {
        return NULL;
    }
    pool->available_bytes -= pool->available_bytes > 0 ? kept_bytes : 0;
    return kvc_keepers_create(&options);
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    const struct kvc_pairs *pairs = data;
    (void)diag;
    pairs->take(pairs->data, task / pairs->replicas, task % pairs->replicas, answer);
    return KVC_OK;
}

static double memory_bytes(const void *data, uint32_t task)
{
    const struct kvc_pairs *pairs = data;
    return kvc_memory_needed_bytes(pairs->variant[task / pairs->replicas]);
}

/* ---- clusters whose nodes are simulated apart ---- */

/* Turns the progress of a variant into the progress of all variants. */
struct whole_progress {
    const struct kvc_progress *progress;
    uint32_t variant, variants;
};

static void report_whole(void *data, const char *step, double fraction)
{
    const struct whole_progress *whole = data;
    kvc_progress_report(whole->progress, step, (whole->variant + fraction) / whole->variants);
}

/* Hands over the replicas of a variant. The windows are known of a single replica only; no other needs them.
 */
static void take_cluster(const struct kvc_pairs *pairs, uint32_t variant, const struct kvc_outcome *outcome)
{
    struct kvc_pair_answer *answer = kvc_array_of(1, sizeof(*answer));
    if (outcome->replicas == 1) {
        take_windows(&outcome->result, answer);
    }
    for (uint32_t replica = 0; replica < outcome->replicas; replica++) {
        answer->throughput_mops = kvc_outcome_value(outcome, replica, "throughput_mops");
        answer->latency_mean_us = kvc_outcome_value(outcome, replica, "latency_mean_us");
        answer->latency_p50_us = kvc_outcome_value(outcome, replica, "latency_p50_us");
        answer->latency_p95_us = kvc_outcome_value(outcome, replica, "latency_p95_us");
        answer->latency_p99_us = kvc_outcome_value(outcome, replica, "latency_p99_us");
        pairs->take(pairs->data, variant, replica, answer);
    }
    free(answer);
}

static enum kvc_status run_clusters(const struct kvc_pairs *pairs, const struct kvc_run_options *options,
                                    struct kvc_diag *diag)
{
    struct whole_progress whole = {options->progress, 0, pairs->count};
    const struct kvc_progress progress = {report_whole, &whole};
    const struct kvc_run_options own = {.jobs = options->jobs,
                                        .available_bytes = options->available_bytes,
                                        .progress = options->progress != NULL ? &progress : NULL};
    enum kvc_status status = KVC_OK;
    for (; whole.variant < pairs->count && status == KVC_OK; whole.variant++) {
        struct kvc_outcome *outcome = NULL;
        struct kvc_scenario variant = *pairs->variant[whole.variant];
        variant.run.replicas = pairs->replicas;
        status = kvc_cluster_run(&variant, &own, pairs->outcome, &outcome, diag);
        if (status == KVC_OK) {
            take_cluster(pairs, whole.variant, outcome);
        }
        kvc_outcome_free(outcome);
    }
    return status;
}

enum kvc_status kvc_pairs_run(const struct kvc_pairs *pairs, const struct kvc_run_options *options,
                              struct kvc_diag *diag)
{
    if (kvc_cluster_is_apart(pairs->usual)) {
        return run_clusters(pairs, options, diag);
    }
    struct kvc_pool_options pool = {
        .tasks = pairs->count * pairs->replicas,
        .jobs = options->jobs > 0 ? options->jobs : kvc_pool_processors(),
        .answer_bytes = sizeof(struct kvc_pair_answer),
        .noun = pairs->noun,
        .data = (void *)pairs,
        .body = run_task,
        .order = order_of,
        .memory_bytes = memory_bytes,
        .available_bytes =
            options->available_bytes > 0 ? options->available_bytes : kvc_memory_available_bytes(),
        .take = take,
    };
    pool.keepers = open_keepers(pairs, &pool);
    enum kvc_status status = kvc_pool_run(&pool, options->progress, diag);
    kvc_keepers_free(pool.keepers);
    return status;
}

/* Returns the mean difference of two throughputs over some windows [Mops]. A store that completes whole
 * batches gives the windows at either end more or less than their part by chance, so these weigh least: the
 * weights are those that give the slope of a straight line through the sums of the windows. */
static double difference_mops(const float *first_mops, const float *second_mops, uint32_t windows)
{
    double sum_mops = 0, weights = 0;
    for (uint32_t i = 0; i < windows; i++) {
        double weight = (i + 0.5) * (windows - i - 0.5);
        sum_mops += weight * ((double)second_mops[i] - (double)first_mops[i]);
        weights += weight;
    }
    return sum_mops / weights;
}

struct kvc_interval kvc_pairs_difference_mops(const struct kvc_pair_windows *first,
                                              const struct kvc_pair_windows *second)
{
    double part_mops[PARTS];
    uint32_t shared = first->count < second->count ? first->count : second->count;
    uint32_t windows = first->window_us == second->window_us ? shared / PARTS : 0;
    if (windows == 0) {
        return (struct kvc_interval){NAN, NAN};
    }
    for (uint32_t part = 0; part < PARTS; part++) {
        uint32_t begin = part * windows;
        part_mops[part] = difference_mops(first->mops + begin, second->mops + begin, windows);
    }
    return (struct kvc_interval){
        difference_mops(first->mops, second->mops, shared),
        first->moves || second->moves ? NAN : kvc_interval_of(part_mops, PARTS).half_width};
}
