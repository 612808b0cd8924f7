#include "sim/workload/keys/hottest_shard.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/memo.h"
#include "sim/base/rng.h"
#include "sim/workload/keys/hash_ring.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/zipf.h"

enum {
    /* The standard error of the mean is a sixteenth of the deviation between placements. */
    PLACEMENTS = 256,
    FEW_POINTS = 256,   /* Up to this number, the points of a node are drawn one by one. */
    POPULAR_KEYS = 256, /* These are placed one by one; the sum of the others is close to normal. */
};

/* The popularity of the keys. */
struct popularity {
    uint32_t keys;             /* Popular keys. */
    double mass[POPULAR_KEYS]; /* Share of the requests of each of them. */
    double rest;               /* Share of the requests of all other keys, ... */
    double rest_squares;       /* ... and the sum of the squares of their shares. */
};

static void set_popularity(struct popularity *popularity, const struct kvc_workload *workload)
{
    uint64_t keys = workload->keys;
    struct kvc_zipf *zipf = NULL;
    struct kvc_action_mix actions;
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    popularity->rest_squares = 0;
    kvc_action_mix_open(&actions, workload, NULL); /* kvc_workload_check() has checked it. */
    if (workload->popularity == KVC_POPULARITY_ZIPF &&
        (zipf = kvc_zipf_create(keys / actions.kinds, workload->zipf_s)) == NULL) {
        kvc_out_of_memory("the popularity of %llu keys", (unsigned long long)keys);
    }
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        popularity->rest_squares += block.mass * block.mass / block.keys;
    }
    kvc_popularity_blocks_close(&blocks);
    popularity->keys = keys < POPULAR_KEYS ? (uint32_t)keys : POPULAR_KEYS;
    popularity->rest = 1;
    for (uint32_t i = 0; i < popularity->keys; i++) {
        uint32_t member = i / actions.kinds, kind = i % actions.kinds;
        double mass = zipf != NULL ? kvc_zipf_mass(zipf, member + 1) - kvc_zipf_mass(zipf, member)
                                   : (double)actions.kinds / (double)keys;
        mass *= actions.read_frac[kind];
        popularity->mass[i] = mass;
        popularity->rest -= mass;
        popularity->rest_squares -= mass * mass;
    }
    popularity->rest = fmax(popularity->rest, 0);
    popularity->rest_squares = fmax(popularity->rest_squares, 0);
    kvc_zipf_free(zipf);
}

static double draw_normal(struct kvc_rng *rng)
{
    double radius = sqrt(kvc_rng_exponential(rng, 2));
    return radius * cos(2 * M_PI * kvc_rng_unit(rng));
}

/* Random part of the placements for a number of nodes and sockets. It does not depend on the popularity. */
struct draws {
    uint32_t nodes, sockets, keys, points;
    double *node;    /* Share of the keys, by placement and node. */
    double *shard;   /* Deviation of the requests for keys that are not popular, by placement and shard. */
    uint32_t *place; /* Shard of each popular key, by placement and key. */
};

static uint32_t node_at(const struct draws *draws, const double *node_below, double place)
{
    /* With many points, nodes are nearly equal, so the first guess is rarely more than one node away. */
    uint32_t node = (uint32_t)(place * draws->nodes);
    while (node > 0 && place < node_below[node - 1]) {
        node--;
    }
    while (node + 1 < draws->nodes && place >= node_below[node]) {
        node++;
    }
    return node;
}

/* Draws a node's share of the ring as a multiple of the mean. Between random points the gaps are exponential
 * up to a common factor; the sum of many of them is close to normal. */
static double draw_share(uint32_t points, struct kvc_rng *rng)
{
    double sum = 0;
    if (points > FEW_POINTS) {
        return 1 + draw_normal(rng) / sqrt(points);
    }
    for (uint32_t i = 0; i < points; i++) {
        sum += kvc_rng_exponential(rng, 1.0 / points);
    }
    return sum;
}

/* Draws the shares of the nodes: `below` becomes the share of all nodes up to each one. */
static void draw_nodes(const struct draws *draws, struct kvc_rng *rng, double *node, double *below)
{
    double sum = 0;
    for (uint32_t i = 0; i < draws->nodes; i++) {
        sum += draw_share(draws->points, rng);
        below[i] = sum;
    }
    for (uint32_t i = 0; i < draws->nodes; i++) {
        below[i] /= sum;
        node[i] = below[i] - (i > 0 ? below[i - 1] : 0);
    }
}

/* Draws all placements; the thread keeps the placements of the latest call. */
static const struct draws *draws_of(uint32_t nodes, uint32_t sockets, uint32_t keys, uint32_t points)
{
    static _Thread_local struct draws draws;
    uint32_t shards = nodes * sockets;
    struct kvc_rng rng;
    if (draws.nodes == nodes && draws.sockets == sockets && draws.keys == keys && draws.points == points) {
        return &draws;
    }
    free(draws.node);
    free(draws.shard);
    free(draws.place);
    draws = (struct draws){.nodes = nodes,
                           .sockets = sockets,
                           .keys = keys,
                           .points = points,
                           .node = kvc_array_of((size_t)PLACEMENTS * nodes, sizeof(double)),
                           .shard = kvc_array_of((size_t)PLACEMENTS * shards, sizeof(double)),
                           .place = kvc_array_of((size_t)PLACEMENTS * keys, sizeof(uint32_t))};
    double *below = kvc_array_of(nodes, sizeof(*below));
    kvc_rng_init(&rng, 0, "hottest shard", 0);
    for (size_t p = 0; p < PLACEMENTS; p++) {
        draw_nodes(&draws, &rng, draws.node + p * nodes, below);
        for (uint32_t i = 0; i < shards; i++) {
            draws.shard[p * shards + i] = draw_normal(&rng);
        }
        for (uint32_t i = 0; i < keys; i++) {
            uint32_t node = node_at(&draws, below, kvc_rng_unit(&rng));
            draws.place[p * keys + i] = node * sockets + (uint32_t)kvc_rng_below(&rng, sockets);
        }
    }
    free(below);
    return &draws;
}

/* Places all keys and returns the share of the hottest shard. The places of keys that are not popular deviate
 * from equal shares independently, except that all shards together receive all. */
static double place(const struct popularity *popularity, const struct draws *draws, size_t placement,
                    double *shard)
{
    uint32_t shards = draws->nodes * draws->sockets, keys = draws->keys;
    const double *node = draws->node + placement * draws->nodes, *drawn = draws->shard + placement * shards;
    const uint32_t *at = draws->place + placement * keys;
    double deviation = sqrt(popularity->rest_squares / shards), sum = 0, hottest = 0;
    for (uint32_t i = 0; i < shards; i++) {
        shard[i] = deviation * drawn[i];
        sum += shard[i];
    }
    for (uint32_t i = 0; i < shards; i++) {
        shard[i] += popularity->rest * node[i / draws->sockets] / draws->sockets - sum / shards;
    }
    for (uint32_t i = 0; i < keys; i++) {
        shard[at[i]] += popularity->mass[i];
    }
    for (uint32_t i = 0; i < shards; i++) {
        hottest = fmax(hottest, shard[i]);
    }
    return hottest;
}

double kvc_hottest_shard_frac(const struct kvc_workload *workload, uint32_t nodes, uint32_t sockets,
                              uint32_t ring_points)
{
    uint32_t shards = nodes * sockets, points = ring_points > 0 ? ring_points : KVC_HASH_RING_POINTS;
    if (workload->clients_for == KVC_CLIENTS_FOR_SOCKET || shards == 1 ||
        workload->arrival == KVC_ARRIVAL_TRACE) {
        return 1.0 / shards;
    }
    static _Thread_local struct kvc_memo memo;
    const double argument[] = {
        (double)workload->keys, workload->popularity, workload->zipf_s, nodes, sockets, points};
    bool can_keep = workload->action_count == 0;
    double share;
    if (can_keep && kvc_memo_find(&memo, argument, &share)) {
        return share;
    }
    struct popularity popularity;
    double inverses = 0, *shard = kvc_array_of(shards, sizeof(*shard));
    set_popularity(&popularity, workload);
    const struct draws *draws = draws_of(nodes, sockets, popularity.keys, points);
    for (size_t p = 0; p < PLACEMENTS; p++) {
        inverses += 1 / place(&popularity, draws, p, shard);
    }
    free(shard);
    share = PLACEMENTS / inverses;
    if (can_keep) {
        kvc_memo_keep(&memo, argument, sizeof(argument) / sizeof(*argument), share);
    }
    return share;
}
