/** @file
 * Consistent hashing: maps a key to the node and socket that own it (Karger et al., STOC 1997).
 *
 * Every node has KVC_HASH_RING_POINTS points on a ring of 2^64 places. A key belongs to the node of the first
 * point at or after the key's own place. The share of a node deviates from an equal share by 1.6 % (standard
 * deviation, 1/sqrt(points)). An added node takes over about 1/n of the keys, and no key moves between the
 * old nodes. The points follow from a seed and the number of the node, as if they were hashes of its
 * name. Within a node, other bits of the key's place select the socket.
 *
 * The place of a key is a mix of its hash, so that the bucket and signature bits of the hash stay uniform
 * within a shard. */
#ifndef KVC_SIM_WORKLOAD_HASH_RING_H
#define KVC_SIM_WORKLOAD_HASH_RING_H

#include <stddef.h>
#include <stdint.h>

enum { KVC_HASH_RING_POINTS = 4096 /**< Points per node. */ };

/** The ring of a cluster. */
struct kvc_hash_ring;

/** Frees a ring. NULL is allowed. */
void kvc_hash_ring_free(struct kvc_hash_ring *ring);

/** Creates the ring of `nodes` nodes with `sockets` sockets each, whose points follow from `seed`. Returns
 * NULL if memory is short. */
struct kvc_hash_ring *kvc_hash_ring_create(uint32_t nodes, uint32_t sockets, uint64_t seed);

/** Returns the shard that owns a hash: node * sockets + socket. */
uint32_t kvc_hash_ring_shard(const struct kvc_hash_ring *ring, uint64_t hash);

/** Looks up the shards of `count` hashes. */
void kvc_hash_ring_shards(const struct kvc_hash_ring *ring, const uint64_t *hash, size_t count,
                          uint32_t *shard);

#endif
