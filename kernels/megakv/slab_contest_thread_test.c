/* Two threads release or write the same items at the same time, under ThreadSanitizer and, for longer,
 * without it. A plain main; exit status 0 means success. */
#include "kernels/megakv/slab.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#include "kernels/hash.h"
#include "kernels/megakv/thread_fixture.h"

enum {
#ifdef __SANITIZE_THREAD__
    RELEASE_ROUNDS = 50,
    REWRITE_ROUNDS = 3000,
#else
    RELEASE_ROUNDS = 3000,
    REWRITE_ROUNDS = 1000000,
#endif
    SHARED_ITEMS = 500,
};

/* Items that two threads work on at the same time. */
struct contest {
    struct kvc_megakv_slab *slab;
    pthread_barrier_t barrier;
    uint32_t location[SHARED_ITEMS];
    uint64_t released[2], written[2];
    bool done;
};

struct contestant {
    struct contest *contest;
    uint32_t number;
};

static void fill_contest(struct contest *contest, uint32_t count)
{
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t evicted_count;
    struct kvc_megakv_slab_evicted evicted[SHARED_ITEMS];
    uint64_t value[VALUE_WORDS + 1];
    kvc_megakv_slab_alloc(contest->slab, 8, 2000, count, contest->location, evicted, &evicted_count, &stats);
    for (uint64_t key = 0; key < count; key++) {
        uint32_t bytes = make_value(key, 0, value);
        kvc_megakv_slab_write(contest->slab, contest->location[key], &key, 8, value, bytes, &stats);
    }
}

static void *release_all(void *argument)
{
    struct contestant *contestant = argument;
    struct contest *contest = contestant->contest;
    for (uint32_t round = 0; round < RELEASE_ROUNDS; round++) {
        pthread_barrier_wait(&contest->barrier);
        for (uint64_t i = 0; i < SHARED_ITEMS; i++) {
            uint64_t key = i;
            contest->released[contestant->number] +=
                round % 2 == 0 ? kvc_megakv_slab_release(contest->slab, contest->location[i])
                               : kvc_megakv_slab_release_key(contest->slab, contest->location[i],
                                                             kvc_hash(&key, 8, hash_seed));
        }
        pthread_barrier_wait(&contest->barrier);
    }
    return NULL;
}

/* Returns variants that give key 0 values of the greatest length, so that only the version tells one from the
 * next. */
static uint64_t longest(uint64_t round)
{
    return round * (VALUE_WORDS - 1) + LONGEST_VARIANT;
}

static void *write_all(void *argument)
{
    struct contestant *contestant = argument;
    struct contest *contest = contestant->contest;
    struct kvc_megakv_slab_stats stats = {0};
    uint64_t value[VALUE_WORDS + 1];
    for (uint64_t round = 1; round <= REWRITE_ROUNDS; round++) {
        uint64_t key = round / 2 % 2;
        uint32_t location = contest->location[key];
        uint32_t bytes = make_value(key, longest(round * 2 + contestant->number), value);
        contest->written[contestant->number] +=
            round % 2 == 0 ? kvc_megakv_slab_write(contest->slab, location, &key, 8, value, bytes, &stats)
                           : kvc_megakv_slab_rewrite(contest->slab, location, &key, 8, value, bytes, &stats);
    }
    return NULL;
}

static void *rewrite_all(void *argument)
{
    struct contestant *contestant = argument;
    struct contest *contest = contestant->contest;
    struct kvc_megakv_slab_stats stats = {0};
    uint64_t value[VALUE_WORDS + 1];
    for (uint64_t key = 0; !__atomic_load_n(&contest->done, __ATOMIC_ACQUIRE); key = !key) {
        uint32_t location = __atomic_load_n(&contest->location[key], __ATOMIC_ACQUIRE);
        uint32_t bytes = make_value(key, longest(1), value);
        contest->written[0] +=
            kvc_megakv_slab_rewrite(contest->slab, location, &key, 8, value, bytes, &stats);
    }
    return NULL;
}

/* Exactly one of the threads that release an item succeeds. */
static bool contest_releases(struct contest *contest)
{
    struct contestant contestants[2] = {{contest, 0}, {contest, 1}};
    pthread_t threads[2];
    bool right = pthread_barrier_init(&contest->barrier, NULL, 3) == 0;
    start_thread(&threads[0], release_all, &contestants[0]);
    start_thread(&threads[1], release_all, &contestants[1]);
    for (uint64_t round = 0; round < RELEASE_ROUNDS; round++) {
        fill_contest(contest, SHARED_ITEMS);
        pthread_barrier_wait(&contest->barrier);
        pthread_barrier_wait(&contest->barrier);
        right = right && contest->released[0] + contest->released[1] == (round + 1) * SHARED_ITEMS &&
                kvc_megakv_slab_used_items(contest->slab) == 0;
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    pthread_barrier_destroy(&contest->barrier);
    printf("contests: %" PRIu64 " + %" PRIu64 " released\n", contest->released[0], contest->released[1]);
    return right;
}

/* Items that two threads overwrite at the same time stay whole. */
static bool contest_writes(struct contest *contest, struct read_counts *reader)
{
    struct contestant contestants[2] = {{contest, 0}, {contest, 1}};
    pthread_t threads[2];
    fill_contest(contest, 2);
    start_thread(&threads[0], write_all, &contestants[0]);
    start_thread(&threads[1], write_all, &contestants[1]);
    for (uint64_t round = 0; round < REWRITE_ROUNDS; round++) {
        read_location(contest->slab, contest->location[round % 2], round % 2, true, reader);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("contests: %" PRIu64 " + %" PRIu64 " written\n", contest->written[0], contest->written[1]);
    return contest->written[0] > 0 && contest->written[1] > 0 &&
           kvc_megakv_slab_used_items(contest->slab) == 2 &&
           kvc_megakv_slab_release(contest->slab, contest->location[0]) &&
           kvc_megakv_slab_release(contest->slab, contest->location[1]);
}

/* While one thread allocates, writes and releases items, another thread rewrites them whenever it can. */
static bool contest_rewrites(struct contest *contest, struct read_counts *reader)
{
    struct contestant contestant = {contest, 0};
    pthread_t thread;
    uint64_t refused = 0;
    bool right = true;
    fill_contest(contest, 2);
    start_thread(&thread, rewrite_all, &contestant);
    for (uint64_t round = 0; round < REWRITE_ROUNDS; round++) {
        uint64_t key = round % 2, value[VALUE_WORDS + 1];
        struct kvc_megakv_slab_stats stats = {0};
        struct kvc_megakv_slab_evicted evicted;
        uint32_t location, evicted_count, bytes = make_value(key, longest(0), value);
        read_location(contest->slab, contest->location[key], key, true, reader);
        while (!kvc_megakv_slab_release(contest->slab, contest->location[key])) {
            refused++; /* while the other thread rewrites the item */
            sched_yield();
        }
        kvc_megakv_slab_alloc(contest->slab, 8, 2000, 1, &location, &evicted, &evicted_count, &stats);
        right = right && kvc_megakv_slab_write(contest->slab, location, &key, 8, value, bytes, &stats);
        __atomic_store_n(&contest->location[key], location, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&contest->done, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    printf("contests: %" PRIu64 " releases refused\n", refused);
    return right && kvc_megakv_slab_used_items(contest->slab) == 2;
}

int main(void)
{
    struct contest contest = {.slab = kvc_megakv_slab_create(2 * (uint64_t)KVC_MEGAKV_SLAB_BYTES, hash_seed)};
    struct read_counts reader = {0};
    if (contest.slab == NULL) {
        return 1;
    }
    bool releases = contest_releases(&contest);
    bool writes = contest_writes(&contest, &reader);
    bool rewrites = contest_rewrites(&contest, &reader);
    printf("contests: %" PRIu64 " hits checked, %" PRIu64 " wrong\n", reader.hits, reader.wrong);
    kvc_megakv_slab_free(contest.slab);
    return releases && writes && rewrites && reader.hits > 0 && reader.wrong == 0 ? 0 : 1;
}
