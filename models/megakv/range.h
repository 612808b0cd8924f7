/* Whether a scenario asks a calibrated machine for what was not measured there. */
#ifndef KVC_MODELS_MEGAKV_RANGE_H
#define KVC_MODELS_MEGAKV_RANGE_H

#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Adds a note for every quantity that leaves the range of the node's measured stages: frames, items, memory,
 * pipelines, and the jobs of a launch (NaN: not known, 0: there is none). A machine without measured stages
 * gets none. */
void kvc_megakv_note_range(const struct kvc_scenario *scenario, double jobs_per_search,
                           struct kvc_result *result);

#endif
