#include "sim/workload/keys/key_part.h"

#include <math.h>
#include <stdlib.h>

#include "sim/workload/keys/alias.h"

enum { BLOCK_SHARE = 64 /* Within a block, the rank grows by at most 1/64. */ };

struct block {
    uint64_t sure;  /* A 64-bit random number below this accepts any key in the block. */
    uint32_t first; /* Place in the list of keys. */
    uint32_t width;
};

struct kvc_part_sampler {
    const uint32_t *key; /* Ids of the part's keys. */
    uint32_t *number;    /* The keys of the epoch as numbers within the part; NULL: all of them. */
    uint64_t count;      /* Keys of the epoch. */
    double s;            /* Exponent of the popularity; 0: uniform. */
    struct kvc_alias alias;
    struct block *blocks;
};

void kvc_part_sampler_free(struct kvc_part_sampler *sampler)
{
    if (sampler == NULL) {
        return;
    }
    kvc_alias_free(&sampler->alias);
    free(sampler->blocks);
    free(sampler->number);
    free(sampler);
}

static inline uint64_t number_at(const struct kvc_part_sampler *sampler, uint64_t place)
{
    return sampler->number != NULL ? sampler->number[place] : place;
}

/* Returns the rank of a key in the whole workload, counted from 1. */
static inline double rank_at(const struct kvc_part_sampler *sampler, uint64_t place)
{
    return (double)sampler->key[number_at(sampler, place)] + 1;
}

/* Returns the end of the block that begins at `first`. */
static uint64_t block_end(const struct kvc_part_sampler *sampler, uint64_t first)
{
    double most = rank_at(sampler, first) * (1 + 1.0 / BLOCK_SHARE);
    uint64_t low = first + 1, high = sampler->count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (rank_at(sampler, middle) <= most) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool make_blocks(struct kvc_part_sampler *sampler)
{
    uint32_t count = 0;
    for (uint64_t first = 0; first < sampler->count; first = block_end(sampler, first)) {
        count++;
    }
    double *weight = malloc(count * sizeof(*weight));
    sampler->blocks = malloc(count * sizeof(*sampler->blocks));
    bool ok = weight != NULL && sampler->blocks != NULL;
    uint64_t first = 0;
    for (uint32_t i = 0; i < count && ok; i++) {
        uint64_t end = block_end(sampler, first);
        double from = rank_at(sampler, first), to = rank_at(sampler, end - 1);
        /* pow rounds; an unnecessary pow later is better than a wrong draw. */
        double sure = pow(from / to, sampler->s) * (1 - 1e-12) * 0x1.0p64;
        sampler->blocks[i] = (struct block){.sure = end - first == 1 ? UINT64_MAX : (uint64_t)sure,
                                            .first = (uint32_t)first,
                                            .width = (uint32_t)(end - first)};
        weight[i] = (double)(end - first) * pow(from, -sampler->s);
        first = end;
    }
    ok = ok && kvc_alias_init(&sampler->alias, weight, count);
    free(weight);
    return ok;
}

/* Lists the keys that the part owns in the epoch. */
static bool list_owned(struct kvc_part_sampler *sampler, const struct kvc_key_part *part, uint32_t epoch)
{
    uint64_t next = 0;
    sampler->number = malloc(sampler->count * sizeof(*sampler->number));
    for (uint64_t i = 0; i < part->count && sampler->number != NULL; i++) {
        if (part->owned[i] >> epoch & 1) {
            sampler->number[next++] = (uint32_t)i;
        }
    }
    return sampler->number != NULL;
}

struct kvc_part_sampler *kvc_part_sampler_create(const struct kvc_key_part *part, double s, uint32_t epoch)
{
    struct kvc_part_sampler *sampler = calloc(1, sizeof(*sampler));
    if (sampler == NULL) {
        return NULL;
    }
    sampler->key = part->key;
    sampler->count = part->epoch[epoch].keys;
    sampler->s = s;
    if ((part->owned != NULL && !list_owned(sampler, part, epoch)) ||
        (sampler->s > 0 && !make_blocks(sampler))) {
        kvc_part_sampler_free(sampler);
        return NULL;
    }
    return sampler;
}

static bool accept(const struct kvc_part_sampler *sampler, const struct block *block, uint64_t place,
                   uint64_t random)
{
    double ratio = rank_at(sampler, block->first) / rank_at(sampler, place);
    return (double)(random >> 11) * 0x1.0p-53 < pow(ratio, sampler->s);
}

void kvc_part_sampler_fill(const struct kvc_part_sampler *sampler, struct kvc_rng *rng, uint64_t *number,
                           size_t count)
{
    struct kvc_rng local = *rng; /* Kept in registers. */
    for (size_t i = 0; i < count;) {
        if (sampler->s <= 0) {
            number[i++] = number_at(sampler, kvc_rng_below(&local, sampler->count));
            continue;
        }
        const struct block *block = &sampler->blocks[kvc_alias_pick(&sampler->alias, kvc_rng_u64(&local))];
        unsigned __int128 scaled = (unsigned __int128)kvc_rng_u64(&local) * block->width;
        uint64_t place = block->first + (uint64_t)(scaled >> 64), rest = (uint64_t)scaled;
        if (__builtin_expect(rest < block->sure, 1) || accept(sampler, block, place, rest)) {
            number[i++] = number_at(sampler, place);
        }
    }
    *rng = local;
}
