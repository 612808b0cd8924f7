/* Measures how fast the kernels are on this machine, next to what its memory allows.
 *
 * Every number is the median of several runs over different keys, one after another in one process. The limit
 * is measured in the same process by a loop that reads one word each of random lines in as much memory and
 * prefetches ahead. "of limit" is the number of lines per second that a kernel touches, divided by that
 * limit. Kernels that fill fresh memory also pay for page faults. Results are verified before they are timed.
 *
 * In rows for several threads, all threads start at a barrier, and each has keys and buffers of its own. The
 * rate is the number of operations of all threads over the time of the slowest one. It is compared with a
 * single such thread, measured alternately. The limit is the limit of one core times the number of threads.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/megakv/cuckoo.h"
#include "kernels/bench.h"
#include "kernels/hash.h"
#include "kernels/pages.h"
#include "kernels/megakv/slab.h"

enum {
    RUNS = 7,
    RUN_KEYS = 4 << 20,
    BATCH_MAX = 1 << 16,
    THREADS = 2,
};

static const uint64_t hash_seed = 0x6b766361;

struct options {
    uint64_t table_bytes;
    uint64_t items;
    uint32_t batch;
};

/* Keys to look up: RUNS * RUN_KEYS random ones among those stored. */
struct lookups {
    uint64_t *key;
    uint64_t *hash;
};

struct buffers {
    uint64_t hash[BATCH_MAX];
    uint32_t location[BATCH_MAX];
    uint8_t key_bytes[BATCH_MAX];
    uint64_t key[BATCH_MAX];
    uint8_t result[BATCH_MAX];
    struct kvc_megakv_slab_evicted evicted[BATCH_MAX];
    uint8_t ring[KVC_MEGAKV_SLAB_VALUE_MAX];
};

static void print_header(const struct options *options)
{
    kvc_bench_print_machine();
    printf("table %" PRIu64 " MiB, store of %" PRIu64
           " items, batches of %u, one core, median of %d runs of %d keys\n\n",
           options->table_bytes >> 20, options->items, options->batch, RUNS, RUN_KEYS);
}

/* Draws the keys to look up; keys 0 to keys - 1 are stored. */
static void draw_lookups(struct lookups *lookups, uint64_t keys, uint8_t *key_bytes)
{
    for (uint64_t i = 0; i < (uint64_t)RUNS * RUN_KEYS; i++) {
        lookups->key[i] = kvc_mix_64(i + 12345) % keys;
    }
    memset(key_bytes, 8, BATCH_MAX);
    for (uint64_t i = 0; i < (uint64_t)RUNS * RUN_KEYS; i += BATCH_MAX) {
        kvc_hash_batch((const uint8_t *)&lookups->key[i], 8, key_bytes, BATCH_MAX, hash_seed,
                       &lookups->hash[i]);
    }
}

static double bench_hash(const struct lookups *lookups, struct buffers *buffers)
{
    double seconds[RUNS];
    for (uint32_t i = 0; i < 1000; i++) {
        if (lookups->hash[i] != kvc_hash_portable(&lookups->key[i], 8, hash_seed)) {
            kvc_bench_die("the batch hash differs from the portable one");
        }
    }
    for (int run = 0; run < RUNS; run++) {
        double start = kvc_bench_now_s();
        for (uint64_t i = 0; i < RUN_KEYS; i += 1024) {
            kvc_hash_batch((const uint8_t *)&lookups->key[(uint64_t)run * RUN_KEYS + i], 8,
                           buffers->key_bytes, 1024, hash_seed, buffers->hash);
        }
        seconds[run] = kvc_bench_now_s() - start;
    }
    return RUN_KEYS / kvc_bench_median(seconds, RUNS) / 1e6;
}

static double bench_lines(uint64_t bytes)
{
    char name[64];
    double mops = kvc_bench_line_limit_mops(bytes);
    snprintf(name, sizeof(name), "limit: random lines in %" PRIu64 " MiB", bytes >> 20);
    kvc_bench_row(name, mops, 1, mops);
    return mops;
}

/* Inserts keys 0 to count - 1; if a slab store is given, as items of 8 + 8 bytes with the value ~key. Adds
 * the seconds that the slab store and the index take. */
static void load(struct kvc_index *table, struct kvc_megakv_slab *slab, uint64_t count,
                 const struct options *options, struct buffers *buffers, double seconds[2],
                 struct kvc_index_stats *stats)
{
    struct kvc_megakv_slab_stats slab_stats = {0};
    for (uint64_t done = 0; done < count;) {
        uint32_t batch = count - done < options->batch ? (uint32_t)(count - done) : options->batch;
        for (uint32_t i = 0; i < batch; i++) {
            buffers->key[i] = done + i;
            buffers->location[i] = (uint32_t)(done + i);
        }
        kvc_hash_batch((const uint8_t *)buffers->key, 8, buffers->key_bytes, batch, hash_seed, buffers->hash);
        double start = kvc_bench_now_s();
        if (slab != NULL) {
            uint32_t evictions;
            if (kvc_megakv_slab_alloc(slab, 8, 8, batch, buffers->location, buffers->evicted, &evictions,
                                      &slab_stats) != batch ||
                evictions != 0) {
                kvc_bench_die("the slab store is too small");
            }
            for (uint32_t i = 0; i < batch; i++) {
                uint64_t value = ~buffers->key[i];
                kvc_megakv_slab_write(slab, buffers->location[i], &buffers->key[i], 8, &value, 8,
                                      &slab_stats);
            }
        }
        double middle = kvc_bench_now_s();
        kvc_index_insert(table, buffers->hash, buffers->location, batch, NULL, stats);
        seconds[0] += middle - start;
        seconds[1] += kvc_bench_now_s() - middle;
        done += batch;
    }
}

static void bench_index(const struct options *options, const struct lookups *lookups, struct buffers *buffers,
                        double limit)
{
    struct kvc_index *table = kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = options->table_bytes, .max_displacements = 200});
    if (table == NULL) {
        kvc_bench_die("out of memory");
    }
    uint64_t keys = kvc_index_capacity(table) / 4 * 3;
    struct kvc_index_stats inserted = {0}, searched = {0}, replaced = {0};
    double seconds[2] = {0}, run_seconds[RUNS];
    load(table, NULL, keys, options, buffers, seconds, &inserted);
    kvc_bench_row("insert to load 0.75, index only, fresh memory", (double)keys / seconds[1] / 1e6,
                  (double)inserted.insert_lines / (double)inserted.inserts, limit);
    for (uint64_t i = 0; i < RUN_KEYS; i += options->batch) {
        kvc_index_search(table, &lookups->hash[i], options->batch, buffers->location, &searched);
        for (uint32_t j = 0; j < options->batch; j++) {
            if (buffers->location[j] != (uint32_t)lookups->key[i + j] &&
                inserted.replaced + inserted.dropped == 0) {
                kvc_bench_die("a key was not found where it was put");
            }
        }
    }
    for (int run = 0; run < RUNS; run++) {
        double start = kvc_bench_now_s();
        for (uint64_t i = 0; i < RUN_KEYS; i += options->batch) {
            kvc_index_search(table, &lookups->hash[(uint64_t)run * RUN_KEYS + i], options->batch,
                             buffers->location, &searched);
        }
        run_seconds[run] = kvc_bench_now_s() - start;
    }
    kvc_bench_row("search, index only, load 0.75, hits", RUN_KEYS / kvc_bench_median(run_seconds, RUNS) / 1e6,
                  (double)searched.search_lines / (double)searched.searches, limit);
    for (int run = 0; run < RUNS; run++) {
        double start = kvc_bench_now_s();
        for (uint64_t i = 0; i < RUN_KEYS; i += options->batch) {
            kvc_index_insert(table, &lookups->hash[(uint64_t)run * RUN_KEYS + i], buffers->location,
                             options->batch, NULL, &replaced);
        }
        run_seconds[run] = kvc_bench_now_s() - start;
    }
    kvc_bench_row("insert, index only, replacing", RUN_KEYS / kvc_bench_median(run_seconds, RUNS) / 1e6,
                  (double)replaced.insert_lines / (double)replaced.inserts, limit);
    printf("displacements per insert %.4f, dropped %" PRIu64 "\n",
           (double)inserted.displacements / (double)inserted.inserts, inserted.dropped);
    kvc_index_free(table);
}

/* Searches for the keys of one run and reads them from the slab store. With `verify`, returns the number of
 * hits with the right value. */
static uint64_t read_run(struct kvc_index *table, struct kvc_megakv_slab *slab, const struct options *options,
                         const struct lookups *lookups, int run, struct buffers *buffers, bool verify,
                         struct kvc_index_stats *stats, struct kvc_megakv_slab_stats *slab_stats)
{
    uint64_t right = 0;
    uint32_t position = 0;
    for (uint64_t i = 0; i < RUN_KEYS; i += options->batch) {
        uint64_t first = (uint64_t)run * RUN_KEYS + i;
        kvc_index_search(table, &lookups->hash[first], options->batch, buffers->location, stats);
        position = 0;
        kvc_megakv_slab_read(slab,
                             &(struct kvc_megakv_slab_reads){.count = options->batch,
                                                             .location = buffers->location,
                                                             .keys = (const uint8_t *)&lookups->key[first],
                                                             .key_stride = 8,
                                                             .key_bytes = buffers->key_bytes,
                                                             .compare = true,
                                                             .out = buffers->ring,
                                                             .out_bytes = sizeof(buffers->ring),
                                                             .out_position = &position,
                                                             .result = buffers->result},
                             slab_stats);
        for (uint32_t j = 0; verify && j < options->batch; j++) {
            uint64_t value;
            memcpy(&value, buffers->ring + (size_t)j * 8, 8);
            right += buffers->result[j] == KVC_MEGAKV_SLAB_HIT && value == ~lookups->key[first + j];
        }
    }
    return right;
}

/* Allocates and writes `count` new keys from `key` on; returns the number of evicted items. */
static uint64_t write_run(struct kvc_megakv_slab *slab, const struct options *options, uint64_t key,
                          uint64_t count, struct buffers *buffers)
{
    struct kvc_megakv_slab_stats stats = {0};
    for (uint64_t done = 0; done < count; done += options->batch) {
        uint32_t evictions;
        kvc_megakv_slab_alloc(slab, 8, 8, options->batch, buffers->location, buffers->evicted, &evictions,
                              &stats);
        for (uint32_t i = 0; i < options->batch; i++, key++) {
            kvc_megakv_slab_write(slab, buffers->location[i], &key, 8, &key, 8, &stats);
        }
    }
    return stats.evicted;
}

/* Measures allocation and writing if every new item replaces one that CLOCK evicts. */
static double bench_evicting(struct kvc_megakv_slab *slab, const struct options *options,
                             struct buffers *buffers)
{
    double seconds[RUNS];
    uint64_t key = UINT64_C(1) << 40;
    write_run(slab, options, key, kvc_megakv_slab_capacity_bytes(slab) / 32, buffers); /* until it is full */
    for (int run = 0; run < RUNS; run++) {
        key += UINT64_C(1) << 32;
        double start = kvc_bench_now_s();
        uint64_t evicted = write_run(slab, options, key, RUN_KEYS, buffers);
        seconds[run] = kvc_bench_now_s() - start;
        if (evicted != RUN_KEYS) {
            kvc_bench_die("a full slab store did not evict");
        }
    }
    return RUN_KEYS / kvc_bench_median(seconds, RUNS) / 1e6;
}

struct store {
    struct kvc_index *table;
    struct kvc_megakv_slab *slab;
    const struct options *options;
    const struct lookups *lookups;
};

/* One of several threads. */
struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    const struct store *store;
    struct buffers *buffers;
    bool writes; /* otherwise it searches and reads */
    int run;
    double seconds;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    const struct store *store = worker->store;
    struct kvc_index_stats stats = {0};
    struct kvc_megakv_slab_stats slab_stats = {0};
    uint64_t key = (UINT64_C(1) << 41) + ((uint64_t)worker->run << 32);
    pthread_barrier_wait(worker->start);
    double start = kvc_bench_now_s();
    if (worker->writes) {
        write_run(store->slab, store->options, key, RUN_KEYS, worker->buffers);
    } else {
        read_run(store->table, store->slab, store->options, store->lookups, worker->run, worker->buffers,
                 false, &stats, &slab_stats);
    }
    worker->seconds = kvc_bench_now_s() - start;
    return NULL;
}

/* Returns the seconds of the slowest of `count` workers, which take the runs from `run` on. */
static double run_workers(struct worker *workers, int count, int run)
{
    pthread_barrier_t start;
    double slowest = 0;
    if (pthread_barrier_init(&start, NULL, (unsigned)count) != 0) {
        kvc_bench_die("no barrier");
    }
    for (int t = 0; t < count; t++) {
        workers[t].start = &start;
        workers[t].run = (run + t) % RUNS;
        if (pthread_create(&workers[t].thread, NULL, work, &workers[t]) != 0) {
            kvc_bench_die("no thread");
        }
    }
    for (int t = 0; t < count; t++) {
        pthread_join(workers[t].thread, NULL);
        slowest = workers[t].seconds > slowest ? workers[t].seconds : slowest;
    }
    pthread_barrier_destroy(&start);
    return slowest;
}

static void bench_threads(const struct store *store, bool writes, const char *name, double lines,
                          double limit)
{
    struct worker workers[THREADS];
    double one[RUNS], all[RUNS];
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (struct worker){
            .store = store, .buffers = kvc_bench_alloc(sizeof(struct buffers)), .writes = writes};
        memset(workers[t].buffers->key_bytes, 8, BATCH_MAX);
    }
    for (int run = 0; run < RUNS; run++) {
        one[run] = run_workers(workers, 1, run);
        all[run] = run_workers(workers, THREADS, run);
    }
    double one_mops = RUN_KEYS / kvc_bench_median(one, RUNS) / 1e6;
    double mops = (double)THREADS * RUN_KEYS / kvc_bench_median(all, RUNS) / 1e6;
    kvc_bench_row(name, mops, lines, limit * THREADS);
    printf("  %d threads: %.2f x one thread of the same\n", THREADS, mops / one_mops);
    for (int t = 0; t < THREADS; t++) {
        kvc_pages_free(workers[t].buffers, sizeof(struct buffers));
    }
}

static void bench_store(const struct options *options, struct lookups *lookups, struct buffers *buffers)
{
    uint64_t table_bytes = 64;
    while (table_bytes / 8 * 3 / 4 < options->items) {
        table_bytes *= 2;
    }
    uint64_t slab_bytes = options->items * 32 + options->items / 8 + (4 << 20);
    uint64_t footprint = 64;
    while (footprint < table_bytes + options->items * 32) {
        footprint *= 2;
    }
    printf("\n");
    double limit = bench_lines(footprint);
    struct kvc_index *table = kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = table_bytes, .max_displacements = 200});
    struct kvc_megakv_slab *slab = kvc_megakv_slab_create(slab_bytes, hash_seed);
    if (table == NULL || slab == NULL) {
        kvc_bench_die("out of memory");
    }
    struct kvc_index_stats stats = {0};
    struct kvc_megakv_slab_stats slab_stats = {0};
    double seconds[2] = {0}, run_seconds[RUNS];
    load(table, slab, options->items, options, buffers, seconds, &stats);
    printf("store: index of %" PRIu64 " MiB, load %.3f, %.2f GiB of slabs\n", table_bytes >> 20,
           (double)kvc_index_used(table) / (double)kvc_index_capacity(table),
           (double)kvc_megakv_slab_capacity_bytes(slab) / (1 << 30));
    kvc_bench_row("slab alloc and write, 8 + 8 B, fresh memory", (double)options->items / seconds[0] / 1e6, 0,
                  limit);
    kvc_bench_row("index insert of the same", (double)options->items / seconds[1] / 1e6,
                  (double)stats.insert_lines / (double)stats.inserts, limit);
    draw_lookups(lookups, options->items, buffers->key_bytes);
    uint64_t right = read_run(table, slab, options, lookups, 0, buffers, true, &stats, &slab_stats);
    if (right != RUN_KEYS && stats.replaced + stats.dropped == 0) {
        kvc_bench_die("a read did not give its key's value");
    }
    for (int run = 0; run < RUNS; run++) {
        double start = kvc_bench_now_s();
        read_run(table, slab, options, lookups, run, buffers, false, &stats, &slab_stats);
        run_seconds[run] = kvc_bench_now_s() - start;
    }
    double lines = (double)stats.search_lines / (double)stats.searches +
                   (double)slab_stats.read_lines / (double)slab_stats.reads;
    kvc_bench_row("search and slab read, key check, value copy",
                  RUN_KEYS / kvc_bench_median(run_seconds, RUNS) / 1e6, lines, limit);
    struct store store = {.table = table, .slab = slab, .options = options, .lookups = lookups};
    bench_threads(&store, false, "search and slab read, 2 threads", lines, limit);
    kvc_bench_row("slab alloc and write, evicting", bench_evicting(slab, options, buffers), 0, limit);
    bench_threads(&store, true, "slab alloc and write, evicting, 2 threads", 0, limit);
    kvc_megakv_slab_free(slab);
    kvc_index_free(table);
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    int option;
    while ((option = getopt(argc, argv, "t:i:b:")) != -1) {
        char *end;
        unsigned long long value = strtoull(optarg != NULL ? optarg : "", &end, 10);
        if (option == '?' || *end != '\0' || value == 0) {
            return false;
        }
        if (option == 't') {
            options->table_bytes = value << 20;
        } else if (option == 'i') {
            options->items = value;
        } else {
            options->batch = (uint32_t)value;
        }
    }
    uint64_t bytes = options->table_bytes;
    uint32_t batch = options->batch;
    return optind == argc && (bytes & (bytes - 1)) == 0 && bytes <= UINT64_C(32) << 30 &&
           batch <= BATCH_MAX && (batch & (batch - 1)) == 0;
}

int main(int argc, char **argv)
{
    struct options options = {.table_bytes = UINT64_C(1) << 30, .items = 48000000, .batch = 1024};
    if (!parse_options(argc, argv, &options)) {
        fprintf(stderr,
                "usage: megakv_kernels_bench [-t TABLE_MIB] [-i STORE_ITEMS] [-b BATCH]\n"
                "TABLE_MIB and BATCH are powers of two, BATCH at most %d\n",
                BATCH_MAX);
        return 2;
    }
    uint64_t lookup_bytes = (uint64_t)RUNS * RUN_KEYS * 8;
    struct lookups lookups = {.key = kvc_bench_alloc(lookup_bytes), .hash = kvc_bench_alloc(lookup_bytes)};
    struct buffers *buffers = kvc_bench_alloc(sizeof(*buffers));
    print_header(&options);
    draw_lookups(&lookups, options.table_bytes / 8 / 4 * 3, buffers->key_bytes);
    kvc_bench_row("hash, keys of 8 B, batched", bench_hash(&lookups, buffers), 0, 0);
    double limit = bench_lines(options.table_bytes);
    bench_index(&options, &lookups, buffers, limit);
    bench_store(&options, &lookups, buffers);
    kvc_pages_free(buffers, sizeof(*buffers));
    kvc_pages_free(lookups.key, lookup_bytes);
    kvc_pages_free(lookups.hash, lookup_bytes);
    return 0;
}
