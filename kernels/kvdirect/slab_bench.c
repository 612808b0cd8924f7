/* Time to merge free slabs by radix sort and by bitmap, over the number of slabs and of threads.
 *
 * KV-Direct (SOSP 2017), fig. 12. All slots of a store are free slabs of 32 bytes, in random order. The paper
 * sorts 4 billion slots (a vector of 16 GiB) in 30 s on one core and in 1.8 s on 32 cores. The last column
 * scales the measured time to this number of slots, not to these cores. Every result is checked: all memory
 * must come back as slabs of 512 bytes.
 *
 * usage: kvdirect_slab_bench [LOG2_SLOTS_MAX [THREADS_MAX]]
 * The defaults are 26 (64 Mi slots, 512 MiB) and 2 threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/kvdirect/slab.h"
#include "kernels/pages.h"

enum { RUNS = 3 };

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "kvdirect_slab_bench: %s\n", what);
    exit(3);
}

/* Slot i of a random order that has every slot once: odd * i + c, with its bits mixed, is one to one modulo a
 * power of two. */
static uint32_t slot_of(uint64_t i, unsigned log2_slots)
{
    uint64_t mask = (UINT64_C(1) << log2_slots) - 1;
    uint64_t x = i;
    for (int round = 0; round < 3; round++) {
        x = (x * 0x9e3779b97f4a7c15 + 0x1234567) & mask;
        x ^= x >> (log2_slots / 2 + 1);
    }
    return (uint32_t)x;
}

/* Returns the time of the fastest run [s]. */
static double time_merge(enum kvc_kvdirect_merge_method method, const uint32_t *free_slot, uint32_t *entry,
                         uint64_t slots, unsigned threads)
{
    double best = 1e300;
    for (int run = 0; run < RUNS; run++) {
        memcpy(entry, free_slot, slots * sizeof(*entry));
        uint64_t count = slots;
        double start = now_s();
        if (!kvc_kvdirect_merge(method, entry, &count, slots, threads)) {
            die("out of memory");
        }
        double took = now_s() - start;
        best = took < best ? took : best;
        if (count != slots / KVC_KVDIRECT_SLAB_BLOCK_GRANULES) {
            die("a merge lost memory");
        }
        for (uint64_t i = 0; i < count; i++) {
            if (entry[i] != kvc_kvdirect_slab_entry((uint32_t)(i * KVC_KVDIRECT_SLAB_BLOCK_GRANULES),
                                                    KVC_KVDIRECT_SLAB_TYPES - 1)) {
                die("a merge returned a wrong slab");
            }
        }
    }
    return best;
}

static void print_row(const uint32_t *free_slot, uint32_t *entry, uint64_t slots, unsigned threads)
{
    double radix = time_merge(KVC_KVDIRECT_MERGE_RADIX, free_slot, entry, slots, threads);
    double bitmap = time_merge(KVC_KVDIRECT_MERGE_BITMAP, free_slot, entry, slots, threads);
    double ns = 1e9 / (double)slots;
    printf("%12" PRIu64 " %8u %12.6f %12.6f %12.2f %12.2f %16.1f\n", slots, threads, radix, bitmap,
           radix * ns, bitmap * ns, radix / (double)slots * 4e9);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int log2_max = argc > 1 ? atoi(argv[1]) : 26;
    int threads_max = argc > 2 ? atoi(argv[2]) : 2;
    if (log2_max < 16 || log2_max > 31 || threads_max < 1 || threads_max > KVC_KVDIRECT_MERGE_THREADS_MAX) {
        fprintf(stderr, "usage: kvdirect_slab_bench [LOG2_SLOTS_MAX 16..31 [THREADS_MAX 1..%d]]\n",
                KVC_KVDIRECT_MERGE_THREADS_MAX);
        return 2;
    }
    uint64_t bytes = sizeof(uint32_t) << log2_max;
    uint32_t *free_slot = kvc_pages_alloc(bytes);
    uint32_t *entry = kvc_pages_alloc(bytes);
    if (free_slot == NULL || entry == NULL) {
        die("out of memory");
    }
    printf("best of %d runs\n%12s %8s %12s %12s %12s %12s %16s\n", RUNS, "slots", "threads", "radix_s",
           "bitmap_s", "radix_ns", "bitmap_ns", "radix_4e9_s");
    for (int log2_slots = 16; log2_slots <= log2_max; log2_slots += 2) {
        uint64_t slots = UINT64_C(1) << log2_slots;
        for (uint64_t i = 0; i < slots; i++) {
            free_slot[i] = kvc_kvdirect_slab_entry(slot_of(i, (unsigned)log2_slots), 0);
        }
        for (int threads = 1; threads <= threads_max; threads *= 2) {
            print_row(free_slot, entry, slots, (unsigned)threads);
        }
    }
    kvc_pages_free(free_slot, bytes);
    kvc_pages_free(entry, bytes);
    return 0;
}
