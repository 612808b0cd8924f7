/* MemcachedGPU's set-associative hash table: keys beside the index, values elsewhere, LRU within each set.
 *
 * Source: Hetherington, O'Connor, Aamodt, "MemcachedGPU", SoCC 2015, sec. 4.2. What the paper says and this
 * table does:
 *  - a fixed number of sets, 16 ways unless fewer are asked for (its figure 2 varies them);
 *  - an entry is a header and the key, in a slot for the longest one allowed;
 *  - a header has a valid flag, the timestamp of the last access, the lengths of key and value, an 8-bit hash
 *    of the key and a pointer to the item in CPU memory, which here is a 32-bit location;
 *  - a search compares the 8-bit hashes first, and whole keys only where those are equal;
 *  - SET takes the entry of an equal key, else a free one (here the lowest), else the least recently used of
 *    the set (of equally old ones here the lowest);
 *  - GETs write nothing but the timestamp, all those of a batch the same one; a SET has one of its own;
 *  - each set has a lock that readers share and a writer excludes all others from;
 *  - who is evicted is returned with its timestamp: the caller can wait for the GETs that saw it (sec. 4.3).
 *
 * The lookup3 hash picks the set and the 8-bit hash. Layout and lines touched: set_assoc_layout.h.
 *
 * An addition: readers need not take the shared lock. The lock word has a version, odd while a writer has the
 * set; a reader that finds the version even and unchanged after reading has seen no writer, so it need not
 * write to the set to read it. That is the default; `shared_lock` gives the published way. Results are the
 * same.
 *
 * Not modelled: expiry times, the stall of sec. 4.3 itself, several tables for several key sizes.
 *
 * Threads: any number may search, insert and erase at the same time. What a search returns was in the set at
 * one moment: never part of one item and part of another. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_H
#define KVC_KERNELS_MEMCACHEDGPU_SET_ASSOC_H

#include "kernels/index.h"
#include "kernels/memcachedgpu/set_assoc_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kvc_set_assoc_params {
    uint32_t sets;          /* 1 or more */
    uint32_t ways;          /* 1, 2, 4, 8 or 16 */
    uint32_t key_bytes_max; /* 1 .. 250 */
    bool shared_lock;       /* searches take the shared lock of each set */
};

struct kvc_set_assoc {
    struct kvc_index index;
    struct kvc_set_assoc_table table;
    bool shared_lock;
    uint32_t clock; /* timestamps given out by the functions of `index` */
    uint64_t used;
};

struct kvc_set_assoc_item {
    uint32_t location; /* KVC_LOCATION_NONE: no item */
    uint32_t value_bytes;
    uint32_t stamp;
    uint16_t flags; /* memcached's, opaque */
};

/* Key i is the bytes[i] bytes at keys + offset[i]. A key that is empty or longer than key_bytes_max is never
 * found and not inserted. */
struct kvc_set_assoc_keys {
    const uint8_t *keys;
    const uint32_t *offset;
    const uint8_t *bytes;
};

/* The geometry that the params ask for, without memory. false: they are out of range. */
bool kvc_set_assoc_geometry(const struct kvc_set_assoc_params *params, struct kvc_set_assoc_table *table);

void kvc_set_assoc_free(struct kvc_set_assoc *table); /* NULL is allowed */

/* NULL with errno EINVAL (params) or ENOMEM. `&table->index` offers it as an index of 8-byte keys; then
 * key_bytes_max must be 8 or more. */
struct kvc_set_assoc *kvc_set_assoc_create(const struct kvc_set_assoc_params *params);

/* items[i] = the item of key i; those found get the timestamp `now`. Timestamps may wrap; those in the table
 * must be within 2^31 of each other. */
void kvc_set_assoc_search(struct kvc_set_assoc *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                          uint32_t now, struct kvc_set_assoc_item *items, struct kvc_index_stats *stats);

/* Stores items[i] under key i, in order, with timestamp now + i (theirs is not read). out[i] is the item
 * replaced or evicted; the item itself, if its key has no valid length or its location is not below
 * KVC_LOCATION_ANY (stats->dropped). `out` may be NULL. */
void kvc_set_assoc_insert(struct kvc_set_assoc *table, const struct kvc_set_assoc_keys *keys,
                          const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                          struct kvc_set_assoc_item *out, struct kvc_index_stats *stats);

/* Erases key i where its location is location[i] or that is KVC_LOCATION_ANY (also: `location` is NULL).
 * out[i] is the item erased. `out` may be NULL. */
void kvc_set_assoc_erase(struct kvc_set_assoc *table, const struct kvc_set_assoc_keys *keys,
                         const uint32_t *location, uint32_t count, struct kvc_set_assoc_item *out,
                         struct kvc_index_stats *stats);

/* Its index is that of 8-byte keys, 16 ways. */
extern const struct kvc_index_kind kvc_set_assoc_kind;

#ifdef __cplusplus
}
#endif

#endif
