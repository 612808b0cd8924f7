/* Readers, writers and erasers work on the same few sets at the same time, with and without the shared lock,
 * under ThreadSanitizer. Every item names its key and has parts that belong together, so the test sees if a
 * search returns parts of two items or another key's item. A plain main; exit status 0 means success. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/memcachedgpu/set_assoc.h"

enum { READERS = 2, WRITERS = 2, KEYS = 40, BATCH = 40, ROUNDS = 400, KEY_BYTES = 60 };

struct shared {
    struct kvc_set_assoc *table;
    uint8_t text[KEYS][KEY_BYTES];
    bool failed;
};

struct worker {
    struct shared *shared;
    uint64_t random;
    uint64_t hits;
    struct kvc_index_stats stats;
};

static uint64_t next_random(struct worker *worker)
{
    return kvc_mix_64(worker->random += 0x9e3779b97f4a7c15);
}

static uint32_t check_of(uint32_t location)
{
    return (location ^ location >> 7) * 2654435761u;
}

static struct kvc_set_assoc_item item_of(uint32_t id, uint32_t generation)
{
    uint32_t location = id << 20 | generation;
    return (struct kvc_set_assoc_item){.location = location,
                                       .value_bytes = check_of(location),
                                       .flags = (uint16_t)(check_of(location) >> 9)};
}

static uint8_t key_bytes_of(uint32_t id)
{
    return (uint8_t)(20 + id % (KEY_BYTES - 20));
}

/* Draws random keys; `id` receives their numbers. */
static void choose(struct worker *worker, uint32_t *id, uint32_t *offset, uint8_t *bytes)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        id[i] = (uint32_t)(next_random(worker) % KEYS);
        offset[i] = id[i] * KEY_BYTES;
        bytes[i] = key_bytes_of(id[i]);
    }
}

static void *read_items(void *argument)
{
    struct worker *worker = argument;
    struct shared *shared = worker->shared;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t id[BATCH], offset[BATCH];
        uint8_t bytes[BATCH];
        struct kvc_set_assoc_item items[BATCH];
        choose(worker, id, offset, bytes);
        kvc_table_search(&shared->table->base, &(struct kvc_set_assoc_keys){shared->text[0], offset, bytes},
                         BATCH, round, items, &worker->stats);
        for (uint32_t i = 0; i < BATCH; i++) {
            if (items[i].location != KVC_LOCATION_NONE) {
                struct kvc_set_assoc_item whole =
                    item_of(items[i].location >> 20, items[i].location & 0xfffff);
                worker->hits++;
                if (items[i].location >> 20 != id[i] || items[i].value_bytes != whole.value_bytes ||
                    items[i].flags != whole.flags) {
                    __atomic_store_n(&shared->failed, true, __ATOMIC_RELAXED);
                }
            }
        }
    }
    return NULL;
}

static void *write_items(void *argument)
{
    struct worker *worker = argument;
    struct shared *shared = worker->shared;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t id[BATCH], offset[BATCH];
        uint8_t bytes[BATCH];
        struct kvc_set_assoc_item items[BATCH];
        choose(worker, id, offset, bytes);
        struct kvc_set_assoc_keys keys = {shared->text[0], offset, bytes};
        if (round % 4 == 3) {
            kvc_table_erase(&shared->table->base, &keys, NULL, BATCH / 2, NULL, &worker->stats);
            continue;
        }
        for (uint32_t i = 0; i < BATCH; i++) {
            items[i] = item_of(id[i], (uint32_t)(next_random(worker) & 0xfffff));
        }
        kvc_table_insert(&shared->table->base, &keys, items, BATCH, round, NULL, &worker->stats);
    }
    return NULL;
}

static bool run(uint32_t sets, bool shared_lock)
{
    struct shared shared = {
        .table = kvc_set_assoc_create(&(struct kvc_set_assoc_params){
            .sets = sets, .ways = 16, .key_bytes_max = KEY_BYTES, .shared_lock = shared_lock})};
    if (shared.table == NULL) {
        return false;
    }
    for (uint32_t id = 0; id < KEYS; id++) {
        memset(shared.text[id], (int)('!' + id), KEY_BYTES);
    }
    struct kvc_index_stats sum = {0};
    for (uint32_t id = 0; id < KEYS; id++) {
        uint32_t offset = id * KEY_BYTES;
        uint8_t bytes = key_bytes_of(id);
        struct kvc_set_assoc_item item = item_of(id, 0);
        kvc_table_insert(&shared.table->base, &(struct kvc_set_assoc_keys){shared.text[0], &offset, &bytes},
                         &item, 1, 0, NULL, &sum);
    }
    pthread_t thread[READERS + WRITERS];
    struct worker worker[READERS + WRITERS] = {0};
    for (uint32_t t = 0; t < READERS + WRITERS; t++) {
        worker[t] = (struct worker){.shared = &shared, .random = t};
        if (pthread_create(&thread[t], NULL, t < READERS ? read_items : write_items, &worker[t]) != 0) {
            abort();
        }
    }
    uint64_t hits = 0;
    for (uint32_t t = 0; t < READERS + WRITERS; t++) {
        pthread_join(thread[t], NULL);
        hits += worker[t].hits;
        sum.inserts += worker[t].stats.inserts;
        sum.replaced += worker[t].stats.replaced;
        sum.evicted += worker[t].stats.evicted;
        sum.erased += worker[t].stats.erased;
    }
    uint64_t used = 0;
    for (uint32_t s = 0; s < sets; s++) {
        const struct kvc_set_assoc_control *control = kvc_set_assoc_control(&shared.table->table, s);
        shared.failed |= (control->lock & (KVC_SET_ASSOC_WRITER | KVC_SET_ASSOC_READERS)) != 0;
        used += (uint64_t)__builtin_popcount(control->valid);
    }
    bool counted = used == kvc_index_used(&shared.table->base.index) &&
                   sum.inserts - sum.replaced - sum.evicted - sum.erased == used;
    printf("%u sets, %s: %llu hits, %llu evicted, %s\n", sets, shared_lock ? "shared lock" : "versions",
           (unsigned long long)hits, (unsigned long long)sum.evicted,
           shared.failed ? "a torn item"
           : !counted    ? "wrong counts"
                         : "all whole");
    kvc_set_assoc_free(shared.table);
    return !shared.failed && counted && hits > 0;
}

int main(void)
{
    bool right = true;
    for (int shared_lock = 0; shared_lock < 2; shared_lock++) {
        right &= run(2, shared_lock != 0); /* evictions all the time */
        right &= run(16, shared_lock != 0);
    }
    return right ? 0 : 1;
}
