#include "kernels/mica/mica.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/pages.h"

/* ThreadSanitizer reports a vector load of words that another thread stores as a race; it gets the portable
 * twin. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/* The store has a twin that searches buckets with AVX2. */
#include <immintrin.h>
#define AVX2 1
#endif

/* Functions of the hot paths, whose arguments are often constants at the call. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The layout of buckets and items. */
enum {
    LINE_WORDS = 8,                           /* Words of a 64-byte line. */
    HEADER_WORDS = KVC_MICA_HEADER_BYTES / 8, /* Words of an item's header. */
    TAG_SHIFT = 48,                           /* First bit of an entry's tag. */
    VALUE_BYTES_SHIFT = 8,                    /* First bit of the value's size in a header. */
    ROOM_SHIFT = 32,                          /* First bit of the item's room in a header. */
};

/* The bits of an entry's offset. */
#define OFFSET_MASK ((UINT64_C(1) << TAG_SHIFT) - 1)

/* The bits of the value's size in a header. */
#define VALUE_BYTES_MASK 0xffffffu

/* Loads a word. Optimistic readers need their loads in program order, which acquire order guarantees at no
 * cost on x86. */
#define LOAD(from) __atomic_load_n(from, __ATOMIC_ACQUIRE)

/* Stores a word. Readers must see it after the version or the tail that announces it, which release order
 * guarantees at no cost on x86. */
#define STORE(to, value) __atomic_store_n(to, value, __ATOMIC_RELEASE)

/* A partition.
 *
 * A bucket is 1 + entries words: the version, which is odd while the writer changes the bucket, and the
 * entries, of which 0 is an empty one. An item also consists of words: the hash; the room in words (high
 * half), the bytes of the value (24 bits) and of the key (8 bits); the key; the value. */
struct partition {
    uint64_t *bucket; /* The index. */
    uint64_t *log;    /* The log. */
    /* Bytes ever appended to the log. A new tail is announced before the bytes are written, so that a reader
     * who has seen any of them notices. It has a line of its own, together with what only the writer uses
     * [bytes]. */
    _Alignas(64) uint64_t tail;
    uint32_t next_clean; /* The next bucket to clear stale entries of. */
    uint64_t cleaned;    /* Buckets cleaned since the store was created. */
    uint64_t forgotten;  /* Stale entries cleared or used again since the store was created. */
};

/* The shape of all partitions. */
struct geometry {
    uint32_t entries;     /* Entries of a bucket; a constant wherever this is inlined. */
    bool simd;            /* Whether buckets are searched with AVX2. */
    uint32_t partitions;  /* Partitions. */
    uint32_t buckets;     /* Buckets of a partition. */
    uint64_t log_bytes;   /* Size of a log [bytes]. */
    uint64_t offset_mask; /* The bits of an offset that are used. */
    uint32_t offset_bits; /* Number of bits of an offset that are used. */
    uint64_t seed;        /* Seed of the key hash. */
};

/* The store. */
struct kvc_mica {
    struct kvc_index index;      /* The index interface; the first member. */
    struct geometry geometry;    /* The shape of the partitions. */
    struct partition *partition; /* The partitions. */
};

/* A key. */
struct key {
    const uint8_t *data; /* Bytes of the key. */
    uint32_t bytes;      /* Size of the key [bytes]. */
    uint64_t hash;       /* Hash of the key. */
};

/* The keys of a batch and where their results go. A call of the store's functions or of its index interface
 * sets the members that it has; the others are NULL. */
struct batch {
    const struct kvc_mica_keys *keys;   /* The keys; NULL: the hashes are the keys, of an index. */
    const uint64_t *hash;               /* Keys of an index. */
    struct kvc_mica_buffer *buffer;     /* Buffers of GETs. */
    const struct kvc_mica_value *value; /* Values of SETs. */
    uint8_t *outcome;                   /* Outcomes of SETs. */
    bool *erased;                       /* Results of deletions. */
    uint32_t *found;                    /* Locations found in an index. */
    const uint32_t *location;           /* Locations to store in an index, or to erase. */
    uint32_t *left;                     /* Locations that have left an index. */
};

/* Returns the number of words that hold this many bytes. */
ALWAYS_INLINE uint64_t words_of(uint64_t bytes)
{
    return (bytes + 7) / 8;
}

/* Returns the partition of a hash. */
ALWAYS_INLINE uint32_t partition_number(const struct geometry *geometry, uint64_t hash)
{
    return (uint32_t)((hash >> TAG_SHIFT) * geometry->partitions >> 16);
}

/* Returns the number of words of a bucket. */
ALWAYS_INLINE uint32_t bucket_words(const struct geometry *geometry)
{
    return geometry->entries + 1;
}

/* Returns the bucket of a hash. */
ALWAYS_INLINE uint64_t *bucket_at(const struct geometry *geometry, const struct partition *partition,
                                  uint64_t hash)
{
    uint64_t bucket = (hash & 0xffffffffu) * geometry->buckets >> 32;
    return partition->bucket + bucket * bucket_words(geometry);
}

/* Returns the tag of a hash; never 0, so that an entry never equals an empty one. */
ALWAYS_INLINE uint64_t tag_of(uint64_t hash)
{
    uint64_t tag = hash >> 32 & 0xffff;
    return tag != 0 ? tag : 1;
}

/* Returns the place in the log that an entry refers to. */
ALWAYS_INLINE uint64_t *item_at(const struct geometry *geometry, const struct partition *partition,
                                uint64_t entry)
{
    return partition->log + (entry & OFFSET_MASK & (geometry->log_bytes - 1)) / 8;
}

/* Returns the distance from an entry's item to the tail, which grows with the item's age [bytes]. */
ALWAYS_INLINE uint64_t age_of(const struct geometry *geometry, uint64_t tail, uint64_t entry)
{
    return (tail - entry) & geometry->offset_mask;
}

/* Says whether the item of an entry is still in the log. */
ALWAYS_INLINE bool is_live(const struct geometry *geometry, uint64_t tail, uint64_t entry)
{
    return age_of(geometry, tail, entry) <= geometry->log_bytes;
}

/* Returns the number of lines of a bucket. */
ALWAYS_INLINE uint32_t bucket_lines(const struct geometry *geometry)
{
    return bucket_words(geometry) / LINE_WORDS;
}

/* Returns the number of lines that hold this many words from here on. */
ALWAYS_INLINE uint64_t lines_from(const uint64_t *item, uint64_t words)
{
    uint64_t first = (uintptr_t)item / 8 % LINE_WORDS;
    return (first + words + LINE_WORDS - 1) / LINE_WORDS;
}

/* Returns the size of the key, from the second word of an item [bytes]. */
ALWAYS_INLINE uint32_t key_bytes_of(uint64_t lengths)
{
    return (uint32_t)lengths & 0xff;
}

/* Returns the size of the value, from the second word of an item [bytes]. */
ALWAYS_INLINE uint32_t value_bytes_of(uint64_t lengths)
{
    return (uint32_t)(lengths >> VALUE_BYTES_SHIFT) & VALUE_BYTES_MASK;
}

/* Returns the number of words of an item. */
ALWAYS_INLINE uint64_t item_words(uint32_t key_bytes, uint32_t value_bytes)
{
    return HEADER_WORDS + words_of(key_bytes) + words_of(value_bytes);
}

#ifdef AVX2
/* Functions that may use AVX2. */
#define AVX2_TARGET __attribute__((target("avx2")))

/* The twin of match() with AVX2. */
AVX2_TARGET static inline uint32_t match_avx2(const uint64_t *bucket, uint32_t words, uint64_t tag)
{
    __m256i wanted = _mm256_set1_epi64x((long long)tag);
    uint32_t matching = 0;
    for (uint32_t w = 0; w < words; w += 4) {
        __m256i entries = _mm256_load_si256((const __m256i *)(bucket + w));
        __m256i equal = _mm256_cmpeq_epi64(_mm256_srli_epi64(entries, TAG_SHIFT), wanted);
        matching |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(equal)) << w;
    }
    /* The caller loads the matching entries again, which must happen after these loads. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return matching;
}
#endif

/* Returns the words of a bucket that are entries with this tag, as bits. Tag 0 matches the empty entries. */
ALWAYS_INLINE uint32_t match(const struct geometry *geometry, const uint64_t *bucket, uint64_t tag)
{
    uint32_t matching = 0;
    uint32_t words = bucket_words(geometry);
#ifdef AVX2
    if (geometry->simd) {
        return match_avx2(bucket, words, tag) & ~1u;
    }
#endif
    for (uint32_t w = 1; w < words; w++) {
        matching |= (uint32_t)(LOAD(bucket + w) >> TAG_SHIFT == tag) << w;
    }
    return matching;
}

/* Returns the next word of a key, padded with zeros. */
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

/* Says whether an item belongs to a key. `lengths` receives the item's second word. A reader may see a torn
 * item, but the function never reads outside the log. */
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

/* Result of a search. */
struct found {
    uint32_t word;    /* Word of the bucket; 0: the key was not found. */
    uint64_t entry;   /* The entry in that word. */
    uint64_t *item;   /* The item. */
    uint64_t lengths; /* Second word of the item. */
};

/* Finds a key in its bucket. Adds the lines of the items that belong to other keys. */
ALWAYS_INLINE struct found find(const struct geometry *geometry, const struct partition *partition,
                                const uint64_t *bucket, const struct key *key, uint64_t *lines)
{
    uint64_t tag = tag_of(key->hash);
    for (uint32_t words = match(geometry, bucket, tag); words != 0; words &= words - 1) {
        struct found found = {.word = (uint32_t)__builtin_ctz(words)};
        found.entry = LOAD(bucket + found.word);
        /* The tail is loaded after the entry, so it is certainly past the item. */
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

/* Returns the word of a bucket that a new entry goes to: the first empty one, else the oldest. */
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

/* Copies bytes out of the log. */
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

/* Copies bytes into the log and pads the last word with zeros. */
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

/* Returns the number of lines of an item, up to this many bytes of its value. */
ALWAYS_INLINE uint64_t item_lines(const uint64_t *item, const struct key *key, uint32_t value_bytes)
{
    return lines_from(item, item_words(key->bytes, value_bytes));
}

/* Advances a bucket's version: an odd one stops its readers, an even one admits them again. */
ALWAYS_INLINE void advance_version(uint64_t *bucket)
{
    STORE(bucket, *bucket + 1);
}

/* Replaces one entry of a bucket. */
ALWAYS_INLINE void put_entry(uint64_t *bucket, uint32_t word, uint64_t entry)
{
    advance_version(bucket);
    STORE(bucket + word, entry);
    advance_version(bucket);
}

/* Returns the location that an item of an index has as its value. */
ALWAYS_INLINE uint32_t location_in(const uint64_t *item)
{
    return (uint32_t)item[HEADER_WORDS + 1];
}

/* --- batches ---
 *
 * Keys pass four stages, in groups: prefetch the bucket, prefetch the first line of the item, prefetch the
 * rest of the item, run the operation. */

/* Shape of the pipeline. */
enum {
    /* Keys of a group. The prefetches of a group are close together, so that they overlap even where their
     * pages must be looked up first. */
    GROUP = 32,
    /* Most lines of an item to prefetch; the processor predicts the following lines. */
    REST_LINES = 8,
};

/* The operation, which decides what the stages prefetch. */
enum operation {
    GET,   /* Reads a value. */
    SET,   /* Stores a value. */
    DELETE /* Removes a key. */
};

/* Runs the operation on key i of a batch, in its partition. */
typedef void operation_fn(const struct geometry *geometry, struct partition *partition,
                          const struct batch *batch, uint32_t i, const struct key *key,
                          struct kvc_index_stats *stats);

/* Returns key i of a batch. */
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

/* Prefetches a line. */
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
    struct key key;       /* The key. */
    const uint64_t *item; /* The item that is likely to be the key's, or NULL. */
};

/* First stage: hashes the keys of a group and prefetches their buckets. */
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

/* Second stage: prefetches the first item with the tag of each key. A key without such an item prefetches
 * its bucket again, because a branch would often be mispredicted. `victims`: keys that will be stored in a
 * full bucket prefetch the item that they will evict, because its location is reported. */
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

/* Third stage: prefetches the further lines of each item, if its header says that they exist and the
 * operation needs them. */
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
        words = words < left ? words : left; /* the header may be torn */
        words = words < REST_LINES * LINE_WORDS ? words : REST_LINES * LINE_WORDS;
        uint64_t start = (uintptr_t)item / 8 % LINE_WORDS;
        for (uint64_t w = LINE_WORDS; w < start + words; w += LINE_WORDS) {
            prefetch(item - start + w, write);
        }
    }
}

/* Returns the number of keys in a group of a batch. */
ALWAYS_INLINE uint32_t group_size(uint32_t count, uint64_t group)
{
    uint64_t left = count - group * GROUP;
    return left < GROUP ? (uint32_t)left : GROUP;
}

/* Runs an operation on a batch. `entries`, `simd` and `operation` are constants at the call where speed
 * matters; then the compiler makes a function of its own for each operation. */
ALWAYS_INLINE void run_batch(struct kvc_mica *store, const struct batch *batch, enum operation operation,
                             operation_fn *one, uint32_t count, struct kvc_index_stats *stats,
                             uint32_t entries, bool simd)
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
            const struct key *key = &ring[(g - 3) % 4][i].key;
            struct partition *partition = partitions + partition_number(&geometry, key->hash);
            one(&geometry, partition, batch, (uint32_t)((g - 3) * GROUP) + i, key, &local);
        }
    }
    kvc_index_stats_add(stats, &local);
}

/* --- GET --- */

/* Lets the other hardware thread of a waiting core go ahead. */
ALWAYS_INLINE void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Copies up to `room` bytes of a value. Returns the size of the whole value, or KVC_MICA_NONE. */
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
                bytes = KVC_MICA_NONE; /* the log has overwritten it meanwhile */
            }
        }
        if (LOAD(bucket) == version) {
            return bytes;
        }
    }
}

ALWAYS_INLINE void get_at(const struct geometry *geometry, struct partition *partition,
                          const struct batch *batch, uint32_t i, const struct key *key,
                          struct kvc_index_stats *stats)
{
    bool index = batch->keys == NULL;
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
}

/* --- SET --- */

/* Clears stale entries as the log advances: the whole index for each half of the offsets' range, so that no
 * entry stays long enough to be mistaken for a new one. */
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

/* Appends an item, which must fit into the log, and returns its entry. */
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

/* Gives up the entry that a new one replaces, which may be empty, stale or live. */
ALWAYS_INLINE enum kvc_mica_outcome give_up(const struct geometry *geometry, struct partition *partition,
                                            uint64_t victim, uint32_t *left, struct kvc_index_stats *stats)
{
    if (victim == 0) {
        return KVC_MICA_NEW;
    }
    if (!is_live(geometry, partition->tail, victim)) {
        partition->forgotten++;
        return KVC_MICA_NEW;
    }
    if (left != NULL) {
        *left = location_in(item_at(geometry, partition, victim));
        stats->insert_lines++;
    }
    stats->evicted++;
    return KVC_MICA_EVICTED;
}

/* Stores a value. `left` receives the location that leaves an index; it is NULL if the caller does not need
 * it. */
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
            advance_version(bucket);
            STORE(&found.item[1], lengths);
            copy_in(found.item + HEADER_WORDS + words_of(key->bytes), value->data, value->bytes);
            advance_version(bucket);
            stats->insert_lines += item_lines(found.item, key, value->bytes);
            return KVC_MICA_IN_PLACE;
        }
        stats->insert_lines += item_lines(found.item, key, 0);
    }
    enum kvc_mica_outcome outcome = KVC_MICA_APPENDED;
    if (found.word == 0) {
        found.word = choose_entry(geometry, partition, bucket);
        outcome = give_up(geometry, partition, bucket[found.word], left, stats);
    }
    uint64_t entry = append(geometry, partition, key, value);
    stats->insert_lines += item_lines(item_at(geometry, partition, entry), key, value->bytes);
    put_entry(bucket, found.word, entry);
    clean(geometry, partition);
    return outcome;
}

ALWAYS_INLINE void set_at(const struct geometry *geometry, struct partition *partition,
                          const struct batch *batch, uint32_t i, const struct key *key,
                          struct kvc_index_stats *stats)
{
    struct kvc_mica_value value = batch->keys == NULL
                                      ? (struct kvc_mica_value){&batch->location[i], sizeof(uint32_t)}
                                      : batch->value[i];
    uint32_t location = KVC_LOCATION_NONE;
    uint32_t *left = batch->left != NULL ? &location : NULL;
    enum kvc_mica_outcome outcome = set_one(geometry, partition, key, &value, left, stats);
    if (batch->outcome != NULL) {
        batch->outcome[i] = (uint8_t)outcome;
    }
    if (left != NULL) {
        batch->left[i] = location;
    }
}

/* --- DELETE --- */

/* Deletes a key if its item has this location, or any item if that is KVC_LOCATION_ANY. `left` receives the
 * location that leaves an index; it is NULL if the caller does not need it. */
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

ALWAYS_INLINE void delete_at(const struct geometry *geometry, struct partition *partition,
                             const struct batch *batch, uint32_t i, const struct key *key,
                             struct kvc_index_stats *stats)
{
    uint32_t wanted = batch->keys == NULL ? batch->location[i] : KVC_LOCATION_ANY;
    uint32_t location = KVC_LOCATION_NONE;
    uint32_t *left = batch->left != NULL ? &location : NULL;
    bool erased = delete_one(geometry, partition, key, wanted, left, stats);
    if (batch->erased != NULL) {
        batch->erased[i] = erased;
    }
    if (left != NULL) {
        batch->left[i] = location;
    }
}

/* --- calls --- */

/* `entries` and `simd` are constants where speed matters. */
ALWAYS_INLINE void run_operation(struct kvc_mica *store, enum operation operation, const struct batch *batch,
                                 uint32_t count, struct kvc_index_stats *stats, uint32_t entries, bool simd)
{
    if (operation == GET) {
        run_batch(store, batch, GET, get_at, count, stats, entries, simd);
    } else if (operation == SET) {
        run_batch(store, batch, SET, set_at, count, stats, entries, simd);
    } else {
        run_batch(store, batch, DELETE, delete_at, count, stats, entries, simd);
    }
}

#ifdef AVX2
/* Runs a batch on buckets of the published size, which AVX2 searches. */
AVX2_TARGET static void run_avx2(struct kvc_mica *store, enum operation operation, const struct batch *batch,
                                 uint32_t count, struct kvc_index_stats *stats)
{
    run_operation(store, operation, batch, count, stats, KVC_MICA_ENTRIES, true);
}
#endif

static void run(struct kvc_mica *store, enum operation operation, const struct batch *batch, uint32_t count,
                struct kvc_index_stats *stats)
{
    stats->searches += operation == GET ? count : 0;
    stats->inserts += operation == SET ? count : 0;
    stats->erases += operation == DELETE ? count : 0;
#ifdef AVX2
    if (store->geometry.simd) {
        run_avx2(store, operation, batch, count, stats);
        return;
    }
#endif
    run_operation(store, operation, batch, count, stats, store->geometry.entries, false);
}

void kvc_mica_get(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count,
                  struct kvc_mica_buffer *value, struct kvc_index_stats *stats)
{
    run(store, GET, &(struct batch){.keys = keys, .buffer = value}, count, stats);
}

void kvc_mica_set(struct kvc_mica *store, const struct kvc_mica_keys *keys,
                  const struct kvc_mica_value *value, uint32_t count, uint8_t *outcome,
                  struct kvc_index_stats *stats)
{
    run(store, SET, &(struct batch){.keys = keys, .value = value, .outcome = outcome}, count, stats);
}

void kvc_mica_delete(struct kvc_mica *store, const struct kvc_mica_keys *keys, uint32_t count, bool *erased,
                     struct kvc_index_stats *stats)
{
    run(store, DELETE, &(struct batch){.keys = keys, .erased = erased}, count, stats);
}

/* --- the index interface --- */

/* Size of an item with a hash as its key and a location as its value [bytes]. */
enum { ITEM_BYTES = KVC_MICA_HEADER_BYTES + 16 };

static void index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                         struct kvc_index_stats *stats)
{
    run((struct kvc_mica *)index, GET, &(struct batch){.hash = hash, .found = location}, count, stats);
}

static void index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                         uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    run((struct kvc_mica *)index, SET, &(struct batch){.hash = hash, .location = location, .left = out},
        count, stats);
}

static void index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                        uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    run((struct kvc_mica *)index, DELETE, &(struct batch){.hash = hash, .location = location, .left = out},
        count, stats);
}

static void index_free(struct kvc_index *index)
{
    kvc_mica_free((struct kvc_mica *)index);
}

static uint64_t index_capacity(const struct kvc_index *index)
{
    const struct geometry *geometry = &((const struct kvc_mica *)index)->geometry;
    uint64_t entries = (uint64_t)geometry->partitions * geometry->buckets * geometry->entries;
    uint64_t items = geometry->partitions * (geometry->log_bytes / ITEM_BYTES);
    return entries < items ? entries : items;
}

static uint64_t index_used(const struct kvc_index *index)
{
    struct kvc_mica_usage usage;
    kvc_mica_usage((const struct kvc_mica *)index, &usage);
    return usage.live;
}

static const struct kvc_index_ops index_ops = {
    .free = index_free,
    .search = index_search,
    .peek = index_search,
    .insert = index_insert,
    .erase = index_erase,
    .capacity = index_capacity,
    .used = index_used,
};

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

/* --- the store --- */

enum {
    SHORT_BUCKET_ENTRIES = 7, /* Entries of a bucket of one line. */
    OFFSET_BITS_MIN = 9,
    LOG_BYTES_MIN = 64,
    LOG_SHARE_BITS = 3, /* The log is at most 1/8 of what offsets can tell apart. */
};

/* Returns the size of a partition's index [bytes]. */
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

/* Fills in defaults and checks the parameters. Returns false if one is out of range. */
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
#ifdef AVX2
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
    *store = (struct kvc_mica){.index = {&index_ops}, .geometry = geometry};
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

double kvc_mica_item_bytes(double key_bytes, double value_bytes)
{
    return 8.0 * (double)item_words((uint32_t)key_bytes, (uint32_t)value_bytes);
}
