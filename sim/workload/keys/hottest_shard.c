#include "sim/workload/keys/hottest_shard.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/memo.h"
#include "sim/base/rng.h"
#include "sim/workload/keys/hash_ring.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/popularity_sums.h"
#include "sim/workload/keys/tenant_keys.h"
#include "sim/workload/keys/zipf_sums.h"

enum {
    /* The standard error of the mean is a sixteenth of the deviation between placements. */
    PLACEMENTS = 256,
    FEW_POINTS = 256,     /* Up to this number, the points of a node are drawn one by one. */
    POPULAR_KEYS = 256,   /* These are placed one by one; the sum of the others is close to normal. */
    KEPT = 64,            /* Clusters whose placements a thread keeps, ... */
    SHARDS_MAX = 1 << 13, /* ... and their shards, of 5 KiB each. */
};

static double draw_normal(struct kvc_rng *rng)
{
    double radius = sqrt(kvc_rng_exponential(rng, 2));
    return radius * cos(2 * M_PI * kvc_rng_unit(rng));
}

/* Random part of the placements for a number of nodes and sockets, and how the popular keys load them. */
struct draws {
    uint32_t nodes, sockets, keys, points; /* nodes 0: nothing is drawn. */
    double *node;                          /* Share of the keys, by placement and node. */
    double *shard;   /* Deviation of the requests for keys that are not popular, by placement and shard, */
    double *sum;     /* and its sum over the shards. */
    uint32_t *place; /* Shard of each popular key, by placement and key. */
    double exponent; /* What `popular` and the sums are for; 0: uniform, below it: tenants, NaN: nothing that
                        comes again. */
    double *popular; /* Sum of the weights of the popular keys, by placement and shard. */
    double weights, squares; /* Sums of the weights and of their squares, which are k^-exponent, or shares. */
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

static void free_draws(struct draws *draws)
{
    free(draws->node);
    free(draws->shard);
    free(draws->sum);
    free(draws->place);
    free(draws->popular);
    *draws = (struct draws){.nodes = 0};
}

static void draw(struct draws *draws, uint32_t nodes, uint32_t sockets, uint32_t keys, uint32_t points)
{
    size_t shards = (size_t)nodes * sockets;
    struct kvc_rng rng;
    *draws = (struct draws){.nodes = nodes,
                            .sockets = sockets,
                            .keys = keys,
                            .points = points,
                            .exponent = NAN,
                            .node = kvc_array_of((size_t)PLACEMENTS * nodes, sizeof(double)),
                            .shard = kvc_array_of(PLACEMENTS * shards, sizeof(double)),
                            .sum = kvc_array_of(PLACEMENTS, sizeof(double)),
                            .popular = kvc_array_of(PLACEMENTS * shards, sizeof(double)),
                            .place = kvc_array_of((size_t)PLACEMENTS * keys, sizeof(uint32_t))};
    double *below = kvc_array_of(nodes, sizeof(*below));
    kvc_rng_init(&rng, 0, "hottest shard", 0);
    for (size_t p = 0; p < PLACEMENTS; p++) {
        draw_nodes(draws, &rng, draws->node + p * nodes, below);
        for (size_t i = 0; i < shards; i++) {
            draws->shard[p * shards + i] = draw_normal(&rng);
            draws->sum[p] += draws->shard[p * shards + i];
        }
        for (uint32_t i = 0; i < keys; i++) {
            uint32_t node = node_at(draws, below, kvc_rng_unit(&rng));
            draws->place[p * keys + i] = node * sockets + (uint32_t)kvc_rng_below(&rng, sockets);
        }
    }
    free(below);
}

/* Returns the placements, drawn now or before. The thread keeps those of several clusters. */
static struct draws *draws_of(uint32_t nodes, uint32_t sockets, uint32_t keys, uint32_t points)
{
    static _Thread_local struct draws kept[KEPT];
    static _Thread_local uint32_t oldest, all_shards;
    for (uint32_t i = 0; i < KEPT; i++) {
        struct draws *draws = &kept[i];
        if (draws->nodes == nodes && draws->sockets == sockets && draws->keys == keys &&
            draws->points == points) {
            return draws;
        }
    }
    bool full = all_shards + nodes * sockets > SHARDS_MAX;
    for (uint32_t i = 0; i < KEPT; i++) {
        if (full || i == oldest) {
            all_shards -= kept[i].nodes * kept[i].sockets;
            free_draws(&kept[i]);
        }
    }
    struct draws *draws = &kept[oldest];
    oldest = (oldest + 1) % KEPT;
    all_shards += nodes * sockets;
    draw(draws, nodes, sockets, keys, points);
    return draws;
}

/* Puts the popular keys where they were drawn. Their weights are 1 in a uniform popularity. */
static void set_popular(struct draws *draws, const struct kvc_workload *workload,
                        const struct kvc_action_mix *actions)
{
    bool tenants = workload->popularity == KVC_POPULARITY_TENANTS;
    double exponent = workload->popularity == KVC_POPULARITY_ZIPF ? workload->zipf_s
                      : tenants                                   ? -1 - workload->zipf_s
                                                                  : 0;
    size_t shards = (size_t)draws->nodes * draws->sockets;
    double weight[POPULAR_KEYS], sum_before = 0;
    if (draws->exponent == exponent) {
        return;
    }
    draws->exponent = workload->action_count == 0 ? exponent : NAN;
    draws->weights = draws->squares = 0;
    struct kvc_zipf_sums *sums = exponent > 0 ? kvc_zipf_sums_open(exponent) : NULL;
    const struct kvc_tenant_keys *tenant_keys =
        tenants ? kvc_tenant_keys_of(workload->tenants, workload->tenant_count) : NULL;
    for (uint32_t i = 0; i < draws->keys; i++) {
        uint32_t member = i / actions->kinds, kind = i % actions->kinds;
        double sum = sums != NULL ? kvc_zipf_sums_to(sums, member + 1) : member + 1;
        weight[i] = tenants ? kvc_tenant_keys_popularity(tenant_keys, i)
                            : (sum - sum_before) * actions->read_frac[kind];
        sum_before = kind + 1 == actions->kinds ? sum : sum_before;
        draws->weights += weight[i];
        draws->squares += weight[i] * weight[i];
    }
    kvc_zipf_sums_close(sums);
    memset(draws->popular, 0, PLACEMENTS * shards * sizeof(*draws->popular));
    for (size_t p = 0; p < PLACEMENTS; p++) {
        const uint32_t *at = draws->place + p * draws->keys;
        double *popular = draws->popular + p * shards;
        for (uint32_t i = 0; i < draws->keys; i++) {
            popular[at[i]] += weight[i];
        }
    }
}

/* How the requests are shared among popular and other keys. */
struct popularity {
    double weight;       /* Weight of all keys. */
    double rest;         /* Share of the requests of the keys that are not popular, ... */
    double rest_squares; /* ... and the sum of the squares of their shares. */
};

static struct popularity popularity_of(const struct draws *draws, const struct kvc_workload *workload)
{
    struct kvc_popularity_blocks blocks;
    kvc_popularity_blocks_open(&blocks, workload);
    double weight = blocks.zipf != NULL      ? blocks.zipf_sum
                    : blocks.tenants != NULL ? 1
                                             : (double)blocks.keys / blocks.actions.kinds;
    kvc_popularity_blocks_close(&blocks);
    double squares = kvc_popularity_use_after(kvc_popularity_sums_of(workload), 0).left_squares;
    return (struct popularity){
        .weight = weight,
        .rest = fmax(1 - draws->weights / weight, 0),
        .rest_squares = fmax(squares - draws->squares / (weight * weight), 0),
    };
}

/* Places all keys and returns the share of the hottest shard. The places of keys that are not popular deviate
 * from equal shares independently, except that all shards together receive all. */
static double place(const struct popularity *popularity, const struct draws *draws, size_t placement)
{
    uint32_t shards = draws->nodes * draws->sockets;
    const double *node = draws->node + placement * draws->nodes, *drawn = draws->shard + placement * shards;
    const double *popular = draws->popular + placement * shards;
    double deviation = sqrt(popularity->rest_squares / shards), each = 1 / popularity->weight, hottest = 0;
    for (uint32_t n = 0; n < draws->nodes; n++) {
        double equal =
            popularity->rest * node[n] / draws->sockets - deviation * draws->sum[placement] / shards;
        for (uint32_t i = n * draws->sockets; i < (n + 1) * draws->sockets; i++) {
            double shard = deviation * drawn[i] + equal + popular[i] * each;
            hottest = shard > hottest ? shard : hottest;
        }
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
    struct kvc_action_mix actions;
    double inverses = 0;
    uint32_t popular = workload->keys < POPULAR_KEYS ? (uint32_t)workload->keys : POPULAR_KEYS;
    struct draws *draws = draws_of(nodes, sockets, popular, points);
    kvc_action_mix_open(&actions, workload, NULL); /* kvc_workload_check() has checked it. */
    set_popular(draws, workload, &actions);
    const struct popularity popularity = popularity_of(draws, workload);
    for (size_t p = 0; p < PLACEMENTS; p++) {
        inverses += 1 / place(&popularity, draws, p);
    }
    share = PLACEMENTS / inverses;
    if (can_keep) {
        kvc_memo_keep(&memo, argument, sizeof(argument) / sizeof(*argument), share);
    }
    return share;
}
