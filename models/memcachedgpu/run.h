/* Simulates one replica of MemcachedGPU. */
#ifndef KVC_MODELS_MEMCACHEDGPU_RUN_H
#define KVC_MODELS_MEMCACHEDGPU_RUN_H

#include "sim/base/diag.h"
#include "sim/run/context.h"
#include "sim/scenario.h"

/* Simulates the scenario of the context, whose state is a struct kvc_memcachedgpu_store. Returns the errors
 * of kvc_replica_open() and kvc_replica_run(). */
enum kvc_status kvc_memcachedgpu_run(const struct kvc_run_context *context, struct kvc_diag *diag);

/* Returns the memory of the packets, responses and batches of a replica [bytes]. */
double kvc_memcachedgpu_run_memory_bytes(const struct kvc_scenario *scenario);

#endif
