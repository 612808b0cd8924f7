/* Outages of cores, a GPU, an FPGA or a SmartNIC's cores of a socket (run.changes). Work in progress when an
 * outage begins is lost, and done again after it. Jobs that come meanwhile wait, or are lost where queues are
 * full. All other devices go on, and memories keep what they have. Outages of links stop the whole server
 * instead (sim/run/slices/slice_outages.h).
 *
 * Operations of an FPGA that have passed its first clocks are not lost: they end as if there were no outage.
 */
#ifndef KVC_MODELS_COMPOSED_FLOW_OUTAGES_H
#define KVC_MODELS_COMPOSED_FLOW_OUTAGES_H

#include "models/composed/state.h"

/* Notes the latest outage of a place, in time of the run. */
void kvc_composed_outages_follow(struct kvc_composed_server *server, enum kvc_composed_place place,
                                 struct kvc_outage outage);

/* Returns for how long a place was off within a time [ns]. */
double kvc_composed_outage_within(const struct kvc_composed_server *server, enum kvc_composed_place place,
                                  double from_ns, double until_ns);

/* Returns for how long outages delay the final start of a job that its station takes now and that takes
 * busy_ns [ns]. */
double kvc_composed_outage_begin(const struct kvc_composed_server *server, struct kvc_composed_job *job,
                                 double now_ns, double busy_ns);

/* Whether an outage has interrupted the work for a job. What it had filled by then has been answered. */
bool kvc_composed_outage_meets(const struct kvc_composed_server *server, const struct kvc_composed_job *job,
                               double now_ns);

/* Returns when a stage ends its work for a job that would end now without outages [ns]; 0: it ends now.
 * Counts the time that was lost. */
double kvc_composed_outage_end(struct kvc_composed_server *server, struct kvc_composed_job *job,
                               uint32_t stage, double now_ns);

#endif
