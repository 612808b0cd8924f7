#include "models/shards/cache.h"

#include <math.h>

#include "sim/base/memo.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/set_cache.h"

enum { BISECTIONS = 80 };

/* Sets who is present if a SET of a missing key drops any of the stored keys: a key is missing until its next
 * SET, and present until it is dropped or deleted. Returns the number of keys that are present. */
static double held_with_drops(struct kvc_set_cache *keys, const struct kvc_workload *workload, double drops)
{
    double held = 0;
    for (uint32_t i = 0; i < keys->blocks; i++) {
        struct kvc_set_cache_block *block = &keys->block[i];
        double requests = block->keys.mass / block->keys.keys, sets = workload->set_frac * requests;
        block->present = sets / (sets + workload->delete_frac * requests + drops);
        held += block->keys.keys * block->present;
    }
    return held;
}

static void solve_drops(struct kvc_set_cache *keys, const struct kvc_workload *workload, double slots)
{
    double low = 0, high = workload->set_frac / slots; /* As if every SET dropped a key. */
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        *(held_with_drops(keys, workload, middle) > slots ? &low : &high) = middle;
    }
}

/* Without SETs, the most popular keys that fit are present. */
static void keep_popular(struct kvc_set_cache *keys, double held)
{
    for (uint32_t i = 0; i < keys->blocks; i++) {
        struct kvc_set_cache_block *block = &keys->block[i];
        block->present = fmin(fmax(held, 0) / block->keys.keys, 1);
        held -= block->keys.keys;
    }
}

void kvc_shards_full_index_open(struct kvc_set_cache *keys, const struct kvc_workload *workload, double slots)
{
    kvc_set_cache_list(keys, workload);
    if (workload->set_frac > 0) {
        solve_drops(keys, workload, slots);
    } else {
        keep_popular(keys, fmin(floor(workload->preload_frac * (double)workload->keys), slots));
    }
    for (uint32_t i = 0; i < keys->blocks; i++) {
        keys->hit_frac += keys->block[i].keys.mass * keys->block[i].present;
    }
}

static double hit_frac_of(const struct kvc_workload *workload, double slots, double items)
{
    struct kvc_set_cache cache;
    if ((double)workload->keys <= fmin(slots, items) && workload->set_frac > 0) {
        return 1;
    }
    if (slots < items || workload->set_frac <= 0) {
        kvc_shards_full_index_open(&cache, workload, fmin(slots, items));
    } else {
        kvc_set_cache_open(&cache, workload, items, 0);
    }
    kvc_set_cache_close(&cache);
    return cache.hit_frac;
}

double kvc_shards_hit_frac(const struct kvc_workload *workload, double slots, double items)
{
    static _Thread_local struct kvc_memo memo;
    const double argument[] = {(double)workload->keys,
                               workload->popularity,
                               workload->zipf_s,
                               workload->set_frac,
                               workload->delete_frac,
                               workload->preload_frac,
                               slots,
                               items};
    double hit_frac;
    if (workload->trace.profile != NULL) {
        return kvc_workload_trace_hit_frac(workload, fmin(slots, items));
    }
    if (workload->action_count > 0) {
        return hit_frac_of(workload, slots, items);
    }
    if (!kvc_memo_find(&memo, argument, &hit_frac)) {
        hit_frac = hit_frac_of(workload, slots, items);
        kvc_memo_keep(&memo, argument, sizeof(argument) / sizeof(*argument), hit_frac);
    }
    return hit_frac;
}

/* One key during one round of the hand. */
struct clock_key {
    double present; /* Share of the time in which the key is present. */
    double stale;   /* Mean number of places with replaced items of this key. */
    double marks;   /* Number of reads that set the reference bit. */
};

/* Follows one key under CLOCK. A SET gives the key a marked place just passed by the hand, where it is safe
 * for one round. The key survives each further round if it was read in the round before; the first read of a
 * round sets the mark. */
static struct clock_key key_under_clock(double reads, double sets)
{
    double no_set = exp(-sets), read = -expm1(-reads), neither = -expm1(-(reads + sets)) / (reads + sets);
    double rounds = no_set / (1 - no_set * read); /* Further rounds until eviction or the next SET. */
    double first_stale = (1 - no_set) * 2 + no_set + expm1(-sets) / sets;
    return (struct clock_key){
        .present = (1 - no_set) * (1 + rounds),
        .stale = sets * (first_stale + rounds * (first_stale - sets * neither)),
        .marks = reads * rounds * sets * neither,
    };
}

/* Returns the number of items in a store where a round of the hand takes `round` requests, and sets
 * *lookup_mix. */
static double held_by_clock(struct kvc_popularity_blocks *blocks, const struct kvc_workload *workload,
                            double round, struct kvc_shards_lookup_mix *lookup_mix)
{
    double items = 0, reads = 0, hits = 0, marks = 0;
    struct kvc_popularity_block block;
    while (kvc_popularity_blocks_next(blocks, &block)) {
        double requests = block.mass / block.keys * round, key_reads = workload->get_frac * requests;
        struct clock_key key = key_under_clock(key_reads, workload->set_frac * requests);
        items += block.keys * (key.present + key.stale);
        reads += block.keys * key_reads;
        hits += block.keys * key_reads * key.present;
        marks += block.keys * key.marks;
    }
    if (hits > 0) {
        *lookup_mix = (struct kvc_shards_lookup_mix){1 - hits / reads, 1, marks / hits};
    }
    return items;
}

struct kvc_shards_lookup_mix kvc_shards_lookup_mix_of(const struct kvc_workload *workload, double capacity)
{
    struct kvc_shards_lookup_mix lookup_mix = {0};
    struct kvc_popularity_blocks blocks;
    if (workload->set_frac <= 0) {
        return lookup_mix;
    }
    double low = 0, high = 4 * capacity / workload->set_frac;
    kvc_popularity_blocks_open(&blocks, workload);
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (held_by_clock(&blocks, workload, middle, &lookup_mix) < capacity) {
            low = middle;
        } else {
            high = middle;
        }
    }
    kvc_popularity_blocks_close(&blocks);
    return lookup_mix;
}
