/** @file
 * The GET kernel: batches of raw packets on the GPU, from frames to the heads of their responses.
 *
 * Source: MemcachedGPU (SoCC 2015), sec. 3.2.2, 4.1.1, 4.2. The results equal the results of get.h on the
 * CPU, byte for byte. As published, two threads serve a packet: one in a main warp parses the request, hashes
 * the key and searches the set; one in a helper warp checks the headers and writes what does not depend on
 * the item. Both warps load packets into shared memory, and store responses from there, together, 16 bytes
 * per thread. A block is one main and one helper warp, for 32 packets, so that a batch of 512 spreads over 16
 * multiprocessors.
 *
 * If the table was created without shared_lock, no lock is taken: a hit is read again if the version of its
 * set has changed. See set_assoc.h.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_GET_CUDA_H
#define KVC_KERNELS_MEMCACHEDGPU_GET_CUDA_H

#include "kernels/memcachedgpu/get.h"
#include "kernels/memcachedgpu/set_assoc_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the shared memory of a block of the GET kernel [bytes]. */
uint32_t kvc_memcachedgpu_get_cuda_shared_bytes(void);

/** Starts the GET kernel for one batch in a stream and returns at once.
 *
 * `index` is a table of set_assoc_cuda.h. The whole batch lies in device or pinned host memory; `packets` and
 * `responses` are aligned to 16 bytes, `packet` is aligned to 8 bytes, and the memory of the packets extends
 * to a multiple of 16 bytes behind the last packet. Packets at multiples of 16 bytes need the fewest
 * accesses. If the device fails, kvc_cuda_stream_wait() reports it.
 */
void kvc_memcachedgpu_get_cuda(const struct kvc_index *index, const struct kvc_memcachedgpu_get_batch *batch,
                               struct kvc_cuda_stream *stream);

/** When a block of the kernel ran. */
struct kvc_memcachedgpu_get_clock {
    uint64_t begin_ns; /**< Begin by the clock that all multiprocessors share [ns]. */
    uint64_t end_ns;   /**< End by the same clock, when the last store has been issued [ns]. */
    uint64_t cycles;   /**< Time between the two, in cycles of the block's multiprocessor. */
};

/** Packets that a block of the kernel serves. */
#define KVC_MEMCACHEDGPU_GET_BLOCK_PACKETS 32

/** Starts the same kernel, each block of which also writes its clock, one per
 * KVC_MEMCACHEDGPU_GET_BLOCK_PACKETS packets, to `clocks` in device or pinned host memory. */
void kvc_memcachedgpu_get_cuda_timed(const struct kvc_index *index,
                                     const struct kvc_memcachedgpu_get_batch *batch,
                                     struct kvc_memcachedgpu_get_clock *clocks,
                                     struct kvc_cuda_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
