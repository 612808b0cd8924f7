#include "sim/workload/reuse.h"

#include <math.h>

#include "sim/workload/popularity_blocks.h"

enum { BISECTIONS = 60 };

/* Returns how many bytes `requests` requests touch, and in *share the probability that the next request
 * returns to one of them. If keys share lines, a line is touched when any of its keys is; the touched keys
 * are assumed to be spread evenly over all lines. */
static double touched(struct kvc_popularity_blocks *blocks, const struct kvc_reuse *reuse, double requests,
                      double *share)
{
    double lines = reuse->footprint_bytes / reuse->bytes_per_key, touched_keys = 0, untouched_mass = 0;
    struct kvc_popularity_block block;
    while (kvc_popularity_blocks_next(blocks, &block)) {
        double touched_each = -expm1(-block.mass / block.keys * requests);
        touched_keys += block.keys * touched_each;
        untouched_mass += block.mass * (1 - touched_each);
    }
    double touched_lines = touched_keys;
    *share = 1 - untouched_mass;
    if (lines < (double)blocks->keys) {
        double touches = blocks->zipf != NULL ? touched_keys : requests;
        double touched_each = -expm1(-touches / lines);
        touched_lines = lines * touched_each;
        *share = 1 - (1 - touched_each) * (blocks->zipf != NULL ? untouched_mass : 1);
    }
    return touched_lines * reuse->bytes_per_key + requests * reuse->stream_bytes;
}

static double share_of(struct kvc_popularity_blocks *blocks, const struct kvc_reuse *reuse, double size)
{
    double low = 0, high = 1, share = 0;
    while (touched(blocks, reuse, high, &share) < size && share < 1 - 1e-12) {
        high *= 2;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (touched(blocks, reuse, middle, &share) < size) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return share;
}

void kvc_reuse_shares(const struct kvc_workload *workload, const struct kvc_reuse *reuse, const double *size,
                      uint32_t count, double *share)
{
    struct kvc_popularity_blocks blocks;
    kvc_popularity_blocks_open(&blocks, workload);
    for (uint32_t i = 0; i < count; i++) {
        share[i] = size[i] >= reuse->footprint_bytes && reuse->stream_bytes <= 0
                       ? 1
                       : share_of(&blocks, reuse, size[i]);
    }
    kvc_popularity_blocks_close(&blocks);
}
