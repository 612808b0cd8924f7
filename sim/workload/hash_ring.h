/* Which node and socket owns a key: consistent hashing (Karger et al., STOC 1997).
 *
 * Every node has KVC_HASH_RING_POINTS points on a ring of 2^64; a key belongs to the node of the next point
 * at or after its own. A node's share of the ring deviates by 1.6 % (standard deviation, 1/sqrt(points)) from
 * equal. Adding a node takes about 1/n of the keys, all of them to the new node. The points depend on the
 * node's number alone, never on a seed: the mapping is a property of the cluster. Within a node, the socket
 * is picked by bits that do not place the key on the ring.
 *
 * Keys are placed by a mix of their hash, so that bucket and signature bits stay uniform within a shard. */
#ifndef KVC_SIM_WORKLOAD_HASH_RING_H
#define KVC_SIM_WORKLOAD_HASH_RING_H

#include <stddef.h>
#include <stdint.h>

enum { KVC_HASH_RING_POINTS = 4096 };

struct kvc_hash_ring;

void kvc_hash_ring_free(struct kvc_hash_ring *ring); /* NULL is allowed */

/* NULL when memory is short. */
struct kvc_hash_ring *kvc_hash_ring_create(uint32_t nodes, uint32_t sockets);

/* The shard of a hash: node * sockets + socket. */
uint32_t kvc_hash_ring_shard(const struct kvc_hash_ring *ring, uint64_t hash);

/* The shards of `count` hashes. */
void kvc_hash_ring_shards(const struct kvc_hash_ring *ring, const uint64_t *hash, size_t count,
                          uint32_t *shard);

#endif
