/* Many threads on one index and one store, with ThreadSanitizer and, longer, without. A plain main: exit
 * status 0 is success.
 *
 * Index: elements that stay must be found by every search, with their own location, while one writer lets
 * others come and go around them and push them from bucket to bucket. Store: every hit's value must belong to
 * its key, while the writer rewrites, evicts and releases items. Receivers: several of them allocate, write,
 * rewrite and release items of the same classes while others read; no item is ever given to two of them, none
 * gets lost. Contests: two threads release or write the same items at once. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
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
#ifdef __SANITIZE_THREAD__
    STORE_ROUNDS = 10000,
#else
    STORE_ROUNDS = 300000,
#endif
    VALUE_WORDS = 128,  /* most, of 8 bytes each */
    ITEM_BYTES = 50000, /* items this large fill the slabs soon, though their values are short */
};

static const uint64_t hash_seed = 3;

struct shared {
    struct kvc_index *index;
    struct kvc_megakv_slab *slab;
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
    shared.index = kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = 4096 * 8, .max_displacements = 500});
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
    } while (!is_done(shared));
    free(ring);
    return NULL;
}

static void write_store(struct shared *shared)
{
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
            bytes = make_value(key, round + 1, value); /* in place, under the readers' eyes */
            kvc_megakv_slab_rewrite(shared->slab, location, &key, 8, value, bytes, &slab_stats);
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
    shared.index = kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = 64 * 64, .max_displacements = 100});
    shared.slab = kvc_megakv_slab_create(4 * (uint64_t)KVC_MEGAKV_SLAB_BYTES, hash_seed);
    if (shared.index == NULL || shared.slab == NULL) {
        return false;
    }
    bool right = run_readers(&shared, read_store, write_store, "store");
    kvc_index_free(shared.index);
    kvc_megakv_slab_free(shared.slab);
    return right;
}

enum {
    RECEIVERS = 3,
    SENDERS = 2,
#ifdef __SANITIZE_THREAD__
    RECEIVER_ROUNDS = 2500,
    RELEASE_ROUNDS = 50,
    REWRITE_ROUNDS = 3000,
#else
    RECEIVER_ROUNDS = 150000,
    RELEASE_ROUNDS = 3000,
    REWRITE_ROUNDS = 1000000,
#endif
    SLABS = 6,
    CLASSES = 3,
    BOARD = 510, /* keys whose last location is known to all */
    ALLOCATE_MAX = 8,
    SHARED_ITEMS = 500,
    LONGEST_VARIANT = 24, /* as makes value_words() VALUE_WORDS */
};

/* Of the items; their values are shorter, so that any fits any class. */
static const uint32_t class_value_bytes[CLASSES] = {50000, 16000, 2000};

enum item_state {
    ITEM_GIVEN_BACK, /* or never handed out */
    ITEM_OWNED,      /* allocated, not yet written */
    ITEM_PUBLISHED,  /* written: CLOCK may take it at any time, and any thread release it */
};

/* What the test itself knows of an item. */
struct ledger {
    uint32_t state;        /* enum item_state */
    uint32_t begun, ended; /* tries to release it */
    uint32_t begun_before; /* it was published; another number if some had not ended */
    uint64_t key;          /* in use there */
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
    uint64_t random, refused, released, hits, wrong;
    struct kvc_megakv_slab_stats stats;
};

static struct ledger *ledger_of(struct exchange *exchange, uint32_t location)
{
    return &exchange->ledger[location];
}

/* Takes down an item that the store handed out. It must have been nobody's: evicted as reported, or given
 * back by its owner, or in use and at least tried to release since. */
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
    receiver->wrong +=
        !kvc_megakv_slab_write(exchange->slab, location, &key, 8, value, bytes, &receiver->stats);
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
                                           evicted, &evicted_count, &receiver->stats);
    receiver->wrong += given == 0;
    for (uint32_t i = 0; i < given; i++) {
        uint32_t from_free = given - evicted_count;
        receiver->wrong += !own(exchange, location[i], i < from_free ? NULL : &evicted[i - from_free]);
    }
    for (uint32_t i = 0; i < given; i++) {
        uint64_t key = next_random(&receiver->random) % (BOARD / CLASSES) * CLASSES + class;
        if (next_random(&receiver->random) % 16 == 0) {
            __atomic_store_n(&ledger_of(exchange, location[i])->state, ITEM_GIVEN_BACK, __ATOMIC_RELEASE);
            bool released = kvc_megakv_slab_release(exchange->slab, location[i]);
            receiver->released += released;
            receiver->wrong += !released;
        } else {
            publish(receiver, location[i], key, round);
        }
    }
}

/* An item that may be evicted, released or written again by others at the same time. */
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
        receiver->refused +=
            !kvc_megakv_slab_rewrite(exchange->slab, location, &key, 8, value, bytes, &receiver->stats);
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

/* Reads the item at `location`; without `compare`, its value must still be of one key. */
static void read_location(struct receiver *sender, uint32_t location, uint64_t key, bool compare)
{
    uint64_t ring[VALUE_WORDS];
    uint32_t position = 0, bytes;
    uint8_t key_bytes = 8, result;
    kvc_megakv_slab_read(sender->exchange->slab,
                         &(struct kvc_megakv_slab_reads){.count = 1,
                                                         .location = &location,
                                                         .keys = (const uint8_t *)&key,
                                                         .key_stride = 8,
                                                         .key_bytes = &key_bytes,
                                                         .compare = compare,
                                                         .out = (uint8_t *)ring,
                                                         .out_bytes = sizeof(ring),
                                                         .out_position = &position,
                                                         .result = &result,
                                                         .value_bytes = &bytes},
                         &sender->stats);
    if (result == KVC_MEGAKV_SLAB_HIT) {
        sender->wrong += !is_value_of(compare ? key : ring[0] >> 32, (const uint8_t *)ring, bytes);
        sender->hits++;
    }
}

static void *send(void *argument)
{
    struct receiver *sender = argument;
    struct exchange *exchange = sender->exchange;
    while (!__atomic_load_n(&exchange->done, __ATOMIC_ACQUIRE)) {
        uint64_t key = next_random(&sender->random) % BOARD;
        uint32_t location = __atomic_load_n(&exchange->board[key], __ATOMIC_ACQUIRE);
        read_location(sender, location, key, key % 8 != 0);
    }
    return NULL;
}

/* Allocates what is left of a class on its free list, one item at a time. */
static uint64_t drain_free(struct kvc_megakv_slab *slab, uint32_t value_bytes)
{
    struct kvc_megakv_slab_stats stats = {0};
    struct kvc_megakv_slab_evicted evicted;
    uint32_t location, evicted_count;
    uint64_t items = 0;
    while (kvc_megakv_slab_alloc(slab, 8, value_bytes, 1, &location, &evicted, &evicted_count, &stats) == 1) {
        if (evicted_count == 1) { /* put back what that took */
            uint64_t key = 0, value = 0;
            kvc_megakv_slab_write(slab, location, &key, 8, &value, 8, &stats);
            break;
        }
        items++;
    }
    return items;
}

/* All threads have left. What a walk over all items finds in use is what the store counts, and every item is
 * in use or on a free list. Then all are released, and all of them can be had again, each once. */
static bool nothing_is_lost(struct exchange *exchange, uint64_t in_use)
{
    struct kvc_megakv_slab *slab = exchange->slab;
    struct receiver walk = {.exchange = exchange};
    struct kvc_megakv_slab_stats stats = {0};
    uint64_t bytes = 0, unused = 0, released = 0, items = 0;
    for (uint32_t location = 0; location < SLABS << 16; location++) {
        read_location(&walk, location, 0, false);
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

static void start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    if (pthread_create(thread, NULL, run, argument) != 0) {
        perror("pthread_create");
        exit(1);
    }
}

static bool test_receivers(void)
{
    static struct exchange exchange;
    struct receiver threads[RECEIVERS + SENDERS] = {{0}}, sum = {0};
    exchange.slab = kvc_megakv_slab_create(SLABS * (uint64_t)KVC_MEGAKV_SLAB_BYTES, hash_seed);
    if (exchange.slab == NULL) {
        return false;
    }
    for (uint32_t class = 0; class < CLASSES; class ++) { /* a slab each, whoever comes first */
        uint32_t location, evicted_count;
        struct kvc_megakv_slab_evicted evicted;
        kvc_megakv_slab_alloc(exchange.slab, 8, class_value_bytes[class], 1, &location, &evicted,
                              &evicted_count, &sum.stats);
        sum.released += kvc_megakv_slab_release(exchange.slab, location);
    }
    for (uint32_t k = 0; k < BOARD; k++) {
        exchange.board[k] = KVC_LOCATION_NONE;
    }
    for (uint32_t i = 0; i < RECEIVERS + SENDERS; i++) {
        threads[i].exchange = &exchange;
        threads[i].random = i + 1;
        start(&threads[i].thread, i < RECEIVERS ? receive : send, &threads[i]);
    }
    for (uint32_t i = 0; i < RECEIVERS + SENDERS; i++) {
        if (i == RECEIVERS) {
            __atomic_store_n(&exchange.done, true, __ATOMIC_RELEASE);
        }
        pthread_join(threads[i].thread, NULL);
        sum.refused += threads[i].refused;
        sum.released += threads[i].released;
        sum.hits += threads[i].hits;
        sum.wrong += threads[i].wrong;
        sum.stats.allocated += threads[i].stats.allocated;
        sum.stats.evicted += threads[i].stats.evicted;
    }
    uint64_t in_use = sum.stats.allocated - sum.stats.evicted - sum.released;
    bool whole = nothing_is_lost(&exchange, in_use);
    printf("receivers: %" PRIu64 " allocated, %" PRIu64 " evicted, %" PRIu64 " released, %" PRIu64
           " in use, %" PRIu64 " rewrites refused, %" PRIu64 " hits checked, %" PRIu64 " wrong, %s\n",
           sum.stats.allocated, sum.stats.evicted, sum.released, in_use, sum.refused, sum.hits, sum.wrong,
           whole ? "nothing lost" : "ITEMS LOST");
    kvc_megakv_slab_free(exchange.slab);
    return sum.wrong == 0 && whole && sum.hits > 0 && sum.stats.evicted > RECEIVER_ROUNDS &&
           sum.released > RECEIVER_ROUNDS / 2;
}

/* Items that two threads are let loose on at once. */
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

/* Values of key 0 are all as long as can be: only the version tells one from the next. */
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

/* Each item is released by exactly one of those who try. */
static bool contest_releases(struct contest *contest)
{
    struct contestant contestants[2] = {{contest, 0}, {contest, 1}};
    pthread_t threads[2];
    bool right = pthread_barrier_init(&contest->barrier, NULL, 3) == 0;
    start(&threads[0], release_all, &contestants[0]);
    start(&threads[1], release_all, &contestants[1]);
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

/* Items that two write again at once stay whole. */
static bool contest_writes(struct contest *contest, struct receiver *reader)
{
    struct contestant contestants[2] = {{contest, 0}, {contest, 1}};
    pthread_t threads[2];
    fill_contest(contest, 2);
    start(&threads[0], write_all, &contestants[0]);
    start(&threads[1], write_all, &contestants[1]);
    for (uint64_t round = 0; round < REWRITE_ROUNDS; round++) {
        read_location(reader, contest->location[round % 2], round % 2, true);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("contests: %" PRIu64 " + %" PRIu64 " written\n", contest->written[0], contest->written[1]);
    return contest->written[0] > 0 && contest->written[1] > 0 &&
           kvc_megakv_slab_used_items(contest->slab) == 2 &&
           kvc_megakv_slab_release(contest->slab, contest->location[0]) &&
           kvc_megakv_slab_release(contest->slab, contest->location[1]);
}

/* What one thread allocates, writes and releases, another one writes again whenever it can. */
static bool contest_rewrites(struct contest *contest, struct receiver *reader)
{
    struct contestant contestant = {contest, 0};
    pthread_t thread;
    uint64_t refused = 0;
    bool right = true;
    fill_contest(contest, 2);
    start(&thread, rewrite_all, &contestant);
    for (uint64_t round = 0; round < REWRITE_ROUNDS; round++) {
        uint64_t key = round % 2, value[VALUE_WORDS + 1];
        struct kvc_megakv_slab_stats stats = {0};
        struct kvc_megakv_slab_evicted evicted;
        uint32_t location, evicted_count, bytes = make_value(key, longest(0), value);
        read_location(reader, contest->location[key], key, true);
        while (!kvc_megakv_slab_release(contest->slab, contest->location[key])) {
            refused++; /* while the other one is at it */
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

static bool test_contests(void)
{
    static struct exchange exchange;
    struct contest contest = {.slab = kvc_megakv_slab_create(2 * (uint64_t)KVC_MEGAKV_SLAB_BYTES, hash_seed)};
    struct receiver reader = {.exchange = &exchange};
    exchange.slab = contest.slab;
    if (contest.slab == NULL) {
        return false;
    }
    bool releases = contest_releases(&contest);
    bool writes = contest_writes(&contest, &reader);
    bool rewrites = contest_rewrites(&contest, &reader);
    printf("contests: %" PRIu64 " hits checked, %" PRIu64 " wrong\n", reader.hits, reader.wrong);
    kvc_megakv_slab_free(contest.slab);
    return releases && writes && rewrites && reader.hits > 0 && reader.wrong == 0;
}

int main(void)
{
    bool index = test_index();
    bool store = test_store();
    bool receivers = test_receivers();
    bool contests = test_contests();
    return index && store && receivers && contests ? 0 : 1;
}
