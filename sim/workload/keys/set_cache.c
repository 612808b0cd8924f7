#include "sim/workload/keys/set_cache.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/bracket.h"

enum {
    BISECTIONS = 80,
    AGES = 256,
    ROUNDS_MAX = 100,
    LANES = 8, /* Sums that are independent of one another, so that they need not wait. */
};

/* The youngest and the oldest age that are examined. Their unit is the time in which the number of written
 * items equals the number of stored ones. Hardly any item is older than the last: it has been among the
 * oldest for most of this time. */
static const double youngest = 1e-4, oldest = 30, close_enough = 1e-6;

/* The shares of requests. */
struct mix {
    double set, erase;
};

/* Returns the share of the time in which a key is present whose item is evicted before the next request for
 * the key with probability `evicted`. */
static double presence(const struct mix *mix, double evicted)
{
    double stays = 1 - evicted, again = mix->set * stays;
    return again / (evicted + mix->erase * stays + again);
}

/* Returns how often a key gets an item of age 0, for each request for it. */
static double renewals(const struct mix *mix, double present)
{
    return (1 - mix->erase) * present + mix->set * (1 - present);
}

static double rate_of(const struct kvc_set_cache_block *block)
{
    return block->keys.mass / block->keys.keys;
}

/* Sets who is present if every item stays for `stay` requests, and returns the number of items. */
static double held_for(struct kvc_set_cache *cache, const struct mix *mix, double stay)
{
    double items = 0;
    for (uint32_t i = 0; i < cache->blocks; i++) {
        struct kvc_set_cache_block *block = &cache->block[i];
        double mean = rate_of(block) * stay, evicted = exp(-mean);
        block->present = presence(mix, evicted);
        double dead = (mix->set + mix->erase) * renewals(mix, block->present) * (mean + expm1(-mean));
        items += block->keys.keys * (block->present + dead);
    }
    return items;
}

/* A cache that holds as many items as a stay of each of them needs. */
struct lru {
    struct kvc_set_cache *cache;
    const struct mix *mix;
    double capacity;
};

static double beyond_capacity(void *data, double stay)
{
    const struct lru *lru = data;
    return held_for(lru->cache, lru->mix, stay) - lru->capacity;
}

static void solve_lru(struct kvc_set_cache *cache, const struct mix *mix, double capacity)
{
    struct lru lru = {cache, mix, capacity};
    struct kvc_bracket bracket = {0, -capacity, capacity / mix->set, NAN};
    while ((bracket.f_high = beyond_capacity(&lru, bracket.high)) < 0) {
        bracket.high *= 2;
    }
    held_for(cache, mix, kvc_bisect_rising(beyond_capacity, &lru, 0, bracket.high, BISECTIONS, bracket));
}

/* Quantities that depend on the age of an item. */
struct ages {
    double age[AGES];
    double born[AGES];     /* Items of this age per unit of age, if none were evicted. */
    double there[AGES];    /* Probability that an item of this age is there. */
    double (*waits)[AGES]; /* Probability that a key of each block waits for its next request until this
                              age, ... */
    int *end;              /* ... and the age from which on it does not; a multiple of LANES. */
};

/* Follows items from age 0 on: an item that is older than more other items is evicted more often. */
static void follow(struct ages *ages, double evictions, double capacity, unsigned samples)
{
    double younger = 0;
    ages->there[0] = 1;
    for (int i = 1; i < AGES; i++) {
        double width = ages->age[i] - ages->age[i - 1], before = ages->born[i - 1] * ages->there[i - 1];
        double rate = evictions / capacity * samples;
        double half =
            ages->there[i - 1] * exp(-rate * gsl_pow_uint(fmin(younger, 1), samples - 1) * width / 2);
        double middle = (ages->born[i - 1] + ages->born[i]) / 2 * half;
        double younger_middle = younger + (before + middle) / 2 * width / 2 / capacity;
        ages->there[i] =
            ages->there[i - 1] * exp(-rate * gsl_pow_uint(fmin(younger_middle, 1), samples - 1) * width);
        younger += (before + ages->born[i] * ages->there[i]) / 2 * width / capacity;
    }
}

static void add_births(const struct kvc_set_cache *cache, const struct mix *mix, struct ages *ages)
{
    double dies = mix->set + mix->erase, all = 0;
    for (int a = 0; a < AGES; a++) {
        ages->born[a] = 0;
    }
    for (uint32_t i = 0; i < cache->blocks; i++) {
        const struct kvc_set_cache_block *block = &cache->block[i];
        double born = block->keys.mass * renewals(mix, block->present);
        for (int a = 0; a < ages->end[i]; a++) {
            ages->born[a] += born * ages->waits[i][a];
        }
        all += born;
    }
    for (int a = 0; a < AGES; a++) {
        ages->born[a] = (1 - dies) * ages->born[a] + dies * all;
    }
}

/* Sets who is present after this course of ages. Returns the largest change. An item whose key waits from one
 * age to the next is evicted if it is not there; in the sum over the ages, each wait counts with what is
 * evicted after it less what is evicted before it. */
static double set_present(struct kvc_set_cache *cache, const struct mix *mix, const struct ages *ages)
{
    double most = 0, gone[AGES + 1] = {[AGES] = 1}, more[AGES];
    for (int a = 1; a < AGES; a++) {
        gone[a] = 1 - (ages->there[a] + ages->there[a - 1]) / 2;
    }
    for (int a = 0; a < AGES; a++) {
        more[a] = gone[a + 1] - gone[a];
    }
    for (uint32_t i = 0; i < cache->blocks; i++) {
        const double *waits = ages->waits[i];
        double sum[LANES] = {0}, evicted = 0;
        for (int a = 0; a < ages->end[i]; a += LANES) {
            for (int lane = 0; lane < LANES; lane++) {
                sum[lane] += more[a + lane] * waits[a + lane];
            }
        }
        for (int lane = 0; lane < LANES; lane++) {
            evicted += sum[lane];
        }
        double present = (cache->block[i].present + presence(mix, evicted)) /
                         2; /* Half of the way, so that the iteration does not oscillate. */
        most = fmax(most, fabs(present - cache->block[i].present));
        cache->block[i].present = present;
    }
    return most;
}

/* Sets how long the keys wait. A probability below e^-40 changes no digit of a sum. */
static void set_waits(const struct kvc_set_cache *cache, struct ages *ages)
{
    static const double exponent_most = 40;
    for (uint32_t i = 0; i < cache->blocks; i++) {
        double rate = rate_of(&cache->block[i]);
        int a = 0;
        for (; a < AGES && rate * ages->age[a] < exponent_most; a++) {
            ages->waits[i][a] = exp(-rate * ages->age[a]);
        }
        ages->end[i] = (a + LANES - 1) / LANES * LANES;
    }
}

static void solve_sampled(struct kvc_set_cache *cache, const struct mix *mix, double capacity,
                          uint32_t samples)
{
    struct ages ages = {.waits = kvc_array_of(cache->blocks, sizeof(*ages.waits)),
                        .end = kvc_array_of(cache->blocks, sizeof(*ages.end))};
    for (int a = 1; a < AGES; a++) {
        double power = (double)(a - 1) / (AGES - 2);
        ages.age[a] = youngest * pow(oldest / youngest, power) * capacity / mix->set;
    }
    set_waits(cache, &ages);
    double change = 1;
    for (int round = 0; round < ROUNDS_MAX && change > close_enough; round++) {
        add_births(cache, mix, &ages);
        follow(&ages, mix->set, capacity, samples);
        change = set_present(cache, mix, &ages);
    }
    free(ages.waits);
    free(ages.end);
}

void kvc_set_cache_list(struct kvc_set_cache *cache, const struct kvc_workload *workload)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block keys;
    uint32_t room = 0;
    *cache = (struct kvc_set_cache){0};
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &keys)) {
        if (cache->blocks == room) {
            room = room > 0 ? 2 * room : 64;
            cache->block = kvc_array_grown(cache->block, room, sizeof(*cache->block));
        }
        cache->block[cache->blocks++] = (struct kvc_set_cache_block){.keys = keys};
    }
    kvc_popularity_blocks_close(&blocks);
}

void kvc_set_cache_open(struct kvc_set_cache *cache, const struct kvc_workload *workload, double capacity,
                        uint32_t samples)
{
    const struct mix mix = {workload->set_frac, workload->delete_frac};
    kvc_set_cache_list(cache, workload);
    solve_lru(cache, &mix, capacity);
    if (samples > 0) {
        solve_sampled(cache, &mix, capacity, samples);
    }
    for (uint32_t i = 0; i < cache->blocks; i++) {
        cache->hit_frac += cache->block[i].keys.mass * cache->block[i].present;
    }
}

void kvc_set_cache_close(struct kvc_set_cache *cache)
{
    free(cache->block);
}
