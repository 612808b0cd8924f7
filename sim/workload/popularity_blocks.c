#include "sim/workload/popularity_blocks.h"

#include <math.h>

enum { PART = 64 }; /* A block is 1/64 of its first rank wide. */

void kvc_popularity_blocks_open(struct kvc_popularity_blocks *blocks, const struct kvc_workload *workload)
{
    bool zipf = workload->popularity == KVC_POPULARITY_ZIPF;
    *blocks = (struct kvc_popularity_blocks){.keys = workload->keys};
    if (zipf) {
        blocks->zipf = kvc_zipf_create(workload->keys, workload->zipf_s);
    }
}

void kvc_popularity_blocks_close(struct kvc_popularity_blocks *blocks)
{
    kvc_zipf_free(blocks->zipf);
}

bool kvc_popularity_blocks_next(struct kvc_popularity_blocks *blocks, struct kvc_popularity_block *block)
{
    uint64_t first = blocks->next, last = blocks->keys;
    if (first >= blocks->keys) {
        blocks->next = 0;
        blocks->mass_before = 0;
        return false;
    }
    double mass = 1;
    if (blocks->zipf != NULL) {
        uint64_t width = first / PART > 0 ? first / PART : 1;
        last = first + width < blocks->keys ? first + width : blocks->keys;
        mass = kvc_zipf_mass(blocks->zipf, last);
    }
    *block = (struct kvc_popularity_block){(double)(last - first), mass - blocks->mass_before};
    blocks->next = last;
    blocks->mass_before = mass;
    return true;
}

double kvc_popularity_mass(const struct kvc_workload *workload, double keys)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    double mass = 0, left = keys;
    kvc_popularity_blocks_open(&blocks, workload);
    while (left > 0 && kvc_popularity_blocks_next(&blocks, &block)) {
        mass += block.mass * fmin(left / block.keys, 1);
        left -= block.keys;
    }
    kvc_popularity_blocks_close(&blocks);
    return fmin(mass, 1);
}
