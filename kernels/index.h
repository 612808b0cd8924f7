/** @file
 * The interface of every index: it maps 64-bit hashes of keys to 32-bit locations, in batches.
 *
 * Each structure has its own create function. Its header documents the parameters and says what is faithful
 * to the published design and what is not. All other operations go through the functions here. Structures
 * that hold keys themselves treat the hash as a key of 8 bytes and the location as a value of 4 bytes; their
 * own headers offer keys and values of any size. CUDA twins have the same functions, and their arrays may lie
 * in host memory or in device memory.
 *
 * An insert can make an element leave the index: the element may be replaced, evicted, or displaced without
 * finding another place. Every such element is returned and counted, so that nothing is lost without notice,
 * except by kinds that set kvc_index_kind::forgets. */
#ifndef KVC_KERNELS_INDEX_H
#define KVC_KERNELS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** No location: the hash was not found, or no element left the index. */
#define KVC_LOCATION_NONE 0xffffffffu
/** Tells kvc_index_erase to erase the hash whatever its location. */
#define KVC_LOCATION_ANY 0xfffffffeu

/** Counters of an index; every call adds to them. A line is a 64-byte line of the structure that the
 * operation reads or writes. */
struct kvc_index_stats {
    uint64_t searches;      /**< Hashes searched for. */
    uint64_t search_hits;   /**< Searches that returned a location. */
    uint64_t search_lines;  /**< Lines touched by searches. */
    uint64_t inserts;       /**< Elements inserted. */
    uint64_t insert_lines;  /**< Lines touched by inserts. */
    uint64_t replaced;      /**< Inserts that replaced an equal element. */
    uint64_t displacements; /**< Elements moved to another of their places. */
    uint64_t dropped;       /**< Elements lost because they found no place, by design or in a full table. */
    uint64_t evicted;       /**< Elements that a cache chose to give up. */
    uint64_t erases;        /**< Hashes passed to kvc_index_erase. */
    uint64_t erased;        /**< Elements erased. */
    uint64_t erase_lines;   /**< Lines touched by erases. */
    /* Some of these lines follow the one before them in memory. Only indexes of pairs count such lines. */
    uint64_t search_next_lines; /**< Such lines of searches. */
    uint64_t insert_next_lines; /**< Such lines of inserts. */
    uint64_t erase_next_lines;  /**< Such lines of erases. */
};

/** Adds the counters of `from` to `to`. */
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
    to->search_next_lines += from->search_next_lines;
    to->insert_next_lines += from->insert_next_lines;
    to->erase_next_lines += from->erase_next_lines;
}

struct kvc_index;

/** The operations of a kind of index; the functions below call them and describe them. */
struct kvc_index_ops {
    /** Frees the index, which is not NULL. */
    void (*free)(struct kvc_index *index);
    /** See kvc_index_search. */
    void (*search)(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                   struct kvc_index_stats *stats);
    /** See kvc_index_insert. */
    void (*insert)(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                   uint32_t *out, struct kvc_index_stats *stats);
    /** See kvc_index_erase. */
    void (*erase)(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                  uint32_t *out, struct kvc_index_stats *stats);
    /** See kvc_index_capacity. */
    uint64_t (*capacity)(const struct kvc_index *index);
    /** See kvc_index_used. */
    uint64_t (*used)(const struct kvc_index *index);
    /** See kvc_index_peek; NULL: the kind cannot. `search`, if searching changes nothing. */
    void (*peek)(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                 struct kvc_index_stats *stats);
};

/** The common part of every index, and its first member. */
struct kvc_index {
    const struct kvc_index_ops *ops; /**< Operations of its kind. */
};

/** Frees an index. NULL is allowed. */
static inline void kvc_index_free(struct kvc_index *index)
{
    if (index != NULL) {
        index->ops->free(index);
    }
}

/** Searches for `count` hashes: location[i] becomes the location of hash[i], or KVC_LOCATION_NONE. Any count
 * is allowed; batches of 32 or more are fastest. */
static inline void kvc_index_search(struct kvc_index *index, const uint64_t *hash, uint32_t count,
                                    uint32_t *location, struct kvc_index_stats *stats)
{
    index->ops->search(index, hash, count, location, stats);
}

/** Finds out where `count` hashes probably are, like kvc_index_search, but changes nothing and counts
 * nothing: a later search for them finds its lines in the cache. Returns whether the kind can do so. */
static inline bool kvc_index_peek(struct kvc_index *index, const uint64_t *hash, uint32_t count,
                                  uint32_t *location)
{
    struct kvc_index_stats ignored;
    if (index->ops->peek == NULL) {
        return false;
    }
    memset(&ignored, 0, sizeof(ignored)); /* An initialiser that is right in C warns in C++. */
    index->ops->peek(index, hash, count, location, &ignored);
    return true;
}

/** Inserts `count` elements. A CPU index inserts them in order, so that a later equal element of a batch
 * replaces an earlier one. out[i] becomes the location that left the index because of hash[i], or
 * KVC_LOCATION_NONE; it is location[i] if the new element itself found no place. `out` may be NULL. Locations
 * must be below KVC_LOCATION_ANY. */
static inline void kvc_index_insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                                    uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    index->ops->insert(index, hash, location, count, out, stats);
}

/** Erases hash[i] if its location is location[i], or if location[i] is KVC_LOCATION_ANY. out[i] becomes the
 * erased location or KVC_LOCATION_NONE. `out` may be NULL. */
static inline void kvc_index_erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                                   uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
{
    index->ops->erase(index, hash, location, count, out, stats);
}

/** Returns the number of elements that a completely filled table holds. */
static inline uint64_t kvc_index_capacity(const struct kvc_index *index)
{
    return index->ops->capacity(index);
}

/** Returns the number of elements that the index holds now. */
static inline uint64_t kvc_index_used(const struct kvc_index *index)
{
    return index->ops->used(index);
}

/** Sizes of the pairs of an index that holds values. */
struct kvc_index_pairs {
    uint32_t inline_bytes; /**< Largest pair of key and value that lies in the entries themselves [bytes]. */
    uint32_t pair_bytes;   /**< Mean size of a pair, by which the capacity counts [bytes]. */
};

/** What kinds of index that hold values have in addition. In such an index, a hash stands for the key, and a
 * location is the size of the pair [bytes]; a pair of another size is dropped. */
struct kvc_index_pair_kind {
    uint32_t inline_usual_bytes; /**< Published or usual size of the largest pair in the entries [bytes]. */
    uint32_t inline_most_bytes;  /**< Largest such size [bytes]. */
    uint32_t least_bytes;        /**< Smallest pair: the hash [bytes]. */
    uint32_t most_bytes; /**< Largest pair, of which larger ones than in entries lie in slabs [bytes]. */
    /** Creates an index of pairs in about `bytes` of memory. Returns NULL with errno. */
    struct kvc_index *(*create)(uint64_t bytes, const struct kvc_index_pairs *pairs, uint64_t seed);
};

/** A kind of index, with everything that a program needs to iterate over all kinds (index_kinds.h). */
struct kvc_index_kind {
    const char *name;   /**< Name, for example "megakv-cuckoo". */
    const char *source; /**< Publication and section. */
    /** Creates an index in its published geometry in about `bytes` of memory, a power of two of at least 64
     * KiB. Returns NULL with errno. */
    struct kvc_index *(*create)(uint64_t bytes, uint64_t seed);
    bool caches;  /**< A full bucket evicts an element; other kinds drop only what finds no place. */
    bool forgets; /**< Elements may disappear without notice, for example when a circular log wraps. */
    /** Only a part of the hash is compared. A search may return another key's location when two signatures
     * collide; the caller compares the full key. */
    bool partial;
    bool many_readers; /**< Any number of threads may search at once; otherwise one thread uses it. */
    const struct kvc_index_pair_kind *pairs; /**< NULL: it holds no values. */
};

#ifdef __cplusplus
}
#endif

#endif
