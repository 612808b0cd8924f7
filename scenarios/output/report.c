#include "scenarios/output/report.h"

#include <math.h>
#include <string.h>

#include "scenarios/output/json_value.h"
#include "scenarios/output/verdict.h"
#include "sim/workload/tenants.h"

bool kvc_report_is_forecast(const struct kvc_report *report, struct kvc_accuracy_kind *kind)
{
    bool is_predicted = strcmp(report->command, "predict") == 0;
    *kind = kvc_accuracy_kind_of(report->loaded,
                                 is_predicted ? KVC_ACCURACY_CLOSED_FORM : KVC_ACCURACY_SIMULATION, false);
    return strcmp(report->command, "measure") != 0;
}

static json_t *node_document(const struct kvc_node_result *node)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", kvc_json_text(node->name));
    json_object_set_new(object, "class", kvc_json_text(node->class));
    json_object_set_new(object, "keys_frac", kvc_json_number(node->key_frac));
    json_object_set_new(object, "requests_frac", kvc_json_number(node->request_frac));
    json_object_set_new(object, "throughput_mops", kvc_json_number(node->throughput_mops));
    json_object_set_new(object, "offered", kvc_json_number(node->offered));
    json_object_set_new(object, "dropped", kvc_json_number(node->dropped));
    json_object_set_new(object, "hit_frac", kvc_json_number(node->hit_frac));
    json_object_set_new(object, "latency_mean_us", kvc_json_number(node->latency_mean_us));
    json_object_set_new(object, "latency_p50_us", kvc_json_number(node->latency_p50_us));
    json_object_set_new(object, "latency_p99_us", kvc_json_number(node->latency_p99_us));
    json_object_set_new(object, "utilization_frac", kvc_json_number(node->utilization_frac));
    json_object_set_new(object, "busiest_stage", kvc_json_text_or_null(node->stage));
    json_object_set_new(object, "watts_mean", kvc_json_number(node->watts_mean > 0 ? node->watts_mean : NAN));
    return object;
}

json_t *kvc_json_nodes(const struct kvc_outcome *outcome)
{
    json_t *object = json_object(), *nodes = json_array();
    for (uint32_t i = 0; i < outcome->node_count; i++) {
        json_array_append_new(nodes, node_document(&outcome->node[i]));
    }
    json_object_set_new(object, "nodes", nodes);
    return object;
}

static void write_row(const char *label, const struct kvc_node_result *node, FILE *out)
{
    fprintf(out, "%-26s%8.2f %%%8.2f %%%11.4g%10.4g%10.4g%9.1f %%  %s\n", label, 100 * node->key_frac,
            100 * node->request_frac, node->throughput_mops, node->latency_mean_us, node->latency_p99_us,
            100 * node->utilization_frac, node->stage);
}

/* Returns the node for which the value is largest. NaN is smaller than all. */
static const struct kvc_node_result *most(const struct kvc_outcome *outcome,
                                          double (*value)(const struct kvc_node_result *node))
{
    const struct kvc_node_result *found = &outcome->node[0];
    for (uint32_t i = 1; i < outcome->node_count; i++) {
        const struct kvc_node_result *node = &outcome->node[i];
        if (value(node) > value(found) || (isnan(value(found)) && !isnan(value(node)))) {
            found = node;
        }
    }
    return found;
}

static double requests(const struct kvc_node_result *node)
{
    return node->request_frac;
}

static double p99(const struct kvc_node_result *node)
{
    return node->latency_p99_us;
}

static double utilization(const struct kvc_node_result *node)
{
    return node->utilization_frac;
}

/* Writes the means over the nodes of a class whose first node this is. */
static void write_class(const struct kvc_outcome *outcome, uint32_t first, FILE *out)
{
    struct kvc_node_result mean = {0};
    char label[2 * KVC_NAME_MAX];
    uint32_t nodes = 0;
    for (uint32_t i = first; i < outcome->node_count; i++) {
        nodes += strcmp(outcome->node[i].class, outcome->node[first].class) == 0;
    }
    for (uint32_t i = first; i < outcome->node_count; i++) {
        if (strcmp(outcome->node[i].class, outcome->node[first].class) == 0) {
            kvc_node_result_add(&mean, &outcome->node[i], nodes);
        }
    }
    snprintf(label, sizeof(label), "mean of %u %.14s%s", nodes, mean.class, nodes > 1 ? "s" : "");
    mean.stage[0] = '\0';
    write_row(label, &mean, out);
}

static bool is_first_of_class(const struct kvc_outcome *outcome, uint32_t node)
{
    for (uint32_t i = 0; i < node; i++) {
        if (strcmp(outcome->node[i].class, outcome->node[node].class) == 0) {
            return false;
        }
    }
    return true;
}

void kvc_table_write_nodes(const struct kvc_outcome *outcome, const char *bold, const char *plain, FILE *out)
{
    static const struct {
        const char *label;
        double (*value)(const struct kvc_node_result *node);
    } outstanding[] = {{"hottest", requests}, {"slowest", p99}, {"busiest", utilization}};
    char label[2 * KVC_NAME_MAX];
    if (outcome->node_count == 0) {
        return;
    }
    fprintf(out, "\n%s%-26s%10s%10s%11s%10s%10s%11s%s\n", bold, "nodes", "keys", "requests", "Mops",
            "mean us", "p99 us", "busy", plain);
    for (size_t i = 0; i < sizeof(outstanding) / sizeof(*outstanding); i++) {
        const struct kvc_node_result *node = most(outcome, outstanding[i].value);
        snprintf(label, sizeof(label), "%s: %s", outstanding[i].label, node->name);
        write_row(label, node, out);
    }
    for (uint32_t i = 0; i < outcome->node_count; i++) {
        if (is_first_of_class(outcome, i)) {
            write_class(outcome, i, out);
        }
    }
}

/* ---- tenants ---- */

/* Returns whether a tenant's objective is met; unknown without an objective or a latency. */
static enum kvc_slo_state tenant_state(const struct kvc_report *report, uint32_t tenant)
{
    const struct kvc_interval p99_us = {report->outcome->result.tenant[tenant].latency.p99_us, NAN};
    return kvc_judged_tenant(&report->loaded->slo, tenant, &p99_us).state;
}

/* Adds a value of a tenant and half the width of its interval, whose key has ci95 before the unit. */
static void set_value(json_t *object, const char *key, const struct kvc_outcome *outcome, uint32_t tenant,
                      double value)
{
    char number[KVC_NAME_MAX], name[KVC_VALUE_NAME_MAX], half_key[KVC_NAME_MAX];
    const char *unit = strrchr(key, '_');
    snprintf(number, sizeof(number), "%u", tenant + 1);
    kvc_value_name("tenants", number, key, name);
    snprintf(half_key, sizeof(half_key), "%.*s_ci95%.16s", (int)(unit - key), key, unit);
    json_object_set_new(object, key, kvc_json_number(value));
    json_object_set_new(object, half_key, kvc_json_number(kvc_outcome_interval(outcome, name).half_width));
}

/* Returns the rate at which a tenant's requests were sent in the measured time, its share of all that were
 * [million/s]. */
static double tenant_offered_mops(const struct kvc_report *report, uint32_t tenant)
{
    return kvc_service_of(report->loaded, report->outcome).offered_mops *
           kvc_workload_tenant_share(&report->loaded->scenario.workload, tenant);
}

json_t *kvc_json_tenants(const struct kvc_report *report)
{
    const struct kvc_workload *workload = &report->loaded->scenario.workload;
    const struct kvc_outcome *outcome = report->outcome;
    json_t *tenants = json_array();
    for (uint32_t i = 0; i < outcome->result.tenant_count; i++) {
        const struct kvc_tenant *tenant = &workload->tenants[i];
        const struct kvc_tenant_result *result = &outcome->result.tenant[i];
        enum kvc_slo_state state = tenant_state(report, i);
        json_t *object = json_object();
        json_object_set_new(object, "name", kvc_json_text(tenant->name));
        json_object_set_new(object, "offered_mops", kvc_json_number(tenant_offered_mops(report, i)));
        set_value(object, "throughput_mops", outcome, i, result->throughput_mops);
        set_value(object, "hit_frac", outcome, i, result->hit_frac);
        set_value(object, "latency_mean_us", outcome, i, result->latency.mean_us);
        set_value(object, "latency_p50_us", outcome, i, result->latency.p50_us);
        set_value(object, "latency_p95_us", outcome, i, result->latency.p95_us);
        set_value(object, "latency_p99_us", outcome, i, result->latency.p99_us);
        set_value(object, "latency_p999_us", outcome, i, result->latency.p999_us);
        json_object_set_new(object, "p99_at_most_us",
                            kvc_json_number(tenant->p99_ns > 0 ? tenant->p99_ns * 1e-3 : NAN));
        json_object_set_new(object, "met",
                            state == KVC_SLO_UNKNOWN ? json_null() : json_boolean(state == KVC_SLO_MET));
        json_array_append_new(tenants, object);
    }
    return tenants;
}

void kvc_table_write_tenants(const struct kvc_report *report, const char *bold, const char *plain, FILE *out)
{
    const struct kvc_workload *workload = &report->loaded->scenario.workload;
    const struct kvc_result *result = &report->outcome->result;
    if (result->tenant_count == 0) {
        return;
    }
    fprintf(out, "\n%s%-14s%13s%10s%11s%10s%10s%10s%10s  %s%s\n", bold, "tenant", "offered Mops", "Mops",
            "hits", "mean us", "p50 us", "p99 us", "p99.9 us", "objective", plain);
    for (uint32_t i = 0; i < result->tenant_count; i++) {
        const struct kvc_tenant *tenant = &workload->tenants[i];
        const struct kvc_tenant_result *found = &result->tenant[i];
        const struct kvc_latencies *latency = &found->latency;
        enum kvc_slo_state state = tenant_state(report, i);
        fprintf(out, "%-14s%13.4g%10.4g%9.2f %%%10.4g%10.4g%10.4g%10.4g  ", tenant->name,
                tenant_offered_mops(report, i), found->throughput_mops, 100 * found->hit_frac,
                latency->mean_us, latency->p50_us, latency->p99_us, latency->p999_us);
        if (state == KVC_SLO_UNKNOWN) {
            fputs("none\n", out);
        } else {
            fprintf(out, "%s: p99 at most %.6g us\n", state == KVC_SLO_MET ? "met" : "missed",
                    tenant->p99_ns * 1e-3);
        }
    }
}
