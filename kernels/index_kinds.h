/* All indexes that there are. */
#ifndef KVC_KERNELS_INDEX_KINDS_H
#define KVC_KERNELS_INDEX_KINDS_H

#include "kernels/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both end with NULL. The second has those whose table is in device memory; it is built where CUDA is. */
extern const struct kvc_index_kind *const kvc_index_kinds[];
extern const struct kvc_index_kind *const kvc_cuda_index_kinds[];

#ifdef __cplusplus
}
#endif

#endif
