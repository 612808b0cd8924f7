/** @file
 * The set-associative table in device memory, the twin of set_assoc.h: the same layout, byte for byte, and
 * the same answers.
 *
 * A GET is one thread. A SET or an erase is one warp: its first thread takes the exclusive lock of the set,
 * and its threads inspect all ways at once (MemcachedGPU, SoCC 2015, sec. 4.1.2 and 4.2.2). The paper
 * launches a kernel per SET; here, a batch is one launch.
 *
 * The operations of a batch of SETs or erases run at the same time. If a batch contains equal keys, any of
 * them may win, and which of several new keys a full set keeps is not defined. Keys in different sets, and
 * batches of one, give the same results as on the CPU. Batches in different streams may run at the same time.
 *
 * The functions of index.h return when the answer is there, and their `stats` may be NULL. The functions
 * below return at once. If the device fails, kvc_cuda_stream_wait() reports it, and outputs are not written.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_CUDA_H
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_CUDA_H

#include "kernels/cuda.h"
#include "kernels/memcachedgpu/set_assoc.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Creates an empty table in device memory; NULL with errno EINVAL (params), ENODEV or ENOMEM. */
struct kvc_index *kvc_set_assoc_cuda_create(const struct kvc_set_assoc_params *params);

/** Copies a CPU table, which must not change meanwhile, into device memory; NULL with errno ENODEV or ENOMEM.
 */
struct kvc_index *kvc_set_assoc_cuda_copy(const struct kvc_set_assoc *from);

/** Copies the table back into a CPU table of the same geometry, after all work on the device has ended.
 *
 * Returns false if the geometries differ or the device fails.
 */
bool kvc_set_assoc_cuda_download(const struct kvc_index *index, struct kvc_set_assoc *to);

/** Starts kvc_table_search() in a stream and returns at once.
 *
 * All arrays lie in device or pinned host memory and must stay unchanged until the stream has been waited
 * for.
 */
void kvc_set_assoc_cuda_search(struct kvc_index *index, struct kvc_cuda_stream *stream,
                               const struct kvc_set_assoc_keys *keys, uint32_t count, uint32_t now,
                               struct kvc_set_assoc_item *items);

/** Starts kvc_table_insert() in a stream; the rules of kvc_set_assoc_cuda_search() apply to the arrays.
 */
void kvc_set_assoc_cuda_insert(struct kvc_index *index, struct kvc_cuda_stream *stream,
                               const struct kvc_set_assoc_keys *keys, const struct kvc_set_assoc_item *items,
                               uint32_t count, uint32_t now, struct kvc_set_assoc_item *out);

/** Starts the same; the warp of item i also writes how long it worked to cycles[i], in cycles of its
 * multiprocessor, in device or pinned host memory.
 */
void kvc_set_assoc_cuda_insert_timed(struct kvc_index *index, struct kvc_cuda_stream *stream,
                                     const struct kvc_set_assoc_keys *keys,
                                     const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                                     struct kvc_set_assoc_item *out, uint64_t *cycles);

/** Starts kvc_table_erase() in a stream; the rules of kvc_set_assoc_cuda_search() apply to the arrays. */
void kvc_set_assoc_cuda_erase(struct kvc_index *index, struct kvc_cuda_stream *stream,
                              const struct kvc_set_assoc_keys *keys, const uint32_t *location, uint32_t count,
                              struct kvc_set_assoc_item *out);

/** Returns the table as kernels take it; `*shared_lock` says whether searches must take the shared lock. */
struct kvc_set_assoc_table kvc_set_assoc_cuda_table(const struct kvc_index *index, bool *shared_lock);

/** The table in device memory as an index of 8-byte keys with 16 ways. */
extern const struct kvc_index_kind kvc_set_assoc_cuda_kind;

#ifdef __cplusplus
}
#endif

#endif
