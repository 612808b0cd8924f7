/** @file
 * Internals of a request source (sim/workload/source/source.h): its state, and the functions that its
 * files share.
 *
 * source_requests.c makes requests and keeps their queues, source_open.c implements open-loop arrivals,
 * source_trace.c replays traces, and source.c has the other arrivals and the interface. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_INTERNAL_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/rng.h"
#include "sim/workload/batch.h"
#include "sim/workload/keys/tenant_keys.h"
#include "sim/workload/keys/hash_ring.h"
#include "sim/workload/keys/key_part.h"
#include "sim/workload/keys/zipf.h"
#include "sim/workload/sizes.h"
#include "sim/workload/source/source.h"
#include "sim/workload/trace/replay.h"

enum { KVC_EXPONENTIAL_LAYERS = 256 /**< Layers of the ziggurat. */ };

/** Tables for exponentially distributed numbers by the ziggurat method (Marsaglia and Tsang, Journal of
 * Statistical Software 5(8), 2000): one random word, one table look-up and one multiplication for 98.9 % of
 * the numbers, and no logarithm. A number has 32 random bits, so it is a multiple of at most 2e-9 of the
 * mean. */
struct kvc_exponential {
    uint32_t inside[KVC_EXPONENTIAL_LAYERS]; /**< A smaller random number lies inside the layer below. */
    double scale[KVC_EXPONENTIAL_LAYERS];    /**< Width of the layer over 2^32. */
    double height[KVC_EXPONENTIAL_LAYERS];   /**< The density at the layer's right end. */
};

/** Fills the tables. */
void kvc_exponential_init(struct kvc_exponential *tables);

/** Draws from the distribution with mean 1 after the fast path has rejected `bits`. Used by
 * kvc_exponential_draw(). */
double kvc_exponential_redraw(const struct kvc_exponential *tables, struct kvc_rng *rng, uint64_t bits);

/** Draws from the distribution with mean 1. Sets *rest to 24 random bits that are independent of the number.
 */
static inline double kvc_exponential_draw(const struct kvc_exponential *tables, struct kvc_rng *rng,
                                          uint32_t *rest)
{
    uint64_t bits = kvc_rng_u64(rng);
    uint32_t layer = (uint32_t)bits & (KVC_EXPONENTIAL_LAYERS - 1), x = (uint32_t)(bits >> 32);
    *rest = (uint32_t)bits >> 8;
    if (__builtin_expect(x < tables->inside[layer], 1)) {
        return x * tables->scale[layer];
    }
    return kvc_exponential_redraw(tables, rng, bits);
}

/** The state of an arrival process: the send times of an open loop's requests, and the clients that send
 * them.
 *
 * The requests of all clients together are a Poisson process, a Poisson process whose rate follows a curve,
 * or equally far apart. A Poisson process deals each request to a client at random, so that the requests of
 * every client are a Poisson process of their own, independent of the other clients. With equal distances,
 * the clients take turns.
 *
 * The workload of a part (sim/workload/keys/key_part.h) has the rate of its node. If requests of all nodes
 * are equally far apart, each belongs to the node with the probability of its share. A Poisson process at one
 * rate may have epochs: its rate falls with the node's share from the rate of the largest share.
 *
 * The rate curve is linear between its points, and constant before the first and after the last one. Its
 * arrivals are found by inverting the integral of the rate (a Poisson process under a change of time),
 * without thinning. */
struct kvc_arrivals {
    const struct kvc_workload *workload; /**< Defines the process. */
    double step;                         /**< Mean requests that are sent together. */
    double last_ns;                      /**< Send time of the last arrival [ns]. */
    uint64_t count;                      /**< Arrivals so far. */
    uint64_t number;                     /**< Equal distances in a part: arrivals of all nodes so far. */
    uint32_t point;           /**< Curve: the first point that the last arrival may precede. Part with
                                   epochs: the epoch of the last arrival. */
    uint32_t state;           /**< MMPP: the state after the last arrival. */
    double rate;              /**< Bursts, MMPP: the rate [arrivals of one request/ns] ... */
    double until_ns;          /**< ... and when it ends [ns]. */
    struct kvc_rng rng;       /**< Draws the gaps and the clients. */
    struct kvc_rng state_rng; /**< MMPP: draws how long a state lasts. */
    struct kvc_exponential exponential; /**< Tables of the gaps' distribution. */
};

/** Flags for the columns that not every queue keeps. A key's bytes follow from its id unless it comes from a
 * trace. */
enum {
    KVC_ROWS_SIZES = 1, /**< Key and value sizes. */
    KVC_ROWS_KEYS = 2,  /**< The bytes of the keys. */
    KVC_ROWS_SENT = 4,  /**< Send times. */
};

/** Columns of requests, in a queue, a batch, or scratch memory. A column that is not kept is NULL. */
struct kvc_columns {
    uint8_t *op;           /**< enum kvc_op. */
    uint8_t *key_bytes;    /**< Size of the key [bytes]. */
    uint32_t *value_bytes; /**< Size of the value [bytes]. */
    uint8_t *keys;         /**< `key_stride` bytes per key; zero after the key up to its last word. */
    uint64_t *key_id;      /**< Rank of the key by popularity; for a trace, the hash. */
    uint64_t *hash;        /**< kvc_hash of the key's bytes. */
    double *sent_ns;       /**< Send time [ns]. */
    uint32_t key_stride;   /**< Distance between two keys [bytes], a multiple of 8. */
    bool zero_behind;      /**< Keys must be zero up to `key_stride`, as in a batch. */
};

/** The requests that wait for one shard: a growing first-in first-out queue, stored as a struct of arrays.
 * Rows `head` to `tail` - 1 wait. */
struct kvc_rows {
    struct kvc_columns all; /**< The columns of all rows, in contiguous memory. */
    uint32_t head;          /**< The oldest row. */
    uint32_t tail;          /**< One past the newest row. */
    uint32_t capacity;      /**< Allocated rows. */
    unsigned kept;          /**< KVC_ROWS_... flags. */
};

/** Returns the columns from row `first` on. */
struct kvc_columns kvc_columns_at(const struct kvc_columns *columns, uint32_t first);

/** Resizes columns to `capacity` rows; `kept` selects the optional ones. `key_stride` must be set; before the
 * first call, everything else must be zero. Returns false if memory is short. */
bool kvc_columns_grow(struct kvc_columns *columns, uint32_t capacity, unsigned kept);

/** Frees the columns, not the struct. */
void kvc_columns_free(struct kvc_columns *columns);

/** Initializes an empty queue. */
void kvc_rows_init(struct kvc_rows *rows, uint32_t key_stride, unsigned kept);

/** Returns the memory of a queue of requests of fixed sizes that has held `count` of them [bytes]: they move
 * through all of its room. */
double kvc_rows_memory_bytes(uint32_t count);

/** Frees the rows, not the struct. */
void kvc_rows_free(struct kvc_rows *rows);

/** Makes room for `extra` rows at the tail. Returns false if memory is short. */
bool kvc_rows_reserve(struct kvc_rows *rows, uint32_t extra);

/** Returns how many rows wait. */
static inline uint32_t kvc_rows_count(const struct kvc_rows *rows)
{
    return rows->tail - rows->head;
}

/** A pending send. */
struct kvc_send {
    double sent_ns;  /**< When the client sends [ns]. */
    uint32_t client; /**< Number of the client. */
};

/** The pending sends of the closed-loop clients of one shard, ordered by (time, client). The queue is a
 * four-ary heap: a million clients take 16 MB and about ten levels. A zeroed struct is empty. */
struct kvc_sends {
    struct kvc_send *heap; /**< The heap; its root is the earliest send. */
    uint32_t count;        /**< Sends in the heap. */
    uint32_t capacity;     /**< Allocated sends. */
};

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
    uint32_t connection; /**< Connection of the frame. */
    uint32_t count;      /**< Number of requests. */
    uint32_t drained;    /**< Number of requests already drained. */
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

/** A request that follows from another one: it fills a miss, or deletes an expired pair of a trace. */
struct kvc_later_row {
    uint64_t hash;                  /**< kvc_hash of the key. */
    uint64_t key_id;                /**< Id of the key; in a trace, its hash. */
    uint32_t value_bytes;           /**< Size of the value [bytes]. */
    uint32_t next;                  /**< In the list of free rows: the next one. */
    uint8_t op;                     /**< enum kvc_op. */
    uint8_t key_bytes;              /**< Size of the key [bytes]. */
    uint8_t key[KVC_KEY_BYTES_MAX]; /**< The key. */
};

/** The requests that follow. A zeroed struct has none. */
struct kvc_later {
    struct kvc_later_row *row; /**< The rows. */
    uint32_t room;             /**< Allocated rows. */
    uint32_t used;             /**< Rows that were used before. */
    uint32_t frees;            /**< Of them, rows that are free again. */
    uint32_t first_free;       /**< The first of these. */
};

struct kvc_hash_numbers;

/** The part of a source that belongs to one shard. */
struct kvc_source_shard {
    struct kvc_rows rows;             /**< Requests that wait to be drained. */
    struct kvc_source_queued *frames; /**< Open loop: a queue of frames, `first_frame` to `last_frame` - 1. */
    uint32_t first_frame;             /**< Oldest frame of the queue. */
    uint32_t last_frame;              /**< End of the queue. */
    uint32_t frame_capacity;          /**< Allocated frames. */
    uint32_t framed;                  /**< At once: how many of `rows` belong to a frame of the queue. */
    uint32_t turn;                    /**< Saturating, trace: frames drained so far. */
    struct kvc_sends sends; /**< Closed loop: pending sends of this shard's clients. Trace, open loop:
                                 requests that follow from others; `client` is their row of `later`. */
    struct kvc_later later; /**< Trace, open loop: the requests that follow from others. */
};

/** A request source. */
struct kvc_source {
    struct kvc_workload workload;     /**< Workload to produce. */
    uint32_t shards;                  /**< nodes * sockets. */
    uint32_t frame_requests;          /**< Requests per frame. */
    uint32_t window;                  /**< Saturating load: requests that may wait for one shard. */
    uint64_t hash_seed;               /**< Seed of kvc_hash. */
    bool ids_suffice;                 /**< Nobody reads keys and hashes. */
    struct kvc_source_shard *shard;   /**< The shards. */
    struct kvc_hash_ring *ring;       /**< Maps a hash to its shard. */
    struct kvc_sizes *sizes;          /**< Key and value sizes; NULL for a trace. */
    struct kvc_zipf *zipf;            /**< Popularity of the members; NULL if uniform. */
    struct kvc_part_sampler *sampler; /**< Part: popularity of its keys in the present epoch. */
    uint32_t epoch;                   /**< Part: the epoch of the next request. */
    struct kvc_action_mix actions;    /**< Actions of GETs. */
    uint64_t members;                 /**< Members, each with a key of every kind; without actions, keys. */
    bool sizes_fixed;                 /**< Every key and every value has the same size. */
    uint64_t set_from;                /**< A 63-bit random number from here on is a SET ... */
    uint64_t delete_from;             /**< ... and from here on a DELETE; a smaller one is a GET. */
    struct kvc_rng op_rng;            /**< Draws operations. */
    struct kvc_rng key_rng;           /**< Draws keys. */
    struct kvc_rng storm_rng;         /**< Draws the requests and keys of storms. */

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

    struct kvc_replay *trace; /**< The trace; NULL after its end. */
    double trace_ns;          /**< Trace: time of the last row read [ns]; negative: none yet. */
    struct kvc_source_trace_counts trace_counts; /**< Trace: requests so far. */
    struct kvc_hash_numbers *expires; /**< Trace: when pairs expire that do so within the trace [ns]. */
    struct kvc_hash_numbers *refused; /**< Trace: keys whose pairs are too large. */

    struct kvc_source **inner;    /**< The sources of phases or tenants, which do the work. */
    uint32_t inner_count;         /**< Used entries of `inner`; 0: this source does the work itself. */
    uint64_t first_key;           /**< Phase: the first of its keys. */
    struct kvc_tenant_keys *keys; /**< Tenants: ids of all keys; owned by the source of all tenants. */
    uint32_t tenant;              /**< Tenant: its number. */

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
    /* Kept in registers, because a byte written through `op` might alias *rng. */
    struct kvc_rng local = *rng;
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

/** Draws keys by the popularity of their members and of what is read. An update uses only the member of its
 * key. */
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
    if (source->keys != NULL) {
        kvc_tenant_keys_to_ids(source->keys, source->tenant, key_id, count);
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

/** Writes the bytes of `count` keys from their ids and sizes. */
void kvc_source_make_keys(const struct kvc_source *source, const struct kvc_columns *to,
                          const uint8_t *key_bytes, uint32_t count);

/** Completes requests whose operations and key ids are set: adds sizes, key bytes and hashes. `count` is at
 * most KVC_SOURCE_BLOCK. */
void kvc_source_complete_columns(const struct kvc_source *source, struct kvc_columns to, uint32_t count);

/** Draws the following requests from an epoch of the workload's part. Returns false if memory is short. */
bool kvc_source_enter_epoch(struct kvc_source *source, uint32_t epoch);

/** Makes the next KVC_SOURCE_BLOCK requests of the global stream and queues them at their shards. Returns
 * false and stops the stream if memory is short. In an open loop of a part with several epochs, their times
 * are in source->clients.sent_ns. */
bool kvc_source_make_block(struct kvc_source *source);

/** Returns how many requests of the next frame the batch has room for, at most a whole frame. */
uint32_t kvc_source_room(const struct kvc_source *source, const struct kvc_batch *batch);

/** Moves `count` rows from the head of a queue to the batch. Leaves their send times to the caller. */
void kvc_source_move_rows(const struct kvc_source *source, struct kvc_rows *rows, uint32_t count,
                          struct kvc_batch *batch);

/** Prepares the clients of an open loop. Returns false if memory is short. */
bool kvc_source_start_open(struct kvc_source *source, uint64_t seed);

/** Frees the clients of an open loop and the frames that wait. */
void kvc_source_free_open(struct kvc_source *source);

/** Looks at the next frame of an open loop; see kvc_source_peek(). */
bool kvc_source_peek_open(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                          uint32_t *connection);

/** Drains a frame of an open loop; see kvc_source_drain(). */
uint32_t kvc_source_drain_open(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                               struct kvc_batch *batch);

/** Adds a send. `sent_ns` must not be negative. Returns false if memory is short. */
bool kvc_sends_push(struct kvc_sends *sends, double sent_ns, uint32_t client);

/** Takes the earliest send; there must be one. */
struct kvc_send kvc_sends_pop(struct kvc_sends *sends);

/** Returns the time of the earliest send [ns], or +infinity if the queue is empty. */
double kvc_sends_next_ns(const struct kvc_sends *sends);

/** Returns the connection of the next frame, for clients that send their frames in turn. */
uint32_t kvc_source_turn_connection(const struct kvc_source *source, const struct kvc_source_shard *shard);

/** Marks the batch with the frame drained last, for clients that send their frames in turn. */
void kvc_source_mark_frame(const struct kvc_source *source, struct kvc_source_shard *shard, double left_ns,
                           struct kvc_batch *batch);

/** Opens the trace. Returns another status than KVC_OK and fills `diag` if it cannot be opened. */
enum kvc_status kvc_source_start_trace(struct kvc_source *source, uint64_t seed, struct kvc_diag *diag);

/** Closes the trace and frees what belongs to it, except in the shards. */
void kvc_source_free_trace(struct kvc_source *source);

/** Takes the next request that follows from another, after those that need not be sent. Returns its time
 * [ns], or +infinity if there is none. */
double kvc_source_next_later_ns(struct kvc_source *source, struct kvc_source_shard *shard);

/** Drains a frame of the requests that follow from others and are sent next, at the same time. */
uint32_t kvc_source_drain_later(struct kvc_source *source, struct kvc_source_shard *shard,
                                struct kvc_batch *batch);

/** Returns whether a request of the trace is sent by until_ns. */
bool kvc_source_peek_trace(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns);

/** Drains a request of the trace; see kvc_source_drain(). */
uint32_t kvc_source_drain_trace(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                                struct kvc_batch *batch);

/** Returns when the next request of the trace is sent; see kvc_source_next_ns(). */
double kvc_source_next_trace_ns(struct kvc_source *source, struct kvc_source_shard *shard);

/** Returns when the next frame of an open loop leaves; see kvc_source_next_ns(). */
double kvc_source_next_open_ns(struct kvc_source *source, struct kvc_source_shard *shard);

#endif
