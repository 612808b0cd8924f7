#include "scenarios/explore/plan/plan_errors.h"

#include <math.h>
#include <string.h>

#include "sim/base/text/csv.h"

static const char header[] = "system,closed_form,simulated,low_frac,high_frac,answers";

enum column { SYSTEM, CLOSED_FORM, SIMULATED, LOW, HIGH, ANSWERS };

struct reading {
    const char *system;
    struct kvc_plan_errors *errors;
};

void kvc_plan_errors_clear(struct kvc_plan_errors *errors)
{
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        for (int j = 0; j < KVC_PLAN_METRICS; j++) {
            errors->of[i][j] = (struct kvc_plan_error){-1, INFINITY, 0};
        }
    }
    errors->of[KVC_PLAN_PRICE_USD][KVC_PLAN_PRICE_USD] = (struct kvc_plan_error){0, 0, 0};
}

/* Latencies bound latencies, and every other value itself. */
static bool is_pair(int closed_form, int simulated)
{
    bool latencies = closed_form <= KVC_PLAN_MEAN_US && simulated <= KVC_PLAN_MEAN_US;
    return (latencies || closed_form == simulated) && closed_form != KVC_PLAN_PRICE_USD;
}

static void widen(struct kvc_plan_error *error, double low_frac, double high_frac, uint32_t answers)
{
    bool first = error->answers == 0;
    error->low_frac = first ? low_frac : fmin(error->low_frac, low_frac);
    error->high_frac = first ? high_frac : fmax(error->high_frac, high_frac);
    error->answers += answers;
}

void kvc_plan_errors_add(struct kvc_plan_errors *errors, const double *closed_form, const double *simulated)
{
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        for (int j = 0; j < KVC_PLAN_METRICS; j++) {
            double frac = simulated[j] / closed_form[i] - 1;
            if (is_pair(i, j) && closed_form[i] > 0 && isfinite(frac)) {
                widen(&errors->of[i][j], frac, frac, 1);
            }
        }
    }
}

static int find_metric(const char *name)
{
    int found = 0;
    while (kvc_plan_metric_names[found] != NULL && strcmp(kvc_plan_metric_names[found], name) != 0) {
        found++;
    }
    return found;
}

static enum kvc_status take_row(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    const struct reading *reading = data;
    double low_frac, high_frac, answers;
    int from = find_metric(cell[CLOSED_FORM]), to = find_metric(cell[SIMULATED]);
    (void)line;
    enum kvc_status status = kvc_csv_number(cell[LOW], &low_frac, diag);
    if (status == KVC_OK) {
        status = kvc_csv_number(cell[HIGH], &high_frac, diag);
    }
    if (status == KVC_OK) {
        status = kvc_csv_number(cell[ANSWERS], &answers, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    if (from == KVC_PLAN_METRICS || to == KVC_PLAN_METRICS || !is_pair(from, to)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found the metrics %.60s and %.60s, which are not compared", cell[CLOSED_FORM],
                             cell[SIMULATED]);
    }
    if (!(low_frac >= -1 && low_frac <= high_frac && answers >= 1)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "found low_frac %.20s, high_frac %.20s and answers %.20s, allowed: -1 <= low_frac <= "
            "high_frac and at least one answer",
            cell[LOW], cell[HIGH], cell[ANSWERS]);
    }
    if (strcmp(cell[SYSTEM], reading->system) == 0) {
        widen(&reading->errors->of[from][to], low_frac, high_frac, (uint32_t)answers);
    }
    return KVC_OK;
}

enum kvc_status kvc_plan_errors_read(const char *path, const char *system, struct kvc_plan_errors *errors,
                                     struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = header};
    struct reading reading = {system, errors};
    kvc_plan_errors_clear(errors);
    return kvc_csv_visit(path, &format, take_row, &reading, diag);
}

void kvc_plan_errors_write_header(FILE *out)
{
    fprintf(out, "%s\n", header);
}

void kvc_plan_errors_write(const struct kvc_plan_errors *errors, const char *system, FILE *out)
{
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        for (int j = 0; j < KVC_PLAN_METRICS; j++) {
            const struct kvc_plan_error *error = &errors->of[i][j];
            if (error->answers > 0) {
                fprintf(out, "%s,%s,%s,%.4f,%.4f,%u\n", system, kvc_plan_metric_names[i],
                        kvc_plan_metric_names[j], floor(error->low_frac * 1e4) / 1e4,
                        ceil(error->high_frac * 1e4) / 1e4, error->answers);
            }
        }
    }
}

void kvc_plan_errors_range(const struct kvc_plan_errors *errors, const double *closed_form,
                           enum kvc_plan_metric metric, double *low, double *high)
{
    *low = 0;
    *high = INFINITY;
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        const struct kvc_plan_error *error = &errors->of[i][metric];
        if (closed_form[i] > 0 && error->low_frac > -1) {
            *low = fmax(*low, closed_form[i] * (1 + error->low_frac));
        }
        if (closed_form[i] > 0 && isfinite(error->high_frac)) {
            *high = fmin(*high, closed_form[i] * (1 + error->high_frac));
        }
    }
}
