#include "sim/metrics/bottleneck.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static const double SATURATED_FRAC = 0.9;

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
    bool saturated = first != NULL && first->utilization_frac >= SATURATED_FRAC;
    snprintf(result->bottleneck_stage, KVC_NAME_MAX, "%s", saturated ? first->name : "load");
    snprintf(result->bottleneck_device, KVC_NAME_MAX, "%s", saturated ? first->device : "load");
    result->bottleneck_why[0] = '\0';
    if (first == NULL) {
        return;
    }
    size_t used =
        (size_t)snprintf(result->bottleneck_why, KVC_NOTE_BYTES, "%s",
                         saturated ? "" : "no stage is busy 90 % of the time, the load is the limit: ");
    kvc_bottleneck_busiest(result, result->bottleneck_why + used, KVC_NOTE_BYTES - used);
}
