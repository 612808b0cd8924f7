/* FaRM's hash table: chained associative hopscotch hashing.
 *
 * Source: Dragojevic, Narayanan, Castro, Hodson, "FaRM: Fast Remote Memory", NSDI 2014; hopscotch hashing is
 * Herlihy, Shavit, Tzafrir, DISC 2008. Written from the scheme as it is generally described, not checked
 * against FaRM's text. The scheme:
 *  - a key is in one of H = 8 slots, the 4 of its home bucket and the 4 of the next one, or in the overflow
 *    chain of its home bucket;
 *  - a new element takes a free slot of its home bucket, else one of the next. Where there is none, linear
 *    probing finds the nearest bucket with one, and elements are moved within their own two buckets until the
 *    free slot is near enough. A slot can come one bucket nearer only if an element is in its home bucket
 *    there;
 *  - where no slot is found, or none can be brought near, the element goes to the overflow chain, so that the
 *    table need not grow and probing is bounded.
 *
 * As KV-Direct (SOSP 2017, sec. 5.1.1) compares it, keys of 8 bytes are in the table and values elsewhere: a
 * slot is the 64-bit hash, which stands for the key and is compared in full, and a 32-bit location. A bucket
 * and an overflow block are one 64-byte line of 4 slots each.
 *
 * Choices of ours: the bound on probing; moves are planned on the lines read and nothing is written unless
 * they succeed; the next bucket of the last is the first; a chain has free slots in its last block only, so
 * an erase fills its slot with the last element of its home bucket's chain and frees a block that becomes
 * empty; overflow blocks come from a pool of fixed size, and an element that finds it empty is dropped.
 *
 * Lines: a search reads the home bucket, then the next one, then the chain, until it finds its key. An insert
 * reads all of them, as the key might be there, then the buckets probed. FaRM reads both buckets with one
 * RDMA operation; they are two lines here. A free block's link to the next one is counted as a read.
 *
 * Not modelled: transactions, versions of objects, lock-free remote reads, values within the table.
 *
 * Threads: one, or any number of them that only search. */
#ifndef KVC_KERNELS_BASELINES_FARM_H
#define KVC_KERNELS_BASELINES_FARM_H

#include <stdint.h>

#include "kernels/baselines/accesses.h"
#include "kernels/index.h"

enum {
    KVC_FARM_SLOTS = 4, /* of a bucket: H / 2 */
    KVC_FARM_LINE_BYTES = 64,
};

struct kvc_farm_params {
    uint32_t buckets;         /* 2 .. 2^30 */
    uint32_t overflow_blocks; /* 0 .. 2^30 */
    uint32_t probe_buckets;   /* that an insert looks for a free slot in, its home first: 2 .. 1024; 0: 16 */
};

struct kvc_farm_counts {
    struct kvc_memory_accesses insert, erase; /* until now; a search reads its search_lines, writes none */
    uint64_t overflow_blocks;                 /* in chains now */
};

/* NULL with errno EINVAL (params) or ENOMEM. */
struct kvc_index *kvc_farm_create(const struct kvc_farm_params *params);

/* Of an index that kvc_farm_create made. */
struct kvc_farm_counts kvc_farm_counts(const struct kvc_index *index);

extern const struct kvc_index_kind kvc_farm_kind; /* an eighth of the memory are overflow blocks */

#endif
