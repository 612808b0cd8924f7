#include "kernels/memcachedgpu/background_cuda.h"

#include <cerrno>
#include <new>
#include <vector>

#include <cuda_runtime.h>

struct kvc_background {
    struct kvc_background_params params;
    uint64_t part; /* elements of a block */
    float *a, *b, *product;
};

namespace
{

constexpr uint32_t fill_blocks = 1024, fill_threads = 256;

__global__ void fill(float *a, float *b, float *product, uint64_t count)
{
    uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
        a[i] = 3;
        b[i] = 2;
        product[i] = 0;
    }
}

/* The accesses are volatile, so that every round reads and writes its part again. */
__global__ void multiply(const volatile float *a, const volatile float *b, volatile float *product,
                         uint64_t part, uint32_t first_block, uint32_t rounds)
{
    uint64_t first = (first_block + blockIdx.x) * part;
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint64_t i = first + threadIdx.x; i < first + part; i += blockDim.x) {
            product[i] = a[i] * b[i];
        }
    }
}

uint64_t elements(const struct kvc_background *background)
{
    return background->part * background->params.blocks;
}

} // namespace

struct kvc_background *kvc_background_create(const struct kvc_background_params *params)
{
    uint64_t part = params->part_bytes / sizeof(float);
    if (params->blocks == 0 || params->threads == 0 || params->threads > 1024 || params->kernels == 0 ||
        params->kernels > params->blocks || part == 0) {
        errno = EINVAL;
        return nullptr;
    }
    auto *background = new (std::nothrow) kvc_background{*params, part, nullptr, nullptr, nullptr};
    if (background == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    uint64_t bytes = elements(background) * sizeof(float);
    for (float **vector : {&background->a, &background->b, &background->product}) {
        *vector = static_cast<float *>(kvc_cuda_alloc(bytes));
        if (*vector == nullptr) {
            int error = errno;
            kvc_background_free(background);
            errno = error;
            return nullptr;
        }
    }
    /* Without this, multiprocessors that run the task have no shared memory for the blocks of other kernels.
     */
    cudaFuncSetAttribute(multiply, cudaFuncAttributePreferredSharedMemoryCarveout,
                         cudaSharedmemCarveoutMaxShared);
    fill<<<fill_blocks, fill_threads>>>(background->a, background->b, background->product,
                                        elements(background));
    if (cudaDeviceSynchronize() != cudaSuccess) {
        kvc_background_free(background);
        errno = ENODEV;
        return nullptr;
    }
    return background;
}

void kvc_background_free(struct kvc_background *background)
{
    if (background != nullptr) {
        kvc_cuda_free(background->a);
        kvc_cuda_free(background->b);
        kvc_cuda_free(background->product);
        delete background;
    }
}

void kvc_background_begin(struct kvc_background *background, uint32_t rounds, struct kvc_cuda_stream *stream)
{
    const struct kvc_background_params *params = &background->params;
    uint32_t first = 0;
    for (uint32_t k = 0; k < params->kernels; k++) {
        uint32_t blocks = params->blocks / params->kernels + (k < params->blocks % params->kernels ? 1 : 0);
        multiply<<<blocks, params->threads, 0, reinterpret_cast<cudaStream_t>(stream)>>>(
            background->a, background->b, background->product, background->part, first, rounds);
        first += blocks;
    }
}

uint64_t kvc_background_products(const struct kvc_background *background)
{
    std::vector<float> product(elements(background));
    if (cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemcpy(product.data(), background->product, product.size() * sizeof(float),
                   cudaMemcpyDeviceToHost) != cudaSuccess) {
        return 0;
    }
    uint64_t count = 0;
    for (float value : product) {
        count += value == 6;
    }
    return count;
}
