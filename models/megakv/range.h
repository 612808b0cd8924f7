/* Notes about scenarios that exceed the range of a calibrated machine's measurements. */
#ifndef KVC_MODELS_MEGAKV_RANGE_H
#define KVC_MODELS_MEGAKV_RANGE_H

#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Adds a note for every quantity outside the range of the node's cost profile: frames, items, memory,
 * index, senders, and the searches of a launch. jobs_per_search is NaN if it is unknown, and 0 if nothing
 * is searched. A profile without measured costs adds no notes. */
void kvc_megakv_note_range(const struct kvc_scenario *scenario, double jobs_per_search,
                           struct kvc_result *result);

#endif
