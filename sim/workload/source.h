/* The clients of all nodes: produces requests in send order and routes each to the shard that owns its key.
 *
 * A shard is one socket of one node. The key's hash picks the node on a consistent-hash ring (Karger et al.,
 * STOC 1997; sim/workload/hash_ring.h) and then, by other bits, the socket. All shards draw from one global
 * stream, so a hot shard holds back the others under saturating load exactly as a shared set of clients
 * would: the stream stops while any shard has KVC_SOURCE_WINDOW requests waiting.
 *
 * With clients_for = "socket" the stream does not stop; what a full shard would get is not sent.
 *
 * The window holds in a saturating load only. In open loop and from a trace requests come whether the store
 * keeps up or not, so what waits for a slow shard grows.
 *
 * Open loop: the frames of all nodes are one process in time; every frame picks its shard as a request would,
 * so a Poisson process stays one at each shard, and carries that shard's next requests. (A frame is short
 * only when its shard is so cold that filling it would take a million requests for others.)
 *
 * A key's bytes are its id, little-endian, cut or followed by words mixed from the id. A trace brings its
 * own.
 *
 * One source serves one run; what a shard receives is deterministic in (workload, seed) whatever the order of
 * calls of different shards. Inputs in files are streamed. */
#ifndef KVC_SIM_WORKLOAD_SOURCE_H
#define KVC_SIM_WORKLOAD_SOURCE_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/workload/batch.h"
#include "sim/workload/workload.h"

enum { KVC_SOURCE_WINDOW = 65536 };

struct kvc_source;

struct kvc_source_params {
    const struct kvc_workload *workload;
    uint32_t nodes, sockets;
    uint64_t seed;           /* of this replica */
    uint64_t hash_seed;      /* of kvc_hash */
    uint32_t frame_requests; /* requests per frame (resolved: never 0) */
};

void kvc_source_free(struct kvc_source *source); /* NULL is allowed */

/* NULL and `diag` when memory is short or the trace cannot be opened. */
struct kvc_source *kvc_source_create(const struct kvc_source_params *params, struct kvc_diag *diag);

/* Appends to `batch` the next frame of `shard`: up to `frame_requests` requests, all with the same sent_ns
 * (the frame's), sent no later than until_ns. Returns how many (0: none until then, or the stream is blocked
 * by another shard's window, or the trace has ended). Under KVC_ARRIVAL_SATURATE sent_ns is left NaN for the
 * receiver to set. Closed loop: each request keeps its own sent_ns, in order; a frame is what was sent by
 * until_ns. Trace: requests keep their own times; a frame holds one request. A malformed trace line ends the
 * stream; kvc_source_error tells. */
uint32_t kvc_source_drain(struct kvc_source *source, uint32_t shard, double until_ns,
                          struct kvc_batch *batch);

/* Closed loop: the responses to these requests arrived at done_ns[i]. */
void kvc_source_complete(struct kvc_source *source, const uint32_t *client, const double *done_ns,
                         uint32_t count);

/* Earliest send time of a request of `shard` that has not been taken, or +infinity (none is known). For a
 * shard that is rarely asked, the search is cut off at a time before which nothing will come: a take until
 * then returns 0; ask again. Saturating: 0 when a frame is waiting. */
double kvc_source_next_ns(struct kvc_source *source, uint32_t shard);

/* KVC_OK, or what stopped the stream (trace file:line). */
enum kvc_status kvc_source_error(const struct kvc_source *source, struct kvc_diag *diag);

/* Whether a trace has been replayed to its end, or up to the line that stopped it. */
int kvc_source_ended(const struct kvc_source *source);

/* The shard that owns a hash. */
uint32_t kvc_source_shard(const struct kvc_source *source, uint64_t hash);

/* Appends the keys key_id [first, first + count) with their bytes, sizes, hashes and op SET to `batch`, for
 * preloading. The batch must have room. A trace has no keys to preload: nothing is appended. */
void kvc_source_keys(const struct kvc_source *source, uint64_t first, uint32_t count,
                     struct kvc_batch *batch);

#endif
