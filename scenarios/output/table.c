#include "scenarios/output/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "models/model.h"
#include "models/price.h"
#include "scenarios/output/report.h"
#include "scenarios/output/windows.h"

struct kvc_table kvc_table_begin(FILE *out, bool color)
{
    return color ? (struct kvc_table){out, "\033[1m", "\033[2m", "\033[33m", "\033[0m"}
                 : (struct kvc_table){out, "", "", "", ""};
}

bool kvc_table_color(FILE *out)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    bool dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    return isatty(fileno(out)) && !dumb && (no_color == NULL || no_color[0] == '\0');
}

const char *kvc_table_digits(double value, char text[KVC_TABLE_DIGITS_TEXT])
{
    if (!isfinite(value)) {
        return "-";
    }
    int length = snprintf(text, KVC_TABLE_DIGITS_TEXT, "%.3e", value); /* Rounding may raise the exponent. */
    int exponent = atoi(memchr(text, 'e', (size_t)length) + 1);
    if (value == 0 || (exponent >= -3 && fabs(value) < 1e7)) {
        int decimals = value == floor(value) || exponent > 3 ? 0 : 3 - exponent;
        snprintf(text, KVC_TABLE_DIGITS_TEXT, "%.*f", decimals, value);
    }
    return text;
}

void kvc_table_heading(const struct kvc_table *table, const char *name)
{
    fprintf(table->out, "%s%-14s%s", table->bold, name, table->plain);
}

/* Returns the days since a date such as "2026-11-21", or a negative number if the text is not a date. */
static long days_since(const char *date)
{
    struct tm day = {.tm_hour = 12};
    if (sscanf(date, "%d-%d-%d", &day.tm_year, &day.tm_mon, &day.tm_mday) != 3) {
        return -1;
    }
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    return (long)(difftime(time(NULL), timegm(&day)) / 86400 + 0.5);
}

/* Names the calibrated machine and the age of the calibration. */
static void write_machine(const struct kvc_table *table, const struct kvc_machine *machine)
{
    long days = days_since(machine->date);
    if (machine->name[0] == '\0') {
        return;
    }
    kvc_table_heading(table, "machine");
    fprintf(table->out, "%s, calibrated %s", machine->name, machine->date);
    if (days >= 0) {
        fprintf(table->out, " (%ld day%s ago)", days, days == 1 ? "" : "s");
    }
    fprintf(table->out, " by kvcast %s\n", machine->commit);
}

static void write_head(const struct kvc_table *table, const struct kvc_report *report)
{
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    fprintf(table->out, "%s%s%s  %s on %" PRIu64 " node%s, %s\n", table->bold, scenario->name, table->plain,
            scenario->model->name, scenario->cluster.nodes, scenario->cluster.nodes == 1 ? "" : "s",
            strcmp(report->command, "predict") == 0 ? "closed form" : report->command);
}

/* Formats half the width of an interval as " +- 0.12", with two significant digits, or nothing if it is
 * unknown. */
static const char *plus_minus(double half_width, char text[40])
{
    text[0] = '\0';
    if (isfinite(half_width)) {
        snprintf(text, 40, half_width >= 100 && half_width < 1e7 ? " +- %.0f" : " +- %.2g", half_width);
    }
    return text;
}

/* Returns the same for the value GROUP.ENTRY.NAME, times `scale`. */
static const char *interval_of(const struct kvc_outcome *outcome, const char *group, const char *entry,
                               const char *name, double scale, char text[40])
{
    char full[KVC_VALUE_NAME_MAX];
    kvc_value_name(group, entry, name, full);
    return plus_minus(scale * kvc_outcome_wide_interval(outcome, full).half_width, text);
}

/* Says what share of the load is not served, and nothing if all of it is. */
static void write_unserved(const struct kvc_table *table, const struct kvc_report *report)
{
    const struct kvc_service service = kvc_service_of(report->loaded, report->outcome);
    if (!(service.unserved_frac > 0)) {
        return;
    }
    kvc_table_heading(table, "load");
    fputs(table->warn, table->out);
    if (service.behind_frac > 0) {
        fprintf(table->out, "overloaded: the %s %.3g %% of the offered requests",
                report->outcome->result.has_histogram ? "backlog grows by" : "store does not serve",
                100 * service.behind_frac);
    }
    if (service.lost_frac > 0) {
        fprintf(table->out, "%s%.3g %% of the offered requests are lost", service.behind_frac > 0 ? ", " : "",
                100 * service.lost_frac);
    }
    fprintf(table->out, "%s\n", table->plain);
}

static void write_throughput(const struct kvc_table *table, const struct kvc_report *report)
{
    static const char *const sources[] = {
        [KVC_INTERVALS_OF_REPLICAS] = "replicas", [KVC_INTERVALS_OF_BATCHES] = "batches of one run"};
    const struct kvc_outcome *outcome = report->outcome;
    const struct kvc_service service = kvc_service_of(report->loaded, outcome);
    struct kvc_interval interval = kvc_outcome_wide_interval(outcome, "throughput_mops");
    char a[40];
    uint32_t count;
    enum kvc_interval_source source = kvc_outcome_intervals(outcome, &count);
    kvc_table_heading(table, "throughput");
    fprintf(table->out, "%s", kvc_table_digits(interval.mean, a));
    fprintf(table->out, "%s Mops", plus_minus(interval.half_width, a));
    if (isfinite(service.offered_mops)) {
        fprintf(table->out, " of %s Mops offered", kvc_table_digits(service.offered_mops, a));
    }
    if (source != KVC_INTERVALS_UNKNOWN) {
        fprintf(table->out, "   (+-: 95 %% interval over %u %s)", count, sources[source]);
    } else if (outcome->result.moves) {
        fputs("   (no interval: the load or the machine changes; run.replicas = 2 or more tell one)",
              table->out);
    }
    fputc('\n', table->out);
}

static void write_latency(const struct kvc_table *table, const struct kvc_outcome *outcome)
{
    static const struct {
        const char *name;
        double p;
    } shown[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}};
    const struct kvc_result *result = &outcome->result;
    const struct kvc_histogram *histogram = &result->latency;
    char text[40], name[KVC_NAME_MAX];
    bool known = isfinite(kvc_outcome_wide_interval(outcome, "latency_mean_us").half_width);
    kvc_table_heading(table, "latency");
    if (!result->has_histogram) {
        fprintf(table->out, "mean %s", kvc_table_digits(result->predicted.mean_us, text));
        for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
            fprintf(table->out, "   %s %s", shown[i].name,
                    kvc_table_digits(kvc_result_latency_percentile_us(result, shown[i].p), text));
        }
        fputs(" us\n", table->out);
        if (result->latency_assumes[0] != '\0') {
            kvc_table_heading(table, "");
            fprintf(table->out, "%s\n", result->latency_assumes);
        }
        return;
    }
    if (histogram->count == 0) {
        fputs("no request was completed\n", table->out);
        return;
    }
    fprintf(table->out, "mean %s", kvc_table_digits(kvc_histogram_mean_ns(histogram) * 1e-3, text));
    fputs(interval_of(outcome, NULL, NULL, "latency_mean_us", 1, text), table->out);
    for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
        kvc_percentile_name(shown[i].p, name);
        if (known && shown[i].p == 0.99) { /* A line with all intervals would be too long. */
            fputs(" us\n", table->out);
            kvc_table_heading(table, "");
        } else {
            fputs("   ", table->out);
        }
        fprintf(table->out, "%s %s", shown[i].name,
                kvc_table_digits(kvc_histogram_percentile_ns(histogram, shown[i].p) * 1e-3, text));
        fputs(interval_of(outcome, NULL, NULL, name, 1, text), table->out);
    }
    fprintf(table->out, "   max %s", kvc_table_digits(histogram->max_ns * 1e-3, text));
    fprintf(table->out, "%s us\n", interval_of(outcome, NULL, NULL, "latency_max_us", 1, text));
}

static void write_requests(const struct kvc_table *table, const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    char text[40];
    if (result->offered + result->completed == 0) {
        return;
    }
    kvc_table_heading(table, "requests");
    fprintf(table->out, "%" PRIu64 " completed, %" PRIu64 " dropped", result->completed, result->dropped);
    if (result->hits + result->misses > 0) {
        fprintf(table->out, ", hit ratio %.2f%s %%",
                100 * (double)result->hits / (double)(result->hits + result->misses),
                interval_of(outcome, NULL, NULL, "hit_frac", 100, text));
    }
    fputc('\n', table->out);
}

static void write_stages(const struct kvc_table *table, const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    char text[40];
    bool waits = false;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        waits = waits || !isnan(result->stage[i].wait_us);
    }
    if (result->stage_count == 0) {
        return;
    }
    fprintf(table->out, "\n%s%-14s%-8s%12s%10s%14s", table->bold, "stage", "device", "utilisation", "",
            "served");
    if (waits) {
        fprintf(table->out, "%12s%12s", "waiting", "wait us");
    }
    fprintf(table->out, "%12s%s\n", "mean us", table->plain);
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct kvc_stage_result *stage = &result->stage[i];
        bool narrow = strcmp(stage->name, result->bottleneck_stage) == 0;
        fprintf(table->out, "%s%-14s%-8s%10.1f %%", narrow ? table->warn : "", stage->name, stage->device,
                100 * stage->utilization_frac);
        fprintf(table->out, "%-10s",
                interval_of(outcome, "stages", stage->name, "utilization_frac", 100, text));
        if (result->has_histogram) {
            fprintf(table->out, "%14" PRIu64, stage->served);
        } else { /* A prediction has a rate, but no requests that one could count. */
            fprintf(table->out, "%9s Mops", kvc_table_digits(kvc_result_stage_mops(result, i), text));
        }
        if (waits) {
            fprintf(table->out, "%12s", kvc_table_digits(stage->waiting_requests, text));
            fprintf(table->out, "%12s", kvc_table_digits(stage->wait_us, text));
        }
        fprintf(table->out, "%12s", kvc_table_digits(stage->mean_us, text));
        fprintf(table->out, "%s%s\n", interval_of(outcome, "stages", stage->name, "mean_us", 1, text),
                narrow ? table->plain : "");
    }
}

static void write_gains(const struct kvc_table *table, const struct kvc_outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->gain_count; i++) {
        const struct kvc_gain *gain = &outcome->gain[i];
        kvc_table_heading(table, i == 0 ? "5 % faster" : "");
        fprintf(table->out, "%-14s%+8.2f %%", gain->resource, 100 * gain->gain_frac.mean);
        if (!isnan(gain->gain_frac.half_width)) {
            fprintf(table->out, "  +- %.2f %%", 100 * gain->gain_frac.half_width);
        }
        fputs(i == 0 ? " of throughput\n" : "\n", table->out);
    }
}

static void write_bottleneck(const struct kvc_table *table, const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    if (result->bottleneck_stage[0] == '\0') {
        return;
    }
    fputc('\n', table->out);
    kvc_table_heading(table, "bottleneck");
    if (result->bottleneck_why[0] != '\0') { /* The explanation names the stage. */
        fprintf(table->out, "%s\n", result->bottleneck_why);
    } else {
        fprintf(table->out, "%s (%s)\n", result->bottleneck_stage, result->bottleneck_device);
    }
    write_gains(table, outcome);
}

/* Writes power and energy of the devices whose power is known, one sum for each kind. */
static void write_kinds(const struct kvc_table *table, const struct kvc_result *result)
{
    bool first = true;
    char a[KVC_TABLE_DIGITS_TEXT], b[KVC_TABLE_DIGITS_TEXT];
    for (uint32_t i = 0; i < result->device_count; i++) {
        const char *kind = result->device[i].device;
        double watts = 0, joules = 0;
        uint32_t devices = 0;
        for (uint32_t j = 0; j < result->device_count; j++) {
            const struct kvc_device_result *device = &result->device[j];
            if (strcmp(device->device, kind) != 0 || isnan(device->joules)) {
                continue;
            }
            if (j < i) { /* The kind has been written. */
                devices = 0;
                break;
            }
            devices++;
            watts += device->watts_mean;
            joules += device->joules;
        }
        if (devices == 0) {
            continue;
        }
        if (first) {
            kvc_table_heading(table, "");
        }
        fprintf(table->out, "%s%s %s W, %s J", first ? "" : "; ", kind, kvc_table_digits(watts, a),
                kvc_table_digits(joules, b));
        first = false;
    }
    if (!first) {
        fputc('\n', table->out);
    }
}

static void write_power(const struct kvc_table *table, const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    char text[40], digits[KVC_TABLE_DIGITS_TEXT];
    bool is_whole = result->watts_missing[0] == '\0';
    if (result->watts_mean <= 0) {
        kvc_table_heading(table, "power");
        fprintf(table->out, "%sunknown: %s%s%s\n", table->warn,
                is_whole ? "this answer has none" : "none is stated for ", result->watts_missing,
                table->plain);
        return;
    }
    kvc_table_heading(table, "power");
    fprintf(table->out, "%s%s%s W", is_whole ? "" : "at least ", kvc_table_digits(result->watts_mean, digits),
            interval_of(outcome, NULL, NULL, "watts_mean", 1, text));
    if (result->joules > 0) { /* A prediction has no duration. */
        fprintf(table->out, ", %s J", kvc_table_digits(result->joules, digits));
    }
    if (is_whole) {
        fprintf(table->out, ", %s%s kops/W\n",
                kvc_table_digits(result->throughput_mops * 1e3 / result->watts_mean, digits),
                interval_of(outcome, NULL, NULL, "kops_per_watt", 1, text));
    } else {
        fprintf(table->out, "; %sno power is stated for %s%s\n", table->warn, result->watts_missing,
                table->plain);
    }
    write_kinds(table, result);
}

static void write_price(const struct kvc_table *table, const struct kvc_scenario *scenario)
{
    struct kvc_price price = kvc_scenario_price(scenario);
    bool is_whole = price.missing[0] == '\0';
    if (price.usd > 0) {
        kvc_table_heading(table, "price");
        fprintf(table->out, "%s%.0f USD", is_whole ? "" : "at least ", price.usd);
        if (!is_whole) {
            fprintf(table->out, "; %sno price is stated for %s%s", table->warn, price.missing, table->plain);
        }
        fputc('\n', table->out);
    }
}

static void write_slo(const struct kvc_table *table, const struct kvc_report *report)
{
    struct kvc_slo_windows windows;
    const struct kvc_slo_verdict verdict = kvc_slo_judge(report->loaded, report->outcome, &windows);
    if (verdict.count == 0) {
        kvc_table_heading(table, "slo");
        fputs("none is stated\n", table->out);
    }
    kvc_slo_verdict_write(&verdict, "slo", table->warn, table->plain, table->out);
    write_unserved(table, report);
    kvc_slo_windows_write(&windows, &report->loaded->slo, report->outcome->replicas, table->warn,
                          table->plain, table->out);
}

/* Writes the looks of the power policy that changed clocks. */
static void write_clocks(const struct kvc_table *table, const struct kvc_result *result)
{
    enum { SHOWN_MAX = 24 };
    uint32_t shown = 0, changes = 0;
    char served[KVC_TABLE_DIGITS_TEXT], p99[KVC_TABLE_DIGITS_TEXT], watts[KVC_TABLE_DIGITS_TEXT];
    for (uint32_t i = 0; i < result->look_count; i++) {
        changes += result->look[i].changed;
    }
    if (result->look_count == 0) {
        return;
    }
    fprintf(table->out, "\n%s%-14s%-18s%10s%10s%12s%12s%12s%s\n", table->bold, "clocks", "unit", "at ms",
            "served", "p99 us", "watts", "then", table->plain);
    for (uint32_t i = 0; i < result->look_count && shown < SHOWN_MAX; i++) {
        const struct kvc_look *look = &result->look[i];
        if (!look->changed) {
            continue;
        }
        shown++;
        fprintf(table->out, "%-14s%-18s%10.4g%10s%12s%12s", "", look->unit, look->at_s * 1e3,
                kvc_table_digits(look->served_mops, served), kvc_table_digits(look->latency_p99_us, p99),
                kvc_table_digits(look->watts, watts));
        fprintf(table->out, "  cpu %.4g GHz", look->cpu_hz * 1e-9);
        if (!isnan(look->gpu_hz)) {
            fprintf(table->out, ", gpu %.4g MHz", look->gpu_hz * 1e-6);
        }
        fputc('\n', table->out);
    }
    if (changes > shown) {
        fprintf(table->out, "%-14sand %u more changes (--json)\n", "", changes - shown);
    } else if (changes == 0) {
        fprintf(table->out, "%-14sno change in %u looks\n", "", result->look_count);
    }
}

/* `group` is the metrics' group among the values of the outcome. */
static void write_metrics(const struct kvc_table *table, const char *name, const char *group,
                          const struct kvc_metrics *metrics, const struct kvc_outcome *outcome)
{
    char text[40];
    for (uint32_t i = 0; i < metrics->count; i++) {
        kvc_table_heading(table, i == 0 ? name : "");
        fprintf(table->out, "%-34s%s", metrics->entry[i].name,
                kvc_table_digits(metrics->entry[i].value, text));
        fprintf(table->out, "%s\n", interval_of(outcome, group, NULL, metrics->entry[i].name, 1, text));
    }
}

static void write_notes(const struct kvc_table *table, const struct kvc_report *report)
{
    const struct kvc_result *result = &report->outcome->result;
    for (uint32_t i = 0; i < result->note_count; i++) {
        kvc_table_heading(table, i == 0 ? "notes" : "");
        fprintf(table->out, "%s%s%s\n", table->warn, result->note[i], table->plain);
    }
}

static void write_speed(const struct kvc_table *table, const struct kvc_result *result)
{
    if (result->cpu_s <= 0) {
        return;
    }
    double share = 100 / result->wall_s;
    kvc_table_heading(table, "simulation");
    fprintf(table->out,
            "%s%.3g ms simulated (after %.3g ms warm-up), %.2f s of one core, %.1f M requests/s\n",
            table->dim, 1e3 * result->simulated_s, 1e3 * result->warmup_s, result->cpu_s,
            1e-6 * (double)result->requests_simulated / result->cpu_s);
    kvc_table_heading(table, "");
    fprintf(table->out,
            "workload %.0f %%, index and slabs %.0f %%, SimGrid %.0f %% (%" PRIu64
            " activities), preload %.2f s%s\n",
            share * result->source_wall_s, share * result->kernel_wall_s, share * result->engine_wall_s,
            result->activities, result->preload_wall_s, table->plain);
    if (result->memory_planned_bytes > 0) {
        kvc_table_heading(table, "");
        fprintf(table->out, "%smemory of a process %.4g MiB, planned %.4g MiB%s\n", table->dim,
                result->memory_taken_bytes / 0x1p20, result->memory_planned_bytes / 0x1p20, table->plain);
    }
}

void kvc_table_write(const struct kvc_report *report, bool color, FILE *out)
{
    const struct kvc_result *result = &report->outcome->result;
    struct kvc_table table = kvc_table_begin(out, color);
    write_head(&table, report);
    write_throughput(&table, report);
    write_slo(&table, report);
    write_machine(&table, &report->loaded->scenario.node.machine);
    write_latency(&table, report->outcome);
    write_requests(&table, report->outcome);
    write_stages(&table, report->outcome);
    kvc_table_write_tenants(report, table.bold, table.plain, out);
    kvc_table_write_nodes(report->outcome, table.bold, table.plain, out);
    write_bottleneck(&table, report->outcome);
    write_power(&table, report->outcome);
    write_price(&table, &report->loaded->scenario);
    struct kvc_accuracy_kind kind;
    if (kvc_report_is_forecast(report, &kind)) {
        kvc_accuracy_write_line(&kind, table.bold, table.plain, out);
    }
    write_clocks(&table, result);
    if (result->kernel.count + result->model.count > 0) {
        fputc('\n', out);
    }
    write_metrics(&table, "index, items", "kernel", &result->kernel, report->outcome);
    write_metrics(&table, "model", "model", &result->model, report->outcome);
    if (report->sensitivity != NULL) {
        kvc_sensitivity_write_table(report->sensitivity, out);
    }
    if (result->note_count > 0) {
        fputc('\n', out);
    }
    write_notes(&table, report);
    if (result->cpu_s > 0) {
        fputc('\n', out);
    }
    write_speed(&table, result);
}
