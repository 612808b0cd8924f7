#include "kernels/cuda.h"

#include <cerrno>
#include <cstdio>

#include <cuda_runtime.h>

bool kvc_cuda_device(struct kvc_cuda_device *device)
{
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
        return false;
    }
    std::snprintf(device->name, sizeof(device->name), "%s", properties.name);
    cudaDriverGetVersion(&device->driver);
    cudaRuntimeGetVersion(&device->runtime);
    device->multiprocessors = properties.multiProcessorCount;
    device->memory_bytes = properties.totalGlobalMem;
    device->l2_bytes = static_cast<uint64_t>(properties.l2CacheSize);
    return true;
}

static void set_errno(cudaError_t error)
{
    errno = error == cudaErrorMemoryAllocation ? ENOMEM : ENODEV;
}

struct kvc_cuda_stream *kvc_cuda_stream_create(void)
{
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error != cudaSuccess) {
        set_errno(error);
        return nullptr;
    }
    return reinterpret_cast<struct kvc_cuda_stream *>(stream);
}

void kvc_cuda_stream_free(struct kvc_cuda_stream *stream)
{
    if (stream != nullptr) {
        cudaStreamDestroy(reinterpret_cast<cudaStream_t>(stream));
    }
}

bool kvc_cuda_stream_wait(struct kvc_cuda_stream *stream)
{
    return cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(stream)) == cudaSuccess;
}

void *kvc_cuda_alloc(uint64_t bytes)
{
    void *memory = nullptr;
    cudaError_t error = cudaMalloc(&memory, bytes);
    if (error != cudaSuccess) {
        set_errno(error);
        return nullptr;
    }
    return memory;
}

void kvc_cuda_free(void *memory)
{
    cudaFree(memory);
}

void *kvc_cuda_alloc_pinned(uint64_t bytes)
{
    void *memory = nullptr;
    cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
    if (error != cudaSuccess) {
        set_errno(error);
        return nullptr;
    }
    return memory;
}

void kvc_cuda_free_pinned(void *memory)
{
    cudaFreeHost(memory);
}
