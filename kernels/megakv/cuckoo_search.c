#include "kernels/megakv/cuckoo_internal.h"

enum {
    SEARCH_AHEAD = 64,  /* lines in flight, enough to cover the memory latency */
    SEARCH_CHUNK = 256, /* keys per chunk; their lines fit the first-level cache */
    FEW = 4,            /* smaller batches are not prefetched */
};

/* Returns the location of a signature in a bucket, or KVC_LOCATION_NONE. In the layout with signatures and
 * locations apart, the writer stores a location between clearing and setting its signature, so the pair
 * belongs together if the signature is still there after the location was read. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t probe(const uint32_t *bucket, uint32_t signature,
                                        struct kvc_megakv_cuckoo_shape shape)
{
    uint32_t slots = kvc_megakv_cuckoo_match(bucket, signature, shape);
    unsigned c = (unsigned)__builtin_ctz(slots | 1u << (shape.slots - 1));
    if (!shape.apart) {
        uint64_t slot = kvc_megakv_cuckoo_load_slot(bucket, c);
        return (uint32_t)slot == signature ? (uint32_t)(slot >> 32) : KVC_LOCATION_NONE;
    }
    uint32_t location = kvc_megakv_cuckoo_load_word(bucket + shape.slots + c);
    bool whole = kvc_megakv_cuckoo_load_word(bucket + c) == signature;
    return (whole & (slots != 0)) ? location : KVC_LOCATION_NONE;
}

KVC_MEGAKV_CUCKOO_INLINE uint64_t moves_so_far(const struct kvc_megakv_cuckoo *table)
{
    /* keeps the vector loads before the counter in the compiler; the processor does so anyway */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return __atomic_load_n(&table->moves, __ATOMIC_ACQUIRE);
}

/* Searches again, in case the element moved past a reader that began when the counter stood at `moves`. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t search_again(const struct kvc_megakv_cuckoo *table, uint64_t hash,
                                               uint64_t moves, struct kvc_index_stats *stats,
                                               struct kvc_megakv_cuckoo_shape shape)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = kvc_megakv_cuckoo_primary_of(table, hash);
    uint32_t alternate = kvc_megakv_cuckoo_alternate_of(table, primary, signature);
    for (;;) {
        uint64_t now = moves_so_far(table);
        if (now == moves) {
            return KVC_LOCATION_NONE;
        }
        moves = now;
        uint32_t location = probe(kvc_megakv_cuckoo_bucket_of(table, primary, shape), signature, shape);
        stats->search_lines += kvc_megakv_cuckoo_lines(shape);
        if (location == KVC_LOCATION_NONE && alternate != primary) {
            location = probe(kvc_megakv_cuckoo_bucket_of(table, alternate, shape), signature, shape);
            stats->search_lines += kvc_megakv_cuckoo_lines(shape);
        }
        if (location != KVC_LOCATION_NONE) {
            return location;
        }
    }
}

/* Continues a search that missed in the primary bucket. */
static __attribute__((noinline)) uint32_t search_alternate(const struct kvc_megakv_cuckoo *table,
                                                           uint64_t hash, uint64_t moves,
                                                           struct kvc_index_stats *stats)
{
    struct kvc_megakv_cuckoo_shape shape = {table->shape.slots, table->shape.apart, false};
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = kvc_megakv_cuckoo_primary_of(table, hash);
    uint32_t alternate = kvc_megakv_cuckoo_alternate_of(table, primary, signature);
    uint32_t found = KVC_LOCATION_NONE;
    if (alternate != primary &&
        !kvc_megakv_cuckoo_never_full(kvc_megakv_cuckoo_bucket_of(table, primary, shape), shape)) {
        found = probe(kvc_megakv_cuckoo_bucket_of(table, alternate, shape), signature, shape);
        stats->search_lines += kvc_megakv_cuckoo_lines(shape);
    }
    if (found == KVC_LOCATION_NONE) {
        found = search_again(table, hash, moves, stats, shape);
        stats->search_hits -= found == KVC_LOCATION_NONE;
    }
    return found;
}

/* The same for a caller that ends with this call and therefore saves no registers. */
static __attribute__((noinline)) void search_one_alternate(const struct kvc_megakv_cuckoo *table,
                                                           uint64_t hash, uint64_t moves, uint32_t *location,
                                                           struct kvc_index_stats *stats)
{
    *location = search_alternate(table, hash, moves, stats);
}

/* Searches batches that are too small for a pipeline. It does little besides the probes, so that the
 * processor overlaps this call with the caller's next ones. */
KVC_MEGAKV_CUCKOO_INLINE void search_few(const struct kvc_megakv_cuckoo *table, const uint64_t *hash,
                                         uint32_t count, uint32_t *location, struct kvc_index_stats *stats,
                                         struct kvc_megakv_cuckoo_shape shape)
{
    stats->searches += count;
    stats->search_hits += count;
    stats->search_lines += count * kvc_megakv_cuckoo_lines(shape);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t moves = moves_so_far(table);
        uint32_t found =
            probe(kvc_megakv_cuckoo_bucket_of(table, kvc_megakv_cuckoo_primary_of(table, hash[i]), shape),
                  kvc_signature(hash[i]), shape);
        if (__builtin_expect(found == KVC_LOCATION_NONE, 0)) {
            found = search_alternate(table, hash[i], moves, stats);
        }
        location[i] = found;
    }
}

KVC_MEGAKV_CUCKOO_INLINE void search(const struct kvc_megakv_cuckoo *table, const uint64_t *hash,
                                     uint32_t count, uint32_t *location, struct kvc_index_stats *stats,
                                     struct kvc_megakv_cuckoo_shape shape)
{
    uint32_t missed[SEARCH_CHUNK];
    uint64_t misses = 0;
    for (uint32_t i = 0; i < SEARCH_AHEAD && i < count; i++) {
        kvc_megakv_cuckoo_prefetch_bucket(
            kvc_megakv_cuckoo_bucket_of(table, kvc_megakv_cuckoo_primary_of(table, hash[i]), shape), shape,
            false);
    }
    for (uint32_t start = 0; start < count; start += SEARCH_CHUNK) {
        uint32_t end = count - start > SEARCH_CHUNK ? start + SEARCH_CHUNK : count;
        uint64_t moves = moves_so_far(table);
        uint32_t second = 0;
        for (uint32_t i = start; i < end; i++) {
            uint32_t ahead = count - i > SEARCH_AHEAD ? i + SEARCH_AHEAD : count - 1;
            kvc_megakv_cuckoo_prefetch_bucket(
                kvc_megakv_cuckoo_bucket_of(table, kvc_megakv_cuckoo_primary_of(table, hash[ahead]), shape),
                shape, false);
            uint32_t signature = kvc_signature(hash[i]);
            uint32_t bucket = kvc_megakv_cuckoo_primary_of(table, hash[i]);
            uint32_t found = probe(kvc_megakv_cuckoo_bucket_of(table, bucket, shape), signature, shape);
            location[i] = found;
            /* A branch would be mispredicted; instead, a hit prefetches the line that it already has. */
            uint32_t miss = found == KVC_LOCATION_NONE;
            missed[second] = i;
            second += miss;
            uint32_t next = kvc_megakv_cuckoo_alternate_of(table, bucket, signature & -miss);
            kvc_megakv_cuckoo_prefetch_bucket(kvc_megakv_cuckoo_bucket_of(table, next, shape), shape, false);
        }
        stats->search_lines += (uint64_t)(end - start) * kvc_megakv_cuckoo_lines(shape);
        for (uint32_t m = 0; m < second; m++) {
            uint32_t i = missed[m];
            uint32_t signature = kvc_signature(hash[i]);
            uint32_t bucket = kvc_megakv_cuckoo_primary_of(table, hash[i]);
            uint32_t alternate = kvc_megakv_cuckoo_alternate_of(table, bucket, signature);
            uint32_t found = KVC_LOCATION_NONE;
            if (alternate != bucket &&
                !kvc_megakv_cuckoo_never_full(kvc_megakv_cuckoo_bucket_of(table, bucket, shape), shape)) {
                stats->search_lines += kvc_megakv_cuckoo_lines(shape);
                found = probe(kvc_megakv_cuckoo_bucket_of(table, alternate, shape), signature, shape);
            }
            if (found == KVC_LOCATION_NONE) {
                found = search_again(table, hash[i], moves, stats, shape);
                misses += found == KVC_LOCATION_NONE;
            }
            location[i] = found;
        }
    }
    stats->searches += count;
    stats->search_hits += count - misses;
}

/* Searches a single key. It is separate so that it saves no registers: the fewer instructions a call has, the
 * more calls the processor overlaps. */
KVC_MEGAKV_CUCKOO_INLINE void search_one(const struct kvc_megakv_cuckoo *table, uint64_t hash,
                                         uint32_t *location, struct kvc_index_stats *stats)
{
    uint64_t moves = moves_so_far(table);
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = kvc_megakv_cuckoo_primary_of(table, hash);
    /* At load 0.75, one key in fourteen is in its alternate bucket, and all calls behind it would wait a
     * second time. A line that is prefetched in vain does not count as touched. */
    __builtin_prefetch(kvc_megakv_cuckoo_bucket_of(
        table, kvc_megakv_cuckoo_alternate_of(table, primary, signature), kvc_megakv_cuckoo_published));
    uint32_t found = probe(kvc_megakv_cuckoo_bucket_of(table, primary, kvc_megakv_cuckoo_published),
                           signature, kvc_megakv_cuckoo_published);
    stats->searches++;
    stats->search_hits++;
    stats->search_lines += kvc_megakv_cuckoo_lines(kvc_megakv_cuckoo_published);
    *location = found;
    if (__builtin_expect(found == KVC_LOCATION_NONE, 0)) {
        search_one_alternate(table, hash, moves, location, stats);
    }
}

KVC_MEGAKV_CUCKOO_INLINE void search_any(const struct kvc_megakv_cuckoo *table, const uint64_t *hash,
                                         uint32_t count, uint32_t *location, struct kvc_index_stats *stats,
                                         struct kvc_megakv_cuckoo_shape shape)
{
    if (count < FEW) {
        search_few(table, hash, count, location, stats, shape);
    } else {
        search(table, hash, count, location, stats, shape);
    }
}

static __attribute__((noinline)) void search_batch(const struct kvc_megakv_cuckoo *table,
                                                   const uint64_t *hash, uint32_t count, uint32_t *location,
                                                   struct kvc_index_stats *stats)
{
    if (!table->shape.simd) {
        search(table, hash, count, location, stats, table->shape);
    } else if (table->shape.apart) {
        search_any(table, hash, count, location, stats, kvc_megakv_cuckoo_published);
    } else {
        search_any(table, hash, count, location, stats, kvc_megakv_cuckoo_one_sector);
    }
}

void kvc_megakv_cuckoo_search(struct kvc_index *index, const uint64_t *hash, uint32_t count,
                              uint32_t *location, struct kvc_index_stats *stats)
{
    const struct kvc_megakv_cuckoo *table = kvc_megakv_cuckoo_table_of(index);
    if (count == 1 && table->shape.simd && table->shape.apart) {
        search_one(table, hash[0], location, stats);
    } else {
        search_batch(table, hash, count, location, stats);
    }
}
