/* One writer and several readers on one table, with ThreadSanitizer and, longer, without. A plain main: exit
 * status 0 is success.
 *
 * Residents are never erased: every search must find them, with one of their own locations, while the writer
 * overwrites these, lets visitors come and go in a nearly full table and so pushes residents from bucket to
 * bucket. A visitor is found with a location of its own or not at all. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/baselines/memc3.h"

enum {
    READERS = 3,
    BATCH = 64,
    BUCKETS = 1024,
    RESIDENTS = 2048, /* of 4096 slots */
    VISITORS = 3400,  /* half of them at a time: load 0.92 */
    KEYS = RESIDENTS + VISITORS,
#ifdef __SANITIZE_THREAD__
    ROUNDS = 60000,
#else
    ROUNDS = 2000000,
#endif
};

/* A location is a serial number times KEYS plus the key's number. */
struct shared {
    struct kvc_index *index;
    atomic_bool done;
    uint64_t hash[KEYS];
};

struct reader {
    pthread_t thread;
    struct shared *shared;
    uint64_t random, found, lost, wrong;
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void *read_table(void *argument)
{
    struct reader *reader = argument;
    struct shared *shared = reader->shared;
    struct kvc_index_stats stats = {0};
    do {
        uint64_t hash[BATCH];
        uint32_t number[BATCH], location[BATCH];
        for (uint32_t i = 0; i < BATCH; i++) {
            number[i] = (uint32_t)(next_random(&reader->random) % KEYS);
            hash[i] = shared->hash[number[i]];
        }
        kvc_index_search(shared->index, hash, BATCH, location, &stats);
        for (uint32_t i = 0; i < BATCH; i++) {
            bool found = location[i] != KVC_LOCATION_NONE;
            reader->lost += !found && number[i] < RESIDENTS;
            reader->wrong += found && location[i] % KEYS != number[i];
            reader->found += found;
        }
    } while (!atomic_load(&shared->done));
    return NULL;
}

static void insert(struct shared *shared, uint32_t number, uint32_t serial, struct kvc_index_stats *stats)
{
    uint32_t location = serial * KEYS + number;
    kvc_index_insert(shared->index, &shared->hash[number], &location, 1, NULL, stats);
}

static bool write_table(struct shared *shared, struct kvc_index_stats *stats)
{
    static bool present[VISITORS];
    uint64_t random = 99;
    uint32_t visitors = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t visitor = (uint32_t)(next_random(&random) % VISITORS), number = RESIDENTS + visitor;
        uint32_t serial = round % 1024 + 1, any = KVC_LOCATION_ANY;
        if (present[visitor]) {
            kvc_index_erase(shared->index, &shared->hash[number], &any, 1, NULL, stats);
            present[visitor] = false;
            visitors--;
        } else if (visitors < VISITORS / 2) {
            uint64_t dropped = stats->dropped;
            insert(shared, number, serial, stats);
            present[visitor] = stats->dropped == dropped;
            visitors += present[visitor];
        }
        insert(shared, (uint32_t)(next_random(&random) % RESIDENTS), serial, stats);
    }
    printf("%" PRIu64 " elements moved, %" PRIu64 " dropped\n", stats->displacements, stats->dropped);
    if (stats->displacements < ROUNDS / 100) {
        fprintf(stderr, "too few elements moved for this test to mean anything\n");
        return false;
    }
    return true;
}

static bool run(struct shared *shared, struct kvc_index_stats *stats)
{
    struct reader readers[READERS] = {{0}};
    uint64_t found = 0, lost = 0, wrong = 0;
    for (uint32_t r = 0; r < READERS; r++) {
        readers[r] = (struct reader){.shared = shared, .random = r + 1};
        if (pthread_create(&readers[r].thread, NULL, read_table, &readers[r]) != 0) {
            perror("pthread_create");
            exit(1);
        }
    }
    bool written = write_table(shared, stats);
    atomic_store(&shared->done, true);
    for (uint32_t r = 0; r < READERS; r++) {
        pthread_join(readers[r].thread, NULL);
        found += readers[r].found;
        lost += readers[r].lost;
        wrong += readers[r].wrong;
    }
    printf("%" PRIu64 " found, %" PRIu64 " lost, %" PRIu64 " wrong\n", found, lost, wrong);
    return written && found > 0 && lost == 0 && wrong == 0;
}

int main(void)
{
    static struct shared shared;
    struct kvc_index_stats stats = {0};
    uint64_t random = 5;
    shared.index = kvc_memc3_create(&(struct kvc_memc3_params){
        .bytes = (uint64_t)BUCKETS * KVC_MEMC3_BUCKET_BYTES, .max_displacements = KVC_MEMC3_DISPLACEMENTS});
    if (shared.index == NULL) {
        perror("kvc_memc3_create");
        return 1;
    }
    for (uint32_t k = 0; k < KEYS; k++) {
        shared.hash[k] = next_random(&random);
    }
    for (uint32_t k = 0; k < RESIDENTS; k++) {
        insert(&shared, k, 0, &stats);
    }
    bool right = stats.dropped == 0 && run(&shared, &stats);
    kvc_index_free(shared.index);
    return right ? 0 : 1;
}
