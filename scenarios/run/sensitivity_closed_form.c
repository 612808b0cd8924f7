/* Elasticities by the closed form. */
#include "scenarios/run/sensitivity_internal.h"

#include <math.h>

#include "models/forecast.h"

static const double FACTOR = 1.05;

bool kvc_sensitivity_ask(struct kvc_scenario *copy, struct kvc_sensitivity_answer *answer)
{
    struct kvc_diag diag = {0};
    struct kvc_forecast forecast;
    if (kvc_hardware_values_settle(copy, &diag) != KVC_OK ||
        kvc_scenario_forecast(copy, &forecast, &diag) != KVC_OK) {
        return false;
    }
    answer->metric[KVC_SENSITIVITY_THROUGHPUT] = forecast.throughput_mops;
    answer->metric[KVC_SENSITIVITY_MEAN] = forecast.latency_mean_us;
    answer->metric[KVC_SENSITIVITY_P50] = forecast.latency_p50_us;
    answer->metric[KVC_SENSITIVITY_P95] = forecast.latency_p95_us;
    answer->metric[KVC_SENSITIVITY_P99] = forecast.latency_p99_us;
    return true;
}

double kvc_sensitivity_move(const struct kvc_sensitivity_analysis *analysis, uint32_t parameter, double power,
                            struct kvc_scenario *copy)
{
    const struct kvc_hardware_parameter *moved = &analysis->values.parameter[parameter];
    double sum = 0;
    uint32_t changed = 0;
    for (uint32_t i = 0; i < moved->count; i++) {
        double number = analysis->values.value[moved->first + i].number;
        double wanted = number * pow(FACTOR, power);
        if (moved->row->type == KVC_OPTION_COUNT) {
            wanted = power > 0   ? fmax(round(wanted), number + 1)
                     : power < 0 ? fmin(round(wanted), number - 1)
                                 : number;
        }
        double set = kvc_hardware_values_set(&analysis->values, moved, i, wanted, copy);
        if (set > 0 && number > 0 && set != number) {
            sum += log(set / number);
            changed++;
        }
    }
    return changed > 0 ? sum / changed : NAN;
}

/* Asks for the answer with the parameter moved by a power of the factor, or of 2 for a whole number that has
 * to be a power of two. Returns the logarithm of the change; NaN if it cannot be moved that way. */
static double ask_beside(struct kvc_sensitivity_analysis *analysis, uint32_t parameter, double *power,
                         struct kvc_sensitivity_answer *answer)
{
    const struct kvc_hardware_parameter *moved = &analysis->values.parameter[parameter];
    double log_ratio = kvc_sensitivity_move(analysis, parameter, *power, analysis->copy);
    bool answered = !isnan(log_ratio) && kvc_sensitivity_ask(analysis->copy, answer);
    if (!answered && moved->row->type == KVC_OPTION_COUNT) {
        *power *= log(2) / log(FACTOR);
        log_ratio = kvc_sensitivity_move(analysis, parameter, *power, analysis->copy);
        answered = !isnan(log_ratio) && kvc_sensitivity_ask(analysis->copy, answer);
    }
    kvc_hardware_values_restore(&analysis->values, moved, analysis->copy);
    return answered ? log_ratio : NAN;
}

static void find(struct kvc_sensitivity_analysis *analysis, uint32_t parameter,
                 const struct kvc_sensitivity_answer *usual, struct kvc_sensitivity_step *step)
{
    struct kvc_sensitivity_parameter *found = &analysis->found->parameter[parameter];
    struct kvc_sensitivity_answer lower = *usual, upper = *usual;
    *step = (struct kvc_sensitivity_step){.lower = -1, .upper = 1};
    double down = ask_beside(analysis, parameter, &step->lower, &lower);
    double up = ask_beside(analysis, parameter, &step->upper, &upper);
    if (isnan(down)) {
        lower = *usual;
        step->lower = 0;
    }
    if (isnan(up)) {
        upper = *usual;
        step->upper = 0;
    }
    step->log_ratio = (isnan(up) ? 0 : up) - (isnan(down) ? 0 : down);
    found->by = step->log_ratio > 0 ? KVC_SENSITIVITY_CLOSED_FORM : KVC_SENSITIVITY_FIXED;
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        double elasticity = log(upper.metric[i] / lower.metric[i]) / step->log_ratio;
        found->elasticity[i] = (struct kvc_interval){isfinite(elasticity) ? elasticity : NAN, NAN};
    }
}

void kvc_sensitivity_by_closed_form(struct kvc_sensitivity_analysis *analysis,
                                    struct kvc_sensitivity_step *step)
{
    struct kvc_sensitivity_answer usual;
    if (!kvc_sensitivity_ask(analysis->copy, &usual)) {
        for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
            usual.metric[i] = NAN;
        }
    }
    analysis->found->step_frac = FACTOR - 1;
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        find(analysis, i, &usual, &step[i]);
    }
}
