#include "models/kvdirect/layout.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/kvdirect/table.h"
#include "models/kvdirect/dispatch.h"
#include "models/kvdirect/options.h"

enum { SLOTS = 10, SLOT_BYTES = 5, METADATA_BYTES = 2, SECONDARY_HASHES = 512, BISECTIONS = 40 };

/* Fraction of the memory left free for the stacks of free slabs and for random variation. */
static const double spare_frac = 0.01;

static const double least_index_frac = 0.001;

/* Returns how many inline pairs or pointers a bucket holds. */
static double room_of(uint32_t inline_bytes, uint32_t pair_bytes)
{
    return pair_bytes <= inline_bytes ? floor(SLOTS / ceil((double)pair_bytes / SLOT_BYTES)) : SLOTS;
}

static double slab_bytes_of(uint32_t pair_bytes)
{
    return kvc_kvdirect_slab_bytes(kvc_kvdirect_slab_type(pair_bytes + METADATA_BYTES));
}

/* Lengths of chains whose number of keys is Poisson distributed. */
struct chains {
    double behind;  /* Mean distance of a key from the first bucket of its chain [buckets]. */
    double further; /* Mean number of buckets behind the first one of a chain. */
};

/* Returns the lengths of chains with `mean` keys, in buckets that hold `room` keys. */
static struct chains chains_of(double mean, double room)
{
    double probability = exp(-mean), before = 0;
    struct chains chains = {0};
    uint32_t most = (uint32_t)(mean + 12 * sqrt(mean) + 20);
    for (uint32_t keys = 1; keys <= most; keys++) {
        double last = floor((keys - 1) / room); /* Bucket of the last key. */
        before += last;
        probability =
            mean > 500 ? exp(keys * log(mean) - mean - lgamma(keys + 1.0)) : probability * mean / keys;
        chains.behind += probability * before;
        chains.further += probability * last;
    }
    chains.behind = mean > 0 ? chains.behind / mean : 0;
    return chains;
}

struct kvc_kvdirect_accesses kvc_kvdirect_accesses_of(double keys, double buckets, uint32_t inline_bytes,
                                                      uint32_t pair_bytes)
{
    struct kvc_kvdirect_accesses accesses = {.pairs_per_bucket = keys / buckets};
    bool inlined = pair_bytes <= inline_bytes;
    double room = room_of(inline_bytes, pair_bytes);
    accesses.bucket_reads = 1 + chains_of(accesses.pairs_per_bucket, room).behind;
    if (inlined) {
        return accesses;
    }
    /* On average half of the chain is searched, and each pointer there may have the same secondary hash. */
    double looked_at = fmin(accesses.pairs_per_bucket, room * accesses.bucket_reads) / 2;
    accesses.used_lines = ceil((pair_bytes + METADATA_BYTES) / (double)KVC_KVDIRECT_LINE_BYTES);
    accesses.slab_lines = ceil(slab_bytes_of(pair_bytes) / KVC_KVDIRECT_LINE_BYTES);
    accesses.slab_reads = 1 + looked_at / SECONDARY_HASHES;
    return accesses;
}

double kvc_kvdirect_needed_frac(double keys, double bytes, double index_frac, uint32_t inline_bytes,
                                uint32_t pair_bytes)
{
    double buckets = bytes * index_frac / KVC_KVDIRECT_LINE_BYTES;
    double chained = buckets * chains_of(keys / buckets, room_of(inline_bytes, pair_bytes)).further;
    double slabs = pair_bytes <= inline_bytes ? 0 : keys * slab_bytes_of(pair_bytes) / bytes;
    return index_frac + chained * KVC_KVDIRECT_LINE_BYTES / bytes + slabs;
}

double kvc_kvdirect_best_index(double keys, double bytes, uint32_t inline_bytes, uint32_t pair_bytes)
{
    double low = least_index_frac, high = 1;
    if (kvc_kvdirect_needed_frac(keys, bytes, 1, inline_bytes, pair_bytes) <= 1) {
        return 1;
    }
    /* A small index needs chained buckets, a large one needs the memory itself: the need is least in between.
     */
    while (low < 1 && kvc_kvdirect_needed_frac(keys, bytes, low, inline_bytes, pair_bytes) > 1 - spare_frac) {
        low *= 1.1;
    }
    if (low >= 1) {
        return 0;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (kvc_kvdirect_needed_frac(keys, bytes, middle, inline_bytes, pair_bytes) <= 1 - spare_frac) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns the layout with the fewest reads. If the pairs fit in none, kvc_kvdirect_check() reports it. */
static struct kvc_kvdirect_layout best_of(double keys, double bytes, uint32_t pair_bytes, double index_frac,
                                          uint32_t inline_least, uint32_t inline_most)
{
    struct kvc_kvdirect_layout best = {index_frac > 0 ? index_frac : 0.5, inline_least};
    double fewest = INFINITY;
    /* All thresholds below the size of the pairs give the same table, and so do all others. */
    for (uint32_t inline_bytes = inline_least; inline_bytes <= inline_most;
         inline_bytes = inline_bytes < pair_bytes ? pair_bytes : inline_most + 1) {
        double index =
            index_frac > 0 ? index_frac : kvc_kvdirect_best_index(keys, bytes, inline_bytes, pair_bytes);
        if (index <= 0) {
            continue;
        }
        struct kvc_kvdirect_accesses accesses =
            kvc_kvdirect_accesses_of(keys, bytes * index / KVC_KVDIRECT_LINE_BYTES, inline_bytes, pair_bytes);
        if (kvc_kvdirect_reads(&accesses) >= fewest) {
            continue;
        }
        fewest = kvc_kvdirect_reads(&accesses);
        best = (struct kvc_kvdirect_layout){index, inline_bytes};
    }
    return best;
}

struct kvc_kvdirect_layout kvc_kvdirect_best_layout(double keys, double bytes, uint32_t pair_bytes,
                                                    double index_frac, uint32_t inline_bytes)
{
    bool any_inline = inline_bytes == KVC_KVDIRECT_INLINE_AUTO;
    if (index_frac > 0 && !any_inline) {
        return (struct kvc_kvdirect_layout){index_frac, inline_bytes};
    }
    return best_of(keys, bytes, pair_bytes, index_frac, any_inline ? 0 : inline_bytes,
                   any_inline ? KVC_KVDIRECT_TABLE_INLINE_MAX : inline_bytes);
}
