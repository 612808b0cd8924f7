/* Memory accesses per operation of KV-Direct's hash table, as the table itself counts them.
 *
 * The rows show what KV-Direct (SOSP 2017) shows in fig. 6 (inline threshold), 9 (hash index ratio, memory
 * utilization), 10 (the best of both) and 11.
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

#include "kernels/baselines/farm.h"
#include "kernels/baselines/memc3.h"
#include "kernels/hash.h"
#include "kernels/kvdirect/table.h"

enum {
    BATCH = 256,
    SAMPLE = 1 << 15, /* Operations of an average. */
    STEPS_MAX = 16,   /* Most utilizations of a sweep. */
    MIXED = 0,        /* A pair size that stands for a mix of sizes. */
    KEY_BYTES = 8,
    POOL_STEPS = 64, /* FaRM's overflow blocks are tried in steps of 1/64 of the index ... */
    POOL_MOST = 24,  /* ... up to this many. */
    KEYS_SEED = 1,
    SAMPLE_SEED = 2,
};

static const uint64_t table_seed = 0x6b766361;

/* Accesses per operation at one utilization. */
struct averages {
    bool reached;    /* Memory sufficed for this utilization. */
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
    return kvc_mix_64(z + 0x9e3779b97f4a7c15);
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

/* --- MemC3 and FaRM ---
 *
 * KV-Direct (SOSP 2017), fig. 11 and sec. 5.1.1, compares with MemC3's bucket cuckoo hashing and FaRM's
 * chained associative hopscotch hashing. Keys are inline and compared in parallel, values are in slabs. Here
 * a slot is an 8-byte key and a 4-byte location, a line of 64 bytes has 4 slots, and a slab has exactly the
 * size of its value. An access is a line of the index or a value, read or written, which is how KV-Direct's
 * own table counts them. An overwriting PUT stores its value in another slab and thus writes the location.
 *
 * The index takes all memory that the values leave. MemC3's index is a power of two in size, so the index has
 * the same size at all utilizations, and so does FaRM's; the size of the whole memory and the number of pairs
 * follow from it. FaRM has the fewest overflow blocks, in 64ths of the index, that hold the pairs. */

/* A table to measure. */
struct design {
    const char *name;
    int pools; /* Number of pool sizes to try, from 0 steps on. */
    struct kvc_index *(*create)(uint64_t bytes, int pool);
    struct kvc_memory_accesses (*insert_accesses)(const struct kvc_index *index);
};

/* Accesses per operation of one of the two tables at one utilization. */
struct design_averages {
    bool reached;         /* The index holds all pairs. */
    double pool_frac;     /* Share of the index that is overflow blocks. */
    double load;          /* Load factor. */
    double get;           /* GETs. */
    double put_over;      /* Overwriting PUTs. */
    double put_new;       /* New PUTs. */
    uint64_t put_new_max; /* The new PUT with the most accesses. */
};

static struct kvc_index *create_memc3(uint64_t bytes, int pool)
{
    (void)pool;
    return kvc_memc3_create(&(struct kvc_memc3_params){
        .bytes = bytes, .max_displacements = KVC_MEMC3_DISPLACEMENTS, .seed = KEYS_SEED});
}

static struct kvc_memory_accesses memc3_insert_accesses(const struct kvc_index *index)
{
    return kvc_memc3_counts(index).insert;
}

static struct kvc_index *create_farm(uint64_t bytes, int pool)
{
    uint64_t lines = bytes / KVC_FARM_LINE_BYTES;
    uint64_t blocks = lines * (unsigned)pool / POOL_STEPS;
    return kvc_farm_create(&(struct kvc_farm_params){.buckets = (uint32_t)(lines - blocks),
                                                     .overflow_blocks = (uint32_t)blocks});
}

static struct kvc_memory_accesses farm_insert_accesses(const struct kvc_index *index)
{
    return kvc_farm_counts(index).insert;
}

static const struct design designs[] = {
    {"memc3", 1, create_memc3, memc3_insert_accesses},
    {"farm", POOL_MOST + 1, create_farm, farm_insert_accesses},
};

/* Returns the accesses of all inserts so far. */
static uint64_t inserts_so_far(const struct design *design, const struct kvc_index *index)
{
    struct kvc_memory_accesses accesses = design->insert_accesses(index);
    return accesses.reads + accesses.writes;
}

static uint64_t hash_of(uint64_t key)
{
    return kvc_hash(&key, sizeof(key), KEYS_SEED);
}

/* Puts keys from `*keys` up to `end`. Returns false if one was dropped. */
static bool design_fill_to(struct kvc_index *index, uint64_t *keys, uint64_t end)
{
    struct kvc_index_stats stats = {0};
    while (*keys < end && stats.dropped == 0) {
        uint64_t hash[BATCH];
        uint32_t location[BATCH];
        uint32_t count = 0;
        for (; count < BATCH && *keys < end; count++, ++*keys) {
            hash[count] = hash_of(*keys);
            location[count] = (uint32_t)*keys;
        }
        kvc_index_insert(index, hash, location, count, NULL, &stats);
    }
    return stats.dropped == 0;
}

/* Puts the last keys one by one and averages their accesses. Returns false if one was dropped. */
static bool fill_rest(const struct design *design, struct kvc_index *index, uint64_t keys, uint64_t end,
                      struct design_averages *average)
{
    uint64_t first = inserts_so_far(design, index), before = first;
    for (uint64_t key = keys; key < end;) {
        if (!design_fill_to(index, &key, key + 1)) {
            return false;
        }
        uint64_t now = inserts_so_far(design, index);
        uint64_t one = now - before + 1; /* 1 for its value */
        average->put_new_max = one > average->put_new_max ? one : average->put_new_max;
        before = now;
    }
    average->put_new = (double)(before - first) / (double)(end - keys) + 1;
    return true;
}

/* Averages the accesses of GETs and overwriting PUTs of random keys. */
static void design_sample(const struct design *design, struct kvc_index *index, uint64_t keys,
                          struct design_averages *average)
{
    struct kvc_index_stats stats = {0};
    uint64_t before = inserts_so_far(design, index);
    for (uint64_t i = 0; i < SAMPLE; i += BATCH) {
        uint64_t hash[BATCH];
        uint32_t location[BATCH];
        for (uint64_t j = 0; j < BATCH; j++) {
            uint64_t number = i + j;
            hash[j] = hash_of(kvc_hash(&number, sizeof(number), SAMPLE_SEED) % keys);
        }
        kvc_index_search(index, hash, BATCH, location, &stats);
        for (uint64_t j = 0; j < BATCH; j++) {
            location[j] ^= UINT32_C(1) << 31;
        }
        kvc_index_insert(index, hash, location, BATCH, NULL, &stats);
    }
    average->get = (double)stats.search_lines / SAMPLE + 1;
    average->put_over = (double)(inserts_so_far(design, index) - before) / SAMPLE + 1;
    average->reached = stats.search_hits == SAMPLE && stats.replaced == SAMPLE;
}

/* Measures one index with one pool size. Returns false if memory ran out. */
static bool measure(const struct design *design, uint64_t index_bytes, int pool, uint64_t pairs,
                    struct design_averages *average)
{
    *average = (struct design_averages){.pool_frac = (double)pool / POOL_STEPS};
    struct kvc_index *index = design->create(index_bytes, pool);
    if (index == NULL) {
        return false;
    }
    uint64_t keys = 0;
    average->load = (double)pairs / (double)kvc_index_capacity(index);
    if (average->load <= 1 && design_fill_to(index, &keys, pairs - pairs / 50) &&
        fill_rest(design, index, keys, pairs, average)) {
        design_sample(design, index, pairs, average);
    }
    kvc_index_free(index);
    return true;
}

static void design_print_row(const char *name, uint32_t pair_bytes, double utilization,
                             const struct design_averages *average)
{
    printf("%12s %12" PRIu32 " %12.2f %10.3f", name, pair_bytes, utilization, average->load);
    if (average->reached) {
        printf(" %10.3f %10.3f %10.3f %10.3f %12" PRIu64 "\n", average->pool_frac, average->get,
               average->put_over, average->put_new, average->put_new_max);
    } else {
        printf(" %10s %10s %10s %10s %12s\n", "full", "full", "full", "full", "full");
    }
}

static void baselines_head(void)
{
    printf("\nkeys inline, values in slabs of exactly their size (MemC3 and FaRM in fig. 11)\n"
           "%12s %12s %12s %10s %10s %10s %10s %10s %12s\n",
           "table", "pair_bytes", "util_frac", "load", "pool_frac", "get", "put_over", "put_new",
           "put_new_max");
}

/* Prints one row for each of the two tables and each utilization. Returns false if memory ran out. */
static bool baselines(uint64_t index_bytes, uint32_t pair_bytes, double first, int steps)
{
    for (size_t d = 0; d < sizeof(designs) / sizeof(designs[0]); d++) {
        for (int s = 0; s < steps; s++) {
            double utilization = first + 0.05 * s;
            double values_frac = utilization * (pair_bytes - KEY_BYTES) / pair_bytes;
            double bytes = (double)index_bytes / (1 - values_frac);
            uint64_t pairs = (uint64_t)(utilization * bytes / pair_bytes);
            struct design_averages average = {.reached = false};
            for (int pool = 0; pool < designs[d].pools && !average.reached; pool++) {
                if (!measure(&designs[d], index_bytes, pool, pairs, &average)) {
                    return false;
                }
            }
            design_print_row(designs[d].name, pair_bytes, utilization, &average);
        }
    }
    return true;
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
    baselines_head();
    if (!baselines(bytes, 10, 0.30, 8) || !baselines(bytes, 254, 0.50, 8)) {
        fprintf(stderr, "kvdirect_access_bench: out of memory\n");
        return 3;
    }
    return 0;
}
