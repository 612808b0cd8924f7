#include "models/kvdirect/reuse.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/memo.h"
#include "sim/workload/keys/popularity_blocks.h"

enum {
    KEPT = 256,   /* Results that a thread keeps of a function. */
    GROUP = 16,   /* Blocks of a group. */
    TERMS = 13,   /* Terms of a series in what is less than series_most, for all digits of a double. */
    NODES = 16,   /* Nodes of Gauss' rule in a panel. */
    MOMENTS = 16, /* Sums that the series need. */
};

static const double series_most = 1.0 / 16;

/* ---- results that a thread keeps ---- */

/* The latest results of a function of a few numbers, which equal computed ones bit for bit. They are too
 * large for a memo. */
struct kept {
    double argument[KEPT][KVC_KVDIRECT_REUSE_ARGUMENTS]; /* All 0: none is asked for. */
    void *result[KEPT];                                  /* NULL: free. */
    uint32_t next;                                       /* Its place is taken next. */
};

/* Returns the result for these arguments, if one is kept, and otherwise the room of the oldest result, into
 * which the caller computes it. If `argument` is NULL, the result is for nobody else. */
static void *kept_of(struct kept *kept, const double *argument, size_t bytes, bool *found)
{
    uint32_t at = 0;
    while (argument != NULL && at < KEPT &&
           memcmp(kept->argument[at], argument, sizeof(*kept->argument)) != 0) {
        at++;
    }
    *found = argument != NULL && at < KEPT;
    if (!*found) {
        at = kept->next;
        kept->next = (at + 1) % KEPT;
        memset(kept->argument[at], 0, sizeof(*kept->argument));
        if (argument != NULL) {
            memcpy(kept->argument[at], argument, sizeof(*kept->argument));
        }
    }
    if (kept->result[at] == NULL) {
        kept->result[at] = kvc_array_of(1, bytes);
    }
    return kept->result[at];
}

/* ---- popularity ---- */

/* Keys with nearly equal popularity: their fraction of all keys, their share of the requests, and that of
 * each of them. */
struct block {
    double frac, mass, each;
};

/* Blocks in descending order of popularity, and how many keys are unused at each step of the reuse. */
struct kvc_kvdirect_popularity {
    uint32_t count, room, groups;
    double keys;
    struct block *block;
    double (*moment)[MOMENTS]; /* By group: the sums of frac * each^k over its blocks and all later ones. */
    double requests[KVC_KVDIRECT_REUSE_STEPS]; /* Steps, and their weights in an integral. */
    double weight[KVC_KVDIRECT_REUSE_STEPS];
    struct kvc_kvdirect_unused unused[KVC_KVDIRECT_REUSE_STEPS]; /* Filled in for the first reuse. */
    bool has_unused;
};

static void set_moments(struct kvc_kvdirect_popularity *all)
{
    double sum[MOMENTS] = {0};
    all->groups = (all->count + GROUP - 1) / GROUP;
    all->moment = kvc_array_grown(all->moment, all->groups, sizeof(*all->moment));
    for (uint32_t i = all->count; i-- > 0;) {
        double term = all->block[i].frac;
        for (int k = 0; k < MOMENTS; k++) {
            sum[k] += term;
            term *= all->block[i].each;
        }
        if (i % GROUP == 0) {
            memcpy(all->moment[i / GROUP], sum, sizeof(sum));
        }
    }
}

static void set_blocks(struct kvc_kvdirect_popularity *all, const struct kvc_workload *workload)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    all->count = 0;
    all->has_unused = false;
    all->keys = (double)workload->keys;
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        const struct block added = {block.keys / all->keys, block.mass, block.mass / block.keys};
        if (all->count == all->room) {
            all->room = all->room > 0 ? 2 * all->room : 64;
            all->block = kvc_array_grown(all->block, all->room, sizeof(*all->block));
        }
        uint32_t at = all->count++;
        for (; at > 0 && all->block[at - 1].each < added.each; at--) { /* A kind of an application's keys. */
            all->block[at] = all->block[at - 1];
        }
        all->block[at] = added;
    }
    kvc_popularity_blocks_close(&blocks);
    set_moments(all);
}

static struct kvc_kvdirect_popularity *popularity_of(const struct kvc_workload *workload)
{
    static _Thread_local struct kept kept;
    const double argument[KVC_KVDIRECT_REUSE_ARGUMENTS] = {(double)workload->keys, workload->popularity,
                                                           workload->zipf_s};
    bool found;
    struct kvc_kvdirect_popularity *all =
        kept_of(&kept, workload->action_count == 0 ? argument : NULL, sizeof(*all), &found);
    if (!found) {
        set_blocks(all, workload);
    }
    return all;
}

const struct kvc_kvdirect_popularity *kvc_kvdirect_popularity_of(const struct kvc_workload *workload)
{
    return popularity_of(workload);
}

/* Returns the first group whose keys, and those of later ones, are requested less than series_most times on
 * average. */
static uint32_t first_rare(const struct kvc_kvdirect_popularity *all, double requests)
{
    uint32_t low = 0, high = all->groups;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (all->block[middle * GROUP].each * requests < series_most) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static uint32_t end_of(const struct kvc_kvdirect_popularity *all, uint32_t group)
{
    return group < all->groups ? group * GROUP : all->count;
}

double kvc_kvdirect_merged_frac(const struct kvc_kvdirect_popularity *all, double stay_ns, double per_ns)
{
    double requests = per_ns * stay_ns, merged = 0, power = all->keys;
    uint32_t rare = first_rare(all, requests), end = end_of(all, rare);
    for (uint32_t i = 0; i < end; i++) {
        double others = all->block[i].each * requests;
        merged += all->block[i].mass * others / (1 + others);
    }
    for (int k = 1; k <= TERMS && rare < all->groups; k++) { /* x / (1 + x) = x - x^2 + x^3 ... */
        power *= k == 1 ? requests : -requests;
        merged += power * all->moment[rare][k + 1];
    }
    return merged;
}

struct kvc_kvdirect_unused kvc_kvdirect_unused_after(const struct kvc_kvdirect_popularity *all,
                                                     double requests)
{
    /* Beside keys that are requested so much less often, others add no digit to a sum. */
    static const double exponent_most = 100;
    struct kvc_kvdirect_unused unused = {0};
    uint32_t rare = first_rare(all, requests), end = end_of(all, rare);
    double least = all->block[all->count - 1].each * requests, term = 1;
    for (uint32_t i = 0; i < end; i++) {
        const struct block *block = &all->block[i];
        if (block->each * requests - least > exponent_most) {
            continue;
        }
        double left = block->frac * exp(-block->each * requests);
        unused.frac += left;
        unused.first -= left * block->each;
        unused.second += left * block->each * block->each;
    }
    for (int k = 0; k < TERMS && rare < all->groups; k++) { /* exp(-x) = 1 - x + x^2 / 2 ... */
        const double *moment = all->moment[rare] + k;
        unused.frac += term * moment[0];
        unused.first -= term * moment[1];
        unused.second += term * moment[2];
        term *= -requests / (k + 1);
    }
    return unused;
}

/* ---- the cache ---- */

/* Integrates over the logarithm of the requests. */
static void set_unused(struct kvc_kvdirect_popularity *all)
{
    const double first = log(0.01), last = log(1e4 * all->keys);
    const double width = (last - first) * NODES / KVC_KVDIRECT_REUSE_STEPS;
    gsl_integration_glfixed_table *nodes = gsl_integration_glfixed_table_alloc(NODES);
    if (nodes == NULL) {
        kvc_out_of_memory("the nodes of an integral");
    }
    for (uint32_t i = 0; i < KVC_KVDIRECT_REUSE_STEPS; i++) {
        double from = first + i / NODES * width, at, weight;
        gsl_integration_glfixed_point(from, from + width, i % NODES, &at, &weight, nodes);
        all->requests[i] = exp(at);
        all->weight[i] = all->requests[i] * weight;
        all->unused[i] = kvc_kvdirect_unused_after(all, all->requests[i]);
    }
    gsl_integration_glfixed_table_free(nodes);
    all->has_unused = true;
}

/* Computes what kvc_kvdirect_reuse_of() returns. A line whose keys are requested with probability P is reused
 * after t requests with density P exp(-P t). It is still cached if none of the other lines of its place was
 * used since. Summed over all lines, P^2 exp(-P t) is the second derivative of exp(-P t). Keys fall into
 * buckets at random. */
static void compute_reuse(const struct kvc_workload *workload, const struct kvc_kvdirect_cached *cached,
                          struct kvc_kvdirect_reuse *reuse)
{
    double keys = (double)workload->keys, mean = cached->pairs_per_bucket;
    double lines = cached->slab_lines, buckets = cached->buckets;
    struct kvc_kvdirect_popularity *all = popularity_of(workload);
    if (!all->has_unused) {
        set_unused(all);
    }
    for (uint32_t i = 0; i < KVC_KVDIRECT_REUSE_STEPS; i++) {
        const struct kvc_kvdirect_unused unused = all->unused[i];
        double left = exp(-mean * (1 - unused.frac)); /* Fraction of the buckets without a used key. */
        double bucket_density =
            buckets * left * (mean * mean * unused.first * unused.first + mean * unused.second);
        double slab_density = keys * unused.second;
        reuse->weight[i] = (bucket_density + lines * slab_density) / (1 + lines) * all->weight[i];
        reuse->lines[i] = buckets * (1 - left) + keys * lines * (1 - unused.frac);
    }
}

/* A configuration and its prediction need the same reuse, as do those that differ only in other devices. */
const struct kvc_kvdirect_reuse *kvc_kvdirect_reuse_of(const struct kvc_workload *workload,
                                                       const struct kvc_kvdirect_cached *cached)
{
    static _Thread_local struct kept kept;
    const double argument[KVC_KVDIRECT_REUSE_ARGUMENTS] = {
        (double)workload->keys, workload->popularity,     workload->zipf_s,  cached->buckets,
        cached->places,         cached->pairs_per_bucket, cached->slab_lines};
    bool found, can_keep = workload->action_count == 0;
    struct kvc_kvdirect_reuse *reuse = kept_of(&kept, can_keep ? argument : NULL, sizeof(*reuse), &found);
    if (!found) {
        *reuse = (struct kvc_kvdirect_reuse){.places = cached->places, .can_keep = can_keep};
        memcpy(reuse->argument, argument, sizeof(argument));
        compute_reuse(workload, cached, reuse);
    }
    return reuse;
}

/* Sums the shares of the accesses that hit. Without the terms that are smaller than half of its last digit,
 * the sum is the same. */
static double hit_sum(const struct kvc_kvdirect_reuse *reuse, double dispatch_frac)
{
    static const double digit_frac = 0x1p-55, exponent_most = 39; /* exp(-39) is less than 2^-55. */
    double hit = 0;
    for (uint32_t i = 0; i < KVC_KVDIRECT_REUSE_STEPS && reuse->places > 0; i++) {
        double weight = reuse->weight[i], exponent = dispatch_frac * reuse->lines[i] / reuse->places;
        if (weight > hit || (weight > hit * digit_frac && exponent < exponent_most)) {
            hit += weight * exp(-exponent);
        }
    }
    return hit;
}

double kvc_kvdirect_hit_frac(const struct kvc_kvdirect_reuse *reuse, double dispatch_frac)
{
    static _Thread_local struct kvc_memo memo;
    double argument[KVC_KVDIRECT_REUSE_ARGUMENTS + 1], hit;
    memcpy(argument, reuse->argument, sizeof(reuse->argument));
    argument[KVC_KVDIRECT_REUSE_ARGUMENTS] = dispatch_frac;
    if (!reuse->can_keep || !kvc_memo_find(&memo, argument, &hit)) {
        hit = hit_sum(reuse, dispatch_frac);
        if (reuse->can_keep) {
            kvc_memo_keep(&memo, argument, KVC_KVDIRECT_REUSE_ARGUMENTS + 1, hit);
        }
    }
    return fmin(hit, 1);
}
