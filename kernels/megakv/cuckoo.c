#include "kernels/megakv/cuckoo.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/hash.h"
#include "kernels/memory.h"

/* ThreadSanitizer takes vector loads of words that another thread stores for races: it gets the portable
 * twin. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#define KVC_CUCKOO_AVX2 1
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    SEARCH_AHEAD = 32,  /* lines in flight, enough to cover the memory latency */
    SEARCH_CHUNK = 256, /* keys before their alternate buckets' turn: few enough lines for the first cache */
    WRITE_AHEAD = 16,   /* two lines each */
};

struct bucket {
    uint32_t signature[KVC_CUCKOO_CELLS]; /* 0: empty */
    uint32_t location[KVC_CUCKOO_CELLS];
};

struct kvc_cuckoo {
    struct kvc_index index;
    struct bucket *buckets;
    uint64_t bytes;
    uint32_t mask; /* buckets - 1 */
    bool simd;
    uint32_t max_displacements;
    uint32_t *chain; /* of cells, max_displacements + 1 */
    uint64_t random;
    uint64_t used;
    /* Elements ever moved. A reader that missed looks again if one moved meanwhile: it may have been passed
     * on the way from the alternate to the primary bucket. On a line apart from what every
     * reader needs all the time. */
    _Alignas(64) uint64_t moves;
};

static inline struct kvc_cuckoo *table_of(struct kvc_index *index)
{
    return (struct kvc_cuckoo *)index; /* its first member */
}

ALWAYS_INLINE uint32_t load_word(const uint32_t *from)
{
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

ALWAYS_INLINE void store_word(uint32_t *to, uint32_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/* Bit c is set where cell c has this signature. */
ALWAYS_INLINE unsigned match_portable(const struct bucket *bucket, uint32_t signature)
{
    unsigned cells = 0;
    for (unsigned c = 0; c < KVC_CUCKOO_CELLS; c++) {
        cells |= (unsigned)(load_word(&bucket->signature[c]) == signature) << c;
    }
    return cells;
}

#ifdef KVC_CUCKOO_AVX2
__attribute__((target("avx2"))) static inline unsigned match_avx2(const struct bucket *bucket,
                                                                  uint32_t signature)
{
    __m256i cells = _mm256_load_si256((const __m256i *)bucket->signature);
    __m256i equal = _mm256_cmpeq_epi32(cells, _mm256_set1_epi32((int)signature));
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(equal));
}
#define AVX2_TARGET __attribute__((target("avx2")))
#endif

/* `simd` is a constant wherever this is inlined. */
ALWAYS_INLINE unsigned match(const struct bucket *bucket, uint32_t signature, bool simd)
{
#ifdef KVC_CUCKOO_AVX2
    if (simd) {
        return match_avx2(bucket, signature);
    }
#else
    (void)simd;
#endif
    return match_portable(bucket, signature);
}

ALWAYS_INLINE uint32_t primary_of(const struct kvc_cuckoo *table, uint64_t hash)
{
    return (uint32_t)hash & table->mask;
}

/* The other bucket of an element with this signature; it may be the same one. */
ALWAYS_INLINE uint32_t alternate_of(const struct kvc_cuckoo *table, uint32_t bucket, uint32_t signature)
{
    return (bucket ^ signature) & table->mask;
}

/* The writer stores a location between clearing and setting its signature, so a pair is whole if the
 * signature is still there after the location was read. */
ALWAYS_INLINE uint32_t probe(const struct bucket *bucket, uint32_t signature, bool simd)
{
    unsigned cells = match(bucket, signature, simd);
    unsigned c = (unsigned)__builtin_ctz(cells | 1u << (KVC_CUCKOO_CELLS - 1));
    uint32_t location = load_word(&bucket->location[c]);
    bool whole = load_word(&bucket->signature[c]) == signature;
    return whole & (cells != 0) ? location : KVC_LOCATION_NONE;
}

ALWAYS_INLINE uint64_t moves_so_far(const struct kvc_cuckoo *table)
{
    __atomic_signal_fence(
        __ATOMIC_SEQ_CST); /* keeps the vector loads before it; the processor does so anyway */
    return __atomic_load_n(&table->moves, __ATOMIC_ACQUIRE);
}

/* Looks again, for an element that may have moved past a reader that began at `moves`. */
ALWAYS_INLINE uint32_t search_again(const struct kvc_cuckoo *table, uint64_t hash, uint64_t moves,
                                    struct kvc_index_stats *stats, bool simd)
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
        uint32_t location = probe(&table->buckets[primary], signature, simd);
        stats->search_lines++;
        if (location == KVC_LOCATION_NONE && alternate != primary) {
            location = probe(&table->buckets[alternate], signature, simd);
            stats->search_lines++;
        }
        if (location != KVC_LOCATION_NONE) {
            return location;
        }
    }
}

ALWAYS_INLINE void search(const struct kvc_cuckoo *table, const uint64_t *hash, uint32_t count,
                          uint32_t *location, struct kvc_index_stats *stats, bool simd)
{
    const struct bucket *buckets = table->buckets;
    uint32_t mask = table->mask;
    uint32_t missed[SEARCH_CHUNK];
    uint64_t misses = 0;
    for (uint32_t i = 0; i < SEARCH_AHEAD && i < count; i++) {
        __builtin_prefetch(&buckets[(uint32_t)hash[i] & mask]);
    }
    for (uint32_t start = 0; start < count; start += SEARCH_CHUNK) {
        uint32_t end = count - start > SEARCH_CHUNK ? start + SEARCH_CHUNK : count;
        uint64_t moves = moves_so_far(table);
        uint32_t second = 0;
        for (uint32_t i = start; i < end; i++) {
            uint32_t ahead = count - i > SEARCH_AHEAD ? i + SEARCH_AHEAD : count - 1;
            __builtin_prefetch(&buckets[(uint32_t)hash[ahead] & mask]);
            uint32_t signature = kvc_signature(hash[i]);
            uint32_t bucket = (uint32_t)hash[i] & mask;
            uint32_t found = probe(&buckets[bucket], signature, simd);
            location[i] = found;
            /* Without a branch, which would be mispredicted: a hit prefetches the line it has. */
            uint32_t miss = found == KVC_LOCATION_NONE;
            missed[second] = i;
            second += miss;
            __builtin_prefetch(&buckets[(bucket ^ (signature & -miss)) & mask]);
        }
        stats->search_lines += end - start;
        for (uint32_t m = 0; m < second; m++) {
            uint32_t i = missed[m];
            uint32_t signature = kvc_signature(hash[i]);
            uint32_t bucket = (uint32_t)hash[i] & mask;
            uint32_t alternate = (bucket ^ signature) & mask;
            uint32_t found = KVC_LOCATION_NONE;
            if (alternate != bucket) {
                stats->search_lines++;
                found = probe(&buckets[alternate], signature, simd);
            }
            if (found == KVC_LOCATION_NONE) {
                found = search_again(table, hash[i], moves, stats, simd);
                misses += found == KVC_LOCATION_NONE;
            }
            location[i] = found;
        }
    }
    stats->searches += count;
    stats->search_hits += count - misses;
}

static uint64_t next_random(struct kvc_cuckoo *table)
{
    /* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
    uint64_t z = table->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Of the empty cells (not 0): the preferred one, or the nearest to its left, round the end. */
ALWAYS_INLINE unsigned choose_cell(unsigned empty, uint32_t signature)
{
    unsigned preferred = signature >> 29;
    unsigned left = empty & ((2u << preferred) - 1);
    return 31u - (unsigned)__builtin_clz(left != 0 ? left : empty);
}

/* Fills an empty cell. */
ALWAYS_INLINE void fill(struct bucket *bucket, unsigned c, uint32_t signature, uint32_t location)
{
    store_word(&bucket->location[c], location);
    store_word(&bucket->signature[c], signature);
}

static bool in_chain(const uint32_t *chain, uint32_t length, uint32_t cell)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < length; i++) {
        found |= chain[i] == cell;
    }
    return found != 0;
}

/* Adds a random cell of this full bucket that is not yet in the chain; false: there is none. */
static bool extend_chain(struct kvc_cuckoo *table, uint32_t length, uint32_t bucket)
{
    uint32_t first = (uint32_t)(next_random(table) >> 61);
    for (uint32_t i = 0; i < KVC_CUCKOO_CELLS; i++) {
        uint32_t cell = bucket * KVC_CUCKOO_CELLS + ((first + i) & (KVC_CUCKOO_CELLS - 1));
        if (!in_chain(table->chain, length, cell)) {
            table->chain[length] = cell;
            return true;
        }
    }
    return false;
}

/* Makes room for a new element of two full buckets. The chain of victims is found first and then moved from
 * its far end, each element stored at its new place before it goes from the old one. Returns the location
 * that was dropped. */
static uint32_t displace(struct kvc_cuckoo *table, uint32_t primary, uint32_t alternate, uint32_t signature,
                         uint32_t location, struct kvc_index_stats *stats, bool simd)
{
    struct bucket *buckets = table->buckets;
    uint32_t *chain = table->chain;
    uint32_t bucket = next_random(table) >> 63 != 0 ? alternate : primary;
    uint32_t length = 0;
    uint32_t to; /* an empty cell */
    uint32_t dropped = KVC_LOCATION_NONE;
    for (;;) {
        if (length > table->max_displacements || !extend_chain(table, length, bucket)) {
            to = chain[--length];
            struct bucket *last = &buckets[to / KVC_CUCKOO_CELLS];
            dropped = last->location[to % KVC_CUCKOO_CELLS];
            store_word(&last->signature[to % KVC_CUCKOO_CELLS], 0);
            table->used--;
            stats->dropped++;
            break;
        }
        uint32_t victim = buckets[bucket].signature[chain[length] % KVC_CUCKOO_CELLS];
        length++;
        if (length > table->max_displacements) {
            continue; /* it may not move, so its alternate bucket need not be read */
        }
        uint32_t next = alternate_of(table, bucket, victim);
        if (next != bucket) {
            bucket = next;
            stats->insert_lines++;
            unsigned empty = match(&buckets[bucket], 0, simd);
            if (empty != 0) {
                to = bucket * KVC_CUCKOO_CELLS + choose_cell(empty, victim);
                break;
            }
        }
    }
    stats->displacements += length;
    while (length > 0) {
        uint32_t from = chain[--length];
        struct bucket *source = &buckets[from / KVC_CUCKOO_CELLS];
        unsigned c = from % KVC_CUCKOO_CELLS;
        fill(&buckets[to / KVC_CUCKOO_CELLS], to % KVC_CUCKOO_CELLS, source->signature[c],
             source->location[c]);
        __atomic_store_n(&table->moves, table->moves + 1, __ATOMIC_RELEASE);
        store_word(&source->signature[c], 0);
        to = from;
    }
    fill(&buckets[to / KVC_CUCKOO_CELLS], to % KVC_CUCKOO_CELLS, signature, location);
    return dropped;
}

ALWAYS_INLINE uint32_t insert_one(struct kvc_cuckoo *table, uint64_t hash, uint32_t location,
                                  struct kvc_index_stats *stats, bool simd)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = primary_of(table, hash);
    uint32_t alternate = alternate_of(table, primary, signature);
    struct bucket *home = &table->buckets[primary];
    struct bucket *other = &table->buckets[alternate];
    unsigned same = match(home, signature, simd);
    stats->insert_lines++;
    if (same == 0 && other != home) {
        home = other;
        same = match(home, signature, simd);
        stats->insert_lines++;
    }
    if (same != 0) {
        uint32_t *cell = &home->location[__builtin_ctz(same)];
        uint32_t old = *cell;
        store_word(cell, location);
        stats->replaced++;
        return old;
    }
    home = &table->buckets[primary];
    unsigned empty = match(home, 0, simd);
    if (empty == 0) {
        home = other;
        empty = match(home, 0, simd);
    }
    table->used++;
    if (empty != 0) {
        fill(home, choose_cell(empty, signature), signature, location);
        return KVC_LOCATION_NONE;
    }
    return displace(table, primary, alternate, signature, location, stats, simd);
}

ALWAYS_INLINE uint32_t erase_one(struct kvc_cuckoo *table, uint64_t hash, uint32_t location,
                                 struct kvc_index_stats *stats, bool simd)
{
    uint32_t signature = kvc_signature(hash);
    uint32_t primary = primary_of(table, hash);
    uint32_t alternate = alternate_of(table, primary, signature);
    struct bucket *bucket = &table->buckets[primary];
    unsigned same = match(bucket, signature, simd);
    stats->erase_lines++;
    if (same == 0 && alternate != primary) {
        bucket = &table->buckets[alternate];
        same = match(bucket, signature, simd);
        stats->erase_lines++;
    }
    if (same == 0) {
        return KVC_LOCATION_NONE;
    }
    unsigned c = (unsigned)__builtin_ctz(same);
    uint32_t old = bucket->location[c];
    if (location != KVC_LOCATION_ANY && location != old) {
        return KVC_LOCATION_NONE;
    }
    store_word(&bucket->signature[c], 0);
    table->used--;
    stats->erased++;
    return old;
}

/* Both lines of an element that will be written. */
ALWAYS_INLINE void prefetch_pair(const struct kvc_cuckoo *table, uint64_t hash)
{
    uint32_t primary = primary_of(table, hash);
    __builtin_prefetch(&table->buckets[primary], 1);
    __builtin_prefetch(&table->buckets[alternate_of(table, primary, kvc_signature(hash))], 1);
}

typedef uint32_t change_fn(struct kvc_cuckoo *table, uint64_t hash, uint32_t location,
                           struct kvc_index_stats *stats, bool simd);

ALWAYS_INLINE void change(struct kvc_cuckoo *table, const uint64_t *hash, const uint32_t *location,
                          uint32_t count, uint32_t *out, struct kvc_index_stats *stats, change_fn *one,
                          bool simd)
{
    for (uint32_t i = 0; i < WRITE_AHEAD && i < count; i++) {
        prefetch_pair(table, hash[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > WRITE_AHEAD) {
            prefetch_pair(table, hash[i + WRITE_AHEAD]);
        }
        uint32_t old = one(table, hash[i], location[i], stats, simd);
        if (out != NULL) {
            out[i] = old;
        }
    }
}

#ifdef KVC_CUCKOO_AVX2
AVX2_TARGET static void search_avx2(const struct kvc_cuckoo *table, const uint64_t *hash, uint32_t count,
                                    uint32_t *location, struct kvc_index_stats *stats)
{
    search(table, hash, count, location, stats, true);
}

AVX2_TARGET static void insert_avx2(struct kvc_cuckoo *table, const uint64_t *hash, const uint32_t *location,
                                    uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    change(table, hash, location, count, out, stats, insert_one, true);
}

AVX2_TARGET static void erase_avx2(struct kvc_cuckoo *table, const uint64_t *hash, const uint32_t *location,
                                   uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    change(table, hash, location, count, out, stats, erase_one, true);
}
#endif

static void cuckoo_free(struct kvc_index *index)
{
    struct kvc_cuckoo *table = table_of(index);
    kvc_memory_free(table->buckets, table->bytes);
    free(table->chain);
    free(table);
}

static uint64_t cuckoo_capacity(const struct kvc_index *index)
{
    return ((const struct kvc_cuckoo *)index)->bytes / sizeof(struct bucket) * KVC_CUCKOO_CELLS;
}

static uint64_t cuckoo_used(const struct kvc_index *index)
{
    return ((const struct kvc_cuckoo *)index)->used;
}

static void cuckoo_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                          struct kvc_index_stats *stats)
{
    const struct kvc_cuckoo *table = table_of(index);
#ifdef KVC_CUCKOO_AVX2
    if (table->simd) {
        search_avx2(table, hash, count, location, stats);
        return;
    }
#endif
    search(table, hash, count, location, stats, false);
}

static void cuckoo_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                          uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_cuckoo *table = table_of(index);
    stats->inserts += count;
#ifdef KVC_CUCKOO_AVX2
    if (table->simd) {
        insert_avx2(table, hash, location, count, out, stats);
        return;
    }
#endif
    change(table, hash, location, count, out, stats, insert_one, false);
}

static void cuckoo_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct kvc_cuckoo *table = table_of(index);
    stats->erases += count;
#ifdef KVC_CUCKOO_AVX2
    if (table->simd) {
        erase_avx2(table, hash, location, count, out, stats);
        return;
    }
#endif
    change(table, hash, location, count, out, stats, erase_one, false);
}

static const struct kvc_index_ops cuckoo_ops = {
    .free = cuckoo_free,
    .search = cuckoo_search,
    .insert = cuckoo_insert,
    .erase = cuckoo_erase,
    .capacity = cuckoo_capacity,
    .used = cuckoo_used,
};

struct kvc_index *kvc_cuckoo_create(const struct kvc_cuckoo_params *params)
{
    uint64_t bytes = params->bytes;
    if (bytes < sizeof(struct bucket) || bytes > UINT64_C(32) << 30 || (bytes & (bytes - 1)) != 0 ||
        params->max_displacements > 1000) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_cuckoo *table = aligned_alloc(_Alignof(struct kvc_cuckoo), sizeof(*table));
    if (table == NULL) {
        return NULL;
    }
    *table = (struct kvc_cuckoo){.index = {&cuckoo_ops},
                                 .bytes = bytes,
                                 .mask = (uint32_t)(bytes / sizeof(struct bucket) - 1),
                                 .max_displacements = params->max_displacements,
                                 .random = params->seed};
#ifdef KVC_CUCKOO_AVX2
    table->simd = !params->portable && __builtin_cpu_supports("avx2");
#endif
    table->chain = calloc(params->max_displacements + 1, sizeof(*table->chain));
    table->buckets = kvc_memory_alloc(bytes);
    if (table->chain == NULL || table->buckets == NULL) {
        cuckoo_free(&table->index);
        errno = ENOMEM;
        return NULL;
    }
    return &table->index;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    return kvc_cuckoo_create(
        &(struct kvc_cuckoo_params){.bytes = bytes, .max_displacements = 200, .seed = seed});
}

const struct kvc_index_kind kvc_cuckoo_kind = {
    .name = "megakv-cuckoo",
    .source = "Mega-KV, VLDB J. 26(5) 2017, sec. 4",
    .create = create_published,
};
