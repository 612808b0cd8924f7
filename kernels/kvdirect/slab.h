/** @file
 * KV-Direct's slab allocator: free slabs lie in stacks on the NIC, which are backed by stacks in host memory.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.2, 4 ("Slab Memory Allocator", fig. 8) and 5.1.2. The allocator
 * hands out addresses in granules of 32 bytes; the memory itself belongs to the caller.
 *  - Slabs have 32, 64, 128, 256 or 512 bytes, and there is one pool of free slabs for each size. A pool is a
 *    stack on the NIC and a stack in host memory. The processor pushes and pops at the NIC stack's left end;
 *    the NIC stack's right end meets the host stack's left end. Below a low watermark the NIC reads a batch
 * of entries, above a high watermark it writes one. A batch is one DMA operation of 64 bytes: 16 entries of 4
 *    bytes. The watermarks are so far apart that a batch serves 16 or more allocations or releases, which
 * makes at most 1/16 = 0.0625 DMA operations each (the paper: less than 0.07).
 *  - The host's daemon works at the host stacks' right ends. To split, it copies entries of a larger pool to
 * a smaller one unchanged, because an entry tells its slab's size; the NIC cuts such a slab in halves when
 * it pops it. To merge, it joins all free slabs of the host stacks in batch. It merges when no
 * larger pool has an entry to split, and when a pool has grown above its high watermark.
 *  - The daemon runs only when the caller says so. An allocation that finds both stacks empty fails and marks
 *    its pool for the daemon.
 *
 * The paper leaves some choices open: the stack sizes and watermarks below; that a pool is filled only after
 * an allocation has asked for it; and kvc_kvdirect_slab_recall, which makes the entries of the NIC stacks
 * available to a merge when memory runs out.
 *
 * A merge works by radix sort or by an allocation bitmap: sec. 3.3.2 (lazy merging), 5.1.2 and fig. 12 (radix
 * sort against bitmap over the number of cores). Both methods take every free slab entry and produce the
 * fewest aligned slabs of 32 to 512 bytes that cover the same memory, sorted by address.
 *
 * A free slab entry is 4 bytes, as 720 MB/s for 180 M entries/s in sec. 5.1.2 implies. The paper does not say
 * how an entry packs address and type. Here a slab of 2^type granules starts at a multiple of its own size,
 * so the lowest `type` bits of its address are 0; the entry is the 31-bit granule address, shifted left by
 * one, and a 1 in bit `type`, which is its lowest 1.
 *
 * Not modelled: a daemon that runs at the same time as the NIC, how the two tell each other where the stacks
 * end, and DMA latency. The allocator does not notice a slab that is released twice or with a wrong type.
 *
 * Threads: one. */
#ifndef KVC_KERNELS_KVDIRECT_SLAB_H
#define KVC_KERNELS_KVDIRECT_SLAB_H

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

/** Method of merging. Both give the same result. */
enum kvc_kvdirect_merge_method {
    KVC_KVDIRECT_MERGE_RADIX,  /**< Sort the entries by address, then join neighbours. */
    KVC_KVDIRECT_MERGE_BITMAP, /**< Set a bit for each free granule, then read the bitmap. */
};

/** Returns the entry of a free slab of 2^type granules that starts at this granule. */
static inline uint32_t kvc_kvdirect_slab_entry(uint32_t granule, unsigned type)
{
    return granule << 1 | 1u << type;
}

/** Returns the slab type of an entry. */
static inline unsigned kvc_kvdirect_slab_entry_type(uint32_t entry)
{
    return (unsigned)__builtin_ctz(entry);
}

/** Returns the first granule of an entry's slab. */
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

/** The granule that kvc_kvdirect_slab_alloc returns if it has no slab. */
#define KVC_KVDIRECT_SLAB_NONE 0xffffffffu

/** Stack sizes and watermarks. */
enum {
    KVC_KVDIRECT_SLAB_NIC_ENTRIES = 64,    /**< Size of a NIC stack [entries]. */
    KVC_KVDIRECT_SLAB_NIC_LOW = 16,        /**< Below it the NIC reads a batch [entries]. */
    KVC_KVDIRECT_SLAB_NIC_HIGH = 56,       /**< Above it the NIC writes a batch [entries]. */
    KVC_KVDIRECT_SLAB_DMA_ENTRIES = 16,    /**< Size of a batch, 64 bytes [entries]. */
    KVC_KVDIRECT_SLAB_HOST_LOW = 256,      /**< Splitting fills a host stack up to it [entries]. */
    KVC_KVDIRECT_SLAB_HOST_HIGH_SHARE = 4, /**< A pool is merged when 1/4 of all memory is free in it. */
};

/** Parameters of an allocator. */
struct kvc_kvdirect_slab_params {
    uint64_t first_granule; /**< Address of the memory, a multiple of 16 [granules]. */
    /** Size of the memory, a multiple of 512, above 0. It ends at 64 GiB at most, because addresses have 31
     * bits [bytes]. */
    uint64_t bytes;
};

/** Statistics of an allocator. Calls add to them. */
struct kvc_kvdirect_slab_stats {
    uint64_t allocated;   /**< Slabs allocated. */
    uint64_t released;    /**< Slabs released. */
    uint64_t failed;      /**< Allocations that found both stacks empty. */
    uint64_t dma_reads;   /**< DMA reads, each of up to KVC_KVDIRECT_SLAB_DMA_ENTRIES entries. */
    uint64_t dma_writes;  /**< DMA writes, each of up to KVC_KVDIRECT_SLAB_DMA_ENTRIES entries. */
    uint64_t dma_entries; /**< Entries moved by these. */
    uint64_t cut;         /**< Times the NIC cut a slab in halves. */
    uint64_t split;       /**< Entries that the daemon copied to a smaller pool. */
    uint64_t merges;      /**< Merges of all free slabs. */
    uint64_t merged_from; /**< Entries that went into merges. */
    uint64_t merged_to;   /**< Entries that came out of merges. */
};

/** The allocator (opaque). */
struct kvc_kvdirect_slab;

/** Frees an allocator; NULL is allowed. */
void kvc_kvdirect_slab_free(struct kvc_kvdirect_slab *slab);

/** Creates an allocator whose memory is all free, as slabs of 512 bytes in the host stack. Returns NULL with
 * errno EINVAL (bad parameters) or ENOMEM. */
struct kvc_kvdirect_slab *kvc_kvdirect_slab_create(const struct kvc_kvdirect_slab_params *params);

/** Returns the size of a slab of this type, 0 to KVC_KVDIRECT_SLAB_TYPES - 1 [bytes]. */
static inline uint32_t kvc_kvdirect_slab_bytes(unsigned type)
{
    return (uint32_t)KVC_KVDIRECT_SLAB_GRANULE_BYTES << type;
}

/** Returns the smallest slab type that holds this many bytes, 1 to 512. */
static inline unsigned kvc_kvdirect_slab_type(uint32_t bytes)
{
    return bytes <= KVC_KVDIRECT_SLAB_GRANULE_BYTES ? 0 : 27u - (unsigned)__builtin_clz(bytes - 1);
}

/** Allocates a slab. Returns its first granule, which is a multiple of 2^type, or KVC_KVDIRECT_SLAB_NONE if
 * both stacks of the pool are empty. */
uint32_t kvc_kvdirect_slab_alloc(struct kvc_kvdirect_slab *slab, unsigned type,
                                 struct kvc_kvdirect_slab_stats *stats);

/** Releases a slab that was allocated with this type. */
void kvc_kvdirect_slab_release(struct kvc_kvdirect_slab *slab, uint32_t granule, unsigned type,
                               struct kvc_kvdirect_slab_stats *stats);

/** Runs the host daemon once. It merges if a pool is above its high watermark, fills the pools that
 * allocations asked for by splitting, and merges again for the pools that it cannot fill. Returns false if a
 * pool that was asked for is still empty. */
bool kvc_kvdirect_slab_daemon(struct kvc_kvdirect_slab *slab, struct kvc_kvdirect_slab_stats *stats);

/** Merges all free slabs of the host stacks. Returns false with errno ENOMEM or EINVAL (number of threads),
 * and changes nothing, if that fails. */
bool kvc_kvdirect_slab_merge(struct kvc_kvdirect_slab *slab, enum kvc_kvdirect_merge_method method,
                             unsigned threads, struct kvc_kvdirect_slab_stats *stats);

/** Writes the entries of all NIC stacks back to the host stacks. */
void kvc_kvdirect_slab_recall(struct kvc_kvdirect_slab *slab, struct kvc_kvdirect_slab_stats *stats);

/** Returns the free memory in both stacks of all pools [bytes]. */
uint64_t kvc_kvdirect_slab_free_bytes(const struct kvc_kvdirect_slab *slab);

/** Returns the number of entries in a pool's NIC stack. A slab that was split and not yet cut is one entry.
 */
uint64_t kvc_kvdirect_slab_nic_entries(const struct kvc_kvdirect_slab *slab, unsigned type);

/** Returns the number of entries in a pool's host stack. A slab that was split and not yet cut is one entry.
 */
uint64_t kvc_kvdirect_slab_host_entries(const struct kvc_kvdirect_slab *slab, unsigned type);

#ifdef __cplusplus
}
#endif

#endif
