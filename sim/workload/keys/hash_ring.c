#include "sim/workload/keys/hash_ring.h"

#include <stdlib.h>

#include "sim/base/rng.h"

/* With at least this many buckets per point, most buckets hold no more than one point. */
enum { BUCKETS_PER_POINT = 4 };

struct point {
    uint64_t place;
    uint32_t node;
};

struct kvc_hash_ring {
    uint32_t nodes, sockets;
    uint32_t shift; /* place >> shift is the bucket of a place. */
    uint32_t points;
    struct point *point; /* Sorted by place. One more entry stands for the first point, which follows the last
                            one on the ring. */
    uint32_t *next_point; /* For each bucket, the first point at or after its start. */
};

void kvc_hash_ring_free(struct kvc_hash_ring *ring)
{
    if (ring == NULL) {
        return;
    }
    free(ring->point);
    free(ring->next_point);
    free(ring);
}

static int by_place(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    if (a->place != b->place) {
        return a->place < b->place ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

static void index_points(struct kvc_hash_ring *ring, uint64_t buckets)
{
    uint32_t next = 0;
    ring->point[ring->points] = (struct point){.place = UINT64_MAX, .node = ring->point[0].node};
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        while (ring->point[next].place < bucket << ring->shift) {
            next++;
        }
        ring->next_point[bucket] = next;
    }
}

/* Returns the points of a node. */
static uint32_t points_of(const struct kvc_hash_ring_params *params, uint32_t node)
{
    uint32_t all = params->points > 0 ? params->points : KVC_HASH_RING_POINTS;
    return params->each != NULL ? params->each[node] : all;
}

static int build(struct kvc_hash_ring *ring, const struct kvc_hash_ring_params *params)
{
    uint32_t bits = 1, next = 0;
    for (uint32_t node = 0; node < ring->nodes; node++) {
        ring->points += points_of(params, node);
    }
    while (1ull << bits < (uint64_t)ring->points * BUCKETS_PER_POINT) {
        bits++;
    }
    ring->shift = 64 - bits;
    ring->point = malloc((ring->points + 1ull) * sizeof(*ring->point));
    ring->next_point = malloc((sizeof(*ring->next_point)) << bits);
    if (ring->point == NULL || ring->next_point == NULL) {
        return 0;
    }
    for (uint32_t node = 0; node < ring->nodes; node++) {
        uint64_t first = params->seed + ((uint64_t)node << 32);
        for (uint32_t i = 0; i < points_of(params, node); i++) {
            /* A bijection of (node, i), so that no two points coincide. */
            ring->point[next++] = (struct point){.place = kvc_mix64(first + i + 1), .node = node};
        }
    }
    qsort(ring->point, ring->points, sizeof(*ring->point), by_place);
    index_points(ring, 1ull << bits);
    return 1;
}

struct kvc_hash_ring *kvc_hash_ring_create(const struct kvc_hash_ring_params *params)
{
    struct kvc_hash_ring *ring = calloc(1, sizeof(*ring));
    if (ring == NULL) {
        return NULL;
    }
    ring->nodes = params->nodes;
    ring->sockets = params->sockets;
    if (ring->nodes > 1 && !build(ring, params)) {
        kvc_hash_ring_free(ring);
        return NULL;
    }
    return ring;
}

static inline uint32_t shard_of(const struct kvc_hash_ring *ring, uint64_t hash)
{
    uint64_t place = kvc_mix64(hash);
    uint32_t node = 0;
    if (ring->nodes > 1) {
        uint32_t next = ring->next_point[place >> ring->shift];
        next += ring->point[next].place <
                place; /* A sum, because a branch would be mispredicted half of the time. */
        while (ring->point[next].place < place) {
            next++;
        }
        node = ring->point[next].node;
    }
    return node * ring->sockets + (uint32_t)(((place & UINT32_MAX) * ring->sockets) >> 32);
}

uint32_t kvc_hash_ring_shard(const struct kvc_hash_ring *ring, uint64_t hash)
{
    return shard_of(ring, hash);
}

void kvc_hash_ring_shards(const struct kvc_hash_ring *ring, const uint64_t *hash, size_t count,
                          uint32_t *shard)
{
    for (size_t i = 0; i < count; i++) {
        shard[i] = shard_of(ring, hash[i]);
    }
}
