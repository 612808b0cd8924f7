/* A lane holds the resources of one batch in flight: a stream, buffers for its packets and responses on host
 * and device, and an event that marks its end. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_LANE_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_LANE_H

#include "kernels/memcachedgpu/get_cuda.h"
#include "models/memcachedgpu/real/traffic.h"

struct kvc_memcachedgpu_real_lane {
    struct kvc_memcachedgpu_real_layout layout;
    struct kvc_cuda_stream *stream;
    struct kvc_cuda_event *end;
    uint8_t *image, *responses;                  /* In device memory. */
    struct kvc_memcachedgpu_get_result *results; /* In device memory. */
    uint8_t *heads;                              /* In pinned host memory. */
    struct kvc_memcachedgpu_get_result *answers; /* In pinned host memory. */
    uint32_t count;                              /* Packets of the batch in flight; 0: the lane is free. */
    double begun_ns;                             /* Set by the caller: when the batch began [ns]. */
    bool clocked;                                /* Set by the caller: the kernel writes clocks. */
};

/* Opens a lane for batches of this layout. Returns false if there is no device or not enough memory; close it
 * in any case. */
bool kvc_memcachedgpu_real_lane_open(struct kvc_memcachedgpu_real_lane *lane,
                                     const struct kvc_memcachedgpu_real_layout *layout);
void kvc_memcachedgpu_real_lane_close(struct kvc_memcachedgpu_real_lane *lane);

/* A batch to run in a lane. */
struct kvc_memcachedgpu_real_job {
    const struct kvc_index *index;
    const uint8_t *image; /* In pinned host memory if it is copied, else in device memory. */
    uint32_t count;       /* Packets. */
    uint32_t now;         /* Timestamp of the batch. */
    bool copied;          /* Copies the image in, and results and heads out. */
    /* Clocks of the kernel's blocks, in pinned host memory; NULL: it writes none. */
    struct kvc_memcachedgpu_get_clock *clocks;
};

/* Begins a batch in a free lane and returns at once. Returns false if the device refuses. */
bool kvc_memcachedgpu_real_lane_begin(struct kvc_memcachedgpu_real_lane *lane,
                                      const struct kvc_memcachedgpu_real_job *job);

#endif
