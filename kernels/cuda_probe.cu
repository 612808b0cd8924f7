#include "kernels/cuda_probe.h"

#include <cuda_runtime.h>

#include "kernels/mix.cuh"

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
    uint64_t sector = kvc::mix_64(i / 2 + repetition * count) & mask;
    if (i < count * 2) {
        uint4 word = __ldcg(table + sector * 2 + i % 2);
        if ((word.x ^ word.y ^ word.z ^ word.w) == 0x12345678u) {
            table->x = 1;
        }
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
