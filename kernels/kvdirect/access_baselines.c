#include "kernels/kvdirect/access_baselines.h"

#include <inttypes.h>
#include <stdio.h>

#include "kernels/baselines/farm.h"
#include "kernels/baselines/memc3.h"
#include "kernels/hash.h"

enum {
    BATCH = 256,
    SAMPLE = 1 << 15, /* Operations of an average. */
    KEY_BYTES = 8,
    POOL_STEPS = 64, /* FaRM's overflow blocks are tried in steps of 1/64 of the index ... */
    POOL_MOST = 24,  /* ... up to this many. */
    KEYS_SEED = 1,
    SAMPLE_SEED = 2,
};

/* A table to measure. */
struct design {
    const char *name;
    int pools; /* Number of pool sizes to try, from 0 steps on. */
    struct kvc_index *(*create)(uint64_t bytes, int pool);
    struct kvc_memory_accesses (*insert_accesses)(const struct kvc_index *index);
};

/* Accesses per operation at one utilization. */
struct averages {
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

/* Accesses of all inserts so far. */
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
static bool fill_to(struct kvc_index *index, uint64_t *keys, uint64_t end)
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
                      struct averages *average)
{
    uint64_t first = inserts_so_far(design, index), before = first;
    for (uint64_t key = keys; key < end;) {
        if (!fill_to(index, &key, key + 1)) {
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
static void sample(const struct design *design, struct kvc_index *index, uint64_t keys,
                   struct averages *average)
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
                    struct averages *average)
{
    *average = (struct averages){.pool_frac = (double)pool / POOL_STEPS};
    struct kvc_index *index = design->create(index_bytes, pool);
    if (index == NULL) {
        return false;
    }
    uint64_t keys = 0;
    average->load = (double)pairs / (double)kvc_index_capacity(index);
    if (average->load <= 1 && fill_to(index, &keys, pairs - pairs / 50) &&
        fill_rest(design, index, keys, pairs, average)) {
        sample(design, index, pairs, average);
    }
    kvc_index_free(index);
    return true;
}

static void print_row(const char *name, uint32_t pair_bytes, double utilization,
                      const struct averages *average)
{
    printf("%12s %12" PRIu32 " %12.2f %10.3f", name, pair_bytes, utilization, average->load);
    if (average->reached) {
        printf(" %10.3f %10.3f %10.3f %10.3f %12" PRIu64 "\n", average->pool_frac, average->get,
               average->put_over, average->put_new, average->put_new_max);
    } else {
        printf(" %10s %10s %10s %10s %12s\n", "full", "full", "full", "full", "full");
    }
}

void kvc_access_baselines_head(void)
{
    printf("\nkeys inline, values in slabs of exactly their size (MemC3 and FaRM in fig. 11)\n"
           "%12s %12s %12s %10s %10s %10s %10s %10s %12s\n",
           "table", "pair_bytes", "util_frac", "load", "pool_frac", "get", "put_over", "put_new",
           "put_new_max");
}

bool kvc_access_baselines(uint64_t index_bytes, uint32_t pair_bytes, double first, int steps)
{
    for (size_t d = 0; d < sizeof(designs) / sizeof(designs[0]); d++) {
        for (int s = 0; s < steps; s++) {
            double utilization = first + 0.05 * s;
            double values_frac = utilization * (pair_bytes - KEY_BYTES) / pair_bytes;
            double bytes = (double)index_bytes / (1 - values_frac);
            uint64_t pairs = (uint64_t)(utilization * bytes / pair_bytes);
            struct averages average = {.reached = false};
            for (int pool = 0; pool < designs[d].pools && !average.reached; pool++) {
                if (!measure(&designs[d], index_bytes, pool, pairs, &average)) {
                    return false;
                }
            }
            print_row(designs[d].name, pair_bytes, utilization, &average);
        }
    }
    return true;
}
