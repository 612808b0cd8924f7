/* The set-associative table in device memory; the GPU twin of set_assoc.h.
 *
 * The same layout byte for byte and the same answers. GETs are one thread each, SETs and erases one warp
 * each, whose first thread takes the set's exclusive lock and whose threads look at all ways at once
 * (MemcachedGPU, SoCC 2015, sec. 4.1.2 and 4.2.2). The paper launches a kernel per SET; here a batch is one
 * launch.
 *
 * The operations of a batch of SETs or erases run at the same time: of equal keys any may win, and which of
 * several new keys a full set keeps is not defined. Keys in different sets, and batches of one, give what the
 * CPU gives. Batches of different streams may run at the same time.
 *
 * The functions of index.h return when the answer is there; `stats` may be NULL. Those below return at once.
 * If the device fails, kvc_cuda_stream_wait says so; outputs are then not written. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_CUDA_H
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_CUDA_H

#include "kernels/cuda.h"
#include "kernels/memcachedgpu/set_assoc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An empty table. NULL with errno EINVAL (params), ENODEV or ENOMEM. */
struct kvc_index *kvc_set_assoc_cuda_create(const struct kvc_set_assoc_params *params);

/* A copy of a CPU table, which must not change meanwhile. NULL with errno ENODEV or ENOMEM. */
struct kvc_index *kvc_set_assoc_cuda_copy(const struct kvc_set_assoc *from);

/* Copies the table back into a CPU table of the same geometry; waits for all work on the device. false:
 * another geometry, or the device failed. */
bool kvc_set_assoc_cuda_download(const struct kvc_index *index, struct kvc_set_assoc *to);

/* As kvc_set_assoc_search, _insert and _erase. All arrays are in device or pinned host memory and stay as
 * they are until the stream has been waited for. */
void kvc_set_assoc_cuda_search(struct kvc_index *index, struct kvc_cuda_stream *stream,
                               const struct kvc_set_assoc_keys *keys, uint32_t count, uint32_t now,
                               struct kvc_set_assoc_item *items);
void kvc_set_assoc_cuda_insert(struct kvc_index *index, struct kvc_cuda_stream *stream,
                               const struct kvc_set_assoc_keys *keys, const struct kvc_set_assoc_item *items,
                               uint32_t count, uint32_t now, struct kvc_set_assoc_item *out);
void kvc_set_assoc_cuda_erase(struct kvc_index *index, struct kvc_cuda_stream *stream,
                              const struct kvc_set_assoc_keys *keys, const uint32_t *location, uint32_t count,
                              struct kvc_set_assoc_item *out);

/* The table as kernels take it, and whether their searches are to take the shared lock. */
struct kvc_set_assoc_table kvc_set_assoc_cuda_table(const struct kvc_index *index, bool *shared_lock);

/* Its index is that of 8-byte keys, 16 ways. */
extern const struct kvc_index_kind kvc_set_assoc_cuda_kind;

#ifdef __cplusplus
}
#endif

#endif
