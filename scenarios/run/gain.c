#include "scenarios/run/gain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "scenarios/run/pairs.h"
#include "sim/metrics/bottleneck.h"

_Static_assert((int)KVC_GAINS_MAX >= (int)KVC_RESOURCES_MAX, "every resource has room for its gain");

enum { REPLICAS_MAX = 10 /* More pairs hardly narrow the interval. */ };

static const double FACTOR = 1.05;

/* Smallest difference that counts as a gain or an overload [share of the throughput]. */
static const double NEGLIGIBLE_FRAC = 0.001;

/* Largest number of requests in flight that is not a queue [share of the offered requests]. */
static const double IN_FLIGHT_FRAC_MAX = 0.02;

/* Intervals wider than this hide which resource gains most. */
static const double UNCERTAIN_FRAC = 0.02;

/* A resource whose busy share is smaller than this gains nothing worth a run. */
static const double PLAUSIBLE_FRAC = 0.3;

/* The search: the resources that are tried, and what was found. */
struct search {
    const struct kvc_scenario *scenario;
    struct kvc_outcome *outcome;
    uint32_t count, replicas;
    bool by_class; /* The nodes belong to classes (models/cluster/cluster.h). */
    const struct kvc_model_resource *resource[KVC_GAINS_MAX];
    struct kvc_scenario *faster[KVC_GAINS_MAX];
    double *gain_frac; /* Gain of each resource in each replica. */
    struct kvc_interval interval[KVC_GAINS_MAX];
    struct kvc_relief *relief; /* By resource; NULL: not wanted. */
    double *change_frac;       /* Change of each value of the relief, by resource and replica. */
};

/* Names of the values (sim/metrics/values.h), by enum kvc_relief_value. */
static const char *const relief_names[KVC_RELIEF_VALUES] = {"throughput_mops", "latency_mean_us",
                                                            "latency_p99_us"};

static bool is_open(const struct kvc_workload *workload)
{
    return workload->arrival != KVC_ARRIVAL_SATURATE && workload->arrival != KVC_ARRIVAL_CLOSED;
}

/* Returns whether the store serves all offered requests, so that nothing can be gained. Chance and the
 * requests in flight at both ends of the measured time make some difference, too; the paired runs decide
 * about a larger one. */
static bool serves_all(const struct kvc_scenario *scenario, const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    if (!is_open(&scenario->workload)) {
        return false;
    }
    if (outcome->replicas == 0) {
        double rate_mops = kvc_workload_rate_max_mops(&scenario->workload);
        return result->throughput_mops >= rate_mops * (1 - 1e-9);
    }
    double offered = (double)result->offered, completed = (double)result->completed;
    double in_flight_frac =
        kvc_histogram_mean_ns(&result->latency) * 1e-9 * outcome->replicas / fmax(result->simulated_s, 1e-12);
    in_flight_frac = fmin(in_flight_frac, IN_FLIGHT_FRAC_MAX);
    return (double)result->dropped <= NEGLIGIBLE_FRAC * offered &&
           completed >= offered * (1 - NEGLIGIBLE_FRAC - in_flight_frac) - 3 * sqrt(offered);
}

/* Returns the busiest stage that spends time on the resource, or NULL. */
static const struct kvc_stage_result *busiest_stage(const struct kvc_scenario *scenario,
                                                    const struct kvc_model_resource *resource,
                                                    const struct kvc_result *result)
{
    const struct kvc_stage_result *found = NULL;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct kvc_stage_result *stage = &result->stage[i];
        if (kvc_scenario_has_stage(scenario, resource, stage->name) && !isnan(stage->utilization_frac) &&
            (found == NULL || stage->utilization_frac > found->utilization_frac ||
             (stage->utilization_frac == found->utilization_frac && stage->busy_s > found->busy_s))) {
            found = stage;
        }
    }
    return found;
}

/* Returns the utilization of the resource itself: of the busiest stage or device of its kind. NaN: nothing is
 * known about either. */
static double utilization_of(const struct kvc_scenario *scenario, const struct kvc_model_resource *resource,
                             const struct kvc_result *result)
{
    double utilization_frac = NAN;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct kvc_stage_result *stage = &result->stage[i];
        if (kvc_scenario_has_stage(scenario, resource, stage->name) &&
            strcmp(stage->device, resource->device) == 0) {
            utilization_frac = fmax(utilization_frac, stage->utilization_frac);
        }
    }
    for (uint32_t i = 0; i < result->device_count && isnan(utilization_frac); i++) {
        if (strcmp(result->device[i].device, resource->device) == 0) {
            utilization_frac = fmax(utilization_frac, result->device[i].utilization_frac);
        }
    }
    return utilization_frac;
}

/* Returns the utilization of the busiest node's busiest stage, if that takes time of the resource, or NaN.
 * The mean over the nodes hides a node that is asked more than others. */
static double busiest_node_frac(const struct kvc_scenario *scenario,
                                const struct kvc_model_resource *resource, const struct kvc_outcome *outcome)
{
    double busy_frac = NAN;
    for (uint32_t i = 0; i < outcome->node_count; i++) {
        if (kvc_scenario_has_stage(scenario, resource, outcome->node[i].stage)) {
            busy_frac = fmax(busy_frac, outcome->node[i].utilization_frac);
        }
    }
    return busy_frac;
}

static bool is_used(const struct search *search, const struct kvc_model_resource *resource)
{
    return search->by_class ? kvc_cluster_resource_is_used(resource, search->scenario)
                            : kvc_resource_is_used(resource, search->scenario);
}

static bool is_plausible(const struct search *search, const struct kvc_model_resource *resource)
{
    const struct kvc_result *result = &search->outcome->result;
    const struct kvc_stage_result *stage = busiest_stage(search->scenario, resource, result);
    if (!is_used(search, resource) || search->relief != NULL) {
        return is_used(search, resource);
    }
    double busy_frac = fmax(utilization_of(search->scenario, resource, result),
                            stage != NULL ? stage->utilization_frac : NAN);
    busy_frac = fmax(busy_frac, busiest_node_frac(search->scenario, resource, search->outcome));
    bool closed = search->scenario->workload.arrival == KVC_ARRIVAL_CLOSED;
    return closed || search->outcome->replicas == 0 || isnan(busy_frac) || busy_frac >= PLAUSIBLE_FRAC;
}

/* Resolves the scenarios with one faster resource each. */
static enum kvc_status make_faster(struct search *search, struct kvc_diag *diag)
{
    const struct kvc_model_resource *resource = search->scenario->model->resources;
    for (; resource->name != NULL; resource++) {
        if (!is_plausible(search, resource)) {
            continue;
        }
        struct kvc_scenario *faster = search->by_class
                                          ? kvc_cluster_faster(search->scenario, resource, FACTOR, diag)
                                          : kvc_scenario_faster(search->scenario, resource, FACTOR, diag);
        if (faster == NULL) {
            return diag->status;
        }
        search->resource[search->count] = resource;
        search->faster[search->count++] = faster;
    }
    return KVC_OK;
}

/* ---- the closed form ---- */

static void relieve_by_prediction(struct search *search, uint32_t resource, const struct kvc_result *result)
{
    const struct kvc_latencies *usual = &search->outcome->result.predicted, *faster = &result->predicted;
    const double change_frac[KVC_RELIEF_VALUES] = {search->interval[resource].mean,
                                                   faster->mean_us / usual->mean_us - 1,
                                                   faster->p99_us / usual->p99_us - 1};
    for (int i = 0; i < KVC_RELIEF_VALUES; i++) {
        search->relief[resource].change_frac[i] = (struct kvc_interval){change_frac[i], NAN};
    }
}

static enum kvc_status predict(struct search *search, struct kvc_diag *diag)
{
    double usual_mops = search->outcome->result.throughput_mops;
    enum kvc_status status = KVC_OK;
    struct kvc_result *result = malloc(sizeof(*result));
    if (result == NULL) {
        kvc_out_of_memory("a prediction");
    }
    for (uint32_t i = 0; i < search->count && status == KVC_OK; i++) {
        memset(result, 0, sizeof(*result));
        status = kvc_scenario_predict(search->faster[i], result, diag);
        search->interval[i] =
            (struct kvc_interval){.mean = result->throughput_mops / usual_mops - 1, .half_width = NAN};
        if (search->relief != NULL) {
            relieve_by_prediction(search, i, result);
        }
    }
    free(result);
    return status;
}

/* ---- paired runs ---- */

/* Returns the gain over the measured time, with the interval of the gains in parts of this time. */
static struct kvc_interval over_time(const struct kvc_result *usual, const struct kvc_pair_answer *pair)
{
    struct kvc_interval difference_mops = kvc_pairs_difference_mops(
        &(struct kvc_pair_windows){usual->window_us, usual->window_count, usual->window_mops, usual->moves},
        &(struct kvc_pair_windows){pair->window_us, pair->window_count, pair->window_mops, pair->moves});
    if (isnan(difference_mops.mean)) {
        return (struct kvc_interval){pair->throughput_mops / usual->throughput_mops - 1, NAN};
    }
    return (struct kvc_interval){difference_mops.mean / usual->throughput_mops,
                                 difference_mops.half_width / usual->throughput_mops};
}

/* Takes the changes of one replica. The interval of a latency needs several. */
static void relieve(struct search *search, uint32_t resource, uint32_t replica,
                    const struct kvc_pair_answer *pair)
{
    const double faster[KVC_RELIEF_VALUES] = {pair->throughput_mops, pair->latency_mean_us,
                                              pair->latency_p99_us};
    for (uint32_t i = 0; i < KVC_RELIEF_VALUES; i++) {
        double *change_frac =
            search->change_frac + (resource * (size_t)KVC_RELIEF_VALUES + i) * search->replicas;
        change_frac[replica] = faster[i] / kvc_outcome_value(search->outcome, replica, relief_names[i]) - 1;
        search->relief[resource].change_frac[i] = i == KVC_RELIEF_THROUGHPUT
                                                      ? search->interval[resource]
                                                      : kvc_interval_of(change_frac, replica + 1);
    }
}

static void take_pair(void *data, uint32_t resource, uint32_t replica, const struct kvc_pair_answer *pair)
{
    struct search *search = data;
    const struct kvc_result *usual = &search->outcome->result;
    double usual_mops = kvc_outcome_value(search->outcome, replica, "throughput_mops");
    double *gain_frac = search->gain_frac + resource * search->replicas;
    gain_frac[replica] = (pair->throughput_mops - usual_mops) / usual->throughput_mops;
    search->interval[resource] =
        search->replicas > 1 ? kvc_interval_of(gain_frac, replica + 1) : over_time(usual, pair);
    if (search->relief != NULL) {
        relieve(search, resource, replica, pair);
    }
}

static enum kvc_status run_pairs(struct search *search, const struct kvc_run_options *options,
                                 struct kvc_diag *diag)
{
    const struct kvc_pairs pairs = {.usual = search->scenario,
                                    .outcome = search->outcome,
                                    .count = search->count,
                                    .variant = search->faster,
                                    .replicas = search->replicas,
                                    .noun = "bottleneck",
                                    .data = search,
                                    .take = take_pair};
    size_t runs = (size_t)search->count * search->replicas;
    search->gain_frac = calloc(runs + 1, sizeof(*search->gain_frac));
    search->change_frac = calloc(KVC_RELIEF_VALUES * runs + 1, sizeof(*search->change_frac));
    if (search->gain_frac == NULL || search->change_frac == NULL) {
        kvc_out_of_memory("%zu paired runs", runs);
    }
    return kvc_pairs_run(&pairs, options, diag);
}

/* ---- the answer ---- */

/* Notes in the result that chance moves the throughput as much as a faster resource does. */
static void note_uncertainty(struct kvc_outcome *outcome)
{
    double widest_frac = 0;
    uint32_t unknown = 0;
    for (uint32_t i = 0; i < outcome->gain_count; i++) {
        widest_frac = fmax(widest_frac, outcome->gain[i].gain_frac.half_width);
        unknown += isnan(outcome->gain[i].gain_frac.half_width);
    }
    if (unknown > 0 && outcome->result.moves) {
        kvc_result_note(&outcome->result,
                        "gains of faster resources have no interval, because the load or the machine changes "
                        "during the run: run.replicas = 2 or more tell the bottleneck");
    } else if (unknown > 0 && outcome->node_count > 0) {
        kvc_result_note(
            &outcome->result,
            "gains of faster resources have no interval, because the nodes have no windows of time "
            "in common: run.replicas = 2 or more tell the bottleneck");
    }
    if (widest_frac > UNCERTAIN_FRAC) {
        kvc_result_note(&outcome->result,
                        "gains of faster resources are uncertain by up to %.1f %% of throughput: more "
                        "run.replicas or a longer run.duration tell the bottleneck better",
                        100 * widest_frac);
    }
}

/* The answers of the closed form do not depend on chance. */
static bool is_significant(const struct kvc_interval *gain_frac, bool by_closed_form)
{
    return gain_frac->mean > NEGLIGIBLE_FRAC && (by_closed_form || gain_frac->mean > gain_frac->half_width);
}

/* Lists the gains, largest first. Returns the number of the resource with the largest one that is
 * significant, or -1. */
static int32_t rank(struct search *search)
{
    struct kvc_outcome *outcome = search->outcome;
    bool listed[KVC_GAINS_MAX] = {false};
    int32_t best = -1;
    for (uint32_t place = 0; place < search->count; place++) {
        uint32_t next = search->count;
        for (uint32_t i = 0; i < search->count; i++) {
            if (!listed[i] &&
                (next == search->count || search->interval[i].mean > search->interval[next].mean)) {
                next = i;
            }
        }
        listed[next] = true;
        if (best < 0 && is_significant(&search->interval[next], outcome->replicas == 0)) {
            best = (int32_t)next;
        }
        struct kvc_gain *gain = &outcome->gain[outcome->gain_count++];
        gain->gain_frac = search->interval[next];
        gain->utilization_frac = utilization_of(search->scenario, search->resource[next], &outcome->result);
        snprintf(gain->resource, sizeof(gain->resource), "%s", search->resource[next]->name);
        snprintf(gain->device, sizeof(gain->device), "%s", search->resource[next]->device);
    }
    return best;
}

static void name_reliefs(const struct search *search)
{
    for (uint32_t i = 0; i < search->count; i++) {
        struct kvc_relief *relief = &search->relief[i];
        relief->utilization_frac =
            utilization_of(search->scenario, search->resource[i], &search->outcome->result);
        snprintf(relief->resource, sizeof(relief->resource), "%s", search->resource[i]->name);
        snprintf(relief->device, sizeof(relief->device), "%s", search->resource[i]->device);
    }
}

static void explain(struct kvc_result *result, const char *reason)
{
    size_t used = (size_t)snprintf(result->bottleneck_why, KVC_NOTE_BYTES, "%s: ", reason);
    kvc_bottleneck_busiest(result, result->bottleneck_why + used, KVC_NOTE_BYTES - used);
}

/* Says why no resource is named. Several may be equally busy, so that none gains alone; or one gains, but by
 * no more than chance explains, or by an amount whose interval is unknown. */
static void explain_none(struct kvc_outcome *outcome)
{
    const struct kvc_gain *most = &outcome->gain[0];
    char reason[KVC_NOTE_BYTES], interval[32] = "an unknown interval";
    if (outcome->gain_count == 0 || most->gain_frac.mean <= NEGLIGIBLE_FRAC) {
        explain(&outcome->result, "no resource alone gains throughput when it is 5 % faster");
        return;
    }
    if (!isnan(most->gain_frac.half_width)) {
        snprintf(interval, sizeof(interval), "+- %.2f %%", 100 * most->gain_frac.half_width);
    }
    snprintf(reason, sizeof(reason),
             "the gains do not tell the bottleneck: %.32s gains most when it is 5 %% faster, %.2f %% of "
             "throughput with %s",
             most->resource, 100 * most->gain_frac.mean, interval);
    explain(&outcome->result, reason);
}

static void blame_load(struct kvc_result *result)
{
    snprintf(result->bottleneck_stage, KVC_NAME_MAX, "load");
    snprintf(result->bottleneck_device, KVC_NAME_MAX, "load");
    explain(result, "the store serves all requests, the load is the limit");
}

static void blame(const struct search *search, uint32_t best)
{
    const struct kvc_model_resource *resource = search->resource[best];
    const struct kvc_interval *gain_frac = &search->interval[best];
    struct kvc_result *result = &search->outcome->result;
    const struct kvc_stage_result *stage = busiest_stage(search->scenario, resource, result);
    char interval[32] = "";
    if (!isnan(gain_frac->half_width)) {
        snprintf(interval, sizeof(interval), " +- %.2f", 100 * gain_frac->half_width);
    }
    snprintf(result->bottleneck_stage, KVC_NAME_MAX, "%s", stage != NULL ? stage->name : resource->name);
    snprintf(result->bottleneck_device, KVC_NAME_MAX, "%s", resource->device);
    size_t used = (size_t)snprintf(result->bottleneck_why, KVC_NOTE_BYTES,
                                   "%.32s: 5 %% faster it gains %.2f%s %% of throughput; ", resource->name,
                                   100 * gain_frac->mean, interval);
    kvc_bottleneck_busiest(result, result->bottleneck_why + used, KVC_NOTE_BYTES - used);
}

/* Returns the busiest stage if it is saturated although the resource, which it does not use, is the next
 * limit: a stage that works in batches is always busy long before its batches are as large as they can be.
 * NULL: there is none. */
static const struct kvc_stage_result *busy_in_batches(const struct kvc_result *result, const char *device)
{
    const struct kvc_stage_result *busiest = kvc_bottleneck_busiest_stage(result);
    bool saturated = busiest != NULL && busiest->utilization_frac >= kvc_bottleneck_saturated_frac;
    return saturated && strcmp(busiest->device, device) != 0 ? busiest : NULL;
}

/* Records the limit that a higher load would reach first, by the closed form. A trace cannot be replayed at
 * another load, and a scenario without an answer has no next limit. */
static enum kvc_status add_next_limit(const struct kvc_scenario *scenario, struct kvc_result *result,
                                      struct kvc_diag *diag)
{
    struct kvc_scenario saturated = *scenario;
    struct kvc_outcome *limit = NULL;
    struct kvc_diag why = {0};
    saturated.config = NULL; /* The original's. */
    saturated.workload.arrival = KVC_ARRIVAL_SATURATE;
    bool known = scenario->workload.arrival != KVC_ARRIVAL_TRACE &&
                 kvc_scenario_resolve(&saturated, &why) == KVC_OK &&
                 kvc_driver_predict(&saturated, &limit, &why) == KVC_OK &&
                 kvc_gain_find(&saturated, NULL, limit, &why) == KVC_OK;
    if (known && limit->gain_count > 0 && is_significant(&limit->gain[0].gain_frac, true)) {
        size_t used = strlen(result->bottleneck_why);
        const struct kvc_stage_result *busy = busy_in_batches(result, limit->gain[0].device);
        snprintf(result->bottleneck_why + used, KVC_NOTE_BYTES - used,
                 "; by the closed form, a higher load would meet %.32s at %.4g Mops%s%.32s%s",
                 limit->gain[0].resource, limit->result.throughput_mops, busy != NULL ? ", and " : "",
                 busy != NULL ? busy->name : "", busy != NULL ? " would serve it in larger batches" : "");
    }
    kvc_outcome_free(limit);
    kvc_scenario_unresolve(&saturated);
    if (why.status == KVC_ERR_RUNTIME && diag != NULL) {
        *diag = why;
    }
    return why.status == KVC_ERR_RUNTIME ? KVC_ERR_RUNTIME : KVC_OK;
}

/* Blames the resource with the largest gain, or says why none is. */
static void conclude(struct search *search)
{
    struct kvc_outcome *outcome = search->outcome;
    int32_t best = rank(search);
    if (best >= 0) {
        blame(search, (uint32_t)best);
    } else if (outcome->result.moves && search->replicas == 1) {
        explain(&outcome->result, "without an interval, no gain of a faster resource is sure");
    } else {
        explain_none(outcome);
    }
    note_uncertainty(outcome);
}

/* Finds gains and, if relief is not NULL, those of `*count` resources. */
static enum kvc_status find(const struct kvc_scenario *asked, const struct kvc_run_options *options,
                            struct kvc_outcome *outcome, struct kvc_relief *relief, uint32_t *count,
                            struct kvc_diag *diag)
{
    struct kvc_scenario steady;
    enum kvc_status status = options == NULL ? kvc_driver_steady(asked, &steady, diag) : KVC_OK;
    const struct kvc_scenario *scenario = options == NULL ? &steady : asked;
    struct search search = {.scenario = scenario,
                            .outcome = outcome,
                            .by_class = outcome->node_count > 0 || scenario->cluster.member_count > 0,
                            .replicas = outcome->replicas < REPLICAS_MAX ? outcome->replicas : REPLICAS_MAX,
                            .relief = relief};
    *count = 0;
    if (status != KVC_OK || scenario->model->resources == NULL || outcome->result.throughput_mops <= 0) {
        return status;
    }
    bool by_load = serves_all(scenario, outcome);
    if (by_load) {
        blame_load(&outcome->result);
    }
    status = by_load ? add_next_limit(scenario, &outcome->result, diag) : KVC_OK;
    if (status != KVC_OK || (by_load && relief == NULL)) {
        return status;
    }
    status = make_faster(&search, diag);
    if (status == KVC_OK) {
        status = options != NULL ? run_pairs(&search, options, diag) : predict(&search, diag);
    }
    if (status == KVC_OK && !by_load) {
        conclude(&search);
    }
    if (status == KVC_OK && relief != NULL) {
        name_reliefs(&search);
        *count = search.count;
    }
    for (uint32_t i = 0; i < search.count; i++) {
        kvc_scenario_free_copy(search.faster[i]);
    }
    free(search.gain_frac);
    free(search.change_frac);
    return status;
}

enum kvc_status kvc_gain_find(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                              struct kvc_outcome *outcome, struct kvc_diag *diag)
{
    uint32_t count;
    return find(scenario, options, outcome, NULL, &count, diag);
}

enum kvc_status kvc_gain_relieve(const struct kvc_scenario *scenario, const struct kvc_run_options *options,
                                 struct kvc_outcome *outcome, struct kvc_relief *relief, uint32_t *count,
                                 struct kvc_diag *diag)
{
    return find(scenario, options, outcome, relief, count, diag);
}
