#include "kernels/kvdirect/merge.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pages.h"

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
    uint64_t count;    /* Their number. */
    uint64_t granules; /* End of the memory [granules]. */
    unsigned threads;  /* Number of threads. */
    /* Radix sort. */
    uint32_t *scratch;              /* As many entries again. */
    unsigned shift;                 /* Right shift that turns an entry into its partition. */
    uint64_t (*offset)[PARTITIONS]; /* For each thread: first its counts, then the place of its next entry. */
    uint64_t *start;                /* First entry of each partition, and the end; PARTITIONS + 1. */
    uint64_t *merged; /* For each partition: first its number of merged entries, then their place. */
    /* Bitmap. */
    uint16_t *block;                                      /* 16 bits for each block. */
    uint64_t emitted[KVC_KVDIRECT_MERGE_THREADS_MAX + 1]; /* Place of each thread's first merged entry. */
};

/* What one thread does in one phase of a merge. */
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
