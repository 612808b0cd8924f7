/** @file
 * Consistent hashing: maps a key to the node and socket that own it (Karger et al., STOC 1997).
 *
 * Every node has a number of points, its virtual nodes, on a ring of 2^64 places. A key belongs to the node
 * of the first point at or after the key's own place. The share of a node is proportional to its points, with
 * a relative standard deviation of 1/sqrt(points) (1.6 % with 4096 points). A node that makes n equal nodes
 * out of n - 1 takes over about 1/n of the keys, and no key moves between the old nodes; the keys of a node
 * that leaves go to all others. The points follow from a seed and the number of the node, as if they were
 * hashes of its name. Within a node, other bits of the key's place select the socket.
 *
 * The place of a key is a mix of its hash, so that the bucket and signature bits of the hash stay uniform
 * within a shard. */
#ifndef KVC_SIM_WORKLOAD_KEYS_HASH_RING_H
#define KVC_SIM_WORKLOAD_KEYS_HASH_RING_H

#include <stddef.h>
#include <stdint.h>

enum {
    KVC_HASH_RING_POINTS = 4096,        /**< Points per node, unless stated otherwise. */
    KVC_HASH_RING_POINTS_MAX = 1 << 24, /**< Points of all nodes. */
};

/** Parameters of a ring. */
struct kvc_hash_ring_params {
    uint32_t nodes;       /**< Nodes, at least 1. */
    uint32_t sockets;     /**< Sockets per node, at least 1. */
    uint64_t seed;        /**< Seed of the places of the points. */
    uint32_t points;      /**< Points of every node; 0: KVC_HASH_RING_POINTS. */
    const uint32_t *each; /**< Points of each node, 0 for a node that owns nothing; NULL: all have `points`.
                             At least one is not 0, and together they are at most KVC_HASH_RING_POINTS_MAX. */
};

/** The ring of a cluster. */
struct kvc_hash_ring;

/** Frees a ring. NULL is allowed. */
void kvc_hash_ring_free(struct kvc_hash_ring *ring);

/** Creates a ring. Returns NULL if memory is short. */
struct kvc_hash_ring *kvc_hash_ring_create(const struct kvc_hash_ring_params *params);

/** Returns the shard that owns a hash: node * sockets + socket. */
uint32_t kvc_hash_ring_shard(const struct kvc_hash_ring *ring, uint64_t hash);

/** Looks up the shards of `count` hashes. */
void kvc_hash_ring_shards(const struct kvc_hash_ring *ring, const uint64_t *hash, size_t count,
                          uint32_t *shard);

#endif
