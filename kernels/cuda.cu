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

bool kvc_cuda_copy_begin(void *to, const void *from, uint64_t bytes, struct kvc_cuda_stream *stream)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, reinterpret_cast<cudaStream_t>(stream)) ==
           cudaSuccess;
}

bool kvc_cuda_copy_rows_begin(void *to, const void *from, uint64_t stride, uint64_t bytes, uint64_t rows,
                              struct kvc_cuda_stream *stream)
{
    return cudaMemcpy2DAsync(to, stride, from, stride, bytes, rows, cudaMemcpyDefault,
                             reinterpret_cast<cudaStream_t>(stream)) == cudaSuccess;
}

struct kvc_cuda_event *kvc_cuda_event_create(void)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error != cudaSuccess) {
        set_errno(error);
        return nullptr;
    }
    return reinterpret_cast<struct kvc_cuda_event *>(event);
}

void kvc_cuda_event_free(struct kvc_cuda_event *event)
{
    if (event != nullptr) {
        cudaEventDestroy(reinterpret_cast<cudaEvent_t>(event));
    }
}

bool kvc_cuda_event_record(struct kvc_cuda_event *event, struct kvc_cuda_stream *stream)
{
    return cudaEventRecord(reinterpret_cast<cudaEvent_t>(event), reinterpret_cast<cudaStream_t>(stream)) ==
           cudaSuccess;
}

enum kvc_cuda_event_state kvc_cuda_event_query(struct kvc_cuda_event *event)
{
    cudaError_t error = cudaEventQuery(reinterpret_cast<cudaEvent_t>(event));
    return error == cudaSuccess         ? KVC_CUDA_EVENT_REACHED
           : error == cudaErrorNotReady ? KVC_CUDA_EVENT_PENDING
                                        : KVC_CUDA_EVENT_FAILED;
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

bool kvc_cuda_zero(void *memory, uint64_t bytes)
{
    return cudaMemset(memory, 0, bytes) == cudaSuccess && cudaStreamSynchronize(nullptr) == cudaSuccess;
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

bool kvc_cuda_share(void *memory, uint64_t bytes)
{
    void *on_device = nullptr;
    if (cudaHostRegister(memory, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable) != cudaSuccess) {
        return false;
    }
    if (cudaHostGetDevicePointer(&on_device, memory, 0) == cudaSuccess && on_device == memory) {
        return true;
    }
    cudaHostUnregister(memory);
    return false;
}

void kvc_cuda_unshare(void *memory)
{
    if (memory != nullptr) {
        cudaHostUnregister(memory);
    }
}

const char *kvc_cuda_error(void)
{
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? "the device has other addresses than the host" : cudaGetErrorString(error);
}
