/* Outages of the cores of a socket (run.changes). What cores were at when an outage began is lost and done
 * again after it; what comes meanwhile waits, and is lost where queues are full. All other devices go on.
 * Outages of links stop the whole server instead (sim/run/slices/slice_outages.h). */
#ifndef KVC_MODELS_COMPOSED_FLOW_OUTAGES_H
#define KVC_MODELS_COMPOSED_FLOW_OUTAGES_H

#include "models/composed/state.h"

/* Notes the latest outage of the cores, in time of the run. */
void kvc_composed_outages_follow(struct kvc_composed_server *server, struct kvc_outage outage);

/* Returns after which time a stage begins with a job at last that a server takes now and that takes busy_ns
 * [ns]. */
double kvc_composed_outage_begin(const struct kvc_composed_server *server, struct kvc_composed_job *job,
                                 uint32_t stage, double now_ns, double busy_ns);

/* Returns when the work of a stage for a job that would end now ends at last; 0: now. Counts what was lost.
 */
double kvc_composed_outage_end(struct kvc_composed_server *server, struct kvc_composed_job *job,
                               uint32_t stage, double now_ns);

#endif
