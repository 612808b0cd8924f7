#include "sim/workload/hottest_shard.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/memo.h"
#include "sim/base/rng.h"
#include "sim/workload/hash_ring.h"
#include "sim/workload/popularity_blocks.h"
#include "sim/workload/zipf.h"

enum {
    /* The standard error of the mean is a sixteenth of the deviation between placements. */
    PLACEMENTS = 256,
    POPULAR_KEYS = 256, /* They are placed one by one; so many others are close to normal in sum. */
};

/* The popularity of the keys and one placement of them. */
struct placement {
    uint32_t nodes, sockets, keys;
    double mass[POPULAR_KEYS]; /* Share of the requests of each popular key. */
    double rest;               /* That of all others, ... */
    double rest_squares;       /* ... and the sum of the squares of each of theirs. */
    double *node_below;        /* Share of the keys that the nodes up to this one have. */
    double *shard;             /* Share of the requests of each shard. */
};

static void set_popularity(struct placement *placement, const struct kvc_workload *workload)
{
    uint64_t keys = workload->keys;
    struct kvc_zipf *zipf = NULL;
    struct kvc_action_mix actions;
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    kvc_action_mix_open(&actions, workload, NULL); /* kvc_workload_check() has checked it. */
    if (workload->popularity == KVC_POPULARITY_ZIPF &&
        (zipf = kvc_zipf_create(keys / actions.kinds, workload->zipf_s)) == NULL) {
        kvc_out_of_memory("the popularity of %llu keys", (unsigned long long)keys);
    }
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        placement->rest_squares += block.mass * block.mass / block.keys;
    }
    kvc_popularity_blocks_close(&blocks);
    placement->keys = keys < POPULAR_KEYS ? (uint32_t)keys : POPULAR_KEYS;
    placement->rest = 1;
    for (uint32_t i = 0; i < placement->keys; i++) {
        uint32_t member = i / actions.kinds, kind = i % actions.kinds;
        double mass = zipf != NULL ? kvc_zipf_mass(zipf, member + 1) - kvc_zipf_mass(zipf, member)
                                   : (double)actions.kinds / (double)keys;
        mass *= actions.read_frac[kind];
        placement->mass[i] = mass;
        placement->rest -= mass;
        placement->rest_squares -= mass * mass;
    }
    placement->rest = fmax(placement->rest, 0);
    placement->rest_squares = fmax(placement->rest_squares, 0);
    kvc_zipf_free(zipf);
}

static double draw_normal(struct kvc_rng *rng)
{
    double radius = sqrt(kvc_rng_exponential(rng, 2));
    return radius * cos(2 * M_PI * kvc_rng_unit(rng));
}

/* Draws the shares of the nodes. Between random points the gaps are exponential up to a common factor, so
 * that a node has the sum of many of them, which is close to normal. */
static void place_nodes(struct placement *placement, struct kvc_rng *rng)
{
    double sum = 0;
    for (uint32_t node = 0; node < placement->nodes; node++) {
        sum += 1 + draw_normal(rng) / sqrt(KVC_HASH_RING_POINTS);
        placement->node_below[node] = sum;
    }
    for (uint32_t node = 0; node < placement->nodes; node++) {
        placement->node_below[node] /= sum;
    }
}

static uint32_t node_at(const struct placement *placement, double place)
{
    /* Nodes are nearly equal, so the first guess is rarely more than one node away. */
    uint32_t node = (uint32_t)(place * placement->nodes);
    while (node > 0 && place < placement->node_below[node - 1]) {
        node--;
    }
    while (node + 1 < placement->nodes && place >= placement->node_below[node]) {
        node++;
    }
    return node;
}

/* Draws what each shard receives for keys that are not popular. Their places deviate from equal shares
 * independently, except that all shards together receive all. */
static void place_rest(struct placement *placement, struct kvc_rng *rng)
{
    uint32_t shards = placement->nodes * placement->sockets;
    double deviation = sqrt(placement->rest_squares / shards), sum = 0;
    for (uint32_t i = 0; i < shards; i++) {
        placement->shard[i] = deviation * draw_normal(rng);
        sum += placement->shard[i];
    }
    for (uint32_t i = 0; i < shards; i++) {
        uint32_t node = i / placement->sockets;
        double below = node > 0 ? placement->node_below[node - 1] : 0;
        double of_node = placement->node_below[node] - below;
        placement->shard[i] += placement->rest * of_node / placement->sockets - sum / shards;
    }
}

/* Places all keys at random and returns the share of the hottest shard. */
static double place(struct placement *placement, struct kvc_rng *rng)
{
    double hottest = 0;
    place_nodes(placement, rng);
    place_rest(placement, rng);
    for (uint32_t i = 0; i < placement->keys; i++) {
        uint32_t node = node_at(placement, kvc_rng_unit(rng));
        uint32_t socket = (uint32_t)kvc_rng_below(rng, placement->sockets);
        placement->shard[node * placement->sockets + socket] += placement->mass[i];
    }
    for (uint32_t i = 0; i < placement->nodes * placement->sockets; i++) {
        hottest = fmax(hottest, placement->shard[i]);
    }
    return hottest;
}

double kvc_hottest_shard_frac(const struct kvc_workload *workload, uint32_t nodes, uint32_t sockets)
{
    uint32_t shards = nodes * sockets;
    if (workload->clients_for == KVC_CLIENTS_FOR_SOCKET || shards == 1 ||
        workload->arrival == KVC_ARRIVAL_TRACE) {
        return 1.0 / shards;
    }
    static _Thread_local struct kvc_memo memo;
    const double argument[] = {(double)workload->keys, workload->popularity, workload->zipf_s, nodes,
                               sockets};
    bool can_keep = workload->action_count == 0;
    double share;
    if (can_keep && kvc_memo_find(&memo, argument, &share)) {
        return share;
    }
    struct placement *placement = kvc_array_of(1, sizeof(*placement));
    struct kvc_rng rng;
    double inverses = 0;
    *placement = (struct placement){.nodes = nodes,
                                    .sockets = sockets,
                                    .node_below = kvc_array_of(nodes, sizeof(double)),
                                    .shard = kvc_array_of(shards, sizeof(double))};
    set_popularity(placement, workload);
    kvc_rng_init(&rng, 0, "hottest shard", 0);
    for (int i = 0; i < PLACEMENTS; i++) {
        inverses += 1 / place(placement, &rng);
    }
    free(placement->node_below);
    free(placement->shard);
    free(placement);
    share = PLACEMENTS / inverses;
    if (can_keep) {
        kvc_memo_keep(&memo, argument, sizeof(argument) / sizeof(*argument), share);
    }
    return share;
}
