/* One writer and several readers use one table, under ThreadSanitizer and, for longer, without it. A plain
 * main; exit status 0 is success.
 *
 * Residents are never erased. Every search must find them, with one of their own locations, while the writer
 * overwrites these locations, lets visitors come and go in a nearly full table, and thus moves residents from
 * bucket to bucket. A visitor is found with a location of its own or not at all; in a table of one bucket,
 * visitors follow each other in the same slot. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/baselines/memc3.h"
#include "kernels/hash.h"

enum {
    READERS = 3,
    BATCH = 64,
    RESIDENTS_MAX = 2048,
    VISITORS_MAX = 3400,
    KEYS_MAX = RESIDENTS_MAX + VISITORS_MAX,
#ifdef __SANITIZE_THREAD__
    ROUNDS = 60000,
#else
    ROUNDS = 2000000,
#endif
};

/* The shape of a test. Elements move only if there is more than one bucket. */
struct contest {
    const char *name;
    uint64_t buckets;
    uint32_t residents;
    uint32_t visitors; /* Half of them are in the table at a time. */
};

static const struct contest contests[] = {
    {"crowded", 1024, RESIDENTS_MAX, VISITORS_MAX}, /* load factor 0.92 */
    {"one slot", 1, 0, 2},
    {"one bucket", 1, 2, 4},
};

/* A location is a serial number times KEYS_MAX, plus the number of the key. Residents have the lowest
 * numbers. */
struct shared {
    const struct contest *contest;
    struct kvc_index *index;
    atomic_bool done;
    uint64_t hash[KEYS_MAX];
};

struct reader {
    pthread_t thread;
    struct shared *shared;
    uint64_t random, found, lost, wrong;
};

static uint64_t next_random(uint64_t *state)
{
    return kvc_mix_64(*state += 0x9e3779b97f4a7c15);
}

static void *read_table(void *argument)
{
    struct reader *reader = argument;
    struct shared *shared = reader->shared;
    const struct contest *contest = shared->contest;
    struct kvc_index_stats stats = {0};
    do {
        uint64_t hash[BATCH];
        uint32_t number[BATCH], location[BATCH];
        for (uint32_t i = 0; i < BATCH; i++) {
            number[i] = (uint32_t)(next_random(&reader->random) % (contest->residents + contest->visitors));
            hash[i] = shared->hash[number[i]];
        }
        kvc_index_search(shared->index, hash, BATCH, location, &stats);
        for (uint32_t i = 0; i < BATCH; i++) {
            bool found = location[i] != KVC_LOCATION_NONE;
            reader->lost += !found && number[i] < contest->residents;
            reader->wrong += found && location[i] % KEYS_MAX != number[i];
            reader->found += found;
        }
    } while (!atomic_load(&shared->done));
    return NULL;
}

static void insert(struct shared *shared, uint32_t number, uint32_t serial, struct kvc_index_stats *stats)
{
    uint32_t location = serial * KEYS_MAX + number;
    kvc_index_insert(shared->index, &shared->hash[number], &location, 1, NULL, stats);
}

/* Erases a visitor that is in the table, or inserts one that is not, so that at most half of them are stored.
 */
static void visit(struct shared *shared, uint32_t visitor, uint32_t serial, struct kvc_index_stats *stats)
{
    uint32_t number = shared->contest->residents + visitor, any = KVC_LOCATION_ANY;
    uint64_t erased = stats->erased;
    kvc_index_erase(shared->index, &shared->hash[number], &any, 1, NULL, stats);
    if (stats->erased == erased &&
        kvc_index_used(shared->index) < shared->contest->residents + shared->contest->visitors / 2) {
        insert(shared, number, serial, stats);
    }
}

static void write_table(struct shared *shared, struct kvc_index_stats *stats)
{
    const struct contest *contest = shared->contest;
    uint64_t random = 99;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t serial = round % 1024 + 1;
        visit(shared, (uint32_t)(next_random(&random) % contest->visitors), serial, stats);
        if (contest->residents != 0) {
            insert(shared, (uint32_t)(next_random(&random) % contest->residents), serial, stats);
        }
    }
}

static bool run(struct shared *shared, struct kvc_index_stats *stats)
{
    struct reader readers[READERS] = {{0}};
    uint64_t found = 0, lost = 0, wrong = 0;
    atomic_store(&shared->done, false);
    for (uint32_t r = 0; r < READERS; r++) {
        readers[r] = (struct reader){.shared = shared, .random = r + 1};
        if (pthread_create(&readers[r].thread, NULL, read_table, &readers[r]) != 0) {
            perror("pthread_create");
            exit(1);
        }
    }
    write_table(shared, stats);
    atomic_store(&shared->done, true);
    for (uint32_t r = 0; r < READERS; r++) {
        pthread_join(readers[r].thread, NULL);
        found += readers[r].found;
        lost += readers[r].lost;
        wrong += readers[r].wrong;
    }
    printf("%s: %" PRIu64 " found, %" PRIu64 " lost, %" PRIu64 " wrong; %" PRIu64 " moved, %" PRIu64
           " dropped\n",
           shared->contest->name, found, lost, wrong, stats->displacements, stats->dropped);
    return found > 0 && lost == 0 && wrong == 0;
}

static bool test(struct shared *shared, const struct contest *contest)
{
    struct kvc_index_stats stats = {0};
    uint64_t random = 5;
    shared->contest = contest;
    shared->index = kvc_memc3_create(&(struct kvc_memc3_params){
        .bytes = contest->buckets * KVC_MEMC3_BUCKET_BYTES, .max_displacements = KVC_MEMC3_DISPLACEMENTS});
    if (shared->index == NULL) {
        perror("kvc_memc3_create");
        return false;
    }
    for (uint32_t k = 0; k < contest->residents + contest->visitors; k++) {
        shared->hash[k] = next_random(&random);
    }
    for (uint32_t k = 0; k < contest->residents; k++) {
        insert(shared, k, 0, &stats);
    }
    bool right = stats.dropped == 0 && run(shared, &stats);
    if (contest->buckets > 1 && stats.displacements < ROUNDS / 10) {
        fprintf(stderr, "too few elements have moved for this test to mean anything\n");
        right = false;
    }
    kvc_index_free(shared->index);
    return right;
}

int main(void)
{
    static struct shared shared;
    bool right = true;
    for (size_t c = 0; c < sizeof(contests) / sizeof(*contests); c++) {
        right &= test(&shared, &contests[c]);
    }
    return right ? 0 : 1;
}
