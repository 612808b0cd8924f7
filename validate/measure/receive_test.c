#include "validate/measure/receive.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/index.h"

enum { ROOM = 64, STRIDE = 16, SEED = 7, PACKET_BYTES = 1472 };

static uint32_t write_packet(uint8_t *packet, uint32_t requests)
{
    uint8_t key[STRIDE], value[24], *at = packet;
    memset(value, 9, sizeof value);
    for (uint32_t i = 0; i < requests; i++) {
        memset(key, (int)(i + 1), sizeof key);
        struct kvc_request request = {i % KVC_REQUEST_OPS, 1 + i % STRIDE,
                                      i % KVC_REQUEST_OPS == KVC_REQUEST_SET ? (uint32_t)sizeof value : 0,
                                      key, value};
        at = kvc_request_write(at, &request);
    }
    return (uint32_t)(at - packet);
}

/* Every request becomes a row with its key, zeros behind it, its hash and its time; SETs are listed. */
Test(receive, rows_of_a_frame)
{
    uint8_t packet[PACKET_BYTES], key[STRIDE];
    struct kvc_buffer buffer;
    static struct kvc_frame_sets sets;
    uint32_t bytes = write_packet(packet, 30);
    cr_assert(kvc_buffer_open(&buffer, ROOM, STRIDE, false));
    memset(buffer.keys, 0xff, ROOM * STRIDE);
    kvc_receive_frame(&buffer, packet, bytes, SEED, 125, &sets);
    kvc_receive_frame(&buffer, packet, bytes, SEED, 250, &sets);
    cr_assert_eq(buffer.rows, 60);
    cr_expect_eq(buffer.gets, 20);
    cr_expect_eq(sets.count, 10);
    for (uint32_t row = 0; row < buffer.rows; row++) {
        uint32_t i = row % 30, key_bytes = 1 + i % STRIDE;
        memset(key, 0, sizeof key);
        memset(key, (int)(i + 1), key_bytes);
        cr_expect_eq(memcmp(buffer.keys + row * STRIDE, key, STRIDE), 0, "row %u", row);
        cr_expect_eq(buffer.key_bytes[row], key_bytes);
        cr_expect_eq(buffer.op[row], i % KVC_REQUEST_OPS);
        cr_expect_eq(buffer.hash[row], kvc_hash(key, key_bytes, SEED));
        cr_expect_eq(buffer.location[row], KVC_LOCATION_NONE);
        cr_expect_eq(buffer.sent_ns[row], row < 30 ? 125 : 250);
    }
    for (uint32_t i = 0; i < sets.count; i++) {
        cr_expect_eq(sets.row[i], 30 + 3 * i + KVC_REQUEST_SET);
        cr_expect_eq(sets.request[i].value_bytes, 24);
        cr_expect_eq(sets.request[i].value[23], 9);
    }
    kvc_buffer_close(&buffer);
}

/* Neither a cut packet nor a full buffer is run over. */
Test(receive, ends_of_packets_and_buffers)
{
    uint8_t packet[PACKET_BYTES];
    struct kvc_buffer buffer;
    static struct kvc_frame_sets sets;
    uint32_t bytes = write_packet(packet, 30);
    cr_assert(kvc_buffer_open(&buffer, ROOM, STRIDE, false));
    kvc_receive_frame(&buffer, packet, bytes - 1, SEED, 0, &sets);
    cr_expect_eq(buffer.rows, 29);
    kvc_receive_frame(&buffer, packet, 0, SEED, 0, &sets);
    cr_expect_eq(buffer.rows, 29);
    kvc_receive_frame(&buffer, packet, bytes, SEED, 0, &sets);
    kvc_receive_frame(&buffer, packet, bytes, SEED, 0, &sets);
    cr_expect_eq(buffer.rows, ROOM);
    kvc_buffer_clear(&buffer);
    cr_expect_eq(buffer.rows + buffer.gets, 0);
    kvc_buffer_close(&buffer);
}
