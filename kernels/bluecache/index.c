#include "kernels/bluecache/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pages.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#define KVC_BLUECACHE_SSE2 1
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    SEARCH_AHEAD = 32, /* lines in flight; enough to hide the memory latency */
    WRITE_AHEAD = 24,
    POINTER_BITS = 41,
    KEY_BYTES_SHIFT = KVC_BLUECACHE_KEY_HASH_BITS,
    /* Behind the common interface, an element is a key of 8 bytes with a value of 4 bytes. */
    PLAIN_KEY_BYTES = 8,
    PLAIN_VALUE_BYTES = 4,
};

static const uint32_t valid_bit = UINT32_C(1) << 29;
static const uint64_t value_mask = KVC_BLUECACHE_VALUE_MAX;

struct entry {
    uint64_t place;     /* pointer: 41 bits, value length: 20 bits */
    uint32_t tag;       /* key hash: 21 bits, key length: 8 bits, valid; 0: empty */
    uint32_t timestamp; /* of the last access */
};

struct bucket {
    struct entry way[KVC_BLUECACHE_WAYS];
};

_Static_assert(sizeof(struct bucket) == KVC_BLUECACHE_BUCKET_BYTES, "a bucket is one line");

struct table {
    struct kvc_index index;
    struct bucket *buckets;
    uint64_t bytes;
    uint64_t mask; /* buckets - 1 */
    uint64_t used;
    uint32_t clock;
};

static inline struct table *table_of(struct kvc_index *index)
{
    return (struct table *)index; /* its first member */
}

static inline const struct table *const_table_of(const struct kvc_index *index)
{
    return (const struct table *)index;
}

ALWAYS_INLINE struct bucket *bucket_of(const struct table *table, uint64_t hash)
{
    return &table->buckets[(uint32_t)hash & table->mask];
}

ALWAYS_INLINE uint32_t tag_of(uint64_t hash, uint32_t key_bytes)
{
    return (uint32_t)(hash >> (64 - KVC_BLUECACHE_KEY_HASH_BITS)) | key_bytes << KEY_BYTES_SHIFT | valid_bit;
}

ALWAYS_INLINE uint64_t pointer_of(uint64_t place)
{
    return place & KVC_BLUECACHE_POINTER_MAX;
}

ALWAYS_INLINE uint64_t place_of(uint64_t pointer, uint32_t value_bytes)
{
    return pointer_of(pointer) | (value_bytes & value_mask) << POINTER_BITS;
}

/* Returns a mask in which bit w is set if way w has this tag. */
#ifdef KVC_BLUECACHE_SSE2
ALWAYS_INLINE unsigned match(const struct bucket *bucket, uint32_t tag)
{
    const __m128 *way = (const __m128 *)bucket; /* the tag is the third of four words */
    __m128 tags = _mm_movelh_ps(_mm_unpackhi_ps(way[0], way[1]), _mm_unpackhi_ps(way[2], way[3]));
    __m128i same = _mm_cmpeq_epi32(_mm_castps_si128(tags), _mm_set1_epi32((int)tag));
    return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(same));
}
#else
ALWAYS_INLINE unsigned match(const struct bucket *bucket, uint32_t tag)
{
    unsigned ways = 0;
    for (unsigned w = 0; w < KVC_BLUECACHE_WAYS; w++) {
        ways |= (unsigned)(bucket->way[w].tag == tag) << w;
    }
    return ways;
}
#endif

ALWAYS_INLINE unsigned first_way(unsigned ways)
{
    return (unsigned)__builtin_ctz(ways | 1u << (KVC_BLUECACHE_WAYS - 1));
}

/* Returns the place of a key, or KVC_BLUECACHE_NOWHERE. A branch would be mispredicted, so a miss stamps a
 * dummy word instead. */
ALWAYS_INLINE uint64_t get_one(struct table *table, uint64_t hash, uint32_t key_bytes)
{
    struct bucket *bucket = bucket_of(table, hash);
    unsigned ways = match(bucket, tag_of(hash, key_bytes));
    struct entry *entry = &bucket->way[first_way(ways)];
    uint32_t nobody;
    uint32_t *timestamp = ways != 0 ? &entry->timestamp : &nobody;
    *timestamp = table->clock++;
    return ways != 0 ? entry->place : KVC_BLUECACHE_NOWHERE;
}

/* Returns the age of way `w`, with the way in the last two bits. The largest result therefore identifies the
 * oldest way, and the first one of equals. */
ALWAYS_INLINE uint64_t age(const struct bucket *bucket, unsigned w, uint32_t clock)
{
    uint64_t ticks = (uint32_t)(clock - bucket->way[w].timestamp);
    return ticks << 2 | (KVC_BLUECACHE_WAYS - 1 - w);
}

ALWAYS_INLINE uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

ALWAYS_INLINE unsigned oldest_way(const struct bucket *bucket, uint32_t clock)
{
    uint64_t most = larger(larger(age(bucket, 0, clock), age(bucket, 1, clock)),
                           larger(age(bucket, 2, clock), age(bucket, 3, clock)));
    return KVC_BLUECACHE_WAYS - 1 - (unsigned)(most % KVC_BLUECACHE_WAYS);
}

/* Counters of the puts of one call. A local variable of the call stays in registers. */
struct puts {
    uint32_t clock;
    uint64_t filled, replaced; /* empty entries filled, entries of the same key replaced */
};

/* Puts a key and returns the place that it displaced, or KVC_BLUECACHE_NOWHERE. */
ALWAYS_INLINE uint64_t put_one(const struct table *table, uint64_t hash, uint32_t key_bytes, uint64_t place,
                               uint64_t *position, struct puts *puts)
{
    struct bucket *bucket = bucket_of(table, hash);
    uint32_t tag = tag_of(hash, key_bytes);
    uint32_t clock = puts->clock++;
    /* The entry of the same key is first choice, then an empty one, then the oldest. */
    unsigned same = match(bucket, tag);
    unsigned empty = same == 0 ? match(bucket, 0) : 0;
    unsigned best = (same | empty) != 0 ? first_way(same | empty) : oldest_way(bucket, clock);
    struct entry *entry = &bucket->way[best];
    uint64_t gone = entry->place | -(uint64_t)(empty != 0); /* all ones means nowhere */
    *entry = (struct entry){.place = place, .tag = tag, .timestamp = clock};
    puts->filled += empty != 0;
    puts->replaced += same != 0;
    *position = (uint64_t)(bucket - table->buckets) * KVC_BLUECACHE_WAYS + best;
    return gone;
}

ALWAYS_INLINE void count_puts(struct table *table, const struct puts *puts, uint32_t count,
                              struct kvc_index_stats *stats)
{
    table->clock = puts->clock;
    table->used += puts->filled;
    stats->inserts += count;
    stats->insert_lines += count;
    stats->replaced += puts->replaced;
    stats->evicted += count - puts->filled - puts->replaced;
}

/* Removes the key if its pointer is `pointer` or if `pointer` is KVC_BLUECACHE_NOWHERE. Returns the place it
 * had, or KVC_BLUECACHE_NOWHERE. */
ALWAYS_INLINE uint64_t erase_one(struct table *table, uint64_t hash, uint32_t key_bytes, uint64_t pointer,
                                 struct kvc_index_stats *stats)
{
    struct bucket *bucket = bucket_of(table, hash);
    unsigned ways = match(bucket, tag_of(hash, key_bytes));
    struct entry *entry = &bucket->way[first_way(ways)];
    table->clock++;
    if (ways == 0 || (pointer != KVC_BLUECACHE_NOWHERE && pointer != pointer_of(entry->place))) {
        return KVC_BLUECACHE_NOWHERE;
    }
    entry->tag = 0;
    table->used--;
    stats->erased++;
    return entry->place;
}

ALWAYS_INLINE void prefetch_all(const struct table *table, const uint64_t *hash, uint32_t count,
                                uint32_t ahead)
{
    for (uint32_t i = 0; i < ahead && i < count; i++) {
        __builtin_prefetch(bucket_of(table, hash[i]), 1);
    }
}

ALWAYS_INLINE void prefetch_next(const struct table *table, const uint64_t *hash, uint32_t i, uint32_t count,
                                 uint32_t ahead)
{
    uint32_t next = count - i > ahead ? i + ahead : count - 1;
    __builtin_prefetch(bucket_of(table, hash[next]), 1);
}

/* Returns what an entry stores about its key. */
ALWAYS_INLINE struct kvc_bluecache_found found_at(uint64_t place)
{
    if (place == KVC_BLUECACHE_NOWHERE) {
        return (struct kvc_bluecache_found){KVC_BLUECACHE_NOWHERE, 0};
    }
    return (struct kvc_bluecache_found){pointer_of(place), (uint32_t)(place >> POINTER_BITS)};
}

void kvc_bluecache_index_get(struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                             uint32_t count, struct kvc_bluecache_found *found, struct kvc_index_stats *stats)
{
    struct table *table = table_of(index);
    uint64_t hits = 0;
    prefetch_all(table, hash, count, SEARCH_AHEAD);
    for (uint32_t i = 0; i < count; i++) {
        prefetch_next(table, hash, i, count, SEARCH_AHEAD);
        uint64_t place = get_one(table, hash[i], key_bytes[i]);
        found[i] = found_at(place);
        hits += place != KVC_BLUECACHE_NOWHERE;
    }
    stats->searches += count;
    stats->search_hits += hits;
    stats->search_lines += count;
}

void kvc_bluecache_index_peek(const struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                              uint32_t count, struct kvc_bluecache_found *found)
{
    const struct table *table = const_table_of(index);
    for (uint32_t i = 0; i < count; i++) {
        const struct bucket *bucket = bucket_of(table, hash[i]);
        unsigned ways = match(bucket, tag_of(hash[i], key_bytes[i]));
        found[i] = found_at(ways != 0 ? bucket->way[first_way(ways)].place : KVC_BLUECACHE_NOWHERE);
    }
}

void kvc_bluecache_index_put(struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                             const uint32_t *value_bytes, const uint64_t *pointer, uint32_t count,
                             uint64_t *position, uint64_t *gone, struct kvc_index_stats *stats)
{
    struct table *table = table_of(index);
    struct puts puts = {.clock = table->clock};
    prefetch_all(table, hash, count, WRITE_AHEAD);
    for (uint32_t i = 0; i < count; i++) {
        prefetch_next(table, hash, i, count, WRITE_AHEAD);
        uint64_t place =
            put_one(table, hash[i], key_bytes[i], place_of(pointer[i], value_bytes[i]), &position[i], &puts);
        if (gone != NULL) {
            gone[i] = place != KVC_BLUECACHE_NOWHERE ? pointer_of(place) : KVC_BLUECACHE_NOWHERE;
        }
    }
    count_puts(table, &puts, count, stats);
}

void kvc_bluecache_index_erase(struct kvc_index *index, const uint64_t *hash, const uint8_t *key_bytes,
                               uint32_t count, uint64_t *gone, struct kvc_index_stats *stats)
{
    struct table *table = table_of(index);
    prefetch_all(table, hash, count, WRITE_AHEAD);
    for (uint32_t i = 0; i < count; i++) {
        prefetch_next(table, hash, i, count, WRITE_AHEAD);
        uint64_t place = erase_one(table, hash[i], key_bytes[i], KVC_BLUECACHE_NOWHERE, stats);
        if (gone != NULL) {
            gone[i] = place != KVC_BLUECACHE_NOWHERE ? pointer_of(place) : KVC_BLUECACHE_NOWHERE;
        }
    }
    stats->erases += count;
    stats->erase_lines += count;
}

void kvc_bluecache_index_prefetch(const struct kvc_index *index, uint64_t position)
{
    const struct table *table = const_table_of(index);
    __builtin_prefetch(&table->buckets[position / KVC_BLUECACHE_WAYS & table->mask], 1);
}

/* Returns the entry of the bucket that points to `pointer`, or NULL. */
static struct entry *find_pointer(const struct table *table, uint64_t position, uint64_t pointer)
{
    uint64_t number = position / KVC_BLUECACHE_WAYS;
    if (number > table->mask) {
        return NULL;
    }
    struct bucket *bucket = &table->buckets[number];
    for (unsigned w = 0; w < KVC_BLUECACHE_WAYS; w++) {
        struct entry *entry = &bucket->way[w];
        if (entry->tag != 0 && pointer_of(entry->place) == pointer) {
            return entry;
        }
    }
    return NULL;
}

uint64_t kvc_bluecache_index_move(struct kvc_index *index, const struct kvc_bluecache_move *moves,
                                  uint32_t count)
{
    struct table *table = table_of(index);
    uint64_t changed = 0;
    for (uint32_t i = 0; i < WRITE_AHEAD && i < count; i++) {
        kvc_bluecache_index_prefetch(index, moves[i].position);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > WRITE_AHEAD) {
            kvc_bluecache_index_prefetch(index, moves[i + WRITE_AHEAD].position);
        }
        struct entry *entry = find_pointer(table, moves[i].position, moves[i].from);
        if (entry == NULL) {
            continue;
        }
        changed++;
        if (moves[i].to == KVC_BLUECACHE_NOWHERE) {
            entry->tag = 0;
            table->used--;
        } else {
            entry->place = place_of(moves[i].to, (uint32_t)(entry->place >> POINTER_BITS));
        }
    }
    return changed;
}

bool kvc_bluecache_index_points(const struct kvc_index *index, uint64_t position, uint64_t pointer)
{
    return find_pointer(const_table_of(index), position, pointer) != NULL;
}

uint64_t kvc_bluecache_index_home(const struct kvc_index *index, uint64_t hash)
{
    return ((uint32_t)hash & const_table_of(index)->mask) * KVC_BLUECACHE_WAYS;
}

uint32_t kvc_bluecache_index_clock(const struct kvc_index *index)
{
    return const_table_of(index)->clock;
}

void kvc_bluecache_index_set_clock(struct kvc_index *index, uint32_t clock)
{
    table_of(index)->clock = clock;
}

void kvc_bluecache_index_save(const struct kvc_index *index, uint64_t first, uint64_t count, void *out)
{
    const struct table *table = const_table_of(index);
    for (uint64_t b = 0; b < count; b++) {
        struct bucket bucket = table->buckets[first + b];
        for (unsigned w = 0; w < KVC_BLUECACHE_WAYS; w++) {
            if (bucket.way[w].tag == 0 || (bucket.way[w].place & KVC_BLUECACHE_FLASH) == 0) {
                bucket.way[w] = (struct entry){0};
            }
        }
        memcpy((uint8_t *)out + b * sizeof(bucket), &bucket, sizeof(bucket));
    }
}

void kvc_bluecache_index_load(struct kvc_index *index, uint64_t first, uint64_t count, const void *saved,
                              kvc_bluecache_keep_fn *keep, void *context)
{
    struct table *table = table_of(index);
    for (uint64_t b = 0; b < count && first + b <= table->mask; b++) {
        struct bucket old, *bucket = &table->buckets[first + b];
        memcpy(&old, (const uint8_t *)saved + b * sizeof(old), sizeof(old));
        for (unsigned w = 0; w < KVC_BLUECACHE_WAYS; w++) {
            table->used -= bucket->way[w].tag != 0;
            bucket->way[w] = (struct entry){0};
        }
        for (unsigned w = 0; w < KVC_BLUECACHE_WAYS; w++) {
            struct entry *entry = &old.way[w];
            uint64_t position = (first + b) * KVC_BLUECACHE_WAYS;
            uint64_t pointer = pointer_of(entry->place);
            if (entry->tag / valid_bit != 1 || (pointer & KVC_BLUECACHE_FLASH) == 0 ||
                match(bucket, entry->tag) != 0 || find_pointer(table, position, pointer) != NULL ||
                !keep(context, pointer)) {
                continue;
            }
            entry->place = place_of(pointer, (uint32_t)(entry->place >> POINTER_BITS));
            bucket->way[w] = *entry;
            table->used++;
        }
    }
}

static void index_free(struct kvc_index *index)
{
    struct table *table = table_of(index);
    kvc_pages_free(table->buckets, table->bytes);
    free(table);
}

static uint32_t location_of(uint64_t place)
{
    return place != KVC_BLUECACHE_NOWHERE ? (uint32_t)pointer_of(place) : KVC_LOCATION_NONE;
}

static void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    struct table *table = table_of(index);
    uint64_t hits = 0;
    prefetch_all(table, hash, count, SEARCH_AHEAD);
    for (uint32_t i = 0; i < count; i++) {
        prefetch_next(table, hash, i, count, SEARCH_AHEAD);
        location[i] = location_of(get_one(table, hash[i], PLAIN_KEY_BYTES));
        hits += location[i] != KVC_LOCATION_NONE;
    }
    stats->searches += count;
    stats->search_hits += hits;
    stats->search_lines += count;
}

static void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct table *table = table_of(index);
    struct puts puts = {.clock = table->clock};
    prefetch_all(table, hash, count, WRITE_AHEAD);
    for (uint32_t i = 0; i < count; i++) {
        prefetch_next(table, hash, i, count, WRITE_AHEAD);
        uint64_t position;
        uint64_t gone = put_one(table, hash[i], PLAIN_KEY_BYTES, place_of(location[i], PLAIN_VALUE_BYTES),
                                &position, &puts);
        if (out != NULL) {
            out[i] = location_of(gone);
        }
    }
    count_puts(table, &puts, count, stats);
}

static void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct table *table = table_of(index);
    prefetch_all(table, hash, count, WRITE_AHEAD);
    for (uint32_t i = 0; i < count; i++) {
        prefetch_next(table, hash, i, count, WRITE_AHEAD);
        uint64_t pointer = location[i] == KVC_LOCATION_ANY ? KVC_BLUECACHE_NOWHERE : location[i];
        uint64_t gone = erase_one(table, hash[i], PLAIN_KEY_BYTES, pointer, stats);
        if (out != NULL) {
            out[i] = location_of(gone);
        }
    }
    stats->erases += count;
    stats->erase_lines += count;
}

static uint64_t index_capacity(const struct kvc_index *index)
{
    return const_table_of(index)->bytes / sizeof(struct entry);
}

static uint64_t index_used(const struct kvc_index *index)
{
    return const_table_of(index)->used;
}

static const struct kvc_index_ops index_ops = {
    .free = index_free,
    .search = index_search,
    .insert = index_insert,
    .erase = index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

struct kvc_index *kvc_bluecache_index_create(const struct kvc_bluecache_index_params *params)
{
    uint64_t bytes = params->bytes;
    if (bytes < sizeof(struct bucket) || bytes > UINT64_C(256) << 30 || (bytes & (bytes - 1)) != 0) {
        errno = EINVAL;
        return NULL;
    }
    struct table *table = malloc(sizeof(*table));
    struct bucket *buckets = kvc_pages_alloc(bytes);
    if (table == NULL || buckets == NULL) {
        kvc_pages_free(buckets, bytes);
        free(table);
        errno = ENOMEM;
        return NULL;
    }
    *table = (struct table){
        .index = {&index_ops}, .buckets = buckets, .bytes = bytes, .mask = bytes / sizeof(struct bucket) - 1};
    return &table->index;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    (void)seed; /* the index makes no random choices */
    return kvc_bluecache_index_create(&(struct kvc_bluecache_index_params){.bytes = bytes});
}

const struct kvc_index_kind kvc_bluecache_kind = {
    .name = "bluecache",
    .source = "BlueCache, VLDB 10(4) 2016, sec. 3.3",
    .caches = true,
    .partial = true,
    .create = create_published,
};
