#include "kernels/mica/mica.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/pages.h"

/* ThreadSanitizer takes vector loads of words that another thread stores for races: it gets the portable
 * twin. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#define KVC_MICA_AVX2 1
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    /* Keys go through the stages of a batch in groups: fetches close together overlap even where their pages
     * have to be looked up first. */
    GROUP = 32,
    REST_LINES = 8, /* of an item are fetched ahead: beyond that the processor sees them coming */
    SHORT_BUCKET_ENTRIES = 7,
    LINE_WORDS = 8,
    HEADER_WORDS = KVC_MICA_HEADER_BYTES / 8,
    OFFSET_BITS_MIN = 9,
    LOG_BYTES_MIN = 64,
    /* The log may be this part of what offsets can tell apart, or less. */
    LOG_SHARE_BITS = 3,
    TAG_SHIFT = 48,
    INDEX_ITEM_BYTES = KVC_MICA_HEADER_BYTES + 16,
    VALUE_BYTES_SHIFT = 8,
    ROOM_SHIFT = 32,
};

#define OFFSET_MASK ((UINT64_C(1) << TAG_SHIFT) - 1)
#define VALUE_BYTES_MASK 0xffffffu

/* Optimistic readers need their loads in order, and a writer's stores behind the version or the tail that
 * announces them. Acquire and release do both, at no cost on x86. */
#define LOAD(from) __atomic_load_n(from, __ATOMIC_ACQUIRE)
#define STORE(to, value) __atomic_store_n(to, value, __ATOMIC_RELEASE)

/* A bucket is 1 + entries words: the version, odd while the writer changes it, and the entries; 0 is an
 * empty one. An item is words too: the hash; the room in words (high half), the bytes of value (24 bits) and
 * of key (8 bits); the key; the value. */
struct partition {
    uint64_t *bucket;
    uint64_t *log;
    /* Bytes ever appended. Announced before they are written, so that a reader who saw any of them knows.
     * On a line of its own with what the writer alone uses. */
    _Alignas(64) uint64_t tail;
    uint32_t next_clean; /* bucket */
    uint64_t cleaned;    /* buckets, ever */
    uint64_t forgotten;
};

struct geometry {
    uint32_t entries; /* a constant wherever this is inlined */
    bool simd;
    uint32_t partitions;
    uint32_t buckets;
    uint64_t log_bytes;
    uint64_t offset_mask;
    uint32_t offset_bits;
    uint64_t seed;
};

struct kvc_mica {
    struct kvc_index index;
    struct geometry geometry;
    struct partition *partition;
};

struct key {
    const uint8_t *data;
    uint32_t bytes;
    uint64_t hash;
};

static inline struct kvc_mica *store_of(struct kvc_index *index)
{
    return (struct kvc_mica *)index; /* its first member */
}

ALWAYS_INLINE void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

ALWAYS_INLINE uint64_t words_of(uint64_t bytes)
{
    return (bytes + 7) / 8;
}

/* --- Where things are --- */

ALWAYS_INLINE uint32_t partition_number(const struct geometry *geometry, uint64_t hash)
{
    return (uint32_t)((hash >> TAG_SHIFT) * geometry->partitions >> 16);
}

ALWAYS_INLINE uint32_t bucket_words(const struct geometry *geometry)
{
    return geometry->entries + 1;
}

ALWAYS_INLINE uint64_t *bucket_at(const struct geometry *geometry, const struct partition *partition,
                                  uint64_t hash)
{
    uint64_t bucket = (hash & 0xffffffffu) * geometry->buckets >> 32;
    return partition->bucket + bucket * bucket_words(geometry);
}

ALWAYS_INLINE uint64_t tag_of(uint64_t hash)
{
    uint64_t tag = hash >> 32 & 0xffff;
    return tag != 0 ? tag : 1;
}

ALWAYS_INLINE uint64_t *item_at(const struct geometry *geometry, const struct partition *partition,
                                uint64_t entry)
{
    return partition->log + (entry & OFFSET_MASK & (geometry->log_bytes - 1)) / 8;
}

/* Bytes from the entry's item to the tail: the older, the more. */
ALWAYS_INLINE uint64_t age_of(const struct geometry *geometry, uint64_t tail, uint64_t entry)
{
    return (tail - entry) & geometry->offset_mask;
}

ALWAYS_INLINE bool is_live(const struct geometry *geometry, uint64_t tail, uint64_t entry)
{
    return age_of(geometry, tail, entry) <= geometry->log_bytes;
}

ALWAYS_INLINE uint32_t bucket_lines(const struct geometry *geometry)
{
    return bucket_words(geometry) / LINE_WORDS;
}

/* Lines that `words` words from here on are in. */
ALWAYS_INLINE uint64_t lines_from(const uint64_t *item, uint64_t words)
{
    uint64_t first = (uintptr_t)item / 8 % LINE_WORDS;
    return (first + words + LINE_WORDS - 1) / LINE_WORDS;
}

ALWAYS_INLINE uint32_t key_bytes_of(uint64_t lengths)
{
    return (uint32_t)lengths & 0xff;
}

ALWAYS_INLINE uint32_t value_bytes_of(uint64_t lengths)
{
    return (uint32_t)(lengths >> VALUE_BYTES_SHIFT) & VALUE_BYTES_MASK;
}

ALWAYS_INLINE uint64_t item_words(uint32_t key_bytes, uint32_t value_bytes)
{
    return HEADER_WORDS + words_of(key_bytes) + words_of(value_bytes);
}

/* --- Looking into a bucket --- */

#ifdef KVC_MICA_AVX2
#define AVX2_TARGET __attribute__((target("avx2")))

AVX2_TARGET static inline uint32_t match_avx2(const uint64_t *bucket, uint32_t words, uint64_t tag)
{
    __m256i wanted = _mm256_set1_epi64x((long long)tag);
    uint32_t matching = 0;
    for (uint32_t w = 0; w < words; w += 4) {
        __m256i entries = _mm256_load_si256((const __m256i *)(bucket + w));
        __m256i equal = _mm256_cmpeq_epi64(_mm256_srli_epi64(entries, TAG_SHIFT), wanted);
        matching |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(equal)) << w;
    }
    /* The entries that match are loaded again; not before. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return matching;
}
#endif

/* Bit w is set where word w of the bucket is an entry with this tag; 0: where it is empty. */
ALWAYS_INLINE uint32_t match(const struct geometry *geometry, const uint64_t *bucket, uint64_t tag)
{
    uint32_t matching = 0;
    uint32_t words = bucket_words(geometry);
#ifdef KVC_MICA_AVX2
    if (geometry->simd) {
        return match_avx2(bucket, words, tag) & ~1u;
    }
#endif
    for (uint32_t w = 1; w < words; w++) {
        matching |= (uint32_t)(LOAD(bucket + w) >> TAG_SHIFT == tag) << w;
    }
    return matching;
}

ALWAYS_INLINE uint64_t key_word(const struct key *key, uint32_t at)
{
    uint64_t word = 0;
    uint32_t left = key->bytes - at;
    if (left >= 8) {
        memcpy(&word, key->data + at, 8);
    } else {
        memcpy(&word, key->data + at, left);
    }
    return word;
}

/* Is this item the key's? `lengths` is its second word. What a reader sees may be torn; nothing outside the
 * log is read for that. */
ALWAYS_INLINE bool has_key(const struct geometry *geometry, const struct partition *partition,
                           const uint64_t *item, const struct key *key, uint64_t *lengths, uint64_t *lines)
{
    uint64_t hash = LOAD(&item[0]);
    *lengths = LOAD(&item[1]);
    uint64_t words = item_words(key->bytes, value_bytes_of(*lengths));
    if (hash != key->hash || key_bytes_of(*lengths) != key->bytes ||
        (uint64_t)(item - partition->log) + words > geometry->log_bytes / 8) {
        ++*lines;
        return false;
    }
    bool same = true;
    uint32_t at = 0;
    for (; same && at < key->bytes; at += 8) {
        same = LOAD(&item[HEADER_WORDS + at / 8]) == key_word(key, at);
    }
    if (!same) {
        *lines += lines_from(item, HEADER_WORDS + at / 8);
    }
    return same;
}

struct found {
    uint32_t word; /* of the bucket; 0: not found */
    uint64_t entry;
    uint64_t *item;
    uint64_t lengths;
};

/* Counts the lines of items that are other keys'. */
ALWAYS_INLINE struct found find(const struct geometry *geometry, const struct partition *partition,
                                const uint64_t *bucket, const struct key *key, uint64_t *lines)
{
    uint64_t tag = tag_of(key->hash);
    for (uint32_t words = match(geometry, bucket, tag); words != 0; words &= words - 1) {
        struct found found = {.word = (uint32_t)__builtin_ctz(words)};
        found.entry = LOAD(bucket + found.word);
        /* The tail after the entry: it is behind the item for certain. */
        if (!is_live(geometry, LOAD(&partition->tail), found.entry)) {
            continue;
        }
        found.item = item_at(geometry, partition, found.entry);
        if (has_key(geometry, partition, found.item, key, &found.lengths, lines)) {
            return found;
        }
    }
    return (struct found){0};
}

/* The first empty entry, or the oldest: its word of the bucket. */
ALWAYS_INLINE uint32_t choose_entry(const struct geometry *geometry, const struct partition *partition,
                                    const uint64_t *bucket)
{
    uint32_t empty = match(geometry, bucket, 0);
    if (empty != 0) {
        return (uint32_t)__builtin_ctz(empty);
    }
    uint32_t oldest = 1;
    uint64_t oldest_age = 0;
    for (uint32_t w = 1; w < bucket_words(geometry); w++) {
        uint64_t age = age_of(geometry, partition->tail, bucket[w]);
        oldest = age > oldest_age ? w : oldest;
        oldest_age = age > oldest_age ? age : oldest_age;
    }
    return oldest;
}

/* --- Copying --- */

ALWAYS_INLINE void copy_out(const uint64_t *words, uint8_t *to, uint32_t bytes)
{
    uint32_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t word = LOAD(&words[at / 8]);
        memcpy(to + at, &word, 8);
    }
    if (at < bytes) {
        uint64_t word = LOAD(&words[at / 8]);
        memcpy(to + at, &word, bytes - at);
    }
}

ALWAYS_INLINE void copy_in(uint64_t *words, const uint8_t *from, uint32_t bytes)
{
    uint32_t at = 0;
    uint64_t word = 0;
    for (; at + 8 <= bytes; at += 8) {
        memcpy(&word, from + at, 8);
        STORE(&words[at / 8], word);
    }
    if (at < bytes) {
        word = 0;
        memcpy(&word, from + at, bytes - at);
        STORE(&words[at / 8], word);
    }
}

/* --- One operation --- */

/* Lines of an item of this key up to the end of `value_bytes` bytes of its value. */
ALWAYS_INLINE uint64_t item_lines(const uint64_t *item, const struct key *key, uint32_t value_bytes)
{
    return lines_from(item, item_words(key->bytes, value_bytes));
}

/* Bytes of the value, of which up to `room` were copied; or KVC_MICA_NONE. */
ALWAYS_INLINE uint32_t get_one(const struct geometry *geometry, const struct partition *partition,
                               const struct key *key, void *to, uint32_t room, uint64_t *lines)
{
    const uint64_t *bucket = bucket_at(geometry, partition, key->hash);
    for (;;) {
        uint64_t version = LOAD(bucket);
        if ((version & 1) != 0) {
            relax();
            continue;
        }
        *lines += bucket_lines(geometry);
        struct found found = find(geometry, partition, bucket, key, lines);
        uint32_t bytes = KVC_MICA_NONE;
        if (found.word != 0) {
            bytes = value_bytes_of(found.lengths);
            uint32_t copied = bytes < room ? bytes : room;
            copy_out(found.item + HEADER_WORDS + words_of(key->bytes), to, copied);
            *lines += item_lines(found.item, key, copied);
            if (!is_live(geometry, LOAD(&partition->tail), found.entry)) {
                bytes = KVC_MICA_NONE; /* overwritten while it was read */
            }
        }
        if (LOAD(bucket) == version) {
            return bytes;
        }
    }
}

ALWAYS_INLINE void begin_change(uint64_t *bucket)
{
    STORE(bucket, *bucket + 1);
}

ALWAYS_INLINE void end_change(uint64_t *bucket)
{
    STORE(bucket, *bucket + 1);
}

ALWAYS_INLINE void put_entry(uint64_t *bucket, uint32_t word, uint64_t entry)
{
    begin_change(bucket);
    STORE(bucket + word, entry);
    end_change(bucket);
}

/* Clears stale entries, the whole index in each half of the offsets' range: no entry stays long enough to be
 * taken for a new one. */
ALWAYS_INLINE void clean(const struct geometry *geometry, struct partition *partition)
{
    uint32_t half_bits = geometry->offset_bits - 1;
    uint64_t due = (uint64_t)((unsigned __int128)partition->tail * geometry->buckets >> half_bits);
    for (; partition->cleaned < due; partition->cleaned++) {
        uint64_t *bucket = partition->bucket + (uint64_t)partition->next_clean * bucket_words(geometry);
        for (uint32_t w = 1; w < bucket_words(geometry); w++) {
            if (bucket[w] != 0 && !is_live(geometry, partition->tail, bucket[w])) {
                put_entry(bucket, w, 0);
                partition->forgotten++;
            }
        }
        partition->next_clean = partition->next_clean + 1 < geometry->buckets ? partition->next_clean + 1 : 0;
    }
}

/* Appends an item, which must fit, and returns its entry. */
ALWAYS_INLINE uint64_t append(const struct geometry *geometry, struct partition *partition,
                              const struct key *key, const struct kvc_mica_value *value)
{
    uint64_t bytes = item_words(key->bytes, value->bytes) * 8;
    uint64_t start = partition->tail;
    uint64_t left = geometry->log_bytes - (start & (geometry->log_bytes - 1));
    start += left < bytes ? left : 0;
    STORE(&partition->tail, start + bytes);
    uint64_t entry = tag_of(key->hash) << TAG_SHIFT | (start & geometry->offset_mask);
    uint64_t *item = item_at(geometry, partition, entry);
    STORE(&item[0], key->hash);
    STORE(&item[1], bytes / 8 << ROOM_SHIFT | (uint64_t)value->bytes << VALUE_BYTES_SHIFT | key->bytes);
    copy_in(item + HEADER_WORDS, key->data, key->bytes);
    copy_in(item + HEADER_WORDS + words_of(key->bytes), value->data, value->bytes);
    return entry;
}

/* As the value of an index. */
ALWAYS_INLINE uint32_t location_in(const uint64_t *item)
{
    return (uint32_t)item[HEADER_WORDS + 1];
}

/* `left`: the location that leaves the index, of items that are an index's; or NULL. */
ALWAYS_INLINE enum kvc_mica_outcome set_one(const struct geometry *geometry, struct partition *partition,
                                            const struct key *key, const struct kvc_mica_value *value,
                                            uint32_t *left, struct kvc_index_stats *stats)
{
    if (value->bytes > KVC_MICA_ITEM_MAX || item_words(key->bytes, value->bytes) * 8 > KVC_MICA_ITEM_MAX ||
        item_words(key->bytes, value->bytes) * 8 > geometry->log_bytes) {
        stats->dropped++;
        return KVC_MICA_REFUSED;
    }
    uint64_t *bucket = bucket_at(geometry, partition, key->hash);
    stats->insert_lines += bucket_lines(geometry);
    struct found found = find(geometry, partition, bucket, key, &stats->insert_lines);
    if (found.word != 0) {
        stats->replaced++;
        if (left != NULL) {
            *left = location_in(found.item);
        }
        if (item_words(key->bytes, value->bytes) <= found.lengths >> ROOM_SHIFT) {
            uint64_t lengths = (found.lengths & ~((uint64_t)VALUE_BYTES_MASK << VALUE_BYTES_SHIFT)) |
                               (uint64_t)value->bytes << VALUE_BYTES_SHIFT;
            begin_change(bucket);
            STORE(&found.item[1], lengths);
            copy_in(found.item + HEADER_WORDS + words_of(key->bytes), value->data, value->bytes);
            end_change(bucket);
            stats->insert_lines += item_lines(found.item, key, value->bytes);
            return KVC_MICA_IN_PLACE;
        }
        stats->insert_lines += item_lines(found.item, key, 0);
    }
    enum kvc_mica_outcome outcome = found.word != 0 ? KVC_MICA_APPENDED : KVC_MICA_NEW;
    if (found.word == 0) {
        found.word = choose_entry(geometry, partition, bucket);
        uint64_t victim = bucket[found.word];
        if (victim != 0 && !is_live(geometry, partition->tail, victim)) {
            partition->forgotten++;
        } else if (victim != 0) {
            if (left != NULL) {
                *left = location_in(item_at(geometry, partition, victim));
                stats->insert_lines++;
            }
            stats->evicted++;
            outcome = KVC_MICA_EVICTED;
        }
    }
    uint64_t entry = append(geometry, partition, key, value);
    stats->insert_lines += item_lines(item_at(geometry, partition, entry), key, value->bytes);
    put_entry(bucket, found.word, entry);
    clean(geometry, partition);
    return outcome;
}

/* `location`: that of an index's item, which must have it, or KVC_LOCATION_ANY. `left` as above. */
ALWAYS_INLINE bool delete_one(const struct geometry *geometry, struct partition *partition,
                              const struct key *key, uint32_t location, uint32_t *left,
                              struct kvc_index_stats *stats)
{
    uint64_t *bucket = bucket_at(geometry, partition, key->hash);
    stats->erase_lines += bucket_lines(geometry);
    struct found found = find(geometry, partition, bucket, key, &stats->erase_lines);
    if (found.word == 0) {
        return false;
    }
    stats->erase_lines += item_lines(found.item, key, left != NULL ? sizeof(location) : 0);
    if (location != KVC_LOCATION_ANY && location != location_in(found.item)) {
        return false;
    }
    if (left != NULL) {
        *left = location_in(found.item);
    }
    put_entry(bucket, found.word, 0);
    stats->erased++;
    return true;
}

/* --- Batches --- */

/* What to do with the keys of a batch: a call of the store's functions or of its index's. */
struct batch {
    const struct kvc_mica_keys *keys; /* or NULL: the hashes are the keys */
    const uint64_t *hash;
    struct kvc_mica_buffer *buffer;
    const struct kvc_mica_value *value;
    uint8_t *outcome;
    bool *erased;
    uint32_t *found;          /* locations */
    const uint32_t *location; /* of what is stored or erased */
    uint32_t *left;
};

enum operation { GET, SET, DELETE };

ALWAYS_INLINE struct key key_at(const struct geometry *geometry, const struct batch *batch, uint32_t i)
{
    if (batch->keys == NULL) {
        return (struct key){(const uint8_t *)&batch->hash[i], sizeof(uint64_t), batch->hash[i]};
    }
    const struct kvc_mica_keys *keys = batch->keys;
    struct key key = {keys->keys + keys->offset[i], keys->bytes[i], 0};
    key.hash = keys->hash != NULL ? keys->hash[i] : kvc_hash(key.data, key.bytes, geometry->seed);
    return key;
}

ALWAYS_INLINE void prefetch(const void *line, bool write)
{
    if (write) {
        __builtin_prefetch(line, 1);
    } else {
        __builtin_prefetch(line, 0);
    }
}

/* A key on its way through the stages. */
struct staged {
    struct key key;
    const uint64_t *item; /* which is likely to be its; or NULL */
};

/* First stage: the keys of a group; their buckets are on the way from here on. */
ALWAYS_INLINE void stage_keys(const struct geometry *geometry, const struct partition *partitions,
                              const struct batch *batch, uint32_t first, uint32_t count,
                              struct staged *staged, bool write)
{
    for (uint32_t i = 0; i < count; i++) {
        staged[i].key = key_at(geometry, batch, first + i);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = staged[i].key.hash;
        const struct partition *partition = partitions + partition_number(geometry, hash);
        const uint64_t *bucket = bucket_at(geometry, partition, hash);
        for (uint32_t w = 0; w < bucket_words(geometry); w += LINE_WORDS) {
            prefetch(bucket + w, write);
        }
    }
}

/* Second stage: the first item with the tag of each key. A key without one fetches a line that is at hand: a
 * branch would be mispredicted. Keys to be stored in a full bucket want what is evicted, if that is
 * reported. */
ALWAYS_INLINE void stage_items(const struct geometry *geometry, const struct partition *partitions,
                               struct staged *staged, uint32_t count, bool write, bool victims)
{
    const void *line[GROUP];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = staged[i].key.hash;
        const struct partition *partition = partitions + partition_number(geometry, hash);
        const uint64_t *bucket = bucket_at(geometry, partition, hash);
        uint32_t words = match(geometry, bucket, tag_of(hash));
        uint32_t word = (uint32_t)__builtin_ctz(words | 1u << geometry->entries);
        bool wanted = words != 0;
        if (victims && !wanted) {
            word = choose_entry(geometry, partition, bucket);
            wanted = bucket[word] != 0;
        }
        const uint64_t *item = item_at(geometry, partition, LOAD(bucket + word));
        staged[i].item = wanted ? item : NULL;
        line[i] = wanted ? item : bucket;
    }
    for (uint32_t i = 0; i < count; i++) {
        prefetch(line[i], write);
    }
}

/* Third stage: as many of an item's further lines as its first one says that it has, and the operation wants.
 */
ALWAYS_INLINE void stage_rest(const struct geometry *geometry, const struct partition *partitions,
                              const struct batch *batch, uint32_t first, const struct staged *staged,
                              uint32_t count, bool write)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *item = staged[i].item;
        if (item == NULL) {
            continue;
        }
        const struct partition *partition = partitions + partition_number(geometry, staged[i].key.hash);
        uint64_t left = geometry->log_bytes / 8 - (uint64_t)(item - partition->log);
        uint64_t lengths = LOAD(&item[1]);
        uint32_t value_bytes = value_bytes_of(lengths);
        uint32_t wanted = write ? batch->value[first + i].bytes : batch->buffer[first + i].room;
        uint64_t words = item_words(key_bytes_of(lengths), value_bytes < wanted ? value_bytes : wanted);
        words = words < left ? words : left; /* it may be torn */
        words = words < REST_LINES * LINE_WORDS ? words : REST_LINES * LINE_WORDS;
        uint64_t start = (uintptr_t)item / 8 % LINE_WORDS;
        for (uint64_t w = LINE_WORDS; w < start + words; w += LINE_WORDS) {
            prefetch(item - start + w, write);
        }
    }
}

ALWAYS_INLINE void do_one(const struct geometry *geometry, struct partition *partitions,
                          const struct batch *batch, enum operation operation, uint32_t i,
                          const struct key *key, struct kvc_index_stats *stats)
{
    struct partition *partition = partitions + partition_number(geometry, key->hash);
    bool index = batch->keys == NULL;
    if (operation == GET) {
        uint32_t location = KVC_LOCATION_NONE;
        void *to = index ? (void *)&location : batch->buffer[i].data;
        uint32_t room = index ? sizeof(location) : batch->buffer[i].room;
        uint32_t bytes = get_one(geometry, partition, key, to, room, &stats->search_lines);
        stats->search_hits += bytes != KVC_MICA_NONE;
        if (index) {
            batch->found[i] = bytes != KVC_MICA_NONE ? location : KVC_LOCATION_NONE;
        } else {
            batch->buffer[i].bytes = bytes;
        }
        return;
    }
    uint32_t location = KVC_LOCATION_NONE;
    uint32_t *left = batch->left != NULL ? &location : NULL;
    if (operation == SET) {
        struct kvc_mica_value value =
            index ? (struct kvc_mica_value){&batch->location[i], sizeof(uint32_t)} : batch->value[i];
        enum kvc_mica_outcome outcome = set_one(geometry, partition, key, &value, left, stats);
        if (batch->outcome != NULL) {
            batch->outcome[i] = (uint8_t)outcome;
        }
    } else {
        bool erased =
            delete_one(geometry, partition, key, index ? batch->location[i] : KVC_LOCATION_ANY, left, stats);
        if (batch->erased != NULL) {
            batch->erased[i] = erased;
        }
    }
    if (left != NULL) {
        batch->left[i] = location;
    }
}

ALWAYS_INLINE uint32_t group_size(uint32_t count, uint64_t group)
{
    uint64_t left = count - group * GROUP;
    return left < GROUP ? (uint32_t)left : GROUP;
}

ALWAYS_INLINE void run(struct kvc_mica *store, const struct batch *batch, enum operation operation,
                       uint32_t count, struct kvc_index_stats *stats, uint32_t entries, bool simd)
{
    struct geometry geometry = store->geometry;
    geometry.entries = entries;
    geometry.simd = simd;
    struct partition *partitions = store->partition;
    struct staged ring[4][GROUP];
    struct kvc_index_stats local = {0};
    bool write = operation != GET;
    bool victims = operation == SET && batch->left != NULL;
    uint64_t groups = ((uint64_t)count + GROUP - 1) / GROUP;
    for (uint64_t g = 0; g < groups + 3; g++) {
        if (g < groups) {
            stage_keys(&geometry, partitions, batch, (uint32_t)(g * GROUP), group_size(count, g), ring[g % 4],
                       write);
        }
        if (g >= 1 && g < groups + 1) {
            stage_items(&geometry, partitions, ring[(g - 1) % 4], group_size(count, g - 1), write, victims);
        }
        if (g >= 2 && g < groups + 2 && batch->keys != NULL && operation != DELETE) {
            stage_rest(&geometry, partitions, batch, (uint32_t)((g - 2) * GROUP), ring[(g - 2) % 4],
                       group_size(count, g - 2), write);
        }
        for (uint32_t i = 0; g >= 3 && i < group_size(count, g - 3); i++) {
            do_one(&geometry, partitions, batch, operation, (uint32_t)((g - 3) * GROUP) + i,
                   &ring[(g - 3) % 4][i].key, &local);
        }
    }
    kvc_index_stats_add(stats, &local);
}

static void run_any(struct kvc_mica *store, const struct batch *batch, enum operation operation,
                    uint32_t count, struct kvc_index_stats *stats)
{
    uint32_t entries = store->geometry.entries;
    switch (operation) {
    case GET:
        run(store, batch, GET, count, stats, entries, false);
        break;
    case SET:
        run(store, batch, SET, count, stats, entries, false);
        break;
    case DELETE:
        run(store, batch, DELETE, count, stats, entries, false);
        break;
    }
}

#ifdef KVC_MICA_AVX2
AVX2_TARGET static void run_avx2(struct kvc_mica *store, const struct batch *batch, enum operation operation,
                                 uint32_t count, struct kvc_index_stats *stats)
{
    switch (operation) {
    case GET:
        run(store, batch, GET, count, stats, KVC_MICA_ENTRIES, true);
        break;
    case SET:
        run(store, batch, SET, count, stats, KVC_MICA_ENTRIES, true);
        break;
    case DELETE:
        run(store, batch, DELETE, count, stats, KVC_MICA_ENTRIES, true);
        break;
    }
}
#endif

static void run_batch(struct kvc_mica *store, const struct batch *batch, enum operation operation,
                      uint32_t count, struct kvc_index_stats *stats)
{
    stats->searches += operation == GET ? count : 0;
    stats->inserts += operation == SET ? count : 0;
    stats->erases += operation == DELETE ? count : 0;
#ifdef KVC_MICA_AVX2
    if (store->geometry.simd) {
        run_avx2(store, batch, operation, count, stats);
        return;
    }
#endif
    run_any(store, batch, operation, count, stats);
}

void kvc_mica_get(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count,
                  struct kvc_mica_buffer *value, struct kvc_index_stats *stats)
{
    run_batch(store, &(struct batch){.keys = keys, .buffer = value}, GET, count, stats);
}

void kvc_mica_set(struct kvc_mica *store, const struct kvc_mica_keys *keys,
                  const struct kvc_mica_value *value, uint32_t count, uint8_t *outcome,
                  struct kvc_index_stats *stats)
{
    run_batch(store, &(struct batch){.keys = keys, .value = value, .outcome = outcome}, SET, count, stats);
}

void kvc_mica_delete(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count, bool *erased,
                     struct kvc_index_stats *stats)
{
    run_batch(store, &(struct batch){.keys = keys, .erased = erased}, DELETE, count, stats);
}

static void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    run_batch(store_of(index), &(struct batch){.hash = hash, .found = location}, GET, count, stats);
}

static void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    run_batch(store_of(index), &(struct batch){.hash = hash, .location = location, .left = out}, SET, count,
              stats);
}

static void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    run_batch(store_of(index), &(struct batch){.hash = hash, .location = location, .left = out}, DELETE,
              count, stats);
}

/* --- Store --- */

static uint64_t partition_bucket_bytes(const struct geometry *geometry)
{
    return (uint64_t)geometry->buckets * bucket_words(geometry) * 8;
}

void kvc_mica_free(struct kvc_mica *store)
{
    if (store == NULL) {
        return;
    }
    for (uint32_t p = 0; store->partition != NULL && p < store->geometry.partitions; p++) {
        kvc_pages_free(store->partition[p].bucket, partition_bucket_bytes(&store->geometry));
        kvc_pages_free(store->partition[p].log, store->geometry.log_bytes);
    }
    free(store->partition);
    free(store);
}

static void index_free(struct kvc_index *index)
{
    kvc_mica_free(store_of(index));
}

void kvc_mica_usage(const struct kvc_mica *store, struct kvc_mica_usage *usage)
{
    const struct geometry *geometry = &store->geometry;
    *usage = (struct kvc_mica_usage){0};
    for (uint32_t p = 0; p < geometry->partitions; p++) {
        const struct partition *partition = &store->partition[p];
        usage->forgotten += partition->forgotten;
        for (uint64_t b = 0; b < geometry->buckets; b++) {
            const uint64_t *bucket = partition->bucket + b * bucket_words(geometry);
            for (uint32_t w = 1; w < bucket_words(geometry); w++) {
                bool live = is_live(geometry, partition->tail, bucket[w]);
                usage->live += bucket[w] != 0 && live;
                usage->stale += bucket[w] != 0 && !live;
            }
        }
    }
}

static uint64_t index_capacity(const struct kvc_index *index)
{
    const struct geometry *geometry = &((const struct kvc_mica *)index)->geometry;
    uint64_t entries = (uint64_t)geometry->partitions * geometry->buckets * geometry->entries;
    uint64_t items = geometry->partitions * (geometry->log_bytes / INDEX_ITEM_BYTES);
    return entries < items ? entries : items;
}

static uint64_t index_used(const struct kvc_index *index)
{
    struct kvc_mica_usage usage;
    kvc_mica_usage((const struct kvc_mica *)index, &usage);
    return usage.live;
}

static const struct kvc_index_ops mica_ops = {
    .free = index_free,
    .search = index_search,
    .insert = index_insert,
    .erase = index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

struct kvc_index *kvc_mica_index(struct kvc_mica *store)
{
    return &store->index;
}

uint32_t kvc_mica_partition(const struct kvc_mica *store, uint64_t hash)
{
    return partition_number(&store->geometry, hash);
}

uint64_t kvc_mica_hash(const struct kvc_mica *store, const void *key, uint32_t bytes)
{
    return kvc_hash(key, bytes, store->geometry.seed);
}

static bool complete(const struct kvc_mica_params *params, struct geometry *geometry)
{
    *geometry = (struct geometry){
        .entries = params->entries != 0 ? params->entries : KVC_MICA_ENTRIES,
        .partitions = params->partitions != 0 ? params->partitions : 1,
        .buckets = params->buckets,
        .log_bytes = params->log_bytes,
        .offset_bits = params->offset_bits != 0 ? params->offset_bits : KVC_MICA_OFFSET_BITS,
        .seed = params->seed,
    };
    if ((geometry->entries != KVC_MICA_ENTRIES && geometry->entries != SHORT_BUCKET_ENTRIES) ||
        geometry->partitions > KVC_MICA_PARTITIONS_MAX || geometry->buckets == 0 ||
        geometry->offset_bits < OFFSET_BITS_MIN || geometry->offset_bits > KVC_MICA_OFFSET_BITS ||
        geometry->log_bytes < LOG_BYTES_MIN || (geometry->log_bytes & (geometry->log_bytes - 1)) != 0 ||
        geometry->log_bytes > UINT64_C(1) << (geometry->offset_bits - LOG_SHARE_BITS)) {
        return false;
    }
    geometry->offset_mask = (UINT64_C(1) << geometry->offset_bits) - 1;
#ifdef KVC_MICA_AVX2
    geometry->simd = geometry->entries == KVC_MICA_ENTRIES && __builtin_cpu_supports("avx2");
#endif
    return true;
}

struct kvc_mica *kvc_mica_create(const struct kvc_mica_params *params)
{
    struct geometry geometry;
    if (!complete(params, &geometry)) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_mica *store = malloc(sizeof(*store));
    if (store == NULL) {
        return NULL;
    }
    uint64_t partitions_bytes = geometry.partitions * sizeof(struct partition);
    *store = (struct kvc_mica){.index = {&mica_ops}, .geometry = geometry};
    store->partition = aligned_alloc(_Alignof(struct partition), partitions_bytes);
    bool whole = store->partition != NULL;
    if (whole) {
        memset(store->partition, 0, partitions_bytes);
    }
    for (uint32_t p = 0; whole && p < geometry.partitions; p++) {
        struct partition *partition = &store->partition[p];
        partition->bucket = kvc_pages_alloc(partition_bucket_bytes(&geometry));
        partition->log = kvc_pages_alloc(geometry.log_bytes);
        whole = partition->bucket != NULL && partition->log != NULL;
    }
    if (!whole) {
        kvc_mica_free(store);
        errno = ENOMEM;
        return NULL;
    }
    return store;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    const uint64_t bucket_bytes = (KVC_MICA_ENTRIES + 1) * sizeof(uint64_t);
    const uint32_t partitions = 3;
    uint64_t buckets = bytes / 4 / partitions / bucket_bytes;
    if (buckets > UINT32_MAX) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_mica *store = kvc_mica_create(&(struct kvc_mica_params){
        .partitions = partitions, .buckets = (uint32_t)buckets, .log_bytes = bytes / 4, .seed = seed});
    return store != NULL ? &store->index : NULL;
}

const struct kvc_index_kind kvc_mica_kind = {
    .name = "mica",
    .source = "MICA, NSDI 2014, sec. 4.3",
    .create = create_published,
    .caches = true,
    .forgets = true,
    .many_readers = true,
};
