#include "scenarios/output/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/metrics/merge.h"

/* Returns the number of lists of values. */
static uint32_t lists(const struct kvc_outcome *outcome)
{
    return outcome->replicas > 0 ? outcome->replicas : 1;
}

void kvc_outcome_free(struct kvc_outcome *outcome)
{
    if (outcome == NULL) {
        return;
    }
    for (uint32_t i = 0; i < lists(outcome); i++) {
        kvc_values_free(&outcome->values[i]);
        free(outcome->spans[i]);
    }
    free(outcome->spans);
    free(outcome->values);
    free(outcome->node);
    free(outcome->node_warmup_s);
    free(outcome);
}

struct kvc_outcome *kvc_outcome_create(uint32_t replicas)
{
    struct kvc_outcome *outcome = kvc_array_of(1, sizeof(*outcome));
    outcome->replicas = replicas;
    outcome->values = kvc_array_of(lists(outcome), sizeof(*outcome->values));
    outcome->spans = kvc_array_of(lists(outcome), sizeof(*outcome->spans));
    return outcome;
}

void kvc_outcome_take(struct kvc_outcome *outcome, uint32_t replica, const struct kvc_result *result)
{
    kvc_result_merge(&outcome->result, result, outcome->replicas);
    kvc_values_of(result, &outcome->values[replica]);
    if (result->spans.count > 0) {
        outcome->spans[replica] = kvc_array_of(1, sizeof(**outcome->spans));
        *outcome->spans[replica] = result->spans;
    }
}

void kvc_outcome_close(struct kvc_outcome *outcome)
{
    kvc_values_of(&outcome->result, &outcome->values[0]);
}

double kvc_outcome_value(const struct kvc_outcome *outcome, uint32_t replica, const char *name)
{
    return kvc_values_get(&outcome->values[replica], name, -1);
}

double kvc_outcome_whole_watts(const struct kvc_outcome *outcome)
{
    return outcome->result.watts_missing[0] == '\0' ? kvc_outcome_interval(outcome, "watts_mean").mean : NAN;
}

double kvc_unserved_frac(double lost_frac, double growth_frac)
{
    double unserved_frac = (isnan(lost_frac) ? 0 : lost_frac) + growth_frac;
    return unserved_frac > 1 ? 1 : unserved_frac;
}

double kvc_outcome_unserved_frac(const struct kvc_outcome *outcome)
{
    return kvc_unserved_frac(kvc_outcome_interval(outcome, "lost_frac").mean,
                             kvc_outcome_interval(outcome, "growth_frac").mean);
}

enum kvc_interval_source kvc_outcome_intervals(const struct kvc_outcome *outcome, uint32_t *count)
{
    *count = outcome->replicas;
    if (outcome->replicas > 1) {
        return KVC_INTERVALS_OF_REPLICAS;
    }
    *count = outcome->result.batch_means_count > 0 && !outcome->result.moves
                 ? outcome->result.batch_means[0].count
                 : 0;
    return *count >= KVC_BATCHES_MIN ? KVC_INTERVALS_OF_BATCHES : KVC_INTERVALS_UNKNOWN;
}

static struct kvc_interval over_replicas(const struct kvc_outcome *outcome, const char *name)
{
    int64_t at = kvc_values_find(&outcome->values[0], name);
    const char *full = at >= 0 ? outcome->values[0].value[at].name : name;
    double *value = kvc_array_of(outcome->replicas, sizeof(*value));
    for (uint32_t i = 0; i < outcome->replicas; i++) {
        value[i] = kvc_values_get(&outcome->values[i], full, at);
    }
    struct kvc_interval interval = kvc_interval_of(value, outcome->replicas);
    free(value);
    return interval;
}

struct kvc_interval kvc_outcome_interval(const struct kvc_outcome *outcome, const char *name)
{
    if (outcome->replicas > 1) {
        return over_replicas(outcome, name);
    }
    double value = kvc_outcome_value(outcome, 0, name);
    bool has_none = isnan(value) || outcome->result.moves;
    return (struct kvc_interval){value, has_none ? NAN : kvc_result_half_width(&outcome->result, name)};
}

struct kvc_interval kvc_outcome_wide_interval(const struct kvc_outcome *outcome, const char *name)
{
    struct kvc_interval interval = kvc_outcome_interval(outcome, name);
    double off_frac = kvc_metrics_get(&outcome->result.model, kvc_extrapolated_name);
    bool is_concerned = strcmp(name, "throughput_mops") == 0 || strcmp(name, "kops_per_watt") == 0 ||
                        strncmp(name, "latency_", strlen("latency_")) == 0;
    if (is_concerned && !isnan(off_frac)) {
        interval.half_width = fmax(interval.half_width, 0) + off_frac * interval.mean;
    }
    return interval;
}
