/* One interface for every index: 64-bit hash of a key -> 32-bit location, in batches.
 *
 * Each structure is made by its own create function (its header says what its parameters mean, what is
 * faithful to the published design and what is not) and used through the functions here. Structures that hold
 * keys themselves take the hash for an 8-byte key and the location for a 4-byte value; their own headers
 * offer keys and values of any size. CUDA twins have the same functions; their arrays may lie in host or in
 * device memory.
 *
 * Whatever leaves an index because of an insert, the element replaced, displaced without finding a place, or
 * evicted, is returned and counted: nothing is lost without notice, except where a kind says so
 * (kvc_index_kind.forgets). */
#ifndef KVC_KERNELS_INDEX_H
#define KVC_KERNELS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No location: "not found", or "nothing left the index". */
#define KVC_LOCATION_NONE 0xffffffffu
/* For kvc_index_erase: erase whatever location the hash has. */
#define KVC_LOCATION_ANY 0xfffffffeu

/* What an index did; calls add to it. Lines: 64-byte lines of the structure read or written by the operation.
 */
struct kvc_index_stats {
    uint64_t searches, search_hits, search_lines;
    uint64_t inserts, insert_lines;
    uint64_t replaced;      /* inserts that met an element equal to theirs */
    uint64_t displacements; /* elements moved to another place of theirs */
    uint64_t dropped;       /* elements lost for want of a place, by the design or in a full table */
    uint64_t evicted;       /* elements that a cache chose to give up */
    uint64_t erases, erased, erase_lines;
};

static inline void kvc_index_stats_add(struct kvc_index_stats *to, const struct kvc_index_stats *from)
{
    to->searches += from->searches;
    to->search_hits += from->search_hits;
    to->search_lines += from->search_lines;
    to->inserts += from->inserts;
    to->insert_lines += from->insert_lines;
    to->replaced += from->replaced;
    to->displacements += from->displacements;
    to->dropped += from->dropped;
    to->evicted += from->evicted;
    to->erases += from->erases;
    to->erased += from->erased;
    to->erase_lines += from->erase_lines;
}

struct kvc_index;

struct kvc_index_ops {
    void (*free)(struct kvc_index *index);
    void (*search)(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                   struct kvc_index_stats *stats);
    void (*insert)(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                   uint32_t *out, struct kvc_index_stats *stats);
    void (*erase)(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                  uint32_t *out, struct kvc_index_stats *stats);
    uint64_t (*capacity)(const struct kvc_index *index);
    uint64_t (*used)(const struct kvc_index *index);
};

/* First member of every index. */
struct kvc_index {
    const struct kvc_index_ops *ops;
};

/* NULL is allowed. */
static inline void kvc_index_free(struct kvc_index *index)
{
    if (index != NULL) {
        index->ops->free(index);
    }
}

/* location[i] = where hash[i] is, or KVC_LOCATION_NONE. Any count, best from 32 up. */
static inline void kvc_index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count,
                                    uint32_t *location, struct kvc_index_stats *stats)
{
    index->ops->search(index, hash, count, location, stats);
}

/* Inserts, in order on a CPU; a later equal element of a batch replaces an earlier one. out[i] is
 * KVC_LOCATION_NONE, or the location that left the index because of hash[i] (its own, if it is the one that
 * found no place). `out` may be NULL. Locations are below KVC_LOCATION_ANY. */
static inline void kvc_index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                                    uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    index->ops->insert(index, hash, location, count, out, stats);
}

/* Erases hash[i] where its location is location[i] (or that is KVC_LOCATION_ANY). out[i] is the location
 * erased or KVC_LOCATION_NONE. `out` may be NULL. */
static inline void kvc_index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                                   uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    index->ops->erase(index, hash, location, count, out, stats);
}

/* Elements that fit, were the table filled without a gap. */
static inline uint64_t kvc_index_capacity(const struct kvc_index *index)
{
    return index->ops->capacity(index);
}

/* Elements held now. */
static inline uint64_t kvc_index_used(const struct kvc_index *index)
{
    return index->ops->used(index);
}

/* What a program needs to know of an index to go through all of them (index_kinds.h). */
struct kvc_index_kind {
    const char *name;   /* "megakv-cuckoo" */
    const char *source; /* publication and section */
    /* Its published geometry in about `bytes` (a power of two, 64 KiB or more) of memory. NULL with errno. */
    struct kvc_index *(*create)(uint64_t bytes, uint64_t seed);
    bool caches;  /* a full bucket evicts; others drop only what finds no place */
    bool forgets; /* elements may go without notice, e.g. overwritten in a circular log */
    bool
        partial; /* compares a part of the hash: now and then a hit is another key's, whom the caller tells */
    bool many_readers; /* any number of threads may search at once; else one thread uses it */
};

#ifdef __cplusplus
}
#endif

#endif
