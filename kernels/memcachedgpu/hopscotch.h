/** @file
 * The hopscotch table that MemcachedGPU's authors also tried: every key has a neighbourhood of its own.
 *
 * Source: Hetherington, O'Connor, Aamodt, "MemcachedGPU", SoCC 2015, sec. 4.2.1, which changes the hopscotch
 * hashing of Herlihy, Shavit, Tzafrir (DISC 2008). This table follows the paper:
 *   - A key is in one of the entries that follow its home entry, so neighbourhoods overlap, and no two homes
 * share all of their entries.
 *   - Where hopscotch hashing moves entries to make room in a full neighbourhood, this table evicts an entry:
 * the least recently used one, as in the set-associative table.
 *   - An entry is a header (last access, lengths, location) and the key; an 8-bit hash is compared first.
 *
 * The paper does not give the number of neighbours; the default is 16, as many as a set has ways. There is no
 * bitmap of the entries that belong to a home: hopscotch hashing needs it to move entries, and searches do
 * without.
 *
 * Not modelled: a lock on every entry, which the paper names as the reason not to use this table; expiry
 * times. hopscotch_layout.h describes the layout and the lines that operations touch.
 *
 * Threads: one at a time.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_H
#define KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_H

#include "kernels/index.h"
#include "kernels/memcachedgpu/hopscotch_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of a table. */
struct kvc_hopscotch_params {
    uint32_t homes;      /**< Number of homes, 1 to 2^31; there are neighbours - 1 more entries than homes. */
    uint32_t neighbours; /**< Entries of a neighbourhood: 8, 16 or 32; 0 means 16. */
    uint32_t key_bytes_max; /**< Longest key [bytes], 1 to KVC_SET_ASSOC_KEY_MAX. */
};

/** A table in host memory. */
struct kvc_hopscotch {
    struct kvc_index index;           /**< The table as an index of 8-byte keys. */
    struct kvc_hopscotch_table table; /**< Geometry and memory. */
    uint32_t clock;                   /**< Next timestamp that the functions of `index` give out. */
    uint64_t used;                    /**< Entries that hold an item. */
};

/** Computes the geometry for these parameters, without memory; returns false if they are out of range. */
bool kvc_hopscotch_geometry(const struct kvc_hopscotch_params *params, struct kvc_hopscotch_table *table);

/** Frees a table; NULL is allowed. */
void kvc_hopscotch_free(struct kvc_hopscotch *table);

/** Creates an empty table; NULL with errno EINVAL (params) or ENOMEM.
 *
 * `&table->index` offers it as an index of 8-byte keys, which needs a key_bytes_max of at least 8.
 */
struct kvc_hopscotch *kvc_hopscotch_create(const struct kvc_hopscotch_params *params);

/** Looks up a batch of keys, as kvc_set_assoc_search() does. */
void kvc_hopscotch_search(struct kvc_hopscotch *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                          uint32_t now, struct kvc_set_assoc_item *items, struct kvc_index_stats *stats);

/** Stores a batch of items, as kvc_set_assoc_insert() does. */
void kvc_hopscotch_insert(struct kvc_hopscotch *table, const struct kvc_set_assoc_keys *keys,
                          const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                          struct kvc_set_assoc_item *out, struct kvc_index_stats *stats);

/** Erases a batch of keys, as kvc_set_assoc_erase() does. */
void kvc_hopscotch_erase(struct kvc_hopscotch *table, const struct kvc_set_assoc_keys *keys,
                         const uint32_t *location, uint32_t count, struct kvc_set_assoc_item *out,
                         struct kvc_index_stats *stats);

/** The table as an index of 8-byte keys with 16 neighbours. */
extern const struct kvc_index_kind kvc_hopscotch_kind;

#ifdef __cplusplus
}
#endif

#endif
