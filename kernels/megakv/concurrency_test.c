/* Many threads on one index and one store, under ThreadSanitizer. A plain main: exit status 0 is success.
 *
 * Index: elements that stay must be found by every search, with their own location, while one writer lets
 * others come and go around them and push them from bucket to bucket. Store: every hit's value must belong to
 * its key, while the writer rewrites, evicts and releases items. Receivers: several of them allocate, write,
 * rewrite and release items of the same classes while others read; no item is ever given to two of them, none
 * gets lost. */
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
            kvc_slab_rewrite(shared->slab, location, &key, 8, value, bytes, &slab_stats);
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

enum {
    RECEIVERS = 3,
    SENDERS = 2,
    RECEIVER_ROUNDS = 2500,
    SLABS = 6,
    BOARD = 512, /* keys whose last location is known to all */
    ALLOCATE_MAX = 8,
};

enum item_state {
    ITEM_GIVEN_BACK, /* or never handed out */
    ITEM_OWNED,      /* allocated, not yet written */
    ITEM_PUBLISHED,  /* written: CLOCK may take it at any time */
};

struct exchange {
    struct kvc_slab *slab;
    uint32_t board[BOARD];      /* location of key k, or KVC_LOCATION_NONE */
    uint8_t state[SLABS << 16]; /* enum item_state, by location */
    bool done;
};

struct receiver {
    pthread_t thread;
    struct exchange *exchange;
    uint64_t random, written, refused, released, evicted, wrong;
};

/* Two classes, by key. */
static uint32_t class_value_bytes(uint64_t key)
{
    return key % 2 == 0 ? ITEM_BYTES : ITEM_BYTES / 3;
}

static void receive_batch(struct receiver *receiver, uint64_t round)
{
    struct exchange *exchange = receiver->exchange;
    struct kvc_slab_stats stats = {0};
    uint64_t value[VALUE_WORDS + 1];
    uint32_t location[ALLOCATE_MAX], evicted_count;
    struct kvc_evicted evicted[ALLOCATE_MAX];
    uint64_t parity = next_random(&receiver->random) % 2;
    uint32_t wanted = 1 + (uint32_t)(next_random(&receiver->random) % ALLOCATE_MAX);
    uint32_t given = kvc_slab_alloc(exchange->slab, 8, class_value_bytes(parity), wanted, location, evicted,
                                    &evicted_count, &stats);
    receiver->evicted += evicted_count;
    for (uint32_t i = 0; i < given; i++) {
        uint8_t was = __atomic_exchange_n(&exchange->state[location[i]], ITEM_OWNED, __ATOMIC_ACQ_REL);
        receiver->wrong += was == ITEM_OWNED;
    }
    for (uint32_t i = 0; i < given; i++) {
        uint64_t key = next_random(&receiver->random) % (BOARD / 2) * 2 + parity;
        uint32_t bytes = make_value(key, round & 0xffffffff, value);
        uint64_t hash = kvc_hash(&key, 8, hash_seed);
        __atomic_store_n(&exchange->state[location[i]], ITEM_PUBLISHED, __ATOMIC_RELEASE);
        kvc_slab_write(exchange->slab, location[i], &key, 8, value, bytes, &stats);
        receiver->written++;
        uint32_t old = __atomic_exchange_n(&exchange->board[key], location[i], __ATOMIC_ACQ_REL);
        if (old != KVC_LOCATION_NONE && round % 2 == 0) {
            receiver->released += kvc_slab_release_key(exchange->slab, old, hash);
        }
    }
}

/* Writes an item again that may be evicted, released or rewritten by others at the same time. */
static void rewrite(struct receiver *receiver, uint64_t round)
{
    struct exchange *exchange = receiver->exchange;
    struct kvc_slab_stats stats = {0};
    uint64_t value[VALUE_WORDS + 1];
    uint64_t key = next_random(&receiver->random) % BOARD;
    uint32_t location = __atomic_load_n(&exchange->board[key], __ATOMIC_ACQUIRE);
    if (location != KVC_LOCATION_NONE) {
        uint32_t bytes = make_value(key, round & 0xffffffff, value);
        receiver->refused += !kvc_slab_rewrite(exchange->slab, location, &key, 8, value, bytes, &stats);
    }
}

static void *receive(void *argument)
{
    struct receiver *receiver = argument;
    for (uint64_t round = 0; round < RECEIVER_ROUNDS; round++) {
        receive_batch(receiver, round);
        if (round % 3 == 0) {
            rewrite(receiver, round);
        }
    }
    return NULL;
}

static void *send(void *argument)
{
    struct receiver *sender = argument;
    struct exchange *exchange = sender->exchange;
    struct kvc_slab_stats stats = {0};
    enum { RING = VALUE_WORDS * 8 };
    uint8_t *ring = malloc(RING);
    while (!__atomic_load_n(&exchange->done, __ATOMIC_ACQUIRE)) {
        uint64_t key = next_random(&sender->random) % BOARD;
        uint32_t location = __atomic_load_n(&exchange->board[key], __ATOMIC_ACQUIRE);
        uint32_t position = 0, bytes;
        uint8_t key_bytes = 8, result;
        kvc_slab_read(exchange->slab,
                      &(struct kvc_slab_reads){.count = 1,
                                               .location = &location,
                                               .keys = (const uint8_t *)&key,
                                               .key_stride = 8,
                                               .key_bytes = &key_bytes,
                                               .compare = true,
                                               .out = ring,
                                               .out_bytes = RING,
                                               .out_position = &position,
                                               .result = &result,
                                               .value_bytes = &bytes},
                      &stats);
        if (result == KVC_READ_HIT) {
            sender->wrong += !is_value_of(key, ring, bytes);
            sender->written++;
        }
    }
    free(ring);
    return NULL;
}

/* Every item of the store is given out exactly once when all are asked for and none is written. */
static bool nothing_is_lost(struct exchange *exchange)
{
    struct kvc_slab_stats stats = {0};
    uint64_t bytes = 0;
    memset(exchange->state, ITEM_GIVEN_BACK, sizeof(exchange->state));
    for (uint64_t parity = 0; parity < 2; parity++) {
        uint32_t location[ALLOCATE_MAX], evicted_count, given;
        struct kvc_evicted evicted[ALLOCATE_MAX];
        uint64_t items = 0;
        uint32_t item_bytes = kvc_slab_item_bytes(8, class_value_bytes(parity));
        do {
            given = kvc_slab_alloc(exchange->slab, 8, class_value_bytes(parity), ALLOCATE_MAX, location,
                                   evicted, &evicted_count, &stats);
            for (uint32_t i = 0; i < given; i++) {
                if (exchange->state[location[i]] == ITEM_OWNED) {
                    return false;
                }
                exchange->state[location[i]] = ITEM_OWNED;
            }
            items += given;
        } while (given == ALLOCATE_MAX);
        uint32_t of_slab = KVC_SLAB_BYTES / item_bytes;
        if (items % of_slab != 0) {
            return false;
        }
        bytes += items / of_slab * KVC_SLAB_BYTES;
    }
    return bytes == kvc_slab_capacity_bytes(exchange->slab) && kvc_slab_used_items(exchange->slab) == 0;
}

static bool test_receivers(void)
{
    static struct exchange exchange;
    struct receiver receivers[RECEIVERS] = {{0}}, senders[SENDERS] = {{0}};
    uint64_t written = 0, refused = 0, released = 0, evicted = 0, wrong = 0, read = 0;
    exchange.slab = kvc_slab_create(SLABS * (uint64_t)KVC_SLAB_BYTES, hash_seed);
    if (exchange.slab == NULL) {
        return false;
    }
    for (uint32_t k = 0; k < BOARD; k++) {
        exchange.board[k] = KVC_LOCATION_NONE;
    }
    for (uint32_t i = 0; i < RECEIVERS + SENDERS; i++) {
        struct receiver *one = i < RECEIVERS ? &receivers[i] : &senders[i - RECEIVERS];
        one->exchange = &exchange;
        one->random = i + 1;
        if (pthread_create(&one->thread, NULL, i < RECEIVERS ? receive : send, one) != 0) {
            perror("pthread_create");
            exit(1);
        }
    }
    for (uint32_t i = 0; i < RECEIVERS; i++) {
        pthread_join(receivers[i].thread, NULL);
        written += receivers[i].written;
        refused += receivers[i].refused;
        released += receivers[i].released;
        evicted += receivers[i].evicted;
        wrong += receivers[i].wrong;
    }
    __atomic_store_n(&exchange.done, true, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < SENDERS; i++) {
        pthread_join(senders[i].thread, NULL);
        wrong += senders[i].wrong;
        read += senders[i].written;
    }
    bool whole = nothing_is_lost(&exchange);
    printf("receivers: %" PRIu64 " written, %" PRIu64 " evicted, %" PRIu64 " released, %" PRIu64
           " rewrites refused, %" PRIu64 " hits checked, %" PRIu64 " wrong, %s\n",
           written, evicted, released, refused, read, wrong, whole ? "nothing lost" : "ITEMS LOST");
    kvc_slab_free(exchange.slab);
    return wrong == 0 && whole && read > 0 && evicted > 1000 && released > 100;
}

int main(void)
{
    bool index = test_index();
    bool store = test_store();
    bool receivers = test_receivers();
    return index && store && receivers ? 0 : 1;
}
