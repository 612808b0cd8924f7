/** @file
 * What the source files of the MICA store share: the layout of buckets and items, the search in a bucket, and
 * the copying of items. Internal to the store.
 *
 * The store is split by operation. mica.c creates and frees it; mica_get.c, mica_set.c and mica_delete.c each
 * have one operation, which mica_batch.h runs on the keys of a batch; mica_index.c has the index interface.
 * What the hot paths share is inlined from these headers. */
#ifndef KVC_KERNELS_MICA_MICA_INTERNAL_H
#define KVC_KERNELS_MICA_MICA_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/index.h"
#include "kernels/mica/mica.h"

/* ThreadSanitizer reports a vector load of words that another thread stores as a race; it gets the portable
 * twin. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
/** The store has a twin that searches buckets with AVX2. */
#define KVC_MICA_AVX2 1
#endif

/** Functions of the hot paths, whose arguments are often constants at the call. */
#define KVC_MICA_INLINE static inline __attribute__((always_inline))

/** The layout of buckets and items. */
enum {
    KVC_MICA_LINE_WORDS = 8,                           /**< Words of a 64-byte line. */
    KVC_MICA_HEADER_WORDS = KVC_MICA_HEADER_BYTES / 8, /**< Words of an item's header. */
    KVC_MICA_TAG_SHIFT = 48,                           /**< First bit of an entry's tag. */
    KVC_MICA_VALUE_BYTES_SHIFT = 8,                    /**< First bit of the value's size in a header. */
    KVC_MICA_ROOM_SHIFT = 32,                          /**< First bit of the item's room in a header. */
};

/** The bits of an entry's offset. */
#define KVC_MICA_OFFSET_MASK ((UINT64_C(1) << KVC_MICA_TAG_SHIFT) - 1)

/** The bits of the value's size in a header. */
#define KVC_MICA_VALUE_BYTES_MASK 0xffffffu

/** Loads a word. Optimistic readers need their loads in program order, which acquire order guarantees at no
 * cost on x86. */
#define KVC_MICA_LOAD(from) __atomic_load_n(from, __ATOMIC_ACQUIRE)

/** Stores a word. Readers must see it after the version or the tail that announces it, which release order
 * guarantees at no cost on x86. */
#define KVC_MICA_STORE(to, value) __atomic_store_n(to, value, __ATOMIC_RELEASE)

/** A partition.
 *
 * A bucket is 1 + entries words: the version, which is odd while the writer changes the bucket, and the
 * entries, of which 0 is an empty one. An item is words, too: the hash; the room in words (high half), the
 * bytes of the value (24 bits) and of the key (8 bits); the key; the value. */
struct kvc_mica_partition {
    uint64_t *bucket; /**< The index. */
    uint64_t *log;    /**< The log. */
    /** Bytes ever appended to the log. A new tail is announced before the bytes are written, so that a reader
     * who has seen any of them notices. It has a line of its own, together with what only the writer uses
     * [bytes]. */
    _Alignas(64) uint64_t tail;
    uint32_t next_clean; /**< The next bucket to clear stale entries of. */
    uint64_t cleaned;    /**< Buckets cleaned since the store was created. */
    uint64_t forgotten;  /**< Stale entries cleared or used again since the store was created. */
};

/** The shape of all partitions. */
struct kvc_mica_geometry {
    uint32_t entries;     /**< Entries of a bucket; a constant wherever this is inlined. */
    bool simd;            /**< Whether buckets are searched with AVX2. */
    uint32_t partitions;  /**< Partitions. */
    uint32_t buckets;     /**< Buckets of a partition. */
    uint64_t log_bytes;   /**< Size of a log [bytes]. */
    uint64_t offset_mask; /**< The bits of an offset that are used. */
    uint32_t offset_bits; /**< Their number. */
    uint64_t seed;        /**< Seed of the key hash. */
};

/** The store. */
struct kvc_mica {
    struct kvc_index index;               /**< The index interface; the first member. */
    struct kvc_mica_geometry geometry;    /**< The shape of the partitions. */
    struct kvc_mica_partition *partition; /**< The partitions. */
};

/** A key. */
struct kvc_mica_key {
    const uint8_t *data; /**< Its bytes. */
    uint32_t bytes;      /**< Its size [bytes]. */
    uint64_t hash;       /**< Its hash. */
};

/** The keys of a batch and where their results go. A call of the store's functions or of its index interface
 * sets the members that it has; the others are NULL. */
struct kvc_mica_batch {
    const struct kvc_mica_keys *keys;   /**< The keys; NULL: the hashes are the keys, of an index. */
    const uint64_t *hash;               /**< Keys of an index. */
    struct kvc_mica_buffer *buffer;     /**< Buffers of GETs. */
    const struct kvc_mica_value *value; /**< Values of SETs. */
    uint8_t *outcome;                   /**< Outcomes of SETs. */
    bool *erased;                       /**< Results of deletions. */
    uint32_t *found;                    /**< Locations found in an index. */
    const uint32_t *location;           /**< Locations to store in an index, or to erase. */
    uint32_t *left;                     /**< Locations that have left an index. */
};

/** Runs a batch of GETs. */
void kvc_mica_run_get(struct kvc_mica *store, const struct kvc_mica_batch *batch, uint32_t count,
                      struct kvc_index_stats *stats);

/** Runs a batch of SETs. */
void kvc_mica_run_set(struct kvc_mica *store, const struct kvc_mica_batch *batch, uint32_t count,
                      struct kvc_index_stats *stats);

/** Runs a batch of deletions. */
void kvc_mica_run_delete(struct kvc_mica *store, const struct kvc_mica_batch *batch, uint32_t count,
                         struct kvc_index_stats *stats);

/** Operations of the index interface. */
extern const struct kvc_index_ops kvc_mica_index_ops;

/** Words that hold this many bytes. */
KVC_MICA_INLINE uint64_t kvc_mica_words_of(uint64_t bytes)
{
    return (bytes + 7) / 8;
}

/** The partition of a hash. */
KVC_MICA_INLINE uint32_t kvc_mica_partition_number(const struct kvc_mica_geometry *geometry, uint64_t hash)
{
    return (uint32_t)((hash >> KVC_MICA_TAG_SHIFT) * geometry->partitions >> 16);
}

/** Words of a bucket. */
KVC_MICA_INLINE uint32_t kvc_mica_bucket_words(const struct kvc_mica_geometry *geometry)
{
    return geometry->entries + 1;
}

/** The bucket of a hash. */
KVC_MICA_INLINE uint64_t *kvc_mica_bucket_at(const struct kvc_mica_geometry *geometry,
                                             const struct kvc_mica_partition *partition, uint64_t hash)
{
    uint64_t bucket = (hash & 0xffffffffu) * geometry->buckets >> 32;
    return partition->bucket + bucket * kvc_mica_bucket_words(geometry);
}

/** The tag of a hash; never 0, so that an entry never equals an empty one. */
KVC_MICA_INLINE uint64_t kvc_mica_tag_of(uint64_t hash)
{
    uint64_t tag = hash >> 32 & 0xffff;
    return tag != 0 ? tag : 1;
}

/** The place in the log that an entry refers to. */
KVC_MICA_INLINE uint64_t *kvc_mica_item_at(const struct kvc_mica_geometry *geometry,
                                           const struct kvc_mica_partition *partition, uint64_t entry)
{
    return partition->log + (entry & KVC_MICA_OFFSET_MASK & (geometry->log_bytes - 1)) / 8;
}

/** Distance from an entry's item to the tail, which grows with the item's age [bytes]. */
KVC_MICA_INLINE uint64_t kvc_mica_age_of(const struct kvc_mica_geometry *geometry, uint64_t tail,
                                         uint64_t entry)
{
    return (tail - entry) & geometry->offset_mask;
}

/** Whether the item of an entry is still in the log. */
KVC_MICA_INLINE bool kvc_mica_is_live(const struct kvc_mica_geometry *geometry, uint64_t tail, uint64_t entry)
{
    return kvc_mica_age_of(geometry, tail, entry) <= geometry->log_bytes;
}

/** Lines of a bucket. */
KVC_MICA_INLINE uint32_t kvc_mica_bucket_lines(const struct kvc_mica_geometry *geometry)
{
    return kvc_mica_bucket_words(geometry) / KVC_MICA_LINE_WORDS;
}

/** Lines that hold this many words from here on. */
KVC_MICA_INLINE uint64_t kvc_mica_lines_from(const uint64_t *item, uint64_t words)
{
    uint64_t first = (uintptr_t)item / 8 % KVC_MICA_LINE_WORDS;
    return (first + words + KVC_MICA_LINE_WORDS - 1) / KVC_MICA_LINE_WORDS;
}

/** Size of the key, from the second word of an item [bytes]. */
KVC_MICA_INLINE uint32_t kvc_mica_key_bytes_of(uint64_t lengths)
{
    return (uint32_t)lengths & 0xff;
}

/** Size of the value, from the second word of an item [bytes]. */
KVC_MICA_INLINE uint32_t kvc_mica_value_bytes_of(uint64_t lengths)
{
    return (uint32_t)(lengths >> KVC_MICA_VALUE_BYTES_SHIFT) & KVC_MICA_VALUE_BYTES_MASK;
}

/** Words of an item. */
KVC_MICA_INLINE uint64_t kvc_mica_item_words(uint32_t key_bytes, uint32_t value_bytes)
{
    return KVC_MICA_HEADER_WORDS + kvc_mica_words_of(key_bytes) + kvc_mica_words_of(value_bytes);
}

#ifdef KVC_MICA_AVX2
/** Functions that may use AVX2. */
#define KVC_MICA_AVX2_TARGET __attribute__((target("avx2")))

/** The twin of kvc_mica_match() with AVX2. */
KVC_MICA_AVX2_TARGET static inline uint32_t kvc_mica_match_avx2(const uint64_t *bucket, uint32_t words,
                                                                uint64_t tag)
{
    __m256i wanted = _mm256_set1_epi64x((long long)tag);
    uint32_t matching = 0;
    for (uint32_t w = 0; w < words; w += 4) {
        __m256i entries = _mm256_load_si256((const __m256i *)(bucket + w));
        __m256i equal = _mm256_cmpeq_epi64(_mm256_srli_epi64(entries, KVC_MICA_TAG_SHIFT), wanted);
        matching |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(equal)) << w;
    }
    /* The caller loads the matching entries again, which must happen after these loads. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return matching;
}
#endif

/** Words of a bucket that are entries with this tag, as bits. Tag 0 matches the empty entries. */
KVC_MICA_INLINE uint32_t kvc_mica_match(const struct kvc_mica_geometry *geometry, const uint64_t *bucket,
                                        uint64_t tag)
{
    uint32_t matching = 0;
    uint32_t words = kvc_mica_bucket_words(geometry);
#ifdef KVC_MICA_AVX2
    if (geometry->simd) {
        return kvc_mica_match_avx2(bucket, words, tag) & ~1u;
    }
#endif
    for (uint32_t w = 1; w < words; w++) {
        matching |= (uint32_t)(KVC_MICA_LOAD(bucket + w) >> KVC_MICA_TAG_SHIFT == tag) << w;
    }
    return matching;
}

/** The next word of a key, padded with zeros. */
KVC_MICA_INLINE uint64_t kvc_mica_key_word(const struct kvc_mica_key *key, uint32_t at)
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

/** Whether an item belongs to a key. `lengths` receives the item's second word. A reader may see a torn item,
 * but the function never reads outside the log. */
KVC_MICA_INLINE bool kvc_mica_has_key(const struct kvc_mica_geometry *geometry,
                                      const struct kvc_mica_partition *partition, const uint64_t *item,
                                      const struct kvc_mica_key *key, uint64_t *lengths, uint64_t *lines)
{
    uint64_t hash = KVC_MICA_LOAD(&item[0]);
    *lengths = KVC_MICA_LOAD(&item[1]);
    uint64_t words = kvc_mica_item_words(key->bytes, kvc_mica_value_bytes_of(*lengths));
    if (hash != key->hash || kvc_mica_key_bytes_of(*lengths) != key->bytes ||
        (uint64_t)(item - partition->log) + words > geometry->log_bytes / 8) {
        ++*lines;
        return false;
    }
    bool same = true;
    uint32_t at = 0;
    for (; same && at < key->bytes; at += 8) {
        same = KVC_MICA_LOAD(&item[KVC_MICA_HEADER_WORDS + at / 8]) == kvc_mica_key_word(key, at);
    }
    if (!same) {
        *lines += kvc_mica_lines_from(item, KVC_MICA_HEADER_WORDS + at / 8);
    }
    return same;
}

/** Where a key was found. */
struct kvc_mica_found {
    uint32_t word;    /**< Word of the bucket; 0: the key was not found. */
    uint64_t entry;   /**< The entry in that word. */
    uint64_t *item;   /**< The item. */
    uint64_t lengths; /**< Second word of the item. */
};

/** Finds a key in its bucket. Adds the lines of the items that belong to other keys. */
KVC_MICA_INLINE struct kvc_mica_found kvc_mica_find(const struct kvc_mica_geometry *geometry,
                                                    const struct kvc_mica_partition *partition,
                                                    const uint64_t *bucket, const struct kvc_mica_key *key,
                                                    uint64_t *lines)
{
    uint64_t tag = kvc_mica_tag_of(key->hash);
    for (uint32_t words = kvc_mica_match(geometry, bucket, tag); words != 0; words &= words - 1) {
        struct kvc_mica_found found = {.word = (uint32_t)__builtin_ctz(words)};
        found.entry = KVC_MICA_LOAD(bucket + found.word);
        /* The tail is loaded after the entry, so it is certainly behind the item. */
        if (!kvc_mica_is_live(geometry, KVC_MICA_LOAD(&partition->tail), found.entry)) {
            continue;
        }
        found.item = kvc_mica_item_at(geometry, partition, found.entry);
        if (kvc_mica_has_key(geometry, partition, found.item, key, &found.lengths, lines)) {
            return found;
        }
    }
    return (struct kvc_mica_found){0};
}

/** The word of a bucket that a new entry goes to: the first empty one, else the oldest. */
KVC_MICA_INLINE uint32_t kvc_mica_choose_entry(const struct kvc_mica_geometry *geometry,
                                               const struct kvc_mica_partition *partition,
                                               const uint64_t *bucket)
{
    uint32_t empty = kvc_mica_match(geometry, bucket, 0);
    if (empty != 0) {
        return (uint32_t)__builtin_ctz(empty);
    }
    uint32_t oldest = 1;
    uint64_t oldest_age = 0;
    for (uint32_t w = 1; w < kvc_mica_bucket_words(geometry); w++) {
        uint64_t age = kvc_mica_age_of(geometry, partition->tail, bucket[w]);
        oldest = age > oldest_age ? w : oldest;
        oldest_age = age > oldest_age ? age : oldest_age;
    }
    return oldest;
}

/** Copies bytes out of the log. */
KVC_MICA_INLINE void kvc_mica_copy_out(const uint64_t *words, uint8_t *to, uint32_t bytes)
{
    uint32_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t word = KVC_MICA_LOAD(&words[at / 8]);
        memcpy(to + at, &word, 8);
    }
    if (at < bytes) {
        uint64_t word = KVC_MICA_LOAD(&words[at / 8]);
        memcpy(to + at, &word, bytes - at);
    }
}

/** Copies bytes into the log and pads the last word with zeros. */
KVC_MICA_INLINE void kvc_mica_copy_in(uint64_t *words, const uint8_t *from, uint32_t bytes)
{
    uint32_t at = 0;
    uint64_t word = 0;
    for (; at + 8 <= bytes; at += 8) {
        memcpy(&word, from + at, 8);
        KVC_MICA_STORE(&words[at / 8], word);
    }
    if (at < bytes) {
        word = 0;
        memcpy(&word, from + at, bytes - at);
        KVC_MICA_STORE(&words[at / 8], word);
    }
}

/** Lines of an item, up to this many bytes of its value. */
KVC_MICA_INLINE uint64_t kvc_mica_item_lines(const uint64_t *item, const struct kvc_mica_key *key,
                                             uint32_t value_bytes)
{
    return kvc_mica_lines_from(item, kvc_mica_item_words(key->bytes, value_bytes));
}

/** Makes a bucket's version odd, which stops its readers. */
KVC_MICA_INLINE void kvc_mica_begin_change(uint64_t *bucket)
{
    KVC_MICA_STORE(bucket, *bucket + 1);
}

/** Makes a bucket's version even again. */
KVC_MICA_INLINE void kvc_mica_end_change(uint64_t *bucket)
{
    KVC_MICA_STORE(bucket, *bucket + 1);
}

/** Replaces one entry of a bucket. */
KVC_MICA_INLINE void kvc_mica_put_entry(uint64_t *bucket, uint32_t word, uint64_t entry)
{
    kvc_mica_begin_change(bucket);
    KVC_MICA_STORE(bucket + word, entry);
    kvc_mica_end_change(bucket);
}

/** The location that an item of an index has as its value. */
KVC_MICA_INLINE uint32_t kvc_mica_location_in(const uint64_t *item)
{
    return (uint32_t)item[KVC_MICA_HEADER_WORDS + 1];
}

#endif
