/* Simulates one replica: an actor for the whole cluster, which works in slices. */
#ifndef KVC_MODELS_BLUECACHE_RUN_H
#define KVC_MODELS_BLUECACHE_RUN_H

#include "sim/run/context.h"

enum kvc_status kvc_bluecache_run(const struct kvc_run_context *context, struct kvc_diag *diag);

/* Returns the memory of the structures and the recorder of a replica [bytes]. */
double kvc_bluecache_memory_bytes(const struct kvc_scenario *scenario);

#endif
