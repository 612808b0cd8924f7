/** @file
 * memcached's hash table, against which MemcachedGPU measures its own: chained buckets and one LRU queue.
 *
 * Source: Hetherington, O'Connor, Aamodt, "MemcachedGPU", SoCC 2015, sec. 2.1 and 4.2.1 (its baseline) and
 * sec. 5.2 (hash chaining, "HC": a fixed number of elements, which evicts only when it is full);
 * memcached 1.4. This table follows them:
 *   - There is a power of two of buckets, selected by the masked lookup3 hash. The elements of a bucket are
 * linked, the newest first.
 *   - An element has its key, which is compared as a whole; there are no tags.
 *   - All elements are in one queue, the most recently used first. A full table evicts the last one.
 *   - memcached moves an element in the queue at most every 60 seconds: `bump_after`, in units of the
 * timestamps. With 0, the queue is exactly in order of use, as in the paper's comparison.
 *
 * Not modelled: growing, which memcached does beyond 1.5 elements per bucket; a queue per item size; expiry
 * times; locks.
 *
 * Elements are numbered in a fixed pool instead of being allocated one by one. chained_layout.h describes the
 * layout and the lines that operations touch.
 *
 * Threads: one at a time, even for searches, which move elements in the queue.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_CHAINED_H
#define KVC_KERNELS_MEMCACHEDGPU_CHAINED_H

#include "kernels/index.h"
#include "kernels/memcachedgpu/chained_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of a table. */
struct kvc_chained_params {
    uint32_t buckets;       /**< Number of buckets: a power of two, 1 to 2^31. */
    uint32_t capacity;      /**< Most elements, 1 to 2^31. */
    uint32_t key_bytes_max; /**< Longest key [bytes], 1 to KVC_SET_ASSOC_KEY_MAX. */
    /** An access moves an element in the queue if its timestamp is at least this much in the past; 0: always.
     */
    uint32_t bump_after;
};

/** A table in host memory. */
struct kvc_chained {
    struct kvc_index index;         /**< The table as an index of 8-byte keys. */
    struct kvc_chained_table table; /**< Geometry and memory. */
    struct kvc_chained_state state; /**< What operations change. */
    uint32_t clock;                 /**< Next timestamp that the functions of `index` give out. */
};

/** Computes the geometry for these parameters, without memory; returns false if they are out of range. */
bool kvc_chained_geometry(const struct kvc_chained_params *params, struct kvc_chained_table *table);

/** Fills in the parameters of a table of about `bytes` bytes, for 8-byte keys and up to 1.5 elements per
 * bucket.
 *
 * Returns false if there would be too many elements.
 */
bool kvc_chained_published(uint64_t bytes, struct kvc_chained_params *params);

/** Frees a table; NULL is allowed. */
void kvc_chained_free(struct kvc_chained *table);

/** Creates an empty table; NULL with errno EINVAL (params) or ENOMEM.
 *
 * `&table->index` offers it as an index of 8-byte keys, which needs a key_bytes_max of at least 8.
 */
struct kvc_chained *kvc_chained_create(const struct kvc_chained_params *params);

/** Looks up a batch of keys, as kvc_set_assoc_search() does, and moves the elements found in order.
 *
 * Elements that do not move keep their timestamp.
 */
void kvc_chained_search(struct kvc_chained *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                        uint32_t now, struct kvc_set_assoc_item *items, struct kvc_index_stats *stats);

/** Stores a batch of items, as kvc_set_assoc_insert() does. */
void kvc_chained_insert(struct kvc_chained *table, const struct kvc_set_assoc_keys *keys,
                        const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                        struct kvc_set_assoc_item *out, struct kvc_index_stats *stats);

/** Erases a batch of keys, as kvc_set_assoc_erase() does. */
void kvc_chained_erase(struct kvc_chained *table, const struct kvc_set_assoc_keys *keys,
                       const uint32_t *location, uint32_t count, struct kvc_set_assoc_item *out,
                       struct kvc_index_stats *stats);

/** The table as an index of 8-byte keys that evicts exactly the least recently used one. */
extern const struct kvc_index_kind kvc_chained_kind;

#ifdef __cplusplus
}
#endif

#endif
