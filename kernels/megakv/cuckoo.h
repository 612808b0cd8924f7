/** @file
 * Mega-KV's cuckoo index: two buckets per key, whose slots hold a 32-bit signature and a 32-bit
 * location.
 *
 * Source: Zhang et al., VLDB J. 26(5) 2017, sec. 4.1-4.2. The low half of the hash selects the primary
 * bucket; XOR with the signature gives the alternate bucket, within the same insert partition. This table
 * follows the paper:
 *   - A search looks in the primary bucket, then in the alternate one; the first equal signature wins.
 *   - A bucket never holds the same signature twice: an insert that finds an equal signature in either bucket
 *     replaces its location. The old item stays in the slab store until it is evicted.
 *   - A new element goes to the primary bucket if that has an empty slot, otherwise to the alternate bucket.
 *     In the bucket it takes its preferred slot (the top signature bits) or the nearest empty slot to the
 *     left, wrapping around.
 *   - If both buckets are full, a randomly chosen slot moves to its alternate bucket, and so on, up to
 *     max_displacements moves. The element that is then without a place is dropped and reported. With 0
 *     moves, the chosen slot's element is dropped. A chain never chooses the same slot twice, so a table that
 *     is so small that all its slots are in the chain drops earlier.
 *
 * The alternate bucket of a displaced element follows from its own signature.
 *
 * There are two layouts. KVC_MEGAKV_CUCKOO_APART is the published one: a bucket's signatures, then its
 * locations; 8 slots fill a 64-byte line. KVC_MEGAKV_CUCKOO_INTERLEAVED puts each location directly after its
 * signature, so that one atomic exchange moves an element and 4 slots fit a 32-byte memory sector. It also
 * distinguishes slots that were never used from erased ones. While a bucket has a slot that was never used,
 * none of its elements lives in its alternate bucket, so inserts and searches for missing keys skip the
 * alternate bucket.
 *
 * Threads: any number of concurrent searches, and one inserting or erasing thread at a time. A reader sees
 * each element at its old or its new place, never at neither. What it reads may be stale, so the caller
 * checks the key. Tables with published_displacement lose elements and serve comparison only.
 */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_H
#define KVC_KERNELS_MEGAKV_CUCKOO_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/device.h"
#include "kernels/hash.h"
#include "kernels/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The published geometry. */
enum {
    KVC_MEGAKV_CUCKOO_SLOTS = 8, /**< Slots per bucket, as published. */
};

/** Order of signatures and locations in a bucket. */
enum kvc_megakv_cuckoo_layout {
    KVC_MEGAKV_CUCKOO_APART,       /**< All signatures, then all locations, as published. */
    KVC_MEGAKV_CUCKOO_INTERLEAVED, /**< Each location directly after its signature. */
};

/** Parameters of a table. */
struct kvc_megakv_cuckoo_params {
    /** Table size [bytes]: a power of two, from one bucket to 32 GiB; 2 GiB holds 2^28 slots. */
    uint64_t bytes;
    enum kvc_megakv_cuckoo_layout layout; /**< Layout of a bucket. */
    uint32_t slots;                       /**< Slots per bucket: 4, 8, 16 or 32; 0 means 8. */
    /** Partitions that alternate buckets stay in: a power of two from 1 to 1024; 0 means 1. */
    uint32_t partitions;
    /** Threads of a GPU processing unit: a power of two up to `slots`; 0 selects the fastest. 0 on a CPU. */
    uint32_t threads;
    uint32_t max_displacements; /**< Most moves per insert, 0 to 1000. */
    /** Derives the alternate bucket of a displaced element from the signature of the element that displaces
     * it, as the published source code does (unlike the paper's text). No search looks for the element there.
     */
    bool published_displacement;
    uint64_t seed; /**< Seed of the random choice of victims; 0 on a GPU. */
    bool portable; /**< Forces the portable code, which gives the same results, for tests; false on a GPU. */
};

/** Signature of an empty slot. */
#define KVC_MEGAKV_CUCKOO_EMPTY 0u

/** Location of an erased slot in the interleaved layout; a slot that was never used has location 0. */
#define KVC_MEGAKV_CUCKOO_ERASED_LOCATION 1u

/** Masks that select buckets. */
struct kvc_megakv_cuckoo_layout_masks {
    uint32_t bucket;    /**< Number of buckets minus 1. */
    uint32_t alternate; /**< Number of buckets of a partition minus 1. */
};

/** Creates an empty table in huge pages where the system has them; NULL with errno EINVAL (params) or ENOMEM.
 */
struct kvc_index *kvc_megakv_cuckoo_create(const struct kvc_megakv_cuckoo_params *params);

/** Inserts elements whose hashes the table does not hold, as kvc_index_insert() does, but without the look
 * into the alternate bucket for an equal one. So it reads that bucket only if the primary one is full. Should
 * the signature of another key with the same two buckets lie there (about one pair in 2^32), both elements
 * stay. */
void kvc_megakv_cuckoo_insert_new(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                                  uint32_t count, struct kvc_index_stats *stats);

/** The table with the published geometry. */
extern const struct kvc_index_kind kvc_megakv_cuckoo_kind;

/** The interleaved table with buckets of 4 slots. */
extern const struct kvc_index_kind kvc_megakv_cuckoo_interleaved_kind;

/** Fills in the defaults of the parameters and computes the masks; returns false if a parameter is out of
 * range. */
bool kvc_megakv_cuckoo_params_complete(struct kvc_megakv_cuckoo_params *params,
                                       struct kvc_megakv_cuckoo_layout_masks *masks);

/** Memory of a table, for a GPU that works on it in place. Each array begins on a page of its own. */
struct kvc_megakv_cuckoo_memory {
    uint32_t *words;                             /**< Buckets of the table. */
    uint64_t words_bytes;                        /**< Size of the buckets [bytes]. */
    struct kvc_megakv_cuckoo_layout_masks masks; /**< Masks that select buckets. */
    uint32_t max_displacements;                  /**< Most moves per insert. */
    void *header;                                /**< The table's own structure. */
    uint64_t header_bytes;                       /**< Size of this structure [bytes]. */
    uint64_t *moves;                             /**< Elements moved so far; a part of this structure. */
};

/** Finds the memory of a table. Returns false if the table does not have the published geometry. */
bool kvc_megakv_cuckoo_memory_of(struct kvc_index *index, struct kvc_megakv_cuckoo_memory *memory);

/** Notes that a GPU has added `inserted` elements to the table and removed `erased` ones. */
void kvc_megakv_cuckoo_memory_changed(struct kvc_index *index, uint64_t inserted, uint64_t erased);

#ifdef __cplusplus
}
#endif

/* --- where elements lie, computed by the same code on the host and on the GPU --- */

/** Returns the primary bucket of an element. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_primary(struct kvc_megakv_cuckoo_layout_masks masks,
                                                                 uint64_t hash)
{
    return (uint32_t)hash & masks.bucket;
}

/** Returns the other bucket of an element with this signature, which may be the same bucket. */
static inline KVC_HOST_DEVICE uint32_t
kvc_megakv_cuckoo_alternate(struct kvc_megakv_cuckoo_layout_masks masks, uint32_t bucket, uint32_t signature)
{
    return bucket ^ (signature & masks.alternate);
}

/** Returns the word of a bucket (32 bits each, the first is 0) that holds the signature of a slot. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_signature_word(uint32_t slots, bool apart,
                                                                        uint32_t slot)
{
    (void)slots;
    return apart ? slot : 2 * slot;
}

/** Returns the word of a bucket (32 bits each, the first is 0) that holds the location of a slot. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_location_word(uint32_t slots, bool apart,
                                                                       uint32_t slot)
{
    return apart ? slots + slot : 2 * slot + 1;
}

/** Returns how far a slot is to the left of the preferred slot of an element (its top signature bits),
 * wrapping around. An element takes the empty slot of least distance. `slots` is a power of two. */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_distance(uint32_t slots, uint32_t signature,
                                                                  uint32_t slot)
{
    uint32_t preferred = (uint32_t)((uint64_t)signature * slots >> 32);
    return (preferred - slot) & (slots - 1);
}

/** Returns the slot at this distance; the inverse of kvc_megakv_cuckoo_distance(). */
static inline KVC_HOST_DEVICE uint32_t kvc_megakv_cuckoo_slot_at(uint32_t slots, uint32_t signature,
                                                                 uint32_t distance)
{
    uint32_t preferred = (uint32_t)((uint64_t)signature * slots >> 32);
    return (preferred - distance) & (slots - 1);
}

#endif
