/* One simulation: a replica of a scenario, or of one node of a cluster. */
#ifndef KVC_SCENARIOS_RUN_SIMULATE_H
#define KVC_SCENARIOS_RUN_SIMULATE_H

#include "models/model.h"

enum { KVC_TIMELINE_EVENTS_MAX = 200000 }; /* About 20 MB of JSON, which Perfetto opens at once. */

/* Prepares the store of the context's scenario and simulates it. The context comes without state and
 * timeline; the timeline goes to the file `timeline` unless it is NULL. If it does not fit there, the result
 * counts nonetheless and says so (timeline_error). A process calls this at most once. */
enum kvc_status kvc_simulate(const struct kvc_run_context *context, struct kvc_partial_file *timeline,
                             struct kvc_diag *diag);

#endif
