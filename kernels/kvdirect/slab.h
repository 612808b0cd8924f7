/* KV-Direct's slab allocator: free slabs in stacks on the NIC, backed by stacks in host memory.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.2, 4 ("Slab Memory Allocator", fig. 8) and 5.1.2. It hands out
 * addresses only, in granules of 32 bytes; the memory is the caller's.
 *  - Slabs have 32, 64, 128, 256 or 512 bytes, one pool of free slabs for each. A pool is a stack on the NIC,
 *    whose left end the processor pops and pushes, and a stack in host memory, whose left end meets the NIC
 *    stack's right end: below a low watermark the NIC reads a batch of entries, above a high watermark it
 *    writes one. A batch is one DMA operation of 64 bytes, 16 entries of 4 bytes; the watermarks are so far
 *    apart that a batch serves 16 or more allocations or releases: at most 1/16 = 0.0625 DMA operations
 *    each (the paper: less than 0.07).
 *  - The host's daemon works at the right ends. Splitting copies entries of a larger pool to a smaller one as
 *    they are, for an entry tells its slab's size; the NIC cuts such a slab in halves when it pops it. Where
 *    no larger pool has any, or where a pool has grown above its high watermark, all free slabs of the host
 *    stacks are merged in batch (merge.h).
 *  - The daemon runs when the caller says so, and only then. An allocation that finds both stacks empty fails
 *    and leaves word for the daemon.
 *
 * Choices where the paper is silent: the stack sizes and watermarks below; a pool is filled only after an
 * allocation asked for it; kvc_kvdirect_slab_recall, which lets what the NIC stacks hold take part in a merge
 * when memory runs out.
 *
 * Not modelled: the daemon running at the same time as the NIC, how the two tell each other how far the
 * stacks reach, DMA latency. A slab released twice, or with another type, is not noticed. One thread. */
#ifndef KVC_KERNELS_KVDIRECT_SLAB_H
#define KVC_KERNELS_KVDIRECT_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kvdirect/merge.h"

/* No slab. */
#define KVC_KVDIRECT_SLAB_NONE 0xffffffffu

enum {
    KVC_KVDIRECT_TABLE_NIC_ENTRIES = 64,    /* of a NIC stack */
    KVC_KVDIRECT_TABLE_NIC_LOW = 16,        /* reads a batch below it */
    KVC_KVDIRECT_TABLE_NIC_HIGH = 56,       /* writes a batch above it */
    KVC_KVDIRECT_TABLE_DMA_ENTRIES = 16,    /* in a batch, 64 bytes */
    KVC_KVDIRECT_TABLE_HOST_LOW = 256,      /* splitting fills a host stack up to it */
    KVC_KVDIRECT_TABLE_HOST_HIGH_SHARE = 4, /* 1/4 of all memory free in one pool: it is merged */
};

struct kvc_kvdirect_slab_params {
    uint64_t first_granule; /* address of the memory, a multiple of 16 granules */
    uint64_t bytes;         /* a multiple of 512, above 0; the end at most 64 GiB (31-bit addresses) */
};

/* Calls add to it. */
struct kvc_kvdirect_slab_stats {
    uint64_t allocated, released;
    uint64_t failed;                /* allocations that found both stacks empty */
    uint64_t dma_reads, dma_writes; /* operations, each up to KVC_KVDIRECT_TABLE_DMA_ENTRIES entries */
    uint64_t dma_entries;
    uint64_t cut;         /* halvings of larger slabs by the NIC */
    uint64_t split;       /* entries copied to a smaller pool by the daemon */
    uint64_t merges;      /* batches */
    uint64_t merged_from; /* entries that went in */
    uint64_t merged_to;   /* entries that came out */
};

struct kvc_kvdirect_slab;

void kvc_kvdirect_slab_free(struct kvc_kvdirect_slab *slab); /* NULL is allowed */

/* All memory free, as slabs of 512 bytes in the host stack. NULL with errno EINVAL or ENOMEM. */
struct kvc_kvdirect_slab *kvc_kvdirect_slab_create(const struct kvc_kvdirect_slab_params *params);

/* Bytes of a slab of `type`, 0 .. KVC_KVDIRECT_SLAB_TYPES - 1. */
static inline uint32_t kvc_kvdirect_slab_bytes(unsigned type)
{
    return (uint32_t)KVC_KVDIRECT_TABLE_GRANULE_BYTES << type;
}

/* The smallest type that holds `bytes`, 1 .. 512. */
static inline unsigned kvc_kvdirect_slab_type(uint32_t bytes)
{
    return bytes <= KVC_KVDIRECT_TABLE_GRANULE_BYTES ? 0 : 27u - (unsigned)__builtin_clz(bytes - 1);
}

/* First granule of a slab, a multiple of 2^type; KVC_KVDIRECT_SLAB_NONE: the pool's stacks are empty. */
uint32_t kvc_kvdirect_slab_alloc(struct kvc_kvdirect_slab *slab, unsigned type,
                                 struct kvc_kvdirect_slab_stats *stats);

/* Gives back what was allocated with this type. */
void kvc_kvdirect_slab_release(struct kvc_kvdirect_slab *slab, uint32_t granule, unsigned type,
                               struct kvc_kvdirect_slab_stats *stats);

/* The host daemon's turn: merges if a pool is above its high watermark, fills the pools that were asked for
 * by splitting, and merges for those that it cannot fill. False: some pool that was asked for is still
 * empty. */
bool kvc_kvdirect_slab_daemon(struct kvc_kvdirect_slab *slab, struct kvc_kvdirect_slab_stats *stats);

/* Merges all free slabs of the host stacks. False with errno ENOMEM or EINVAL (threads), nothing changed. */
bool kvc_kvdirect_slab_merge(struct kvc_kvdirect_slab *slab, enum kvc_kvdirect_merge_method method,
                             unsigned threads, struct kvc_kvdirect_slab_stats *stats);

/* Writes all NIC stacks back to the host's. */
void kvc_kvdirect_slab_recall(struct kvc_kvdirect_slab *slab, struct kvc_kvdirect_slab_stats *stats);

/* Of both stacks of all pools. */
uint64_t kvc_kvdirect_slab_free_bytes(const struct kvc_kvdirect_slab *slab);

/* Free slab entries of a pool; what was split and not yet cut is one entry. */
uint64_t kvc_kvdirect_slab_nic_entries(const struct kvc_kvdirect_slab *slab, unsigned type);
uint64_t kvc_kvdirect_slab_host_entries(const struct kvc_kvdirect_slab *slab, unsigned type);

#endif
