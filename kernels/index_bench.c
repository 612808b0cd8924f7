/* Measures every index against the limit that memory sets: the lines that an operation touches and its time.
 *
 * Each kind gets a table of about the same size. The table is filled to 0.75 of its capacity, verified, and
 * then searched for random keys that it holds. Caches receive as many keys and give some of them up. "x
 * limit" is the time of an operation divided by the time that memory needs for its lines, which is the lines
 * per operation divided by the random lines per second; both are measured in the same run. The time of
 * filling leaves page faults out. Later inserts replace the locations of stored keys. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/bench.h"
#include "kernels/hash.h"
#include "kernels/index_kinds.h"
#include "kernels/pages.h"

enum {
    RUNS_MAX = 5,
    RUN_KEYS = 2 << 20,
    BATCH_MAX = 1024,
    THREADS = 2,
};

/* Targets apply to tables of this size; smaller ones are partly in processor caches. */
static const uint64_t target_bytes = UINT64_C(1) << 30;
static const double target_times_limit = 1.5;
static const double target_speedup = 1.8;

struct options {
    uint64_t bytes;
    const char *kind;
    int runs;
};

static const uint32_t batches[] = {1, 32, 256, BATCH_MAX};

/* Keys that the index holds in random order, RUN_KEYS for each run. */
struct lookups {
    int runs;
    uint64_t *hash;
    uint32_t *location;
};

static uint64_t hash_of(uint64_t key)
{
    return kvc_mix_64(key + 0x9e3779b97f4a7c15);
}

/* Inserts keys 0 to keys - 1 and returns the time without page faults [s]. */
static double insert_all(struct kvc_index *index, uint64_t keys, struct kvc_index_stats *stats)
{
    uint64_t hash[BATCH_MAX];
    uint32_t location[BATCH_MAX];
    double start = kvc_bench_own_s();
    for (uint64_t done = 0; done < keys; done += BATCH_MAX) {
        uint32_t count = keys - done < BATCH_MAX ? (uint32_t)(keys - done) : BATCH_MAX;
        for (uint32_t i = 0; i < count; i++) {
            hash[i] = hash_of(done + i);
            location[i] = (uint32_t)(done + i);
        }
        kvc_index_insert(index, hash, location, count, NULL, stats);
    }
    return kvc_bench_own_s() - start;
}

/* Draws random keys that are found, and checks that each has its own location. Returns the fraction found. */
static double draw(const struct kvc_index_kind *kind, struct kvc_index *index, uint64_t keys,
                   struct lookups *lookups)
{
    struct kvc_index_stats stats = {0};
    uint64_t held = 0, asked = 0, mistaken = 0;
    while (held < (uint64_t)lookups->runs * RUN_KEYS) {
        uint64_t hash[BATCH_MAX];
        uint32_t location[BATCH_MAX], right[BATCH_MAX];
        for (uint32_t i = 0; i < BATCH_MAX; i++) {
            right[i] = (uint32_t)(kvc_mix_64(asked + i + 77) % keys);
            hash[i] = hash_of(right[i]);
        }
        kvc_index_search(index, hash, BATCH_MAX, location, &stats);
        asked += BATCH_MAX;
        for (uint32_t i = 0; i < BATCH_MAX && held < (uint64_t)lookups->runs * RUN_KEYS; i++) {
            if (location[i] == right[i]) {
                lookups->hash[held] = hash[i];
                lookups->location[held++] = right[i];
            } else {
                mistaken += location[i] != KVC_LOCATION_NONE;
            }
        }
        if (asked > (UINT64_C(1) << 26) && held == 0) {
            kvc_bench_die("no key that was inserted is found");
        }
    }
    if (mistaken > 0 && (!kind->partial || mistaken > asked / 1000)) {
        fprintf(stderr, "%s: %" PRIu64 " wrong locations\n", kind->name, mistaken);
        exit(1);
    }
    return (double)held / (double)asked;
}

static double search_run(struct kvc_index *index, const uint64_t *hash, uint32_t batch,
                         struct kvc_index_stats *stats)
{
    uint32_t location[BATCH_MAX];
    double start = kvc_bench_now_s();
    for (uint64_t i = 0; i < RUN_KEYS; i += batch) {
        kvc_index_search(index, hash + i, batch, location, stats);
    }
    return kvc_bench_now_s() - start;
}

static void print_row(const char *what, double seconds, double lines, double limit_mops, bool scored)
{
    double ns = seconds / RUN_KEYS * 1e9;
    double times = ns / (lines / limit_mops * 1e3);
    printf("  %-26s %7.1f M/s %7.2f ns %6.2f lines %6.2f x limit%s\n", what, 1e3 / ns, ns, lines, times,
           !scored                       ? ""
           : times <= target_times_limit ? "  ok"
                                         : "  MISSED");
    fflush(stdout);
}

static void bench_searches(struct kvc_index *index, const struct options *options,
                           const struct lookups *lookups, double limit_mops)
{
    for (size_t b = 0; b < sizeof(batches) / sizeof(batches[0]); b++) {
        uint32_t batch = batches[b];
        struct kvc_index_stats stats = {0};
        double seconds[RUNS_MAX];
        char name[64];
        for (int run = 0; run < lookups->runs; run++) {
            seconds[run] = search_run(index, lookups->hash + (uint64_t)run * RUN_KEYS, batch, &stats);
        }
        snprintf(name, sizeof(name), "search, batches of %u", batch);
        print_row(name, kvc_bench_median(seconds, lookups->runs),
                  (double)stats.search_lines / (double)stats.searches, limit_mops,
                  batch > 1 && options->bytes >= target_bytes);
    }
}

static void bench_changes(struct kvc_index *index, const struct options *options,
                          const struct lookups *lookups, double limit_mops)
{
    struct kvc_index_stats stats = {0};
    double insert[RUNS_MAX], erase[RUNS_MAX];
    for (int run = 0; run < lookups->runs; run++) {
        const uint64_t *hash = lookups->hash + (uint64_t)run * RUN_KEYS;
        const uint32_t *location = lookups->location + (uint64_t)run * RUN_KEYS;
        double start = kvc_bench_now_s();
        for (uint64_t i = 0; i < RUN_KEYS; i += BATCH_MAX) {
            kvc_index_insert(index, hash + i, location + i, BATCH_MAX, NULL, &stats);
        }
        insert[run] = kvc_bench_now_s() - start;
    }
    print_row("insert, replacing", kvc_bench_median(insert, lookups->runs),
              (double)stats.insert_lines / (double)stats.inserts, limit_mops, options->bytes >= target_bytes);
    for (int run = 0; run < lookups->runs; run++) {
        const uint64_t *hash = lookups->hash + (uint64_t)run * RUN_KEYS;
        const uint32_t *location = lookups->location + (uint64_t)run * RUN_KEYS;
        double start = kvc_bench_now_s();
        for (uint64_t i = 0; i < RUN_KEYS; i += BATCH_MAX) {
            kvc_index_erase(index, hash + i, location + i, BATCH_MAX, NULL, &stats);
        }
        erase[run] = kvc_bench_now_s() - start;
    }
    print_row("erase", kvc_bench_median(erase, lookups->runs),
              (double)stats.erase_lines / (double)stats.erases, limit_mops, options->bytes >= target_bytes);
}

struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    struct kvc_index *index;
    const uint64_t *hash;
    int core;
    double seconds;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct kvc_index_stats stats = {0};
    kvc_bench_pin(worker->core);
    pthread_barrier_wait(worker->start);
    worker->seconds = search_run(worker->index, worker->hash, BATCH_MAX, &stats);
    return NULL;
}

/* Time of the slowest of `threads` threads that search at once, each with its own keys [s]. */
static double together(struct kvc_index *const *index, const struct lookups *lookups, int threads, int run)
{
    struct worker workers[THREADS];
    pthread_barrier_t start;
    double slowest = 0;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int t = 0; t < threads; t++) {
        workers[t] = (struct worker){.start = &start,
                                     .index = index[t],
                                     .hash = lookups->hash + (uint64_t)((run + t) % lookups->runs) * RUN_KEYS,
                                     .core = t};
        if (pthread_create(&workers[t].thread, NULL, work, &workers[t]) != 0) {
            kvc_bench_die("cannot create a thread");
        }
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(workers[t].thread, NULL);
        slowest = workers[t].seconds > slowest ? workers[t].seconds : slowest;
    }
    pthread_barrier_destroy(&start);
    return slowest;
}

/* Compares two threads with one. Kinds that only one thread may use get a table for each thread. */
static void bench_threads(const struct kvc_index_kind *kind, struct kvc_index *index, uint64_t keys,
                          const struct options *options, const struct lookups *lookups)
{
    struct kvc_index_stats stats = {0};
    double one[RUNS_MAX], two[RUNS_MAX];
    struct kvc_index *other = kind->many_readers ? index : kind->create(options->bytes, 1);
    struct kvc_index *each[THREADS] = {index, other};
    if (other == NULL) {
        kvc_bench_die("out of memory");
    }
    if (other != index) {
        insert_all(other, keys, &stats);
    }
    for (int run = 0; run < lookups->runs; run++) {
        one[run] = together(each, lookups, 1, run);
        two[run] = together(each, lookups, THREADS, run);
    }
    double speedup = THREADS * kvc_bench_median(one, lookups->runs) / kvc_bench_median(two, lookups->runs);
    printf("  two threads, %s: %.2f times one%s\n", other == index ? "one table" : "a table each", speedup,
           speedup >= target_speedup ? "  ok" : "  MISSED");
    if (other != index) {
        kvc_index_free(other);
    }
}

static void bench_kind(const struct kvc_index_kind *kind, const struct options *options,
                       struct lookups *lookups, double limit_mops)
{
    struct kvc_index *index = kind->create(options->bytes, 1);
    struct kvc_index_stats stats = {0};
    if (index == NULL) {
        kvc_bench_die("out of memory");
    }
    uint64_t keys = kvc_index_capacity(index) / 4 * 3;
    double seconds = insert_all(index, keys, &stats);
    printf("%s (%s)\n  capacity %" PRIu64 ", %" PRIu64
           " inserted at %.1f M/s (%.2f lines, %.2f x limit), %" PRIu64 " held, %" PRIu64 " moved, %" PRIu64
           " dropped, %" PRIu64 " evicted\n",
           kind->name, kind->source, kvc_index_capacity(index), keys, (double)keys / seconds / 1e6,
           (double)stats.insert_lines / (double)stats.inserts,
           seconds * limit_mops * 1e6 / (double)stats.insert_lines, kvc_index_used(index),
           stats.displacements, stats.dropped, stats.evicted);
    double share = draw(kind, index, keys, lookups);
    if (share < 1 && !kind->caches && !kind->forgets && stats.dropped == 0) {
        fprintf(stderr, "%s: %.4f of the keys are not found\n", kind->name, 1 - share);
        exit(1);
    }
    bench_searches(index, options, lookups, limit_mops);
    bench_threads(kind, index, keys, options, lookups);
    bench_changes(index, options, lookups, limit_mops);
    kvc_index_free(index);
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    int option;
    while ((option = getopt(argc, argv, "m:k:q")) != -1) {
        if (option == 'k') {
            options->kind = optarg;
        } else if (option == 'q') {
            options->runs = 1;
            options->bytes = UINT64_C(64) << 20;
        } else if (option == 'm') {
            char *end;
            unsigned long long value = strtoull(optarg, &end, 10);
            if (*end != '\0' || value == 0 || value > 16384 || (value & (value - 1)) != 0) {
                return false;
            }
            options->bytes = value << 20;
        } else {
            return false;
        }
    }
    bool known = options->kind == NULL;
    for (size_t k = 0; kvc_index_kinds[k] != NULL; k++) {
        known |= options->kind != NULL && strcmp(options->kind, kvc_index_kinds[k]->name) == 0;
    }
    return optind == argc && known;
}

int main(int argc, char **argv)
{
    struct options options = {.bytes = UINT64_C(1) << 30, .runs = RUNS_MAX};
    if (!parse_options(argc, argv, &options)) {
        fprintf(stderr, "usage: index_bench [-q] [-m MIB] [-k KIND]\n"
                        "-q runs once in 64 MiB; MIB is a power of two up to 16384; KIND is one of");
        for (size_t k = 0; kvc_index_kinds[k] != NULL; k++) {
            fprintf(stderr, " %s", kvc_index_kinds[k]->name);
        }
        fprintf(stderr, "\n");
        return 2;
    }
    uint64_t count = (uint64_t)options.runs * RUN_KEYS;
    struct lookups lookups = {
        .runs = options.runs, .hash = kvc_bench_alloc(count * 8), .location = kvc_bench_alloc(count * 4)};
    kvc_bench_pin(0);
    kvc_bench_print_machine();
    double limit_mops = kvc_bench_line_limit_mops(options.bytes);
    printf("limit: %.1f M random lines/s in %" PRIu64 " MiB\n", limit_mops, options.bytes >> 20);
    for (size_t k = 0; kvc_index_kinds[k] != NULL; k++) {
        if (options.kind == NULL || strcmp(options.kind, kvc_index_kinds[k]->name) == 0) {
            bench_kind(kvc_index_kinds[k], &options, &lookups, limit_mops);
        }
    }
    kvc_pages_free(lookups.hash, count * 8);
    kvc_pages_free(lookups.location, count * 4);
    return 0;
}
