/* Measures how fast BlueCache's structures are on this machine, compared with what its memory allows.
 *
 * Every metric is the median of several runs over different keys. The limits are measured in the same process
 * by loops that read, or read and write, one word of random lines in as much memory, prefetching as far ahead
 * as the kernels do. A search also writes its line, because it stores the time of access; so the second limit
 * is the one that it can reach. Results are verified before they are timed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/index.h"
#include "kernels/bluecache/key_hash.h"
#include "kernels/pages.h"

enum {
    RUNS = 5,
    RUN_KEYS = 2 << 20,
    BATCH = 1024,
    LINE_AHEAD = 32,
    HASH_KEYS = 1 << 17,
};

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *value)
{
    qsort(value, RUNS, sizeof(*value), compare_doubles);
    return value[RUNS / 2];
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void die(const char *what)
{
    fprintf(stderr, "bluecache_kernels_bench: %s\n", what);
    exit(3);
}

static void *allocate(uint64_t bytes)
{
    void *memory = kvc_pages_alloc(bytes);
    if (memory == NULL) {
        die("out of memory");
    }
    return memory;
}

/* Prints a line. `limit_ns` is the time of a random line, or 0 without a limit [ns]. */
static void row(const char *name, double seconds, double operations, double lines, double limit_ns)
{
    double ns = 1e9 * seconds / operations;
    printf("%-46s %8.2f ns", name, ns);
    if (limit_ns > 0) {
        printf(" %6.2f lines %6.2f x limit", lines, ns / (lines * limit_ns));
    }
    printf("\n");
    fflush(stdout);
}

/* Measures the time to read, or to read and write, a random line [ns]. */
static double line_limit(uint64_t bytes, const uint64_t *hash, bool write)
{
    uint64_t mask = bytes / 64 - 1;
    uint64_t *table = allocate(bytes);
    memset(table, 1, bytes);
    double seconds[RUNS];
    volatile uint64_t keep = 0;
    for (int run = 0; run < RUNS; run++) {
        const uint64_t *from = &hash[(uint64_t)run * RUN_KEYS];
        uint64_t sum = 0;
        double start = now_s();
        for (uint64_t i = 0; i < RUN_KEYS; i++) {
            uint64_t ahead = i + LINE_AHEAD < RUN_KEYS ? i + LINE_AHEAD : i;
            uint64_t *line = &table[(from[i] & mask) * 8];
            if (write) {
                __builtin_prefetch(&table[(from[ahead] & mask) * 8], 1);
                sum += line[0]++;
            } else {
                __builtin_prefetch(&table[(from[ahead] & mask) * 8]);
                sum += line[0];
            }
        }
        seconds[run] = now_s() - start;
        keep += sum;
    }
    (void)keep; /* its writes keep the reads */
    kvc_pages_free(table, bytes);
    double median_s = median(seconds);
    row(write ? "limit: random lines read and written" : "limit: random lines read", median_s, RUN_KEYS, 1,
        0);
    return 1e9 * median_s / RUN_KEYS;
}

static void bench_index(uint64_t bytes, uint64_t *hash, double read_ns, double write_ns)
{
    struct kvc_index *index = kvc_bluecache_kind.create(bytes, 0);
    if (index == NULL) {
        die("out of memory");
    }
    uint32_t location[BATCH];
    uint64_t batch_hash[BATCH];
    struct kvc_index_stats inserted = {0}, searched = {0}, replaced = {0};
    uint64_t keys = 0;
    double start = now_s();
    while (kvc_index_used(index) < kvc_index_capacity(index) / 4 * 3) {
        for (uint32_t i = 0; i < BATCH; i++, keys++) {
            batch_hash[i] = mix(keys + 1);
            location[i] = (uint32_t)keys;
        }
        kvc_index_insert(index, batch_hash, location, BATCH, NULL, &inserted);
    }
    row("insert to load 0.75, fresh memory", now_s() - start, (double)keys,
        (double)inserted.insert_lines / (double)inserted.inserts, write_ns);
    printf("  %" PRIu64 " keys inserted, %.3f evicted by the LRU of their bucket\n", keys,
           (double)inserted.evicted / (double)inserted.inserts);
    double seconds[RUNS];
    for (int run = 0; run < RUNS; run++) {
        uint64_t *from = &hash[(uint64_t)run * RUN_KEYS];
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < RUN_KEYS; i++) {
            from[i] = mix(mix(from[i]) % keys + 1);
        }
        for (uint64_t i = 0; i < RUN_KEYS; i += BATCH) {
            kvc_index_search(index, &from[i], BATCH, location, &searched);
            for (uint32_t j = 0; j < BATCH; j++) {
                wrong += location[j] != KVC_LOCATION_NONE && mix((uint64_t)location[j] + 1) != from[i + j];
            }
        }
        if (wrong > RUN_KEYS / 1000) {
            die("keys are not found at their locations"); /* a few keys share their 21 bits with a neighbour
                                                           */
        }
    }
    for (int run = 0; run < RUNS; run++) {
        start = now_s();
        for (uint64_t i = 0; i < RUN_KEYS; i += BATCH) {
            kvc_index_search(index, &hash[(uint64_t)run * RUN_KEYS + i], BATCH, location, &searched);
        }
        seconds[run] = now_s() - start;
    }
    double search_lines = (double)searched.search_lines / (double)searched.searches;
    double search_s = median(seconds);
    printf("  %.3f of the searches hit\n", (double)searched.search_hits / (double)searched.searches);
    row("search, against reading and writing", search_s, RUN_KEYS, search_lines, write_ns);
    row("search, against reading", search_s, RUN_KEYS, search_lines, read_ns);
    for (int run = 0; run < RUNS; run++) {
        start = now_s();
        for (uint64_t i = 0; i < RUN_KEYS; i += BATCH) {
            kvc_index_insert(index, &hash[(uint64_t)run * RUN_KEYS + i], location, BATCH, NULL, &replaced);
        }
        seconds[run] = now_s() - start;
    }
    row("insert, replacing or evicting", median(seconds), RUN_KEYS,
        (double)replaced.insert_lines / (double)replaced.inserts, write_ns);
    kvc_index_free(index);
}

static void bench_hash(void)
{
    static uint8_t keys[HASH_KEYS][32], bytes[HASH_KEYS];
    static uint64_t hash[HASH_KEYS];
    for (uint32_t i = 0; i < HASH_KEYS; i++) {
        memcpy(keys[i], &i, sizeof(i));
        bytes[i] = 32;
    }
    double seconds[RUNS];
    for (int run = 0; run < RUNS; run++) {
        double start = now_s();
        kvc_bluecache_hash(keys[0], 32, bytes, HASH_KEYS, hash);
        seconds[run] = now_s() - start;
    }
    row("both hashes of keys of 32 B, batched", median(seconds), HASH_KEYS, 0, 0);
}

/* Items with a key and a value of 8 bytes, which take one line each. */
static void bench_slab(uint64_t bytes, double read_ns, double write_ns)
{
    struct kvc_dram_slab *slab =
        kvc_dram_slab_create(&(struct kvc_dram_slab_params){.bytes = bytes, .seed = 1});
    if (slab == NULL) {
        die("out of memory");
    }
    uint64_t items = bytes / 64, pointer[BATCH], key[BATCH];
    struct kvc_dram_slab_stats stats = {0}, got = {0}, evicted = {0};
    uint32_t fresh, length[BATCH];
    const uint8_t *value[BATCH];
    uint8_t key_bytes[BATCH];
    memset(key_bytes, 8, sizeof(key_bytes));
    for (uint64_t n = 0; n < items; n += BATCH) {
        kvc_dram_slab_reserve(slab, 8, 8, 0, BATCH, pointer, &fresh, &stats);
        for (uint32_t i = 0; i < BATCH; i++) {
            uint64_t item_key = pointer[i];
            kvc_dram_slab_write(slab, pointer[i],
                                &(struct kvc_dram_item){.timestamp = (uint32_t)n,
                                                        .key_bytes = 8,
                                                        .value_bytes = 8,
                                                        .key = (uint8_t *)&item_key,
                                                        .value = (uint8_t *)&item_key},
                                &stats);
        }
    }
    double seconds[RUNS];
    for (int run = 0; run < RUNS; run++) {
        seconds[run] = 0;
        for (uint64_t n = 0; n < RUN_KEYS; n += BATCH) {
            for (uint32_t i = 0; i < BATCH; i++) {
                key[i] = pointer[i] = mix(n + i + (uint64_t)run * RUN_KEYS) % items * 64;
            }
            struct kvc_dram_slab_gets gets = {.count = BATCH,
                                              .pointer = pointer,
                                              .keys = (const uint8_t *)key,
                                              .stride = 8,
                                              .key_bytes = key_bytes,
                                              .now = 1,
                                              .value = value,
                                              .value_bytes = length};
            double start = now_s();
            kvc_dram_slab_get(slab, &gets, &got);
            seconds[run] += now_s() - start;
        }
    }
    if (got.get_hits != got.gets) {
        die("an item is not found in its slab");
    }
    row("slab get, key check, 8 + 8 B", median(seconds), RUN_KEYS, (double)got.get_lines / (double)got.gets,
        write_ns);
    for (int run = 0; run < RUNS; run++) {
        seconds[run] = 0;
        for (uint64_t n = 0; n < RUN_KEYS / 4; n += BATCH) {
            double start = now_s();
            kvc_dram_slab_reserve(slab, 8, 8, 2, BATCH, pointer, &fresh, &evicted);
            seconds[run] += now_s() - start;
            for (uint32_t i = 0; i < BATCH; i++) {
                struct kvc_dram_item item;
                kvc_dram_slab_item(slab, pointer[i], &item);
                kvc_dram_slab_write(slab, pointer[i], &item, &stats);
            }
        }
    }
    row("slab evict, oldest of four", median(seconds), RUN_KEYS / 4.0,
        (double)evicted.sampled_lines / (double)evicted.evicted, read_ns);
    kvc_dram_slab_free(slab);
}

int main(void)
{
    uint64_t bytes = UINT64_C(1) << 30;
    uint64_t *hash = allocate((uint64_t)RUNS * RUN_KEYS * 8);
    for (uint64_t i = 0; i < (uint64_t)RUNS * RUN_KEYS; i++) {
        hash[i] = mix(i + 12345);
    }
    printf("1 GiB, batches of %d, one core, median of %d runs of %d operations\n", BATCH, RUNS, RUN_KEYS);
    double read_ns = line_limit(bytes, hash, false);
    double write_ns = line_limit(bytes, hash, true);
    bench_hash();
    bench_index(bytes, hash, read_ns, write_ns);
    bench_slab(bytes, read_ns, write_ns);
    kvc_pages_free(hash, (uint64_t)RUNS * RUN_KEYS * 8);
    return 0;
}
