/* Writers in partitions of their own, with and without readers of all partitions, under ThreadSanitizer.
 * Every value repeats one word that tells its key, so a torn or wrong value is noticed. A plain main; exit
 * status 0 is success. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/mica/mica.h"

enum { PARTITIONS = 2, READERS = 2, KEYS = 400, BATCH = 40, ROUNDS = 1500, VALUE_WORDS = 40 };

struct shared {
    struct kvc_mica *store;
    bool writers_done;
};

struct worker {
    pthread_t thread;
    struct shared *shared;
    uint32_t partition;
    uint64_t random, hits, misses, wrong;
    struct kvc_index_stats stats;
};

static uint64_t next_random(struct worker *worker)
{
    return kvc_mix_64(worker->random += 0x9e3779b97f4a7c15);
}

struct batch {
    uint64_t key[BATCH];
    uint32_t offset[BATCH];
    uint8_t bytes[BATCH];
};

static struct kvc_mica_keys keys_of(const struct batch *batch)
{
    return (struct kvc_mica_keys){(const uint8_t *)batch->key, batch->offset, batch->bytes, NULL};
}

/* Chooses random keys of the worker's partition; PARTITIONS stands for all. */
static void choose(struct worker *worker, struct batch *batch)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        do {
            batch->key[i] = next_random(worker) % KEYS;
        } while (worker->partition != PARTITIONS &&
                 kvc_mica_partition(worker->shared->store,
                                    kvc_mica_hash(worker->shared->store, &batch->key[i], 8)) !=
                     worker->partition);
        batch->offset[i] = 8 * i;
        batch->bytes[i] = 8;
    }
}

static void read_batch(struct worker *worker)
{
    struct batch batch;
    uint64_t value[BATCH][VALUE_WORDS];
    struct kvc_mica_buffer buffer[BATCH];
    choose(worker, &batch);
    struct kvc_mica_keys keys = keys_of(&batch);
    for (uint32_t i = 0; i < BATCH; i++) {
        buffer[i] = (struct kvc_mica_buffer){value[i], sizeof(value[i]), 0};
    }
    kvc_mica_get(worker->shared->store, &keys, BATCH, buffer, &worker->stats);
    for (uint32_t i = 0; i < BATCH; i++) {
        if (buffer[i].bytes == KVC_MICA_NONE) {
            worker->misses++;
            continue;
        }
        worker->hits++;
        /* The first word tells key and length, and must repeat to the end of the value. */
        bool right = buffer[i].bytes % 8 == 0 && buffer[i].bytes > 0 && value[i][0] >> 32 == batch.key[i] &&
                     (uint32_t)value[i][0] % VALUE_WORDS + 1 == buffer[i].bytes / 8;
        for (uint32_t w = 1; right && w < buffer[i].bytes / 8; w++) {
            right = value[i][w] == value[i][0];
        }
        worker->wrong += !right;
    }
}

static void *read_all(void *argument)
{
    struct worker *worker = argument;
    do {
        read_batch(worker);
    } while (!__atomic_load_n(&worker->shared->writers_done, __ATOMIC_ACQUIRE));
    return NULL;
}

static void *write_own(void *argument)
{
    struct worker *worker = argument;
    struct kvc_mica *store = worker->shared->store;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct batch batch;
        uint64_t data[BATCH][VALUE_WORDS];
        struct kvc_mica_value value[BATCH];
        choose(worker, &batch);
        struct kvc_mica_keys keys = keys_of(&batch);
        if (round % 8 == 7) {
            kvc_mica_delete(store, &keys, BATCH / 2, NULL, &worker->stats);
            continue;
        }
        for (uint32_t i = 0; i < BATCH; i++) {
            uint32_t generation = (uint32_t)next_random(worker);
            uint32_t words = generation % VALUE_WORDS + 1;
            for (uint32_t w = 0; w < words; w++) {
                data[i][w] = batch.key[i] << 32 | generation;
            }
            value[i] = (struct kvc_mica_value){data[i], words * 8};
        }
        kvc_mica_set(store, &keys, value, BATCH, NULL, &worker->stats);
        read_batch(worker);
    }
    return NULL;
}

static void start(struct worker *worker, void *(*work)(void *))
{
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
        perror("pthread_create");
        exit(1);
    }
}

/* Runs the writers and readers on one store. Returns true if all values and counts were right, and if the run
 * had hits, misses, replaced and overwritten items. */
static bool run(const char *name, uint32_t readers, uint64_t log_bytes, uint32_t offset_bits)
{
    struct shared shared = {
        .store = kvc_mica_create(&(struct kvc_mica_params){
            .partitions = PARTITIONS, .buckets = 20, .log_bytes = log_bytes, .offset_bits = offset_bits})};
    struct worker worker[PARTITIONS + READERS] = {0};
    if (shared.store == NULL) {
        perror("create");
        exit(1);
    }
    for (uint32_t t = 0; t < PARTITIONS + readers; t++) {
        worker[t].shared = &shared;
        worker[t].partition = t < PARTITIONS ? t : PARTITIONS;
        worker[t].random = t;
        start(&worker[t], t < PARTITIONS ? write_own : read_all);
    }
    uint64_t hits = 0, misses = 0, wrong = 0, replaced = 0;
    struct kvc_mica_usage usage;
    uint64_t came = 0;
    for (uint32_t t = 0; t < PARTITIONS + readers; t++) {
        if (t == PARTITIONS) {
            __atomic_store_n(&shared.writers_done, true, __ATOMIC_RELEASE);
        }
        pthread_join(worker[t].thread, NULL);
        hits += worker[t].hits;
        misses += worker[t].misses;
        wrong += worker[t].wrong;
        replaced += worker[t].stats.replaced;
        came += worker[t].stats.inserts - worker[t].stats.replaced - worker[t].stats.evicted -
                worker[t].stats.erased;
    }
    kvc_mica_usage(shared.store, &usage);
    bool counted = came == usage.live + usage.stale + usage.forgotten;
    printf("%s: %llu hits, %llu misses, %llu replaced, %llu overwritten, %llu wrong%s\n", name,
           (unsigned long long)hits, (unsigned long long)misses, (unsigned long long)replaced,
           (unsigned long long)(usage.forgotten + usage.stale), (unsigned long long)wrong,
           counted ? "" : "; the counts do not add up");
    kvc_mica_free(shared.store);
    return wrong == 0 && counted && hits > 0 && misses > 0 && replaced > 0 && usage.forgotten > 0;
}

int main(void)
{
    bool right = run("one partition each", 0, 1 << 14, 0);
    right &= run("readers of all partitions", READERS, 1 << 14, 0);
    right &= run("readers of all partitions, offsets repeat", READERS, 1 << 12, 15);
    return right ? 0 : 1;
}
