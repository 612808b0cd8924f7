#ifndef KVC_MODELS_DIDO_RUN_H
#define KVC_MODELS_DIDO_RUN_H

#include "sim/run/context.h"
#include "sim/scenario.h"

/* Simulates one replica of a scenario. */
enum kvc_status kvc_dido_run(const struct kvc_run_context *context, struct kvc_diag *diag);

/* Returns the length of a window of the recorder [ns]. */
double kvc_dido_window_ns(const struct kvc_scenario *scenario);

/* Returns the memory of the batches of a replica [bytes]. */
double kvc_dido_run_memory_bytes(const struct kvc_scenario *scenario);

#endif
