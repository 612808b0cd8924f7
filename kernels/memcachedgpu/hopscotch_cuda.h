/** @file
 * The hopscotch table in device memory, the twin of hopscotch.h: the same layout, and the same code for an
 * operation.
 *
 * Every operation is one thread. MemcachedGPU (SoCC 2015, sec. 4.2.1) needs a lock for every entry of a
 * neighbourhood; here a lock covers 64 entries, so that an insert or an erase takes one or two of them.
 * Searches take no lock, because no two batches run at the same time.
 *
 * The operations of a batch of inserts or erases run at the same time, so the order of operations whose
 * neighbourhoods overlap is not defined. Searches, batches of one, and batches whose neighbourhoods do not
 * overlap give the same results as on the CPU.
 *
 * `stats` may be NULL. If the device fails, outputs are not written and nothing is counted.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_CUDA_H
#define KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_CUDA_H

#include "kernels/cuda.h"
#include "kernels/memcachedgpu/hopscotch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Creates an empty table in device memory, for use through index.h with 8-byte keys.
 *
 * Returns NULL with errno EINVAL (params, or a key_bytes_max below 8), ENODEV or ENOMEM.
 */
struct kvc_index *kvc_hopscotch_cuda_create(const struct kvc_hopscotch_params *params);

/** Copies a CPU table, which must not change meanwhile, into device memory; errors as in the function above.
 */
struct kvc_index *kvc_hopscotch_cuda_copy(const struct kvc_hopscotch *from);

/** Copies the table back into a CPU table of the same geometry.
 *
 * Returns false if the geometries differ or the device fails.
 */
bool kvc_hopscotch_cuda_download(const struct kvc_index *index, struct kvc_hopscotch *to);

/** The table in device memory as an index of 8-byte keys with 16 neighbours. */
extern const struct kvc_index_kind kvc_hopscotch_cuda_kind;

#ifdef __cplusplus
}
#endif

#endif
