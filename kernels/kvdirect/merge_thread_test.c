/* Several threads merge the same slabs as one thread, under ThreadSanitizer. A plain main; exit status 0 is
 * success. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kvdirect/slab.h"

enum { GRANULES = 1 << 16, THREADS = 4 };

static uint32_t entry[GRANULES], expected[GRANULES], got[GRANULES];

/* Fills `entry` with most of the slabs of 32 bytes. Their order looks random but has each slab once, because
 * it multiplies by an odd number modulo a power of two. */
static uint64_t fill(void)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < GRANULES; i++) {
        uint32_t granule = i * 40503u % GRANULES;
        if (granule % 97 != 0) {
            entry[count++] = kvc_kvdirect_slab_entry(granule, 0);
        }
    }
    return count;
}

int main(void)
{
    uint64_t count = fill();
    uint64_t merged = count;
    memcpy(expected, entry, sizeof(entry));
    if (!kvc_kvdirect_merge(KVC_KVDIRECT_MERGE_RADIX, expected, &merged, GRANULES, 1) || merged >= count) {
        fprintf(stderr, "one thread has merged nothing\n");
        return 1;
    }
    for (int method = 0; method < 2; method++) {
        uint64_t result = count;
        memcpy(got, entry, sizeof(entry));
        if (!kvc_kvdirect_merge((enum kvc_kvdirect_merge_method)method, got, &result, GRANULES, THREADS) ||
            result != merged || memcmp(got, expected, merged * sizeof(*got)) != 0) {
            fprintf(stderr, "method %d has another result with %d threads\n", method, THREADS);
            return 1;
        }
    }
    return 0;
}
