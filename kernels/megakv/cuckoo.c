#include "kernels/megakv/cuckoo.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/hash.h"
#include "kernels/pages.h"

/* ThreadSanitizer reports vector loads of words that another thread stores as races, so it gets the portable
 * code. */
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>
#define SSE2 1
#endif

/* Functions of the hot path, which must be inlined so that constant parameters specialise them. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    LINE_WORDS = 16, /* Words of a 64-byte line, 32 bits each. */
};

/* Shape of a bucket; a compile-time constant wherever code for the two usual shapes is inlined. */
struct shape {
    uint32_t slots; /* Slots per bucket. */
    bool apart;     /* Whether signatures and locations are apart. */
    /* Whether vector code exists: one of the two usual shapes on a machine with 16-byte vectors. */
    bool simd;
};

/* The published shape. */
static const struct shape published = {KVC_MEGAKV_CUCKOO_SLOTS, true, true};
/* Interleaved buckets of 4 slots, which fill a 32-byte memory sector. */
static const struct shape one_sector = {4, false, true};

/* A table in host memory. */
struct kvc_megakv_cuckoo {
    struct kvc_index index;                      /* The table as an index. */
    uint32_t *words;                             /* Buckets. */
    uint64_t bytes;                              /* Size of the buckets [bytes]. */
    struct kvc_megakv_cuckoo_layout_masks masks; /* Masks that select buckets. */
    struct shape shape;                          /* Shape of a bucket. */
    uint32_t max_displacements;                  /* Copied from the parameters. */
    bool published_displacement;                 /* Copied from the parameters. */
    uint32_t *chain; /* Slots of the current chain, up to max_displacements + 1. */
    uint64_t random; /* State of the random choice of victims. */
    uint64_t used;   /* Elements in the table. */
    /* Elements moved so far. A reader that missed searches again if an element moved meanwhile, because the
     * element may have passed it on the way from the alternate to the primary bucket. The counter has a line
     * of its own, apart from what every reader needs all the time. */
    _Alignas(64) uint64_t moves;
};

/* Returns the table of an index. */
static inline struct kvc_megakv_cuckoo *table_of(struct kvc_index *index)
{
    return (struct kvc_megakv_cuckoo *)index; /* the first member */
}

/* Loads a word that another thread may store. */
ALWAYS_INLINE uint32_t load_word(const uint32_t *from)
{
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

/* Stores a word that other threads may load. */
ALWAYS_INLINE void store_word(uint32_t *to, uint32_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/* Loads a slot of the interleaved layout in one access: the signature in the low half, the location in the
 * high half. */
ALWAYS_INLINE uint64_t load_slot(const uint32_t *bucket, unsigned c)
{
    return __atomic_load_n((const uint64_t *)bucket + c, __ATOMIC_ACQUIRE);
}

/* Stores a slot of the interleaved layout in one access. */
ALWAYS_INLINE void store_slot(uint32_t *bucket, unsigned c, uint32_t signature, uint32_t location)
{
    __atomic_store_n((uint64_t *)bucket + c, (uint64_t)location << 32 | signature, __ATOMIC_RELEASE);
}

/* Returns the words of a bucket. */
ALWAYS_INLINE uint32_t *bucket_of(const struct kvc_megakv_cuckoo *table, uint32_t bucket, struct shape shape)
{
    return table->words + (uint64_t)bucket * (2 * shape.slots);
}

/* Returns the number of 64-byte lines of a bucket. */
ALWAYS_INLINE uint32_t lines_of(struct shape shape)
{
    return shape.slots <= LINE_WORDS / 2 ? 1 : shape.slots / (LINE_WORDS / 2);
}

ALWAYS_INLINE void prefetch_bucket(const uint32_t *bucket, struct shape shape, bool write)
{
    for (uint32_t line = 0; line < lines_of(shape); line++) {
        if (write) {
            __builtin_prefetch(bucket + line * LINE_WORDS, 1);
        } else {
            /* The second-level cache accepts more outstanding lines. */
            __builtin_prefetch(bucket + line * LINE_WORDS, 0, 2);
        }
    }
}

/* Bit c of the result is set if slot c has this signature. */
ALWAYS_INLINE uint32_t match_portable(const uint32_t *bucket, uint32_t signature, struct shape shape)
{
    uint32_t slots = 0;
    for (unsigned c = 0; c < shape.slots; c++) {
        uint32_t found = shape.apart ? load_word(bucket + c) : (uint32_t)load_slot(bucket, c);
        slots |= (uint32_t)(found == signature) << c;
    }
    return slots;
}

#ifdef SSE2
/* Uses two 16-byte vectors, which every x86-64 processor has. 32-byte vectors are no faster here, and the
 * code around them would pay for the transition. */
ALWAYS_INLINE uint32_t match_published(const uint32_t *bucket, uint32_t signature)
{
    const __m128i *slots = (const __m128i *)bucket;
    __m128i wanted = _mm_set1_epi32((int)signature);
    __m128i low = _mm_cmpeq_epi32(_mm_load_si128(slots), wanted);
    __m128i high = _mm_cmpeq_epi32(_mm_load_si128(slots + 1), wanted);
    return (uint32_t)(_mm_movemask_ps(_mm_castsi128_ps(low)) | _mm_movemask_ps(_mm_castsi128_ps(high)) << 4);
}

/* Uses every other word, which is where the signatures are. */
ALWAYS_INLINE uint32_t match_one_sector(const uint32_t *bucket, uint32_t signature)
{
    const __m128 *slots = (const __m128 *)bucket;
    __m128i signatures = _mm_castps_si128(_mm_shuffle_ps(slots[0], slots[1], 0x88));
    __m128i same = _mm_cmpeq_epi32(signatures, _mm_set1_epi32((int)signature));
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(same));
}
#endif

/* Returns the slots with this signature as a bitmap, by the fastest code for the shape. */
ALWAYS_INLINE uint32_t match(const uint32_t *bucket, uint32_t signature, struct shape shape)
{
#ifdef SSE2
    if (shape.simd) {
        return shape.apart ? match_published(bucket, signature) : match_one_sector(bucket, signature);
    }
#endif
    return match_portable(bucket, signature, shape);
}

/* Says that no element with this primary bucket lives in its alternate bucket, because this bucket has a
 * slot that never held an element. */
ALWAYS_INLINE bool never_full(const uint32_t *bucket, struct shape shape)
{
    bool never_used = false;
    for (unsigned c = 0; !shape.apart && c < shape.slots; c++) {
        never_used |= load_slot(bucket, c) == 0;
    }
    return never_used;
}

/* Returns the primary bucket of an element. */
ALWAYS_INLINE uint32_t primary_of(const struct kvc_megakv_cuckoo *table, uint64_t hash)
{
    return kvc_megakv_cuckoo_primary(table->masks, hash);
}

/* Returns the other bucket of an element with this signature, which may be the same bucket. */
ALWAYS_INLINE uint32_t alternate_of(const struct kvc_megakv_cuckoo *table, uint32_t bucket,
                                    uint32_t signature)
{
    return kvc_megakv_cuckoo_alternate(table->masks, bucket, signature);
}

/* --- search --- */

enum {
    SEARCH_AHEAD = 64,  /* lines in flight, enough to cover the memory latency */
    SEARCH_CHUNK = 256, /* keys per chunk; their lines fit the first-level cache */
    FEW = 4,            /* smaller batches are not prefetched */
};

/* Returns the location of a signature in a bucket, or KVC_LOCATION_NONE. In the layout with signatures and
 * locations apart, the writer stores a location between clearing and setting its signature, so the pair
 * belongs together if the signature is still there after the location was read. */
ALWAYS_INLINE uint32_t probe(const uint32_t *bucket, uint32_t signature, struct shape shape)
{
    uint32_t slots = match(bucket, signature, shape);
    unsigned c = (unsigned)__builtin_ctz(slots | 1u << (shape.slots - 1));
    if (!shape.apart) {
        uint64_t slot = load_slot(bucket, c);
        return (uint32_t)slot == signature ? (uint32_t)(slot >> 32) : KVC_LOCATION_NONE;
    }
    uint32_t location = load_word(bucket + shape.slots + c);
    bool whole = load_word(bucket + c) == signature;
    return (whole & (slots != 0)) ? location : KVC_LOCATION_NONE;
}

ALWAYS_INLINE uint64_t moves_so_far(const struct kvc_megakv_cuckoo *table)
{
    /* keeps the vector loads before the counter in the compiler; the processor does so anyway */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return __atomic_load_n(&table->moves, __ATOMIC_ACQUIRE);
}

/* Searches again, in case the element moved past a reader that began when the counter stood at `moves`. */
ALWAYS_INLINE uint32_t search_again(const struct kvc_megakv_cuckoo *table, uint64_t hash, uint64_t moves,
                                    struct kvc_index_stats *stats, struct shape shape)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = primary_of(table, hash);
    uint32_t alternate = alternate_of(table, primary, signature);
    for (;;) {
        uint64_t now = moves_so_far(table);
        if (now == moves) {
            return KVC_LOCATION_NONE;
        }
        moves = now;
        uint32_t location = probe(bucket_of(table, primary, shape), signature, shape);
        stats->search_lines += lines_of(shape);
        if (location == KVC_LOCATION_NONE && alternate != primary) {
            location = probe(bucket_of(table, alternate, shape), signature, shape);
            stats->search_lines += lines_of(shape);
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
    struct shape shape = {table->shape.slots, table->shape.apart, false};
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = primary_of(table, hash);
    uint32_t alternate = alternate_of(table, primary, signature);
    uint32_t found = KVC_LOCATION_NONE;
    if (alternate != primary && !never_full(bucket_of(table, primary, shape), shape)) {
        found = probe(bucket_of(table, alternate, shape), signature, shape);
        stats->search_lines += lines_of(shape);
    }
    if (found == KVC_LOCATION_NONE) {
        found = search_again(table, hash, moves, stats, shape);
        stats->search_hits -= found == KVC_LOCATION_NONE;
    }
    return found;
}

/* Searches one key in its alternate bucket, for a caller that ends with this call and therefore saves no
 * registers. */
static __attribute__((noinline)) void search_one_alternate(const struct kvc_megakv_cuckoo *table,
                                                           uint64_t hash, uint64_t moves, uint32_t *location,
                                                           struct kvc_index_stats *stats)
{
    *location = search_alternate(table, hash, moves, stats);
}

/* Searches batches that are too small for a pipeline. It does little besides the probes, so that the
 * processor overlaps this call with the caller's next ones. */
ALWAYS_INLINE void search_few(const struct kvc_megakv_cuckoo *table, const uint64_t *hash, uint32_t count,
                              uint32_t *location, struct kvc_index_stats *stats, struct shape shape)
{
    stats->searches += count;
    stats->search_hits += count;
    stats->search_lines += count * lines_of(shape);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t moves = moves_so_far(table);
        uint32_t found =
            probe(bucket_of(table, primary_of(table, hash[i]), shape), kvc_signature(hash[i]), shape);
        if (__builtin_expect(found == KVC_LOCATION_NONE, 0)) {
            found = search_alternate(table, hash[i], moves, stats);
        }
        location[i] = found;
    }
}

ALWAYS_INLINE void search(const struct kvc_megakv_cuckoo *table, const uint64_t *hash, uint32_t count,
                          uint32_t *location, struct kvc_index_stats *stats, struct shape shape)
{
    uint32_t missed[SEARCH_CHUNK];
    uint64_t misses = 0;
    for (uint32_t i = 0; i < SEARCH_AHEAD && i < count; i++) {
        prefetch_bucket(bucket_of(table, primary_of(table, hash[i]), shape), shape, false);
    }
    for (uint32_t start = 0; start < count; start += SEARCH_CHUNK) {
        uint32_t end = count - start > SEARCH_CHUNK ? start + SEARCH_CHUNK : count;
        uint64_t moves = moves_so_far(table);
        uint32_t second = 0;
        for (uint32_t i = start; i < end; i++) {
            uint32_t ahead = count - i > SEARCH_AHEAD ? i + SEARCH_AHEAD : count - 1;
            prefetch_bucket(bucket_of(table, primary_of(table, hash[ahead]), shape), shape, false);
            uint32_t signature = kvc_signature(hash[i]);
            uint32_t bucket = primary_of(table, hash[i]);
            uint32_t found = probe(bucket_of(table, bucket, shape), signature, shape);
            location[i] = found;
            /* A branch would be mispredicted; instead, a hit prefetches the line that it already has. */
            uint32_t miss = found == KVC_LOCATION_NONE;
            missed[second] = i;
            second += miss;
            uint32_t next = alternate_of(table, bucket, signature & -miss);
            prefetch_bucket(bucket_of(table, next, shape), shape, false);
        }
        stats->search_lines += (uint64_t)(end - start) * lines_of(shape);
        for (uint32_t m = 0; m < second; m++) {
            uint32_t i = missed[m];
            uint32_t signature = kvc_signature(hash[i]);
            uint32_t bucket = primary_of(table, hash[i]);
            uint32_t alternate = alternate_of(table, bucket, signature);
            uint32_t found = KVC_LOCATION_NONE;
            if (alternate != bucket && !never_full(bucket_of(table, bucket, shape), shape)) {
                stats->search_lines += lines_of(shape);
                found = probe(bucket_of(table, alternate, shape), signature, shape);
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
ALWAYS_INLINE void search_one(const struct kvc_megakv_cuckoo *table, uint64_t hash, uint32_t *location,
                              struct kvc_index_stats *stats)
{
    uint64_t moves = moves_so_far(table);
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = primary_of(table, hash);
    /* At load 0.75, one key in fourteen is in its alternate bucket, and all calls after it would wait a
     * second time. An unused prefetch does not count as a touched line. */
    __builtin_prefetch(bucket_of(table, alternate_of(table, primary, signature), published));
    uint32_t found = probe(bucket_of(table, primary, published), signature, published);
    stats->searches++;
    stats->search_hits++;
    stats->search_lines += lines_of(published);
    *location = found;
    if (__builtin_expect(found == KVC_LOCATION_NONE, 0)) {
        search_one_alternate(table, hash, moves, location, stats);
    }
}

ALWAYS_INLINE void search_any(const struct kvc_megakv_cuckoo *table, const uint64_t *hash, uint32_t count,
                              uint32_t *location, struct kvc_index_stats *stats, struct shape shape)
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
        search_any(table, hash, count, location, stats, published);
    } else {
        search_any(table, hash, count, location, stats, one_sector);
    }
}

static void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    const struct kvc_megakv_cuckoo *table = table_of(index);
    if (count == 1 && table->shape.simd && table->shape.apart) {
        search_one(table, hash[0], location, stats);
    } else {
        search_batch(table, hash, count, location, stats);
    }
}

/* --- insert and erase --- */

enum {
    FIRST_AHEAD = 32, /* keys between the first prefetch and the change */
    SECOND_AHEAD = 16,
};

static uint64_t next_random(struct kvc_megakv_cuckoo *table)
{
    return kvc_mix_64(table->random += 0x9e3779b97f4a7c15);
}

/* Chooses among the empty slots (not 0): the preferred one, or the nearest to its left, wrapping around. */
ALWAYS_INLINE unsigned choose_slot(uint32_t empty, uint32_t signature, struct shape shape)
{
    unsigned preferred = (unsigned)((uint64_t)signature * shape.slots >> 32);
    uint32_t left = empty & (uint32_t)((UINT64_C(2) << preferred) - 1);
    return 31u - (unsigned)__builtin_clz(left != 0 ? left : empty);
}

/* Fills an empty slot. */
ALWAYS_INLINE void fill(uint32_t *bucket, unsigned c, uint32_t signature, uint32_t location,
                        struct shape shape)
{
    if (shape.apart) {
        store_word(bucket + shape.slots + c, location);
        store_word(bucket + c, signature);
    } else {
        store_slot(bucket, c, signature, location);
    }
}

ALWAYS_INLINE void clear(uint32_t *bucket, unsigned c, struct shape shape)
{
    if (shape.apart) {
        store_word(bucket + c, KVC_MEGAKV_CUCKOO_EMPTY);
    } else {
        store_slot(bucket, c, KVC_MEGAKV_CUCKOO_EMPTY, KVC_MEGAKV_CUCKOO_ERASED_LOCATION);
    }
}

/* Plain loads suffice: only the writer calls this, and it reads its own stores. */
ALWAYS_INLINE uint32_t signature_at(const uint32_t *bucket, unsigned c, struct shape shape)
{
    return bucket[kvc_megakv_cuckoo_signature_word(shape.slots, shape.apart, c)];
}

ALWAYS_INLINE uint32_t location_at(const uint32_t *bucket, unsigned c, struct shape shape)
{
    return bucket[kvc_megakv_cuckoo_location_word(shape.slots, shape.apart, c)];
}

ALWAYS_INLINE void replace(uint32_t *bucket, unsigned c, uint32_t signature, uint32_t location,
                           struct shape shape)
{
    if (shape.apart) {
        store_word(bucket + shape.slots + c, location);
    } else {
        store_slot(bucket, c, signature, location);
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
                         struct shape shape)
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
            uint32_t *last = bucket_of(table, to / slots, shape);
            dropped = location_at(last, to % slots, shape);
            clear(last, to % slots, shape);
            table->used--;
            stats->dropped++;
            break;
        }
        uint32_t victim = signature_at(bucket_of(table, bucket, shape), chain[length] % slots, shape);
        length++;
        if (length > table->max_displacements) {
            continue; /* this victim may not move, so its alternate bucket is not read */
        }
        uint32_t next = alternate_of(table, bucket, table->published_displacement ? displacing : victim);
        displacing = victim;
        if (next != bucket) {
            bucket = next;
            stats->insert_lines += lines_of(shape);
            uint32_t empty = match(bucket_of(table, bucket, shape), KVC_MEGAKV_CUCKOO_EMPTY, shape);
            if (empty != 0) {
                to = bucket * slots + choose_slot(empty, victim, shape);
                break;
            }
        }
    }
    stats->displacements += length;
    while (length > 0) {
        uint32_t from = chain[--length];
        uint32_t *source = bucket_of(table, from / slots, shape);
        unsigned c = from % slots;
        fill(bucket_of(table, to / slots, shape), to % slots, signature_at(source, c, shape),
             location_at(source, c, shape), shape);
        __atomic_store_n(&table->moves, table->moves + 1, __ATOMIC_RELEASE);
        clear(source, c, shape);
        to = from;
    }
    fill(bucket_of(table, to / slots, shape), to % slots, signature, location, shape);
    return dropped;
}

/* `is_new` says that an equal element can only be in the primary bucket. */
ALWAYS_INLINE uint32_t insert_any(struct kvc_megakv_cuckoo *table, uint64_t hash, uint32_t location,
                                  struct kvc_index_stats *stats, struct shape shape, bool is_new)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = primary_of(table, hash);
    uint32_t alternate = alternate_of(table, primary, signature);
    uint32_t *home = bucket_of(table, primary, shape);
    uint32_t *other = bucket_of(table, alternate, shape);
    uint32_t same = match(home, signature, shape);
    stats->insert_lines += lines_of(shape);
    if (!is_new && same == 0 && other != home && !never_full(home, shape)) {
        home = other;
        same = match(home, signature, shape);
        stats->insert_lines += lines_of(shape);
    }
    if (same != 0) {
        unsigned c = (unsigned)__builtin_ctz(same);
        uint32_t old = location_at(home, c, shape);
        replace(home, c, signature, location, shape);
        stats->replaced++;
        return old;
    }
    home = bucket_of(table, primary, shape);
    uint32_t empty = match(home, KVC_MEGAKV_CUCKOO_EMPTY, shape);
    if (empty == 0) {
        home = other;
        empty = match(home, KVC_MEGAKV_CUCKOO_EMPTY, shape);
    }
    table->used++;
    if (empty != 0) {
        fill(home, choose_slot(empty, signature, shape), signature, location, shape);
        return KVC_LOCATION_NONE;
    }
    return displace(table, primary, alternate, signature, location, stats, shape);
}

ALWAYS_INLINE uint32_t insert_one(struct kvc_megakv_cuckoo *table, uint64_t hash, uint32_t location,
                                  struct kvc_index_stats *stats, struct shape shape)
{
    return insert_any(table, hash, location, stats, shape, false);
}

ALWAYS_INLINE uint32_t insert_new(struct kvc_megakv_cuckoo *table, uint64_t hash, uint32_t location,
                                  struct kvc_index_stats *stats, struct shape shape)
{
    return insert_any(table, hash, location, stats, shape, true);
}

ALWAYS_INLINE uint32_t erase_one(struct kvc_megakv_cuckoo *table, uint64_t hash, uint32_t location,
                                 struct kvc_index_stats *stats, struct shape shape)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = primary_of(table, hash);
    uint32_t alternate = alternate_of(table, primary, signature);
    uint32_t *bucket = bucket_of(table, primary, shape);
    uint32_t same = match(bucket, signature, shape);
    stats->erase_lines += lines_of(shape);
    if (same == 0 && alternate != primary && !never_full(bucket, shape)) {
        bucket = bucket_of(table, alternate, shape);
        same = match(bucket, signature, shape);
        stats->erase_lines += lines_of(shape);
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
ALWAYS_INLINE void prefetch_second(const struct kvc_megakv_cuckoo *table, uint64_t hash, struct shape shape,
                                   bool is_new)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = primary_of(table, hash);
    uint32_t wanted = is_new ? KVC_MEGAKV_CUCKOO_EMPTY : signature;
    uint32_t found = match(bucket_of(table, primary, shape), wanted, shape);
    uint32_t second = alternate_of(table, primary, signature & -(uint32_t)(found == 0));
    prefetch_bucket(bucket_of(table, second, shape), shape, true);
}

typedef uint32_t change_fn(struct kvc_megakv_cuckoo *table, uint64_t hash, uint32_t location,
                           struct kvc_index_stats *stats, struct shape shape);

/* Handles three keys per iteration: prefetches the first bucket of one, the second bucket of another, and
 * changes a third. */
ALWAYS_INLINE void change(struct kvc_megakv_cuckoo *table, const uint64_t *hash, const uint32_t *location,
                          uint32_t count, uint32_t *out, struct kvc_index_stats *stats, change_fn *one,
                          struct shape shape)
{
    bool is_new = one == insert_new;
    struct kvc_index_stats local = {0};
    for (uint64_t i = 0; i < (uint64_t)count + FIRST_AHEAD; i++) {
        if (i < count) {
            prefetch_bucket(bucket_of(table, primary_of(table, hash[i]), shape), shape, true);
        }
        if (i >= FIRST_AHEAD - SECOND_AHEAD && i - (FIRST_AHEAD - SECOND_AHEAD) < count) {
            prefetch_second(table, hash[i - (FIRST_AHEAD - SECOND_AHEAD)], shape, is_new);
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

ALWAYS_INLINE void change_any(struct kvc_megakv_cuckoo *table, const uint64_t *hash, const uint32_t *location,
                              uint32_t count, uint32_t *out, struct kvc_index_stats *stats, change_fn *one)
{
    if (!table->shape.simd) {
        change(table, hash, location, count, out, stats, one, table->shape);
    } else if (table->shape.apart) {
        change(table, hash, location, count, out, stats, one, published);
    } else {
        change(table, hash, location, count, out, stats, one, one_sector);
    }
}

static void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_megakv_cuckoo *table = table_of(index);
    stats->inserts += count;
    change_any(table, hash, location, count, out, stats, insert_one);
}

void kvc_megakv_cuckoo_insert_new(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                                  uint32_t count, struct kvc_index_stats *stats)
{
    struct kvc_megakv_cuckoo *table = table_of(index);
    stats->inserts += count;
    change_any(table, hash, location, count, NULL, stats, insert_new);
}

static void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_megakv_cuckoo *table = table_of(index);
    stats->erases += count;
    change_any(table, hash, location, count, out, stats, erase_one);
}

/* --- the table --- */

enum {
    DISPLACEMENTS_MAX = 1000,
    PARTITIONS_MAX = 1024,
};

static void cuckoo_free(struct kvc_index *index)
{
    struct kvc_megakv_cuckoo *table = table_of(index);
    kvc_pages_free(table->words, table->bytes);
    free(table->chain);
    kvc_pages_free(table, sizeof(*table));
}

static uint64_t cuckoo_capacity(const struct kvc_index *index)
{
    return ((const struct kvc_megakv_cuckoo *)index)->bytes / 8;
}

static uint64_t cuckoo_used(const struct kvc_index *index)
{
    return ((const struct kvc_megakv_cuckoo *)index)->used;
}

static const struct kvc_index_ops cuckoo_ops = {
    .free = cuckoo_free,
    .search = index_search,
    .peek = index_search,
    .insert = index_insert,
    .erase = index_erase,
    .capacity = cuckoo_capacity,
    .used = cuckoo_used,
};

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

bool kvc_megakv_cuckoo_params_complete(struct kvc_megakv_cuckoo_params *params,
                                       struct kvc_megakv_cuckoo_layout_masks *masks)
{
    params->slots = params->slots != 0 ? params->slots : KVC_MEGAKV_CUCKOO_SLOTS;
    params->partitions = params->partitions != 0 ? params->partitions : 1;
    uint32_t slots = params->slots;
    if ((slots != 4 && slots != 8 && slots != 16 && slots != 32) || !is_power_of_two(params->bytes) ||
        params->bytes > UINT64_C(32) << 30 || params->bytes < (uint64_t)slots * 8 * params->partitions ||
        !is_power_of_two(params->partitions) || params->partitions > PARTITIONS_MAX ||
        (params->layout != KVC_MEGAKV_CUCKOO_APART && params->layout != KVC_MEGAKV_CUCKOO_INTERLEAVED) ||
        (params->threads != 0 && (!is_power_of_two(params->threads) || params->threads > slots)) ||
        params->max_displacements > DISPLACEMENTS_MAX) {
        return false;
    }
    uint64_t buckets = params->bytes / 8 / slots;
    masks->bucket = (uint32_t)(buckets - 1);
    masks->alternate = (uint32_t)(buckets / params->partitions - 1);
    return true;
}

struct kvc_index *kvc_megakv_cuckoo_create(const struct kvc_megakv_cuckoo_params *given)
{
    struct kvc_megakv_cuckoo_params params = *given;
    struct kvc_megakv_cuckoo_layout_masks masks;
    if (params.threads != 0 || !kvc_megakv_cuckoo_params_complete(&params, &masks)) {
        errno = EINVAL;
        return NULL;
    }
    /* A GPU that shares the table maps the page of its counter (shared_cuda.h). */
    struct kvc_megakv_cuckoo *table = kvc_pages_alloc(sizeof(*table));
    if (table == NULL) {
        return NULL;
    }
    *table =
        (struct kvc_megakv_cuckoo){.index = {&cuckoo_ops},
                                   .bytes = params.bytes,
                                   .masks = masks,
                                   .shape = {params.slots, params.layout == KVC_MEGAKV_CUCKOO_APART, false},
                                   .max_displacements = params.max_displacements,
                                   .published_displacement = params.published_displacement,
                                   .random = params.seed};
#ifdef SSE2
    uint32_t slots = table->shape.apart ? published.slots : one_sector.slots;
    table->shape.simd = !params.portable && params.slots == slots;
#endif
    table->chain = calloc(params.max_displacements + 1, sizeof(*table->chain));
    table->words = kvc_pages_alloc(params.bytes);
    if (table->chain == NULL || table->words == NULL) {
        cuckoo_free(&table->index);
        errno = ENOMEM;
        return NULL;
    }
    return &table->index;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    return kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = bytes, .max_displacements = 200, .seed = seed});
}

static struct kvc_index *create_interleaved(uint64_t bytes, uint64_t seed)
{
    return kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = bytes,
                                           .layout = KVC_MEGAKV_CUCKOO_INTERLEAVED,
                                           .slots = 4,
                                           .max_displacements = 200,
                                           .seed = seed});
}

const struct kvc_index_kind kvc_megakv_cuckoo_kind = {
    .name = "megakv-cuckoo",
    .source = "Mega-KV, VLDB J. 26(5) 2017, sec. 4",
    .partial = true,
    .many_readers = true,
    .create = create_published,
};

const struct kvc_index_kind kvc_megakv_cuckoo_interleaved_kind = {
    .name = "cuckoo-interleaved",
    .source = "Mega-KV's cuckoo, slots of signature and location in one sector",
    .partial = true,
    .many_readers = true,
    .create = create_interleaved,
};

bool kvc_megakv_cuckoo_memory_of(struct kvc_index *index, struct kvc_megakv_cuckoo_memory *memory)
{
    struct kvc_megakv_cuckoo *table = table_of(index);
    if (table->shape.slots != published.slots || !table->shape.apart || table->published_displacement) {
        return false;
    }
    *memory = (struct kvc_megakv_cuckoo_memory){
        .words = table->words,
        .words_bytes = table->bytes,
        .masks = table->masks,
        .max_displacements = table->max_displacements,
        .header = table,
        .header_bytes = sizeof(*table),
        .moves = &table->moves,
    };
    return true;
}

void kvc_megakv_cuckoo_memory_changed(struct kvc_index *index, uint64_t inserted, uint64_t erased)
{
    table_of(index)->used += inserted - erased;
}
