/* Simulates one replica: an actor for each server, which works in slices. */
#ifndef KVC_MODELS_MEMCACHED_RUN_H
#define KVC_MODELS_MEMCACHED_RUN_H

#include "sim/run/context.h"

enum kvc_status kvc_memcached_run(const struct kvc_run_context *context, struct kvc_diag *diag);

#endif
