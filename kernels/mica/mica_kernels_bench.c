/* Speed of the MICA store on the four data sets of Mega-KV's figure 1 (VLDB J. 26(5), sec. 2.1.2), next to
 * the limit of random memory accesses. GETs request stored keys, uniformly drawn; SETs replace values in
 * place.
 *
 * The row "index" shows the same GETs without room for the value: they touch the bucket, the item's header
 * and the key. Its share of a GET's time is what the figure shows for the published store. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bench.h"
#include "kernels/hash.h"
#include "kernels/mica/mica.h"
#include "kernels/pages.h"

enum {
    RUNS = 5,
    RUN_KEYS = 1 << 20, /* Operations of a run. */
    BATCH = 256,
    VALUE_MAX = 1024,
    KEY_MAX = 128,
    KEYS_PER_BUCKET = 10,
};

struct data_set {
    uint32_t key_bytes, value_bytes;
    double published_share; /* Share of a GET's time that index operations take. */
};

static const struct data_set data_sets[] = {{8, 8, 0.75}, {16, 64, 0.70}, {32, 512, 0.65}, {128, 1024, 0.50}};

enum operation { GET, INDEX, SET };

/* The keys and values of one batch. */
struct batch {
    uint8_t keys[BATCH * KEY_MAX];
    uint32_t offset[BATCH];
    uint8_t bytes[BATCH];
    uint64_t number[BATCH];
    uint8_t data[BATCH][VALUE_MAX];
    struct kvc_mica_buffer buffer[BATCH];
    struct kvc_mica_value value[BATCH];
};

static void fill_key(struct batch *batch, uint32_t i, const struct data_set *set, uint64_t number)
{
    uint8_t *key = batch->keys + i * set->key_bytes;
    batch->number[i] = number;
    batch->offset[i] = i * set->key_bytes;
    batch->bytes[i] = (uint8_t)set->key_bytes;
    for (uint32_t at = 0; at < set->key_bytes; at += 8) {
        uint64_t word = kvc_mix_64(number + at * UINT64_C(0x9e3779b97f4a7c15));
        memcpy(key + at, &word, 8);
    }
}

static struct kvc_mica_keys keys_of(const struct batch *batch)
{
    return (struct kvc_mica_keys){batch->keys, batch->offset, batch->bytes, NULL};
}

static void set_batch(struct kvc_mica *store, struct batch *batch, const struct data_set *set, uint32_t count,
                      struct kvc_index_stats *stats)
{
    struct kvc_mica_keys keys = keys_of(batch);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(batch->data[i], &batch->number[i], 8);
        batch->value[i] = (struct kvc_mica_value){batch->data[i], set->value_bytes};
    }
    kvc_mica_set(store, &keys, batch->value, count, NULL, stats);
}

static void get_batch(struct kvc_mica *store, struct batch *batch, uint32_t room, uint32_t count,
                      struct kvc_index_stats *stats)
{
    struct kvc_mica_keys keys = keys_of(batch);
    for (uint32_t i = 0; i < count; i++) {
        batch->buffer[i] = (struct kvc_mica_buffer){batch->data[i], room, 0};
    }
    kvc_mica_get(store, &keys, count, batch->buffer, stats);
}

/* Checks that nearly all keys are found, each with its own value. */
static void verify(struct kvc_mica *store, struct batch *batch, const struct data_set *set, uint64_t keys)
{
    struct kvc_index_stats stats = {0};
    for (uint32_t round = 0; round < 1000; round++) {
        for (uint32_t i = 0; i < BATCH; i++) {
            fill_key(batch, i, set, kvc_mix_64(round * BATCH + i) % keys);
        }
        get_batch(store, batch, set->value_bytes, BATCH, &stats);
        for (uint32_t i = 0; i < BATCH; i++) {
            if (batch->buffer[i].bytes != KVC_MICA_NONE &&
                (batch->buffer[i].bytes != set->value_bytes ||
                 memcmp(batch->data[i], &batch->number[i], 8) != 0)) {
                kvc_bench_die("a GET returned another key's value");
            }
        }
    }
    if ((double)stats.search_hits < 0.95 * (double)stats.searches) {
        kvc_bench_die("GETs miss more than 5 % of the keys");
    }
}

/* Returns the time of an operation [ns]. The time to make the keys is not part of it. */
static double run(struct kvc_mica *store, struct batch *batch, const struct data_set *set, uint64_t keys,
                  enum operation operation, uint32_t number, struct kvc_index_stats *stats)
{
    double seconds = 0;
    for (uint32_t done = 0; done < RUN_KEYS; done += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++) {
            fill_key(batch, i, set, kvc_mix_64((uint64_t)number << 32 | (done + i)) % keys);
        }
        double start = kvc_bench_now_s();
        if (operation == SET) {
            set_batch(store, batch, set, BATCH, stats);
        } else {
            get_batch(store, batch, operation == GET ? set->value_bytes : 0, BATCH, stats);
        }
        seconds += kvc_bench_now_s() - start;
    }
    return seconds / RUN_KEYS * 1e9;
}

/* Times one operation, prints a row and returns the median time [ns]. */
static double bench_operation(struct kvc_mica *store, struct batch *batch, const struct data_set *set,
                              uint64_t keys, enum operation operation, double limit_mops)
{
    static const char *const names[] = {"GET", "index", "SET in place"};
    struct kvc_index_stats stats = {0};
    double ns[RUNS];
    for (uint32_t r = 0; r < RUNS; r++) {
        ns[r] = run(store, batch, set, keys, operation, RUNS * (uint32_t)operation + r, &stats);
    }
    double median = kvc_bench_median(ns, RUNS);
    double lines = (double)(stats.search_lines + stats.insert_lines) / ((double)RUNS * RUN_KEYS);
    printf("  %-14s", names[operation]);
    kvc_bench_row("", 1e3 / median, lines, limit_mops);
    return median;
}

static void bench_data_set(const struct data_set *set, uint64_t log_bytes, double limit_mops)
{
    uint64_t item_bytes = KVC_MICA_HEADER_BYTES + set->key_bytes + set->value_bytes;
    uint64_t keys = log_bytes / 4 * 3 / item_bytes;
    struct kvc_mica *store = kvc_mica_create(&(struct kvc_mica_params){
        .buckets = (uint32_t)(keys / KEYS_PER_BUCKET), .log_bytes = log_bytes, .seed = 1});
    struct batch *batch = calloc(1, sizeof(*batch));
    struct kvc_index_stats stats = {0};
    if (store == NULL || batch == NULL) {
        kvc_bench_die("out of memory");
    }
    for (uint64_t done = 0; done < keys; done += BATCH) {
        uint32_t count = keys - done < BATCH ? (uint32_t)(keys - done) : BATCH;
        for (uint32_t i = 0; i < count; i++) {
            fill_key(batch, i, set, done + i);
        }
        set_batch(store, batch, set, count, &stats);
    }
    verify(store, batch, set, keys);
    printf("keys of %" PRIu32 " bytes, values of %" PRIu32 " bytes: %" PRIu64 " stored, %" PRIu64
           " evicted\n",
           set->key_bytes, set->value_bytes, keys, stats.evicted);
    double get = bench_operation(store, batch, set, keys, GET, limit_mops);
    double index = bench_operation(store, batch, set, keys, INDEX, limit_mops);
    bench_operation(store, batch, set, keys, SET, limit_mops);
    printf("  index share of a GET: %.2f; published, on another machine: %.2f\n", index / get,
           set->published_share);
    free(batch);
    kvc_mica_free(store);
}

int main(int argc, char **argv)
{
    uint64_t log_bytes = UINT64_C(1) << 30;
    if (argc > 1) {
        char *end;
        unsigned long long value = strtoull(argv[1], &end, 10);
        if (argc > 2 || *end != '\0' || value == 0 || value > 16384 || (value & (value - 1)) != 0) {
            fprintf(
                stderr,
                "usage: mica_kernels_bench [MIB]\nMIB is the size of the log, a power of two up to 16384\n");
            return 2;
        }
        log_bytes = value << 20;
    }
    kvc_bench_pin(0);
    kvc_bench_print_machine();
    double limit_mops = kvc_bench_line_limit_mops(log_bytes);
    printf("limit: %.1f M random lines/s in %" PRIu64 " MiB; batches of %d\n", limit_mops, log_bytes >> 20,
           BATCH);
    for (size_t s = 0; s < sizeof(data_sets) / sizeof(*data_sets); s++) {
        bench_data_set(&data_sets[s], log_bytes, limit_mops);
    }
    return 0;
}
