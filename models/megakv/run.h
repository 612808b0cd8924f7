/* The simulation of one replica of a Mega-KV cluster. */
#ifndef KVC_MODELS_MEGAKV_RUN_H
#define KVC_MODELS_MEGAKV_RUN_H

#include "models/cuckoo_store/store.h"
#include "models/model.h"

/* Simulates a replica. The state in `context` is a struct kvc_cuckoo_store. */
enum kvc_status kvc_megakv_run(const struct kvc_run_context *context, struct kvc_diag *diag);

/* Returns the memory of the buffers of a replica for which the closed form predicts this [bytes]. */
double kvc_megakv_run_memory_bytes(const struct kvc_scenario *scenario, const struct kvc_result *predicted);

#endif
