/* memcached's hash table, which MemcachedGPU measures its own against: chains, and one LRU queue for all.
 *
 * Source: Hetherington, O'Connor, Aamodt, "MemcachedGPU", SoCC 2015, sec. 2.1 and 4.2.1 (its baseline), sec.
 * 5.2 (hash chaining, "HC": a fixed number of elements, evictions only beyond that); memcached 1.4. What they
 * say and this table does:
 *  - a power of two of buckets, the lookup3 hash masked; elements of a bucket are linked, new ones in front;
 *  - an element has its key, compared as a whole: there are no tags;
 *  - all elements are in one queue, the most recently used in front; in a full table the last one goes;
 *  - memcached moves an element in the queue at most every 60 seconds: `bump_after`, in the timestamps' unit.
 *    With 0 the queue is exactly least recently used, as in the paper's comparison.
 *
 * Not modelled: growing, which memcached does beyond 1.5 elements per bucket; a queue for each size of item;
 * expiry; locks.
 *
 * Elements are numbered in a fixed pool in place of allocated memory. Layout and lines touched:
 * chained_layout.h.
 *
 * Threads: one at a time, also for searches, which move elements in the queue. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_CHAINED_H
#define KVC_KERNELS_MEMCACHEDGPU_CHAINED_H

#include "kernels/index.h"
#include "kernels/memcachedgpu/chained_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kvc_chained_params {
    uint32_t buckets;       /* a power of two, 1 .. 2^31 */
    uint32_t capacity;      /* elements, 1 .. 2^31 */
    uint32_t key_bytes_max; /* 1 .. 250 */
    uint32_t bump_after; /* an access moves an element whose timestamp is so much less than now; 0: always */
};

struct kvc_chained {
    struct kvc_index index;
    struct kvc_chained_table table;
    struct kvc_chained_state state;
    uint32_t clock; /* timestamps given out by the functions of `index` */
};

/* The geometry that the params ask for, without memory. false: they are out of range. */
bool kvc_chained_geometry(const struct kvc_chained_params *params, struct kvc_chained_table *table);

/* Of about `bytes` bytes: 8-byte keys, up to 1.5 elements per bucket. false: too many. */
bool kvc_chained_published(uint64_t bytes, struct kvc_chained_params *params);

void kvc_chained_free(struct kvc_chained *table); /* NULL is allowed */

/* NULL with errno EINVAL (params) or ENOMEM. `&table->index` offers it as an index of 8-byte keys; then
 * key_bytes_max must be 8 or more. */
struct kvc_chained *kvc_chained_create(const struct kvc_chained_params *params);

/* These three as kvc_set_assoc_search, _insert and _erase. Hits that do not move keep their timestamp; a
 * search of a batch that moves elements moves them in order. */
void kvc_chained_search(struct kvc_chained *table, const struct kvc_set_assoc_keys *keys, uint32_t count,
                        uint32_t now, struct kvc_set_assoc_item *items, struct kvc_index_stats *stats);
void kvc_chained_insert(struct kvc_chained *table, const struct kvc_set_assoc_keys *keys,
                        const struct kvc_set_assoc_item *items, uint32_t count, uint32_t now,
                        struct kvc_set_assoc_item *out, struct kvc_index_stats *stats);
void kvc_chained_erase(struct kvc_chained *table, const struct kvc_set_assoc_keys *keys,
                       const uint32_t *location, uint32_t count, struct kvc_set_assoc_item *out,
                       struct kvc_index_stats *stats);

/* Its index is that of 8-byte keys, exactly least recently used. */
extern const struct kvc_index_kind kvc_chained_kind;

#ifdef __cplusplus
}
#endif

#endif
