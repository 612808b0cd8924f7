#include "scenarios/explore/sweep/row.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/price.h"
#include "scenarios/output/windows.h"

const struct kvc_row_kind kvc_row_kinds[KVC_ROW_COLUMNS] = {
    [KVC_ROW_THROUGHPUT] = {"throughput_mops", false},
    [KVC_ROW_THROUGHPUT_CI95] = {"throughput_ci95_mops", true},
    [KVC_ROW_OFFERED] = {"offered_mops", false},
    [KVC_ROW_OFFERED_CI95] = {"offered_ci95_mops", true},
    [KVC_ROW_LOST] = {"lost_frac", true},
    [KVC_ROW_LOST_CI95] = {"lost_ci95_frac", true},
    [KVC_ROW_UNSERVED] = {"unserved_frac", false},
    [KVC_ROW_HIT] = {"hit_frac", false},
    [KVC_ROW_HIT_CI95] = {"hit_ci95_frac", true},
    [KVC_ROW_MEAN] = {"latency_mean_us", false},
    [KVC_ROW_MEAN_CI95] = {"latency_mean_ci95_us", true},
    [KVC_ROW_P50] = {"latency_p50_us", false},
    [KVC_ROW_P50_CI95] = {"latency_p50_ci95_us", true},
    [KVC_ROW_P95] = {"latency_p95_us", false},
    [KVC_ROW_P95_CI95] = {"latency_p95_ci95_us", true},
    [KVC_ROW_P99] = {"latency_p99_us", false},
    [KVC_ROW_P99_CI95] = {"latency_p99_ci95_us", true},
    [KVC_ROW_P999] = {"latency_p999_us", false},
    [KVC_ROW_P999_CI95] = {"latency_p999_ci95_us", true},
    [KVC_ROW_COMPLETED] = {"completed", true},
    [KVC_ROW_DROPPED] = {"dropped", true},
    [KVC_ROW_UTILIZATION] = {"bottleneck_utilization_frac", false},
    [KVC_ROW_WATTS] = {"watts_mean", false},
    [KVC_ROW_WATTS_CI95] = {"watts_mean_ci95", true},
    [KVC_ROW_KOPS_PER_WATT] = {"kops_per_watt", false},
    [KVC_ROW_KOPS_PER_WATT_CI95] = {"kops_per_watt_ci95", true},
    [KVC_ROW_WINDOW] = {"worst_window_margin_frac", true},
    [KVC_ROW_PRICE] = {"price_usd", false},
    [KVC_ROW_NODES] = {"nodes", false},
};

/* In pairs of a value and half the width of its interval. */
static const char *const tenant_columns[KVC_ROW_TENANT_COLUMNS] = {
    "throughput_mops", "throughput_ci95_mops", "hit_frac",       "hit_ci95_frac",
    "latency_mean_us", "latency_mean_ci95_us", "latency_p50_us", "latency_p50_ci95_us",
    "latency_p95_us",  "latency_p95_ci95_us",  "latency_p99_us", "latency_p99_ci95_us",
    "latency_p999_us", "latency_p999_ci95_us",
};
enum { TENANT_P99 = 10 /* "latency_p99_us" */ };

void kvc_row_tenant_name(const struct kvc_tenant *tenant, int column, char name[KVC_TENANT_NAME_MAX])
{
    kvc_tenant_value_name(tenant->name, tenant_columns[column], name);
}

const char *const kvc_row_groups[] = {"stage", "kernel", "model", NULL};

static void set_interval(struct kvc_row *row, enum kvc_row_column column, struct kvc_interval interval)
{
    row->number[column] = interval.mean;
    row->number[column + 1] = interval.half_width;
}

static void set_percentile(struct kvc_row *row, enum kvc_row_column column, const struct kvc_outcome *outcome,
                           double p)
{
    const struct kvc_result *result = &outcome->result;
    char name[KVC_NAME_MAX];
    kvc_percentile_name(p, name);
    if (result->has_histogram && result->latency.count > 0) {
        row->number[column] = kvc_histogram_percentile_ns(&result->latency, p) * 1e-3;
        row->number[column + 1] = kvc_outcome_wide_interval(outcome, name).half_width;
    }
}

/* Returns the utilization of the stage that is the bottleneck, or of the busiest stage if the load is the
 * limit. */
static double bottleneck_utilization_frac(const struct kvc_result *result)
{
    double found = NAN, busiest = NAN;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct kvc_stage_result *stage = &result->stage[i];
        busiest = fmax(busiest, stage->utilization_frac);
        if (strcmp(stage->name, result->bottleneck_stage) == 0) {
            found = stage->utilization_frac;
        }
    }
    return isnan(found) ? busiest : found;
}

static void clear(struct kvc_row *row)
{
    memset(row, 0, offsetof(struct kvc_row, tenant));
    for (int i = 0; i < KVC_ROW_COLUMNS; i++) {
        row->number[i] = NAN;
    }
}

/* Copies a list of devices with semicolons, so that a cell of a CSV file has no comma. */
static void copy_missing(const char missing[KVC_MISSING_BYTES], char copy[KVC_MISSING_BYTES])
{
    for (int i = 0; i < KVC_MISSING_BYTES; i++) {
        copy[i] = missing[i] == ',' ? ';' : missing[i];
    }
}

static void set_tenants(struct kvc_row *row, const struct kvc_outcome *outcome)
{
    char name[KVC_NAME_MAX];
    row->tenants = outcome->result.tenant_count;
    for (uint32_t i = 0; i < row->tenants; i++) {
        for (int k = 0; k < KVC_ROW_TENANT_COLUMNS; k += 2) {
            snprintf(name, sizeof(name), "tenants.%u.%s", i + 1, tenant_columns[k]);
            struct kvc_interval interval = kvc_outcome_wide_interval(outcome, name);
            row->tenant[i][k] = interval.mean;
            row->tenant[i][k + 1] = interval.half_width;
        }
    }
}

void kvc_row_of_outcome(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome,
                        struct kvc_row *row)
{
    const struct kvc_result *result = &outcome->result;
    const struct kvc_price price = kvc_scenario_price(&loaded->scenario);
    clear(row);
    set_interval(row, KVC_ROW_THROUGHPUT, kvc_outcome_wide_interval(outcome, "throughput_mops"));
    set_interval(row, KVC_ROW_OFFERED, kvc_outcome_wide_interval(outcome, "offered_mops"));
    set_interval(row, KVC_ROW_LOST, kvc_outcome_wide_interval(outcome, "lost_frac"));
    row->number[KVC_ROW_UNSERVED] = kvc_service_of(loaded, outcome).unserved_frac;
    set_interval(row, KVC_ROW_HIT, kvc_outcome_wide_interval(outcome, "hit_frac"));
    if (result->has_histogram && result->latency.count > 0) {
        row->number[KVC_ROW_MEAN] = kvc_histogram_mean_ns(&result->latency) * 1e-3;
        row->number[KVC_ROW_MEAN_CI95] = kvc_outcome_wide_interval(outcome, "latency_mean_us").half_width;
    }
    set_percentile(row, KVC_ROW_P50, outcome, 0.5);
    set_percentile(row, KVC_ROW_P95, outcome, 0.95);
    set_percentile(row, KVC_ROW_P99, outcome, 0.99);
    set_percentile(row, KVC_ROW_P999, outcome, 0.999);
    row->number[KVC_ROW_COMPLETED] = (double)result->completed;
    row->number[KVC_ROW_DROPPED] = (double)result->dropped;
    row->number[KVC_ROW_UTILIZATION] = bottleneck_utilization_frac(result);
    if (result->watts_missing[0] == '\0') {
        set_interval(row, KVC_ROW_WATTS, kvc_outcome_wide_interval(outcome, "watts_mean"));
        set_interval(row, KVC_ROW_KOPS_PER_WATT, kvc_outcome_wide_interval(outcome, "kops_per_watt"));
    }
    copy_missing(result->watts_missing, row->watts_missing);
    row->number[KVC_ROW_PRICE] = kvc_price_whole_usd(&price);
    copy_missing(price.missing, row->price_missing);
    row->number[KVC_ROW_WINDOW] = kvc_slo_windows_of(loaded, outcome).margin_frac;
    row->number[KVC_ROW_NODES] = (double)loaded->scenario.cluster.nodes;
    set_tenants(row, outcome);
    snprintf(row->bottleneck_stage, sizeof(row->bottleneck_stage), "%s", result->bottleneck_stage);
    snprintf(row->bottleneck_device, sizeof(row->bottleneck_device), "%s", result->bottleneck_device);
}

void kvc_row_of_forecast(const struct kvc_forecast *forecast, struct kvc_row *row)
{
    clear(row);
    row->number[KVC_ROW_THROUGHPUT] = forecast->throughput_mops;
    row->number[KVC_ROW_OFFERED] = forecast->offered_mops;
    row->number[KVC_ROW_UNSERVED] = forecast->unserved_frac;
    row->number[KVC_ROW_HIT] = forecast->hit_frac;
    row->number[KVC_ROW_MEAN] = forecast->latency.mean_us;
    row->number[KVC_ROW_P50] = forecast->latency.p50_us;
    row->number[KVC_ROW_P95] = forecast->latency.p95_us;
    row->number[KVC_ROW_P99] = forecast->latency.p99_us;
    row->number[KVC_ROW_P999] = forecast->latency.p999_us;
    row->number[KVC_ROW_UTILIZATION] = forecast->utilization_frac;
    row->number[KVC_ROW_WATTS] = forecast->watts_mean;
    row->number[KVC_ROW_KOPS_PER_WATT] = forecast->kops_per_watt;
    row->number[KVC_ROW_PRICE] = forecast->price_usd;
    row->number[KVC_ROW_NODES] = (double)forecast->nodes;
    memcpy(row->bottleneck_stage, forecast->bottleneck_stage, sizeof(forecast->bottleneck_stage));
    memcpy(row->bottleneck_device, forecast->bottleneck_device, sizeof(forecast->bottleneck_device));
    copy_missing(forecast->watts_missing, row->watts_missing);
    copy_missing(forecast->price_missing, row->price_missing);
}

struct kvc_slo_verdict kvc_row_verdict(const struct kvc_row *row, const struct kvc_slo *slo)
{
    struct kvc_slo_values values = {.value =
                                        {
                                            [KVC_OBJECTIVE_P50] = row->number[KVC_ROW_P50],
                                            [KVC_OBJECTIVE_P95] = row->number[KVC_ROW_P95],
                                            [KVC_OBJECTIVE_P99] = row->number[KVC_ROW_P99],
                                            [KVC_OBJECTIVE_P999] = row->number[KVC_ROW_P999],
                                            [KVC_OBJECTIVE_MOPS] = row->number[KVC_ROW_THROUGHPUT],
                                            [KVC_OBJECTIVE_LOSS] = row->number[KVC_ROW_UNSERVED],
                                            [KVC_OBJECTIVE_HIT] = row->number[KVC_ROW_HIT],
                                            [KVC_OBJECTIVE_WATTS] = row->number[KVC_ROW_WATTS],
                                            [KVC_OBJECTIVE_PRICE] = row->number[KVC_ROW_PRICE],
                                        },
                                    .window_margin_frac = row->number[KVC_ROW_WINDOW]};
    for (uint32_t i = 0; i < KVC_TENANTS_MAX; i++) {
        values.tenant_p99_us[i].mean = i < row->tenants ? row->tenant[i][TENANT_P99] : NAN;
    }
    return kvc_slo_verdict_of(slo, &values); /* Rows show intervals in columns of their own. */
}

bool kvc_row_states_objectives(const struct kvc_slo *slo)
{
    struct kvc_row row;
    clear(&row);
    return kvc_row_verdict(&row, slo).count > 0;
}

/* ---- details ---- */

static void put_metric(FILE *out, uint32_t group, const char *name, double value)
{
    struct kvc_row_metric metric;
    memset(&metric, 0, sizeof(metric));
    metric.group = group;
    metric.value = value;
    snprintf(metric.name, sizeof(metric.name), "%s", name);
    fwrite(&metric, sizeof(metric), 1, out);
}

static void put_metrics(FILE *out, const struct kvc_result *result)
{
    char name[KVC_VALUE_NAME_MAX];
    uint32_t count[2] = {result->stage_count + result->kernel.count + result->model.count};
    fwrite(count, sizeof(count), 1, out); /* Two words, so that the metrics are aligned. */
    for (uint32_t i = 0; i < result->stage_count; i++) {
        snprintf(name, sizeof(name), "%.100s_utilization_frac", result->stage[i].name);
        put_metric(out, 0, name, result->stage[i].utilization_frac);
    }
    for (uint32_t i = 0; i < result->kernel.count; i++) {
        put_metric(out, 1, result->kernel.entry[i].name, result->kernel.entry[i].value);
    }
    for (uint32_t i = 0; i < result->model.count; i++) {
        put_metric(out, 2, result->model.entry[i].name, result->model.entry[i].value);
    }
}

void *kvc_row_pack(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome, const char *document,
                   size_t document_bytes, size_t *bytes)
{
    char *block = NULL;
    FILE *out = open_memstream(&block, bytes);
    if (out == NULL) {
        kvc_out_of_memory("the answer of a point");
    }
    put_metrics(out, &outcome->result);
    const char *separator = "";
    for (uint32_t i = 0; i < loaded->warning_count; i++, separator = "; ") {
        fprintf(out, "%s%s", separator, loaded->warning[i]);
    }
    for (uint32_t i = 0; i < outcome->result.note_count; i++, separator = "; ") {
        fprintf(out, "%s%s", separator, outcome->result.note[i]);
    }
    fputc('\0', out);
    fwrite(document, 1, document_bytes, out);
    fputc('\0', out);
    if (fclose(out) != 0) {
        kvc_out_of_memory("the answer of a point");
    }
    return block;
}

void kvc_row_unpack(const void *block, struct kvc_row_details *details)
{
    const char *at = block;
    memcpy(&details->count, at, sizeof(details->count));
    at += 2 * sizeof(details->count);
    details->metric = (struct kvc_row_metric *)(void *)at;
    details->notes = at + details->count * sizeof(*details->metric);
    details->document = details->notes + strlen(details->notes) + 1;
}
