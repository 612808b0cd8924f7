/* The threads of a real MemcachedGPU node: GNoM-pre on the first core, GNoM-post on the next ones. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_THREADS_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_THREADS_H

#include "models/memcachedgpu/real/windows.h"

/* Runs a node that has been started until its windows suffice. Returns KVC_ERR_RUNTIME if a thread cannot be
 * started. */
enum kvc_status kvc_memcachedgpu_real_threads_run(struct kvc_memcachedgpu_real_node *node,
                                                  const struct kvc_progress *progress,
                                                  struct kvc_memcachedgpu_real_windows *windows,
                                                  struct kvc_diag *diag);

#endif
