/* The GET kernel: a batch of raw packets on the GPU, from frames to the heads of their responses.
 *
 * Source: MemcachedGPU (SoCC 2015), sec. 3.2.2, 4.1.1, 4.2; the same results, byte for byte, as get.h on the
 * CPU. Two threads serve a packet, as published: one in a main warp (takes the request apart, hashes the key,
 * searches the set), one in a helper warp (checks the headers, writes what does not depend on the item). Both
 * warps load packets into shared memory and store responses from there together, 16 bytes a thread. A block
 * is one main and one helper warp, 32 packets, so that a batch of 512 spreads over 16 multiprocessors.
 *
 * Where the table is made without shared_lock, no lock is taken: a hit is read again if its set's version has
 * changed. See set_assoc.h. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_GET_CUDA_H
#define KVC_KERNELS_MEMCACHEDGPU_GET_CUDA_H

#include "kernels/memcachedgpu/get.h"
#include "kernels/memcachedgpu/set_assoc_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One launch in `stream`; returns at once. `index` is a table of set_assoc_cuda.h. All of the batch is in
 * device or pinned host memory; `packets` and `responses` are aligned to 16 bytes, `packet` to 8, and the
 * packets' memory ends no earlier than the multiple of 16 bytes behind the last packet. Packets at multiples
 * of 16 bytes are loaded with the fewest accesses. If the device fails, kvc_cuda_stream_wait says so. */
void kvc_memcachedgpu_get_cuda(const struct kvc_index *index, const struct kvc_memcachedgpu_get_batch *batch,
                               struct kvc_cuda_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
