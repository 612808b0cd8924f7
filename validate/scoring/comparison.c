#include "validate/scoring/comparison.h"

#include <math.h>
#include <string.h>

#include "sim/metrics/bottleneck.h"

const struct kvc_error_bounds kvc_error_bounds[KVC_READINGS] = {
    [KVC_READING_THROUGHPUT] = {0.06, 0.2},     [KVC_READING_LATENCY_MEAN] = {0.08, 0.25},
    [KVC_READING_LATENCY_P99] = {0.15, 0.4},    [KVC_READING_T_SEARCH] = {NAN, NAN},
    [KVC_READING_JOBS_PER_SEARCH] = {NAN, NAN}, [KVC_READING_T_INSERT] = {NAN, NAN},
    [KVC_READING_JOBS_PER_INSERT] = {NAN, NAN}, [KVC_READING_SEARCH_JOB] = {0.05, 0.15},
    [KVC_READING_INSERT_JOB] = {0.05, 0.15},
};

void kvc_comparison_free(struct kvc_comparison *comparison)
{
    kvc_cases_free(&comparison->cases);
    free(comparison->score);
    free(comparison->entry);
    *comparison = (struct kvc_comparison){.score = NULL};
}

static bool is_compared(int reading, bool open_loop, const struct kvc_measuring_plan_line *line,
                        const struct kvc_readings *measured)
{
    if (isnan(kvc_error_bounds[reading].mean_frac) || isnan(measured->value[reading])) {
        return false;
    }
    if (reading == KVC_READING_THROUGHPUT) {
        return !open_loop; /* An open-loop load completes all offered requests. */
    }
    if (reading == KVC_READING_LATENCY_MEAN || reading == KVC_READING_LATENCY_P99) {
        /* Under saturation, and above the capacity, latency only tells how long the queues are. */
        return kvc_measuring_plan_line_is_relative(line) && line->load_frac < 1;
    }
    return true;
}

enum kvc_status kvc_comparison_list(const struct kvc_measuring_plan *plan,
                                    const struct kvc_measured_run *runs,
                                    const struct kvc_comparison_forecast *forecasts, bool unseen,
                                    struct kvc_comparison *comparison, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    size_t most = plan->count * KVC_READINGS;
    *comparison = (struct kvc_comparison){.score = calloc(most, sizeof(*comparison->score)),
                                          .entry = calloc(most, sizeof(*comparison->entry))};
    if (comparison->score == NULL || comparison->entry == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu metrics", most);
    }
    for (size_t i = 0; i < most && status == KVC_OK; i++) {
        size_t run = i / KVC_READINGS;
        int reading = (int)(i % KVC_READINGS);
        const struct kvc_readings *measured = &runs[run].readings;
        if (kvc_measuring_plan_unseen(run) != unseen ||
            !is_compared(reading, forecasts[run].open_loop, &plan->entry[run], measured)) {
            continue;
        }
        bool undecidable = !(measured->half_frac[reading] <= kvc_error_bounds[reading].mean_frac / 2);
        struct kvc_case made = {
            .published = measured->value[reading],
            .low = NAN,
            .high = NAN,
            .tolerance_frac = kvc_error_bounds[reading].largest_frac,
            .role = undecidable ? KVC_CASE_INPUT : KVC_CASE_PREDICTION,
        };
        snprintf(made.id, sizeof(made.id), "%s:%s", plan->entry[run].id, kvc_reading_names[reading]);
        snprintf(made.metric, sizeof(made.metric), "%s", kvc_reading_names[reading]);
        comparison->entry[comparison->cases.count] =
            (struct kvc_compared){.run = run, .reading = reading, .undecidable = undecidable};
        status = kvc_cases_add(&comparison->cases, &made, diag);
    }
    if (status != KVC_OK) {
        kvc_comparison_free(comparison);
    }
    return status;
}

void kvc_comparison_score(struct kvc_comparison *comparison, const struct kvc_comparison_forecast *forecasts)
{
    for (size_t i = 0; i < comparison->cases.count; i++) {
        struct kvc_case *scored = &comparison->cases.entry[i];
        struct kvc_compared *compared = &comparison->entry[i];
        const struct kvc_comparison_forecast *forecast = &forecasts[compared->run];
        struct kvc_interval simulated = {forecast->simulated.value[compared->reading],
                                         forecast->half_width[compared->reading]};
        bool is_launch_time =
            compared->reading == KVC_READING_SEARCH_JOB || compared->reading == KVC_READING_INSERT_JOB;
        if (is_launch_time && isnan(simulated.mean)) {
            scored->role = KVC_CASE_INPUT;
        }
        compared->closed_form = forecast->closed_form.value[compared->reading];
        compared->closed_form_error_frac = kvc_score_error(scored, compared->closed_form);
        comparison->score[i] = kvc_score_case(scored, simulated, comparison->score[i].baseline_frac);
    }
}

struct kvc_error_summary kvc_comparison_summarise(const struct kvc_comparison *comparison,
                                                  const struct kvc_comparison_part *part)
{
    size_t count = 0;
    double *errors_frac = malloc((comparison->cases.count + 1) * sizeof(*errors_frac));
    if (errors_frac == NULL) {
        kvc_out_of_memory("%zu errors", comparison->cases.count);
    }
    for (size_t i = 0; i < comparison->cases.count; i++) {
        const struct kvc_compared *compared = &comparison->entry[i];
        if (compared->reading != part->reading) {
            continue;
        }
        if (part->closed_form && !isnan(compared->closed_form_error_frac)) {
            errors_frac[count++] = compared->closed_form_error_frac;
        }
        if (!part->closed_form && comparison->cases.entry[i].role == KVC_CASE_PREDICTION) {
            errors_frac[count++] = comparison->score[i].error_frac.mean;
        }
    }
    struct kvc_error_summary summary = kvc_errors_summarise(errors_frac, count);
    free(errors_frac);
    return summary;
}

struct kvc_bottlenecks kvc_comparison_bottlenecks(const struct kvc_measuring_plan *plan,
                                                  const struct kvc_measured_run *runs,
                                                  const struct kvc_comparison_forecast *forecasts,
                                                  bool unseen)
{
    struct kvc_bottlenecks found = {0};
    for (size_t i = 0; i < plan->count; i++) {
        const char *measured = runs[i].readings.bottleneck;
        if (kvc_measuring_plan_unseen(i) != unseen) {
            continue;
        }
        if (strcmp(measured, kvc_bottleneck_undecided) == 0) {
            found.undecided++;
            continue;
        }
        found.runs++;
        found.right_simulated += kvc_bottleneck_names(measured, forecasts[i].simulated.bottleneck);
        found.right_closed_form += kvc_bottleneck_names(measured, forecasts[i].closed_form.bottleneck);
    }
    return found;
}

struct kvc_repeatability kvc_comparison_repeatability(const struct kvc_measuring_plan *plan,
                                                      const struct kvc_measured_run *runs,
                                                      const struct kvc_comparison_forecast *forecasts,
                                                      bool unseen)
{
    struct kvc_repeatability found = {0};
    double sum_frac = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (forecasts[i].open_loop || kvc_measuring_plan_unseen(i) != unseen) {
            continue;
        }
        sum_frac += runs[i].spread_frac;
        found.max_frac = fmax(found.max_frac, runs[i].spread_frac);
        found.runs++;
    }
    found.mean_frac = found.runs > 0 ? sum_frac / (double)found.runs : 0;
    return found;
}
