#include "kernels/cuda_probe.h"

#include <cuda_runtime.h>

#include "kernels/global_clock.cuh"
#include "kernels/hash.h"

namespace
{

constexpr uint32_t block = 256, sector_bytes = 32;

__global__ void nothing()
{
}

/* Two threads read a sector. The unlikely comparison keeps the compiler from removing the reads. */
__global__ void read_sectors(uint4 *table, uint64_t mask, uint64_t count, uint32_t repetition)
{
    uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    uint64_t sector = kvc_mix_64(i / 2 + repetition * count) & mask;
    if (i < count * 2) {
        uint4 word = __ldcg(table + sector * 2 + i % 2);
        if ((word.x ^ word.y ^ word.z ^ word.w) == 0x12345678u) {
            table->x = 1;
        }
    }
}

/* The words that are read are 0, which the compiler cannot know: every address depends on the read
 * before. */
__global__ void chase(const uint32_t *table, uint64_t mask, uint32_t lanes, uint32_t steps, uint64_t seed,
                      uint64_t *took)
{
    if (threadIdx.x >= lanes) {
        return;
    }
    uint64_t from_ns = kvc::global_ns(), state = kvc_mix_64(seed * 32 + threadIdx.x);
    long long from = clock64();
    for (uint32_t i = 0; i < steps; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        state += __ldcg(table + (state >> 20 & mask) * (sector_bytes / sizeof(*table)));
    }
    long long to = clock64();
    if (threadIdx.x == 0) {
        took[0] = static_cast<uint64_t>(to - from);
        took[1] = kvc::global_ns() - from_ns;
        took[2] = state;
    }
}

} // namespace

bool kvc_cuda_probe_launch(void)
{
    nothing<<<1, 32>>>();
    return cudaStreamSynchronize(nullptr) == cudaSuccess;
}

bool kvc_cuda_probe_copy(void *device, void *host, uint64_t bytes, bool to_device)
{
    cudaError_t error = to_device ? cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)
                                  : cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    return error == cudaSuccess;
}

bool kvc_cuda_probe_sectors(const void *table, uint64_t bytes, uint64_t count, uint32_t repetition)
{
    uint32_t blocks = static_cast<uint32_t>((count * 2 + block - 1) / block);
    read_sectors<<<blocks, block>>>(static_cast<uint4 *>(const_cast<void *>(table)), bytes / sector_bytes - 1,
                                    count, repetition);
    return cudaStreamSynchronize(nullptr) == cudaSuccess;
}

bool kvc_cuda_probe_chase(const void *table, uint64_t bytes, uint32_t lanes, uint32_t steps,
                          struct kvc_cuda_chase *chased)
{
    uint64_t *took = nullptr;
    if (cudaHostAlloc(reinterpret_cast<void **>(&took), 3 * sizeof(*took), cudaHostAllocDefault) !=
        cudaSuccess) {
        return false;
    }
    bool done = true;
    for (int run = 0; run < 2 && done; run++) {
        chase<<<1, 32>>>(static_cast<const uint32_t *>(table), bytes / sector_bytes - 1, lanes, steps, run,
                         took);
        done = cudaStreamSynchronize(nullptr) == cudaSuccess;
    }
    chased->cycles = static_cast<double>(took[0]) / steps;
    chased->ns = static_cast<double>(took[1]) / steps;
    cudaFreeHost(took);
    return done;
}
