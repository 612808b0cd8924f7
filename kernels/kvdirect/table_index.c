#include "kernels/kvdirect/table_internal.h"

#include <string.h>

enum {
    INDEX_KEY_BYTES = 8,
    INDEX_VALUE_BYTES = 4,
    INDEX_PAIR_BYTES = INDEX_KEY_BYTES + INDEX_VALUE_BYTES,
    INDEX_BEGIN = 1 << 0 | 1 << 3 | 1 << 6, /* bits of the slots where three pairs of three slots begin */
};

#define LAYOUT_PADDING(slot) (UINT64_C(3) << 3 * (slot))
#define LAYOUT_HIGH(slot)                                                                                    \
    (UINT64_C(8) << 3 * (slot) | UINT64_C(1) << (30 + (slot)) | UINT64_C(1) << (42 + (slot)) |               \
     (LAYOUT_PADDING(slot) >> 17) << 50)
#define LAYOUT(first, second, third)                                                                         \
    [(first) | (second) << 3 |                                                                               \
        (third) << 6] = {((first)*LAYOUT_PADDING(0) | (second)*LAYOUT_PADDING(3)) << 47,                     \
                         (first)*LAYOUT_HIGH(0) | (second)*LAYOUT_HIGH(3) | (third)*LAYOUT_HIGH(6)}

/* The last 16 bytes of a plain bucket, which holds pairs of the index and nothing else. A layout is selected
 * by the slots where pairs begin, and leaves out the bits of the slots and the chain. An insert or erase in a
 * plain bucket replaces one layout by another. */
static const struct layout {
    uint64_t low, high;
} layouts[INDEX_BEGIN + 1] = {LAYOUT(0, 0, 0), LAYOUT(1, 0, 0), LAYOUT(0, 1, 0), LAYOUT(1, 1, 0),
                              LAYOUT(0, 0, 1), LAYOUT(1, 0, 1), LAYOUT(0, 1, 1), LAYOUT(1, 1, 1)};

static const uint64_t layout_low = UINT64_MAX << 47;

/* The result of looking for a hash in a bucket. */
struct probe {
    struct kvc_kvdirect_bucket *bucket; /* The bucket. */
    uint64_t low;                       /* Bytes 48 to 55 of the bucket. */
    uint32_t begin;                     /* Slots where pairs begin, as bits. */
    uint32_t equal;                     /* First slot of the hash's pair, as a bit; 0: it is not here. */
    uint32_t chain;                     /* Granule of the next bucket; 0: there is none. */
    bool plain; /* The bucket holds pairs of the index and nothing else; if not, only `chain` is valid. */
};

KVC_KVDIRECT_INLINE struct probe probe(struct kvc_kvdirect_bucket *bucket, uint64_t hash)
{
    uint64_t low = kvc_kvdirect_load64(bucket->byte + 48);
    uint64_t high = kvc_kvdirect_load64(bucket->byte + 56);
    uint32_t begin = high >> 30 & INDEX_BEGIN;
    uint32_t equal = (uint32_t)(kvc_kvdirect_load64(bucket->byte) == hash) |
                     (uint32_t)(kvc_kvdirect_load64(bucket->byte + 15) == hash) << 3 |
                     (uint32_t)(kvc_kvdirect_load64(bucket->byte + 30) == hash) << 6;
    return (struct probe){
        .bucket = bucket,
        .low = low,
        .begin = begin,
        .equal = equal & begin,
        .chain = low >> 16 & 0x7fffffff,
        .plain = high == layouts[begin].high && (low & layout_low) == layouts[begin].low,
    };
}

/* Returns the next bucket of the chain if `goes`, else this one. There is no branch, because it would often
 * be mispredicted. */
KVC_KVDIRECT_INLINE struct kvc_kvdirect_bucket *next_if(bool goes, const struct kvc_kvdirect_table *table,
                                                        struct kvc_kvdirect_bucket *bucket, uint32_t chain)
{
    uintptr_t next = (uintptr_t)kvc_kvdirect_bucket_at(table, chain);
    uintptr_t mask = -(uintptr_t)goes;
    return (struct kvc_kvdirect_bucket *)((next & mask) | ((uintptr_t)bucket & ~mask));
}

/* Returns the bucket in which to look for the hash next, which is this one again if the hash is here or the
 * chain ends. */
KVC_KVDIRECT_INLINE struct kvc_kvdirect_bucket *further(const struct kvc_kvdirect_table *table,
                                                        struct probe probe)
{
    return next_if((probe.equal == 0) & (probe.chain != 0), table, probe.bucket, probe.chain);
}

KVC_KVDIRECT_INLINE uint8_t *location_in(struct kvc_kvdirect_bucket *bucket, uint32_t equal)
{
    return kvc_kvdirect_bucket_slot(bucket, (unsigned)__builtin_ctz(equal)) + INDEX_KEY_BYTES;
}

KVC_KVDIRECT_INLINE uint32_t load_location(const uint8_t *value)
{
    uint32_t location;
    memcpy(&location, value, sizeof(location));
    return location;
}

/* Makes a key of a hash; its bytes are the same on every machine. */
static struct kvc_kvdirect_key index_key(uint64_t hash, uint8_t *bytes)
{
    kvc_kvdirect_store64(bytes, hash);
    return (struct kvc_kvdirect_key){
        .bytes = bytes, .size = INDEX_KEY_BYTES, .hash = hash, .prefix = hash, .mask = UINT64_MAX};
}

/* Searches a bucket that is not plain: it has other pairs, or pointers because the inline threshold is
 * low. */
static __attribute__((noinline)) uint32_t search_other(const struct kvc_kvdirect_table *table,
                                                       struct kvc_kvdirect_bucket *bucket, uint64_t hash,
                                                       struct kvc_index_stats *stats)
{
    uint8_t bytes[INDEX_KEY_BYTES];
    struct kvc_kvdirect_key key = index_key(hash, bytes);
    struct kvc_kvdirect_bucket_meta meta = kvc_kvdirect_bucket_load_meta(bucket);
    struct kvc_kvdirect_table_counts counts = {0};
    uint64_t false_matches = 0;
    struct kvc_kvdirect_place place;
    bool found = kvc_kvdirect_find_inline(bucket, &meta, &key, &place) ||
                 (meta.pointers && kvc_kvdirect_table_find_in_slabs(table, bucket, &meta, &key, &place,
                                                                    &counts, &false_matches));
    stats->search_lines += counts.lines;
    return found ? load_location(place.value) : KVC_LOCATION_NONE;
}

/* Keys wait in a queue while their bucket is prefetched. When a group's buckets have arrived they are
 * searched, and keys that need the next bucket of their chain join the end of the queue, among the new
 * keys. */
static void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    const struct kvc_kvdirect_table *table = (const struct kvc_kvdirect_table *)index;
    struct {
        struct kvc_kvdirect_bucket *bucket;
        uint32_t i;
    } queue[KVC_KVDIRECT_TABLE_RING];
    uint64_t hits = 0, done = 0, asked = 0, end = 0;
    uint32_t i = 0;
    do {
        for (; i < count && end < done + 2 * KVC_KVDIRECT_TABLE_GROUP; i++, end++) {
            queue[end % KVC_KVDIRECT_TABLE_RING].bucket = kvc_kvdirect_first_bucket(table, hash[i]);
            queue[end % KVC_KVDIRECT_TABLE_RING].i = i;
        }
        for (; asked < end; asked++) {
            __builtin_prefetch(queue[asked % KVC_KVDIRECT_TABLE_RING].bucket);
        }
        for (uint64_t stop = kvc_kvdirect_least(done + KVC_KVDIRECT_TABLE_GROUP, end); done < stop; done++) {
            uint32_t now = queue[done % KVC_KVDIRECT_TABLE_RING].i;
            struct probe here = probe(queue[done % KVC_KVDIRECT_TABLE_RING].bucket, hash[now]);
            uint32_t found = load_location(location_in(here.bucket, here.equal | 1u << 6));
            found = here.equal != 0 ? found : KVC_LOCATION_NONE;
            if (!here.plain) {
                found = search_other(table, here.bucket, hash[now], stats);
            }
            location[now] = found;
            hits += found != KVC_LOCATION_NONE;
            queue[end % KVC_KVDIRECT_TABLE_RING].bucket = kvc_kvdirect_bucket_at(table, here.chain);
            queue[end % KVC_KVDIRECT_TABLE_RING].i = now;
            end += (found == KVC_LOCATION_NONE) & (here.chain != 0);
        }
    } while (done < end);
    stats->searches += count;
    stats->search_hits += hits;
    stats->search_lines += done;
}

/* Sums over a batch of inserts or erases. */
struct change {
    struct kvc_kvdirect_table *table;
    uint64_t replaced;                       /* Inserts that met their key. */
    uint64_t dropped;                        /* Inserts that found no memory. */
    uint64_t erased;                         /* Erased pairs. */
    uint64_t lines;                          /* Lines touched on the short way. */
    struct kvc_kvdirect_table_counts counts; /* Accesses of the general way. */
    struct kvc_kvdirect_slab_stats slab;
    uint64_t false_matches;
};

/* Inserts or erases one hash, whose pair seemed to be in bucket `at`. Returns the location that left the
 * index. */
typedef uint32_t change_fn(struct change *change, uint64_t hash, uint32_t location,
                           struct kvc_kvdirect_bucket *at);

/* Runs a change on each key. The first three buckets of its chain are prefetched, each a group ahead of the
 * next; `at` is the one of these where the key seemed to be. Returns the number of lines touched. */
KVC_KVDIRECT_INLINE uint64_t run_changes(struct change *change, const uint64_t *hash,
                                         const uint32_t *location, uint32_t count, uint32_t *out,
                                         change_fn *one)
{
    const struct kvc_kvdirect_table *table = change->table;
    struct kvc_kvdirect_bucket *at[KVC_KVDIRECT_TABLE_RING];
    uint64_t chained[3 * KVC_KVDIRECT_TABLE_GROUP + 1]; /* keys that are not in their first bucket */
    uint32_t beyond = 0;
    uint64_t first = 0, second = 0;
    for (uint64_t done = 0; done < count;) {
        for (; first < kvc_kvdirect_least(done + 4 * KVC_KVDIRECT_TABLE_GROUP, count); first++) {
            __builtin_prefetch(kvc_kvdirect_first_bucket(table, hash[first]), 1);
        }
        for (uint32_t c = 0; c < beyond; c++) {
            uint64_t i = chained[c];
            at[i % KVC_KVDIRECT_TABLE_RING] = further(table, probe(at[i % KVC_KVDIRECT_TABLE_RING], hash[i]));
            __builtin_prefetch(at[i % KVC_KVDIRECT_TABLE_RING], 1);
        }
        beyond = 0;
        for (; second < kvc_kvdirect_least(done + 3 * KVC_KVDIRECT_TABLE_GROUP, count); second++) {
            struct kvc_kvdirect_bucket *bucket = kvc_kvdirect_first_bucket(table, hash[second]);
            at[second % KVC_KVDIRECT_TABLE_RING] = further(table, probe(bucket, hash[second]));
            chained[beyond] = second;
            beyond += at[second % KVC_KVDIRECT_TABLE_RING] != bucket;
        }
        for (uint32_t c = 0; c < beyond; c++) {
            __builtin_prefetch(at[chained[c] % KVC_KVDIRECT_TABLE_RING], 1);
        }
        for (uint64_t end = kvc_kvdirect_least(done + KVC_KVDIRECT_TABLE_GROUP, count); done < end; done++) {
            uint32_t left = one(change, hash[done], location[done], at[done % KVC_KVDIRECT_TABLE_RING]);
            if (out != NULL) {
                out[done] = left;
            }
        }
    }
    return change->lines + change->counts.lines;
}

/* Gives a plain bucket the layout in which these pairs begin. */
KVC_KVDIRECT_INLINE void store_layout(struct kvc_kvdirect_bucket *bucket, uint64_t low, uint32_t begin)
{
    kvc_kvdirect_store64(bucket->byte + 48, (low & ~layout_low) | layouts[begin].low);
    kvc_kvdirect_store64(bucket->byte + 56, layouts[begin].high);
}

/* Inserts in the general way, into any bucket. */
static __attribute__((noinline)) uint32_t insert_any(struct change *change, uint64_t hash, uint32_t location)
{
    struct kvc_kvdirect_table *table = change->table;
    uint8_t bytes[INDEX_KEY_BYTES];
    struct kvc_kvdirect_key key = index_key(hash, bytes);
    bool inlined = INDEX_PAIR_BYTES <= table->inline_bytes;
    struct kvc_kvdirect_place place =
        kvc_kvdirect_find(table, &key, inlined ? kvc_kvdirect_bucket_slots_for(INDEX_PAIR_BYTES) : 1,
                          &change->counts, &change->false_matches);
    uint32_t old = KVC_LOCATION_NONE;
    if (place.bucket != NULL) {
        old = load_location(place.value);
        change->replaced++;
    }
    bool ok = kvc_kvdirect_put_pair(table, &key, &location, INDEX_VALUE_BYTES, inlined, place,
                                    &change->counts, &change->slab);
    change->dropped += !ok;
    return ok ? old : location;
}

/* Erases in the general way, from any bucket. */
static __attribute__((noinline)) uint32_t erase_any(struct change *change, uint64_t hash, uint32_t location)
{
    uint8_t bytes[INDEX_KEY_BYTES];
    struct kvc_kvdirect_key key = index_key(hash, bytes);
    struct kvc_kvdirect_place place =
        kvc_kvdirect_find(change->table, &key, 0, &change->counts, &change->false_matches);
    if (place.bucket == NULL) {
        return KVC_LOCATION_NONE;
    }
    uint32_t found = load_location(place.value);
    if (location != KVC_LOCATION_ANY && location != found) {
        return KVC_LOCATION_NONE;
    }
    kvc_kvdirect_remove_pair(change->table, &key, place, &change->counts, &change->slab);
    change->erased++;
    return found;
}

KVC_KVDIRECT_INLINE uint32_t chain_of(const struct kvc_kvdirect_bucket *bucket)
{
    return kvc_kvdirect_load64(bucket->byte + 48) >> 16 & 0x7fffffff;
}

/* Position of a bucket in the hash's chain, 1 to 3; 0 if it is not, or no longer, one of the first three.
 * Does not look beyond the bucket. */
KVC_KVDIRECT_INLINE uint32_t buckets_to(const struct kvc_kvdirect_table *table, uint64_t hash,
                                        const struct kvc_kvdirect_bucket *at)
{
    struct kvc_kvdirect_bucket *first = kvc_kvdirect_first_bucket(table, hash);
    struct kvc_kvdirect_bucket *second = next_if(at != first, table, first, chain_of(first));
    struct kvc_kvdirect_bucket *third = next_if(at != second, table, second, chain_of(second));
    return (1 + (uint32_t)(at != first) + (uint32_t)(at != second)) & -(uint32_t)(at == third);
}

/* Takes the short way: most keys are where they seemed to be, in a plain bucket. All others take the
 * general way. There is no branch on which bucket of its chain that is, because it would often be
 * mispredicted. */
KVC_KVDIRECT_INLINE uint32_t insert_one(struct change *change, uint64_t hash, uint32_t location,
                                        struct kvc_kvdirect_bucket *at)
{
    struct probe here = probe(at, hash);
    uint32_t buckets = buckets_to(change->table, hash, at);
    if ((buckets == 0) | !here.plain | (here.equal == 0)) {
        return insert_any(change, hash, location);
    }
    uint8_t *value = location_in(at, here.equal);
    uint32_t old = load_location(value);
    memcpy(value, &location, sizeof(location));
    change->lines += buckets;
    change->replaced++;
    return old;
}

KVC_KVDIRECT_INLINE uint32_t erase_one(struct change *change, uint64_t hash, uint32_t location,
                                       struct kvc_kvdirect_bucket *at)
{
    struct kvc_kvdirect_table *table = change->table;
    struct probe here = probe(at, hash);
    uint32_t buckets = buckets_to(table, hash, at);
    bool unlinks = (buckets > 1) & (here.begin == here.equal);
    bool unsure = (here.equal == 0) & (here.chain != 0);
    if ((buckets == 0) | !here.plain | unlinks | unsure) {
        return erase_any(change, hash, location);
    }
    change->lines += buckets;
    if (here.equal == 0) {
        return KVC_LOCATION_NONE;
    }
    uint32_t found = load_location(location_in(at, here.equal));
    if (location != KVC_LOCATION_ANY && location != found) {
        return KVC_LOCATION_NONE;
    }
    store_layout(at, here.low, here.begin & ~here.equal);
    table->pairs--;
    table->pair_bytes -= INDEX_PAIR_BYTES;
    change->erased++;
    return found;
}

static void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct change change = {.table = (struct kvc_kvdirect_table *)index};
    stats->insert_lines += run_changes(&change, hash, location, count, out, insert_one);
    stats->inserts += count;
    stats->replaced += change.replaced;
    stats->dropped += change.dropped;
}

static void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    struct change change = {.table = (struct kvc_kvdirect_table *)index};
    stats->erase_lines += run_changes(&change, hash, location, count, out, erase_one);
    stats->erases += count;
    stats->erased += change.erased;
}

static uint64_t index_capacity(const struct kvc_index *index)
{
    return kvc_kvdirect_table_capacity((const struct kvc_kvdirect_table *)index,
                                       INDEX_KEY_BYTES + INDEX_VALUE_BYTES);
}

static uint64_t index_used(const struct kvc_index *index)
{
    return ((const struct kvc_kvdirect_table *)index)->pairs;
}

static void index_free(struct kvc_index *index)
{
    kvc_kvdirect_table_free((struct kvc_kvdirect_table *)index);
}

const struct kvc_index_ops kvc_kvdirect_table_index_ops = {
    .free = index_free,
    .search = index_search,
    .peek = index_search,
    .insert = index_insert,
    .erase = index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

struct kvc_index *kvc_kvdirect_table_index(struct kvc_kvdirect_table *table)
{
    return &table->index;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    struct kvc_kvdirect_table *table = kvc_kvdirect_table_create(&(struct kvc_kvdirect_table_params){
        .bytes = bytes, .hash_index_frac = 0.625, .inline_bytes = 15, .seed = seed});
    return table == NULL ? NULL : &table->index;
}

const struct kvc_index_kind kvc_kvdirect_table_kind = {
    .name = "kvdirect",
    .source = "KV-Direct, SOSP 2017, sec. 3.3.1",
    .many_readers = true,
    .create = create_published,
    .pairs = &kvc_kvdirect_table_pair_kind,
};
