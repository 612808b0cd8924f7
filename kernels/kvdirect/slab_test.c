#include "kernels/kvdirect/slab.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/random_fixture.h"

enum {
    FIRST = 64, /* First granule of the memory in these tests. */
    TYPES = KVC_KVDIRECT_SLAB_TYPES,
};

static struct kvc_kvdirect_slab *create(uint64_t bytes)
{
    struct kvc_kvdirect_slab *slab =
        kvc_kvdirect_slab_create(&(struct kvc_kvdirect_slab_params){.first_granule = FIRST, .bytes = bytes});
    cr_assert_not_null(slab);
    return slab;
}

/* A model of the allocated slabs. */
struct model {
    uint64_t granules; /* Size of the memory [granules]. */
    uint8_t *taken;    /* For each granule: whether it is allocated. */
    uint32_t *granule; /* First granule of each allocated slab, in no order. */
    uint8_t *type;     /* Type of each allocated slab. */
    uint64_t count;    /* Number of allocated slabs. */
    uint64_t bytes;    /* Their size [bytes]. */
};

static void model_start(struct model *model, uint64_t bytes)
{
    model->granules = bytes / 32;
    model->taken = calloc(model->granules, 1);
    model->granule = calloc(model->granules, sizeof(uint32_t));
    model->type = calloc(model->granules, 1);
    model->count = model->bytes = 0;
}

static void model_end(struct model *model)
{
    free(model->taken);
    free(model->granule);
    free(model->type);
}

static void model_alloc(struct model *model, uint32_t granule, unsigned type)
{
    uint32_t size = 1u << type;
    cr_assert_geq(granule, FIRST);
    cr_assert_leq(granule - FIRST + size, model->granules, "outside the memory");
    cr_assert_eq(granule % size, 0, "not aligned to its size");
    for (uint32_t g = 0; g < size; g++) {
        cr_assert_eq(model->taken[granule - FIRST + g], 0, "overlap");
    }
    memset(model->taken + granule - FIRST, 1, size);
    model->granule[model->count] = granule;
    model->type[model->count] = (uint8_t)type;
    model->count++;
    model->bytes += 32u << type;
}

static void model_release(struct model *model, struct kvc_kvdirect_slab *slab, uint64_t which,
                          struct kvc_kvdirect_slab_stats *stats)
{
    unsigned type = model->type[which];
    kvc_kvdirect_slab_release(slab, model->granule[which], type, stats);
    memset(model->taken + model->granule[which] - FIRST, 0, 1u << type);
    model->bytes -= 32u << type;
    model->count--;
    model->granule[which] = model->granule[model->count];
    model->type[which] = model->type[model->count];
}

/* Allocates as a store does: if a pool is empty it runs the daemon, then it recalls the entries of the NIC
 * stacks and runs the daemon again. */
static uint32_t alloc(struct kvc_kvdirect_slab *slab, unsigned type, struct kvc_kvdirect_slab_stats *stats)
{
    uint32_t granule = kvc_kvdirect_slab_alloc(slab, type, stats);
    if (granule == KVC_KVDIRECT_SLAB_NONE) {
        if (!kvc_kvdirect_slab_daemon(slab, stats)) {
            kvc_kvdirect_slab_recall(slab, stats);
            kvc_kvdirect_slab_daemon(slab, stats);
        }
        granule = kvc_kvdirect_slab_alloc(slab, type, stats);
    }
    return granule;
}

static double dma_per_operation(const struct kvc_kvdirect_slab_stats *stats)
{
    return (double)(stats->dma_reads + stats->dma_writes) / (double)(stats->allocated + stats->released);
}

Test(kvdirect_slab, rejects_bad_params)
{
    struct kvc_kvdirect_slab_params bad[] = {
        {.bytes = 0},
        {.bytes = 256},
        {.bytes = 513},
        {.bytes = 512, .first_granule = 8},
        {.bytes = (UINT64_C(64) << 30) + 512},
        {.bytes = UINT64_C(64) << 30, .first_granule = 16},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        cr_assert_null(kvc_kvdirect_slab_create(&bad[i]));
        cr_assert_eq(errno, EINVAL);
    }
    kvc_kvdirect_slab_free(NULL);
}

Test(kvdirect_slab, sizes_round_up_to_powers_of_two)
{
    for (uint32_t bytes = 1; bytes <= 512; bytes++) {
        unsigned type = kvc_kvdirect_slab_type(bytes);
        cr_assert_geq(kvc_kvdirect_slab_bytes(type), bytes);
        cr_assert(type == 0 || kvc_kvdirect_slab_bytes(type - 1) < bytes);
    }
}

Test(kvdirect_slab, an_entry_tells_address_and_type)
{
    for (unsigned type = 0; type < TYPES; type++) {
        for (uint64_t granule = 0; granule < UINT64_C(1) << 31; granule += UINT64_C(123456) << 4) {
            uint32_t entry = kvc_kvdirect_slab_entry((uint32_t)granule, type);
            cr_assert_eq(kvc_kvdirect_slab_entry_granule(entry), granule);
            cr_assert_eq(kvc_kvdirect_slab_entry_type(entry), type);
        }
    }
}

Test(kvdirect_slab, the_daemon_splits_only_when_called)
{
    struct kvc_kvdirect_slab *slab = create(1 << 20);
    struct kvc_kvdirect_slab_stats stats = {0};
    cr_assert_eq(kvc_kvdirect_slab_host_entries(slab, 4), 2048);
    cr_assert_eq(kvc_kvdirect_slab_alloc(slab, 0, &stats), KVC_KVDIRECT_SLAB_NONE);
    cr_assert_eq(kvc_kvdirect_slab_alloc(slab, 0, &stats), KVC_KVDIRECT_SLAB_NONE);
    cr_assert_eq(stats.failed, 2);
    cr_assert_eq(stats.split, 0);
    cr_assert_eq(stats.dma_reads, 0, "an empty stack is not read");
    cr_assert(kvc_kvdirect_slab_daemon(slab, &stats));
    cr_assert_eq(stats.split, KVC_KVDIRECT_SLAB_HOST_LOW);
    cr_assert_eq(stats.merges, 0);
    cr_assert_eq(kvc_kvdirect_slab_host_entries(slab, 0), KVC_KVDIRECT_SLAB_HOST_LOW);
    for (unsigned type = 1; type < 4; type++) {
        cr_assert_eq(kvc_kvdirect_slab_host_entries(slab, type), 0, "no allocation asked for it");
    }
    cr_assert_neq(kvc_kvdirect_slab_alloc(slab, 0, &stats), KVC_KVDIRECT_SLAB_NONE);
    cr_assert_eq(stats.cut, 4, "512 to 32 bytes");
    cr_assert_eq(stats.dma_reads, 1);
    cr_assert_eq(stats.dma_entries, 16);
    cr_assert_eq(kvc_kvdirect_slab_nic_entries(slab, 0), 15 + 4);
    for (int i = 0; i < 15; i++) { /* the rest of the slab that was cut */
        cr_assert_neq(kvc_kvdirect_slab_alloc(slab, 0, &stats), KVC_KVDIRECT_SLAB_NONE);
    }
    cr_assert_eq(stats.cut, 15);
    cr_assert_eq(kvc_kvdirect_slab_free_bytes(slab), (1 << 20) - 512);
    kvc_kvdirect_slab_free(slab);
}

Test(kvdirect_slab, reads_less_than_a_batch_only_when_empty)
{
    struct kvc_kvdirect_slab *slab = create(20 * 512);
    struct kvc_kvdirect_slab_stats stats = {0};
    for (int i = 0; i < 16; i++) {
        cr_assert_neq(kvc_kvdirect_slab_alloc(slab, 4, &stats), KVC_KVDIRECT_SLAB_NONE);
        cr_assert_eq(stats.dma_reads, 1);
    }
    for (int i = 0; i < 4; i++) {
        cr_assert_neq(kvc_kvdirect_slab_alloc(slab, 4, &stats), KVC_KVDIRECT_SLAB_NONE);
        cr_assert_eq(stats.dma_reads, 2);
    }
    cr_assert_eq(kvc_kvdirect_slab_alloc(slab, 4, &stats), KVC_KVDIRECT_SLAB_NONE);
    cr_assert_eq(stats.dma_entries, 20);
    kvc_kvdirect_slab_free(slab);
}

Test(kvdirect_slab, the_daemon_takes_back_what_it_split)
{
    struct kvc_kvdirect_slab *slab = create(64 * 512);
    struct kvc_kvdirect_slab_stats stats = {0};
    cr_assert_eq(kvc_kvdirect_slab_alloc(slab, 0, &stats), KVC_KVDIRECT_SLAB_NONE);
    cr_assert(kvc_kvdirect_slab_daemon(slab, &stats));
    cr_assert_neq(kvc_kvdirect_slab_alloc(slab, 0, &stats), KVC_KVDIRECT_SLAB_NONE);
    cr_assert_eq(kvc_kvdirect_slab_host_entries(slab, 0), 16, "half of the slabs, less a batch");
    for (int i = 0; i < 32; i++) {
        cr_assert_neq(kvc_kvdirect_slab_alloc(slab, 4, &stats), KVC_KVDIRECT_SLAB_NONE);
    }
    cr_assert_eq(kvc_kvdirect_slab_alloc(slab, 4, &stats), KVC_KVDIRECT_SLAB_NONE);
    cr_assert(kvc_kvdirect_slab_daemon(slab, &stats));
    cr_assert_eq(stats.merges, 1);
    for (int i = 0; i < 16; i++) {
        cr_assert_neq(kvc_kvdirect_slab_alloc(slab, 4, &stats), KVC_KVDIRECT_SLAB_NONE);
    }
    cr_assert_eq(kvc_kvdirect_slab_alloc(slab, 4, &stats), KVC_KVDIRECT_SLAB_NONE);
    kvc_kvdirect_slab_free(slab);
}

Test(kvdirect_slab, random_operations_agree_with_a_map)
{
    for (int round = 0; round < 8; round++) {
        uint64_t bytes = UINT64_C(512) << (2 + 2 * round % 14);
        struct kvc_kvdirect_slab *slab = create(bytes);
        struct kvc_kvdirect_slab_stats stats = {0};
        struct model model;
        model_start(&model, bytes);
        uint64_t failed = 0;
        for (int i = 0; i < 60000; i++) {
            /* Phases alternate that favour allocation or release, and small or large slabs. */
            bool grow = random_word() % 8 < ((i >> 12) % 2 == 0 ? 5 : 3);
            unsigned type = (unsigned)(random_word() % ((i >> 13) % 2 == 0 ? 3 : 5));
            if (grow || model.count == 0) {
                uint32_t granule = alloc(slab, type, &stats);
                if (granule == KVC_KVDIRECT_SLAB_NONE) {
                    failed++;
                } else {
                    model_alloc(&model, granule, type);
                }
            } else {
                model_release(&model, slab, random_word() % model.count, &stats);
            }
            if (i % 1000 == 0) {
                kvc_kvdirect_slab_daemon(slab, &stats);
            }
            cr_assert_eq(kvc_kvdirect_slab_free_bytes(slab), bytes - model.bytes);
        }
        cr_assert(round > 1 || failed > 0, "the smallest memory must have run out");
        while (model.count > 0) {
            model_release(&model, slab, 0, &stats);
        }
        kvc_kvdirect_slab_recall(slab, &stats);
        cr_assert(kvc_kvdirect_slab_merge(slab, KVC_KVDIRECT_MERGE_RADIX, 1, &stats));
        cr_assert_eq(kvc_kvdirect_slab_host_entries(slab, 4), bytes / 512, "merging restores all memory");
        cr_assert_eq(stats.allocated, stats.released);
        model_end(&model);
        kvc_kvdirect_slab_free(slab);
    }
}

Test(kvdirect_slab, hands_out_every_byte_in_every_size)
{
    const uint64_t bytes = 1 << 17;
    struct kvc_kvdirect_slab *slab = create(bytes);
    struct kvc_kvdirect_slab_stats stats = {0};
    struct model model;
    model_start(&model, bytes);
    /* Sizes go from small to large and back, so that every change needs a merge or a split of everything. */
    const unsigned order[] = {0, 4, 1, 3, 2, 0, 1, 4};
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        uint32_t granule;
        while ((granule = alloc(slab, order[i], &stats)) != KVC_KVDIRECT_SLAB_NONE) {
            model_alloc(&model, granule, order[i]);
        }
        cr_assert_eq(model.count, bytes / (32u << order[i]));
        cr_assert_eq(kvc_kvdirect_slab_free_bytes(slab), 0);
        cr_assert_eq(alloc(slab, 0, &stats), KVC_KVDIRECT_SLAB_NONE);
        while (model.count > 0) {
            model_release(&model, slab, random_word() % model.count, &stats);
        }
    }
    cr_assert_geq(stats.merges, 4);
    model_end(&model);
    kvc_kvdirect_slab_free(slab);
}

Test(kvdirect_slab, exhaustion_with_a_buddy_taken)
{
    struct kvc_kvdirect_slab *slab = create(512);
    struct kvc_kvdirect_slab_stats stats = {0};
    uint32_t small[16];
    for (int i = 0; i < 16; i++) {
        small[i] = alloc(slab, 0, &stats);
        cr_assert_neq(small[i], KVC_KVDIRECT_SLAB_NONE);
    }
    for (int i = 0; i < 16; i++) {
        if (small[i] % 2 == 0) {
            kvc_kvdirect_slab_release(slab, small[i], 0, &stats);
        }
    }
    cr_assert_eq(kvc_kvdirect_slab_free_bytes(slab), 256);
    cr_assert_eq(alloc(slab, 1, &stats), KVC_KVDIRECT_SLAB_NONE, "no two neighbours are free");
    uint32_t again = alloc(slab, 0, &stats);
    cr_assert_eq(again % 2, 0);
    kvc_kvdirect_slab_free(slab);
}

Test(kvdirect_slab, dma_is_amortised)
{
    const uint64_t bytes = 1 << 24;
    for (unsigned type = 0; type < TYPES; type++) {
        /* Pattern 0 is a random walk. Pattern 1 goes back and forth across every watermark. Pattern 2 turns
         * around after every batch, which is the worst case. */
        for (int pattern = 0; pattern < 3; pattern++) {
            struct kvc_kvdirect_slab *slab = create(bytes);
            struct kvc_kvdirect_slab_stats stats = {0}, warm;
            struct model model;
            model_start(&model, bytes);
            uint64_t most = bytes / (32u << type) / 2;
            while (model.count < most) {
                model_alloc(&model, alloc(slab, type, &stats), type);
            }
            while (model.count > most / 2) {
                model_release(&model, slab, random_word() % model.count, &stats);
            }
            warm = stats;
            uint64_t transfers = stats.dma_entries;
            bool grow = true;
            for (int i = 0; i < 100000; i++) {
                if (pattern == 0) {
                    grow = random_word() % 2 == 0;
                } else if (pattern == 1) {
                    grow = i / 1000 % 2 == 0;
                } else if (stats.dma_entries != transfers) {
                    transfers = stats.dma_entries;
                    grow = !grow;
                }
                if (grow) {
                    model_alloc(&model, alloc(slab, type, &stats), type);
                } else {
                    model_release(&model, slab, model.count - 1, &stats);
                }
            }
            uint64_t operations = stats.allocated + stats.released - warm.allocated - warm.released;
            uint64_t dma = stats.dma_reads + stats.dma_writes - warm.dma_reads - warm.dma_writes;
            cr_assert_eq(operations, 100000);
            cr_assert_lt((double)dma / (double)operations, 0.07, "pattern %d, type %u: %lu", pattern, type,
                         (unsigned long)dma);
            cr_assert(pattern == 0 || dma > 100, "the pattern must reach the host");
            cr_assert_lt(dma_per_operation(&stats), 0.07);
            model_end(&model);
            kvc_kvdirect_slab_free(slab);
        }
    }
}

Test(kvdirect_slab, grows_above_the_high_watermark_and_merges)
{
    const uint64_t bytes = 1 << 20;
    struct kvc_kvdirect_slab *slab = create(bytes);
    struct kvc_kvdirect_slab_stats stats = {0};
    struct model model;
    model_start(&model, bytes);
    for (uint64_t i = 0; i < bytes / 32; i++) {
        model_alloc(&model, alloc(slab, 0, &stats), 0);
    }
    uint64_t merges = stats.merges;
    while (kvc_kvdirect_slab_host_entries(slab, 0) <= bytes / 32 / KVC_KVDIRECT_SLAB_HOST_HIGH_SHARE) {
        kvc_kvdirect_slab_daemon(slab, &stats);
        cr_assert_eq(stats.merges, merges);
        model_release(&model, slab, model.count - 1, &stats);
    }
    cr_assert(kvc_kvdirect_slab_daemon(slab, &stats));
    cr_assert_eq(stats.merges, merges + 1);
    cr_assert_gt(kvc_kvdirect_slab_host_entries(slab, 4), 0);
    cr_assert(kvc_kvdirect_slab_daemon(slab, &stats));
    cr_assert_eq(stats.merges, merges + 1, "a pool is merged once");
    model_end(&model);
    kvc_kvdirect_slab_free(slab);
}

/* Covers the granules set in `free_granule` with free slabs of random sizes, in random order. */
static uint64_t cut_up(const uint8_t *free_granule, uint64_t granules, uint32_t *entry)
{
    uint64_t count = 0;
    for (uint64_t g = 0; g < granules;) {
        if (!free_granule[g]) {
            g++;
            continue;
        }
        unsigned type = (unsigned)(random_word() % TYPES);
        for (;; type--) {
            bool fits = g % (1u << type) == 0 && g + (1u << type) <= granules;
            for (uint64_t i = 0; fits && i < 1u << type; i++) {
                fits = free_granule[g + i];
            }
            if (fits) {
                break;
            }
        }
        entry[count++] = kvc_kvdirect_slab_entry((uint32_t)g, type);
        g += 1u << type;
    }
    for (uint64_t i = count; i > 1; i--) {
        uint64_t other = random_word() % i;
        uint32_t swap = entry[i - 1];
        entry[i - 1] = entry[other];
        entry[other] = swap;
    }
    return count;
}

/* Finds the fewest aligned slabs by trying the largest size first. */
static uint64_t merge_simply(const uint8_t *free_granule, uint64_t granules, uint32_t *entry)
{
    uint8_t *left = malloc(granules);
    memcpy(left, free_granule, granules);
    unsigned *type_at = calloc(granules, sizeof(*type_at));
    for (unsigned type = TYPES; type-- > 0;) {
        for (uint64_t g = 0; g + (1u << type) <= granules; g += 1u << type) {
            uint64_t set = 0;
            for (uint64_t i = 0; i < 1u << type; i++) {
                set += left[g + i];
            }
            if (set == 1u << type) {
                type_at[g] = type + 1;
                memset(left + g, 0, 1u << type);
            }
        }
    }
    uint64_t count = 0;
    for (uint64_t g = 0; g < granules; g++) {
        if (type_at[g] != 0) {
            entry[count++] = kvc_kvdirect_slab_entry((uint32_t)g, type_at[g] - 1);
        }
    }
    free(left);
    free(type_at);
    return count;
}

Test(kvdirect_merge, both_merges_agree_with_a_simple_one)
{
    const uint64_t sizes[] = {1, 2, 15, 16, 17, 1000, 16384, 16385, 1 << 17, (1 << 17) + 48};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        uint64_t granules = sizes[s];
        uint8_t *free_granule = malloc(granules);
        uint32_t *entry = malloc(4 * granules), *expected = malloc(4 * granules),
                 *copy = malloc(4 * granules);
        for (unsigned eighths = 1; eighths <= 8; eighths += eighths < 7 ? 3 : 1) {
            for (uint64_t g = 0; g < granules; g++) {
                free_granule[g] = random_word() % 8 < eighths;
            }
            uint64_t count = cut_up(free_granule, granules, entry);
            uint64_t merged = merge_simply(free_granule, granules, expected);
            for (int method = 0; method < 2; method++) {
                for (unsigned threads = 1; threads <= 5; threads += 2) {
                    uint64_t got = count;
                    memcpy(copy, entry, 4 * count);
                    cr_assert(kvc_kvdirect_merge(method, copy, &got, granules, threads));
                    cr_assert_eq(got, merged);
                    cr_assert_eq(memcmp(copy, expected, 4 * merged), 0);
                }
            }
        }
        free(free_granule);
        free(entry);
        free(expected);
        free(copy);
    }
}

Test(kvdirect_merge, rejects_bad_arguments)
{
    uint32_t entry = kvc_kvdirect_slab_entry(0, 0);
    uint64_t count = 1;
    errno = 0;
    cr_assert_not(kvc_kvdirect_merge(KVC_KVDIRECT_MERGE_RADIX, &entry, &count, 16, 0));
    cr_assert_eq(errno, EINVAL);
    errno = 0;
    cr_assert_not(kvc_kvdirect_merge(KVC_KVDIRECT_MERGE_BITMAP, &entry, &count, 16,
                                     KVC_KVDIRECT_MERGE_THREADS_MAX + 1));
    cr_assert_eq(errno, EINVAL);
    cr_assert_not(kvc_kvdirect_merge(KVC_KVDIRECT_MERGE_RADIX, &entry, &count, (UINT64_C(1) << 31) + 1, 1));
    cr_assert_not(kvc_kvdirect_merge(KVC_KVDIRECT_MERGE_RADIX, &entry, &count, 0, 1));
    cr_assert_eq(count, 1);
    count = 0;
    cr_assert(kvc_kvdirect_merge(KVC_KVDIRECT_MERGE_RADIX, &entry, &count, 16, 1));
}
