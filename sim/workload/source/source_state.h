/** @file
 * The state of a request source (sim/workload/source/source.h), with the helpers that all its parts use. Only
 * the files source*.c include this header.
 *
 * source_requests makes requests, source_batch moves them to batches, and source_saturating, source_open,
 * source_closed and source_trace each implement one kind of arrival. source.c ties them together. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_STATE_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/rng.h"
#include "sim/workload/actions.h"
#include "sim/workload/source/arrivals.h"
#include "sim/workload/batch.h"
#include "sim/workload/keys/hash_ring.h"
#include "sim/workload/keys/key_part.h"
#include "sim/workload/source/rows.h"
#include "sim/workload/source/sends.h"
#include "sim/workload/sizes.h"
#include "sim/workload/trace.h"
#include "sim/workload/workload.h"
#include "sim/workload/keys/zipf.h"

enum {
    KVC_SOURCE_BLOCK = 1024, /**< Requests made at a time, so that their columns fit the L1 cache. */
    KVC_SOURCE_SEARCH_LIMIT = 1 << 16, /**< Trace lines that one kvc_source_next_ns looks through. */
    KVC_SOURCE_SEARCH_BLOCKS = 1 << 10 /**< Blocks of requests that it looks through in an open loop. */
};

/** The odd number nearest to 2^64 divided by the golden ratio, the step of splitmix64. */
static const uint64_t KVC_SOURCE_GOLDEN = 0x9e3779b97f4a7c15ull;

/** A frame that left its client but was not drained yet (open loop). */
struct kvc_source_queued {
    double left_ns;      /**< When it left its client [ns]. */
    double first_ns;     /**< Send time of its first request [ns]. */
    float *since_ns;     /**< Time from the first request to each request [ns]; NULL: none. */
    uint32_t connection; /**< Its connection. */
    uint32_t count;      /**< Its requests. */
    uint32_t drained;    /**< How many of them are drained. */
};

/** A client that fills a frame for a shard (open loop). The time of a request is rounded down to one part in
 * 2^24 of the time since the frame's first, which keeps the frames of many clients in the cache. */
struct kvc_source_filler {
    double first_ns; /**< Send time of the first request in the frame [ns]. */
    float *since_ns; /**< Time from the first request to each request [ns]; NULL if the frame is empty. */
    uint32_t count;  /**< Requests in the frame. */
    uint32_t full;   /**< Requests with which the frame leaves. */
    uint32_t frames; /**< Frames that have left. */
    uint32_t older;  /**< The filler whose frame was opened before this one's, or KVC_SOURCE_NO_FILLER. */
    uint32_t newer;  /**< The filler whose frame was opened after this one's, or KVC_SOURCE_NO_FILLER. */
};

enum { KVC_SOURCE_NO_FILLER = UINT32_MAX };

/** The clients of an open loop, and the frames that they fill. */
struct kvc_source_clients {
    struct kvc_arrivals arrivals;     /**< Produces send times. */
    uint32_t flows;                   /**< Clients per shard. */
    uint32_t connections;             /**< Connections per client. */
    double timeout_ns;                /**< A frame leaves this long after its first request [ns]. */
    struct kvc_source_filler *filler; /**< Client i of shard s is entry s * flows + i. */
    uint32_t oldest;                  /**< First of the list of open frames. */
    uint32_t newest;                  /**< Last of that list. */
    double expires_ns;                /**< When the oldest open frame leaves at the latest [ns]. */
    double through_ns;                /**< All frames that leave by this time have left [ns]. */
    float **spare;                    /**< Arrays of send times to be used again. */
    uint32_t spares;                  /**< Number of `spare`. */
    uint32_t spare_capacity;          /**< Allocated entries of `spare`. */
    double sent_ns[KVC_SOURCE_BLOCK]; /**< Send times of a block. */
    uint16_t flow[KVC_SOURCE_BLOCK];  /**< Clients of a block. */

    struct kvc_rng shard_rng;         /**< At once: draws the shard of a frame. */
    uint32_t shard[KVC_SOURCE_BLOCK]; /**< At once: shards of a block of frames. */
    uint32_t next;                    /**< At once: the next frame of the block. */
    uint64_t unframed;                /**< At once: rows of all shards that no frame holds yet. */
};

/** The part of a source that belongs to one shard. */
struct kvc_source_shard {
    struct kvc_rows rows;             /**< Requests that wait to be drained. */
    struct kvc_source_queued *frames; /**< Open loop: a queue of frames, `first_frame` to `last_frame` - 1. */
    uint32_t first_frame;             /**< Oldest frame of the queue. */
    uint32_t last_frame;              /**< End of the queue. */
    uint32_t frame_capacity;          /**< Allocated frames. */
    uint32_t framed;                  /**< At once: how many of `rows` belong to a frame of the queue. */
    uint32_t turn;                    /**< Saturating, trace: frames drained so far. */
    struct kvc_sends sends;           /**< Closed loop: pending sends of this shard's clients. */
};

/** A request source. */
struct kvc_source {
    struct kvc_workload workload;     /**< What to produce. */
    uint32_t shards;                  /**< nodes * sockets. */
    uint32_t frame_requests;          /**< Requests per frame. */
    uint32_t window;                  /**< Saturating load: requests that may wait for one shard. */
    uint64_t hash_seed;               /**< Seed of kvc_hash. */
    struct kvc_source_shard *shard;   /**< The shards. */
    struct kvc_hash_ring *ring;       /**< Maps a hash to its shard. */
    struct kvc_sizes *sizes;          /**< Key and value sizes; NULL for a trace. */
    struct kvc_zipf *zipf;            /**< Popularity of the members; NULL if uniform. */
    struct kvc_part_sampler *sampler; /**< Of a part: popularity of its keys in the present epoch. */
    uint32_t epoch;                   /**< Of a part: the epoch of the next request. */
    struct kvc_action_mix actions;    /**< What GETs read. */
    uint64_t members;                 /**< Members, each with a key of every kind; without actions, keys. */
    bool sizes_fixed;                 /**< Every key and every value has the same size. */
    uint64_t set_from;                /**< A 63-bit random number from here on is a SET ... */
    uint64_t delete_from;             /**< ... and from here on a DELETE; a smaller one is a GET. */
    struct kvc_rng op_rng;            /**< Draws operations. */
    struct kvc_rng key_rng;           /**< Draws keys. */

    struct kvc_columns block;                    /**< Scratch columns of KVC_SOURCE_BLOCK requests. */
    uint32_t *block_shard;                       /**< Scratch: shard of each request. */
    uint32_t *block_order;                       /**< Scratch: requests sorted by shard. */
    uint32_t *shard_rows;                        /**< Scratch: where each shard's requests start. */
    uint8_t same_key_bytes[KVC_SOURCE_BLOCK];    /**< Fixed sizes: the key size, repeated to be copied. */
    uint32_t same_value_bytes[KVC_SOURCE_BLOCK]; /**< Fixed sizes: the value size, repeated. */

    struct kvc_source_clients clients; /**< Open loop: the clients. */

    uint64_t client_key;     /**< Closed loop: seed of the clients' draws. */
    uint64_t *client_key_id; /**< Closed loop: the key that each client requests next. */
    uint8_t *client_op;      /**< Closed loop: the operation of that request. */
    uint32_t *client_draws;  /**< Closed loop: requests that each client has drawn so far. */

    struct kvc_trace *trace; /**< The trace; NULL after its end. */
    double trace_ns;         /**< Trace: time of the last line read [ns]; negative: none yet. */

    struct kvc_source *phase[KVC_PHASES_MAX]; /**< Phases: their sources, which do the work. */
    uint64_t first_key;                       /**< Of a phase: the first of its keys. */

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

/** Draws members by their popularity. */
static inline void kvc_source_draw_members(const struct kvc_source *source, struct kvc_rng *rng,
                                           uint64_t *member, uint32_t count)
{
    if (source->sampler != NULL) {
        kvc_part_sampler_fill(source->sampler, rng, member, count);
        return;
    }
    if (source->zipf != NULL) {
        kvc_zipf_fill(source->zipf, rng, member, count);
        return;
    }
    struct kvc_rng local = *rng;
    for (uint32_t i = 0; i < count; i++) {
        member[i] = kvc_rng_below(&local, source->members);
    }
    *rng = local;
}

/** Draws keys by the popularity of their members and of what is read. Of the key of an update, only the
 * member counts. */
static inline void kvc_source_draw_key_ids(const struct kvc_source *source, struct kvc_rng *rng,
                                           uint64_t *key_id, uint32_t count)
{
    kvc_source_draw_members(source, rng, key_id, count);
    uint32_t kinds = source->actions.kinds;
    for (uint32_t i = 0; kinds > 1 && i < count; i++) {
        key_id[i] = key_id[i] * kinds + kvc_action_draw(source->actions.read_below, kinds, rng);
    }
    for (uint32_t i = 0; source->first_key > 0 && i < count; i++) {
        key_id[i] += source->first_key;
    }
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
