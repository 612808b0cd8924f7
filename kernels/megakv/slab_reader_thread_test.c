/* Many readers and one writer on one store with its index, under ThreadSanitizer and, for longer, without it.
 * Every hit's value must belong to its key while the writer rewrites, evicts and releases items. A plain
 * main; exit status 0 means success. */
#include "kernels/megakv/slab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/random_fixture.h"
#include "kernels/megakv/thread_fixture.h"

enum {
    STORE_KEYS = 400,
#ifdef __SANITIZE_THREAD__
    STORE_ROUNDS = 10000,
#else
    STORE_ROUNDS = 300000,
#endif
    ITEM_BYTES = 50000, /* items of this class fill the slabs soon, although their values are short */
};

struct shared {
    struct kvc_index *index;
    struct kvc_megakv_slab *slab;
};

static void *read_store(void *argument)
{
    struct reader *reader = argument;
    const struct shared *shared = reader->shared;
    struct kvc_index_stats stats = {0};
    struct kvc_megakv_slab_stats slab_stats = {0};
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
        kvc_megakv_slab_read(shared->slab,
                             &(struct kvc_megakv_slab_reads){.count = COUNT,
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
            if (result[i] == KVC_MEGAKV_SLAB_HIT) {
                reader->wrong += !is_value_of(key[i], ring + at, value_bytes[i]);
                reader->hits++;
                at += value_bytes[i];
            }
        }
    } while (!is_done(reader));
    free(ring);
    return NULL;
}

static void write_store(void *argument)
{
    struct shared *shared = argument;
    struct kvc_index_stats stats = {0};
    struct kvc_megakv_slab_stats slab_stats = {0};
    static uint64_t value[VALUE_WORDS + 1];
    uint64_t random = 7;
    for (uint32_t round = 0; round < STORE_ROUNDS; round++) {
        uint64_t key = next_random(&random) % STORE_KEYS, hash = kvc_hash(&key, 8, hash_seed);
        uint32_t bytes = make_value(key, round, value), location, evicted_count, out;
        struct kvc_megakv_slab_evicted evicted;
        if (round % 8 == 0) {
            location = KVC_LOCATION_ANY;
            kvc_index_erase(shared->index, &hash, &location, 1, &out, &stats);
            if (out != KVC_LOCATION_NONE) {
                kvc_megakv_slab_release(shared->slab, out);
            }
            continue;
        }
        if (kvc_megakv_slab_alloc(shared->slab, 8, ITEM_BYTES, 1, &location, &evicted, &evicted_count,
                                  &slab_stats) == 0) {
            fprintf(stderr, "the store gave no item\n");
            exit(1);
        }
        if (evicted_count == 1) {
            kvc_index_erase(shared->index, &evicted.hash, &evicted.location, 1, NULL, &stats);
        }
        kvc_megakv_slab_write(shared->slab, location, &key, 8, value, bytes, &slab_stats);
        kvc_index_insert(shared->index, &hash, &location, 1, &out, &stats);
        if (out != KVC_LOCATION_NONE && round % 2 == 0) {
            kvc_megakv_slab_release(shared->slab, out);
        }
        if (round % 4 == 1) {
            bytes = make_value(key, round + 1, value); /* in place, while the readers read it */
            kvc_megakv_slab_rewrite(shared->slab, location, &key, 8, value, bytes, &slab_stats);
        }
    }
    printf("store: %" PRIu64 " items evicted\n", slab_stats.evicted);
    if (slab_stats.evicted < STORE_ROUNDS / 10) {
        fprintf(stderr, "too few items were evicted for this test to mean anything\n");
        exit(1);
    }
}

int main(void)
{
    static struct shared shared;
    shared.index = kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = 64 * 64, .max_displacements = 100});
    shared.slab = kvc_megakv_slab_create(4 * (uint64_t)KVC_MEGAKV_SLAB_BYTES, hash_seed);
    if (shared.index == NULL || shared.slab == NULL) {
        return 1;
    }
    bool right = run_readers(&shared, read_store, write_store, "store");
    kvc_index_free(shared.index);
    kvc_megakv_slab_free(shared.slab);
    return right ? 0 : 1;
}
