/* Mega-KV's cuckoo index: two hash functions, buckets of 8 cells, 32-bit signature + 32-bit location.
 *
 * Source: Zhang et al., VLDB J. 26(5) 2017, sec. 4.1-4.2. A bucket is one 64-byte line: 8 signatures, then 8
 * locations. The primary bucket is the low half of the hash; the alternate one is XOR with the signature.
 * What the paper says and this table does:
 *  - search looks in the primary bucket, then in the alternate one; the first equal signature wins;
 *  - a bucket never holds the same signature twice: insert replaces the location of an equal signature found
 *    in either bucket (the old item stays in the slab until eviction finds it);
 *  - a new element goes to the primary bucket if that has an empty cell, else to the alternate one; there to
 *    its preferred cell (top 3 signature bits) or the empty cell left nearest to it, round the end;
 *  - with both buckets full, a randomly chosen cell moves to its alternate bucket, and so on up to
 *    max_displacements moves; the element that then has no place is dropped and reported. (With 0 moves
 *    that is the chosen cell's element itself.) A chain never chooses the same cell twice: a table so
 *    small that all its cells are in the chain drops earlier.
 * The alternate bucket of a displaced element is taken from its own signature.
 *
 * Not modelled: insert partitions and processing units (a GPU matter), interleaved cells.
 *
 * Threads: any number of concurrent searches, and one inserting or erasing thread at a time. A reader sees
 * each element at its old or its new place, never neither; what it reads may be stale, so the caller checks
 * the key. */
#ifndef KVC_KERNELS_CUCKOO_H
#define KVC_KERNELS_CUCKOO_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"

enum { KVC_CUCKOO_CELLS = 8 };

struct kvc_cuckoo_params {
    uint64_t bytes;             /* table size, power of two, 64 B .. 32 GiB; 2 GiB holds 2^28 cells */
    uint32_t max_displacements; /* per insert, 0 .. 1000 */
    uint64_t seed;              /* of the random victim choice */
    bool portable;              /* use the portable twin in any case; same results, for tests */
};

/* NULL with errno EINVAL (params) or ENOMEM. Memory uses huge pages where the system has them. */
struct kvc_index *kvc_cuckoo_create(const struct kvc_cuckoo_params *params);

extern const struct kvc_index_kind kvc_cuckoo_kind;

#endif
