#include "sim/metrics/bottleneck.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/text/copy.h"
#include "sim/metrics/statistics.h"

const double kvc_bottleneck_saturated_frac = 0.9;

const char kvc_bottleneck_undecided[] = "undecided";

/* Stages that share a core have the same utilization; the one that uses more of the core ranks first. */
static bool is_busier(const struct kvc_stage_result *stage, const struct kvc_stage_result *than)
{
    return stage->utilization_frac > than->utilization_frac ||
           (stage->utilization_frac == than->utilization_frac && stage->busy_s > than->busy_s);
}

/* Returns the busiest stage other than `except`, or NULL if the utilization of every other stage is unknown.
 */
static const struct kvc_stage_result *busiest(const struct kvc_result *result,
                                              const struct kvc_stage_result *except)
{
    const struct kvc_stage_result *found = NULL;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct kvc_stage_result *stage = &result->stage[i];
        if (stage != except && !isnan(stage->utilization_frac) &&
            (found == NULL || is_busier(stage, found))) {
            found = stage;
        }
    }
    return found;
}

const struct kvc_stage_result *kvc_bottleneck_busiest_stage(const struct kvc_result *result)
{
    return busiest(result, NULL);
}

void kvc_bottleneck_busiest(const struct kvc_result *result, char *text, size_t size)
{
    const struct kvc_stage_result *first = busiest(result, NULL), *second = busiest(result, first);
    if (first == NULL) {
        snprintf(text, size, "no utilization is known");
        return;
    }
    size_t used = (size_t)snprintf(text, size, "%.32s (%.32s) is busy %.1f %% of the time", first->name,
                                   first->device, 100 * first->utilization_frac);
    if (second != NULL && used < size) {
        snprintf(text + used, size - used, ", next is %.32s (%.32s) with %.1f %%", second->name,
                 second->device, 100 * second->utilization_frac);
    }
}

void kvc_bottleneck_find(struct kvc_result *result)
{
    const struct kvc_stage_result *first = busiest(result, NULL);
    bool saturated = first != NULL && first->utilization_frac >= kvc_bottleneck_saturated_frac;
    kvc_text_copy(result->bottleneck_stage, KVC_NAME_MAX, saturated ? first->name : "load");
    kvc_text_copy(result->bottleneck_device, KVC_NAME_MAX, saturated ? first->device : "load");
    result->bottleneck_why[0] = '\0';
    if (first == NULL || result->is_wordless) {
        return;
    }
    size_t used =
        (size_t)snprintf(result->bottleneck_why, KVC_NOTE_BYTES, "%s",
                         saturated ? "" : "no stage is busy 90 % of the time, the load is the limit: ");
    kvc_bottleneck_busiest(result, result->bottleneck_why + used, KVC_NOTE_BYTES - used);
}

/* Returns whether the mean of values can be told from 0. */
static bool differs_from_zero(const double *value, uint32_t count)
{
    struct kvc_interval mean = kvc_interval_of(value, count);
    return fabs(mean.mean) > mean.half_width;
}

void kvc_bottleneck_add_name(char *bottleneck, const char *stage)
{
    size_t used = strlen(bottleneck);
    snprintf(bottleneck + used, KVC_NAME_MAX - used, "%s%s", used > 0 ? "+" : "", stage);
}

void kvc_bottleneck_find_in_parts(struct kvc_result *result, const double *utilization, uint32_t parts)
{
    const struct kvc_stage_result *first = busiest(result, NULL);
    kvc_bottleneck_find(result);
    if (first == NULL || parts < 2) {
        return;
    }
    const double *most = utilization + (size_t)(first - result->stage) * parts;
    double *difference = kvc_array_of(parts, sizeof(*difference));
    char names[KVC_NAME_MAX] = "";
    uint32_t named = 0;
    bool saturated = first->utilization_frac >= kvc_bottleneck_saturated_frac;
    for (uint32_t part = 0; part < parts; part++) {
        difference[part] = most[part] - kvc_bottleneck_saturated_frac;
    }
    bool load_decided = differs_from_zero(difference, parts);
    if (!saturated || !load_decided) {
        kvc_bottleneck_add_name(names, "load");
    }
    for (uint32_t stage = 0; stage < result->stage_count && (saturated || !load_decided); stage++) {
        for (uint32_t part = 0; part < parts; part++) {
            difference[part] = most[part] - utilization[(size_t)stage * parts + part];
        }
        if (&result->stage[stage] == first || !differs_from_zero(difference, parts)) {
            kvc_bottleneck_add_name(names, result->stage[stage].name);
            named++;
        }
    }
    free(difference);
    snprintf(result->bottleneck_stage, KVC_NAME_MAX, "%s",
             named == result->stage_count ? kvc_bottleneck_undecided : names);
}

bool kvc_bottleneck_names(const char *bottleneck, const char *stage)
{
    size_t length = strlen(stage);
    for (const char *name = bottleneck; name != NULL; name = strchr(name, '+')) {
        name += *name == '+';
        if (strcspn(name, "+") == length && strncmp(name, stage, length) == 0) {
            return true;
        }
    }
    return false;
}
