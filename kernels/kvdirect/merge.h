/** @file
 * Merging of free slabs into larger ones, in batch, by radix sort or by an allocation bitmap.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.2 (lazy merging), 5.1.2 and fig. 12 (radix sort against bitmap over
 * the number of cores). Both methods take every free slab entry and produce the fewest aligned slabs of 32 to
 * 512 bytes that cover the same memory, sorted by address.
 *
 * A free slab entry is 4 bytes, as 720 MB/s for 180 M entries/s in sec. 5.1.2 implies. The paper does not say
 * how an entry packs address and type. Here a slab of 2^type granules starts at a multiple of its own size,
 * so the lowest `type` bits of its address are 0; the entry is the 31-bit granule address, shifted left by
 * one, and a 1 in bit `type`, which is its lowest 1. */
#ifndef KVC_KERNELS_KVDIRECT_MERGE_H
#define KVC_KERNELS_KVDIRECT_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes of slabs and limits of a merge. */
enum {
    KVC_KVDIRECT_SLAB_GRANULE_BYTES = 32,  /**< Unit of addresses, and the smallest slab [bytes]. */
    KVC_KVDIRECT_SLAB_TYPES = 5,           /**< Slab types; type t has 32 * 2^t bytes. */
    KVC_KVDIRECT_SLAB_BLOCK_GRANULES = 16, /**< Granules of the largest slab, 512 bytes. */
    KVC_KVDIRECT_MERGE_THREADS_MAX = 64,   /**< Most threads of a merge. */
};

/** How to merge. The result is the same. */
enum kvc_kvdirect_merge_method {
    KVC_KVDIRECT_MERGE_RADIX,  /**< Sort the entries by address, then join neighbours. */
    KVC_KVDIRECT_MERGE_BITMAP, /**< Set a bit for each free granule, then read the bitmap. */
};

/** The entry of a free slab of 2^type granules that starts at this granule. */
static inline uint32_t kvc_kvdirect_slab_entry(uint32_t granule, unsigned type)
{
    return granule << 1 | 1u << type;
}

/** The slab type of an entry. */
static inline unsigned kvc_kvdirect_slab_entry_type(uint32_t entry)
{
    return (unsigned)__builtin_ctz(entry);
}

/** The first granule of an entry's slab. */
static inline uint32_t kvc_kvdirect_slab_entry_granule(uint32_t entry)
{
    return (entry & (entry - 1)) >> 1;
}

/** Merges free slabs in place.
 *
 * The result does not depend on the method or the number of threads. A radix sort needs as much scratch
 * memory as the entries, a bitmap needs a bit for each granule. Returns false with errno ENOMEM or EINVAL,
 * and changes nothing, if that memory is missing or an argument is out of range.
 *
 * @param method   How to merge.
 * @param entry    The free slabs, which must not overlap; out: the merged slabs, sorted by address.
 * @param count    Number of entries; out: number of merged entries.
 * @param granules End of the memory: every slab lies below this granule, 1 to 2^31.
 * @param threads  Number of threads, 1 to KVC_KVDIRECT_MERGE_THREADS_MAX.
 * @return Whether the slabs were merged. */
bool kvc_kvdirect_merge(enum kvc_kvdirect_merge_method method, uint32_t *entry, uint64_t *count,
                        uint64_t granules, unsigned threads);

#ifdef __cplusplus
}
#endif

#endif
