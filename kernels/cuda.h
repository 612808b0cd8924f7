/** @file
 * The GPU for programs in plain C: the device, streams and memory.
 *
 * Calls that end in _begin return at once; the work runs in the stream, in the order of the calls.
 *
 * These functions exist only in builds with a CUDA compiler. The CUDA runtime is linked statically, so a
 * program built on one machine runs on any other that has a driver. */
#ifndef KVC_KERNELS_CUDA_H
#define KVC_KERNELS_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Properties of device 0. */
struct kvc_cuda_device {
    char name[256];        /**< Product name. */
    int driver;            /**< CUDA version of the driver; 13000 is 13.0. */
    int runtime;           /**< CUDA version of the runtime; 13000 is 13.0. */
    int multiprocessors;   /**< Streaming multiprocessors. */
    uint64_t memory_bytes; /**< Device memory [bytes]. */
    uint64_t l2_bytes;     /**< Second-level cache [bytes]. */
};

/** Queries device 0. Returns false if there is no device or no driver. */
bool kvc_cuda_device(struct kvc_cuda_device *device);

/** A queue of device work: a cudaStream_t. NULL is the default stream. */
struct kvc_cuda_stream;

/** Creates a stream. Returns NULL with errno ENODEV or ENOMEM. */
struct kvc_cuda_stream *kvc_cuda_stream_create(void);

/** Frees a stream. NULL is allowed. */
void kvc_cuda_stream_free(struct kvc_cuda_stream *stream);

/** Waits for all work in a stream. Returns false if some of it failed; the process cannot use the device any
 * more then. */
bool kvc_cuda_stream_wait(struct kvc_cuda_stream *stream);

/** Begins to copy bytes between device memory and pinned host memory, or within one of them. Returns false if
 * the device refuses. */
bool kvc_cuda_copy_begin(void *to, const void *from, uint64_t bytes, struct kvc_cuda_stream *stream);

/** Begins to copy the first `bytes` bytes of `rows` rows, which lie `stride` bytes apart at both ends.
 * Returns false if the device refuses. */
bool kvc_cuda_copy_rows_begin(void *to, const void *from, uint64_t stride, uint64_t bytes, uint64_t rows,
                              struct kvc_cuda_stream *stream);

/** A mark in a stream that is reached when all work before it is done: a cudaEvent_t. */
struct kvc_cuda_event;

/** Creates an event. Returns NULL with errno ENODEV or ENOMEM. */
struct kvc_cuda_event *kvc_cuda_event_create(void);

/** Frees an event. NULL is allowed. */
void kvc_cuda_event_free(struct kvc_cuda_event *event);

/** Records the event in a stream, which ends its earlier recording. Returns false if the device refuses.
 */
bool kvc_cuda_event_record(struct kvc_cuda_event *event, struct kvc_cuda_stream *stream);

/** State of an event. */
enum kvc_cuda_event_state {
    KVC_CUDA_EVENT_PENDING, /**< Work before the event is not finished yet. */
    KVC_CUDA_EVENT_REACHED, /**< All work before the event is finished, or the event was never recorded. */
    KVC_CUDA_EVENT_FAILED,  /**< The device failed; the process cannot use it any more. */
};

/** Asks for the state of an event without waiting. */
enum kvc_cuda_event_state kvc_cuda_event_query(struct kvc_cuda_event *event);

/** Allocates device memory. Returns NULL with errno ENODEV or ENOMEM. */
void *kvc_cuda_alloc(uint64_t bytes);

/** Frees device memory. NULL is allowed. */
void kvc_cuda_free(void *memory);

/** Fills device memory with zeros. Returns false if the device failed. */
bool kvc_cuda_zero(void *memory, uint64_t bytes);

/** Allocates pinned host memory, which the device reads and writes in place over PCIe. Returns NULL with
 * errno ENODEV or ENOMEM. */
void *kvc_cuda_alloc_pinned(uint64_t bytes);

/** Frees pinned host memory. NULL is allowed. */
void kvc_cuda_free_pinned(void *memory);

/** Pins host memory of another allocator and maps it into the device's address space, so that the
 * device reads and writes it in place, over PCIe, at the addresses that the host uses. Memory that shares a
 * page with it must not be pinned in the same way. Returns false, and pins nothing, if the device or the
 * system refuses; kvc_cuda_error() says why. */
bool kvc_cuda_share(void *memory, uint64_t bytes);

/** Undoes kvc_cuda_share(). The caller frees the memory afterwards. NULL is allowed. */
void kvc_cuda_unshare(void *memory);

/** Returns the text of the last error of the CUDA runtime in this thread, and forgets the error. */
const char *kvc_cuda_error(void);

#ifdef __cplusplus
}
#endif

#endif
