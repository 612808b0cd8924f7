/* The uncertainty of an answer: Monte Carlo over the intervals of the hardware's values. */
#include "scenarios/run/sensitivity_internal.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/rng.h"

/* Draws that tell whether a parameter matters at all. */
enum { FIRST_DRAWS = 20 };

/* Quantile of the normal distribution that the upper end of a 95 % interval is. */
static const double Z95 = 1.959963984540054;

/* The answers of some draws, by metric. */
struct answers {
    uint32_t count, refused;
    double *metric[KVC_SENSITIVITY_METRICS];
};

static bool is_uncertain(const struct kvc_hardware_value *value)
{
    return !isnan(value->origin->interval.low);
}

/* Draws a value. Its stream has the value's path as name, so that draws do not depend on the other values. */
static double draw_value(const struct kvc_hardware_value *value, uint64_t seed, uint32_t draw)
{
    const struct kvc_bounds *interval = &value->origin->interval;
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, value->origin->path, draw);
    double z = gsl_cdf_ugaussian_Pinv(kvc_rng_unit(&rng) + 0x1p-54);
    double half = z < 0 ? value->number - interval->low : interval->high - value->number;
    return value->number + z * half / Z95;
}

static void set_drawn(const struct kvc_sensitivity_analysis *analysis,
                      const struct kvc_hardware_parameter *parameter, uint32_t draw)
{
    for (uint32_t i = 0; i < parameter->count; i++) {
        const struct kvc_hardware_value *value = &analysis->values.value[parameter->first + i];
        if (is_uncertain(value)) {
            kvc_hardware_values_set(&analysis->values, parameter, i,
                                    draw_value(value, analysis->scenario->run.seed, draw), analysis->copy);
        }
    }
}

static void ask(const struct kvc_sensitivity_analysis *analysis, struct answers *answers)
{
    struct kvc_sensitivity_answer answer;
    if (!kvc_sensitivity_ask(analysis->copy, &answer)) {
        answers->refused++;
        return;
    }
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        answers->metric[i][answers->count] = answer.metric[i];
    }
    answers->count++;
}

static struct answers answers_of(uint32_t draws)
{
    struct answers answers = {0};
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        answers.metric[i] = kvc_array_of(draws, sizeof(double));
    }
    return answers;
}

static void free_answers(struct answers *answers)
{
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        free(answers->metric[i]);
    }
}

/* Returns the variance; NaN if an answer is unknown. */
static double variance(const struct answers *answers, int metric)
{
    return answers->count > 1 ? gsl_stats_variance(answers->metric[metric], 1, answers->count) : NAN;
}

/* Varies one parameter alone. The answers stay few if they are all the same. */
static void draw_alone(const struct kvc_sensitivity_analysis *analysis,
                       const struct kvc_hardware_parameter *parameter, uint32_t draws,
                       struct answers *answers)
{
    double sum = 1;
    answers->count = answers->refused = 0;
    for (uint32_t draw = 0; draw < draws && sum > 0; draw++) {
        set_drawn(analysis, parameter, draw);
        ask(analysis, answers);
        if (draw + 1 == FIRST_DRAWS) {
            sum = 0;
            for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
                sum += variance(answers, i) > 0;
            }
        }
    }
    kvc_hardware_values_restore(&analysis->values, parameter, analysis->copy);
}

static void take_ranges(struct kvc_sensitivity_analysis *analysis, struct answers *answers)
{
    struct kvc_uncertainty *uncertainty = &analysis->found->uncertainty;
    uncertainty->refused = answers->refused;
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        bool known = !isnan(variance(answers, i));
        double *sorted = answers->metric[i];
        if (known) {
            gsl_sort(sorted, 1, answers->count);
        }
        uncertainty->range[i].low =
            known ? gsl_stats_quantile_from_sorted_data(sorted, 1, answers->count, 0.025) : NAN;
        uncertainty->range[i].median =
            known ? gsl_stats_quantile_from_sorted_data(sorted, 1, answers->count, 0.5) : NAN;
        uncertainty->range[i].high =
            known ? gsl_stats_quantile_from_sorted_data(sorted, 1, answers->count, 0.975) : NAN;
    }
}

/* Counts the values with an interval; parameters that have some are marked. */
static void count_uncertain(struct kvc_sensitivity_analysis *analysis)
{
    struct kvc_uncertainty *uncertainty = &analysis->found->uncertainty;
    uncertainty->values = analysis->values.count;
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        const struct kvc_hardware_parameter *parameter = &analysis->values.parameter[i];
        for (uint32_t j = 0; j < parameter->count; j++) {
            bool uncertain = is_uncertain(&analysis->values.value[parameter->first + j]);
            uncertainty->with_interval += uncertain;
            analysis->found->parameter[i].has_interval |= uncertain;
        }
    }
}

void kvc_sensitivity_draw(struct kvc_sensitivity_analysis *analysis, uint32_t draws)
{
    struct kvc_uncertainty *uncertainty = &analysis->found->uncertainty;
    count_uncertain(analysis);
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        for (int j = 0; j < KVC_SENSITIVITY_METRICS; j++) {
            analysis->found->parameter[i].variance_share_frac[j] = NAN;
        }
    }
    if (uncertainty->with_interval == 0) {
        return;
    }
    uncertainty->draws = draws;
    struct answers all = answers_of(draws), alone = answers_of(draws);
    for (uint32_t draw = 0; draw < draws; draw++) {
        for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
            set_drawn(analysis, &analysis->values.parameter[i], draw);
        }
        ask(analysis, &all);
    }
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        kvc_hardware_values_restore(&analysis->values, &analysis->values.parameter[i], analysis->copy);
    }
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        struct kvc_sensitivity_parameter *found = &analysis->found->parameter[i];
        if (!found->has_interval) {
            continue;
        }
        draw_alone(analysis, &analysis->values.parameter[i], draws, &alone);
        for (int j = 0; j < KVC_SENSITIVITY_METRICS; j++) {
            found->variance_share_frac[j] = variance(&alone, j) / variance(&all, j);
        }
    }
    take_ranges(analysis, &all);
    free_answers(&all);
    free_answers(&alone);
}
