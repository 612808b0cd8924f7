#include "scenarios/run/sensitivity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/forecast.h"
#include "models/model.h"
#include "models/resource.h"
#include "scenarios/run/sensitivity_internal.h"
#include "sim/base/array.h"

/* Smaller elasticities are rounding errors. */
static const double NOTHING = 1e-9;

static struct kvc_sensitivity *create(const struct kvc_hardware_values *values)
{
    struct kvc_sensitivity *found = kvc_array_of(1, sizeof(*found));
    found->parameter = kvc_array_of(values->parameter_count + 1, sizeof(*found->parameter));
    found->count = values->parameter_count;
    for (uint32_t i = 0; i < found->count; i++) {
        const struct kvc_hardware_parameter *parameter = &values->parameter[i];
        const struct kvc_hardware_value *first = &values->value[parameter->first];
        snprintf(found->parameter[i].path, sizeof(found->parameter[i].path), "%s", parameter->path);
        snprintf(found->parameter[i].value, sizeof(found->parameter[i].value), "%s", first->origin->value);
        found->parameter[i].source = first->origin->source;
        found->parameter[i].values = parameter->count;
        found->parameter[i].is_zero = true;
        for (uint32_t j = 0; j < parameter->count; j++) {
            found->parameter[i].is_zero &= first[j].number == 0;
        }
    }
    return found;
}

/* The highest percentile of which some elasticity is known. */
static int known_latency(const struct kvc_sensitivity *found)
{
    for (int metric = KVC_SENSITIVITY_P99; metric > KVC_SENSITIVITY_MEAN; metric--) {
        for (uint32_t i = 0; i < found->count && metric != KVC_SENSITIVITY_P50; i++) {
            if (!isnan(found->parameter[i].elasticity[metric].mean)) {
                return metric;
            }
        }
    }
    return KVC_SENSITIVITY_MEAN;
}

/* The size that an elasticity has at least. */
static double size_of(const struct kvc_interval *elasticity)
{
    double chance = isnan(elasticity->half_width) ? NOTHING : fmax(elasticity->half_width, NOTHING);
    return fabs(elasticity->mean) > chance ? fabs(elasticity->mean) - chance : 0;
}

static void set_ranks(struct kvc_sensitivity *found)
{
    found->latency = known_latency(found);
    for (uint32_t i = 0; i < found->count; i++) {
        const struct kvc_interval *elasticity = found->parameter[i].elasticity;
        int latency = kvc_sensitivity_latency_of(&found->parameter[i], found->latency);
        found->parameter[i].rank =
            fmax(size_of(&elasticity[KVC_SENSITIVITY_THROUGHPUT]), size_of(&elasticity[latency]));
    }
}

/* Most important first; equals by path, so that the order is the same everywhere. */
static int by_rank(const void *a, const void *b)
{
    const struct kvc_sensitivity_parameter *first = a, *second = b;
    if (first->rank != second->rank) {
        return first->rank > second->rank ? -1 : 1;
    }
    return strcmp(first->path, second->path);
}

static void count_kinds(struct kvc_sensitivity *found)
{
    for (uint32_t i = 0; i < found->count; i++) {
        const struct kvc_sensitivity_parameter *parameter = &found->parameter[i];
        found->fixed += parameter->by == KVC_SENSITIVITY_FIXED;
        found->without_effect += parameter->by == KVC_SENSITIVITY_CLOSED_FORM && parameter->rank == 0;
        found->not_run += parameter->not_run;
    }
}

/* Tells the user which numbers of the members of a cluster are not varied. */
static void note_what_stays(const struct kvc_hardware_values *values, struct kvc_result *result)
{
    const struct kvc_cluster *cluster = &values->scenario->cluster;
    for (uint32_t member = 0; member < cluster->member_count; member++) {
        const char *first = NULL;
        uint32_t count = 0;
        for (uint32_t i = 0; i < values->parameter_count; i++) {
            if (kvc_hardware_values_stays(values, &values->parameter[i], member)) {
                first = first != NULL ? first : values->parameter[i].path;
                count++;
            }
        }
        if (count > 0) {
            kvc_result_note(result,
                            "sensitivity: %u parameters, such as %s, are lists of another length in member "
                            "\"%.40s\" and are varied in the other nodes only",
                            count, first, cluster->member[member].name);
        }
    }
}

enum kvc_status kvc_sensitivity_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    struct kvc_forecast forecast;
    return kvc_scenario_forecast(scenario, &forecast, diag);
}

enum kvc_status kvc_sensitivity_find(const struct kvc_loaded *loaded, const struct kvc_run_options *options,
                                     struct kvc_outcome *outcome, struct kvc_sensitivity **out,
                                     struct kvc_diag *diag)
{
    *out = NULL;
    enum kvc_status status = kvc_sensitivity_check(&loaded->scenario, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_sensitivity_analysis analysis = {.scenario = &loaded->scenario};
    kvc_hardware_values_of(loaded, &analysis.values);
    note_what_stays(&analysis.values, &outcome->result);
    analysis.found = create(&analysis.values);
    analysis.copy = kvc_scenario_copy(&loaded->scenario);
    struct kvc_sensitivity_step *step = kvc_array_of(analysis.values.parameter_count + 1, sizeof(*step));
    kvc_sensitivity_by_closed_form(&analysis, step);
    set_ranks(analysis.found);
    kvc_sensitivity_draw(&analysis, KVC_SENSITIVITY_DRAWS);
    if (options != NULL) {
        status = kvc_sensitivity_by_runs(&analysis, step, options, outcome, diag);
        set_ranks(analysis.found);
    }
    free(step);
    kvc_scenario_free_copy(analysis.copy);
    kvc_hardware_values_free(&analysis.values);
    if (status != KVC_OK) {
        kvc_sensitivity_free(analysis.found);
        return status;
    }
    qsort(analysis.found->parameter, analysis.found->count, sizeof(*analysis.found->parameter), by_rank);
    count_kinds(analysis.found);
    *out = analysis.found;
    return KVC_OK;
}
