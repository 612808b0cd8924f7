#include "models/megakv/real/receive.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/index.h"

enum { ROOM = 64, STRIDE = 16, SEED = 7, PACKET_BYTES = 1472 };

static uint32_t write_packet(uint8_t *packet, uint32_t requests)
{
    uint8_t key[STRIDE], value[24], *at = packet;
    memset(value, 9, sizeof(value));
    for (uint32_t i = 0; i < requests; i++) {
        memset(key, (int)(i + 1), sizeof(key));
        struct kvc_megakv_packet_request request = {
            i % KVC_MEGAKV_PACKET_OPS, 1 + i % STRIDE,
            i % KVC_MEGAKV_PACKET_OPS == KVC_MEGAKV_PACKET_SET ? (uint32_t)sizeof(value) : 0, key, value};
        at = kvc_megakv_packet_write(at, &request);
    }
    return (uint32_t)(at - packet);
}

static void expect_key(const uint8_t *found, uint32_t i)
{
    uint8_t key[STRIDE] = {0};
    memset(key, (int)(i + 1), 1 + i % STRIDE);
    cr_expect_eq(memcmp(found, key, STRIDE), 0, "request %u", i);
}

/* GETs become rows with zero-padded keys, hashes and times. SETs and DELETEs are listed. */
Test(receive, requests_of_a_frame)
{
    uint8_t packet[PACKET_BYTES];
    struct kvc_megakv_real_buffer buffer;
    struct kvc_megakv_real_frame_writes *writes = kvc_megakv_real_frame_writes_create(STRIDE);
    uint32_t bytes = write_packet(packet, 30);
    cr_assert(writes != NULL && kvc_megakv_real_buffer_open(&buffer, ROOM, STRIDE, false));
    memset(buffer.keys, 0xff, ROOM * STRIDE);
    kvc_megakv_real_receive_frame(&buffer, packet, bytes, SEED, 125, writes);
    kvc_megakv_real_receive_frame(&buffer, packet, bytes, SEED, 250, writes);
    cr_assert_eq(buffer.rows, 60);
    cr_assert_eq(buffer.gets, 20);
    cr_expect_eq(buffer.sets, 20);
    cr_expect_eq(buffer.deletes, 20);
    cr_assert_eq(writes->count, 20);
    for (uint32_t row = 0; row < buffer.gets; row++) {
        uint32_t i = row % 10 * KVC_MEGAKV_PACKET_OPS + KVC_MEGAKV_PACKET_GET;
        const uint8_t *key = buffer.keys + row * STRIDE;
        expect_key(key, i);
        cr_expect_eq(buffer.key_bytes[row], 1 + i % STRIDE);
        cr_expect_eq(buffer.hash[row], kvc_hash(key, buffer.key_bytes[row], SEED));
        cr_expect_eq(buffer.sent_ns[row], row < 10 ? 125 : 250);
    }
    for (uint32_t w = 0; w < writes->count; w++) {
        uint32_t i = w / 2 * KVC_MEGAKV_PACKET_OPS + KVC_MEGAKV_PACKET_SET + w % 2;
        expect_key(writes->keys + w * STRIDE, i);
        cr_expect_eq(writes->request[w].op, i % KVC_MEGAKV_PACKET_OPS);
        cr_expect_eq(writes->hash[w], kvc_hash(writes->keys + w * STRIDE, writes->key_bytes[w], SEED));
        if (writes->request[w].op == KVC_MEGAKV_PACKET_SET) {
            cr_expect_eq(writes->request[w].value[23], 9);
        }
        cr_expect_eq(buffer.write_sent_ns[w], 125);
        cr_expect_eq(buffer.write_sent_ns[20 + w], 250);
    }
    free(writes);
    kvc_megakv_real_buffer_close(&buffer);
}

/* Reading stops at the end of a truncated packet and when the buffer is full. */
Test(receive, ends_of_packets_and_buffers)
{
    uint8_t packet[PACKET_BYTES];
    struct kvc_megakv_real_buffer buffer;
    struct kvc_megakv_real_frame_writes *writes = kvc_megakv_real_frame_writes_create(STRIDE);
    uint32_t bytes = write_packet(packet, 30);
    cr_assert(writes != NULL && kvc_megakv_real_buffer_open(&buffer, ROOM, STRIDE, false));
    kvc_megakv_real_receive_frame(&buffer, packet, bytes - 1, SEED, 0, writes);
    cr_expect_eq(buffer.rows, 29);
    kvc_megakv_real_receive_frame(&buffer, packet, 0, SEED, 0, writes);
    cr_expect_eq(buffer.rows, 29);
    kvc_megakv_real_receive_frame(&buffer, packet, bytes, SEED, 0, writes);
    kvc_megakv_real_receive_frame(&buffer, packet, bytes, SEED, 0, writes);
    cr_expect_eq(buffer.rows, ROOM);
    kvc_megakv_real_buffer_clear(&buffer);
    cr_expect_eq(buffer.rows + buffer.gets + buffer.sets + buffer.deletes, 0);
    free(writes);
    kvc_megakv_real_buffer_close(&buffer);
}

/* A key that is too long for the batch ends the reading of any request. */
Test(receive, ends_at_a_key_that_is_too_long)
{
    for (uint32_t op = 0; op < KVC_MEGAKV_PACKET_OPS; op++) {
        uint8_t packet[PACKET_BYTES], key[STRIDE + 1] = {0};
        struct kvc_megakv_real_buffer buffer;
        struct kvc_megakv_real_frame_writes *writes = kvc_megakv_real_frame_writes_create(STRIDE);
        struct kvc_megakv_packet_request fits = {op, STRIDE, 0, key, key},
                                         long_one = {op, STRIDE + 1, 0, key, key};
        uint8_t *at = kvc_megakv_packet_write(packet, &fits);
        at = kvc_megakv_packet_write(kvc_megakv_packet_write(at, &long_one), &fits);
        cr_assert(writes != NULL && kvc_megakv_real_buffer_open(&buffer, ROOM, STRIDE, false));
        kvc_megakv_real_receive_frame(&buffer, packet, (uint32_t)(at - packet), SEED, 0, writes);
        cr_expect_eq(buffer.rows, 1);
        cr_expect_eq(buffer.gets + writes->count, 1);
        free(writes);
        kvc_megakv_real_buffer_close(&buffer);
    }
}

static struct kvc_megakv_real_frame_writes *sets_of(struct kvc_megakv_real_buffer *buffer, uint8_t *packet,
                                                    uint64_t first, uint32_t value_bytes)
{
    static const uint8_t value[64];
    struct kvc_megakv_real_frame_writes *writes = kvc_megakv_real_frame_writes_create(8);
    uint8_t *at = packet;
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t key = first + i;
        struct kvc_megakv_packet_request request = {KVC_MEGAKV_PACKET_SET, 8, value_bytes,
                                                    (const uint8_t *)&key, value};
        at = kvc_megakv_packet_write(at, &request);
    }
    kvc_megakv_real_receive_frame(buffer, packet, (uint32_t)(at - packet), SEED, 0, writes);
    return writes;
}

/* Every SET gets a location of its own and an index job. A stock of one size is not used for another size,
 * and items that are evicted for the stock get index jobs too. */
Test(receive, sets_are_stored_out_of_stock)
{
    uint8_t packet[PACKET_BYTES];
    struct kvc_megakv_real_buffer buffer;
    struct kvc_megakv_real_stock stock = {0};
    struct kvc_megakv_slab_stats stats = {0};
    struct kvc_megakv_slab *slab = kvc_megakv_slab_create(KVC_MEGAKV_SLAB_BYTES, SEED);
    uint64_t places = KVC_MEGAKV_SLAB_BYTES / kvc_megakv_slab_item_bytes(8, 40), stored = 0, erases = 0;
    cr_assert(slab != NULL && kvc_megakv_real_buffer_open(&buffer, ROOM, 8, false));
    for (uint64_t round = 0; stored < places + 100; round++) {
        struct kvc_megakv_real_frame_writes *writes = sets_of(&buffer, packet, round * 10, 40);
        cr_assert_eq(kvc_megakv_real_receive_writes(&buffer, slab, writes, &stock, &stats), 0);
        cr_assert_eq(buffer.inserts, 10);
        for (uint32_t i = 0; i < 10; i++) {
            cr_assert_eq(buffer.insert_hash[i], writes->hash[i]);
            for (uint32_t j = 0; j < i; j++) {
                cr_assert_neq(buffer.insert_location[i], buffer.insert_location[j]);
            }
        }
        stored += 10;
        erases += buffer.erases;
        kvc_megakv_real_buffer_clear(&buffer);
        free(writes);
    }
    cr_expect_geq(erases, stored - places);
    cr_expect_leq(erases, stored + KVC_MEGAKV_REAL_STOCK_MAX - places);
    struct kvc_megakv_real_frame_writes *writes = sets_of(&buffer, packet, 0, 8);
    cr_expect_eq(kvc_megakv_real_receive_writes(&buffer, slab, writes, &stock, &stats), 10,
                 "no slab is left for this size");
    cr_expect_eq(stock.count, 0);
    free(writes);
    kvc_megakv_real_buffer_close(&buffer);
    kvc_megakv_slab_free(slab);
}
