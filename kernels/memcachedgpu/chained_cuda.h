/* The chained table in device memory; the GPU twin of chained.h, with the same layout and the same code for
 * one operation.
 *
 * Searches walk their chains side by side, one thread each. Whatever changes the table, and be it only the
 * LRU queue, goes through one thread, in order: that is what the baseline's global lock comes to on a GPU
 * (MemcachedGPU, SoCC 2015, sec. 4.2.1), and why its authors chose sets. Results are those of the CPU, batch
 * for batch.
 *
 * `stats` may be NULL. If the device fails, outputs are not written and nothing is counted. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_CHAINED_CUDA_H
#define KVC_KERNELS_MEMCACHEDGPU_CHAINED_CUDA_H

#include "kernels/cuda.h"
#include "kernels/memcachedgpu/chained.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An empty table, to be used through index.h with 8-byte keys. NULL with errno EINVAL (params; also keys of
 * less than 8 bytes), ENODEV or ENOMEM. */
struct kvc_index *kvc_chained_cuda_create(const struct kvc_chained_params *params);

/* A copy of a CPU table, which must not change meanwhile. As kvc_chained_cuda_create. */
struct kvc_index *kvc_chained_cuda_copy(const struct kvc_chained *from);

/* Copies the table back into a CPU table of the same geometry. false: another one, or the device failed. */
bool kvc_chained_cuda_download(const struct kvc_index *index, struct kvc_chained *to);

/* Its index is that of 8-byte keys, exactly least recently used. */
extern const struct kvc_index_kind kvc_chained_cuda_kind;

#ifdef __cplusplus
}
#endif

#endif
