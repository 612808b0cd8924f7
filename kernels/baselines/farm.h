/** @file
 * FaRM's hash table: chained associative hopscotch hashing.
 *
 * Source: Dragojevic, Narayanan, Castro, Hodson, "FaRM: Fast Remote Memory", NSDI 2014; hopscotch hashing is
 * from Herlihy, Shavit, Tzafrir, DISC 2008. The table follows the scheme as it is generally described and is
 * not checked against FaRM's text. The scheme:
 *  - A key is in one of H = 8 slots, which are the 4 of its home bucket and the 4 of the next bucket, or in
 *    the overflow chain of its home bucket.
 *  - A new element takes a free slot of its home bucket, else one of the next bucket. If there is none,
 *    linear probing finds the nearest bucket with a free slot, and elements are moved within their own two
 *    buckets until a free slot is near enough. A free slot can come one bucket nearer only if an element
 *    there is in its home bucket.
 *  - If no free slot is found or none can be brought near, the element goes to the overflow chain. Thus the
 *    table need not grow, and probing is bounded.
 *
 * As in KV-Direct's comparison (SOSP 2017, sec. 5.1.1), keys of 8 bytes are in the table and values are
 * elsewhere. A slot is the 64-bit hash, which stands for the key and is compared in full, and a 32-bit
 * location. A bucket and an overflow block are one 64-byte line of 4 slots each.
 *
 * The scheme leaves some choices open. Probing has a fixed bound. Moves are planned on the lines that were
 * read, and nothing is written unless they succeed. The first bucket follows the last. Only the last block of
 * a chain has free slots, so an erase fills its slot with the last element of its home bucket's chain, and
 * frees a block that becomes empty. Overflow blocks come from a pool of fixed size; an element that finds the
 * pool empty is dropped.
 *
 * A search reads the line of the home bucket, then the line of the next bucket, then the chain, until it
 * finds its key. An insert reads all of them, because the key might be there, and then the buckets that it
 * probes. FaRM reads both buckets with one RDMA operation; they are two lines here. The link from a free
 * block to the next counts as a read.
 *
 * Not modelled: transactions, versions of objects, lock-free remote reads, and values within the table.
 *
 * Threads: one, or any number of threads that only search. */
#ifndef KVC_KERNELS_BASELINES_FARM_H
#define KVC_KERNELS_BASELINES_FARM_H

#include <stdint.h>

#include "kernels/baselines/accesses.h"
#include "kernels/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Shape of a bucket. */
enum {
    KVC_FARM_SLOTS = 4,       /**< Slots of a bucket: H / 2. */
    KVC_FARM_LINE_BYTES = 64, /**< Size of a bucket or overflow block [bytes]. */
};

/** Parameters of a table. */
struct kvc_farm_params {
    uint32_t buckets;         /**< Buckets, 2 to 2^30. */
    uint32_t overflow_blocks; /**< Overflow blocks in the pool, 0 to 2^30. */
    /** Buckets in which an insert looks for a free slot, its home bucket first: 2 to 1024; 0: 16. */
    uint32_t probe_buckets;
};

/** Counts of a table. A search reads its search_lines and writes nothing. */
struct kvc_farm_counts {
    struct kvc_memory_accesses insert; /**< Accesses of inserts since the table was created. */
    struct kvc_memory_accesses erase;  /**< Accesses of erases since the table was created. */
    uint64_t overflow_blocks;          /**< Overflow blocks in chains now. */
};

/** Creates an empty table. Returns NULL with errno EINVAL (bad parameters) or ENOMEM. */
struct kvc_index *kvc_farm_create(const struct kvc_farm_params *params);

/** Returns the counts of an index that kvc_farm_create has made. */
struct kvc_farm_counts kvc_farm_counts(const struct kvc_index *index);

/** The table as an index kind. One eighth of the memory is overflow blocks. */
extern const struct kvc_index_kind kvc_farm_kind;

#ifdef __cplusplus
}
#endif

#endif
