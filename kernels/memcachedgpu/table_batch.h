/** @file
 * Internal to kernels/memcachedgpu: a batch of operations on the hopscotch or the chained table, for host and
 * GPU.
 *
 * Keys are of any size or 8-byte hashes, and the batch handles whole items or locations only.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_TABLE_BATCH_H
#define KVC_KERNELS_MEMCACHEDGPU_TABLE_BATCH_H

#include "kernels/memcachedgpu/set_assoc.h"

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

/* --- entries: a header and the key, as in the set-associative table --- */

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

#endif
