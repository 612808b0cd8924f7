#include "validate/scoring/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/text/csv.h"

/* Bounds of the errors of a ratio: of the mean over the pairs, and of the largest. */
static const struct {
    double mean_frac, largest_frac;
} bounds[KVC_PAIR_METRICS] = {
    [KVC_PAIR_THROUGHPUT] = {0.04, 0.12}, [KVC_PAIR_LATENCY_MEAN] = {0.06, 0.2},
    [KVC_PAIR_LATENCY_P99] = {0.15, 0.4}, [KVC_PAIR_T_SEARCH] = {0.04, 0.12},
    [KVC_PAIR_T_INSERT] = {0.04, 0.12},   [KVC_PAIR_SEARCH_JOBS] = {NAN, NAN}, /* They are not scored. */
    [KVC_PAIR_INSERT_JOBS] = {NAN, NAN},  [KVC_PAIR_KOPS_PER_WATT] = {NAN, NAN},
};

enum { ID, SCENARIO, LOAD_FRAC, OF, OVERRIDES, AGAINST, PAIRS, NUMBERS = PAIRS + 2, MACHINE = 6, FIELDS = 4 };

/* The columns about the machine, in the order of the file. */
static double *machine_of(struct kvc_measured_pair *pair, int i)
{
    double *const fields[MACHINE] = {&pair->disturbed_frac,     &pair->core_speed_steps_per_ns,
                                     &pair->memory.line_ns,     &pair->memory.latency_ns,
                                     &pair->memory.bytes_per_s, &pair->memory.handoff_ns};
    return fields[i];
}

void kvc_measured_pair_of(const struct kvc_pair_result *result, struct kvc_measured_pair *pair)
{
    *pair = (struct kvc_measured_pair){.pairs = result->pairs,
                                       .counted = result->counted,
                                       .disturbed_frac = result->disturbed_frac,
                                       .core_speed_steps_per_ns = result->core_speed_steps_per_ns,
                                       .memory = result->memory};
    for (int m = 0; m < KVC_PAIR_METRICS; m++) {
        const struct kvc_pair_reading *reading = &result->reading[m];
        pair->side[0][m] = reading->a;
        pair->side[1][m] = reading->b;
        pair->ratio[m] = reading->ratio;
        pair->half_frac[m] =
            fmax(reading->high - reading->ratio, reading->ratio - reading->low) / reading->ratio;
    }
}

/* ---- the file ---- */

/* Writes the header of a file that has the first `metrics` metrics. */
static void write_header(char *text, size_t size, int metrics)
{
    int length = snprintf(text, size,
                          "id,scenario,load_frac,of,overrides,against,pairs,counted_pairs,disturbed_frac,"
                          "core_speed_steps_per_ns,memory_line_ns,memory_latency_ns,memory_bytes_per_s,"
                          "memory_handoff_ns");
    for (int m = 0; m < metrics; m++) {
        length += snprintf(text + length, size - (size_t)length, ",%s_a,%s_b,%s_ratio,%s_half_frac",
                           kvc_pair_metric_names[m], kvc_pair_metric_names[m], kvc_pair_metric_names[m],
                           kvc_pair_metric_names[m]);
    }
}

enum { HEADER_BYTES = 2048 };

void kvc_measured_pairs_write_header(FILE *out)
{
    char header[HEADER_BYTES];
    write_header(header, sizeof(header), KVC_PAIR_METRICS);
    fprintf(out, "%s\n", header);
}

static void write_number(FILE *out, double value)
{
    fprintf(out, isfinite(value) ? ",%.6g" : ",", value);
}

void kvc_measured_pairs_write_line(FILE *out, const struct kvc_measuring_plan *plan, size_t pair,
                                   const struct kvc_measured_pair *measured)
{
    const struct kvc_measuring_pair *planned = &plan->pair[pair];
    struct kvc_measured_pair copy = *measured;
    char load[KVC_MEASURING_PLAN_LOAD_BYTES];
    kvc_measuring_plan_describe_load(plan, &planned->a, load);
    fprintf(out, "%s,%s,%s,%s,%s,%u,%u", planned->a.id, planned->a.scenario, load, planned->a.overrides,
            planned->against, measured->pairs, measured->counted);
    for (int i = 0; i < MACHINE; i++) {
        write_number(out, *machine_of(&copy, i));
    }
    for (int m = 0; m < KVC_PAIR_METRICS; m++) {
        write_number(out, measured->side[0][m]);
        write_number(out, measured->side[1][m]);
        write_number(out, measured->ratio[m]);
        write_number(out, measured->half_frac[m]);
    }
    fputc('\n', out);
}

struct reading {
    const struct kvc_measuring_plan *plan;
    struct kvc_measured_pair *measured;
    int metrics; /* Metrics that the file has: files of earlier measurements lack the last one. */
};

static enum kvc_status take_count(const char *cell, const char *name, uint32_t *count, struct kvc_diag *diag)
{
    double value;
    enum kvc_status status = kvc_csv_number(cell, &value, diag);
    if (status == KVC_OK && !(value >= 1 && value <= UINT32_MAX && value == floor(value))) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "%s: found \"%s\", expected a whole number from 1", name,
                             cell);
    }
    *count = status == KVC_OK ? (uint32_t)value : 0;
    return status;
}

static enum kvc_status take_pair(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    const struct reading *reading = data;
    const struct kvc_measuring_pair *planned = NULL;
    char load[KVC_MEASURING_PLAN_LOAD_BYTES], measured_load[sizeof(load)];
    size_t at = 0;
    (void)line;
    while (at < reading->plan->pairs && strcmp(reading->plan->pair[at].a.id, cell[ID]) != 0) {
        at++;
    }
    if (at == reading->plan->pairs || reading->measured[at].pairs > 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found pair \"%.60s\" %s", cell[ID],
                             at < reading->plan->pairs ? "twice" : "which is not in the plan");
    }
    planned = &reading->plan->pair[at];
    kvc_measuring_plan_describe_load(reading->plan, &planned->a, load);
    snprintf(measured_load, sizeof(measured_load), "%.20s,%.63s", cell[LOAD_FRAC], cell[OF]);
    if (strcmp(planned->a.scenario, cell[SCENARIO]) != 0 || strcmp(load, measured_load) != 0 ||
        strcmp(planned->a.overrides, cell[OVERRIDES]) != 0 || strcmp(planned->against, cell[AGAINST]) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "pair \"%s\" differs from the plan", planned->a.id);
    }
    struct kvc_measured_pair made;
    enum kvc_status status = take_count(cell[PAIRS], "pairs", &made.pairs, diag);
    if (status == KVC_OK) {
        status = take_count(cell[PAIRS + 1], "counted_pairs", &made.counted, diag);
    }
    for (int i = 0; i < MACHINE && status == KVC_OK; i++) {
        status = kvc_csv_number(cell[NUMBERS + i], machine_of(&made, i), diag);
    }
    for (int m = 0; m < KVC_PAIR_METRICS && status == KVC_OK; m++) {
        double *const fields[FIELDS] = {&made.side[0][m], &made.side[1][m], &made.ratio[m],
                                        &made.half_frac[m]};
        for (int i = 0; i < FIELDS && status == KVC_OK; i++) {
            const char *known = m < reading->metrics ? cell[NUMBERS + MACHINE + FIELDS * m + i] : "";
            status = kvc_csv_number(known, fields[i], diag);
        }
        if (status == KVC_OK && made.ratio[m] <= 0) {
            status = kvc_diag_fail(diag, KVC_ERR_SCENARIO, "%s_ratio: found %g, expected a number above 0",
                                   kvc_pair_metric_names[m], made.ratio[m]);
        }
    }
    if (status == KVC_OK) {
        reading->measured[at] = made;
    }
    return status;
}

enum kvc_status kvc_measured_pairs_read(const char *path, const struct kvc_measuring_plan *plan,
                                        struct kvc_measured_pair *measured, struct kvc_diag *diag)
{
    char header[HEADER_BYTES];
    bool metered;
    enum kvc_status status = kvc_csv_has_column(path, "kops_per_watt_ratio", &metered, diag);
    struct reading reading = {plan, measured, metered ? KVC_PAIR_METRICS : KVC_PAIR_KOPS_PER_WATT};
    write_header(header, sizeof(header), reading.metrics);
    const struct kvc_csv_format format = {.header = header};
    status = status == KVC_OK ? kvc_csv_visit(path, &format, take_pair, &reading, diag) : status;
    for (size_t i = 0; i < plan->pairs && status == KVC_OK; i++) {
        if (measured[i].pairs == 0) {
            status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, plan->path, plan->pair[i].a.line,
                                      "pair \"%s\" is planned but not in pairs.csv", plan->pair[i].a.id);
        }
    }
    return status;
}

/* ---- the scores ---- */

void kvc_pair_scores_free(struct kvc_pair_scores *scores)
{
    kvc_cases_free(&scores->cases);
    free(scores->score);
    free(scores->entry);
    *scores = (struct kvc_pair_scores){.score = NULL};
}

/* Under saturation, and above the capacity, latency only tells how long the queues are; an open loop
 * completes all that it is offered. */
static bool is_compared(const struct kvc_measuring_pair *pair, int metric)
{
    bool is_relative = kvc_measuring_plan_line_is_relative(&pair->a);
    switch (metric) {
    case KVC_PAIR_THROUGHPUT:
        return !is_relative;
    case KVC_PAIR_LATENCY_MEAN:
    case KVC_PAIR_LATENCY_P99:
        return is_relative && pair->a.load_frac < 1;
    default:
        return !isnan(bounds[metric].mean_frac);
    }
}

enum kvc_status kvc_pair_scores_list(const struct kvc_measuring_plan *plan,
                                     const struct kvc_measured_pair *measured, bool unseen,
                                     struct kvc_pair_scores *scores, struct kvc_diag *diag)
{
    size_t most = plan->pairs * KVC_PAIR_METRICS;
    enum kvc_status status = KVC_OK;
    *scores = (struct kvc_pair_scores){.score = kvc_array_of(most + 1, sizeof(*scores->score)),
                                       .entry = kvc_array_of(most + 1, sizeof(*scores->entry))};
    for (size_t i = 0; i < most && status == KVC_OK; i++) {
        size_t pair = i / KVC_PAIR_METRICS;
        int metric = (int)(i % KVC_PAIR_METRICS);
        const struct kvc_measured_pair *of = &measured[pair];
        if (kvc_measuring_plan_unseen(pair) != unseen || !is_compared(&plan->pair[pair], metric) ||
            isnan(of->ratio[metric])) {
            continue;
        }
        bool undecidable = !(of->half_frac[metric] <= bounds[metric].mean_frac / 2);
        struct kvc_case made = {.published = of->ratio[metric],
                                .low = NAN,
                                .high = NAN,
                                .tolerance_frac = bounds[metric].largest_frac,
                                .role = undecidable ? KVC_CASE_INPUT : KVC_CASE_PREDICTION};
        snprintf(made.id, sizeof(made.id), "%s:%s", plan->pair[pair].a.id, kvc_pair_metric_names[metric]);
        snprintf(made.metric, sizeof(made.metric), "%s", kvc_pair_metric_names[metric]);
        scores->entry[scores->cases.count] = (struct kvc_pair_case){.pair = pair,
                                                                    .metric = (enum kvc_pair_metric)metric,
                                                                    .undecidable = undecidable,
                                                                    .half_frac = of->half_frac[metric]};
        status = kvc_cases_add(&scores->cases, &made, diag);
    }
    return status;
}

void kvc_pair_scores_fill(struct kvc_pair_scores *scores, const struct kvc_pair_forecast *forecast)
{
    for (size_t i = 0; i < scores->cases.count; i++) {
        struct kvc_pair_case *entry = &scores->entry[i];
        const struct kvc_pair_forecast *a = &forecast[2 * entry->pair], *b = a + 1;
        int m = (int)entry->metric;
        double ratio = b->value[m] / a->value[m];
        double half_frac = hypot(a->half_width[m] / a->value[m], b->half_width[m] / b->value[m]);
        entry->closed_form = b->closed_form[m] / a->closed_form[m];
        if (isnan(ratio)) {
            scores->cases.entry[i].role = KVC_CASE_INPUT; /* The store does not report it. */
        }
        scores->score[i] =
            kvc_score_case(&scores->cases.entry[i], (struct kvc_interval){ratio, ratio * half_frac},
                           scores->score[i].baseline_frac);
    }
}

struct kvc_pair_summary kvc_pair_scores_summarise(const struct kvc_pair_scores *scores,
                                                  enum kvc_pair_metric metric)
{
    struct kvc_pair_summary summary = {0};
    double *errors = kvc_array_of(2 * scores->cases.count + 1, sizeof(*errors));
    double *closed_form = errors + scores->cases.count;
    size_t count = 0, closed_forms = 0;
    for (size_t i = 0; i < scores->cases.count; i++) {
        const struct kvc_pair_case *entry = &scores->entry[i];
        const struct kvc_case *scored = &scores->cases.entry[i];
        if (entry->metric != metric) {
            continue;
        }
        double predicted = scores->score[i].predicted.mean;
        if (fabs(scored->published - 1) > entry->half_frac * scored->published && !isnan(predicted)) {
            summary.differing++;
            summary.right += (scored->published > 1) == (predicted > 1);
        }
        summary.undecidable += entry->undecidable;
        if (scored->role == KVC_CASE_PREDICTION) {
            errors[count++] = scores->score[i].error_frac.mean;
            if (!isnan(entry->closed_form)) {
                closed_form[closed_forms++] = kvc_score_error(scored, entry->closed_form);
            }
        }
    }
    summary.errors = kvc_errors_summarise(errors, count);
    summary.closed_form = kvc_errors_summarise(closed_form, closed_forms);
    free(errors);
    return summary;
}
