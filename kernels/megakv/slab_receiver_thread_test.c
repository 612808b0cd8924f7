/* Several receivers allocate, write, rewrite and release items of the same classes while other threads read,
 * under ThreadSanitizer and, for longer, without it. No item is ever given to two receivers, and none is
 * lost. A plain main; exit status 0 means success. */
#include "kernels/megakv/slab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "kernels/random_fixture.h"
#include "kernels/megakv/thread_fixture.h"

enum {
    RECEIVERS = 3,
    SENDERS = 2,
#ifdef __SANITIZE_THREAD__
    RECEIVER_ROUNDS = 2500,
#else
    RECEIVER_ROUNDS = 150000,
#endif
    SLABS = 6,
    CLASSES = 3,
    BOARD = 510, /* keys whose last location all threads know */
    ALLOCATE_MAX = 8,
};

/* Value lengths of the classes; the real values are shorter, so that any value fits any class. */
static const uint32_t class_value_bytes[CLASSES] = {50000, 16000, 2000};

enum item_state {
    ITEM_GIVEN_BACK, /* released by its owner, or never allocated */
    ITEM_OWNED,      /* allocated and not yet written */
    ITEM_PUBLISHED,  /* written: CLOCK may evict it, and any thread may release it */
};

/* The test's own record of an item. */
struct ledger {
    uint32_t state;        /* enum item_state */
    uint32_t begun, ended; /* attempts to release it */
    uint32_t begun_before; /* attempts begun before it was published, minus 1 if some had not ended */
    uint64_t key;          /* key of the item in use */
};

struct exchange {
    struct kvc_megakv_slab *slab;
    uint32_t board[BOARD]; /* location of key k, or KVC_LOCATION_NONE */
    struct ledger ledger[SLABS << 16];
    bool done;
};

struct receiver {
    pthread_t thread;
    struct exchange *exchange;
    uint64_t random, refused, released;
    struct read_counts counts;
};

static struct ledger *ledger_of(struct exchange *exchange, uint32_t location)
{
    return &exchange->ledger[location];
}

/* Records that the store handed out an item; returns whether the store was entitled to do so. The item must
 * have been reported as evicted, released by its owner, or the target of an attempt to release it since it
 * was published. */
static bool own(struct exchange *exchange, uint32_t location, const struct kvc_megakv_slab_evicted *evicted)
{
    struct ledger *ledger = ledger_of(exchange, location);
    uint32_t was = __atomic_exchange_n(&ledger->state, ITEM_OWNED, __ATOMIC_ACQ_REL);
    if (evicted != NULL) {
        return was == ITEM_PUBLISHED && evicted->location == location &&
               evicted->hash == kvc_hash(&ledger->key, 8, hash_seed);
    }
    bool tried = __atomic_load_n(&ledger->begun, __ATOMIC_SEQ_CST) != ledger->begun_before;
    return was == ITEM_GIVEN_BACK || (was == ITEM_PUBLISHED && tried);
}

static void try_release(struct receiver *receiver, uint32_t location, uint64_t key)
{
    struct exchange *exchange = receiver->exchange;
    if (location != KVC_LOCATION_NONE) {
        struct ledger *ledger = ledger_of(exchange, location);
        __atomic_fetch_add(&ledger->begun, 1, __ATOMIC_SEQ_CST);
        receiver->released +=
            kvc_megakv_slab_release_key(exchange->slab, location, kvc_hash(&key, 8, hash_seed));
        __atomic_fetch_add(&ledger->ended, 1, __ATOMIC_SEQ_CST);
    }
}

static void publish(struct receiver *receiver, uint32_t location, uint64_t key, uint64_t round)
{
    struct exchange *exchange = receiver->exchange;
    struct ledger *ledger = ledger_of(exchange, location);
    uint64_t value[VALUE_WORDS + 1];
    uint32_t bytes = make_value(key, round, value);
    ledger->key = key;
    uint32_t ended = __atomic_load_n(&ledger->ended, __ATOMIC_SEQ_CST);
    uint32_t begun = __atomic_load_n(&ledger->begun, __ATOMIC_SEQ_CST);
    ledger->begun_before = begun == ended ? begun : begun - 1;
    __atomic_store_n(&ledger->state, ITEM_PUBLISHED, __ATOMIC_RELEASE);
    receiver->counts.wrong +=
        !kvc_megakv_slab_write(exchange->slab, location, &key, 8, value, bytes, &receiver->counts.stats);
    uint32_t old = __atomic_exchange_n(&exchange->board[key], location, __ATOMIC_ACQ_REL);
    if (round % 2 == 0) {
        try_release(receiver, old, key);
    }
}

static void receive_batch(struct receiver *receiver, uint64_t round)
{
    struct exchange *exchange = receiver->exchange;
    uint32_t location[ALLOCATE_MAX], evicted_count;
    struct kvc_megakv_slab_evicted evicted[ALLOCATE_MAX];
    uint64_t class = next_random(&receiver->random) % CLASSES;
    uint32_t wanted = 1 + (uint32_t)(next_random(&receiver->random) % ALLOCATE_MAX);
    uint32_t given = kvc_megakv_slab_alloc(exchange->slab, 8, class_value_bytes[class], wanted, location,
                                           evicted, &evicted_count, &receiver->counts.stats);
    receiver->counts.wrong += given == 0;
    for (uint32_t i = 0; i < given; i++) {
        uint32_t from_free = given - evicted_count;
        receiver->counts.wrong += !own(exchange, location[i], i < from_free ? NULL : &evicted[i - from_free]);
    }
    for (uint32_t i = 0; i < given; i++) {
        uint64_t key = next_random(&receiver->random) % (BOARD / CLASSES) * CLASSES + class;
        if (next_random(&receiver->random) % 16 == 0) {
            __atomic_store_n(&ledger_of(exchange, location[i])->state, ITEM_GIVEN_BACK, __ATOMIC_RELEASE);
            bool released = kvc_megakv_slab_release(exchange->slab, location[i]);
            receiver->released += released;
            receiver->counts.wrong += !released;
        } else {
            publish(receiver, location[i], key, round);
        }
    }
}

/* Releases or rewrites an item that other threads may evict, release or rewrite at the same time. */
static void disturb(struct receiver *receiver, uint64_t round)
{
    struct exchange *exchange = receiver->exchange;
    uint64_t value[VALUE_WORDS + 1];
    uint64_t key = next_random(&receiver->random) % BOARD;
    uint32_t location = __atomic_load_n(&exchange->board[key], __ATOMIC_ACQUIRE);
    if (round % 8 == 0) {
        try_release(receiver, location, key);
    } else if (location != KVC_LOCATION_NONE) {
        uint32_t bytes = make_value(key, round, value);
        receiver->refused += !kvc_megakv_slab_rewrite(exchange->slab, location, &key, 8, value, bytes,
                                                      &receiver->counts.stats);
    }
}

static void *receive(void *argument)
{
    struct receiver *receiver = argument;
    for (uint64_t round = 0; round < RECEIVER_ROUNDS; round++) {
        receive_batch(receiver, round);
        disturb(receiver, round);
    }
    return NULL;
}

static void *send(void *argument)
{
    struct receiver *sender = argument;
    struct exchange *exchange = sender->exchange;
    while (!__atomic_load_n(&exchange->done, __ATOMIC_ACQUIRE)) {
        uint64_t key = next_random(&sender->random) % BOARD;
        uint32_t location = __atomic_load_n(&exchange->board[key], __ATOMIC_ACQUIRE);
        read_location(exchange->slab, location, key, key % 8 != 0, &sender->counts);
    }
    return NULL;
}

/* Allocates the free items of a class one by one; returns their number. */
static uint64_t drain_free(struct kvc_megakv_slab *slab, uint32_t value_bytes)
{
    struct kvc_megakv_slab_stats stats = {0};
    struct kvc_megakv_slab_evicted evicted;
    uint32_t location, evicted_count;
    uint64_t items = 0;
    while (kvc_megakv_slab_alloc(slab, 8, value_bytes, 1, &location, &evicted, &evicted_count, &stats) == 1) {
        if (evicted_count == 1) { /* puts the evicted item back in use */
            uint64_t key = 0, value = 0;
            kvc_megakv_slab_write(slab, location, &key, 8, &value, 8, &stats);
            break;
        }
        items++;
    }
    return items;
}

/* Checks the store when all threads have ended. A walk over all items finds as many in use as the store
 * counts, and every other item is on a free list. After all items have been released, each can be allocated
 * again, once. */
static bool nothing_is_lost(struct exchange *exchange, uint64_t in_use)
{
    struct kvc_megakv_slab *slab = exchange->slab;
    struct read_counts walk = {0};
    struct kvc_megakv_slab_stats stats = {0};
    uint64_t bytes = 0, unused = 0, released = 0, items = 0;
    for (uint32_t location = 0; location < SLABS << 16; location++) {
        read_location(slab, location, 0, false, &walk);
    }
    bool right = walk.wrong == 0 && walk.hits == in_use && kvc_megakv_slab_used_items(slab) == in_use;
    for (uint32_t class = 0; class < CLASSES; class ++) {
        unused += drain_free(slab, class_value_bytes[class]);
    }
    right = right && kvc_megakv_slab_used_items(slab) == in_use;
    for (uint32_t location = 0; location < SLABS << 16; location++) {
        released += kvc_megakv_slab_release(slab, location);
        right = right && !kvc_megakv_slab_release(slab, location);
    }
    right = right && released == in_use + unused && kvc_megakv_slab_used_items(slab) == 0;
    memset(exchange->ledger, 0, sizeof(exchange->ledger));
    for (uint32_t class = 0; class < CLASSES; class ++) {
        uint32_t location, evicted_count;
        struct kvc_megakv_slab_evicted evicted;
        uint32_t of_slab = KVC_MEGAKV_SLAB_BYTES / kvc_megakv_slab_item_bytes(8, class_value_bytes[class]);
        uint64_t of_class = 0;
        while (kvc_megakv_slab_alloc(slab, 8, class_value_bytes[class], 1, &location, &evicted,
                                     &evicted_count, &stats) == 1) {
            right = right && evicted_count == 0 && own(exchange, location, NULL);
            of_class++;
        }
        right = right && of_class % of_slab == 0;
        items += of_class;
        bytes += of_class / of_slab * KVC_MEGAKV_SLAB_BYTES;
    }
    return right && items == released && bytes == kvc_megakv_slab_capacity_bytes(slab);
}

int main(void)
{
    static struct exchange exchange;
    struct receiver threads[RECEIVERS + SENDERS] = {{0}}, sum = {0};
    exchange.slab = kvc_megakv_slab_create(SLABS * (uint64_t)KVC_MEGAKV_SLAB_BYTES, hash_seed);
    if (exchange.slab == NULL) {
        return 1;
    }
    for (uint32_t class = 0; class < CLASSES;
         class ++) { /* every class gets a slab, whichever thread comes first */
        uint32_t location, evicted_count;
        struct kvc_megakv_slab_evicted evicted;
        kvc_megakv_slab_alloc(exchange.slab, 8, class_value_bytes[class], 1, &location, &evicted,
                              &evicted_count, &sum.counts.stats);
        sum.released += kvc_megakv_slab_release(exchange.slab, location);
    }
    for (uint32_t k = 0; k < BOARD; k++) {
        exchange.board[k] = KVC_LOCATION_NONE;
    }
    for (uint32_t i = 0; i < RECEIVERS + SENDERS; i++) {
        threads[i].exchange = &exchange;
        threads[i].random = i + 1;
        start_thread(&threads[i].thread, i < RECEIVERS ? receive : send, &threads[i]);
    }
    for (uint32_t i = 0; i < RECEIVERS + SENDERS; i++) {
        if (i == RECEIVERS) {
            __atomic_store_n(&exchange.done, true, __ATOMIC_RELEASE);
        }
        pthread_join(threads[i].thread, NULL);
        sum.refused += threads[i].refused;
        sum.released += threads[i].released;
        sum.counts.hits += threads[i].counts.hits;
        sum.counts.wrong += threads[i].counts.wrong;
        sum.counts.stats.allocated += threads[i].counts.stats.allocated;
        sum.counts.stats.evicted += threads[i].counts.stats.evicted;
    }
    uint64_t in_use = sum.counts.stats.allocated - sum.counts.stats.evicted - sum.released;
    bool whole = nothing_is_lost(&exchange, in_use);
    printf("receivers: %" PRIu64 " allocated, %" PRIu64 " evicted, %" PRIu64 " released, %" PRIu64
           " in use, %" PRIu64 " rewrites refused, %" PRIu64 " hits checked, %" PRIu64 " wrong, %s\n",
           sum.counts.stats.allocated, sum.counts.stats.evicted, sum.released, in_use, sum.refused,
           sum.counts.hits, sum.counts.wrong, whole ? "nothing lost" : "ITEMS LOST");
    kvc_megakv_slab_free(exchange.slab);
    bool right = sum.counts.wrong == 0 && whole && sum.counts.hits > 0 &&
                 sum.counts.stats.evicted > RECEIVER_ROUNDS && sum.released > RECEIVER_ROUNDS / 2;
    return right ? 0 : 1;
}
