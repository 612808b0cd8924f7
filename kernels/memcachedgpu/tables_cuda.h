/** @file
 * The hopscotch and the chained table in device memory, the twins of hopscotch.h and chained.h: the same
 * layouts, and the same code for an operation.
 *
 * The hopscotch table: every operation is one thread. MemcachedGPU (SoCC 2015, sec. 4.2.1) needs a lock for
 * every entry of a neighbourhood; here a lock covers 64 entries, so that an insert or an erase takes one or
 * two of them. Searches take no lock, because no two batches run at the same time. The operations of a batch
 * of inserts or erases run at the same time, so the order of operations whose neighbourhoods overlap is not
 * defined. Searches, batches of one, and batches whose neighbourhoods do not overlap give the same results as
 * on the CPU.
 *
 * The chained table: searches walk their chains side by side, one thread each. Everything that changes the
 * table, even if it is only the LRU queue, goes through one thread, in order. This is what the baseline's
 * global lock amounts to on a GPU (MemcachedGPU, SoCC 2015, sec. 4.2.1), and why its authors chose sets. The
 * results equal the CPU's, batch for batch.
 *
 * `stats` may be NULL. If the device fails, outputs are not written and nothing is counted.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_TABLES_CUDA_H
#define KVC_KERNELS_MEMCACHEDGPU_TABLES_CUDA_H

#include "kernels/cuda.h"
#include "kernels/memcachedgpu/chained.h"
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

/** Creates an empty table in device memory, for use through index.h with 8-byte keys.
 *
 * Returns NULL with errno EINVAL (params, or a key_bytes_max below 8), ENODEV or ENOMEM.
 */
struct kvc_index *kvc_chained_cuda_create(const struct kvc_chained_params *params);

/** Copies a CPU table, which must not change meanwhile, into device memory; errors as in the function above.
 */
struct kvc_index *kvc_chained_cuda_copy(const struct kvc_chained *from);

/** Copies the table back into a CPU table of the same geometry.
 *
 * Returns false if the geometries differ or the device fails.
 */
bool kvc_chained_cuda_download(const struct kvc_index *index, struct kvc_chained *to);

/** The table in device memory as an index of 8-byte keys that evicts exactly the least recently used one. */
extern const struct kvc_index_kind kvc_chained_cuda_kind;

#ifdef __cplusplus
}
#endif

#endif
