#include "sim/workload/keys/zipf.h"

#include <math.h>
#include <stdlib.h>

#include "sim/workload/keys/alias.h"
#include "sim/workload/keys/zipf_sums.h"

enum {
    BLOCK_SHARE = 64, /* A block is at most 1/64 of its first rank wide. */
};

struct block {
    uint64_t sure;  /* A 64-bit random number below this accepts any rank in the block. */
    uint32_t first; /* Counted from 0. */
    uint32_t width;
};

struct kvc_zipf {
    uint64_t n;
    double s;
    struct kvc_alias alias;
    struct block *blocks;
};

void kvc_zipf_free(struct kvc_zipf *zipf)
{
    if (zipf == NULL) {
        return;
    }
    kvc_alias_free(&zipf->alias);
    free(zipf->blocks);
    free(zipf);
}

static uint64_t block_width(uint64_t first, uint64_t n)
{
    uint64_t width = (first + 1) / BLOCK_SHARE;
    if (width == 0) {
        width = 1;
    }
    return width < n - first ? width : n - first;
}

static uint64_t sure_below(double first, double last, double s)
{
    if (first >= last) {
        return UINT64_MAX;
    }
    double least = pow(first / last, s) * (1 - 1e-12) *
                   0x1.0p64; /* pow rounds; an unnecessary pow later is better than a wrong draw. */
    return (uint64_t)least;
}

struct kvc_zipf *kvc_zipf_create(uint64_t n, double s)
{
    uint32_t count = 0;
    for (uint64_t first = 0; first < n; first += block_width(first, n)) {
        count++;
    }
    struct kvc_zipf *zipf = calloc(1, sizeof(*zipf));
    double *weight = malloc(count * sizeof(*weight));
    if (zipf != NULL) {
        zipf->blocks = malloc(count * sizeof(*zipf->blocks));
    }
    if (zipf == NULL || weight == NULL || zipf->blocks == NULL) {
        goto fail;
    }
    zipf->n = n;
    zipf->s = s;
    uint64_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t width = block_width(first, n);
        zipf->blocks[i] = (struct block){.sure = sure_below((double)(first + 1), (double)(first + width), s),
                                         .first = (uint32_t)first,
                                         .width = (uint32_t)width};
        weight[i] = (double)width * pow((double)(first + 1), -s);
        first += width;
    }
    if (!kvc_alias_init(&zipf->alias, weight, count)) {
        goto fail;
    }
    free(weight);
    return zipf;
fail:
    free(weight);
    kvc_zipf_free(zipf);
    return NULL;
}

static int accept(const struct block *block, uint64_t offset, uint64_t random, double s)
{
    double first = (double)block->first + 1;
    return (double)(random >> 11) * 0x1.0p-53 < pow(first / (first + (double)offset), s);
}

void kvc_zipf_fill(const struct kvc_zipf *zipf, struct kvc_rng *rng, uint64_t *rank, size_t count)
{
    struct kvc_rng local = *rng; /* Kept in registers. */
    const struct kvc_alias alias = zipf->alias;
    for (size_t i = 0; i < count;) {
        const struct block *block = &zipf->blocks[kvc_alias_pick(&alias, kvc_rng_u64(&local))];
        unsigned __int128 scaled = (unsigned __int128)kvc_rng_u64(&local) * block->width;
        uint64_t offset = (uint64_t)(scaled >> 64), rest = (uint64_t)scaled;
        rank[i] = block->first + offset;
        if (__builtin_expect(rest < block->sure, 1) || accept(block, offset, rest, zipf->s)) {
            i++;
        }
    }
    *rng = local;
}

double kvc_zipf_mass(uint64_t n, double s, uint64_t k)
{
    if (k >= n) {
        return 1;
    }
    struct kvc_zipf_sums *sums = kvc_zipf_sums_open(s);
    double mass = kvc_zipf_sums_to(sums, k) / kvc_zipf_sums_to(sums, n);
    kvc_zipf_sums_close(sums);
    return mass;
}
