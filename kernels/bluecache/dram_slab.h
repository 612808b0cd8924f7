/** @file
 * BlueCache's key-value data store in DRAM: slab classes whose victim is the oldest of four random
 * items.
 *
 * Source: BlueCache, VLDB 10(4) 2016, sec. 3.4. The store follows the paper in these points:
 *  - Every slab class holds items of one size.
 *  - Each item keeps a backward pointer to its index entry, which is changed when the item moves to flash.
 *  - The victim is the item with the oldest timestamp among four items drawn at random from its class.
 *  - An item that was deleted or replaced is not freed. Only its index entry is removed, and the item stays
 *    until it is chosen as a victim. The caller then sees that no index entry points to it.
 *
 * The paper leaves these points open; the choices are ours. The smallest class has 64 bytes, and each
 * doubling of the size has four classes. Slabs have 2 MiB and are assigned to a class when it needs one, for
 * good. The timestamp is stored in the item as well as in its index entry, so that drawing four items reads
 * four lines instead of eight. The same item may be drawn twice.
 *
 * An item consists of a header of 16 bytes (backward pointer, lengths and timestamp), the key and the value.
 * The pointer of an item is the offset of its first byte in the store, below 2^40.
 *
 * Not modelled: adapting the size of the store to the size of the index. A store may be used by one thread at
 * a time. */
#ifndef KVC_KERNELS_BLUECACHE_DRAM_SLAB_H
#define KVC_KERNELS_BLUECACHE_DRAM_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    KVC_DRAM_SLAB_BYTES = 2 << 20,   /**< Usual size of a slab [bytes]. */
    KVC_DRAM_SLAB_HEADER_BYTES = 16, /**< Size of an item header [bytes]. */
    KVC_DRAM_SLAB_SAMPLES = 4,       /**< Items drawn for each victim. */
};

struct kvc_dram_slab;

/** Parameters of a store. */
struct kvc_dram_slab_params {
    uint64_t bytes; /**< Capacity, rounded up to whole slabs; 0 to 512 GiB [bytes]. */
    uint64_t seed;  /**< Seed of the random draws. */
    /** Size of a slab, a multiple of 16, or 0 for KVC_DRAM_SLAB_BYTES; a store for a sample of the keys has
     * smaller slabs [bytes]. */
    uint32_t slab_bytes;
};

/** Counters of a store; every call adds to them. A line is a 64-byte line of an item that is read or written.
 */
struct kvc_dram_slab_stats {
    uint64_t reserved;      /**< Items reserved, fresh ones and victims. */
    uint64_t evicted;       /**< Victims among the reserved items. */
    uint64_t sampled_lines; /**< Headers read to choose victims [lines]. */
    uint64_t gets;          /**< Items asked for by kvc_dram_slab_get. */
    uint64_t get_hits;      /**< Gets whose item had the key. */
    uint64_t get_lines;     /**< Headers and keys read by gets [lines]. */
    uint64_t writes;        /**< Items written. */
    uint64_t write_lines;   /**< Lines of the written items [lines]. */
};

/** Contents of an item. */
struct kvc_dram_item {
    uint64_t back;        /**< Backward pointer: position of its index entry, below 2^40. */
    uint32_t timestamp;   /**< Time of the last access, in ticks of the caller's clock. */
    uint32_t key_bytes;   /**< Length of the key, at most 255 [bytes]. */
    uint32_t value_bytes; /**< Length of the value, below 1 MiB [bytes]. */
    const uint8_t *key;   /**< The key; may be NULL if it is empty. */
    const uint8_t *value; /**< The value; may be NULL if it is empty. */
};

/** Frees a store. NULL is allowed. */
void kvc_dram_slab_free(struct kvc_dram_slab *slab);

/** Creates an empty store. Returns NULL with errno EINVAL (the capacity is too large, or
 * the size of a slab is no multiple of 16) or ENOMEM. */
struct kvc_dram_slab *kvc_dram_slab_create(const struct kvc_dram_slab_params *params);

/** Returns the size of the class for a key of at most 255 bytes and a value below 1 MiB [bytes]; 0 if either
 * is too long.
 */
uint32_t kvc_dram_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes);

/** Reserves up to `count` items of the class for this size; pointer[i] leads to item i. The first *fresh of
 * them have never been used. The others are victims: they stay intact until they are written, so that the
 * caller can first save what is still needed. Ages are measured back from `now`. Returns the number of
 * reserved items. It is less than `count` only if no slab is left and the class has nothing to evict, because
 * it has no slab or all of its items are reserved; and it is 0 if the size exceeds the limits or a slab. */
uint32_t kvc_dram_slab_reserve(struct kvc_dram_slab *slab, uint32_t key_bytes, uint32_t value_bytes,
                               uint32_t now, uint32_t count, uint64_t *pointer, uint32_t *fresh,
                               struct kvc_dram_slab_stats *stats);

/** Writes a reserved item. Its size must fit the class that it was reserved from. */
void kvc_dram_slab_write(struct kvc_dram_slab *slab, uint64_t pointer, const struct kvc_dram_item *item,
                         struct kvc_dram_slab_stats *stats);

/** Reads the contents of an item. Returns false if there is none at this pointer; any pointer is allowed. The
 * key and the value stay in place until the item is written again. */
bool kvc_dram_slab_item(const struct kvc_dram_slab *slab, uint64_t pointer, struct kvc_dram_item *item);

/** Prefetches the first line of an item; any pointer is allowed. */
void kvc_dram_slab_prefetch(const struct kvc_dram_slab *slab, uint64_t pointer);

/** A batch of gets. */
struct kvc_dram_slab_gets {
    uint32_t count;           /**< Number of gets. */
    const uint64_t *pointer;  /**< Pointer to each item; any pointer is allowed. */
    const uint8_t *keys;      /**< The keys: key i starts at keys + i * stride. */
    uint64_t stride;          /**< Distance of the keys [bytes]. */
    const uint8_t *key_bytes; /**< Length of each key [bytes]. */
    uint32_t now;             /**< Time that hits are stamped with, in ticks of the caller's clock. */
    const uint8_t *
        *value; /**< Output: each value, or NULL for a miss. It stays in place until the next write. */
    uint32_t *value_bytes; /**< Output: length of each value, 0 for a miss [bytes]. */
    bool peeks;            /**< Hits are not stamped and keep their age. */
};

/** Gets a batch of items, prefetching ahead. An item with another key is a miss. */
void kvc_dram_slab_get(struct kvc_dram_slab *slab, const struct kvc_dram_slab_gets *gets,
                       struct kvc_dram_slab_stats *stats);

/** Capacity of a store in whole slabs [bytes]. */
uint64_t kvc_dram_slab_capacity_bytes(const struct kvc_dram_slab *slab);

#ifdef __cplusplus
}
#endif

#endif
