/* Simulates one replica of KV-Direct: the NICs of all nodes. */
#ifndef KVC_MODELS_KVDIRECT_RUN_H
#define KVC_MODELS_KVDIRECT_RUN_H

#include "models/kvdirect/store.h"
#include "models/model.h"

/* `store` is changed by the run. `platform_path`: see kvc_engine_open. */
enum kvc_status kvc_kvdirect_run(const struct kvc_scenario *scenario, struct kvc_kvdirect_store *store,
                                 uint32_t replica, struct kvc_timeline *timeline,
                                 const struct kvc_progress *progress, const char *platform_path,
                                 struct kvc_result *result, struct kvc_diag *diag);

#endif
