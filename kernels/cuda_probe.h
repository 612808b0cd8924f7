/** @file
 * Elementary operations of a GPU, one per call, for a caller that times them.
 *
 * Every function returns when the operation is complete, and returns false if the device failed. */
#ifndef KVC_KERNELS_CUDA_PROBE_H
#define KVC_KERNELS_CUDA_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Launches an empty kernel and waits for it. */
bool kvc_cuda_probe_launch(void);

/** Copies `bytes` bytes between device memory and pinned host memory, in the direction that `to_device` says.
 */
bool kvc_cuda_probe_copy(void *device, void *host, uint64_t bytes, bool to_device);

/** Reads `count` random sectors of 32 bytes from a table in device memory of `bytes` bytes, a power of two.
 * Each `repetition` reads different sectors. */
bool kvc_cuda_probe_sectors(const void *table, uint64_t bytes, uint64_t count, uint32_t repetition);

/** Times of one access in a chain of dependent accesses. */
struct kvc_cuda_chase {
    double ns;     /**< Time of an access [ns]. */
    double cycles; /**< The time in cycles of the multiprocessors' clock. */
};

/** Follows a chain of `steps` dependent reads at random sectors of 32 bytes of a zeroed table in device
 * memory of `bytes` bytes, a power of two. A warp follows it with `lanes` threads, 1 to 32, each at its own
 * sectors: a step then lasts until the slowest of them has its sector. Reads bypass the caches of the
 * multiprocessors, so that small tables show the time of the second-level cache. The chain runs twice; the
 * second run counts. */
bool kvc_cuda_probe_chase(const void *table, uint64_t bytes, uint32_t lanes, uint32_t steps,
                          struct kvc_cuda_chase *chase);

#ifdef __cplusplus
}
#endif

#endif
