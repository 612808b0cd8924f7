/** @file
 * A request source stands for the clients of all nodes: it produces requests in send order and routes
 * each of them to the shard that owns its key.
 *
 * A shard is one socket of one node. The hash of the key selects the node on a consistent-hash ring (Karger
 * et al., STOC 1997; sim/workload/keys/hash_ring.h), and other bits of it select the socket.
 *
 * Saturating load: all shards draw from one global stream. The stream stops while any shard has
 * KVC_SOURCE_WINDOW requests waiting, so that a hot shard holds back the others, as it would with a shared
 * set of clients. With clients_for = "socket" the stream does not stop; requests for a full shard are not
 * sent.
 *
 * Only saturating load has this window. In an open loop and in a trace, requests arrive whether the store
 * keeps up or not, and the queue of a slow shard grows.
 *
 * Open loop: every request has a send time of its own. The client that sends it puts it into the frame that
 * it fills for the request's shard; each of `flows` clients fills one frame per shard. The frame leaves with
 * its last request when it is full, or `fill_timeout` after its first request, whichever comes first. Waiting
 * for the frame counts in a request's latency. A frame belongs to a connection of its client; the connections
 * of a client take turns. With fill = "at_once", clients send whole frames, whose requests have one send
 * time: the frames of all shards form one process, and each frame selects its shard as a request would, so
 * that a Poisson process remains one at each shard. Not modelled: clients with different rates, and the time
 * that a client needs to write a request.
 *
 * In other loads, the frames of a shard take the clients and connections in turn, except that every client of
 * a closed loop keeps its connection.
 *
 * The bytes of a key are its id in little-endian order, cut off or followed by words mixed from the id. A
 * trace brings its own keys.
 *
 * In a load of several tenants (sim/workload/tenants.h), each tenant has a source of its own. The frames of
 * all tenants leave in the order of their times, and the `client` of a request is its tenant.
 *
 * An alternating load (sim/workload/phases.h) has a source of its own for each phase, which counts the
 * phase's own time. A frame has requests of one phase. Saturating clients send requests of the current phase.
 *
 * The popularity of an open load may change. Key id i is the key of rank i at time 0. Churn moves the ranks:
 * at time t, the key of rank r is r - floor(t * churn) modulo the number of keys, so that the least popular
 * key becomes the most popular one and all others lose a rank. In a storm, a request goes to one of the
 * storm's keys with its share as the probability. Both go by the time at which a request is sent, except that
 * a frame takes the next keys of its shard, so that an edge blurs by the time that frames take to fill.
 *
 * The workload of one node of a cluster (sim/workload/keys/key_part.h) has a source of its own: keys are
 * numbered within the node's part, but keep the bytes and hashes that they have in the whole workload.
 *
 * If the clients of an open loop or a trace fill what misses, a SET follows each GET that missed when its
 * response arrives; they get the pair elsewhere in no time. In an open loop, the SETs for responses that
 * arrive at the same time leave at once in frames of their own.
 *
 * A trace brings its own operations and keys (sim/workload/trace/replay.h). A pair
 * with a time to live is deleted when that has passed, by a client, because the stores have no clock of
 * pairs. Requests whose pairs are too large for the store are counted; only their GETs are sent, unless the
 * key alone is too large, and nothing is filled.
 *
 * A source serves one run. The requests of a shard depend only on the workload and the seed, not on the order
 * in which the shards are drained. Input files are streamed. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_SOURCE_H
#define KVC_SIM_WORKLOAD_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/workload/workload.h"
#include "sim/workload/batch.h"

enum { KVC_SOURCE_WINDOW = 65536 /**< Saturating load: requests that may wait for one shard. */ };

/** A request source. */
struct kvc_source;

/** Parameters of a source. */
struct kvc_source_params {
    const struct kvc_workload *workload;  /**< A checked workload; it is copied. */
    uint32_t nodes;                       /**< Nodes of the cluster. */
    uint32_t sockets;                     /**< Sockets per node. */
    uint32_t ring_points;                 /**< Points of a node on the ring; 0: KVC_HASH_RING_POINTS. */
    uint64_t seed;                        /**< Seed of this replica (sim/base/seeds.h). */
    uint64_t hash_seed;                   /**< Seed of kvc_hash and of the nodes' places on the ring. */
    uint32_t frame_requests;              /**< Requests per frame, at least 1. */
    const uint32_t *phase_frame_requests; /**< Requests per frame by phase; NULL: the same in all. */
    bool ids_suffice; /**< Batches need neither keys nor hashes; with one shard they are not made. */
};

/** Frees a source. NULL is allowed. */
void kvc_source_free(struct kvc_source *source);

/** Creates a source. Returns NULL and fills `diag` if memory is short or the trace cannot be opened. */
struct kvc_source *kvc_source_create(const struct kvc_source_params *params, struct kvc_diag *diag);

/** Looks at the next frame of `shard` that leaves its client no later than until_ns, and leaves it in place.
 * Returns false if there is none, where kvc_source_drain() would return 0. Otherwise sets *connection to the
 * frame's, below kvc_workload_connections(), so that a caller can choose a receive queue (sim/devices/nic.h)
 * and then drain the frame into that queue's batch. */
bool kvc_source_peek(struct kvc_source *source, uint32_t shard, double until_ns, uint32_t *connection);

/** Appends the next frame of `shard` to `batch` if the frame leaves its client no later than until_ns;
 * requests for which the batch has no room stay. Returns the number of requests. It is 0 if nothing leaves by
 * then, if the window of another shard blocks the stream, if the trace has ended, or after an error
 * (kvc_source_error).
 *
 * Sets `left_ns` of the batch to the time when the frame leaves, and `connection` to its connection. In an
 * open loop, every request has its own send time, ascending within a frame and at most left_ns; frames leave
 * in ascending order. In frames that are filled at once, all have the time left_ns. Under saturating load,
 * the times are NaN; the receiver sets them. In a closed loop, a frame is up to `frame_requests` requests
 * sent by until_ns, and each has its own send time, in ascending order. In a trace, a frame is one request.
 */
uint32_t kvc_source_drain(struct kvc_source *source, uint32_t shard, double until_ns,
                          struct kvc_batch *batch);

/** Closed loop: tells the source that the responses to `count` requests arrive at done_ns[i]. With other
 * arrivals, this has no effect. */
void kvc_source_complete(struct kvc_source *source, const uint32_t *client, const double *done_ns,
                         uint32_t count);

/** A GET that missed. */
struct kvc_source_missed {
    const uint8_t *key;   /**< The key. */
    uint32_t key_bytes;   /**< Its size [bytes]. */
    uint32_t value_bytes; /**< Size of the pair's value [bytes]. */
    uint64_t hash;        /**< Its hash. */
    uint64_t key_id;      /**< Its id, as in the batch. */
};

/** Returns whether clients fill what misses, so that the following functions have an effect. */
bool kvc_source_fills(const struct kvc_source *source);

/** Returns whether the client of a GET that missed fills it, which counts: unless the pair is too large for
 * the store. For stores that send the SET themselves; others call kvc_source_miss(). */
bool kvc_source_fills_key(struct kvc_source *source, uint64_t hash);

/** Tells the source that the response to a GET that missed arrives at done_ns, so that its client then sends
 * a SET if it fills what misses. */
void kvc_source_miss(struct kvc_source *source, const struct kvc_source_missed *missed, double done_ns);

/** The same for the row of a batch. */
void kvc_source_miss_row(struct kvc_source *source, const struct kvc_batch *batch, uint32_t row,
                         double done_ns);

/** Requests of a trace so far, besides those that were sent as recorded. */
struct kvc_source_trace_counts {
    uint64_t read;      /**< Requests of the trace. */
    uint64_t filled;    /**< SETs by which clients filled what missed. */
    uint64_t expired;   /**< DELETEs of pairs whose time to live had passed. */
    uint64_t too_large; /**< Requests of the trace whose pairs are too large for the store. */
};

/** Returns the counts; with other loads than a trace, all but `filled` are 0. */
struct kvc_source_trace_counts kvc_source_trace_counts(const struct kvc_source *source);

/** Returns when the next frame of `shard` leaves its client [ns], or +infinity if none is known. In a closed
 * loop, this is when its first request is sent. Under saturating load it is 0 if a frame waits. For a shard
 * that rarely receives requests, the search ends early and returns a time before which none leaves; a drain
 * until then returns 0, and the caller asks again. */
double kvc_source_next_ns(struct kvc_source *source, uint32_t shard);

/** Returns KVC_OK, or the error that stopped the stream, such as a malformed line of a trace with its file
 * and line. `diag` may be NULL. */
enum kvc_status kvc_source_error(const struct kvc_source *source, struct kvc_diag *diag);

/** Returns 1 if a trace was replayed to its end or to the line that stopped it, and 0 otherwise. */
int kvc_source_ended(const struct kvc_source *source);

/** Returns by how many requests the clients are ahead of the shard that holds them back: the requests that
 * wait for it, divided by its share of all requests. The largest number of all shards counts. While it grows,
 * the clients send more than they can once a window is full. Only one set of clients under saturating load is
 * ever held back; otherwise, this is 0. */
double kvc_source_lead(const struct kvc_source *source);

/** Returns what requests are to the application. */
const struct kvc_action_mix *kvc_source_actions(const struct kvc_source *source);

/** Draws member[1] to member[count - 1], which are different from member[0] and from each other, by their
 * popularity. The workload must have at least `count` members (kvc_workload_check() ensures it). */
void kvc_source_draw_other_members(const struct kvc_source *source, struct kvc_rng *rng, uint64_t *member,
                                   uint32_t count);

/** Returns whether the node of a workload's part owns the key when the run begins, so that its store can hold
 * it. Without a part, this is true. */
bool kvc_source_holds_key(const struct kvc_source *source, uint64_t key_id);

/** Returns the memory of the closed loop's clients, and of the requests that wait for one of several `shards`
 * while saturating clients serve them all [bytes]. */
double kvc_source_memory_bytes(const struct kvc_workload *workload, uint32_t shards);

/** Returns the shard that owns a hash. */
uint32_t kvc_source_shard(const struct kvc_source *source, uint64_t hash);

/** Sets shard[i] to the shard that owns hash[i]. */
void kvc_source_shards(const struct kvc_source *source, const uint64_t *hash, uint32_t count,
                       uint32_t *shard);

/** Appends the keys `first` to first + count - 1 to `batch` for preloading: their bytes, sizes and hashes,
 * with the operation SET. The batch must have room. A trace has no keys to preload, and nothing is appended.
 */
void kvc_source_keys(const struct kvc_source *source, uint64_t first, uint32_t count,
                     struct kvc_batch *batch);

#endif
