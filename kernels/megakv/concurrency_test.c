/* One writer against many readers, under ThreadSanitizer. A plain main: exit status 0 is success.
 *
 * Index: elements that stay must be found by every search, with their own location, while others come and go
 * around them and push them from bucket to bucket. Store: every hit's value must belong to its key, while the
 * writer rewrites, evicts and releases items. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/megakv/cuckoo.h"
#include "kernels/hash.h"
#include "kernels/megakv/slab.h"

enum {
    READERS = 3,
    BATCH = 64,
    RESIDENTS = 2048, /* of 4096 cells */
    VISITORS = 1750,  /* load 0.93: long chains, and yet hardly ever a drop */
    INDEX_ROUNDS = 60000,
    STORE_KEYS = 400,
    STORE_ROUNDS = 10000,
    VALUE_WORDS = 128,  /* most, of 8 bytes each */
    ITEM_BYTES = 50000, /* items this large fill the slabs soon, though their values are short */
};

static const uint64_t hash_seed = 3;

struct shared {
    struct kvc_index *index;
    struct kvc_slab *slab;
    bool done;
    uint64_t resident[RESIDENTS];
};

struct reader {
    pthread_t thread;
    struct shared *shared;
    uint64_t random, hits, wrong;
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static bool is_done(const struct shared *shared)
{
    return __atomic_load_n(&shared->done, __ATOMIC_ACQUIRE);
}

static void *read_index(void *argument)
{
    struct reader *reader = argument;
    const struct shared *shared = reader->shared;
    struct kvc_index_stats stats = {0};
    do {
        uint64_t hash[BATCH];
        uint32_t number[BATCH], location[BATCH];
        for (uint32_t i = 0; i < BATCH; i++) {
            number[i] = (uint32_t)(next_random(&reader->random) % RESIDENTS);
            hash[i] = shared->resident[number[i]];
        }
        kvc_index_search(shared->index, hash, BATCH, location, &stats);
        for (uint32_t i = 0; i < BATCH; i++) {
            reader->wrong += location[i] != number[i];
            reader->hits++;
        }
    } while (!is_done(shared));
    return NULL;
}

static bool run_readers(struct shared *shared, void *(*read)(void *), void (*write)(struct shared *),
                        const char *name)
{
    struct reader readers[READERS] = {{0}};
    uint64_t hits = 0, wrong = 0;
    shared->done = false;
    for (uint32_t i = 0; i < READERS; i++) {
        readers[i].shared = shared;
        readers[i].random = i + 1;
        if (pthread_create(&readers[i].thread, NULL, read, &readers[i]) != 0) {
            perror("pthread_create");
            exit(1);
        }
    }
    write(shared);
    __atomic_store_n(&shared->done, true, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        hits += readers[i].hits;
        wrong += readers[i].wrong;
    }
    printf("%s: %" PRIu64 " hits checked, %" PRIu64 " wrong\n", name, hits, wrong);
    return wrong == 0 && hits > 0;
}

static void write_index(struct shared *shared)
{
    struct kvc_index_stats stats = {0};
    static uint64_t visitor[VISITORS];
    uint64_t random = 99;
    for (uint32_t round = 0; round < INDEX_ROUNDS; round++) {
        uint32_t slot = round % VISITORS, location = 1u << 20 | slot, out;
        if (visitor[slot] != 0) {
            kvc_index_erase(shared->index, &visitor[slot], &location, 1, NULL, &stats);
        }
        visitor[slot] = next_random(&random);
        kvc_index_insert(shared->index, &visitor[slot], &location, 1, &out, &stats);
        if (out < RESIDENTS) {
            fprintf(stderr, "a resident was dropped: the table is too full for this test\n");
            exit(1);
        }
    }
    printf("index: %" PRIu64 " elements moved\n", stats.displacements);
    if (stats.displacements < INDEX_ROUNDS / 100) {
        fprintf(stderr, "too few elements moved for this test to mean anything\n");
        exit(1);
    }
}

static bool test_index(void)
{
    static struct shared shared;
    struct kvc_index_stats stats = {0};
    uint32_t location[RESIDENTS];
    uint64_t random = 5;
    shared.index =
        kvc_cuckoo_create(&(struct kvc_cuckoo_params){.bytes = 4096 * 8, .max_displacements = 500});
    if (shared.index == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < RESIDENTS; i++) {
        shared.resident[i] = next_random(&random);
        location[i] = i;
    }
    kvc_index_insert(shared.index, shared.resident, location, RESIDENTS, NULL, &stats);
    bool right = run_readers(&shared, read_index, write_index, "index");
    kvc_index_free(shared.index);
    return right;
}

/* A key's value is one of many: a run of one word that names key and variant, as long as the variant says.
 * Odd keys have 8 bytes, so that both ways of reading are tried. */
static uint32_t value_words(uint64_t key, uint64_t variant)
{
    return key % 2 == 1 ? 1 : (uint32_t)(2 + variant * 37 % (VALUE_WORDS - 1));
}

static uint32_t make_value(uint64_t key, uint64_t variant, uint64_t *value)
{
    uint32_t words = value_words(key, variant);
    for (uint32_t i = 0; i < words; i++) {
        value[i] = key << 32 | variant;
    }
    return words * 8;
}

static bool is_value_of(uint64_t key, const uint8_t *value, uint32_t bytes)
{
    uint64_t first, word;
    if (bytes < 8) {
        return false;
    }
    memcpy(&first, value, 8);
    for (uint32_t at = 8; at + 8 <= bytes; at += 8) {
        memcpy(&word, value + at, 8);
        if (word != first) {
            return false;
        }
    }
    return first >> 32 == key && bytes == value_words(key, first & 0xffffffff) * 8;
}

static void *read_store(void *argument)
{
    struct reader *reader = argument;
    const struct shared *shared = reader->shared;
    struct kvc_index_stats stats = {0};
    struct kvc_slab_stats slab_stats = {0};
    enum { COUNT = 16, RING = COUNT * VALUE_WORDS * 8 };
    uint8_t *ring = malloc(RING);
    uint8_t key_bytes[COUNT], result[COUNT];
    memset(key_bytes, 8, sizeof(key_bytes));
    do {
        uint64_t key[COUNT], hash[COUNT];
        uint32_t location[COUNT], value_bytes[COUNT], position = 0, at = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            key[i] = next_random(&reader->random) % STORE_KEYS;
        }
        kvc_hash_batch((const uint8_t *)key, 8, key_bytes, COUNT, hash_seed, hash);
        kvc_index_search(shared->index, hash, COUNT, location, &stats);
        kvc_slab_read(shared->slab,
                      &(struct kvc_slab_reads){.count = COUNT,
                                               .location = location,
                                               .keys = (const uint8_t *)key,
                                               .key_stride = 8,
                                               .key_bytes = key_bytes,
                                               .compare = true,
                                               .out = ring,
                                               .out_bytes = RING,
                                               .out_position = &position,
                                               .result = result,
                                               .value_bytes = value_bytes},
                      &slab_stats);
        for (uint32_t i = 0; i < COUNT; i++) {
            if (result[i] == KVC_READ_HIT) {
                reader->wrong += !is_value_of(key[i], ring + at, value_bytes[i]);
                reader->hits++;
                at += value_bytes[i];
            }
        }
    } while (!is_done(shared));
    free(ring);
    return NULL;
}

static void write_store(struct shared *shared)
{
    struct kvc_index_stats stats = {0};
    struct kvc_slab_stats slab_stats = {0};
    static uint64_t value[VALUE_WORDS + 1];
    uint64_t random = 7;
    for (uint32_t round = 0; round < STORE_ROUNDS; round++) {
        uint64_t key = next_random(&random) % STORE_KEYS, hash = kvc_hash(&key, 8, hash_seed);
        uint32_t bytes = make_value(key, round, value), location, evicted_count, out;
        struct kvc_evicted evicted;
        if (round % 8 == 0) {
            location = KVC_LOCATION_ANY;
            kvc_index_erase(shared->index, &hash, &location, 1, &out, &stats);
            if (out != KVC_LOCATION_NONE) {
                kvc_slab_release(shared->slab, out);
            }
            continue;
        }
        if (kvc_slab_alloc(shared->slab, 8, ITEM_BYTES, 1, &location, &evicted, &evicted_count,
                           &slab_stats) == 0) {
            fprintf(stderr, "the store gave no item\n");
            exit(1);
        }
        if (evicted_count == 1) {
            kvc_index_erase(shared->index, &evicted.hash, &evicted.location, 1, NULL, &stats);
        }
        kvc_slab_write(shared->slab, location, &key, 8, value, bytes, &slab_stats);
        kvc_index_insert(shared->index, &hash, &location, 1, &out, &stats);
        if (out != KVC_LOCATION_NONE && round % 2 == 0) {
            kvc_slab_release(shared->slab, out);
        }
        if (round % 4 == 1) {
            bytes = make_value(key, round + 1, value); /* in place, under the readers' eyes */
            kvc_slab_write(shared->slab, location, &key, 8, value, bytes, &slab_stats);
        }
    }
    printf("store: %" PRIu64 " items evicted\n", slab_stats.evicted);
    if (slab_stats.evicted < STORE_ROUNDS / 10) {
        fprintf(stderr, "too few items were evicted for this test to mean anything\n");
        exit(1);
    }
}

static bool test_store(void)
{
    static struct shared shared;
    shared.index = kvc_cuckoo_create(&(struct kvc_cuckoo_params){.bytes = 64 * 64, .max_displacements = 100});
    shared.slab = kvc_slab_create(4 * (uint64_t)KVC_SLAB_BYTES, hash_seed);
    if (shared.index == NULL || shared.slab == NULL) {
        return false;
    }
    bool right = run_readers(&shared, read_store, write_store, "store");
    kvc_index_free(shared.index);
    kvc_slab_free(shared.slab);
    return right;
}

int main(void)
{
    bool index = test_index();
    bool store = test_store();
    return index && store ? 0 : 1;
}
