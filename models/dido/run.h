#ifndef KVC_MODELS_DIDO_RUN_H
#define KVC_MODELS_DIDO_RUN_H

#include "sim/run/context.h"

/* Simulates one replica of a scenario. */
enum kvc_status kvc_dido_run(const struct kvc_run_context *context, struct kvc_diag *diag);

#endif
