/** @file
 * The state of a request source (sim/workload/source.h), with the helpers that all its parts use. Only the
 * files source*.c include this header.
 *
 * source_requests makes requests, source_batch moves them to batches, and source_saturating, source_open,
 * source_closed and source_trace each implement one kind of arrival. source.c ties them together. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_STATE_H
#define KVC_SIM_WORKLOAD_SOURCE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/rng.h"
#include "sim/workload/arrivals.h"
#include "sim/workload/batch.h"
#include "sim/workload/hash_ring.h"
#include "sim/workload/rows.h"
#include "sim/workload/sends.h"
#include "sim/workload/sizes.h"
#include "sim/workload/trace.h"
#include "sim/workload/workload.h"
#include "sim/workload/zipf.h"

enum {
    KVC_SOURCE_BLOCK = 1024,          /**< Requests made at a time, so that their columns fit the L1 cache. */
    KVC_SOURCE_SEARCH_LIMIT = 1 << 16 /**< Frames or trace lines that one kvc_source_next_ns looks through. */
};

/** The odd number nearest to 2^64 divided by the golden ratio, the step of splitmix64. */
static const uint64_t KVC_SOURCE_GOLDEN = 0x9e3779b97f4a7c15ull;

/** A frame that was sent but not drained yet (open loop). */
struct kvc_source_frame {
    double sent_ns; /**< Send time [ns]. */
    uint32_t count; /**< Requests left in the frame. */
};

/** The part of a source that belongs to one shard. */
struct kvc_source_shard {
    struct kvc_rows rows;            /**< Requests that wait to be drained. */
    struct kvc_source_frame *frames; /**< Open loop: a queue of frames, `first_frame` to `last_frame` - 1. */
    uint32_t first_frame;            /**< Oldest frame of the queue. */
    uint32_t last_frame;             /**< End of the queue. */
    uint32_t frame_capacity;         /**< Allocated frames. */
    uint32_t framed;                 /**< How many of `rows` belong to a frame of the queue. */
    struct kvc_sends sends;          /**< Closed loop: pending sends of this shard's clients. */
};

/** A request source. */
struct kvc_source {
    struct kvc_workload workload;   /**< What to produce. */
    uint32_t shards;                /**< nodes * sockets. */
    uint32_t frame_requests;        /**< Requests per frame. */
    uint32_t window;                /**< Saturating load: requests that may wait for one shard. */
    uint64_t hash_seed;             /**< Seed of kvc_hash. */
    struct kvc_source_shard *shard; /**< The shards. */
    struct kvc_hash_ring *ring;     /**< Maps a hash to its shard. */
    struct kvc_sizes *sizes;        /**< Key and value sizes; NULL for a trace. */
    struct kvc_zipf *zipf;          /**< Popularity of the keys; NULL if uniform. */
    bool sizes_fixed;               /**< Every key and every value has the same size. */
    uint64_t set_from;              /**< A 63-bit random number from here on is a SET ... */
    uint64_t delete_from;           /**< ... and from here on a DELETE; a smaller one is a GET. */
    struct kvc_rng op_rng;          /**< Draws operations. */
    struct kvc_rng key_rng;         /**< Draws keys. */

    struct kvc_columns block;                    /**< Scratch columns of KVC_SOURCE_BLOCK requests. */
    uint32_t *block_shard;                       /**< Scratch: shard of each request. */
    uint32_t *block_order;                       /**< Scratch: requests sorted by shard. */
    uint32_t *shard_rows;                        /**< Scratch: where each shard's requests start. */
    uint8_t same_key_bytes[KVC_SOURCE_BLOCK];    /**< Fixed sizes: the key size, repeated to be copied. */
    uint32_t same_value_bytes[KVC_SOURCE_BLOCK]; /**< Fixed sizes: the value size, repeated. */

    struct kvc_arrivals arrivals;           /**< Open loop: produces send times. */
    double next_frame_ns;                   /**< Open loop: send time of the next frame [ns]. */
    uint64_t unframed;                      /**< Open loop: rows of all shards that no frame holds yet. */
    struct kvc_rng frame_rng;               /**< Open loop: draws the shard of a frame. */
    uint32_t frame_shard[KVC_SOURCE_BLOCK]; /**< Open loop: shards drawn ahead. */
    uint32_t frame_shard_next;              /**< Open loop: the next entry of `frame_shard`. */

    uint64_t client_key;     /**< Closed loop: seed of the clients' draws. */
    uint64_t *client_key_id; /**< Closed loop: the key that each client requests next. */
    uint8_t *client_op;      /**< Closed loop: the operation of that request. */
    uint32_t *client_draws;  /**< Closed loop: requests that each client has drawn so far. */

    struct kvc_trace *trace; /**< The trace; NULL after its end. */
    double trace_ns;         /**< Trace: time of the last line read [ns]. */

    struct kvc_diag diag; /**< The error that stopped the stream. */
};

/** Returns whether an error has stopped the stream. */
static inline bool kvc_source_stopped(const struct kvc_source *source)
{
    return source->diag.status != KVC_OK;
}

/** Stops the stream because memory is short. */
static inline void kvc_source_out_of_memory(struct kvc_source *source)
{
    kvc_diag_fail(&source->diag, KVC_ERR_RUNTIME, "no memory for waiting requests");
}

/** Draws operations in the shares of the workload. */
static inline void kvc_source_draw_ops(const struct kvc_source *source, struct kvc_rng *rng, uint8_t *op,
                                       uint32_t count)
{
    struct kvc_rng local = *rng; /* In registers: a byte written through `op` might alias *rng. */
    uint64_t set_from = source->set_from, delete_from = source->delete_from;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t random = kvc_rng_u64(&local) >> 1;
        op[i] = (uint8_t)((random >= set_from) + (random >= delete_from));
    }
    *rng = local;
}

/** Draws keys by their popularity. */
static inline void kvc_source_draw_key_ids(const struct kvc_source *source, struct kvc_rng *rng,
                                           uint64_t *key_id, uint32_t count)
{
    if (source->zipf != NULL) {
        kvc_zipf_fill(source->zipf, rng, key_id, count);
        return;
    }
    struct kvc_rng local = *rng;
    uint64_t keys = source->workload.keys;
    for (uint32_t i = 0; i < count; i++) {
        key_id[i] = kvc_rng_below(&local, keys);
    }
    *rng = local;
}

/** Returns the columns of the batch's free rows. */
static inline struct kvc_columns kvc_source_batch_columns(struct kvc_batch *batch)
{
    struct kvc_columns columns = {.op = batch->op,
                                  .key_bytes = batch->key_bytes,
                                  .value_bytes = batch->value_bytes,
                                  .keys = batch->keys,
                                  .key_id = batch->key_id,
                                  .hash = batch->hash,
                                  .sent_ns = batch->sent_ns,
                                  .key_stride = batch->key_stride,
                                  .zero_behind = true};
    return kvc_columns_at(&columns, batch->count);
}

#endif
