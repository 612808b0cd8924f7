#include "kernels/kvdirect/slab.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/pages.h"

enum {
    TYPES = KVC_KVDIRECT_SLAB_TYPES,
    NIC_MASK = KVC_KVDIRECT_SLAB_NIC_ENTRIES - 1,
};

/* The free slabs of one size. Both stacks are rings. Positions grow without bound and are masked; the left
 * end is at `left`, the right end `count` further on. */
struct pool {
    uint32_t nic[KVC_KVDIRECT_SLAB_NIC_ENTRIES]; /* NIC stack. */
    uint32_t nic_left, nic_count;
    bool wanted;         /* The NIC found too few entries in the host stack. */
    uint32_t *host;      /* Host stack. */
    uint64_t host_bytes; /* Size of its ring [bytes]. */
    uint64_t host_mask;
    uint64_t host_left, host_count;
    uint64_t host_high; /* High watermark, above which the daemon merges [entries]. */
};

struct kvc_kvdirect_slab {
    struct pool pool[TYPES];
    uint64_t first_granule; /* Address of the memory [granules]. */
    uint64_t granules;      /* Its size [granules]. */
    uint64_t free_granules; /* Free part [granules]. */
    bool unmerged;          /* An entry has come to a host stack since the last merge. */
};

static void nic_push_left(struct pool *pool, uint32_t entry)
{
    pool->nic_left--;
    pool->nic_count++;
    pool->nic[pool->nic_left & NIC_MASK] = entry;
}

static uint32_t nic_pop_left(struct pool *pool)
{
    uint32_t entry = pool->nic[pool->nic_left & NIC_MASK];
    pool->nic_left++;
    pool->nic_count--;
    return entry;
}

static void host_push_right(struct pool *pool, uint32_t entry)
{
    pool->host[(pool->host_left + pool->host_count) & pool->host_mask] = entry;
    pool->host_count++;
}

static uint32_t host_pop_right(struct pool *pool)
{
    pool->host_count--;
    return pool->host[(pool->host_left + pool->host_count) & pool->host_mask];
}

/* DMA operations that a transfer of `count` entries from ring position `left` takes: one, or two if it passes
 * the end of the ring. */
static uint64_t dma_operations(const struct pool *pool, uint64_t left, uint32_t count)
{
    return (left & pool->host_mask) + count > pool->host_mask + 1 ? 2 : 1;
}

/* Moves a batch from the host stack's left end to the NIC stack's right end. A batch is smaller than 16
 * entries only if the NIC stack is empty. */
static void read_batch(struct pool *pool, struct kvc_kvdirect_slab_stats *stats)
{
    pool->wanted |= pool->host_count < KVC_KVDIRECT_SLAB_DMA_ENTRIES;
    uint32_t count = pool->host_count < KVC_KVDIRECT_SLAB_DMA_ENTRIES ? (uint32_t)pool->host_count
                                                                      : KVC_KVDIRECT_SLAB_DMA_ENTRIES;
    if (count == 0 || (count < KVC_KVDIRECT_SLAB_DMA_ENTRIES && pool->nic_count != 0)) {
        return;
    }
    stats->dma_reads += dma_operations(pool, pool->host_left, count);
    stats->dma_entries += count;
    for (uint32_t i = 0; i < count; i++) {
        pool->nic[(pool->nic_left + pool->nic_count++) & NIC_MASK] =
            pool->host[pool->host_left++ & pool->host_mask];
    }
    pool->host_count -= count;
}

/* Moves the rightmost `count` entries of the NIC stack to the host stack's left end. */
static void write_batch(struct kvc_kvdirect_slab *slab, struct pool *pool, uint32_t count,
                        struct kvc_kvdirect_slab_stats *stats)
{
    for (uint32_t i = 0; i < count; i++) {
        pool->nic_count--;
        pool->host[--pool->host_left & pool->host_mask] =
            pool->nic[(pool->nic_left + pool->nic_count) & NIC_MASK];
    }
    pool->host_count += count;
    slab->unmerged = true;
    stats->dma_writes += dma_operations(pool, pool->host_left, count);
    stats->dma_entries += count;
}

uint32_t kvc_kvdirect_slab_alloc(struct kvc_kvdirect_slab *slab, unsigned type,
                                 struct kvc_kvdirect_slab_stats *stats)
{
    struct pool *pool = &slab->pool[type];
    if (pool->nic_count < KVC_KVDIRECT_SLAB_NIC_LOW) {
        read_batch(pool, stats);
    }
    if (pool->nic_count == 0) {
        stats->failed++;
        return KVC_KVDIRECT_SLAB_NONE;
    }
    uint32_t entry = nic_pop_left(pool);
    uint32_t granule = kvc_kvdirect_slab_entry_granule(entry);
    for (unsigned half = kvc_kvdirect_slab_entry_type(entry); half > type;) {
        half--;
        nic_push_left(pool, kvc_kvdirect_slab_entry(granule + (1u << half), half));
        stats->cut++;
    }
    slab->free_granules -= UINT64_C(1) << type;
    stats->allocated++;
    return granule;
}

void kvc_kvdirect_slab_release(struct kvc_kvdirect_slab *slab, uint32_t granule, unsigned type,
                               struct kvc_kvdirect_slab_stats *stats)
{
    struct pool *pool = &slab->pool[type];
    nic_push_left(pool, kvc_kvdirect_slab_entry(granule, type));
    slab->free_granules += UINT64_C(1) << type;
    stats->released++;
    if (pool->nic_count > KVC_KVDIRECT_SLAB_NIC_HIGH) {
        write_batch(slab, pool, KVC_KVDIRECT_SLAB_DMA_ENTRIES, stats);
    }
}

void kvc_kvdirect_slab_recall(struct kvc_kvdirect_slab *slab, struct kvc_kvdirect_slab_stats *stats)
{
    for (unsigned type = 0; type < TYPES; type++) {
        struct pool *pool = &slab->pool[type];
        while (pool->nic_count > 0) {
            uint32_t batch = pool->nic_count % KVC_KVDIRECT_SLAB_DMA_ENTRIES;
            write_batch(slab, pool, batch != 0 ? batch : KVC_KVDIRECT_SLAB_DMA_ENTRIES, stats);
        }
    }
}

/* Number of slabs of this type that the whole memory is worth. */
static uint64_t slabs_of(const struct kvc_kvdirect_slab *slab, unsigned type)
{
    return slab->granules >> type;
}

/* Sets a pool's high watermark after a merge. The pool must double before it is merged again, so that entries
 * which cannot be merged are not tried every time. */
static void set_high_watermark(struct kvc_kvdirect_slab *slab, unsigned type)
{
    struct pool *pool = &slab->pool[type];
    uint64_t high = slabs_of(slab, type) / KVC_KVDIRECT_SLAB_HOST_HIGH_SHARE;
    pool->host_high = high > 2 * pool->host_count ? high : 2 * pool->host_count;
}

bool kvc_kvdirect_slab_merge(struct kvc_kvdirect_slab *slab, enum kvc_kvdirect_merge_method method,
                             unsigned threads, struct kvc_kvdirect_slab_stats *stats)
{
    uint64_t count = 0;
    for (unsigned type = 0; type < TYPES; type++) {
        count += slab->pool[type].host_count;
    }
    if (count == 0) {
        return true;
    }
    uint64_t vector_bytes = count * sizeof(uint32_t);
    uint32_t *vector = kvc_pages_alloc(vector_bytes);
    if (vector == NULL) {
        return false;
    }
    uint64_t filled = 0;
    for (unsigned type = 0; type < TYPES; type++) {
        const struct pool *pool = &slab->pool[type];
        for (uint64_t i = 0; i < pool->host_count; i++) {
            vector[filled++] = pool->host[(pool->host_left + i) & pool->host_mask];
        }
    }
    bool ok = kvc_kvdirect_merge(method, vector, &filled, slab->first_granule + slab->granules, threads);
    if (ok) {
        for (unsigned type = 0; type < TYPES; type++) {
            slab->pool[type].host_count = 0;
        }
        for (uint64_t i = 0; i < filled; i++) {
            host_push_right(&slab->pool[kvc_kvdirect_slab_entry_type(vector[i])], vector[i]);
        }
        for (unsigned type = 0; type < TYPES; type++) {
            set_high_watermark(slab, type);
        }
        slab->unmerged = false;
        stats->merges++;
        stats->merged_from += count;
        stats->merged_to += filled;
    }
    int error = errno;
    kvc_pages_free(vector, vector_bytes);
    errno = error;
    return ok;
}

/* Fills a pool up to its low watermark from larger ones. The next larger pool comes first, and a pool gives
 * at most half of its entries. */
static void split_into(struct kvc_kvdirect_slab *slab, unsigned type, struct kvc_kvdirect_slab_stats *stats)
{
    struct pool *pool = &slab->pool[type];
    for (unsigned larger = type + 1; larger < TYPES && pool->host_count < KVC_KVDIRECT_SLAB_HOST_LOW;
         larger++) {
        struct pool *donor = &slab->pool[larger];
        uint64_t want = KVC_KVDIRECT_SLAB_HOST_LOW - pool->host_count;
        uint64_t spare = (donor->host_count + 1) / 2;
        for (uint64_t i = 0; i < want && i < spare; i++) {
            host_push_right(pool, host_pop_right(donor));
            slab->unmerged = true;
            stats->split++;
        }
    }
}

/* Fills every pool that was asked for. Returns false if one of them stays empty. */
static bool split_wanted(struct kvc_kvdirect_slab *slab, struct kvc_kvdirect_slab_stats *stats)
{
    bool filled = true;
    for (unsigned type = 0; type < TYPES; type++) {
        struct pool *pool = &slab->pool[type];
        if (pool->wanted) {
            split_into(slab, type, stats);
            pool->wanted = pool->host_count == 0;
            filled &= !pool->wanted || pool->nic_count > 0;
        }
    }
    return filled;
}

bool kvc_kvdirect_slab_daemon(struct kvc_kvdirect_slab *slab, struct kvc_kvdirect_slab_stats *stats)
{
    bool above = false;
    for (unsigned type = 0; type + 1 < TYPES; type++) {
        above |= slab->pool[type].host_count > slab->pool[type].host_high;
    }
    if (above && !kvc_kvdirect_slab_merge(slab, KVC_KVDIRECT_MERGE_RADIX, 1, stats)) {
        return false;
    }
    if (split_wanted(slab, stats)) {
        return true;
    }
    return slab->unmerged && kvc_kvdirect_slab_merge(slab, KVC_KVDIRECT_MERGE_RADIX, 1, stats) &&
           split_wanted(slab, stats);
}

uint64_t kvc_kvdirect_slab_free_bytes(const struct kvc_kvdirect_slab *slab)
{
    return slab->free_granules * KVC_KVDIRECT_SLAB_GRANULE_BYTES;
}

uint64_t kvc_kvdirect_slab_nic_entries(const struct kvc_kvdirect_slab *slab, unsigned type)
{
    return slab->pool[type].nic_count;
}

uint64_t kvc_kvdirect_slab_host_entries(const struct kvc_kvdirect_slab *slab, unsigned type)
{
    return slab->pool[type].host_count;
}

void kvc_kvdirect_slab_free(struct kvc_kvdirect_slab *slab)
{
    if (slab == NULL) {
        return;
    }
    for (unsigned type = 0; type < TYPES; type++) {
        kvc_pages_free(slab->pool[type].host, slab->pool[type].host_bytes);
    }
    free(slab);
}

/* Creates a host stack with room for all memory as slabs of this type; the size is a power of two. */
static bool create_pool(struct kvc_kvdirect_slab *slab, unsigned type)
{
    struct pool *pool = &slab->pool[type];
    uint64_t entries = 1;
    while (entries < slabs_of(slab, type)) {
        entries *= 2;
    }
    pool->host_mask = entries - 1;
    pool->host_bytes = entries * sizeof(*pool->host);
    pool->host = kvc_pages_alloc(pool->host_bytes);
    return pool->host != NULL;
}

struct kvc_kvdirect_slab *kvc_kvdirect_slab_create(const struct kvc_kvdirect_slab_params *params)
{
    const uint64_t largest_bytes = kvc_kvdirect_slab_bytes(TYPES - 1);
    const uint64_t address_granules = UINT64_C(1) << 31;
    uint64_t granules = params->bytes / KVC_KVDIRECT_SLAB_GRANULE_BYTES;
    if (params->bytes == 0 || params->bytes % largest_bytes != 0 || granules > address_granules ||
        params->first_granule % KVC_KVDIRECT_SLAB_BLOCK_GRANULES != 0 ||
        params->first_granule > address_granules - granules) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_kvdirect_slab *slab = calloc(1, sizeof(*slab));
    if (slab == NULL) {
        return NULL;
    }
    slab->first_granule = params->first_granule;
    slab->granules = slab->free_granules = granules;
    for (unsigned type = 0; type < TYPES; type++) {
        if (!create_pool(slab, type)) {
            kvc_kvdirect_slab_free(slab);
            errno = ENOMEM;
            return NULL;
        }
        set_high_watermark(slab, type);
    }
    for (uint64_t granule = 0; granule < granules; granule += KVC_KVDIRECT_SLAB_BLOCK_GRANULES) {
        host_push_right(&slab->pool[TYPES - 1],
                        kvc_kvdirect_slab_entry((uint32_t)(params->first_granule + granule), TYPES - 1));
    }
    return slab;
}
