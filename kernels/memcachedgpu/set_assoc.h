/** @file
 * MemcachedGPU's set-associative hash table: keys lie beside the index, values elsewhere, and each set evicts
 * its least recently used entry.
 *
 * Source: Hetherington, O'Connor, Aamodt, "MemcachedGPU", SoCC 2015, sec. 4.2. This table follows the paper:
 *   - There is a fixed number of sets, of 16 ways unless fewer are asked for (the paper's figure 2 varies
 * them).
 *   - An entry is a header and the key, in a slot for the longest key allowed.
 *   - A header has a valid flag, the timestamp of the last access, the lengths of key and value, an 8-bit
 * hash of the key and a pointer to the item in CPU memory, which is a 32-bit location here.
 *   - A search compares the 8-bit hashes first and whole keys only where those are equal.
 *   - A SET takes the entry of an equal key, else a free one (here the lowest), else the least recently used
 * entry of the set (here the lowest of equally old ones).
 *   - GETs write nothing but the timestamp, the same one for a whole batch; each SET has a timestamp of its
 * own.
 *   - Each set has a lock, which readers share and writers take exclusively.
 *   - An evicted item is returned with its timestamp, so that the caller can wait for the GETs that saw it
 * (sec. 4.3).
 *
 * The lookup3 hash selects the set and gives the 8-bit hash. set_assoc_layout.h describes the layout and the
 * lines that operations touch.
 *
 * One thing is added: readers need not take the shared lock. The lock word contains a version, which is odd
 * while a writer holds the set. A reader that finds the version even, and unchanged after reading, has seen
 * no writer, so it reads the set without writing to it. This is the default; `shared_lock` selects the
 * published way. Both give the same results.
 *
 * Not modelled: expiry times, the stall of sec. 4.3 itself, several tables for several key sizes.
 *
 * Threads: any number of threads may search, insert and erase at the same time. What a search returns was in
 * the set at one moment: it never mixes parts of two items.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_H
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_H

#include "kernels/index.h"
#include "kernels/memcachedgpu/set_assoc_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of a table. */
struct kvc_set_assoc_params {
    uint32_t sets;          /**< Number of sets, at least 1. */
    uint32_t ways;          /**< Entries per set: 1, 2, 4, 8 or 16. */
    uint32_t key_bytes_max; /**< Longest key [bytes], 1 to KVC_SET_ASSOC_KEY_MAX. */
    bool shared_lock;       /**< Searches take the shared lock of each set, as published. */
};

/** A table in host memory. */
struct kvc_set_assoc {
    struct kvc_index index;           /**< The table as an index of 8-byte keys. */
    struct kvc_set_assoc_table table; /**< Geometry and memory. */
    bool shared_lock;                 /**< As in the parameters. */
    uint32_t clock;                   /**< Next timestamp that the functions of `index` give out. */
    uint64_t used;                    /**< Entries that hold an item. */
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

/** Computes the geometry for these parameters, without memory; returns false if they are out of range. */
bool kvc_set_assoc_geometry(const struct kvc_set_assoc_params *params, struct kvc_set_assoc_table *table);

/** Frees a table; NULL is allowed. */
void kvc_set_assoc_free(struct kvc_set_assoc *table);

/** Creates an empty table; NULL with errno EINVAL (params) or ENOMEM.
 *
 * `&table->index` offers it as an index of 8-byte keys, which needs a key_bytes_max of at least 8.
 */
struct kvc_set_assoc *kvc_set_assoc_create(const struct kvc_set_assoc_params *params);

/** Looks up `count` keys and stores their items in `items`; a missing key gives the location
 * KVC_LOCATION_NONE.
 *
 * Items that are found get the timestamp `now`. Timestamps may wrap around, but those in the table must be
 * within 2^31 of each other.
 */
void kvc_set_assoc_search(struct kvc_set_assoc *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                          uint32_t now, struct kvc_set_assoc_item *items, struct kvc_index_stats *stats);

/** Stores items[i] under key i, in order, with the timestamp now + i; the timestamps in `items` are ignored.
 *
 * out[i] receives the item that was replaced or evicted. If the key has no valid length, or if the location
 * is not below KVC_LOCATION_ANY, the item is dropped, counted in stats->dropped and returned in out[i]. `out`
 * may be NULL.
 */
void kvc_set_assoc_insert(struct kvc_set_assoc *table, const struct kvc_set_assoc_keys *keys,
                          const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                          struct kvc_set_assoc_item *out, struct kvc_index_stats *stats);

/** Erases key i if its location is location[i], or in any case if that is KVC_LOCATION_ANY or `location` is
 * NULL.
 *
 * out[i] receives the erased item. `out` may be NULL.
 */
void kvc_set_assoc_erase(struct kvc_set_assoc *table, const struct kvc_set_assoc_keys *keys,
                         const uint32_t *location, uint32_t count, struct kvc_set_assoc_item *out,
                         struct kvc_index_stats *stats);

/** The table as an index of 8-byte keys with 16 ways. */
extern const struct kvc_index_kind kvc_set_assoc_kind;

#ifdef __cplusplus
}
#endif

#endif
