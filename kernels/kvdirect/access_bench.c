/* Memory accesses per operation of KV-Direct's hash table, as the table itself counts them.
 *
 * The rows show what KV-Direct (SOSP 2017) shows in fig. 6 (inline threshold), 9 (hash index ratio, memory
 * utilization), 10 (the best of both) and 11, whose bars of MemC3 and FaRM are those of access_baselines.h.
 * Utilization is the bytes of keys and values divided by the bytes of index and slabs. An access is a bucket
 * or a slab, read or written; the slab allocator's own DMA has a column of its own. GETs and overwriting PUTs
 * go to random keys; new PUTs are the last 2 % before a utilization is reached. Nothing depends on time: the
 * same arguments give the same output.
 *
 * The paper does not say which sizes fig. 6 and 9 mix, nor which hash index ratio fig. 6 uses. Here the sizes
 * are 5 to 50 bytes in steps of a slot, equally likely, and there are several ratios.
 *
 * usage: kvdirect_access_bench [LOG2_BYTES]
 * The default is 24, that is tables of 16 MiB. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kvdirect/access_baselines.h"
#include "kernels/kvdirect/table.h"

enum {
    BATCH = 256,
    SAMPLE = 1 << 15, /* Operations of an average. */
    STEPS_MAX = 16,   /* Most utilizations of a sweep. */
    MIXED = 0,        /* A pair size that stands for a mix of sizes. */
};

static const uint64_t table_seed = 0x6b766361;

/* Accesses per operation at one utilization. */
struct averages {
    bool reached;    /* There was memory for this utilization. */
    double get;      /* GETs. */
    double put_over; /* Overwriting PUTs. */
    double put_new;  /* New PUTs. */
    double slab_dma; /* The allocator's own DMA, per new PUT. */
};

/* A table that is filled step by step. */
struct sweep {
    uint64_t bytes;
    double hash_index_frac;
    uint32_t inline_bytes;
    uint32_t pair_bytes; /* Size of all pairs, or MIXED [bytes]. */
    double first, step;  /* First utilization, and distance to the next. */
    int steps;           /* Number of utilizations. */
};

/* Operations of a batch, with their keys and values. */
struct buffers {
    struct kvc_kvdirect_table_op op[BATCH];
    uint64_t key[BATCH];
    uint8_t value[BATCH][KVC_KVDIRECT_TABLE_PAIR_MAX];
};

static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint32_t size_of(const struct sweep *sweep, uint64_t key)
{
    return sweep->pair_bytes != MIXED ? sweep->pair_bytes : 5 + 5 * (uint32_t)(mix(key) % 10);
}

/* Sets operation i of a batch. A pair of less than 8 bytes has the low bytes of the key's number as its
 * key. */
static void set_op(const struct sweep *sweep, struct buffers *buffers, uint32_t i, uint64_t key,
                   enum kvc_kvdirect_table_verb verb)
{
    uint32_t pair_bytes = size_of(sweep, key);
    uint32_t key_bytes = pair_bytes < 8 ? pair_bytes : 8;
    buffers->key[i] = key;
    buffers->op[i] = (struct kvc_kvdirect_table_op){
        .key = &buffers->key[i],
        .key_bytes = (uint8_t)key_bytes,
        .verb = (uint8_t)verb,
        .value = buffers->value[i],
        .value_bytes =
            (uint16_t)(verb == KVC_KVDIRECT_TABLE_GET ? sizeof(buffers->value[i]) : pair_bytes - key_bytes)};
}

static double per_operation(const struct kvc_kvdirect_table_counts *counts)
{
    return (double)kvc_kvdirect_table_accesses(counts) / (double)counts->operations;
}

/* Returns the accesses per operation on random stored keys. */
static double sample(struct kvc_kvdirect_table *table, const struct sweep *sweep, struct buffers *buffers,
                     uint64_t keys, enum kvc_kvdirect_table_verb verb)
{
    struct kvc_kvdirect_table_stats stats = {0};
    for (uint64_t i = 0; i < SAMPLE; i += BATCH) {
        for (uint32_t j = 0; j < BATCH; j++) {
            set_op(sweep, buffers, j, mix(i + j + 777) % keys, verb);
        }
        kvc_kvdirect_table_run(table, buffers->op, BATCH, &stats);
    }
    const struct kvc_kvdirect_table_counts *counts = verb == KVC_KVDIRECT_TABLE_GET ? &stats.get : &stats.put;
    if (counts->found != counts->operations) {
        fprintf(stderr, "kvdirect_access_bench: the table has lost a key\n");
        exit(3);
    }
    return per_operation(counts);
}

/* Puts new keys until the pairs have this size. Returns false if the table is full. */
static bool fill_to(struct kvc_kvdirect_table *table, const struct sweep *sweep, struct buffers *buffers,
                    double bytes, uint64_t *keys, struct kvc_kvdirect_table_stats *stats)
{
    const double largest = sweep->pair_bytes != MIXED ? sweep->pair_bytes : KVC_KVDIRECT_TABLE_INLINE_MAX;
    double left;
    while ((left = bytes - (double)kvc_kvdirect_table_pair_bytes(table)) > 0) {
        uint32_t count = left < BATCH * largest ? 1 + (uint32_t)(left / largest) : BATCH;
        for (uint32_t i = 0; i < count; i++) {
            set_op(sweep, buffers, i, *keys + i, KVC_KVDIRECT_TABLE_PUT);
        }
        kvc_kvdirect_table_run(table, buffers->op, count, stats);
        *keys += count;
        if (stats->full > 0) {
            return false;
        }
    }
    return true;
}

/* Fills a table step by step and computes the averages at each. */
static void run_sweep(const struct sweep *sweep, struct averages *average)
{
    static struct buffers buffers;
    struct kvc_kvdirect_table *table = kvc_kvdirect_table_create(
        &(struct kvc_kvdirect_table_params){.bytes = sweep->bytes,
                                            .hash_index_frac = sweep->hash_index_frac,
                                            .inline_bytes = sweep->inline_bytes,
                                            .seed = table_seed});
    if (table == NULL) {
        fprintf(stderr, "kvdirect_access_bench: out of memory\n");
        exit(3);
    }
    uint64_t keys = 0;
    bool room = true;
    for (int s = 0; s < sweep->steps; s++) {
        double bytes = (sweep->first + s * sweep->step) * (double)sweep->bytes;
        struct kvc_kvdirect_table_stats before = {0}, last = {0};
        room = room && fill_to(table, sweep, &buffers, 0.98 * bytes, &keys, &before) &&
               fill_to(table, sweep, &buffers, bytes, &keys, &last);
        average[s] = (struct averages){.reached = room};
        if (room) {
            average[s].put_new = per_operation(&last.put);
            average[s].slab_dma =
                (double)(last.slab.dma_reads + last.slab.dma_writes) / (double)last.put.operations;
            average[s].get = sample(table, sweep, &buffers, keys, KVC_KVDIRECT_TABLE_GET);
            average[s].put_over = sample(table, sweep, &buffers, keys, KVC_KVDIRECT_TABLE_PUT);
        }
    }
    kvc_kvdirect_table_free(table);
}

static void print_head(const char *what)
{
    printf("%s\n%12s %12s %12s %12s %10s %10s %10s %10s\n", what, "pair_bytes", "inline_bytes", "index_frac",
           "util_frac", "get", "put_over", "put_new", "slab_dma");
}

static void print_row(const struct sweep *sweep, int step, const struct averages *average)
{
    char pair[16] = "mixed";
    if (sweep->pair_bytes != MIXED) {
        snprintf(pair, sizeof(pair), "%" PRIu32, sweep->pair_bytes);
    }
    printf("%12s %12" PRIu32 " %12.2f %12.2f", pair, sweep->inline_bytes, sweep->hash_index_frac,
           sweep->first + step * sweep->step);
    if (average->reached) {
        printf(" %10.3f %10.3f %10.3f %10.4f\n", average->get, average->put_over, average->put_new,
               average->slab_dma);
    } else {
        printf(" %10s %10s %10s %10s\n", "full", "full", "full", "full");
    }
}

static void inline_threshold(uint64_t bytes)
{
    print_head("inline threshold (fig. 6)");
    for (int percent = 10; percent <= 40; percent += 10) {
        for (uint32_t threshold = 10; threshold <= 25; threshold += 5) {
            struct sweep sweep = {bytes, percent / 100.0, threshold, MIXED, 0.20, 0.05, 5};
            struct averages average[STEPS_MAX];
            run_sweep(&sweep, average);
            for (int s = 0; s < sweep.steps; s++) {
                print_row(&sweep, s, &average[s]);
            }
        }
    }
}

static void index_ratio(uint64_t bytes)
{
    const uint32_t pair[] = {10, MIXED, 62};
    print_head("\nhash index ratio at utilization 0.5 (fig. 9a)");
    for (size_t p = 0; p < sizeof(pair) / sizeof(pair[0]); p++) {
        for (int percent = 10; percent <= 50; percent += 5) {
            struct sweep sweep = {bytes, percent / 100.0, 20, pair[p], 0.5, 0, 1};
            struct averages average;
            run_sweep(&sweep, &average);
            print_row(&sweep, 0, &average);
        }
    }
    print_head("\nutilization at hash index ratio 0.5 (fig. 9b)");
    for (size_t p = 0; p < sizeof(pair) / sizeof(pair[0]); p++) {
        struct sweep sweep = {bytes, 0.5, 20, pair[p], 0.25, 0.05, 9};
        struct averages average[STEPS_MAX];
        run_sweep(&sweep, average);
        for (int s = 0; s < sweep.steps; s++) {
            print_row(&sweep, s, &average[s]);
        }
    }
}

/* Prints, for each utilization, the hash index ratio and threshold with the fewest accesses of a GET and a
 * new PUT, and the highest ratio at which the utilization is reached. */
static void best_choice(uint64_t bytes, uint32_t pair_bytes, double first, int steps)
{
    struct averages best[STEPS_MAX] = {{.reached = false}};
    struct sweep chosen[STEPS_MAX];
    double highest[STEPS_MAX] = {0};
    uint32_t thresholds =
        pair_bytes <= KVC_KVDIRECT_TABLE_INLINE_MAX ? 2 : 1; /* no pair is inline, or all are */
    for (int s = 0; s < steps; s++) {
        chosen[s] = (struct sweep){bytes, 0, 0, pair_bytes, first, 0.05, steps};
    }
    for (uint32_t t = 0; t < thresholds; t++) {
        for (int percent = 1; percent <= 100; percent += percent < 10 ? 1 : 3) {
            struct sweep sweep = {bytes, percent / 100.0, t * pair_bytes, pair_bytes, first, 0.05, steps};
            struct averages average[STEPS_MAX];
            run_sweep(&sweep, average);
            for (int s = 0; s < steps && average[s].reached; s++) {
                bool fewer = average[s].get + average[s].put_new < best[s].get + best[s].put_new;
                if (!best[s].reached || fewer) {
                    best[s] = average[s];
                    chosen[s] = sweep;
                }
                highest[s] = sweep.hash_index_frac > highest[s] ? sweep.hash_index_frac : highest[s];
            }
        }
    }
    for (int s = 0; s < steps; s++) {
        print_row(&chosen[s], s, &best[s]);
    }
    printf("highest hash index ratio that reaches each utilization:");
    for (int s = 0; s < steps; s++) {
        printf(" %.2f", highest[s]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    int log2_bytes = argc > 1 ? atoi(argv[1]) : 24;
    if (log2_bytes < 16 || log2_bytes > 34) {
        fprintf(stderr, "usage: kvdirect_access_bench [LOG2_BYTES 16..34]\n");
        return 2;
    }
    uint64_t bytes = UINT64_C(1) << log2_bytes;
    printf("memory accesses per operation, tables of %" PRIu64 " KiB\n", bytes >> 10);
    inline_threshold(bytes);
    index_ratio(bytes);
    print_head("\nbest hash index ratio and inline threshold (fig. 10; KV-Direct in fig. 11)");
    best_choice(bytes, 10, 0.30, 8);
    best_choice(bytes, 62, 0.30, 11);
    best_choice(bytes, 254, 0.50, 8);
    kvc_access_baselines_head();
    if (!kvc_access_baselines(bytes, 10, 0.30, 8) || !kvc_access_baselines(bytes, 254, 0.50, 8)) {
        fprintf(stderr, "kvdirect_access_bench: out of memory\n");
        return 3;
    }
    return 0;
}
