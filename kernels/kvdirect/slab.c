#include "kernels/kvdirect/slab.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pages.h"

/* --- merging --- */

enum {
    /* Highest bits of the address, by which entries are sorted first. What one thread sorts afterwards stays
     * in its cache. */
    PARTITION_BITS = 10,
    PARTITIONS = 1 << PARTITION_BITS,
    BLOCK_BITS = 4,   /* Address bits within a largest slab. Partitions never cut one. */
    DIGIT_BITS = 9,   /* Bits that one pass within a partition sorts by. */
    FEW_ENTRIES = 48, /* Up to this number, entries are sorted by insertion. */
};

struct merge {
    uint32_t *entry;   /* The entries, before and after. */
    uint64_t count;    /* Number of entries. */
    uint64_t granules; /* End of the memory [granules]. */
    unsigned threads;  /* Number of threads. */
    /* Radix sort. */
    uint32_t *scratch;              /* Room for as many entries. */
    unsigned shift;                 /* Right shift that turns an entry into its partition. */
    uint64_t (*offset)[PARTITIONS]; /* For each thread: first its counts, then the place of its next entry. */
    uint64_t *start;                /* First entry of each partition, and the end; PARTITIONS + 1. */
    uint64_t *merged; /* For each partition: first its number of merged entries, then their place. */
    /* Bitmap. */
    uint16_t *block;                                      /* 16 bits for each block. */
    uint64_t emitted[KVC_KVDIRECT_MERGE_THREADS_MAX + 1]; /* Place of each thread's first merged entry. */
};

/* Work of one thread in one phase of a merge. */
typedef void phase_fn(struct merge *merge, unsigned thread);

struct worker {
    pthread_t thread;
    struct merge *merge;
    phase_fn *phase;
    unsigned number;
    bool started;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    worker->phase(worker->merge, worker->number);
    return NULL;
}

/* Runs a phase on all threads and waits for its end. The calling thread does the share of a thread that
 * cannot be started. */
static void run_phase(struct merge *merge, phase_fn *phase)
{
    struct worker worker[KVC_KVDIRECT_MERGE_THREADS_MAX];
    for (unsigned t = 1; t < merge->threads; t++) {
        worker[t] = (struct worker){.merge = merge, .phase = phase, .number = t};
        worker[t].started = pthread_create(&worker[t].thread, NULL, work, &worker[t]) == 0;
    }
    phase(merge, 0);
    for (unsigned t = 1; t < merge->threads; t++) {
        if (worker[t].started) {
            pthread_join(worker[t].thread, NULL);
        } else {
            phase(merge, t);
        }
    }
}

/* First of `count` things that a thread is responsible for. */
static uint64_t share(uint64_t count, unsigned thread, unsigned threads)
{
    return count / threads * thread + count % threads * thread / threads;
}

/* Granules of a slab within its block of 16, as bits. */
static inline unsigned block_bits(uint32_t entry)
{
    unsigned granules = 1u << kvc_kvdirect_slab_entry_type(entry);
    unsigned first = kvc_kvdirect_slab_entry_granule(entry) % KVC_KVDIRECT_SLAB_BLOCK_GRANULES;
    return ((1u << granules) - 1) << first;
}

/* Stores the fewest slabs that cover the granules set in `bits` and returns the end of the output. They are
 * never more than the slabs that set these bits. */
static inline uint32_t *emit_block(uint32_t *out, uint32_t granule, unsigned bits)
{
    if (bits == 0xffff) {
        *out++ = kvc_kvdirect_slab_entry(granule, KVC_KVDIRECT_SLAB_TYPES - 1);
        return out;
    }
    while (bits != 0) {
        unsigned first = (unsigned)__builtin_ctz(bits);
        unsigned type = 0;
        unsigned slab = 1u << first;
        for (;;) {
            unsigned next = type + 1;
            unsigned larger = ((1u << (1u << next)) - 1) << first;
            if (first % (1u << next) != 0 || (bits & larger) != larger) {
                break;
            }
            type = next;
            slab = larger;
        }
        *out++ = kvc_kvdirect_slab_entry(granule + first, type);
        bits &= ~slab;
    }
    return out;
}

/* Merges sorted entries and returns the number of results. `out` may be `in`. */
static uint64_t coalesce(const uint32_t *in, uint64_t count, uint32_t *out)
{
    uint32_t *end = out;
    uint64_t i = 0;
    while (i < count) {
        uint32_t block = in[i] >> (BLOCK_BITS + 1);
        unsigned bits = 0;
        do {
            bits |= block_bits(in[i]);
            i++;
        } while (i < count && in[i] >> (BLOCK_BITS + 1) == block);
        end = emit_block(end, block << BLOCK_BITS, bits);
    }
    return (uint64_t)(end - out);
}

static void sort_few(uint32_t *entry, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint32_t moving = entry[i];
        uint64_t to = i;
        for (; to > 0 && entry[to - 1] > moving; to--) {
            entry[to] = entry[to - 1];
        }
        entry[to] = moving;
    }
}

/* Sorts entries by the lowest `bits` bits of their address. Passes alternate between `from` and `to`; the
 * function returns the one with the result. */
static uint32_t *sort_partition(uint32_t *from, uint32_t *to, uint64_t count, unsigned bits)
{
    if (count <= FEW_ENTRIES) {
        sort_few(from, count);
        return from;
    }
    /* Slabs do not overlap, so their order within a block does not change what is merged from it. */
    for (unsigned low = BLOCK_BITS + 1; low < bits + 1; low += DIGIT_BITS) {
        uint64_t place[1 << DIGIT_BITS] = {0};
        for (uint64_t i = 0; i < count; i++) {
            place[from[i] >> low & ((1 << DIGIT_BITS) - 1)]++;
        }
        uint64_t sum = 0;
        for (unsigned digit = 0; digit < 1 << DIGIT_BITS; digit++) {
            uint64_t here = place[digit];
            place[digit] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < count; i++) {
            to[place[from[i] >> low & ((1 << DIGIT_BITS) - 1)]++] = from[i];
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    return from;
}

/* Phase 1 of a radix sort: counts the entries of each partition in this thread's share. */
static void count_partitions(struct merge *merge, unsigned thread)
{
    uint64_t *count = merge->offset[thread];
    uint64_t end = share(merge->count, thread + 1, merge->threads);
    memset(count, 0, sizeof(merge->offset[thread]));
    for (uint64_t i = share(merge->count, thread, merge->threads); i < end; i++) {
        count[merge->entry[i] >> merge->shift]++;
    }
}

/* Phase 2: moves the entries of this thread's share to their partitions. */
static void scatter(struct merge *merge, unsigned thread)
{
    uint64_t *place = merge->offset[thread];
    uint64_t end = share(merge->count, thread + 1, merge->threads);
    for (uint64_t i = share(merge->count, thread, merge->threads); i < end; i++) {
        merge->scratch[place[merge->entry[i] >> merge->shift]++] = merge->entry[i];
    }
}

/* Phase 3: sorts and merges every partition of this thread, each in its place. */
static void merge_partitions(struct merge *merge, unsigned thread)
{
    for (unsigned p = thread; p < PARTITIONS; p += merge->threads) {
        uint64_t start = merge->start[p], count = merge->start[p + 1] - start;
        uint32_t *sorted =
            sort_partition(merge->scratch + start, merge->entry + start, count, merge->shift - 1);
        merge->merged[p] = coalesce(sorted, count, merge->scratch + start);
    }
}

/* Phase 4: moves the merged partitions together. */
static void gather(struct merge *merge, unsigned thread)
{
    for (unsigned p = thread; p < PARTITIONS; p += merge->threads) {
        uint64_t place = merge->merged[p];
        memcpy(merge->entry + place, merge->scratch + merge->start[p],
               (merge->merged[p + 1] - place) * sizeof(*merge->entry));
    }
}

/* Turns counts into places, partition by partition and thread by thread. */
static void place_partitions(struct merge *merge)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < PARTITIONS; p++) {
        merge->start[p] = sum;
        for (unsigned t = 0; t < merge->threads; t++) {
            uint64_t here = merge->offset[t][p];
            merge->offset[t][p] = sum;
            sum += here;
        }
    }
    merge->start[PARTITIONS] = sum;
}

/* Turns the numbers of merged entries into places. */
static void place_merged(struct merge *merge)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < PARTITIONS; p++) {
        uint64_t here = merge->merged[p];
        merge->merged[p] = sum;
        sum += here;
    }
    merge->merged[PARTITIONS] = sum;
}

static bool merge_by_radix(struct merge *merge)
{
    uint64_t scratch_bytes = merge->count * sizeof(*merge->entry);
    unsigned bits = 64 - (unsigned)__builtin_clzll((merge->granules - 1) | 1); /* bits of an address */
    merge->shift = 1 + (bits > PARTITION_BITS + BLOCK_BITS ? bits - PARTITION_BITS : BLOCK_BITS);
    merge->scratch = kvc_pages_alloc(scratch_bytes);
    merge->offset = malloc(merge->threads * sizeof(*merge->offset));
    merge->start = malloc((PARTITIONS + 1) * sizeof(*merge->start));
    merge->merged = malloc((PARTITIONS + 1) * sizeof(*merge->merged));
    bool ok =
        merge->scratch != NULL && merge->offset != NULL && merge->start != NULL && merge->merged != NULL;
    if (ok) {
        run_phase(merge, count_partitions);
        place_partitions(merge);
        run_phase(merge, scatter);
        run_phase(merge, merge_partitions);
        place_merged(merge);
        run_phase(merge, gather);
        merge->count = merge->merged[PARTITIONS];
    }
    kvc_pages_free(merge->scratch, scratch_bytes);
    free(merge->offset);
    free(merge->start);
    free(merge->merged);
    return ok;
}

static uint64_t blocks_of(const struct merge *merge)
{
    return (merge->granules + KVC_KVDIRECT_SLAB_BLOCK_GRANULES - 1) / KVC_KVDIRECT_SLAB_BLOCK_GRANULES;
}

/* Phase 1 of a bitmap: sets the bits of the entries in this thread's share. */
static void fill_bitmap(struct merge *merge, unsigned thread)
{
    uint64_t end = share(merge->count, thread + 1, merge->threads);
    for (uint64_t i = share(merge->count, thread, merge->threads); i < end; i++) {
        uint16_t *block = &merge->block[merge->entry[i] >> (BLOCK_BITS + 1)];
        uint16_t bits = (uint16_t)block_bits(merge->entry[i]);
        if (merge->threads > 1) {
            __atomic_fetch_or(block, bits, __ATOMIC_RELAXED);
        } else {
            *block |= bits;
        }
    }
}

/* Phase 2: counts the merged entries of this thread's blocks. */
static void count_blocks(struct merge *merge, unsigned thread)
{
    uint64_t end = share(blocks_of(merge), thread + 1, merge->threads);
    uint64_t count = 0;
    for (uint64_t b = share(blocks_of(merge), thread, merge->threads); b < end; b++) {
        uint32_t slab[KVC_KVDIRECT_SLAB_BLOCK_GRANULES];
        count += (uint64_t)(emit_block(slab, 0, merge->block[b]) - slab);
    }
    merge->emitted[thread + 1] = count;
}

/* Phase 3: stores the merged entries of this thread's blocks. */
static void emit_blocks(struct merge *merge, unsigned thread)
{
    uint64_t end = share(blocks_of(merge), thread + 1, merge->threads);
    uint32_t *out = merge->entry + merge->emitted[thread];
    for (uint64_t b = share(blocks_of(merge), thread, merge->threads); b < end; b++) {
        out = emit_block(out, (uint32_t)(b << BLOCK_BITS), merge->block[b]);
    }
    if (merge->threads == 1) {
        merge->emitted[1] = (uint64_t)(out - merge->entry);
    }
}

static bool merge_by_bitmap(struct merge *merge)
{
    uint64_t bitmap_bytes = blocks_of(merge) * sizeof(*merge->block);
    merge->block = kvc_pages_alloc(bitmap_bytes);
    if (merge->block == NULL) {
        return false;
    }
    run_phase(merge, fill_bitmap);
    if (merge->threads > 1) { /* a single part starts at 0 */
        run_phase(merge, count_blocks);
        for (unsigned t = 1; t <= merge->threads; t++) {
            merge->emitted[t] += merge->emitted[t - 1];
        }
    }
    run_phase(merge, emit_blocks);
    merge->count = merge->emitted[merge->threads];
    kvc_pages_free(merge->block, bitmap_bytes);
    return true;
}

bool kvc_kvdirect_merge(enum kvc_kvdirect_merge_method method, uint32_t *entry, uint64_t *count,
                        uint64_t granules, unsigned threads)
{
    if (granules == 0 || granules > UINT64_C(1) << 31 || threads == 0 ||
        threads > KVC_KVDIRECT_MERGE_THREADS_MAX) {
        errno = EINVAL;
        return false;
    }
    if (*count == 0) {
        return true;
    }
    struct merge merge = {.entry = entry, .count = *count, .granules = granules, .threads = threads};
    bool ok = method == KVC_KVDIRECT_MERGE_BITMAP ? merge_by_bitmap(&merge) : merge_by_radix(&merge);
    if (!ok) {
        errno = ENOMEM;
        return false;
    }
    *count = merge.count;
    return true;
}

/* --- the allocator --- */

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
    uint64_t granules;      /* Size of the memory [granules]. */
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

/* Returns the number of slabs of this type that the whole memory is worth. */
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
