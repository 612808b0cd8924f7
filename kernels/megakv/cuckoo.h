/** @file
 * Mega-KV's cuckoo index: two buckets per key, whose slots hold a 32-bit signature and a 32-bit location.
 *
 * Source: Zhang et al., VLDB J. 26(5) 2017, sec. 4.1-4.2. The low half of the hash selects the primary
 * bucket; XOR with the signature gives the alternate bucket, within the same insert partition. This table
 * follows the paper:
 *   - A search looks in the primary bucket, then in the alternate one; the first equal signature wins.
 *   - A bucket never holds the same signature twice: an insert that finds an equal signature in either bucket
 *     replaces its location. The old item stays in the slab store until it is evicted.
 *   - A new element goes to the primary bucket if that has an empty slot, otherwise to the alternate bucket.
 * In the bucket it takes its preferred slot (the top signature bits) or the nearest empty slot to the left,
 *     wrapping around.
 *   - If both buckets are full, a randomly chosen slot moves to its alternate bucket, and so on, up to
 *     max_displacements moves. The element that is then without a place is dropped and reported. With 0
 * moves, the chosen slot's element is dropped. A chain never chooses the same slot twice, so a table that is
 * so small that all its slots are in the chain drops earlier.
 *
 * The alternate bucket of a displaced element follows from its own signature.
 *
 * There are two layouts. KVC_MEGAKV_CUCKOO_APART is the published one: a bucket's signatures, then its
 * locations; 8 slots fill a 64-byte line. KVC_MEGAKV_CUCKOO_INTERLEAVED puts each location behind its
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
    KVC_MEGAKV_CUCKOO_INTERLEAVED, /**< Each location directly behind its signature. */
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

/** Creates an empty table in huge pages where the system has them; NULL with errno EINVAL (params) or ENOMEM.
 */
struct kvc_index *kvc_megakv_cuckoo_create(const struct kvc_megakv_cuckoo_params *params);

/** The table with the published geometry. */
extern const struct kvc_index_kind kvc_megakv_cuckoo_kind;

/** The interleaved table with buckets of 4 slots. */
extern const struct kvc_index_kind kvc_megakv_cuckoo_interleaved_kind;

#ifdef __cplusplus
}
#endif

#endif
