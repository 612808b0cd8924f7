#include "kernels/memcachedgpu/get.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

enum { PORT = 11211, ITEMS = 500 };

/* Key number `id` is text; numbers below ITEMS are in the table. */
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
        kvc_set_assoc_insert(table, &(struct kvc_set_assoc_keys){(const uint8_t *)key, &offset, &bytes},
                             &item, 1, 1, NULL, &stats);
    }
    cr_assert_eq(stats.evicted + stats.dropped + stats.replaced, 0);
    return table;
}

static const struct kvc_memcachedgpu_packet_ends ends = {
    {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, 0x0a000001, 0x0a000002, 40000, PORT};

/* One packet for key `id`, or, where `spoilt`, one that is not a correct request. */
static uint32_t make_packet(uint8_t *to, uint32_t id, bool spoilt)
{
    char key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX];
    uint32_t bytes = kvc_memcachedgpu_packet_write_get(to, &ends, (uint16_t)id, key, key_of(id, key));
    cr_assert_neq(bytes, 0);
    if (spoilt) {
        switch (random_word() % 4) {
        case 0:
            bytes = (uint32_t)(random_word() % bytes); /* cut */
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

static void batch_of(struct kvc_set_assoc *table, uint32_t count)
{
    uint32_t room = count * (KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX + 16) + 1;
    uint8_t *packets = malloc(room);
    struct kvc_memcachedgpu_get_packet *packet = calloc(count + 1, sizeof(*packet));
    struct kvc_memcachedgpu_get_result *results = calloc(count + 1, sizeof(*results));
    uint8_t *responses = aligned_alloc(16, (count + 1) * (size_t)KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    uint32_t *ids = calloc(count + 1, sizeof(*ids));
    bool *spoilt = calloc(count + 1, sizeof(*spoilt));
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        at += (uint32_t)(random_word() % 16);
        ids[i] = (uint32_t)(200 + random_word() % (2 * ITEMS - 200));
        spoilt[i] = random_word() % 5 == 0;
        packet[i].offset = at;
        packet[i].bytes = make_packet(packets + at, ids[i], spoilt[i]);
        at += packet[i].bytes;
    }
    results[count].status = 77;
    memset(responses, 0xee, (count + 1) * (size_t)KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    struct kvc_index_stats stats = {0};
    kvc_memcachedgpu_get(table,
                         &(struct kvc_memcachedgpu_get_batch){.packets = packets,
                                                              .packet = packet,
                                                              .count = count,
                                                              .now = 9,
                                                              .port = PORT,
                                                              .responses = responses,
                                                              .results = results},
                         &stats);
    uint64_t hits = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct kvc_memcachedgpu_get_result *result = &results[i];
        const uint8_t *head = responses + i * (size_t)KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES;
        if (spoilt[i]) {
            cr_assert_neq(result->status, KVC_MEMCACHEDGPU_PACKET_OK);
            cr_assert_eq(result->location, KVC_LOCATION_NONE);
            cr_assert_eq(result->response_bytes, 0);
            cr_assert_eq(result->key_bytes, 0);
            continue;
        }
        char key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX];
        uint32_t key_bytes = key_of(ids[i], key);
        cr_assert_eq(result->key_bytes, key_bytes);
        struct kvc_set_assoc_item item = item_of(ids[i]);
        bool held = ids[i] < ITEMS;
        hits += held;
        cr_assert_eq(result->location, held ? item.location : KVC_LOCATION_NONE);
        cr_assert_eq(result->value_bytes, held ? item.value_bytes : 0);
        if (held && item.value_bytes > KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX) {
            cr_assert_eq(result->status, KVC_MEMCACHEDGPU_PACKET_VALUE_LONG);
            cr_assert_eq(result->response_bytes, 0);
            continue;
        }
        cr_assert_eq(result->status, KVC_MEMCACHEDGPU_PACKET_OK);
        struct kvc_memcachedgpu_packet_response response;
        cr_assert(kvc_memcachedgpu_packet_read_response(head, result->response_bytes, &response));
        cr_assert_eq(response.found, held);
        cr_assert_eq(response.request_id, (uint16_t)ids[i]);
        if (held) {
            cr_assert_eq(response.key_bytes, key_bytes);
            cr_assert_eq(memcmp(response.key, key, key_bytes), 0);
            cr_assert_eq(response.flags, item.flags);
            cr_assert_eq(response.value_bytes, item.value_bytes);
        }
        for (uint32_t b = result->response_bytes; b % 16 != 0; b++) {
            cr_assert_eq(head[b], 0);
        }
    }
    /* Nothing behind the batch. */
    cr_assert_eq(results[count].status, 77);
    cr_assert_eq(responses[count * (size_t)KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES], 0xee);
    cr_assert_eq(stats.searches, count);
    cr_assert_eq(stats.search_hits, hits);
    free(packets);
    free(packet);
    free(results);
    free(responses);
    free(ids);
    free(spoilt);
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

/* A hit gets the batch's timestamp, a packet that is not a correct request leaves the table as it is. */
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
