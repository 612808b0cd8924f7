/* The hopscotch table that MemcachedGPU's authors also tried: every key has a neighbourhood of its own.
 *
 * Source: Hetherington, O'Connor, Aamodt, "MemcachedGPU", SoCC 2015, sec. 4.2.1, which changes the hopscotch
 * hashing of Herlihy, Shavit, Tzafrir (DISC 2008). What the paper says and this table does:
 *  - a key is in one of the entries that follow its home entry, so that neighbourhoods overlap and no two
 *    homes share all of theirs;
 *  - where hopscotch hashing moves entries to make room in a full neighbourhood, an entry is evicted: the
 *    least recently used one, as in the set-associative table;
 *  - an entry is a header (last access, lengths, location) and the key, found by an 8-bit hash first.
 * The number of neighbours is not in the paper; 16, as many as a set has ways, unless asked otherwise. There
 * is no bitmap of a home's own entries: it serves to move them, and searches find the same without.
 *
 * Not modelled: a lock on every entry, which the paper names as the reason not to use this table; expiry.
 * Layout and lines touched: hopscotch_layout.h.
 *
 * Threads: one at a time. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_H
#define KVC_KERNELS_MEMCACHEDGPU_HOPSCOTCH_H

#include "kernels/index.h"
#include "kernels/memcachedgpu/hopscotch_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kvc_hopscotch_params {
    uint32_t homes;         /* 1 .. 2^31; there are neighbours - 1 more entries than homes */
    uint32_t neighbours;    /* 8, 16 or 32; 0: 16 */
    uint32_t key_bytes_max; /* 1 .. 250 */
};

struct kvc_hopscotch {
    struct kvc_index index;
    struct kvc_hopscotch_table table;
    uint32_t clock; /* timestamps given out by the functions of `index` */
    uint64_t used;
};

/* The geometry that the params ask for, without memory. false: they are out of range. */
bool kvc_hopscotch_geometry(const struct kvc_hopscotch_params *params, struct kvc_hopscotch_table *table);

void kvc_hopscotch_free(struct kvc_hopscotch *table); /* NULL is allowed */

/* NULL with errno EINVAL (params) or ENOMEM. `&table->index` offers it as an index of 8-byte keys; then
 * key_bytes_max must be 8 or more. */
struct kvc_hopscotch *kvc_hopscotch_create(const struct kvc_hopscotch_params *params);

/* These three as kvc_set_assoc_search, _insert and _erase. */
void kvc_hopscotch_search(struct kvc_hopscotch *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                          uint32_t now, struct kvc_set_assoc_item *items, struct kvc_index_stats *stats);
void kvc_hopscotch_insert(struct kvc_hopscotch *table, const struct kvc_set_assoc_keys *keys,
                          const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                          struct kvc_set_assoc_item *out, struct kvc_index_stats *stats);
void kvc_hopscotch_erase(struct kvc_hopscotch *table, const struct kvc_set_assoc_keys *keys,
                         const uint32_t *location, uint32_t count, struct kvc_set_assoc_item *out,
                         struct kvc_index_stats *stats);

/* Its index is that of 8-byte keys, 16 neighbours. */
extern const struct kvc_index_kind kvc_hopscotch_kind;

#ifdef __cplusplus
}
#endif

#endif
