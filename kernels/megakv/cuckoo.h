/* Mega-KV's cuckoo index: two hash functions, buckets of cells of a 32-bit signature and a 32-bit location.
 *
 * Source: Zhang et al., VLDB J. 26(5) 2017, sec. 4.1-4.2. The primary bucket is the low half of the hash; the
 * alternate one is XOR with the signature, within the same insert partition.
 * What the paper says and this table does:
 *  - search looks in the primary bucket, then in the alternate one; the first equal signature wins;
 *  - a bucket never holds the same signature twice: insert replaces the location of an equal signature found
 *    in either bucket (the old item stays in the slab until eviction finds it);
 *  - a new element goes to the primary bucket if that has an empty cell, else to the alternate one; there to
 *    its preferred cell (top signature bits) or the empty cell left nearest to it, round the end;
 *  - with both buckets full, a randomly chosen cell moves to its alternate bucket, and so on up to
 *    max_displacements moves; the element that then has no place is dropped and reported. (With 0 moves
 *    that is the chosen cell's element itself.) A chain never chooses the same cell twice: a table so
 *    small that all its cells are in the chain drops earlier.
 * The alternate bucket of a displaced element is taken from its own signature.
 *
 * Two layouts. Apart, the published one: a bucket's signatures, then its locations; 8 cells are one 64-byte
 * line. Interleaved: each location behind its signature, so that one atomic exchange moves an element and 4
 * cells come in one 32-byte memory sector. There, cells that were never used are told from erased ones: as
 * long as a bucket has one, no element of it lives in its alternate bucket, so inserts and searches for what
 * is absent need not look there.
 *
 * Threads: any number of concurrent searches, and one inserting or erasing thread at a time. A reader sees
 * each element at its old or its new place, never neither; what it reads may be stale, so the caller checks
 * the key. Tables with published_displacement lose elements and are for comparison only. */
#ifndef KVC_KERNELS_MEGAKV_CUCKOO_H
#define KVC_KERNELS_MEGAKV_CUCKOO_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { KVC_MEGAKV_CUCKOO_SLOTS = 8 }; /* of a bucket, as published */

enum kvc_megakv_cuckoo_layout {
    KVC_MEGAKV_CUCKOO_APART,
    KVC_MEGAKV_CUCKOO_INTERLEAVED,
};

struct kvc_megakv_cuckoo_params {
    uint64_t bytes; /* table size, power of two, one bucket .. 32 GiB; 2 GiB holds 2^28 cells */
    enum kvc_megakv_cuckoo_layout layout;
    uint32_t slots;      /* of a bucket: 4, 8, 16 or 32; 0: 8 */
    uint32_t partitions; /* that alternate buckets stay in: a power of two, 1 .. 1024; 0: 1 */
    uint32_t
        threads; /* of a GPU's processing unit, a power of two up to `cells`; 0: the fastest. 0 on a CPU */
    uint32_t max_displacements; /* per insert, 0 .. 1000 */
    /* Take the alternate bucket of a displaced element from the signature of the one that displaces it, as
     * the published kernel does (its published source, not the paper's text): it is then where no search
     * looks for it. */
    bool published_displacement;
    uint64_t seed; /* of the random victim choice */
    bool portable; /* use the portable twin in any case; same results, for tests. false on a GPU */
};

/* NULL with errno EINVAL (params) or ENOMEM. Memory uses huge pages where the system has them. */
struct kvc_index *kvc_megakv_cuckoo_create(const struct kvc_megakv_cuckoo_params *params);

extern const struct kvc_index_kind kvc_megakv_cuckoo_kind;             /* the published geometry */
extern const struct kvc_index_kind kvc_megakv_cuckoo_interleaved_kind; /* buckets of 4 cells */

#ifdef __cplusplus
}
#endif

#endif
