#include "scenarios/output/verdict.h"

#include <math.h>

#include "models/forecast.h"
#include "models/price.h"
#include "scenarios/output/json_value.h"
#include "sim/workload/tenants.h"

const struct kvc_objective_kind kvc_objective_kinds[KVC_OBJECTIVES] = {
    [KVC_OBJECTIVE_P50] = {"p50", "latency_p50_us", "p50 latency", "us", false},
    [KVC_OBJECTIVE_P95] = {"p95", "latency_p95_us", "p95 latency", "us", false},
    [KVC_OBJECTIVE_P99] = {"p99", "latency_p99_us", "p99 latency", "us", false},
    [KVC_OBJECTIVE_P999] = {"p999", "latency_p999_us", "p99.9 latency", "us", false},
    [KVC_OBJECTIVE_MOPS] = {"mops", "throughput_mops", "throughput", "Mops", true},
    [KVC_OBJECTIVE_LOSS] = {"loss", "unserved_frac", "unserved requests", "", false},
    [KVC_OBJECTIVE_HIT] = {"hit", "hit_frac", "hit ratio", "", true},
    [KVC_OBJECTIVE_WATTS] = {"watts", "watts_mean", "power", "W", false},
    [KVC_OBJECTIVE_PRICE] = {"price", "price_usd", "price", "USD", false},
};

/* Returns the bound in the unit of the value; NaN: none. */
static double bound_of(const struct kvc_slo *slo, enum kvc_objective objective)
{
    switch (objective) {
    case KVC_OBJECTIVE_P50:
        return slo->p50_ns * 1e-3;
    case KVC_OBJECTIVE_P95:
        return slo->p95_ns * 1e-3;
    case KVC_OBJECTIVE_P99:
        return slo->p99_ns * 1e-3;
    case KVC_OBJECTIVE_P999:
        return slo->p999_ns * 1e-3;
    case KVC_OBJECTIVE_MOPS:
        return slo->mops;
    case KVC_OBJECTIVE_LOSS:
        return slo->loss_frac;
    case KVC_OBJECTIVE_HIT:
        return slo->hit_frac;
    case KVC_OBJECTIVE_WATTS:
        return slo->watts;
    case KVC_OBJECTIVE_PRICE:
        return slo->price_usd;
    case KVC_OBJECTIVES:
        break;
    }
    KVC_BUG("objective %d", (int)objective);
}

uint32_t kvc_slo_tenants(const struct kvc_slo *slo)
{
    return slo->workload != NULL ? slo->workload->tenant_count : 0;
}

double kvc_slo_tenant_us(const struct kvc_slo *slo, uint32_t tenant)
{
    double p99_ns = slo->workload->tenants[tenant].p99_ns;
    return p99_ns > 0 ? p99_ns * 1e-3 : NAN;
}

/* Returns whether the scenario states a bound of the first objectives, up to and including `last`, or for a
 * tenant. */
static bool bounds_up_to(const struct kvc_slo *slo, enum kvc_objective last)
{
    bool bounds =
        kvc_slo_tenants(slo) > 0 && kvc_tenants_with_objective(slo->workload) < slo->workload->tenant_count;
    for (enum kvc_objective i = 0; i <= last; i++) {
        bounds |= !isnan(bound_of(slo, i));
    }
    return bounds;
}

bool kvc_slo_bounds_windows(const struct kvc_slo *slo)
{
    return bounds_up_to(slo, KVC_OBJECTIVE_HIT);
}

double kvc_slo_bound(const struct kvc_slo *slo, enum kvc_objective objective)
{
    /* Latency and throughput are those of the requests that are served. */
    bool is_implied =
        objective == KVC_OBJECTIVE_LOSS && isnan(slo->loss_frac) && bounds_up_to(slo, KVC_OBJECTIVE_MOPS);
    return is_implied ? 0 : bound_of(slo, objective);
}

struct kvc_judged kvc_judged_of(enum kvc_objective objective, double bound, double found, double half_width)
{
    double distance = kvc_objective_kinds[objective].at_least ? found - bound : bound - found;
    return (struct kvc_judged){.objective = objective,
                               .bound = bound,
                               .found = found,
                               .half_width = half_width,
                               .state = isnan(found)   ? KVC_SLO_UNKNOWN
                                        : distance < 0 ? KVC_SLO_MISSED
                                                       : KVC_SLO_MET,
                               .is_sure = half_width == 0 || fabs(distance) > half_width,
                               .margin_frac = bound > 0 ? distance / bound : NAN};
}

struct kvc_judged kvc_judged_tenant(const struct kvc_slo *slo, uint32_t tenant,
                                    const struct kvc_interval *p99_us)
{
    double bound_us = kvc_slo_tenant_us(slo, tenant);
    struct kvc_judged judged =
        kvc_judged_of(KVC_OBJECTIVE_P99, bound_us, isnan(bound_us) ? NAN : p99_us->mean, p99_us->half_width);
    judged.tenant = slo->workload->tenants[tenant].name;
    return judged;
}

void kvc_tenant_value_name(const char *tenant, const char *value, char name[KVC_TENANT_NAME_MAX])
{
    snprintf(name, KVC_TENANT_NAME_MAX, "tenant_%s_%s", tenant, value);
}

void kvc_judged_name(const struct kvc_judged *judged, const char *value, char name[KVC_TENANT_NAME_MAX])
{
    if (judged->tenant != NULL) {
        kvc_tenant_value_name(judged->tenant, value, name);
    } else {
        snprintf(name, KVC_TENANT_NAME_MAX, "%s", value);
    }
}

/* Adds the verdict on an objective. */
static void add(struct kvc_slo_verdict *verdict, struct kvc_judged judged, bool is_stated)
{
    judged.is_stated = is_stated;
    verdict->judged[verdict->count++] = judged;
    if (judged.state == KVC_SLO_MISSED || verdict->state == KVC_SLO_MET) {
        verdict->state = judged.state;
    }
}

struct kvc_slo_verdict kvc_slo_verdict_of(const struct kvc_slo *slo, const struct kvc_slo_values *values)
{
    struct kvc_slo_verdict verdict = {.state = KVC_SLO_MET};
    for (enum kvc_objective i = 0; i < KVC_OBJECTIVES; i++) {
        double bound = kvc_slo_bound(slo, i);
        if (!isnan(bound)) {
            add(&verdict, kvc_judged_of(i, bound, values->value[i], values->half_width[i]),
                !isnan(bound_of(slo, i)));
        }
    }
    for (uint32_t i = 0; i < kvc_slo_tenants(slo); i++) {
        if (!isnan(kvc_slo_tenant_us(slo, i))) {
            add(&verdict, kvc_judged_tenant(slo, i, &values->tenant_p99_us[i]), true);
        }
    }
    if (values->window_margin_frac < 0) {
        verdict.state = KVC_SLO_MISSED;
    } else if (isnan(values->window_margin_frac) && verdict.state == KVC_SLO_MET && !isnan(slo->window_ns) &&
               kvc_slo_bounds_windows(slo)) {
        verdict.state = KVC_SLO_UNKNOWN;
    }
    return verdict;
}

/* A closed form says the hit ratio as a metric of its model, where it knows it. */
static double hit_frac(const struct kvc_outcome *outcome)
{
    double found = kvc_outcome_interval(outcome, "hit_frac").mean;
    return isnan(found) ? kvc_metrics_get(&outcome->result.model, "hit_frac") : found;
}

struct kvc_service kvc_service_of(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome)
{
    const struct kvc_workload *workload = &loaded->scenario.workload;
    struct kvc_service service = {.offered_mops = kvc_outcome_interval(outcome, "offered_mops").mean,
                                  .served_mops = kvc_outcome_interval(outcome, "throughput_mops").mean,
                                  .lost_frac = kvc_outcome_interval(outcome, "lost_frac").mean,
                                  .growth_frac = kvc_outcome_interval(outcome, "growth_frac").mean,
                                  .unserved_frac = kvc_outcome_unserved_frac(outcome)};
    service.behind_frac = service.growth_frac;
    if (!outcome->result.has_histogram) { /* A closed form. */
        double rate_mops = kvc_workload_rate_max_mops(workload);
        service.unserved_frac = kvc_forecast_unserved_frac(workload, service.served_mops);
        service.behind_frac = service.unserved_frac;
        service.offered_mops = isnan(service.unserved_frac) ? NAN : rate_mops;
    }
    if (kvc_workload_clients_wait(workload)) {
        service.offered_mops = NAN;
    }
    return service;
}

/* Returns half the width of the interval of the share that is not served, at most: lost requests and the
 * growth of the backlog may err together. A backlog that does not grow has passed a test of its own. */
static double unserved_half_width(const struct kvc_outcome *outcome)
{
    struct kvc_interval growth = kvc_outcome_interval(outcome, "growth_frac");
    return kvc_outcome_interval(outcome, "lost_frac").half_width + (growth.mean > 0 ? growth.half_width : 0);
}

/* Returns half the width of the interval of an objective's value. */
static double half_width(const struct kvc_outcome *outcome, enum kvc_objective objective)
{
    static const char *const names[KVC_OBJECTIVES] = {
        [KVC_OBJECTIVE_P50] = "latency_p50_us",   [KVC_OBJECTIVE_P95] = "latency_p95_us",
        [KVC_OBJECTIVE_P99] = "latency_p99_us",   [KVC_OBJECTIVE_P999] = "latency_p99.9_us",
        [KVC_OBJECTIVE_MOPS] = "throughput_mops", [KVC_OBJECTIVE_HIT] = "hit_frac",
        [KVC_OBJECTIVE_WATTS] = "watts_mean",
    };
    if (objective == KVC_OBJECTIVE_LOSS) {
        return unserved_half_width(outcome);
    }
    return names[objective] != NULL ? kvc_outcome_wide_interval(outcome, names[objective]).half_width
                                    : 0; /* A price is exact. */
}

struct kvc_slo_values kvc_slo_values_of(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    const struct kvc_price price = kvc_scenario_price(&loaded->scenario);
    struct kvc_slo_values values = {
        .value =
            {
                [KVC_OBJECTIVE_P50] = kvc_result_latency_percentile_us(result, 0.5),
                [KVC_OBJECTIVE_P95] = kvc_result_latency_percentile_us(result, 0.95),
                [KVC_OBJECTIVE_P99] = kvc_result_latency_percentile_us(result, 0.99),
                [KVC_OBJECTIVE_P999] = kvc_result_latency_percentile_us(result, 0.999),
                [KVC_OBJECTIVE_MOPS] = kvc_outcome_interval(outcome, "throughput_mops").mean,
                [KVC_OBJECTIVE_LOSS] = kvc_service_of(loaded, outcome).unserved_frac,
                [KVC_OBJECTIVE_HIT] = hit_frac(outcome),
                [KVC_OBJECTIVE_WATTS] = kvc_outcome_whole_watts(outcome),
                [KVC_OBJECTIVE_PRICE] = kvc_price_whole_usd(&price),
            },
        .window_margin_frac = NAN};
    for (enum kvc_objective i = 0; i < KVC_OBJECTIVES; i++) {
        values.half_width[i] = half_width(outcome, i);
    }
    for (uint32_t i = 0; i < KVC_TENANTS_MAX; i++) {
        char name[KVC_NAME_MAX];
        snprintf(name, sizeof(name), "tenants.%u.latency_p99_us", i + 1);
        values.tenant_p99_us[i] = kvc_outcome_interval(outcome, name);
    }
    return values;
}

static json_t *state_json(enum kvc_slo_state state)
{
    return state == KVC_SLO_UNKNOWN ? json_null() : json_boolean(state == KVC_SLO_MET);
}

json_t *kvc_slo_verdict_json(const struct kvc_slo_verdict *verdict)
{
    if (verdict->count == 0) {
        return NULL;
    }
    json_t *object = json_object(), *objectives = json_array();
    for (uint32_t i = 0; i < verdict->count; i++) {
        const struct kvc_judged *judged = &verdict->judged[i];
        const struct kvc_objective_kind *kind = &kvc_objective_kinds[judged->objective];
        char name[KVC_TENANT_NAME_MAX];
        json_t *entry = json_object();
        kvc_judged_name(judged, kind->name, name);
        json_object_set_new(entry, "name", kvc_json_text(name));
        json_object_set_new(entry, kind->at_least ? "at_least" : "at_most", kvc_json_number(judged->bound));
        json_object_set_new(entry, "found", kvc_json_number(judged->found));
        json_object_set_new(entry, "met", state_json(judged->state));
        json_object_set_new(entry, "margin_frac", kvc_json_number(judged->margin_frac));
        json_object_set_new(entry, "ci95", kvc_json_number(judged->half_width));
        json_object_set_new(entry, "sure", json_boolean(judged->is_sure));
        json_array_append_new(objectives, entry);
    }
    json_object_set_new(object, "met", state_json(verdict->state));
    json_object_set_new(object, "objectives", objectives);
    return object;
}

/* Writes " of web" for a tenant's objective. */
static void write_tenant(const struct kvc_judged *judged, FILE *out)
{
    if (judged->tenant != NULL) {
        fprintf(out, " of %s", judged->tenant);
    }
}

/* Writes the verdict on a known value, and how sure it is. */
static void write_judged(const struct kvc_judged *judged, const struct kvc_objective_kind *kind, FILE *out)
{
    const char *space = kind->unit[0] != '\0' ? " " : "";
    fprintf(out, "%s: %s", judged->state == KVC_SLO_MET ? "met" : "missed", kind->label);
    write_tenant(judged, out);
    fprintf(out, " %.6g", judged->found);
    if (judged->half_width > 0) {
        fprintf(out, " +- %.3g", judged->half_width);
    }
    fprintf(out, "%s%s, %s %.6g%s%s", space, kind->unit, kind->at_least ? "at least" : "at most",
            judged->bound, space, kind->unit);
    if (!isnan(judged->margin_frac)) {
        fprintf(out, ", margin %.1f %%", 100 * judged->margin_frac);
    }
    if (isnan(judged->half_width)) {
        fputs(", without an interval", out);
    } else if (!judged->is_sure) {
        fputs(", not sure: the bound lies in the interval", out);
    }
}

/* Returns whether a line is written for the verdict on an objective. */
static bool is_shown(const struct kvc_judged *judged)
{
    return judged->is_stated || judged->state != KVC_SLO_MET;
}

/* Writes the verdict on all objectives, unless the only line that follows says it. Returns whether it did. */
static bool write_summary(const struct kvc_slo_verdict *verdict, const char *warn, const char *plain,
                          FILE *out)
{
    static const char *const words[] = {
        [KVC_SLO_UNKNOWN] = "unknown", [KVC_SLO_MET] = "met", [KVC_SLO_MISSED] = "missed"};
    uint32_t shown = 0, alike = 0, unsure = 0;
    for (uint32_t i = 0; i < verdict->count; i++) {
        const struct kvc_judged *judged = &verdict->judged[i];
        shown += is_shown(judged);
        alike += is_shown(judged) && judged->state == verdict->state;
        unsure += is_shown(judged) && judged->state != KVC_SLO_UNKNOWN && !judged->is_sure;
    }
    if (shown == 1 && alike == 1) {
        return false;
    }
    fprintf(out, "%s%s: ", verdict->state == KVC_SLO_MET ? "" : warn, words[verdict->state]);
    if (alike == 0) {
        fputs("in the worst window", out);
    } else {
        fprintf(out, verdict->state == KVC_SLO_MET ? "all %u objectives" : "%u of %u objectives", alike,
                shown);
    }
    if (unsure > 0) {
        fprintf(out, ", not sure of %u", unsure);
    }
    fprintf(out, "%s\n", verdict->state == KVC_SLO_MET ? "" : plain);
    return true;
}

void kvc_slo_verdict_write(const struct kvc_slo_verdict *verdict, const char *heading, const char *warn,
                           const char *plain, FILE *out)
{
    bool is_first = true;
    if (verdict->count > 0) {
        fprintf(out, "%-14s", heading);
        is_first = !write_summary(verdict, warn, plain, out);
    }
    for (uint32_t i = 0; i < verdict->count; i++) {
        const struct kvc_judged *judged = &verdict->judged[i];
        const struct kvc_objective_kind *kind = &kvc_objective_kinds[judged->objective];
        bool met = judged->state == KVC_SLO_MET;
        const char *space = kind->unit[0] != '\0' ? " " : "";
        if (!is_shown(judged)) {
            continue;
        }
        fprintf(out, "%*s%s", is_first ? 0 : 14, "", met ? "" : warn);
        is_first = false;
        if (judged->state == KVC_SLO_UNKNOWN) {
            fprintf(out, "unknown: this answer has no %s%s",
                    judged->objective >= KVC_OBJECTIVE_WATTS ? "complete " : "", kind->label);
            write_tenant(judged, out);
            fprintf(out, ", %s %.6g%s%s", kind->at_least ? "at least" : "at most", judged->bound, space,
                    kind->unit);
        } else {
            write_judged(judged, kind, out);
        }
        fprintf(out, "%s\n", met ? "" : plain);
    }
}
