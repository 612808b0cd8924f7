/* Simulates one replica of KV-Direct with the NICs of all nodes. */
#ifndef KVC_MODELS_KVDIRECT_RUN_H
#define KVC_MODELS_KVDIRECT_RUN_H

#include "models/kvdirect/store.h"
#include "models/model.h"

/* Simulates the replica. The context's state is a struct kvc_kvdirect_store, which the run changes. */
enum kvc_status kvc_kvdirect_run(const struct kvc_run_context *context, struct kvc_diag *diag);

/* Returns the memory of the store and the recorder of a replica [bytes]. */
double kvc_kvdirect_memory_bytes(const struct kvc_scenario *scenario);

#endif
