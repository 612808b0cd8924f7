/** @file
 * A background task for the GPU: the vector multiplication that shares the card with MemcachedGPU.
 *
 * Source: MemcachedGPU (SoCC 2015), sec. 5.4, which has 256 blocks of 1024 threads. The multiprocessors
 * schedule whole blocks and do not preempt them, so a kernel that runs at the same time waits for blocks to
 * end where its own blocks do not fit.
 *
 * The task asks for multiprocessors with the largest share of shared memory, although it uses none: then only
 * the room for threads and blocks keeps other kernels out. A multiprocessor that was set up for kernels
 * without shared memory takes no block of a kernel that needs some until it is idle.
 *
 * A block multiplies its own part of two vectors of floats, element by element, into a third one, in the
 * number of rounds that the caller gives. All three vectors lie in device memory; parts of all blocks that
 * exceed the second-level cache stream from there.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_BACKGROUND_CUDA_H
#define KVC_KERNELS_MEMCACHEDGPU_BACKGROUND_CUDA_H

#include "kernels/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of a task. */
struct kvc_background_params {
    uint32_t blocks;     /**< Blocks of the whole task, at least 1. */
    uint32_t threads;    /**< Threads of a block, 1 to 1024. */
    uint32_t kernels;    /**< Kernels that the task is launched as, one after the other, 1 to `blocks`. */
    uint64_t part_bytes; /**< Part of each vector that a block works on [bytes], at least 4. */
};

/** The vectors of a task. */
struct kvc_background;

/** Allocates the vectors and fills the factors with 3 and 2, the product with 0. NULL with errno EINVAL
 * (params), ENODEV or ENOMEM. */
struct kvc_background *kvc_background_create(const struct kvc_background_params *params);

/** Frees the vectors, after all work on them has ended. NULL is allowed. */
void kvc_background_free(struct kvc_background *background);

/** Starts the task in a stream and returns at once. A block passes over its part `rounds` times. The kernels
 * get equal shares of the blocks; if the blocks cannot be divided evenly, the first kernels get one more. */
void kvc_background_begin(struct kvc_background *background, uint32_t rounds, struct kvc_cuda_stream *stream);

/** Waits for the device and counts the elements of the product that are 6. Returns 0 if the device fails. */
uint64_t kvc_background_products(const struct kvc_background *background);

#ifdef __cplusplus
}
#endif

#endif
