#include "kernels/kvdirect/merge.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/random_fixture.h"

enum { TYPES = KVC_KVDIRECT_SLAB_TYPES };

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
