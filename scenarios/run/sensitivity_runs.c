/* Elasticities by paired runs. */
#include "models/resource.h"
#include "scenarios/run/sensitivity_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/run/pairs.h"
#include "sim/base/array.h"

enum { REPLICAS_MAX = 10 /* More pairs hardly narrow the interval. */, SIDES = 2 };

/* Elasticities below this are not worth a run, nor gains below this share of the throughput. */
static const double LEAST = 0.01, LEAST_GAIN_FRAC = 0.001;

/* A side of a parameter that is run: its number among the variants, or -1 if it is the scenario as it is. */
struct side {
    int32_t variant;
    struct kvc_pair_answer *answer; /* By replica. */
};

struct chosen {
    uint32_t parameter;
    struct side side[SIDES]; /* Lower and upper. */
};

struct runs {
    struct kvc_sensitivity_analysis *analysis;
    const struct kvc_outcome *outcome;
    uint32_t count, replicas, variants;
    struct chosen chosen[KVC_SENSITIVITY_RUNS_MOST];
    struct kvc_scenario *variant[SIDES * KVC_SENSITIVITY_RUNS_MOST];
};

/* Returns whether the device gains throughput when it is faster. */
static bool gains(const struct kvc_outcome *outcome, const char *device)
{
    for (uint32_t i = 0; i < outcome->gain_count; i++) {
        const struct kvc_interval *gain_frac = &outcome->gain[i].gain_frac;
        double chance_frac = isnan(gain_frac->half_width) ? 0 : gain_frac->half_width;
        if (strcmp(outcome->gain[i].device, device) == 0 &&
            gain_frac->mean > fmax(LEAST_GAIN_FRAC, chance_frac)) {
            return true;
        }
    }
    return false;
}

static bool is_worth_runs(const struct runs *runs, uint32_t parameter)
{
    const struct kvc_sensitivity_analysis *analysis = runs->analysis;
    const struct kvc_sensitivity_parameter *found = &analysis->found->parameter[parameter];
    uint32_t first = analysis->values.parameter[parameter].first;
    uint32_t device = analysis->values.value[first].device;
    return found->by == KVC_SENSITIVITY_CLOSED_FORM &&
           (found->rank >= LEAST || gains(runs->outcome, analysis->scenario->node.device[device].kind->name));
}

/* Chooses the parameters with the largest effects by the closed form. */
static void choose(struct runs *runs)
{
    struct kvc_sensitivity *found = runs->analysis->found;
    for (uint32_t i = 0; i < found->count; i++) {
        found->parameter[i].not_run = is_worth_runs(runs, i);
    }
    while (runs->count < KVC_SENSITIVITY_RUNS_MOST) {
        int64_t best = -1;
        for (uint32_t i = 0; i < found->count; i++) {
            if (found->parameter[i].not_run &&
                (best < 0 || found->parameter[i].rank > found->parameter[best].rank)) {
                best = i;
            }
        }
        if (best < 0) {
            return;
        }
        found->parameter[best].not_run = false;
        runs->chosen[runs->count++] = (struct chosen){.parameter = (uint32_t)best};
    }
}

/* Adds a variant with the parameter moved, unless it is not. */
static enum kvc_status add_side(struct runs *runs, uint32_t parameter, double power, struct side *side,
                                struct kvc_diag *diag)
{
    side->variant = -1;
    side->answer = kvc_array_of(runs->replicas, sizeof(*side->answer));
    if (power == 0) {
        return KVC_OK;
    }
    struct kvc_scenario *copy = kvc_scenario_copy(runs->analysis->scenario);
    kvc_sensitivity_move(runs->analysis, parameter, power, copy);
    side->variant = (int32_t)runs->variants;
    runs->variant[runs->variants++] = copy;
    return kvc_hardware_values_settle(copy, diag);
}

static void take(void *data, uint32_t variant, uint32_t replica, const struct kvc_pair_answer *answer)
{
    struct runs *runs = data;
    for (uint32_t i = 0; i < runs->count; i++) {
        for (int side = 0; side < SIDES; side++) {
            if (runs->chosen[i].side[side].variant == (int32_t)variant) {
                runs->chosen[i].side[side].answer[replica] = *answer;
            }
        }
    }
}

static double metric_of(const struct runs *runs, const struct side *side, uint32_t replica, int metric)
{
    const struct kvc_pair_answer *answer = &side->answer[replica];
    const double found[KVC_SENSITIVITY_METRICS] = {[KVC_SENSITIVITY_THROUGHPUT] = answer->throughput_mops,
                                                   [KVC_SENSITIVITY_MEAN] = answer->latency_mean_us,
                                                   [KVC_SENSITIVITY_P50] = answer->latency_p50_us,
                                                   [KVC_SENSITIVITY_P95] = answer->latency_p95_us,
                                                   [KVC_SENSITIVITY_P99] = answer->latency_p99_us};
    return side->variant >= 0
               ? found[metric]
               : kvc_outcome_value(runs->outcome, replica, kvc_sensitivity_metric_names[metric]);
}

static struct kvc_pair_windows windows_of(const struct runs *runs, const struct side *side)
{
    const struct kvc_result *usual = &runs->outcome->result;
    const struct kvc_pair_answer *answer = side->answer;
    return side->variant >= 0
               ? (struct kvc_pair_windows){answer->window_us, answer->window_count, answer->window_mops}
               : (struct kvc_pair_windows){usual->window_us, usual->window_count, usual->window_mops};
}

/* Returns the elasticity of a metric. With one replica, only that of throughput has an interval, over parts
 * of the measured time. */
static struct kvc_interval elasticity(const struct runs *runs, const struct chosen *chosen, int metric,
                                      double log_ratio)
{
    double found[REPLICAS_MAX];
    for (uint32_t i = 0; i < runs->replicas; i++) {
        double lower = metric_of(runs, &chosen->side[0], i, metric);
        double upper = metric_of(runs, &chosen->side[1], i, metric);
        found[i] = log(upper / lower) / log_ratio;
    }
    if (runs->replicas == 1 && metric == KVC_SENSITIVITY_THROUGHPUT) {
        struct kvc_pair_windows lower = windows_of(runs, &chosen->side[0]);
        struct kvc_pair_windows upper = windows_of(runs, &chosen->side[1]);
        double scale = 1 / (runs->outcome->result.throughput_mops * log_ratio);
        struct kvc_interval difference_mops = kvc_pairs_difference_mops(&lower, &upper);
        if (!isnan(difference_mops.mean)) {
            return (struct kvc_interval){difference_mops.mean * scale, difference_mops.half_width * scale};
        }
    }
    struct kvc_interval interval = kvc_interval_of(found, runs->replicas);
    return isfinite(interval.mean) ? interval : (struct kvc_interval){NAN, NAN};
}

static void conclude(struct runs *runs, const struct kvc_sensitivity_step *step)
{
    for (uint32_t i = 0; i < runs->count; i++) {
        uint32_t at = runs->chosen[i].parameter;
        struct kvc_sensitivity_parameter *found = &runs->analysis->found->parameter[at];
        found->by = KVC_SENSITIVITY_RUNS;
        for (int metric = 0; metric < KVC_SENSITIVITY_METRICS; metric++) {
            found->elasticity[metric] = elasticity(runs, &runs->chosen[i], metric, step[at].log_ratio);
        }
    }
}

enum kvc_status kvc_sensitivity_by_runs(struct kvc_sensitivity_analysis *analysis,
                                        const struct kvc_sensitivity_step *step,
                                        const struct kvc_run_options *options,
                                        const struct kvc_outcome *outcome, struct kvc_diag *diag)
{
    struct runs runs = {.analysis = analysis,
                        .outcome = outcome,
                        .replicas = outcome->replicas < REPLICAS_MAX ? outcome->replicas : REPLICAS_MAX};
    enum kvc_status status = KVC_OK;
    choose(&runs);
    for (uint32_t i = 0; i < runs.count; i++) {
        struct chosen *chosen = &runs.chosen[i];
        const struct kvc_sensitivity_step *at = &step[chosen->parameter];
        const double power[SIDES] = {at->lower, at->upper};
        for (int side = 0; side < SIDES; side++) {
            enum kvc_status added = add_side(&runs, chosen->parameter, power[side], &chosen->side[side],
                                             status == KVC_OK ? diag : NULL);
            status = status != KVC_OK ? status : added;
        }
    }
    const struct kvc_pairs pairs = {.usual = analysis->scenario,
                                    .outcome = outcome,
                                    .count = runs.variants,
                                    .variant = runs.variant,
                                    .replicas = runs.replicas,
                                    .noun = "sensitivity",
                                    .data = &runs,
                                    .take = take};
    if (status == KVC_OK && runs.variants > 0) {
        status = kvc_pairs_run(&pairs, options, diag);
    }
    if (status == KVC_OK) {
        conclude(&runs, step);
    }
    analysis->found->by_runs = true;
    analysis->found->runs_most = KVC_SENSITIVITY_RUNS_MOST;
    analysis->found->replicas = runs.replicas;
    for (uint32_t i = 0; i < runs.variants; i++) {
        kvc_scenario_free_copy(runs.variant[i]);
    }
    for (uint32_t i = 0; i < runs.count; i++) {
        free(runs.chosen[i].side[0].answer);
        free(runs.chosen[i].side[1].answer);
    }
    return status;
}
