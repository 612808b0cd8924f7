/** @file
 * The streams of a GPU: each copies the operands of a job to the card, runs a kernel on them, and copies the
 * results back.
 *
 * What the streams of one card share with nobody else is exact arithmetic here, without an activity of the
 * engine for each step. A copy engine serves one stream at a time, in the order in which the streams ask.
 * Running kernels share the card max-min fairly: each gets an equal share, and a kernel that cannot use its
 * share leaves the rest to the others. The caller scales the times of copies by what other devices take from
 * the links, and posts the work of the kernels to the card's host in the platform, where it draws power.
 *
 * Outages: a copy stands still while its link is off; a kernel on a card that fails begins anew afterwards.
 *
 * Source: CUDA C++ Programming Guide, "Asynchronous Concurrent Execution". Not modelled: several copy engines
 * in one direction, blocks and their placement (sim/devices/gpu_blocks.h). */
#ifndef KVC_SIM_DEVICES_GPU_STREAMS_H
#define KVC_SIM_DEVICES_GPU_STREAMS_H

#include <stdint.h>

#include "sim/devices/gpu.h"
#include "sim/engine.h"

struct kvc_gpu_streams;

/** What a stream does, in this order. */
struct kvc_gpu_stream_job {
    double in_ns;                 /**< Time of the copy engine to copy the operands [ns]. */
    struct kvc_gpu_kernel kernel; /**< Its latency includes that of the copies. */
    double out_ns;                /**< Time of the copy engine to copy the results [ns]. */
};

/** Parts of the card that can fail. */
enum kvc_gpu_part { KVC_GPU_COPY_IN, KVC_GPU_CARD, KVC_GPU_COPY_OUT, KVC_GPU_PARTS };

/** No stream. */
enum { KVC_GPU_STREAM_NONE = UINT32_MAX };

/** Creates idle streams. Exits with status 3 if memory is short. */
struct kvc_gpu_streams *kvc_gpu_streams_create(uint32_t count);

/** Frees the streams. NULL is allowed. */
void kvc_gpu_streams_free(struct kvc_gpu_streams *streams);

/** Begins a job on an idle stream at now_ns, after kvc_gpu_streams_ended() has named all streams that ended
 * before. */
void kvc_gpu_streams_begin(struct kvc_gpu_streams *streams, uint32_t number, double now_ns,
                           const struct kvc_gpu_stream_job *job);

/** Returns when the next stream ends its job if no other begins before [ns]; INFINITY if all are idle. */
double kvc_gpu_streams_next_ns(struct kvc_gpu_streams *streams);

/** Returns a stream whose job has ended by now_ns, or KVC_GPU_STREAM_NONE if there is no further one. Streams
 * are named in the order in which they end, each once. */
uint32_t kvc_gpu_streams_ended(struct kvc_gpu_streams *streams, double now_ns);

/** States the latest outage of a part. It may have begun since the last call for the streams. */
void kvc_gpu_streams_outage(struct kvc_gpu_streams *streams, enum kvc_gpu_part part,
                            struct kvc_outage outage);

/** Returns the time of the whole card that kernels have taken since the last call [ns]. */
double kvc_gpu_streams_take_work_ns(struct kvc_gpu_streams *streams);

#endif
