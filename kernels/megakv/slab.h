/** @file
 * A slab store: items in memory slabs of one size class each, addressed by 32-bit locations and evicted by
 * CLOCK.
 *
 * Source: Mega-KV, VLDB J. 26(5) 2017, sec. 7.2 and 7.4. Memory is cut into slabs of 2 MiB. A size class
 * receives a slab when it first needs one. A location is the slab number (high 16 bits) and the item number
 * (low 16 bits), which addresses up to 128 GiB. Each slab has a bitmap of reference bits. Each class has a
 * CLOCK hand, which walks over the slabs of the class and evicts items in use that nobody has referenced
 * since its previous turn. Allocation and eviction work in batches, so that receivers amortise the lock.
 * Every item carries a status tag (free or using) and a version, from which a reader sees that the item was
 * evicted or rewritten during the read.
 *
 * Item layout: 8-byte header (version and tag, key length, value length), key bytes, value bytes.
 *
 * Size classes: 32, 48 and 64 bytes, then four per doubling up to 1 MiB (80, 96, 112, 128, 160, ...). A slab
 * never changes its class, as in early versions of memcached; moving slabs between classes is not modelled.
 *
 * Threads: any number of threads may allocate, write, release and read at the same time. An item is always in
 * one of three states:
 *   - free: it is on the free list of its class;
 *   - owned: a thread has allocated it and has not yet written or released it. Only the owner may write or
 *     release it; the store relies on its callers for that;
 *   - in use: any thread may read it, rewrite it, release it, or evict it by allocating.
 *
 * An allocation takes the lock of its class once per batch, evictions included, and takes a fresh slab with a
 * compare-and-swap. Releasing an item and rewriting one take the same lock, a spinlock that yields. Reading
 * and the first write of an allocated item take no lock. The last store of a write puts the item in use. A
 * thread that evicts, releases or rewrites an item first takes it out of use under the lock, so that exactly
 * one thread succeeds.
 *
 * A reader changes only reference bits. The tag and the version, which every write increments, tell it what
 * happened meanwhile. It reports a torn read as KVC_MEGAKV_SLAB_CHANGED and never uses the bytes.
 *
 * A location taken from an index may be stale: the item may have been evicted and given to another key.
 * kvc_megakv_slab_release_key() and kvc_megakv_slab_rewrite() therefore check the key, whereas
 * kvc_megakv_slab_release() and kvc_megakv_slab_write() trust the caller. If the location holds the same key
 * again, kvc_megakv_slab_release_key() releases the newer item: later reads miss, but never see a wrong
 * value.
 *
 * Each caller passes its own statistics. The store is not bound to a thread or a process. Fork only while no
 * other thread is inside the store, because a fork copies the locks too.
 */
#ifndef KVC_KERNELS_MEGAKV_SLAB_H
#define KVC_KERNELS_MEGAKV_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes and limits of the store. */
enum {
    KVC_MEGAKV_SLAB_BYTES = 2 << 20,              /**< Size of a slab [bytes]. */
    KVC_MEGAKV_SLAB_HEADER_BYTES = 8,             /**< Size of an item's header [bytes]. */
    KVC_MEGAKV_SLAB_SURE_ITEMS = 4096,            /**< Items that one top-level reference bit summarises. */
    KVC_MEGAKV_SLAB_KEY_MAX = 255,                /**< Longest key [bytes]. */
    KVC_MEGAKV_SLAB_VALUE_MAX = (1 << 20) - 4096, /**< Longest value [bytes]. */
};

/** Outcome of one read. */
enum kvc_megakv_slab_read_result {
    KVC_MEGAKV_SLAB_HIT,      /**< The value was copied. */
    KVC_MEGAKV_SLAB_ABSENT,   /**< The location was KVC_LOCATION_NONE. */
    KVC_MEGAKV_SLAB_MISMATCH, /**< The item holds another key; only reads that compare keys report this. */
    KVC_MEGAKV_SLAB_CHANGED,  /**< The item does not exist, is free, or was rewritten during the read. */
};

/** A slab store. */
struct kvc_megakv_slab;

/** Counters of one caller; every call adds to them. Lines are 64-byte lines that the header, a compared key
 * and a copied value occupy. */
struct kvc_megakv_slab_stats {
    uint64_t allocated;   /**< Items allocated, evicted ones included. */
    uint64_t evicted;     /**< Items evicted by CLOCK. */
    uint64_t clock_steps; /**< Reference bits of items in use that the CLOCK hand inspected. */
    uint64_t reads;       /**< Items that kvc_megakv_slab_read() was asked for. */
    uint64_t read_lines;  /**< Lines touched by reads. */
    uint64_t writes;      /**< Items written or rewritten. */
    uint64_t write_lines; /**< Lines touched by writes. */
    uint64_t checked; /**< Hits that inspected the item's own reference bit because no summary bit was set. */
    uint64_t marked;  /**< Checked hits that found the reference bit clear and set it. */
};

/** An item that CLOCK evicted. The caller must erase its index entry. */
struct kvc_megakv_slab_evicted {
    uint32_t location; /**< Location of the item. */
    uint64_t hash;     /**< kvc_hash() of its key with the store's seed. */
};

/** Frees a store; NULL is allowed. */
void kvc_megakv_slab_free(struct kvc_megakv_slab *slab);

/** Creates an empty store.
 * @param bytes Capacity [bytes], at least 1 byte and at most 128 GiB; rounded up to whole slabs.
 * @param hash_seed Seed of kvc_hash(), with which the store recomputes the hashes of evicted keys.
 * @return The store, or NULL with errno EINVAL or ENOMEM.
 */
struct kvc_megakv_slab *kvc_megakv_slab_create(uint64_t bytes, uint64_t hash_seed);

/** Parameters of a store. */
struct kvc_megakv_slab_params {
    uint64_t bytes; /**< Capacity of the whole store [bytes], at least 1; rounded up to whole slabs. */
    /** Items of the whole store for each item that this one holds: 1 is the whole store, more a sample.
     *
     * A size class of a sample takes slabs as in the whole store, and gets the share 1/rate of their items,
     * rounded to whole items; so classes with few slabs keep their share of the memory. A class that has any
     * slab holds at least one item. */
    uint64_t rate;
    uint64_t
        hash_seed; /**< Seed of kvc_hash(), with which the store recomputes the hashes of evicted keys. */
    /** Keeps of each item the hash of its key and its lengths instead of its bytes, for simulations, which
     * need no values. Outcomes and counters are the same: an item is taken for another key's only if all 64
     * bits of the hashes are equal. One thread uses such a store, by kvc_megakv_slab_write_hash() and by
     * reads that have hashes. */
    bool compact;
};

/** Returns the memory that a store takes while it holds items [bytes].
 * @param params Its parameters.
 * @param stored Items stored, of the sample only; a full store has evicted some of them.
 * @param item_bytes Mean size of the items [bytes].
 * @param mixed Whether the items have many sizes: classes then leave slabs incomplete, and a compact store
 * keeps the lengths of each item.
 */
uint64_t kvc_megakv_slab_memory_bytes(const struct kvc_megakv_slab_params *params, double stored,
                                      double item_bytes, bool mixed);

/** Creates an empty store. Returns NULL with errno EINVAL (also if it exceeds 128 GiB) or ENOMEM. */
struct kvc_megakv_slab *kvc_megakv_slab_create_with(const struct kvc_megakv_slab_params *params);

/** Lets the system provide all memory of the store now, so that no write to a new slab waits for it later.
 * Other threads may use the store meanwhile. */
void kvc_megakv_slab_touch(struct kvc_megakv_slab *slab);

/** Gives the class that fits a key of `key_bytes` and a value of `value_bytes` [bytes] one more slab now, or
 * its share of a slab in a sample, instead of when it first needs one. Returns false if no slab is left or
 * the item is too long. */
bool kvc_megakv_slab_assign(struct kvc_megakv_slab *slab, uint32_t key_bytes, uint32_t value_bytes);

/** Returns how many items with a key of `key_bytes` and a value of `value_bytes` [bytes] a slab holds, or 0
 * if they are too long. */
uint32_t kvc_megakv_slab_items(uint32_t key_bytes, uint32_t value_bytes);

/** Returns the size of the items of the class that fits this key and value [bytes], or 0 if they are too
 * long. */
uint32_t kvc_megakv_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes);

/** Allocates items of the size class that fits a key of `key_bytes` and a value of `value_bytes` [bytes].
 *
 * The call uses free items first, then fresh slabs, then evicts. The allocated items belong to the caller and
 * keep the tag "free" until they are written. `location` receives the allocated locations; `evicted` receives
 * up to `count` evicted items, and `*evicted_count` their number.
 *
 * Returns the number of allocated items. It is below `count` only if the key or the value is too long, or if
 * no slab is left and the class has nothing to evict: the class has no slab, or all its items are owned. An
 * item that another thread is rewriting counts as owned.
 */
uint32_t kvc_megakv_slab_alloc(struct kvc_megakv_slab *slab, uint32_t key_bytes, uint32_t value_bytes,
                               uint32_t count, uint32_t *location, struct kvc_megakv_slab_evicted *evicted,
                               uint32_t *evicted_count, struct kvc_megakv_slab_stats *stats);

/** Writes a key and a value into an allocated item and puts it in use.
 *
 * The item is marked as referenced and may be evicted from then on. The key and the value must fit the class
 * that the item was allocated from. The first write takes no lock.
 *
 * The call may also overwrite an item in use, provided that no other thread can have evicted it meanwhile;
 * otherwise use kvc_megakv_slab_rewrite(). Overwriting takes the lock of the class.
 *
 * Returns false, and writes nothing, if another thread is writing, releasing or evicting the item.
 */
bool kvc_megakv_slab_write(struct kvc_megakv_slab *slab, uint32_t location, const void *key,
                           uint32_t key_bytes, const void *value, uint32_t value_bytes,
                           struct kvc_megakv_slab_stats *stats);

/** Does in a compact store what kvc_megakv_slab_write() does in another one for an item that is not in use.
 * The hash is that of the key, or another number that no two keys share. */
void kvc_megakv_slab_write_hash(struct kvc_megakv_slab *slab, uint32_t location, uint64_t hash,
                                uint32_t key_bytes, uint32_t value_bytes,
                                struct kvc_megakv_slab_stats *stats);

/** Gives an item in use a new value in place, provided that it still holds this key.
 *
 * Returns false, and writes nothing, if the item no longer holds the key, if another thread is writing,
 * releasing or evicting it, or if the value does not fit its class.
 */
bool kvc_megakv_slab_rewrite(struct kvc_megakv_slab *slab, uint32_t location, const void *key,
                             uint32_t key_bytes, const void *value, uint32_t value_bytes,
                             struct kvc_megakv_slab_stats *stats);

/** Returns an item to its free list, whether it was written or not.
 *
 * Returns false if the item is already free, if there is no such item, or if another thread is evicting or
 * rewriting it. If several threads release an item at the same time, exactly one call returns true.
 */
bool kvc_megakv_slab_release(struct kvc_megakv_slab *slab, uint32_t location);

/** Releases an item only if it is in use and its key has this hash.
 *
 * Use it for locations taken from an index, which may have been evicted and given to another key since.
 */
bool kvc_megakv_slab_release_key(struct kvc_megakv_slab *slab, uint32_t location, uint64_t hash);

/** A batch of reads.
 *
 * Values are written one after another into the ring `out`, starting at `*out_position`; a value never wraps
 * around the end. A value longer than the whole ring is reported as KVC_MEGAKV_SLAB_CHANGED.
 */
struct kvc_megakv_slab_reads {
    uint32_t count;           /**< Number of reads. */
    const uint32_t *location; /**< Locations, or KVC_LOCATION_NONE. */
    const uint64_t *hash;     /**< Hashes of the keys; only a compact store reads them. */
    const uint8_t *keys;      /**< Keys; key i starts at keys + i * key_stride. A compact store reads none. */
    uint32_t key_stride;      /**< Distance between keys [bytes]. */
    const uint8_t *key_bytes; /**< Lengths of the keys [bytes]. */
    bool compare;             /**< Whether an item must hold the given key to be a hit. */
    uint8_t *out;             /**< Ring that receives the values; a compact store has none to give. */
    uint32_t out_bytes;       /**< Size of the ring [bytes]; KVC_MEGAKV_SLAB_VALUE_MAX suits any value. */
    uint32_t *out_position;   /**< Position of the next value in the ring [bytes]; the call advances it. */
    uint8_t *result;          /**< Receives enum kvc_megakv_slab_read_result. */
    uint32_t *value_bytes;    /**< Receives value lengths [bytes], 0 for anything but a hit; may be NULL. */
};

/** Reads a batch of items and marks the hits as referenced. The reads are software-pipelined. */
void kvc_megakv_slab_read(struct kvc_megakv_slab *slab, const struct kvc_megakv_slab_reads *reads,
                          struct kvc_megakv_slab_stats *stats);

/** Starts to bring the first lines of `count` items into the cache that are going to be read. Any location is
 * allowed. */
void kvc_megakv_slab_fetch(const struct kvc_megakv_slab *slab, const uint32_t *location, uint32_t count);

/** Marks `count` items as referenced, as kvc_megakv_slab_read() does with its hits, on behalf of a GPU. A GPU
 * cannot mark them, because its atomic operations on the host's memory are not atomic for the host. Counts
 * `checked` and `marked` only. */
void kvc_megakv_slab_mark(struct kvc_megakv_slab *slab, const uint32_t *location, uint32_t count,
                          struct kvc_megakv_slab_stats *stats);

/** Clears the reference bit of one in `one_in` items in use of every slab.
 *
 * `one_in` is a power of two; 1 clears all bits, as a turn of the CLOCK hand does. Other threads may read
 * meanwhile.
 */
void kvc_megakv_slab_forget_reads(struct kvc_megakv_slab *slab, uint32_t one_in);

/** Counts the items in use.
 *
 * The call inspects every item, so it is too slow for every request. The result is exact while no other
 * thread allocates, writes or releases.
 */
uint64_t kvc_megakv_slab_used_items(const struct kvc_megakv_slab *slab);

/** Returns the capacity of the store [bytes], a multiple of the slab size, or of a sample, 1/rate of the
 * whole store's capacity. */
uint64_t kvc_megakv_slab_capacity_bytes(const struct kvc_megakv_slab *slab);

/** Memory of a store, for a GPU that works on it in place. Each array begins on a page of its own. */
struct kvc_megakv_slab_memory {
    uint8_t *slabs;       /**< Slab memory. */
    uint64_t bytes;       /**< Size of the slab memory [bytes]. */
    uint32_t *item_bytes; /**< Size of the items of each slab [bytes]; 0: the slab has no class. */
    uint32_t count;       /**< Number of slabs. */
};

/** Finds the memory of a store. */
void kvc_megakv_slab_memory_of(struct kvc_megakv_slab *slab, struct kvc_megakv_slab_memory *memory);

#ifdef __cplusplus
}
#endif

/* --- the header of an item, computed by the same code on the host and on the GPU --- */

/** Tag of an item in use, in its header.
 *
 * The header is one word, so that it is read and written whole. Bit 0: tag. Bits 1 to 8: key length. Bits 9
 * to 30: value length. Bit 31: the item is being rewritten (never set together with the tag). Bits 32 to 63:
 * version, incremented by every write. */
static const uint64_t kvc_megakv_slab_tag_using = 1;
static const uint64_t kvc_megakv_slab_tag_writing = UINT64_C(1) << 31; /**< The item is being rewritten. */
static const uint64_t kvc_megakv_slab_shape_mask = 0xffffffff;         /**< Everything but the version. */

/** Returns the header of an item in use with these lengths, version 0. */
static inline KVC_HOST_DEVICE uint64_t kvc_megakv_slab_header_shape(uint32_t key_bytes, uint32_t value_bytes)
{
    return kvc_megakv_slab_tag_using | (uint64_t)key_bytes << 1 | (uint64_t)value_bytes << 9;
}

/** Returns the key length in a header [bytes]. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_slab_header_key_bytes(uint64_t header)
{
    return (uint32_t)(header >> 1) & 0xff;
}

/** Returns the value length in a header [bytes]. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_slab_header_value_bytes(uint64_t header)
{
    return (uint32_t)header >> 9;
}

#endif
