#include "kernels/memcachedgpu/get.h"
#include "kernels/random_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 11211, ITEMS = 500 };

/* Makes key number `id`, a text; the table contains numbers below ITEMS. */
static uint32_t key_of(uint32_t id, char *key)
{
    uint32_t bytes = 1 + id % KVC_MEMCACHEDGPU_PACKET_KEY_MAX;
    char number[16];
    int digits = snprintf(number, sizeof(number), "%u:", id);
    uint32_t head = (uint32_t)digits < bytes ? (uint32_t)digits : bytes;
    memset(key, 'x', bytes);
    memcpy(key, number, head);
    return bytes;
}

static struct kvc_set_assoc_item item_of(uint32_t id)
{
    return (struct kvc_set_assoc_item){
        .location = id * 3, .value_bytes = id % 10 == 9 ? 1000000 : id * 2, .flags = (uint16_t)(id * 131)};
}

static struct kvc_set_assoc *filled(void)
{
    struct kvc_set_assoc *table =
        kvc_set_assoc_create(&(struct kvc_set_assoc_params){.sets = 1000, .ways = 16, .key_bytes_max = 250});
    cr_assert_not_null(table);
    struct kvc_index_stats stats = {0};
    for (uint32_t id = 200; id < ITEMS; id++) {
        char key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX];
        uint8_t bytes = (uint8_t)key_of(id, key);
        uint32_t offset = 0;
        struct kvc_set_assoc_item item = item_of(id);
        kvc_table_insert(&table->base, &(struct kvc_set_assoc_keys){(const uint8_t *)key, &offset, &bytes},
                         &item, 1, 1, NULL, &stats);
    }
    cr_assert_eq(stats.evicted + stats.dropped + stats.replaced, 0);
    return table;
}

static const struct kvc_memcachedgpu_packet_ends ends = {
    {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, 0x0a000001, 0x0a000002, 40000, PORT};

/* Makes a packet that asks for key `id`, or, if `spoilt`, an incorrect request; returns its length. */
static uint32_t make_packet(uint8_t *to, uint32_t id, bool spoilt)
{
    char key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX];
    uint32_t bytes = kvc_memcachedgpu_packet_write_get(to, &ends, (uint16_t)id, key, key_of(id, key));
    cr_assert_neq(bytes, 0);
    if (spoilt) {
        switch (random_word() % 4) {
        case 0:
            bytes = (uint32_t)(random_word() % bytes); /* truncated */
            break;
        case 1:
            to[24] ^= 1; /* checksum */
            break;
        case 2:
            to[KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET] = 'p'; /* "pet" */
            break;
        default:
            to[bytes - 3] = ' '; /* the key's last byte */
        }
    }
    return bytes;
}

/* A batch of random packets, some of which are spoilt. */
struct trial {
    uint32_t count;
    uint8_t *packets, *responses;
    struct kvc_memcachedgpu_get_packet *packet;
    struct kvc_memcachedgpu_get_result *results; /* one more than packets */
    uint32_t *ids;
    bool *spoilt;
};

static struct trial make_trial(uint32_t count)
{
    struct trial trial = {
        .count = count,
        .packets = malloc(count * (KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX + 16) + 1),
        .responses = aligned_alloc(16, (count + 1) * (size_t)KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES),
        .packet = calloc(count + 1, sizeof(*trial.packet)),
        .results = calloc(count + 1, sizeof(*trial.results)),
        .ids = calloc(count + 1, sizeof(*trial.ids)),
        .spoilt = calloc(count + 1, sizeof(*trial.spoilt)),
    };
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        at += (uint32_t)(random_word() % 16);
        trial.ids[i] = (uint32_t)(200 + random_word() % (2 * ITEMS - 200));
        trial.spoilt[i] = random_word() % 5 == 0;
        trial.packet[i].offset = at;
        trial.packet[i].bytes = make_packet(trial.packets + at, trial.ids[i], trial.spoilt[i]);
        at += trial.packet[i].bytes;
    }
    trial.results[count].status = 77;
    memset(trial.responses, 0xee, (count + 1) * (size_t)KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    return trial;
}

static void free_trial(struct trial *trial)
{
    free(trial->packets);
    free(trial->packet);
    free(trial->results);
    free(trial->responses);
    free(trial->ids);
    free(trial->spoilt);
}

static void check_response(const uint8_t *head, uint32_t bytes, uint32_t id, const char *key,
                           uint32_t key_bytes)
{
    struct kvc_set_assoc_item item = item_of(id);
    struct kvc_memcachedgpu_packet_response response;
    bool held = id < ITEMS;
    cr_assert(kvc_memcachedgpu_packet_read_response(head, bytes, &response));
    cr_assert_eq(response.found, held);
    cr_assert_eq(response.request_id, (uint16_t)id);
    if (held) {
        cr_assert_eq(response.key_bytes, key_bytes);
        cr_assert_eq(memcmp(response.key, key, key_bytes), 0);
        cr_assert_eq(response.flags, item.flags);
        cr_assert_eq(response.value_bytes, item.value_bytes);
    }
    for (uint32_t b = bytes; b % 16 != 0; b++) {
        cr_assert_eq(head[b], 0);
    }
}

/* Checks the answer to packet i; returns whether it is a hit. */
static bool check_answer(const struct trial *trial, uint32_t i)
{
    const struct kvc_memcachedgpu_get_result *result = &trial->results[i];
    if (trial->spoilt[i]) {
        cr_assert_neq(result->status, KVC_MEMCACHEDGPU_PACKET_OK);
        cr_assert_eq(result->location, KVC_LOCATION_NONE);
        cr_assert_eq(result->response_bytes, 0);
        cr_assert_eq(result->key_bytes, 0);
        return false;
    }
    char key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX];
    uint32_t key_bytes = key_of(trial->ids[i], key);
    struct kvc_set_assoc_item item = item_of(trial->ids[i]);
    bool held = trial->ids[i] < ITEMS;
    cr_assert_eq(result->key_bytes, key_bytes);
    cr_assert_eq(result->location, held ? item.location : KVC_LOCATION_NONE);
    cr_assert_eq(result->value_bytes, held ? item.value_bytes : 0);
    if (held && item.value_bytes > KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX) {
        cr_assert_eq(result->status, KVC_MEMCACHEDGPU_PACKET_VALUE_LONG);
        cr_assert_eq(result->response_bytes, 0);
    } else {
        cr_assert_eq(result->status, KVC_MEMCACHEDGPU_PACKET_OK);
        check_response(trial->responses + i * (size_t)KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES,
                       result->response_bytes, trial->ids[i], key, key_bytes);
    }
    return held;
}

static void batch_of(struct kvc_set_assoc *table, uint32_t count)
{
    struct trial trial = make_trial(count);
    struct kvc_index_stats stats = {0};
    kvc_memcachedgpu_get(table,
                         &(struct kvc_memcachedgpu_get_batch){.packets = trial.packets,
                                                              .packet = trial.packet,
                                                              .count = count,
                                                              .now = 9,
                                                              .port = PORT,
                                                              .responses = trial.responses,
                                                              .results = trial.results},
                         &stats);
    uint64_t hits = 0;
    for (uint32_t i = 0; i < count; i++) {
        hits += check_answer(&trial, i);
    }
    cr_assert_eq(trial.results[count].status, 77, "a result behind the batch was written");
    cr_assert_eq(trial.responses[count * (size_t)KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES], 0xee,
                 "a response behind the batch was written");
    cr_assert_eq(stats.searches, count);
    cr_assert_eq(stats.search_hits, hits);
    free_trial(&trial);
}

Test(get, answers_batches_of_any_size)
{
    static const uint32_t sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 512, 1000};
    struct kvc_set_assoc *table = filled();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        batch_of(table, sizes[i]);
    }
    kvc_set_assoc_free(table);
}

/* A hit gets the timestamp of the batch; an incorrect request leaves the table unchanged. */
Test(get, stamps_hits_only)
{
    struct kvc_set_assoc *table = filled();
    size_t bytes = table->table.set_count * (size_t)table->table.set_bytes;
    uint8_t *before = malloc(bytes);
    memcpy(before, table->table.sets, bytes);
    uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
    _Alignas(16) uint8_t response[KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES];
    struct kvc_memcachedgpu_get_packet where = {0, make_packet(packet, 301, false)};
    struct kvc_memcachedgpu_get_result result;
    struct kvc_memcachedgpu_get_batch batch = {.packets = packet,
                                               .packet = &where,
                                               .count = 1,
                                               .now = 55,
                                               .port = PORT + 1,
                                               .responses = response,
                                               .results = &result};
    struct kvc_index_stats stats = {0};
    kvc_memcachedgpu_get(table, &batch, &stats);
    cr_expect_eq(result.status, KVC_MEMCACHEDGPU_PACKET_PORT);
    cr_expect_eq(memcmp(before, table->table.sets, bytes), 0);
    batch.port = PORT;
    kvc_memcachedgpu_get(table, &batch, &stats);
    cr_expect_eq(result.location, 903);
    size_t changed = 0;
    for (size_t i = 0; i < bytes; i++) {
        changed += before[i] != table->table.sets[i];
    }
    cr_expect_eq(changed, 1); /* timestamp 1 became 55 */
    free(before);
    kvc_set_assoc_free(table);
}
