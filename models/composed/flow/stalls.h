/* Stalls of the cores of a composed store (node.stalls, sim/run/stalls.h). A job takes longer by the stalls
 * that its cores meet; if several cores share it, by those of the core that stalls for longest. Cores of a
 * station take turns. Hardware threads of a core stall together. Cores of a SmartNIC do not stall. */
#ifndef KVC_MODELS_COMPOSED_FLOW_STALLS_H
#define KVC_MODELS_COMPOSED_FLOW_STALLS_H

#include "models/composed/state.h"

/* Opens the stalls of a server, if its node has some. */
void kvc_composed_stalls_open(struct kvc_composed_server *server);

/* Returns by how much stalls delay a job of a stage that begins now and takes busy_ns without them [ns]. */
double kvc_composed_stalls_begin(struct kvc_composed_server *server, struct kvc_composed_job *job,
                                 uint32_t stage, double now_ns, double busy_ns);

/* Returns the same for a job that takes its cores longer than they knew when it began [ns]. */
double kvc_composed_stalls_go_on(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                                 double now_ns, double busy_ns);

/* Returns the time of all stalls that cores of a server have met, and sets their number [ns]. */
double kvc_composed_stalls_sum_ns(const struct kvc_composed_server *server, uint32_t *cores);

#endif
