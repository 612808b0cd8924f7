#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "models/model.h"
#include "models/price.h"
#include "scenarios/output/capacity.h"

const char *const kvc_capacity_latency_names[] = {"mean", "p50", "p95", "p99", "p999", NULL};

struct table {
    FILE *out;
    const char *bold, *warn, *plain; /* Terminal escapes, or "". */
};

void kvc_capacity_free(struct kvc_capacity *capacity)
{
    free(capacity->point);
    capacity->point = NULL;
    capacity->count = 0;
}

struct kvc_slo_verdict kvc_capacity_verdict(const struct kvc_capacity_report *report)
{
    const struct kvc_capacity_point *point = &report->capacity->point[report->capacity->best];
    const struct kvc_slo_values values = {
        .value = {[KVC_OBJECTIVE_P50] = point->latency[KVC_CAPACITY_P50].mean,
                  [KVC_OBJECTIVE_P95] = point->latency[KVC_CAPACITY_P95].mean,
                  [KVC_OBJECTIVE_P99] = point->latency[KVC_CAPACITY_P99].mean,
                  [KVC_OBJECTIVE_P999] = point->latency[KVC_CAPACITY_P999].mean,
                  [KVC_OBJECTIVE_MOPS] = report->capacity->mean_mops,
                  [KVC_OBJECTIVE_HIT] = NAN,
                  [KVC_OBJECTIVE_WATTS] = NAN,
                  [KVC_OBJECTIVE_PRICE] = isnan(report->loaded->slo.price_usd)
                                              ? NAN
                                              : kvc_scenario_price_usd(&report->loaded->scenario, NULL)}};
    return kvc_slo_verdict_of(&report->loaded->slo, &values);
}

const char *kvc_capacity_closed_form_note(const struct kvc_capacity *capacity)
{
    if (isfinite(capacity->closed_form_mops)) {
        return NULL;
    }
    if (!isfinite(capacity->closed_form_limit_mops)) {
        return "the closed form has no limit";
    }
    return isnan(capacity->point[0].closed_form.mean_us) || (capacity->bounds.latency != KVC_CAPACITY_MEAN &&
                                                             (capacity->bounds.latency != KVC_CAPACITY_P95 ||
                                                              isnan(capacity->point[0].closed_form.p95_us)))
               ? "the closed form does not know the bounded latency"
               : "the closed form meets the latency bound at no load";
}

static void write_number(double value, FILE *out)
{
    fputc(',', out);
    if (isfinite(value)) {
        fprintf(out, "%.12g", value);
    }
}

void kvc_capacity_write_csv(const struct kvc_capacity *capacity, FILE *out)
{
    fputs("offered_mops,share_frac,served,served_by,replicas,throughput_mops,throughput_ci95_mops,loss_frac,"
          "backlog_growth_frac",
          out);
    for (int i = 0; i < KVC_CAPACITY_LATENCIES; i++) {
        const char *name = kvc_capacity_latency_names[i];
        fprintf(out, ",latency_%s_us,latency_%s_ci95_us", name, name);
    }
    fputs(",closed_form_throughput_mops,closed_form_latency_mean_us,closed_form_latency_p95_us,warmup_s,"
          "duration_s\n",
          out);
    for (uint32_t i = 0; i < capacity->count; i++) {
        const struct kvc_capacity_point *point = &capacity->point[i];
        fprintf(out, "%.12g", point->offered_mops);
        write_number(point->share_frac, out);
        fprintf(out, ",%d,%u,%u", point->served, point->served_by, point->replicas);
        write_number(point->throughput.mean, out);
        write_number(point->throughput.half_width, out);
        write_number(point->loss_frac, out);
        write_number(point->growth_frac, out);
        for (int j = 0; j < KVC_CAPACITY_LATENCIES; j++) {
            write_number(point->latency[j].mean, out);
            write_number(point->latency[j].half_width, out);
        }
        write_number(point->closed_form.throughput_mops, out);
        write_number(point->closed_form.mean_us, out);
        write_number(point->closed_form.p95_us, out);
        write_number(point->warmup_s, out);
        write_number(point->duration_s, out);
        fputc('\n', out);
    }
}

static void heading(const struct table *table, const char *name)
{
    fprintf(table->out, "%s%-14s%s", table->bold, name, table->plain);
}

/* Formats four significant digits, or "-". */
static const char *digits(double value, char text[32])
{
    if (isnan(value)) {
        return "-";
    }
    snprintf(text, 32, "%.*f",
             fabs(value) >= 1000  ? 0
             : fabs(value) >= 100 ? 1
             : fabs(value) >= 10  ? 2
                                  : 3,
             value);
    return text;
}

static void write_capacity(const struct table *table, const struct kvc_capacity *capacity)
{
    const struct kvc_capacity_bounds *bounds = &capacity->bounds;
    char a[32], b[32], c[32];
    heading(table, "capacity");
    fprintf(table->out, "%s Mops  (%s .. %s)\n", digits(capacity->mean_mops, a),
            digits(capacity->low_mops, b), digits(capacity->high_mops, c));
    heading(table, "closed form");
    fprintf(table->out, "%s Mops", digits(capacity->closed_form_mops, a));
    if (bounds->bounds_latency) {
        fprintf(table->out, "   without the latency bound %s Mops",
                digits(capacity->closed_form_limit_mops, a));
    }
    const char *note = kvc_capacity_closed_form_note(capacity);
    fprintf(table->out, "%s%s%s\n", note != NULL ? "  (" : "", note != NULL ? note : "",
            note != NULL ? ")" : "");
    heading(table, "bounds");
    fprintf(table->out, "loss at most %g", bounds->loss_frac);
    if (bounds->bounds_latency) {
        fprintf(table->out, ", latency %s at most %g us", kvc_capacity_latency_names[bounds->latency],
                bounds->latency_us);
    }
    fprintf(table->out, "; precision %g\n", bounds->precision_frac);
}

static void write_points(const struct table *table, const struct kvc_capacity *capacity)
{
    fprintf(table->out, "\n%s%-10s%10s%10s%10s%10s%10s%10s%10s%10s%16s%s\n", table->bold, "offered",
            "served by", "Mops", "loss", "growth", "mean us", "p50", "p95", "p99", "closed form us",
            table->plain);
    for (uint32_t i = 0; i < capacity->count; i++) {
        const struct kvc_capacity_point *point = &capacity->point[i];
        char text[32], served[32];
        snprintf(served, sizeof(served), "%u of %u", point->served_by, point->replicas);
        fprintf(table->out, "%s%-10s", point->served ? "" : table->warn, digits(point->offered_mops, text));
        fprintf(table->out, "%10s", served);
        fprintf(table->out, "%10s", digits(point->throughput.mean, text));
        fprintf(table->out, "%10.2g%10.4f", point->loss_frac, point->growth_frac);
        for (int j = KVC_CAPACITY_MEAN; j <= KVC_CAPACITY_P99; j++) {
            fprintf(table->out, "%10s", digits(point->latency[j].mean, text));
        }
        fprintf(table->out, "%16s%s\n", digits(point->closed_form.mean_us, text),
                point->served ? "" : table->plain);
    }
}

void kvc_capacity_write_table(const struct kvc_capacity_report *report, bool color, FILE *out)
{
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    const struct kvc_capacity *capacity = report->capacity;
    const struct kvc_capacity_point *best = &capacity->point[capacity->best];
    struct table table = {.out = out, .bold = "", .warn = "", .plain = ""};
    if (color) {
        table.bold = "\033[1m";
        table.warn = "\033[33m";
        table.plain = "\033[0m";
    }
    fprintf(out, "%s%s%s  %s on %" PRIu64 " node%s, capacity\n\n", table.bold, scenario->name, table.plain,
            scenario->model->name, scenario->cluster.nodes, scenario->cluster.nodes == 1 ? "" : "s");
    write_capacity(&table, capacity);
    if (best->bottleneck_why[0] != '\0') {
        heading(&table, "bottleneck");
        fprintf(out, "at %g Mops: %s\n", best->offered_mops, best->bottleneck_why);
    }
    const struct kvc_slo_verdict verdict = kvc_capacity_verdict(report);
    kvc_slo_verdict_write(&verdict, "slo", table.warn, table.plain, out);
    write_points(&table, capacity);
}
