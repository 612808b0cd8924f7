#include "scenarios/explore/plan/goal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "models/forecast.h"
#include "sim/base/text/csv.h"

const char *const kvc_plan_metric_names[] = {
    "latency_p50_us",    "latency_p95_us",  "latency_p99_us", "latency_p999_us",
    "latency_mean_us",   "throughput_mops", "served_frac",    "hit_frac",
    "worst_window_frac", "watts_mean",      "price_usd",      NULL,
};

double kvc_plan_margin_frac(const struct kvc_plan_goal *goal, double value)
{
    double over = value - goal->bound;
    return (goal->at_least ? over : -over) / goal->bound;
}

struct kvc_interval kvc_plan_look(const struct kvc_plan_test *test, const double *values, uint32_t count)
{
    struct kvc_interval interval = kvc_interval_of(values, count);
    double looks = test->most - test->least + 1;
    if (count >= 2) {
        double tail = (1 - test->confidence) / looks / test->goals / 2;
        interval.half_width *= gsl_cdf_tdist_Qinv(tail, count - 1) / gsl_cdf_tdist_Pinv(0.975, count - 1);
    }
    return interval;
}

enum kvc_plan_answer kvc_plan_decide(const struct kvc_plan_test *test, const struct kvc_plan_goal *goal,
                                     const double *values, uint32_t count, struct kvc_interval *interval)
{
    *interval = kvc_plan_look(test, values, count);
    if (count > 0 && isnan(interval->mean)) {
        return KVC_PLAN_UNKNOWN;
    }
    if (count < test->least) {
        return KVC_PLAN_OPEN;
    }
    double sign = goal->at_least ? 1 : -1;
    double over = sign * (interval->mean - goal->bound);
    if (over - interval->half_width >= 0) {
        return KVC_PLAN_MET;
    }
    return over + interval->half_width < 0 ? KVC_PLAN_MISSED : KVC_PLAN_OPEN;
}

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

/* Returns whether an error is kept for the two metrics: any two latencies, or any other metric and itself. */
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
    for (int i = 0; i < KVC_PLAN_METRICS && metric < KVC_PLAN_METRICS; i++) {
        const struct kvc_plan_error *error = &errors->of[i][metric];
        if (closed_form[i] > 0 && error->low_frac > -1) {
            *low = fmax(*low, closed_form[i] * (1 + error->low_frac));
        }
        if (closed_form[i] > 0 && isfinite(error->high_frac)) {
            *high = fmin(*high, closed_form[i] * (1 + error->high_frac));
        }
    }
}

/* A closed form that does not know a value may leave it 0. */
static double known(double value)
{
    return value > 0 ? value : NAN;
}

void kvc_plan_forecast_values(const struct kvc_forecast *forecast, double value[KVC_PLAN_METRICS])
{
    value[KVC_PLAN_P50_US] = forecast->latency.p50_us;
    value[KVC_PLAN_P95_US] = forecast->latency.p95_us;
    value[KVC_PLAN_P99_US] = forecast->latency.p99_us;
    value[KVC_PLAN_P999_US] = forecast->latency.p999_us;
    value[KVC_PLAN_MEAN_US] = forecast->latency.mean_us;
    value[KVC_PLAN_MOPS] = known(forecast->throughput_mops);
    value[KVC_PLAN_SERVED_FRAC] = 1 - forecast->unserved_frac;
    value[KVC_PLAN_HIT_FRAC] = forecast->hit_frac;
    value[KVC_PLAN_WINDOW_FRAC] = NAN;
    value[KVC_PLAN_WATTS] = known(forecast->watts_mean);
    value[KVC_PLAN_PRICE_USD] = forecast->price_usd;
}

enum kvc_status kvc_plan_predict_values(const struct kvc_scenario *scenario, double value[KVC_PLAN_METRICS],
                                        struct kvc_diag *diag)
{
    struct kvc_forecast forecast;
    enum kvc_status status = kvc_scenario_forecast(scenario, &forecast, diag);
    if (status == KVC_OK) {
        kvc_plan_forecast_values(&forecast, value);
    }
    return status;
}

void kvc_plan_simulated_values(const struct kvc_outcome *outcome, double value[KVC_PLAN_METRICS])
{
    static const char *const names[KVC_PLAN_METRICS] = {
        [KVC_PLAN_P50_US] = "latency_p50_us",   [KVC_PLAN_P95_US] = "latency_p95_us",
        [KVC_PLAN_P99_US] = "latency_p99_us",   [KVC_PLAN_P999_US] = "latency_p99.9_us",
        [KVC_PLAN_MEAN_US] = "latency_mean_us", [KVC_PLAN_MOPS] = "throughput_mops",
        [KVC_PLAN_HIT_FRAC] = "hit_frac",
    };
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        value[i] = names[i] != NULL ? kvc_outcome_interval(outcome, names[i]).mean : NAN;
    }
    value[KVC_PLAN_SERVED_FRAC] = 1 - kvc_outcome_unserved_frac(outcome);
    value[KVC_PLAN_WATTS] = kvc_outcome_whole_watts(outcome);
}

void kvc_plan_tenant_values(const struct kvc_outcome *outcome, double value[KVC_PLAN_VALUES])
{
    for (uint32_t i = 0; i < KVC_TENANTS_MAX; i++) {
        value[KVC_PLAN_TENANT_US + i] =
            i < outcome->result.tenant_count ? outcome->result.tenant[i].latency.p99_us : NAN;
    }
}
