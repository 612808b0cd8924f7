/* Merging of free slabs into larger ones, in batch, by radix sort or by an allocation bitmap.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.2 (lazy merging), 5.1.2 and fig. 12 (radix sort against bitmap over
 * the number of cores). Both methods take every free slab entry and give the fewest aligned slabs of 32 to
 * 512 bytes that cover the same memory, in order of address.
 *
 * A free slab entry is 4 bytes, as sec. 5.1.2's 720 MB/s for 180 M entries/s implies. A slab of 2^type
 * granules starts at a multiple of its own size, so its lowest `type` address bits are 0; the entry is the
 * 31-bit granule address and a 1 behind it, in the place that tells the type. (The paper does not say how it
 * packs address and type.) */
#ifndef KVC_KERNELS_KVDIRECT_MERGE_H
#define KVC_KERNELS_KVDIRECT_MERGE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    KVC_KVDIRECT_TABLE_GRANULE_BYTES = 32,
    KVC_KVDIRECT_SLAB_TYPES = 5,            /* type t: 32 << t bytes */
    KVC_KVDIRECT_TABLE_BLOCK_GRANULES = 16, /* in the largest slab, 512 bytes */
    KVC_KVDIRECT_MERGE_THREADS = 64,        /* at most */
};

enum kvc_kvdirect_merge_method {
    KVC_KVDIRECT_MERGE_RADIX,
    KVC_KVDIRECT_MERGE_BITMAP,
};

static inline uint32_t kvc_kvdirect_table_entry(uint32_t granule, unsigned type)
{
    return granule << 1 | 1u << type;
}

static inline unsigned kvc_kvdirect_table_entry_type(uint32_t entry)
{
    return (unsigned)__builtin_ctz(entry);
}

static inline uint32_t kvc_kvdirect_table_entry_granule(uint32_t entry)
{
    return (entry & (entry - 1)) >> 1;
}

/* Merges the `*count` free slabs in `entry`, none of which overlap, and stores the result over them, sorted
 * by address, with its number in `*count`. All lie below granule `granules` (1 .. 2^31). `threads`: 1 ..
 * KVC_KVDIRECT_MERGE_THREADS. Needs scratch memory, as much again (radix sort) or a bit per granule (bitmap);
 * false with errno ENOMEM or EINVAL and nothing changed if there is none. The result does not depend on
 * method or threads. */
bool kvc_kvdirect_merge(enum kvc_kvdirect_merge_method method, uint32_t *entry, uint64_t *count,
                        uint64_t granules, unsigned threads);

#endif
