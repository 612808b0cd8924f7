#include "kernels/megakv/cuckoo_internal.h"

enum {
    FIRST_AHEAD = 32, /* keys between the first prefetch and the change */
    SECOND_AHEAD = 16,
};

static uint64_t next_random(struct kvc_megakv_cuckoo *table)
{
    /* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
    uint64_t z = table->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Chooses among the empty slots (not 0): the preferred one, or the nearest to its left, wrapping around. */
KVC_MEGAKV_CUCKOO_INLINE unsigned choose_slot(uint32_t empty, uint32_t signature,
                                              struct kvc_megakv_cuckoo_shape shape)
{
    unsigned preferred = (unsigned)((uint64_t)signature * shape.slots >> 32);
    uint32_t left = empty & (uint32_t)((UINT64_C(2) << preferred) - 1);
    return 31u - (unsigned)__builtin_clz(left != 0 ? left : empty);
}

/* Fills an empty slot. */
KVC_MEGAKV_CUCKOO_INLINE void fill(uint32_t *bucket, unsigned c, uint32_t signature, uint32_t location,
                                   struct kvc_megakv_cuckoo_shape shape)
{
    if (shape.apart) {
        kvc_megakv_cuckoo_store_word(bucket + shape.slots + c, location);
        kvc_megakv_cuckoo_store_word(bucket + c, signature);
    } else {
        kvc_megakv_cuckoo_store_slot(bucket, c, signature, location);
    }
}

KVC_MEGAKV_CUCKOO_INLINE void clear(uint32_t *bucket, unsigned c, struct kvc_megakv_cuckoo_shape shape)
{
    if (shape.apart) {
        kvc_megakv_cuckoo_store_word(bucket + c, KVC_MEGAKV_CUCKOO_EMPTY);
    } else {
        kvc_megakv_cuckoo_store_slot(bucket, c, KVC_MEGAKV_CUCKOO_EMPTY, KVC_MEGAKV_CUCKOO_ERASED_LOCATION);
    }
}

/* Plain loads suffice: only the writer calls this, and it reads its own stores. */
KVC_MEGAKV_CUCKOO_INLINE uint32_t signature_at(const uint32_t *bucket, unsigned c,
                                               struct kvc_megakv_cuckoo_shape shape)
{
    return bucket[kvc_megakv_cuckoo_signature_word(shape.slots, shape.apart, c)];
}

KVC_MEGAKV_CUCKOO_INLINE uint32_t location_at(const uint32_t *bucket, unsigned c,
                                              struct kvc_megakv_cuckoo_shape shape)
{
    return bucket[kvc_megakv_cuckoo_location_word(shape.slots, shape.apart, c)];
}

KVC_MEGAKV_CUCKOO_INLINE void replace(uint32_t *bucket, unsigned c, uint32_t signature, uint32_t location,
                                      struct kvc_megakv_cuckoo_shape shape)
{
    if (shape.apart) {
        kvc_megakv_cuckoo_store_word(bucket + shape.slots + c, location);
    } else {
        kvc_megakv_cuckoo_store_slot(bucket, c, signature, location);
    }
}

static bool in_chain(const uint32_t *chain, uint32_t length, uint32_t slot)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < length; i++) {
        found |= chain[i] == slot;
    }
    return found != 0;
}

/* Adds a random slot of this full bucket that the chain does not contain yet; returns false if there is none.
 */
static bool extend_chain(struct kvc_megakv_cuckoo *table, uint32_t length, uint32_t bucket, uint32_t slots)
{
    uint32_t first = (uint32_t)((next_random(table) >> 32) * slots >> 32);
    for (uint32_t i = 0; i < slots; i++) {
        uint32_t slot = bucket * slots + ((first + i) & (slots - 1));
        if (!in_chain(table->chain, length, slot)) {
            table->chain[length] = slot;
            return true;
        }
    }
    return false;
}

/* Makes room for a new element whose two buckets are full. It first finds the chain of victims and then moves
 * them from the far end, storing each element at its new place before clearing the old one. Returns the
 * location that was dropped, or KVC_LOCATION_NONE. */
static uint32_t displace(struct kvc_megakv_cuckoo *table, uint32_t primary, uint32_t alternate,
                         uint32_t signature, uint32_t location, struct kvc_index_stats *stats,
                         struct kvc_megakv_cuckoo_shape shape)
{
    uint32_t *chain = table->chain;
    uint32_t slots = shape.slots;
    uint32_t bucket = next_random(table) >> 63 != 0 ? alternate : primary;
    uint32_t length = 0;
    uint32_t to; /* an empty slot */
    uint32_t dropped = KVC_LOCATION_NONE;
    uint32_t displacing = signature;
    for (;;) {
        if (length > table->max_displacements || !extend_chain(table, length, bucket, slots)) {
            to = chain[--length];
            uint32_t *last = kvc_megakv_cuckoo_bucket_of(table, to / slots, shape);
            dropped = location_at(last, to % slots, shape);
            clear(last, to % slots, shape);
            table->used--;
            stats->dropped++;
            break;
        }
        uint32_t victim =
            signature_at(kvc_megakv_cuckoo_bucket_of(table, bucket, shape), chain[length] % slots, shape);
        length++;
        if (length > table->max_displacements) {
            continue; /* this victim may not move, so its alternate bucket is not read */
        }
        uint32_t next = kvc_megakv_cuckoo_alternate_of(table, bucket,
                                                       table->published_displacement ? displacing : victim);
        displacing = victim;
        if (next != bucket) {
            bucket = next;
            stats->insert_lines += kvc_megakv_cuckoo_lines(shape);
            uint32_t empty = kvc_megakv_cuckoo_match(kvc_megakv_cuckoo_bucket_of(table, bucket, shape),
                                                     KVC_MEGAKV_CUCKOO_EMPTY, shape);
            if (empty != 0) {
                to = bucket * slots + choose_slot(empty, victim, shape);
                break;
            }
        }
    }
    stats->displacements += length;
    while (length > 0) {
        uint32_t from = chain[--length];
        uint32_t *source = kvc_megakv_cuckoo_bucket_of(table, from / slots, shape);
        unsigned c = from % slots;
        fill(kvc_megakv_cuckoo_bucket_of(table, to / slots, shape), to % slots,
             signature_at(source, c, shape), location_at(source, c, shape), shape);
        __atomic_store_n(&table->moves, table->moves + 1, __ATOMIC_RELEASE);
        clear(source, c, shape);
        to = from;
    }
    fill(kvc_megakv_cuckoo_bucket_of(table, to / slots, shape), to % slots, signature, location, shape);
    return dropped;
}

KVC_MEGAKV_CUCKOO_INLINE uint32_t insert_one(struct kvc_megakv_cuckoo *table, uint64_t hash,
                                             uint32_t location, struct kvc_index_stats *stats,
                                             struct kvc_megakv_cuckoo_shape shape)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = kvc_megakv_cuckoo_primary_of(table, hash);
    uint32_t alternate = kvc_megakv_cuckoo_alternate_of(table, primary, signature);
    uint32_t *home = kvc_megakv_cuckoo_bucket_of(table, primary, shape);
    uint32_t *other = kvc_megakv_cuckoo_bucket_of(table, alternate, shape);
    uint32_t same = kvc_megakv_cuckoo_match(home, signature, shape);
    stats->insert_lines += kvc_megakv_cuckoo_lines(shape);
    if (same == 0 && other != home && !kvc_megakv_cuckoo_never_full(home, shape)) {
        home = other;
        same = kvc_megakv_cuckoo_match(home, signature, shape);
        stats->insert_lines += kvc_megakv_cuckoo_lines(shape);
    }
    if (same != 0) {
        unsigned c = (unsigned)__builtin_ctz(same);
        uint32_t old = location_at(home, c, shape);
        replace(home, c, signature, location, shape);
        stats->replaced++;
        return old;
    }
    home = kvc_megakv_cuckoo_bucket_of(table, primary, shape);
    uint32_t empty = kvc_megakv_cuckoo_match(home, KVC_MEGAKV_CUCKOO_EMPTY, shape);
    if (empty == 0) {
        home = other;
        empty = kvc_megakv_cuckoo_match(home, KVC_MEGAKV_CUCKOO_EMPTY, shape);
    }
    table->used++;
    if (empty != 0) {
        fill(home, choose_slot(empty, signature, shape), signature, location, shape);
        return KVC_LOCATION_NONE;
    }
    return displace(table, primary, alternate, signature, location, stats, shape);
}

KVC_MEGAKV_CUCKOO_INLINE uint32_t erase_one(struct kvc_megakv_cuckoo *table, uint64_t hash, uint32_t location,
                                            struct kvc_index_stats *stats,
                                            struct kvc_megakv_cuckoo_shape shape)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = kvc_megakv_cuckoo_primary_of(table, hash);
    uint32_t alternate = kvc_megakv_cuckoo_alternate_of(table, primary, signature);
    uint32_t *bucket = kvc_megakv_cuckoo_bucket_of(table, primary, shape);
    uint32_t same = kvc_megakv_cuckoo_match(bucket, signature, shape);
    stats->erase_lines += kvc_megakv_cuckoo_lines(shape);
    if (same == 0 && alternate != primary && !kvc_megakv_cuckoo_never_full(bucket, shape)) {
        bucket = kvc_megakv_cuckoo_bucket_of(table, alternate, shape);
        same = kvc_megakv_cuckoo_match(bucket, signature, shape);
        stats->erase_lines += kvc_megakv_cuckoo_lines(shape);
    }
    if (same == 0) {
        return KVC_LOCATION_NONE;
    }
    unsigned c = (unsigned)__builtin_ctz(same);
    uint32_t old = location_at(bucket, c, shape);
    if (location != KVC_LOCATION_ANY && location != old) {
        return KVC_LOCATION_NONE;
    }
    clear(bucket, c, shape);
    table->used--;
    stats->erased++;
    return old;
}

/* Prefetches the second bucket that a change of this element reads, or the first one again if it needs no
 * second. The line of the first bucket was requested long ago. A branch would be mispredicted. */
KVC_MEGAKV_CUCKOO_INLINE void prefetch_second(const struct kvc_megakv_cuckoo *table, uint64_t hash,
                                              struct kvc_megakv_cuckoo_shape shape)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = kvc_megakv_cuckoo_primary_of(table, hash);
    uint32_t found =
        kvc_megakv_cuckoo_match(kvc_megakv_cuckoo_bucket_of(table, primary, shape), signature, shape);
    uint32_t second = kvc_megakv_cuckoo_alternate_of(table, primary, signature & -(uint32_t)(found == 0));
    kvc_megakv_cuckoo_prefetch_bucket(kvc_megakv_cuckoo_bucket_of(table, second, shape), shape, true);
}

typedef uint32_t change_fn(struct kvc_megakv_cuckoo *table, uint64_t hash, uint32_t location,
                           struct kvc_index_stats *stats, struct kvc_megakv_cuckoo_shape shape);

/* Handles three keys per iteration: prefetches the first bucket of one, the second bucket of another, and
 * changes a third. */
KVC_MEGAKV_CUCKOO_INLINE void change(struct kvc_megakv_cuckoo *table, const uint64_t *hash,
                                     const uint32_t *location, uint32_t count, uint32_t *out,
                                     struct kvc_index_stats *stats, change_fn *one,
                                     struct kvc_megakv_cuckoo_shape shape)
{
    struct kvc_index_stats local = {0};
    for (uint64_t i = 0; i < (uint64_t)count + FIRST_AHEAD; i++) {
        if (i < count) {
            kvc_megakv_cuckoo_prefetch_bucket(
                kvc_megakv_cuckoo_bucket_of(table, kvc_megakv_cuckoo_primary_of(table, hash[i]), shape),
                shape, true);
        }
        if (i >= FIRST_AHEAD - SECOND_AHEAD && i - (FIRST_AHEAD - SECOND_AHEAD) < count) {
            prefetch_second(table, hash[i - (FIRST_AHEAD - SECOND_AHEAD)], shape);
        }
        if (i >= FIRST_AHEAD) {
            uint64_t now = i - FIRST_AHEAD;
            uint32_t old = one(table, hash[now], location[now], &local, shape);
            if (out != NULL) {
                out[now] = old;
            }
        }
    }
    kvc_index_stats_add(stats, &local);
}

KVC_MEGAKV_CUCKOO_INLINE void change_any(struct kvc_megakv_cuckoo *table, const uint64_t *hash,
                                         const uint32_t *location, uint32_t count, uint32_t *out,
                                         struct kvc_index_stats *stats, change_fn *one)
{
    if (!table->shape.simd) {
        change(table, hash, location, count, out, stats, one, table->shape);
    } else if (table->shape.apart) {
        change(table, hash, location, count, out, stats, one, kvc_megakv_cuckoo_published);
    } else {
        change(table, hash, location, count, out, stats, one, kvc_megakv_cuckoo_one_sector);
    }
}

void kvc_megakv_cuckoo_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                              uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_megakv_cuckoo *table = kvc_megakv_cuckoo_table_of(index);
    stats->inserts += count;
    change_any(table, hash, location, count, out, stats, insert_one);
}

void kvc_megakv_cuckoo_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                             uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_megakv_cuckoo *table = kvc_megakv_cuckoo_table_of(index);
    stats->erases += count;
    change_any(table, hash, location, count, out, stats, erase_one);
}
