/** @file
 * Registry of the kinds of index, for tests and benchmarks that run over all kinds. */
#ifndef KVC_KERNELS_INDEX_KINDS_H
#define KVC_KERNELS_INDEX_KINDS_H

#include "kernels/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All kinds of index on the CPU; the last entry is NULL. */
extern const struct kvc_index_kind *const kvc_index_kinds[];

/** All kinds of index in device memory; the last entry is NULL. Only a build with CUDA defines it. */
extern const struct kvc_index_kind *const kvc_cuda_index_kinds[];

#ifdef __cplusplus
}
#endif

#endif
