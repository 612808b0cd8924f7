/* MemcachedGPU as a store that this machine runs for real. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_MEASURE_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_MEASURE_H

#include "models/measured/measurable.h"

/* A measurement allows packets from host memory on one node, a saturating load of GETs, and one
 * set-associative table without expiry; it needs a core for GNoM-pre and one for each GNoM-post thread. A
 * program that was built without CUDA cannot open the store. */
extern const struct kvc_measurable kvc_memcachedgpu_measurable;

#endif
