/* Phases of a composed store's load (sim/workload/phases.h). Stages have the costs of the present phase,
 * whose load has its own hit ratios of caches. Requests that are on their way when a phase ends have the
 * costs of the next one. */
#ifndef KVC_MODELS_COMPOSED_FLOW_PHASES_H
#define KVC_MODELS_COMPOSED_FLOW_PHASES_H

#include "models/composed/state.h"

/* Sets up the costs of each phase of an open server. */
void kvc_composed_phases_open(struct kvc_composed_server *server);

/* Lets the stages cost what they do in the phase of a time of the run. */
void kvc_composed_phases_follow(struct kvc_composed_server *server, double time_ns);

#endif
