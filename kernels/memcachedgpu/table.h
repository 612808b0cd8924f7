/** @file
 * The common part of MemcachedGPU's three tables: set_assoc.h, hopscotch.h and chained.h.
 *
 * All three map keys of up to 250 bytes to items, in batches, and are also an index of 8-byte keys (index.h).
 * They differ in where a key may lie and in which item leaves when there is no room.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_TABLE_H
#define KVC_KERNELS_MEMCACHEDGPU_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/device.h"
#include "kernels/index.h"
#include "kernels/lookup3.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Limits of a table. */
enum {
    KVC_SET_ASSOC_WAYS = 16,       /**< Ways of a set, as published; also the maximum. */
    KVC_SET_ASSOC_KEY_MAX = 250,   /**< Longest key [bytes]. */
    KVC_SET_ASSOC_LINE_BYTES = 64, /**< Size of a cache line [bytes]. */
};

/** What the table stores under a key. */
struct kvc_set_assoc_item {
    uint32_t location;    /**< Location of the item, below KVC_LOCATION_ANY; KVC_LOCATION_NONE: no item. */
    uint32_t value_bytes; /**< Length of the value [bytes]. */
    uint32_t stamp;       /**< Timestamp of the last access. */
    uint16_t flags;       /**< memcached's opaque flags. */
};

/** Keys of a batch: key i is the bytes[i] bytes at keys + offset[i].
 *
 * A key that is empty or longer than key_bytes_max is never found and never inserted.
 */
struct kvc_set_assoc_keys {
    const uint8_t *keys;    /**< Buffer that contains the keys. */
    const uint32_t *offset; /**< Offsets of the keys in the buffer [bytes]. */
    const uint8_t *bytes;   /**< Lengths of the keys [bytes]. */
};

/** Arrays of a batch. */
struct kvc_table_batch {
    struct kvc_set_assoc_keys keys;        /**< The keys, unless `hash` is given. */
    const uint64_t *hash;                  /**< Hashes, each a key of 8 bytes; may be NULL. */
    const struct kvc_set_assoc_item *item; /**< Items to store; may be NULL. */
    const uint32_t *location;              /**< Locations to store or to erase; may be NULL. */
    /** Receives items that were found or that left the table; may be NULL. */
    struct kvc_set_assoc_item *item_out;
    uint32_t *location_out; /**< Receives their locations; may be NULL. */
};

/** A key. */
struct kvc_table_key {
    const uint8_t *data; /**< Bytes of the key. */
    uint32_t bytes;      /**< Length of the key [bytes]. */
};

/** Returns key i of a batch. */
static inline KVC_HOST_DEVICE struct kvc_table_key kvc_table_key(const struct kvc_table_batch *batch,
                                                                 uint32_t i)
{
    struct kvc_table_key key;
    if (batch->hash != NULL) {
        key.data = (const uint8_t *)&batch->hash[i];
        key.bytes = (uint32_t)sizeof(uint64_t);
    } else {
        key.data = batch->keys.keys + batch->keys.offset[i];
        key.bytes = batch->keys.bytes[i];
    }
    return key;
}

/** Says whether a key has a valid length. */
static inline KVC_HOST_DEVICE bool kvc_table_key_valid(struct kvc_table_key key, uint32_t key_bytes_max)
{
    return key.bytes - 1 < key_bytes_max;
}

/** Returns the item that operation i stores. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_item kvc_table_item(const struct kvc_table_batch *batch,
                                                                       uint32_t i)
{
    struct kvc_set_assoc_item item = {KVC_LOCATION_NONE, 0, 0, 0};
    if (batch->item != NULL) {
        item = batch->item[i];
    } else if (batch->location != NULL) {
        item.location = batch->location[i];
    }
    return item;
}

/** Returns the location that operation i erases, or KVC_LOCATION_ANY. */
static inline KVC_HOST_DEVICE uint32_t kvc_table_wanted(const struct kvc_table_batch *batch, uint32_t i)
{
    return batch->location != NULL ? batch->location[i] : KVC_LOCATION_ANY;
}

/** Stores the result of operation i. */
static inline KVC_HOST_DEVICE void kvc_table_answer(const struct kvc_table_batch *batch, uint32_t i,
                                                    struct kvc_set_assoc_item item)
{
    if (batch->item_out != NULL) {
        batch->item_out[i] = item;
    }
    if (batch->location_out != NULL) {
        batch->location_out[i] = item.location;
    }
}

/** Operations of a batch. */
enum kvc_table_operation {
    KVC_TABLE_SEARCH, /**< Looks up keys and records the accesses. */
    KVC_TABLE_INSERT, /**< Stores items. */
    KVC_TABLE_ERASE,  /**< Erases keys. */
};

struct kvc_table;

/** Performs a batch of one operation on a table of one kind and adds what it counts to `stats`, except the
 * numbers of searches, inserts and erases. */
typedef void kvc_table_run_fn(struct kvc_table *table, const struct kvc_table_batch *batch, uint32_t count,
                              uint32_t now, struct kvc_index_stats *stats);

/** The part of a table in host memory that is common to all kinds, and its first member. */
struct kvc_table {
    struct kvc_index index;       /**< The table as an index of 8-byte keys. */
    kvc_table_run_fn *const *run; /**< Performs a batch, by enum kvc_table_operation. */
    uint32_t clock;               /**< Next timestamp that the functions of `index` give out. */
};

/** Looks up `count` keys and stores their items in `items`; a missing key gives the location
 * KVC_LOCATION_NONE.
 *
 * Items that are found get the timestamp `now`. Timestamps may wrap around, but those in the table must be
 * within 2^31 of each other. A chained table moves the items in its queue, in order, unless its bump_after
 * spares them; these keep their timestamps.
 */
void kvc_table_search(struct kvc_table *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                      uint32_t now, struct kvc_set_assoc_item *items, struct kvc_index_stats *stats);

/** Stores items[i] under key i, in order, with the timestamp now + i; the timestamps in `items` are ignored.
 *
 * out[i] receives the item that was replaced or evicted. If the key has no valid length, or if the location
 * is not below KVC_LOCATION_ANY, the item is dropped, counted in stats->dropped and returned in out[i]. `out`
 * may be NULL.
 */
void kvc_table_insert(struct kvc_table *table, const struct kvc_set_assoc_keys *keys,
                      const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                      struct kvc_set_assoc_item *out, struct kvc_index_stats *stats);

/** Erases key i if its location is location[i], or in any case if that is KVC_LOCATION_ANY or `location` is
 * NULL.
 *
 * out[i] receives the erased item. `out` may be NULL.
 */
void kvc_table_erase(struct kvc_table *table, const struct kvc_set_assoc_keys *keys, const uint32_t *location,
                     uint32_t count, struct kvc_set_assoc_item *out, struct kvc_index_stats *stats);

/** See kvc_index_search. */
void kvc_table_index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                            struct kvc_index_stats *stats);

/** See kvc_index_insert. */
void kvc_table_index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                            uint32_t count, uint32_t *out, struct kvc_index_stats *stats);

/** See kvc_index_erase. */
void kvc_table_index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                           uint32_t count, uint32_t *out, struct kvc_index_stats *stats);

#ifdef __cplusplus
}
#endif

/* --- entries: a header and the key --- */

/** Header of an entry. */
struct kvc_set_assoc_entry {
    uint32_t stamp;       /**< Timestamp of the last access. */
    uint32_t location;    /**< Location of the item. */
    uint32_t value_bytes; /**< Length of the value [bytes]. */
    uint16_t flags;       /**< memcached's opaque flags. */
    uint16_t key_bytes;   /**< Length of the key [bytes]. */
    /* The key follows, padded with zeros to a multiple of 8 bytes. */
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

/** Returns an item without a location. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_item kvc_table_no_item(void)
{
    struct kvc_set_assoc_item item = {KVC_LOCATION_NONE, 0, 0, 0};
    return item;
}

/** Returns the item of an entry. */
static inline KVC_HOST_DEVICE struct kvc_set_assoc_item
kvc_table_entry_item(const struct kvc_set_assoc_entry *entry)
{
    struct kvc_set_assoc_item item = {entry->location, entry->value_bytes, entry->stamp, entry->flags};
    return item;
}

/** Stores an item and its timestamp in an entry. */
static inline KVC_HOST_DEVICE void kvc_table_entry_set_item(struct kvc_set_assoc_entry *entry,
                                                            const struct kvc_set_assoc_item *item,
                                                            uint32_t now)
{
    entry->stamp = now;
    entry->location = item->location;
    entry->value_bytes = item->value_bytes;
    entry->flags = item->flags;
}

/** Stores a key in an entry, padded with zeros to a multiple of 8 bytes. */
static inline KVC_HOST_DEVICE void kvc_table_entry_set_key(struct kvc_set_assoc_entry *entry,
                                                           struct kvc_table_key key)
{
    uint64_t *words = (uint64_t *)(entry + 1);
    entry->key_bytes = (uint16_t)key.bytes;
    for (uint32_t at = 0; at < key.bytes; at += 8) {
        uint32_t left = key.bytes - at;
        words[at / 8] = kvc_bytes_word_64(key.data + at, left < 8 ? left : 8);
    }
}

/** Says whether the entry has this key, and how many bytes of the entry were read until that was clear. */
static inline KVC_HOST_DEVICE bool kvc_table_entry_has_key(const struct kvc_set_assoc_entry *entry,
                                                           struct kvc_table_key key, uint32_t *bytes_read)
{
    const uint64_t *words = (const uint64_t *)(entry + 1);
    *bytes_read = (uint32_t)sizeof(*entry);
    if (entry->key_bytes != key.bytes) {
        return false;
    }
    bool same = true;
    uint32_t at = 0;
    for (; same && at < key.bytes; at += 8) {
        uint32_t left = key.bytes - at;
        same = words[at / 8] == kvc_bytes_word_64(key.data + at, left < 8 ? left : 8);
    }
    *bytes_read += at;
    return same;
}

/* --- batches in host memory --- */

/** Functions of the hot path, which must be inlined so that constant parameters specialise them. */
#define KVC_TABLE_INLINE static inline __attribute__((always_inline))

/** Keys pass through the steps of a batch in groups of this size. The lines of a group are prefetched in one
 * tight loop: a prefetch that needs a page walk holds back everything behind it, so page walks overlap only
 * if the prefetches are close together. */
#define KVC_TABLE_GROUP 32u

/** Returns the number of groups in a batch. */
KVC_TABLE_INLINE uint64_t kvc_table_groups(uint32_t count)
{
    return ((uint64_t)count + KVC_TABLE_GROUP - 1) / KVC_TABLE_GROUP;
}

/** Returns the number of keys in a group of a batch. */
KVC_TABLE_INLINE uint32_t kvc_table_group_size(uint32_t count, uint64_t group)
{
    uint64_t left = count - group * KVC_TABLE_GROUP;
    return left < KVC_TABLE_GROUP ? (uint32_t)left : KVC_TABLE_GROUP;
}

/** Returns a batch of 8-byte hashes without its other members.
 *
 * A function that runs such a copy knows the length of the keys and which arrays there are. This saves a
 * quarter of its instructions. */
KVC_TABLE_INLINE struct kvc_table_batch kvc_table_batch_of_hashes(const struct kvc_table_batch *batch)
{
    struct kvc_table_batch only = {{NULL, NULL, NULL}, NULL, NULL, NULL, NULL, NULL};
    only.hash = batch->hash;
    only.location = batch->location;
    only.location_out = batch->location_out;
    return only;
}

/** Returns a batch of keys of any size without its other members. */
KVC_TABLE_INLINE struct kvc_table_batch kvc_table_batch_of_keys(const struct kvc_table_batch *batch)
{
    struct kvc_table_batch only = {{NULL, NULL, NULL}, NULL, NULL, NULL, NULL, NULL};
    only.keys = batch->keys;
    only.item = batch->item;
    only.location = batch->location;
    only.item_out = batch->item_out;
    return only;
}

/** Defines the function NAME, which performs OPERATION with RUN, a KVC_TABLE_INLINE function whose last
 * parameter is the operation. The two kinds of batches are told apart here, so that each gets code of its
 * own; three separate functions keep the code of each operation small. */
#define KVC_TABLE_RUN_ONE(NAME, RUN, OPERATION)                                                              \
    static __attribute__((noinline)) void NAME(struct kvc_table *table, const struct kvc_table_batch *batch, \
                                               uint32_t count, uint32_t now, struct kvc_index_stats *stats)  \
    {                                                                                                        \
        if (batch->hash != NULL) {                                                                           \
            const struct kvc_table_batch only = kvc_table_batch_of_hashes(batch);                            \
            RUN(table, &only, count, now, stats, OPERATION);                                                 \
        } else {                                                                                             \
            const struct kvc_table_batch only = kvc_table_batch_of_keys(batch);                              \
            RUN(table, &only, count, now, stats, OPERATION);                                                 \
        }                                                                                                    \
    }

/** Defines `run_by_operation`, the member `run` of a kind of table. */
#define KVC_TABLE_RUN(RUN)                                                                                   \
    KVC_TABLE_RUN_ONE(run_search, RUN, KVC_TABLE_SEARCH)                                                     \
    KVC_TABLE_RUN_ONE(run_insert, RUN, KVC_TABLE_INSERT)                                                     \
    KVC_TABLE_RUN_ONE(run_erase, RUN, KVC_TABLE_ERASE)                                                       \
    static kvc_table_run_fn *const run_by_operation[] = {run_search, run_insert, run_erase};

#endif
