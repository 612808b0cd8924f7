/* What a GPU takes for the simplest things, one call at a time: to be timed by the caller. Each returns when
 * it is done; false: the device failed. */
#ifndef KVC_KERNELS_CUDA_PROBE_H
#define KVC_KERNELS_CUDA_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel that does nothing, launched and waited for. */
bool kvc_cuda_probe_launch(void);

/* `host`: pinned memory. */
bool kvc_cuda_probe_copy(void *device, void *host, uint64_t bytes, bool to_device);

/* Reads `count` sectors of 32 bytes at random out of a table of `bytes`, a power of two; other ones for each
 * `turn`. */
bool kvc_cuda_probe_sectors(const void *table, uint64_t bytes, uint64_t count, uint32_t turn);

#ifdef __cplusplus
}
#endif

#endif
