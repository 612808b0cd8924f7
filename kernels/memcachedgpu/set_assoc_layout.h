/** @file
 * Internal to kernels/memcachedgpu: memory layout of the set-associative table, for host and GPU. Users of
 * set_assoc.h need only the limits.
 *
 * A set is one control line followed by its entries, one per way. The control line has what a search needs
 * first: the lock, the valid flags and the 8-bit key hashes (tags) of all ways. An entry is a header
 * (last-accessed timestamp, item location, value length, flags, key length) and the key.
 *
 * MemcachedGPU (SoCC 2015, sec. 4.2.1) has the valid flag and the tag in each entry's header, so a search
 * goes from header to header. Gathering them changes no result. A GET touches these 64-byte lines:
 *  - A miss touches 1, plus the header line of each way with an equal tag (16/256 on average in a full set).
 *  - A hit with a key of up to 48 bytes touches 2, plus the header lines of ways in front of it with an equal
 *    tag (half as many).
 *  - Every further 64 bytes of key add 1.
 *
 * The paper's layout touches no fewer lines: the headers up to the one that matches, or all of them for a
 * miss. A SET touches the same lines. If a full set must evict, a SET also touches the headers of all
 * entries, because that is where the timestamps are, as published.
 *
 * The price is memory. With its share of the control line, an entry takes 324 bytes for keys of up to 250
 * bytes and 68 bytes for keys of up to 32 bytes. The paper's 45 and 208.5 million entries in 11.75 GB amount
 * to 261 and 56 bytes.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_LAYOUT_H
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/device.h"
#include "kernels/lookup3.h"

/** Limits of a table. */
enum {
    KVC_SET_ASSOC_WAYS = 16,       /**< Ways of a set, as published; also the maximum. */
    KVC_SET_ASSOC_KEY_MAX = 250,   /**< Longest key [bytes]. */
    KVC_SET_ASSOC_LINE_BYTES = 64, /**< Size of a cache line [bytes]. */
};

/** Adds a reader to the lock word, whose low half counts the readers that share the set. */
#define KVC_SET_ASSOC_READER UINT64_C(1)

/** Advances the version in the high half of the lock word, which is odd while a writer holds the set. */
#define KVC_SET_ASSOC_WRITER (UINT64_C(1) << 32)

/** Masks the readers in the lock word. */
#define KVC_SET_ASSOC_READERS (KVC_SET_ASSOC_WRITER - 1)

/** Control line of a set. */
struct kvc_set_assoc_control {
    uint64_t lock;        /**< Lock word. */
    uint32_t valid;       /**< Bit w: way w holds a key. */
    uint32_t unused_1;    /**< Fills the line. */
    uint64_t tag[2];      /**< Byte w, little-endian: tag of way w. */
    uint64_t unused_2[4]; /**< Fills the line. */
};

/** Header of an entry. */
struct kvc_set_assoc_entry {
    uint32_t stamp;       /**< Timestamp of the last access. */
    uint32_t location;    /**< Location of the item. */
    uint32_t value_bytes; /**< Length of the value [bytes]. */
    uint16_t flags;       /**< memcached's opaque flags. */
    uint16_t key_bytes;   /**< Length of the key [bytes]. */
    /* The key follows, padded with zeros to a multiple of 8 bytes. */
};

/** A table, wherever its memory is; kernels take it by value. */
struct kvc_set_assoc_table {
    uint8_t *sets;          /**< Memory of the sets, aligned to 64 bytes. */
    uint32_t set_count;     /**< Number of sets. */
    uint32_t set_bytes;     /**< Size of a set [bytes]. */
    uint32_t entry_bytes;   /**< Size of an entry [bytes]. */
    uint32_t ways;          /**< Entries per set. */
    uint32_t key_bytes_max; /**< Longest key [bytes]. */
};

/** Where a key belongs. */
struct kvc_set_assoc_place {
    uint32_t set; /**< Number of the set. */
    uint8_t tag;  /**< 8-bit hash of the key. */
};

/** Returns the size of an entry with a key of up to `key_bytes_max` bytes [bytes]: 32, 64 or more whole
 * lines, so that no entry straddles a line without need. */
static inline KVC_HOST_DEVICE uint32_t kvc_set_assoc_entry_bytes(uint32_t key_bytes_max)
{
    uint32_t bytes = (uint32_t)sizeof(struct kvc_set_assoc_entry) + key_bytes_max;
    return bytes <= 32
               ? 32
               : (bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES * KVC_SET_ASSOC_LINE_BYTES;
}

/** Returns the size of a set [bytes]. */
static inline KVC_HOST_DEVICE uint32_t kvc_set_assoc_set_bytes(uint32_t ways, uint32_t key_bytes_max)
{
    uint32_t bytes =
        (uint32_t)sizeof(struct kvc_set_assoc_control) + ways * kvc_set_assoc_entry_bytes(key_bytes_max);
    return (bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES * KVC_SET_ASSOC_LINE_BYTES;
}

/** Returns the set and the tag of a key. The primary hash selects the set, so any number of sets works; the
 * secondary hash, which is independent of it, gives the tag. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_place
kvc_set_assoc_place(const struct kvc_set_assoc_table *table, const uint8_t *key, uint32_t key_bytes)
{
    uint64_t hash = kvc_lookup3_inline(key, key_bytes, 0, 0);
    struct kvc_set_assoc_place place;
    place.set = (uint32_t)((hash & 0xffffffffu) * table->set_count >> 32);
    place.tag = (uint8_t)(hash >> 32);
    return place;
}

/** Returns the control line of a set. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_control *
kvc_set_assoc_control(const struct kvc_set_assoc_table *table, uint32_t set)
{
    return (struct kvc_set_assoc_control *)(table->sets + (uint64_t)set * table->set_bytes);
}

/** Returns the entry of a way. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_entry *
kvc_set_assoc_entry(const struct kvc_set_assoc_table *table, struct kvc_set_assoc_control *control,
                    uint32_t way)
{
    return (struct kvc_set_assoc_entry *)((uint8_t *)(control + 1) + way * table->entry_bytes);
}

/** Returns the number of lines from the start of the entry to `bytes` bytes behind it. */
static inline KVC_HOST_DEVICE uint32_t kvc_set_assoc_entry_lines(const struct kvc_set_assoc_entry *entry,
                                                                 uint32_t bytes)
{
    uint32_t offset = (uint32_t)((uintptr_t)entry & (KVC_SET_ASSOC_LINE_BYTES - 1));
    return (offset + bytes + KVC_SET_ASSOC_LINE_BYTES - 1) / KVC_SET_ASSOC_LINE_BYTES;
}

/** Returns how long ago a timestamp is; the least recently used entry has the greatest age. Correct for
 * timestamps up to 2^31 apart in either direction. */
static inline KVC_HOST_DEVICE int32_t kvc_set_assoc_age(uint32_t now, uint32_t stamp)
{
    return (int32_t)(now - stamp);
}

#endif
