#include "sim/metrics/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

const double kvc_percentiles[KVC_PERCENTILES] = {0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};

void kvc_percentile_name(double p, char name[KVC_NAME_MAX])
{
    snprintf(name, KVC_NAME_MAX, "latency_p%.6g_us", 100 * p);
}

void kvc_values_free(struct kvc_values *values)
{
    free(values->value);
    *values = (struct kvc_values){0};
}

void kvc_value_name(const char *group, const char *entry, const char *name, char full[KVC_VALUE_NAME_MAX])
{
    snprintf(full, KVC_VALUE_NAME_MAX, "%s%s%s%s%.63s", group != NULL ? group : "", group != NULL ? "." : "",
             entry != NULL ? entry : "", entry != NULL ? "." : "", name);
}

static void add(struct kvc_values *values, const char *group, const char *entry, const char *name,
                double value)
{
    if (values->count == values->room) {
        values->room = values->room > 0 ? 2 * values->room : 128;
        values->value = kvc_array_grown(values->value, values->room, sizeof(*values->value));
    }
    struct kvc_value *added = &values->value[values->count++];
    kvc_value_name(group, entry, name, added->name);
    added->value = value;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static void add_latency(const struct kvc_result *result, struct kvc_values *values)
{
    const struct kvc_histogram *histogram = &result->latency;
    bool empty = histogram->count == 0;
    char name[KVC_NAME_MAX];
    if (!result->has_histogram) {
        add(values, NULL, NULL, "latency_mean_us", result->predicted.mean_us);
        for (int i = 0; i < KVC_PERCENTILES; i++) {
            double us = kvc_result_latency_percentile_us(result, kvc_percentiles[i]);
            kvc_percentile_name(kvc_percentiles[i], name);
            if (!isnan(us)) {
                add(values, NULL, NULL, name, us);
            }
        }
        return;
    }
    add(values, NULL, NULL, "latency_mean_us", kvc_histogram_mean_ns(histogram) * 1e-3);
    add(values, NULL, NULL, "latency_min_us", empty ? NAN : histogram->min_ns * 1e-3);
    add(values, NULL, NULL, "latency_max_us", empty ? NAN : histogram->max_ns * 1e-3);
    for (int i = 0; i < KVC_PERCENTILES; i++) {
        kvc_percentile_name(kvc_percentiles[i], name);
        add(values, NULL, NULL, name, kvc_histogram_percentile_ns(histogram, kvc_percentiles[i]) * 1e-3);
    }
}

static void add_metrics(const char *group, const struct kvc_metrics *metrics, struct kvc_values *values)
{
    for (uint32_t i = 0; i < metrics->count; i++) {
        add(values, group, NULL, metrics->entry[i].name, metrics->entry[i].value);
    }
}

void kvc_values_of(const struct kvc_result *result, struct kvc_values *values)
{
    bool timed = result->simulated_s > 0; /* A prediction has rates, but neither requests nor energy. */
    double offered = (double)result->offered, watts = result->watts_mean > 0 ? result->watts_mean : NAN;
    add(values, NULL, NULL, "throughput_mops", result->throughput_mops);
    add(values, NULL, NULL, "offered_mops", timed ? offered * 1e-6 / result->simulated_s : NAN);
    add(values, NULL, NULL, "lost_frac", ratio((double)result->dropped, offered));
    add(values, NULL, NULL, "growth_frac", timed ? result->growth_frac : NAN);
    add(values, NULL, NULL, "hit_frac", ratio((double)result->hits, (double)(result->hits + result->misses)));
    add_latency(result, values);
    add(values, NULL, NULL, "watts_mean", watts);
    add(values, NULL, NULL, "joules", timed && watts > 0 ? result->joules : NAN);
    add(values, NULL, NULL, "kops_per_watt",
        result->watts_missing[0] != '\0' ? NAN : result->throughput_mops * 1e3 / watts);
    add(values, NULL, NULL, "warmup_s", timed ? result->warmup_s : NAN);
    for (uint32_t i = 0; i < result->tenant_count; i++) {
        const struct kvc_tenant_result *tenant = &result->tenant[i];
        char number[KVC_NAME_MAX];
        snprintf(number, sizeof(number), "%u", i + 1);
        add(values, "tenants", number, "throughput_mops", tenant->throughput_mops);
        add(values, "tenants", number, "hit_frac", tenant->hit_frac);
        add(values, "tenants", number, "latency_mean_us", tenant->latency.mean_us);
        add(values, "tenants", number, "latency_p50_us", tenant->latency.p50_us);
        add(values, "tenants", number, "latency_p95_us", tenant->latency.p95_us);
        add(values, "tenants", number, "latency_p99_us", tenant->latency.p99_us);
        add(values, "tenants", number, "latency_p999_us", tenant->latency.p999_us);
    }
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct kvc_stage_result *stage = &result->stage[i];
        add(values, "stages", stage->name, "utilization_frac", stage->utilization_frac);
        add(values, "stages", stage->name, "mean_us", stage->mean_us);
        add(values, "stages", stage->name, "waiting_requests", stage->waiting_requests);
        add(values, "stages", stage->name, "wait_us", stage->wait_us);
    }
    for (uint32_t i = 0; i < result->device_count; i++) {
        const struct kvc_device_result *device = &result->device[i];
        add(values, "devices", device->name, "utilization_frac", device->utilization_frac);
        add(values, "devices", device->name, "watts_mean", device->watts_mean);
        add(values, "devices", device->name, "joules", device->joules);
    }
    add_metrics("kernel", &result->kernel, values);
    add_metrics("model", &result->model, values);
}

/* Finds the value "PREFIXNAME". */
static int64_t find(const struct kvc_values *values, const char *prefix, const char *name)
{
    size_t length = strlen(prefix);
    for (uint32_t i = 0; i < values->count; i++) {
        const char *found = values->value[i].name;
        if (strncmp(found, prefix, length) == 0 && strcmp(found + length, name) == 0) {
            return i;
        }
    }
    return -1;
}

int64_t kvc_values_find(const struct kvc_values *values, const char *name)
{
    static const char *const prefixes[] = {"", "model.", "kernel."};
    int64_t at = -1;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes) && at < 0; i++) {
        at = find(values, prefixes[i], name);
    }
    return at;
}

double kvc_values_get(const struct kvc_values *values, const char *name, int64_t hint)
{
    bool hit = hint >= 0 && hint < values->count && strcmp(values->value[hint].name, name) == 0;
    int64_t at = hit ? hint : kvc_values_find(values, name);
    return at >= 0 ? values->value[at].value : NAN;
}
