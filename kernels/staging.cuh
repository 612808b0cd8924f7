/* Array arguments that may lie in any memory. The device uses device memory and pinned host memory in place.
 * Any other array gets a device copy that lives as long as the object. Copies are ordered in the stream. */
#ifndef KVC_KERNELS_STAGING_CUH
#define KVC_KERNELS_STAGING_CUH

#include <cstdint>

#include <cuda_runtime.h>

namespace kvc
{

/* True if the device can use this pointer directly. This includes NULL. */
inline bool on_device(const void *memory)
{
    cudaPointerAttributes attributes;
    if (memory == nullptr) {
        return true;
    }
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    return attributes.type != cudaMemoryTypeUnregistered;
}

template <typename T> class staged
{
  public:
    /* An array of `count` elements. The constructor copies it to the device if `read`, and finish() copies it
     * back if `write`. */
    staged(T *memory, uint64_t count, bool read, bool write, cudaStream_t stream)
        : memory_(memory), device_(memory), bytes_(count * sizeof(T)), write_(write), stream_(stream)
    {
        if (count == 0 || on_device(memory)) {
            return;
        }
        device_ = nullptr;
        error_ =
            cudaMallocAsync(reinterpret_cast<void **>(const_cast<value_type **>(&owned_)), bytes_, stream_);
        if (error_ == cudaSuccess && read) {
            error_ = cudaMemcpyAsync(owned_, memory_, bytes_, cudaMemcpyHostToDevice, stream_);
        }
        device_ = owned_;
    }

    staged(const staged &) = delete;
    staged &operator=(const staged &) = delete;

    ~staged()
    {
        if (owned_ != nullptr) {
            cudaFreeAsync(owned_, stream_);
        }
    }

    T *device() const
    {
        return device_;
    }

    cudaError_t error() const
    {
        return error_;
    }

    /* Copies a written array back. */
    void finish()
    {
        if (write_ && owned_ != nullptr && error_ == cudaSuccess) {
            error_ = cudaMemcpyAsync(const_cast<value_type *>(memory_), owned_, bytes_,
                                     cudaMemcpyDeviceToHost, stream_);
        }
    }

  private:
    using value_type = std::remove_const_t<T>;
    T *memory_;
    T *device_;
    value_type *owned_ = nullptr;
    uint64_t bytes_;
    bool write_;
    cudaStream_t stream_;
    cudaError_t error_ = cudaSuccess;
};

} // namespace kvc

#endif
