/* The GPU, for programs in plain C: what there is, streams, memory that both sides reach.
 *
 * Everything here is built only where there is a CUDA compiler. The runtime is linked statically, so a
 * program built on one machine runs on any that has a driver. */
#ifndef KVC_KERNELS_CUDA_H
#define KVC_KERNELS_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of device 0. */
struct kvc_cuda_device {
    char name[256];
    int driver, runtime; /* 13000 is 13.0 */
    int multiprocessors;
    uint64_t memory_bytes, l2_bytes;
};

/* false: no device, or no driver. */
bool kvc_cuda_device(struct kvc_cuda_device *device);

/* A queue of device work; a cudaStream_t. NULL is the default stream. */
struct kvc_cuda_stream;
struct kvc_cuda_stream *kvc_cuda_stream_create(void); /* NULL with errno ENODEV or ENOMEM */
void kvc_cuda_stream_free(struct kvc_cuda_stream *stream);
/* Waits for all work in it; false: some of it failed, and the device is lost to this process. */
bool kvc_cuda_stream_wait(struct kvc_cuda_stream *stream);

/* Device memory, and host memory that the device reads and writes in place over PCIe. NULL with errno ENODEV
 * or ENOMEM. */
void *kvc_cuda_alloc(uint64_t bytes);
void kvc_cuda_free(void *memory);
void *kvc_cuda_alloc_pinned(uint64_t bytes);
void kvc_cuda_free_pinned(void *memory);

#ifdef __cplusplus
}
#endif

#endif
