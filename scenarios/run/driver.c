#include "scenarios/run/driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/forecast.h"
#include "models/model.h"
#include "models/registry.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"
#include "sim/base/array.h"
#include "sim/base/seeds.h"
#include "sim/base/text/option.h"
#include "sim/metrics/merge.h"
#include "sim/workload/rates.h"
#include "sim/workload/tenants.h"
#include "sim/workload/trace/profile.h"

enum { TIMELINE_EVENTS_MAX = 200000 }; /* About 20 MB of JSON, which Perfetto opens at once. */

/* Prepares the store of the context's scenario and simulates it. The context comes without state and
 * timeline; the timeline goes to the file `timeline` unless it is NULL. If it does not fit there, the result
 * counts nonetheless and says so (timeline_error). A process calls this at most once. */
static enum kvc_status simulate_one(const struct kvc_run_context *context, struct kvc_partial_file *timeline,
                                    struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = context->scenario;
    struct kvc_run_context own = *context;
    kvc_memory_begin();
    if (scenario->model->prepare != NULL) {
        enum kvc_status status = scenario->model->prepare(scenario, own.seed, &own.state, own.progress, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    if (timeline != NULL) {
        own.timeline = kvc_timeline_open(timeline->file, TIMELINE_EVENTS_MAX);
    }
    enum kvc_status status = scenario->model->run(&own, diag);
    int error = kvc_timeline_close(own.timeline);
    if (status == KVC_OK) {
        own.result->timeline_error = error;
    }
    own.result->memory_taken_bytes = kvc_memory_taken_bytes();
    return status == KVC_OK ? KVC_OK : kvc_time_name_place(scenario, status, diag);
}

static const double mops_per_ns = 1e-3; /* Requests per ns at 1 Mops. */

/* A run, and its present replica. */
struct cluster_run {
    const struct kvc_scenario *scenario;
    const struct kvc_run_options *options;
    const struct kvc_outcome *usual; /* The answer to compare with, or NULL. */
    struct kvc_outcome *outcome;
    struct kvc_scenario *class[KVC_CLUSTER_MEMBERS_MAX];
    struct kvc_cluster_epochs epochs;
    uint32_t nodes, jobs, replica;
    double wall_limit_s; /* Wall-clock time that each node may need in a replica [s]. */
    bool lists_devices;  /* The devices of all nodes fit into a result. */

    struct kvc_key_parts *parts;
    struct kvc_result *sum;
    struct kvc_merge_nodes merge;
    struct kvc_node_result *node;
    struct kvc_histogram_pack *latency; /* By node, for multigets. */
};

static uint64_t seed_of(const struct cluster_run *run)
{
    return kvc_seed_of_replica(run->scenario->run.seed, run->options->first_replica + run->replica);
}

static uint32_t class_of(const struct cluster_run *run, uint32_t node)
{
    return kvc_cluster_class_of(run->scenario, node);
}

/* Returns the position of a node's warm-up in an outcome. */
static size_t warmup_of(const struct cluster_run *run, uint32_t node)
{
    return (size_t)run->replica * run->nodes + node;
}

/* ---- one node ---- */

/* Runs in the child. */
static enum kvc_status simulate_node(void *data, uint32_t node, const struct kvc_progress *progress,
                                     void *answer, struct kvc_diag *diag)
{
    const struct cluster_run *run = data;
    struct kvc_scenario scenario = *run->class[class_of(run, node)];
    bool first = run->replica == 0 && node == 0;
    enum kvc_status status = kvc_cluster_take_part(&scenario, run->scenario, &run->parts->part[node], diag);
    if (status != KVC_OK) {
        return status;
    }
    if (run->usual != NULL && scenario.run.warmup_ns < 0) {
        scenario.run.warmup_ns = run->usual->node_warmup_s[warmup_of(run, node)] * 1e9;
    }
    const struct kvc_run_context context = {.scenario = &scenario,
                                            .seed = kvc_seed_of_node(seed_of(run), node),
                                            .replica = run->replica,
                                            .progress = progress,
                                            .wall_limit_s = run->wall_limit_s,
                                            .platform = first ? run->options->platform : NULL,
                                            .result = answer};
    return simulate_one(&context, first ? run->options->timeline : NULL, diag);
}

/* Draws the number of requests that were sent to a dead node within the measured time, by a Poisson process,
 * and counts them in the spans of the cluster. */
static uint64_t draw_lost(const struct cluster_run *run, uint32_t node)
{
    struct kvc_spans *spans = &run->sum->spans;
    const struct kvc_key_part *part = &run->parts->part[node];
    const struct kvc_run *times = &run->scenario->run;
    double from_ns = times->warmup_ns, until_ns = from_ns + times->duration_ns;
    uint64_t lost = 0;
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed_of(run), "cluster.lost", node);
    for (uint32_t e = 0; e < part->epochs; e++) {
        double end_ns = e + 1 < part->epochs ? part->epoch[e + 1].from_ns : until_ns;
        double length_ns = fmin(end_ns, until_ns) - fmax(part->epoch[e].from_ns, from_ns);
        double per_ns = part->epoch[e].lost * run->scenario->workload.rate_mops * mops_per_ns;
        double left = length_ns * per_ns;
        while (left > 0 && (left -= kvc_rng_exponential(&rng, 1)) > 0) {
            double sent_ns = fmin(end_ns, until_ns) - left / per_ns;
            lost++;
            if (spans->count > 0) {
                struct kvc_span *span = kvc_spans_at(spans, (sent_ns - from_ns) * 1e-3);
                span->offered++;
                span->dropped++;
            }
        }
    }
    return lost;
}

static const char *prefix_of(const struct cluster_run *run, uint32_t node, char prefix[KVC_NAME_MAX])
{
    if (run->lists_devices) {
        snprintf(prefix, KVC_NAME_MAX, "node%u", node);
    } else {
        snprintf(prefix, KVC_NAME_MAX, "%.30s*", kvc_cluster_class_name(run->scenario, class_of(run, node)));
    }
    return prefix;
}

static enum kvc_status keep_latency(struct cluster_run *run, uint32_t node, const struct kvc_result *result,
                                    struct kvc_diag *diag)
{
    struct kvc_histogram *copy = kvc_array_of(1, sizeof(*copy));
    kvc_histogram_add(copy, &result->latency);
    bool kept = kvc_histogram_take(copy, &run->latency[node]);
    free(copy);
    return kept ? KVC_OK
                : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the latencies of node %u", node);
}

static void name_node(const struct cluster_run *run, uint32_t node, struct kvc_node_result *row)
{
    const struct kvc_key_part *part = &run->parts->part[node];
    *row = (struct kvc_node_result){.key_frac =
                                        (double)part->epoch[0].keys / (double)run->scenario->workload.keys,
                                    .request_frac = part->epoch[0].share};
    snprintf(row->name, sizeof(row->name), "node%u", node);
    snprintf(row->class, sizeof(row->class), "%.*s", KVC_NAME_MAX - 1,
             kvc_cluster_class_name(run->scenario, class_of(run, node)));
}

static enum kvc_status take_node(void *data, uint32_t node, const void *answer, struct kvc_diag *diag)
{
    struct cluster_run *run = data;
    const struct kvc_result *result = answer;
    struct kvc_node_result *row = &run->node[node];
    char prefix[KVC_NAME_MAX];
    if (node == 0) {
        run->lists_devices = (uint64_t)result->device_count * run->nodes <= KVC_DEVICES_MAX;
    }
    name_node(run, node, row);
    kvc_node_result_of(result, row);
    run->outcome->node_warmup_s[warmup_of(run, node)] = result->warmup_s;
    kvc_merge_nodes_add(&run->merge, result, prefix_of(run, node, prefix));
    uint64_t lost = run->epochs.count > 1 ? draw_lost(run, node) : 0;
    row->offered += (double)lost;
    row->dropped += (double)lost;
    run->sum->offered += lost;
    run->sum->dropped += lost;
    return run->scenario->cluster.multiget > 0 ? keep_latency(run, node, result, diag) : KVC_OK;
}

/* ---- one replica ---- */

static void forget_latencies(struct cluster_run *run)
{
    for (uint32_t i = 0; i < run->nodes; i++) {
        free(run->latency[i].slot);
        run->latency[i] = (struct kvc_histogram_pack){0};
    }
}

static enum kvc_status add_multiget(struct cluster_run *run, struct kvc_diag *diag)
{
    struct kvc_fanout_node *node = kvc_array_of(run->nodes, sizeof(*node));
    struct kvc_fanout fanout;
    for (uint32_t i = 0; i < run->nodes; i++) {
        double share = (double)run->latency[i].count / (double)run->sum->latency.count;
        node[i] = (struct kvc_fanout_node){share, &run->latency[i]};
    }
    bool found = run->sum->latency.count > 0 &&
                 kvc_fanout_of(node, run->nodes, (uint32_t)run->scenario->cluster.multiget, &fanout);
    free(node);
    forget_latencies(run);
    if (!found) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "no latency of multigets: no request was completed, or memory ran out");
    }
    kvc_metrics_set(&run->sum->model, "multiget_mean_us", fanout.mean_us);
    kvc_metrics_set(&run->sum->model, "multiget_p50_us", fanout.p50_us);
    kvc_metrics_set(&run->sum->model, "multiget_p95_us", fanout.p95_us);
    kvc_metrics_set(&run->sum->model, "multiget_p99_us", fanout.p99_us);
    return KVC_OK;
}

/* Adds metrics that the sums do not show: the hottest node, the slowest one, and how many keys moved. */
static void add_extremes(struct cluster_run *run)
{
    double most = 0, slowest_us = NAN, moved = 0;
    for (uint32_t i = 0; i < run->nodes; i++) {
        most = fmax(most, run->node[i].request_frac);
        slowest_us = fmax(slowest_us, run->node[i].latency_p99_us);
    }
    for (uint32_t e = 1; e < run->epochs.count; e++) {
        moved += run->parts->moved_frac[e];
    }
    kvc_metrics_set(&run->sum->model, "hottest_node_share_frac", most);
    kvc_metrics_set(&run->sum->model, "slowest_node_p99_us", slowest_us);
    if (run->epochs.count > 1) {
        kvc_metrics_set(&run->sum->model, "keys_moved_frac", moved);
    }
}

static enum kvc_status simulate_nodes(struct cluster_run *run, const struct kvc_progress *progress,
                                      struct kvc_diag *diag)
{
    const struct kvc_key_parts_params params = {.workload = &run->scenario->workload,
                                                .hash_seed = kvc_seed_of_hash(seed_of(run)),
                                                .nodes = run->nodes,
                                                .epochs = run->epochs.count,
                                                .from_ns = run->epochs.from_ns,
                                                .points = run->epochs.points,
                                                .dead = run->epochs.dead};
    const struct kvc_pool_options pool = {.tasks = run->nodes,
                                          .jobs = run->jobs,
                                          .answer_bytes = sizeof(struct kvc_result),
                                          .noun = "node",
                                          .data = run,
                                          .body = simulate_node,
                                          .take = take_node};
    memset(run->sum, 0, sizeof(*run->sum));
    run->merge = (struct kvc_merge_nodes){.sum = run->sum};
    run->parts = kvc_key_parts_create(&params, diag);
    return run->parts != NULL ? kvc_pool_run(&pool, progress, diag) : diag->status;
}

static enum kvc_status run_replica(struct cluster_run *run, const struct kvc_progress *progress,
                                   struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = run->outcome;
    enum kvc_status status = simulate_nodes(run, progress, diag);
    if (status == KVC_OK) {
        kvc_merge_nodes_end(&run->merge);
        run->sum->memory_taken_bytes = fmax(run->sum->memory_taken_bytes, kvc_memory_taken_bytes());
        add_extremes(run);
        status = run->scenario->cluster.multiget > 0 ? add_multiget(run, diag) : KVC_OK;
    }
    for (uint32_t i = 0; i < run->nodes && status == KVC_OK; i++) {
        kvc_node_result_add(&outcome->node[i], &run->node[i], outcome->replicas);
    }
    if (status == KVC_OK) {
        kvc_outcome_take(outcome, run->replica, run->sum);
    }
    kvc_key_parts_free(run->parts);
    run->parts = NULL;
    return status;
}

/* ---- the run ---- */

/* Turns the progress of a replica into the progress of the run. */
struct whole_progress {
    const struct kvc_progress *progress;
    uint32_t replica, replicas;
};

static void report_whole(void *data, const char *step, double fraction)
{
    const struct whole_progress *whole = data;
    kvc_progress_report(whole->progress, step, (whole->replica + fraction) / whole->replicas);
}

/* Plans how many nodes run at the same time, in the memory that the shared lists of keys leave. */
static enum kvc_status plan_memory(struct cluster_run *run, struct kvc_diag *diag)
{
    const struct kvc_run_options *options = run->options;
    double available = options->available_bytes > 0 ? options->available_bytes : kvc_memory_available_bytes();
    double lists = kvc_key_parts_bytes(run->scenario->workload.keys, run->epochs.count);
    double one = kvc_memory_needed_bytes(run->scenario);
    run->outcome->result.memory_planned_bytes = one;
    if (available > 0 && available < one) { /* The message names what one node and the lists need. */
        return kvc_memory_plan(one, available, 1, 1, 1, &run->jobs, diag);
    }
    return kvc_memory_plan(one - lists, fmax(available - lists, 0), run->nodes, options->jobs,
                           kvc_pool_processors(), &run->jobs, diag);
}

/* The nodes of a replica share its requests. */
static enum kvc_status plan_time(struct cluster_run *run, struct kvc_diag *diag)
{
    double replicas = (double)run->scenario->run.replicas;
    run->wall_limit_s = kvc_time_limit_s() / replicas / ceil((double)run->nodes / run->jobs);
    return kvc_time_plan(run->scenario, replicas * kvc_time_least_s(run->scenario) / run->jobs, "the run",
                         diag);
}

static enum kvc_status plan(struct cluster_run *run, struct kvc_diag *diag)
{
    enum kvc_status status = plan_memory(run, diag);
    return status == KVC_OK ? plan_time(run, diag) : status;
}

static enum kvc_status open_run(struct cluster_run *run, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_cluster_epochs_open(&run->epochs, run->scenario, diag);
    for (uint32_t i = 0; i < kvc_cluster_classes(run->scenario) && status == KVC_OK; i++) {
        run->class[i] = kvc_cluster_class_scenario(run->scenario, i, diag);
        status = run->class[i] != NULL ? KVC_OK : diag->status;
    }
    run->nodes = run->epochs.nodes;
    run->sum = kvc_array_of(1, sizeof(*run->sum));
    run->node = kvc_array_of(run->nodes, sizeof(*run->node));
    run->latency = kvc_array_of(run->nodes, sizeof(*run->latency));
    run->outcome = kvc_outcome_create((uint32_t)run->scenario->run.replicas);
    run->outcome->node = kvc_array_of(run->nodes, sizeof(*run->outcome->node));
    run->outcome->node_count = run->nodes;
    run->outcome->node_warmup_s =
        kvc_array_of((size_t)run->nodes * run->outcome->replicas, sizeof(*run->outcome->node_warmup_s));
    return status == KVC_OK ? plan(run, diag) : status;
}

static void close_run(struct cluster_run *run)
{
    for (uint32_t i = 0; i < KVC_CLUSTER_MEMBERS_MAX; i++) {
        kvc_cluster_free_class(run->class[i]);
    }
    forget_latencies(run);
    kvc_cluster_epochs_close(&run->epochs);
    free(run->sum);
    free(run->node);
    free(run->latency);
}

enum kvc_status kvc_cluster_run(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                const struct kvc_outcome *usual, struct kvc_outcome **out,
                                struct kvc_diag *diag)
{
    struct cluster_run run = {.scenario = scenario, .options = options, .usual = usual};
    struct whole_progress whole = {options->progress, 0, (uint32_t)scenario->run.replicas};
    const struct kvc_progress progress = {report_whole, &whole};
    *out = NULL;
    enum kvc_status status = open_run(&run, diag);
    for (; status == KVC_OK && run.replica < whole.replicas; run.replica++) {
        whole.replica = run.replica;
        status = run_replica(&run, options->progress != NULL ? &progress : NULL, diag);
    }
    close_run(&run);
    if (status != KVC_OK) {
        kvc_outcome_free(run.outcome);
        return status;
    }
    *out = run.outcome;
    return KVC_OK;
}

struct replicas {
    const struct kvc_scenario *scenario;
    const struct kvc_run_options *options;
    struct kvc_outcome *outcome;
    double wall_limit_s; /* Wall-clock time that each replica may need [s]. */
};

/* Runs in the child. */
static enum kvc_status simulate(void *data, uint32_t replica, const struct kvc_progress *progress,
                                void *answer, struct kvc_diag *diag)
{
    const struct replicas *run = data;
    uint32_t number = run->options->first_replica + replica;
    const struct kvc_run_context context = {.scenario = run->scenario,
                                            .seed = kvc_seed_of_replica(run->scenario->run.seed, number),
                                            .replica = replica,
                                            .progress = progress,
                                            .wall_limit_s = run->wall_limit_s,
                                            .platform = replica == 0 ? run->options->platform : NULL,
                                            .result = answer};
    return simulate_one(&context, replica == 0 ? run->options->timeline : NULL, diag);
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

/* Simulates the replicas of a scenario whose nodes are simulated together. */
static enum kvc_status run_together(const struct kvc_scenario *scenario,
                                    const struct kvc_run_options *options, struct kvc_outcome **out,
                                    struct kvc_diag *diag)
{
    uint32_t replicas = (uint32_t)scenario->run.replicas;
    uint32_t jobs;
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

enum kvc_status kvc_driver_judge(const struct kvc_scenario *scenario, struct kvc_outcome *outcome,
                                 struct kvc_diag *diag)
{
    enum { MEDIAN_MIN = 6 }; /* 2 * 0.5^6 < 0.05: all values are on one side of the median. */
    struct kvc_result *result = &outcome->result;
    uint32_t count;
    char duration[48];
    if (scenario->workload.arrival == KVC_ARRIVAL_TRACE) {
        return KVC_OK;
    }
    kvc_quantity_print(scenario->run.duration_ns, KVC_UNIT_NS, duration, sizeof(duration));
    if (result->offered < MEDIAN_MIN || (result->completed == 0 && result->dropped == 0)) {
        enum kvc_status status = kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.duration: found %s, in which %llu requests were sent and %llu answered, "
            "allowed: a longer time, in which at least %d are sent and one is answered",
            duration, (unsigned long long)result->offered, (unsigned long long)result->completed, MEDIAN_MIN);
        return kvc_time_name_place(scenario, status, diag);
    }
    if (!result->moves && kvc_outcome_intervals(outcome, &count) == KVC_INTERVALS_UNKNOWN) {
        kvc_result_note(
            result,
            "the measured time of %s is too short for intervals: how far chance moves the answer is "
            "unknown; a longer run.duration or more run.replicas show it",
            duration);
    }
    return KVC_OK;
}

enum kvc_status kvc_driver_run(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                               struct kvc_outcome **out, struct kvc_diag *diag)
{
    *out = NULL;
    return kvc_cluster_is_apart(scenario) ? kvc_cluster_run(scenario, options, NULL, out, diag)
                                          : run_together(scenario, options, out, diag);
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
        if (kvc_models[i]->measurable != NULL) {
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

/* Reports that a measurement cannot follow a power policy. */
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

/* Checks whether this machine can run the scenario for real. Changes `real` to the store that it would run,
 * which has its values. */
static enum kvc_status check_real(struct kvc_scenario *real, struct kvc_diag *diag)
{
    const struct kvc_measurable *measurable = real->model->measurable;
    enum kvc_status status = KVC_OK;
    if (real->run.functional == KVC_FUNCTIONAL_COMPACT) {
        real->run.functional = KVC_FUNCTIONAL_FULL;
    }
    if (measurable == NULL) {
        status = fail_unmeasurable(real->model, diag);
    } else if (real->run.change_count > 0) {
        status = fail_changes(real, diag);
    } else if (real->power.policy != KVC_POWER_FIXED) {
        status = fail_policy(real, diag);
    } else {
        status = measurable->check(real, diag);
    }
    place(real, status, diag);
    return status;
}

static enum kvc_status check_memory(double needed_bytes, const struct kvc_run_options *options,
                                    struct kvc_diag *diag)
{
    uint32_t jobs;
    double available = options->available_bytes > 0 ? options->available_bytes : kvc_memory_available_bytes();
    return kvc_memory_plan(needed_bytes + (double)kvc_memory_watch_bytes, available, 1, 1, 1, &jobs, diag);
}

enum kvc_status kvc_driver_measure(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                   struct kvc_outcome **out, struct kvc_diag *diag)
{
    struct kvc_scenario real = *scenario;
    struct kvc_outcome *outcome = NULL;
    *out = NULL;
    enum kvc_status status = check_real(&real, diag);
    if (status == KVC_OK) {
        status = check_memory(kvc_memory_needed_bytes(&real), options, diag);
    }
    if (status == KVC_OK) {
        outcome = kvc_outcome_create(0);
        status = kvc_measurable_run(real.model->measurable, &real, options->progress, &outcome->result, diag);
    }
    return hand_out(outcome, status, out);
}

enum kvc_status kvc_driver_measure_pair(const struct kvc_scenario *const scenario[2], uint32_t pairs,
                                        const struct kvc_run_options *options, struct kvc_pair_result *result,
                                        struct kvc_diag *diag)
{
    struct kvc_scenario a = *scenario[0], b = *scenario[1];
    const struct kvc_scenario *const real[2] = {&a, &b};
    enum kvc_status status = check_real(&a, diag);
    if (status == KVC_OK) {
        status = check_real(&b, diag);
    }
    if (status == KVC_OK) {
        status = check_memory(kvc_memory_needed_bytes(&a) + kvc_memory_needed_bytes(&b), options, diag);
    }
    return status == KVC_OK ? kvc_measured_pair(real, pairs, options->progress, result, diag) : status;
}

/* Adds the power of devices that draw the same whether they work or not, if the closed form states none and
 * there are no others. A forecast does the same. */
static void add_constant_power(const struct kvc_scenario *scenario, struct kvc_result *result)
{
    char missing[KVC_MISSING_BYTES] = "";
    if (result->watts_mean > 0 || result->watts_missing[0] != '\0' || scenario->cluster.member_count > 0) {
        return;
    }
    const struct kvc_power power = kvc_scenario_power(scenario);
    double watts = kvc_power_watts(&power, NULL, 0, missing);
    if (missing[0] == '\0') {
        result->watts_mean = watts;
    }
}

/* Says that the closed form holds for the highest rate, and what it says of a steady load of the mean rate.
 */
static void note_rates(const struct kvc_scenario *scenario, struct kvc_result *result)
{
    const struct kvc_run *run = &scenario->run;
    double from_ns = fmax(run->warmup_ns, 0);
    double mean_mops = kvc_workload_rate_mean_mops(&scenario->workload, from_ns, from_ns + run->duration_ns);
    struct kvc_scenario steady = *scenario;
    struct kvc_forecast forecast = {.latency = {NAN, NAN, NAN, NAN, NAN}};
    char latency[128] = "";
    steady.config = NULL; /* The original keeps its own. */
    steady.workload.arrival = KVC_ARRIVAL_POISSON;
    steady.workload.rate_mops = mean_mops;
    if (kvc_scenario_resolve(&steady, NULL) == KVC_OK) {
        kvc_scenario_forecast(&steady, &forecast, NULL);
        kvc_scenario_unresolve(&steady);
    }
    if (!isnan(forecast.latency.mean_us)) {
        snprintf(latency, sizeof(latency),
                 "; a steady load of that rate has a mean latency of %.4g us and a p99 of %.4g us",
                 forecast.latency.mean_us, forecast.latency.p99_us);
    }
    kvc_result_note(
        result,
        "predicted for the highest rate, %.4g Mops, as if it lasted. The mean rate is %.4g Mops%s. "
        "`kvcast run` simulates the queues that grow in a burst and drain after it",
        kvc_workload_rate_max_mops(&scenario->workload), mean_mops, latency);
}

enum kvc_status kvc_driver_steady(const struct kvc_scenario *scenario, struct kvc_scenario *steady,
                                  struct kvc_diag *diag)
{
    const struct kvc_workload_trace *trace = &scenario->workload.trace;
    *steady = *scenario;
    if (scenario->workload.arrival != KVC_ARRIVAL_TRACE || trace->facts.end_ns <= 0) {
        return KVC_OK;
    }
    steady->workload.trace.steady_mops = trace->facts.requests / trace->facts.end_ns / mops_per_ns;
    steady->workload.trace.profile = trace->fills ? kvc_trace_profile_of(trace->path, diag) : NULL;
    return trace->fills && steady->workload.trace.profile == NULL ? KVC_ERR_SCENARIO : KVC_OK;
}

enum kvc_status kvc_driver_forecast(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                    struct kvc_diag *diag)
{
    struct kvc_scenario steady;
    enum kvc_status status = kvc_driver_steady(scenario, &steady, diag);
    return status == KVC_OK ? kvc_scenario_forecast(&steady, out, diag) : status;
}

enum kvc_status kvc_driver_predict(const struct kvc_scenario *scenario, struct kvc_outcome **out,
                                   struct kvc_diag *diag)
{
    struct kvc_outcome *outcome = kvc_outcome_create(0);
    struct kvc_scenario steady;
    *out = NULL;
    enum kvc_status status = kvc_driver_steady(scenario, &steady, diag);
    status = status == KVC_OK ? kvc_scenario_predict(&steady, &outcome->result, diag) : status;
    if (status == KVC_OK && steady.workload.trace.steady_mops > 0) {
        kvc_result_note(
            &outcome->result, "predicted for the mean rate of the trace, %.4g Mops, as if %s",
            steady.workload.trace.steady_mops,
            steady.workload.trace.profile != NULL
                ? "requests were evenly spread over its time. Hits are those of an LRU cache for as many "
                  "pairs as the store has room for, by the trace's own reuse; the SETs by which clients fill "
                  "misses are left out"
                : "requests were independent and the store had all of the trace's pairs from the beginning");
    }
    if (status == KVC_OK) {
        add_constant_power(scenario, &outcome->result);
        kvc_scenario_note_room(scenario, &outcome->result);
    }
    if (status == KVC_OK && kvc_workload_rate_changes(&scenario->workload)) {
        note_rates(scenario, &outcome->result);
    }
    if (status == KVC_OK && kvc_workload_popularity_changes(&scenario->workload)) {
        kvc_result_note(&outcome->result,
                        "the closed form ignores workload.churn and workload.storms: it holds for the "
                        "popularity at the start");
    }
    if (status == KVC_OK && scenario->node.stall_count > 0) {
        kvc_result_note(&outcome->result,
                        "the closed form ignores node.stalls: it holds for a machine without stalls");
    }
    if (status == KVC_OK && scenario->run.change_count > 0) {
        kvc_result_note(
            &outcome->result,
            "the closed form ignores run.changes: it holds for the devices before the first change");
    }
    if (status == KVC_OK && kvc_workload_has_rate(&scenario->workload) &&
        kvc_workload_fills(&scenario->workload)) {
        kvc_result_note(
            &outcome->result,
            "the closed form leaves out the SETs by which clients fill misses, and takes the hits of a "
            "store in which nothing is filled");
    }
    uint32_t tenant = kvc_tenants_with_objective(&scenario->workload);
    if (status == KVC_OK && tenant < scenario->workload.tenant_count) {
        kvc_result_note(&outcome->result,
                        "the closed form answers for all tenants together and does not judge "
                        "workload.tenants.%u.p99; kvcast run does",
                        tenant + 1);
    }
    if (status == KVC_OK && kvc_power_policy_looks(&scenario->power)) {
        kvc_result_note(&outcome->result,
                        "the closed form ignores power.policy: it holds for the clocks at the start");
    }
    if (status == KVC_OK && scenario->policy.choose != NULL) {
        kvc_result_note(&outcome->result,
                        "the closed form ignores system.policy: it holds for what the scenario states");
    }
    return hand_out(outcome, status, out);
}
