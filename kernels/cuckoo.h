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

enum { KVC_CUCKOO_CELLS = 8 };

/* No location: "not found", or "nothing was displaced". Never a valid slab location. */
#define KVC_LOCATION_NONE 0xffffffffu
/* For kvc_cuckoo_erase: erase whatever location the signature has. */
#define KVC_LOCATION_ANY 0xfffffffeu

struct kvc_cuckoo;

struct kvc_cuckoo_params {
    uint64_t bytes;             /* table size, power of two, 64 B .. 32 GiB; 2 GiB holds 2^28 cells */
    uint32_t max_displacements; /* per insert, 0 .. 1000 */
    uint64_t seed;              /* of the random victim choice */
    bool portable;              /* use the portable twin in any case; same results, for tests */
};

/* What the kernel did; calls add to it. */
struct kvc_cuckoo_stats {
    uint64_t searches, search_hits, search_lines; /* lines: 64-byte buckets read */
    uint64_t inserts, insert_lines;               /* buckets read or written */
    uint64_t replaced;                            /* inserts that met their own signature */
    uint64_t displacements;                       /* elements moved to their alternate bucket */
    uint64_t dropped;                             /* elements lost at the end of a chain */
    uint64_t erases, erased, erase_lines;
};

void kvc_cuckoo_free(struct kvc_cuckoo *table); /* NULL is allowed */

/* NULL with errno EINVAL (params) or ENOMEM. Memory uses huge pages where the system has them. */
struct kvc_cuckoo *kvc_cuckoo_create(const struct kvc_cuckoo_params *params);

uint64_t kvc_cuckoo_cells(const struct kvc_cuckoo *table);
uint64_t kvc_cuckoo_used(const struct kvc_cuckoo *table);

/* location[i] = where hash[i] is, or KVC_LOCATION_NONE. Software-pipelined: any count, best from 32 up. */
void kvc_cuckoo_search(const struct kvc_cuckoo *table, const uint64_t *hash, uint32_t count,
                       uint32_t *location, struct kvc_cuckoo_stats *stats);

/* Inserts in order. out[i] is KVC_LOCATION_NONE, or the location that hash[i] replaced or that was dropped
 * from the table because of it. `out` may be NULL. */
void kvc_cuckoo_insert(struct kvc_cuckoo *table, const uint64_t *hash, const uint32_t *location,
                       uint32_t count, uint32_t *out, struct kvc_cuckoo_stats *stats);

/* Erases hash[i] where both signature and location match (or KVC_LOCATION_ANY). out[i] is the location erased
 * or KVC_LOCATION_NONE. `out` may be NULL. */
void kvc_cuckoo_erase(struct kvc_cuckoo *table, const uint64_t *hash, const uint32_t *location,
                      uint32_t count, uint32_t *out, struct kvc_cuckoo_stats *stats);

#endif
