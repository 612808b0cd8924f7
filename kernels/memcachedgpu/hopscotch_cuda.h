/* The hopscotch table in device memory; the GPU twin of hopscotch.h, with the same layout and the same code
 * for one operation.
 *
 * Every operation is one thread. MemcachedGPU (SoCC 2015, sec. 4.2.1) needs a lock for every entry of a
 * neighbourhood; here one lock is of 64 entries, so that an insert or erase takes one or two of them.
 * Searches take none, since no batch runs at the same time as another.
 *
 * The operations of a batch of inserts or erases run at the same time: where neighbourhoods overlap, any may
 * come first. Batches whose neighbourhoods do not overlap, and batches of one, give what the CPU gives, and
 * so do searches.
 *
 * `stats` may be NULL. If the device fails, outputs are not written and nothing is counted. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_CUDA_H
#define KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_CUDA_H

#include "kernels/cuda.h"
#include "kernels/memcachedgpu/hopscotch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An empty table, to be used through index.h with 8-byte keys. NULL with errno EINVAL (params; also keys of
 * less than 8 bytes), ENODEV or ENOMEM. */
struct kvc_index *kvc_hopscotch_cuda_create(const struct kvc_hopscotch_params *params);

/* A copy of a CPU table, which must not change meanwhile. As kvc_hopscotch_cuda_create. */
struct kvc_index *kvc_hopscotch_cuda_copy(const struct kvc_hopscotch *from);

/* Copies the table back into a CPU table of the same geometry. false: another one, or the device failed. */
bool kvc_hopscotch_cuda_download(const struct kvc_index *index, struct kvc_hopscotch *to);

/* Its index is that of 8-byte keys, 16 neighbours. */
extern const struct kvc_index_kind kvc_hopscotch_cuda_kind;

#ifdef __cplusplus
}
#endif

#endif
