/* What the GPU twins of the hopscotch and the chained table share: statistics of kernels, calls with arrays
 * in any memory, device memory. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_TABLE_CUDA_CUH
#define KVC_KERNELS_MEMCACHEDGPU_TABLE_CUDA_CUH

#include <cerrno>

#include "kernels/cuda.h"
#include "kernels/memcachedgpu/table_batch.h"
#include "kernels/staging.cuh"

namespace kvc
{

constexpr uint32_t warp_threads = 32;

/* Adds what the threads of a warp counted in one kernel; all threads of the warp call it. */
__device__ __forceinline__ void add_stats(struct kvc_index_stats *to, const struct kvc_index_stats &local)
{
    const uint64_t fields[] = {local.search_hits, local.search_lines, local.insert_lines, local.replaced,
                               local.dropped,     local.evicted,      local.erased,       local.erase_lines};
    uint64_t *const sums[] = {&to->search_hits, &to->search_lines, &to->insert_lines, &to->replaced,
                              &to->dropped,     &to->evicted,      &to->erased,       &to->erase_lines};
#pragma unroll
    for (int f = 0; f < 8; f++) {
        uint32_t sum = __reduce_add_sync(0xffffffffu, static_cast<uint32_t>(fields[f]));
        if (threadIdx.x % warp_threads == 0 && sum != 0) {
            atomicAdd(reinterpret_cast<unsigned long long *>(sums[f]), static_cast<unsigned long long>(sum));
        }
    }
}

enum class table_operation { search, insert, erase };

/* Performs one call of index.h: makes the arrays accessible to the device, launches (`launch` returns a
 * cudaError_t), waits and adds the statistics to `stats`, which may be NULL. Returns what this batch counted,
 * or zeros if the device failed. */
template <typename LAUNCH>
struct kvc_index_stats run_batch(table_operation operation, const uint64_t *hash, const uint32_t *location,
                                 uint32_t *out, uint32_t count, struct kvc_index_stats *counted,
                                 struct kvc_index_stats *stats, LAUNCH launch)
{
    cudaStream_t stream = nullptr;
    struct kvc_index_stats local = {};
    if (count == 0) {
        return local;
    }
    staged<const uint64_t> hashes(hash, count, true, false, stream);
    staged<const uint32_t> locations(location, count, true, false, stream);
    staged<uint32_t> outs(out, count, false, true, stream);
    if (hashes.error() != cudaSuccess || locations.error() != cudaSuccess || outs.error() != cudaSuccess ||
        cudaMemsetAsync(counted, 0, sizeof(*counted), stream) != cudaSuccess) {
        return local;
    }
    struct kvc_table_batch batch = {};
    batch.hash = hashes.device();
    batch.location = locations.device();
    batch.location_out = outs.device();
    if (launch(batch, stream) != cudaSuccess) {
        return local;
    }
    outs.finish();
    if (cudaMemcpyAsync(&local, counted, sizeof(local), cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess) {
        return {};
    }
    local.searches += operation == table_operation::search ? count : 0;
    local.inserts += operation == table_operation::insert ? count : 0;
    local.erases += operation == table_operation::erase ? count : 0;
    if (stats != nullptr) {
        kvc_index_stats_add(stats, &local);
    }
    return local;
}

/* Allocates zeroed device memory; nullptr with errno. */
template <typename T> T *alloc_zeroed(uint64_t bytes)
{
    void *memory = kvc_cuda_alloc(bytes);
    if (memory != nullptr && cudaMemset(memory, 0, bytes) != cudaSuccess) {
        kvc_cuda_free(memory);
        errno = ENODEV;
        memory = nullptr;
    }
    return static_cast<T *>(memory);
}

inline bool copy_in(void *to, const void *from, uint64_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
}

inline bool copy_out(void *to, const void *from, uint64_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}

} // namespace kvc

#endif
