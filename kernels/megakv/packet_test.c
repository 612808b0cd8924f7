#include "kernels/megakv/packet.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { PACKET_BYTES = 1472 };

static uint32_t fill_packet(uint8_t *packet, uint32_t seed)
{
    static const uint8_t bytes[PACKET_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    uint8_t *at = packet;
    uint32_t count = 0;
    for (;; count++) {
        uint32_t op = (seed + count) % KVC_MEGAKV_PACKET_OPS;
        struct kvc_megakv_packet_request request = {
            op, 1 + (seed * 7 + count * 13) % KVC_MEGAKV_PACKET_KEY_MAX,
            op == KVC_MEGAKV_PACKET_SET ? (seed + count * 31) % 300 : 0, bytes, bytes + count % 8};
        if (at + kvc_megakv_packet_bytes(&request) > packet + PACKET_BYTES) {
            memset(at, 0, (size_t)(packet + PACKET_BYTES - at));
            return count;
        }
        at = kvc_megakv_packet_write(at, &request);
    }
}

Test(megakv_packet, requests_come_back_as_written)
{
    for (uint32_t seed = 0; seed < 200; seed++) {
        uint8_t packet[PACKET_BYTES];
        uint32_t count = fill_packet(packet, seed);
        const uint8_t *at = packet;
        struct kvc_megakv_packet_request request;
        for (uint32_t i = 0; i < count; i++) {
            cr_assert(kvc_megakv_packet_next(&at, packet + PACKET_BYTES, &request));
            cr_assert_eq(request.op, (seed + i) % KVC_MEGAKV_PACKET_OPS);
            cr_assert_eq(request.key_bytes, 1 + (seed * 7 + i * 13) % KVC_MEGAKV_PACKET_KEY_MAX);
            cr_assert_eq(request.key[0], 1);
            cr_assert(request.value_bytes == 0 || request.value[0] == 1 + i % 8);
        }
        cr_assert_not(kvc_megakv_packet_next(&at, packet + PACKET_BYTES, &request), "zeros are no request");
    }
}

/* Keys of all lengths, at the end of their packet (whose memory ends there, too) and before other bytes. */
Test(megakv_packet, copied_keys_are_padded_with_zeros)
{
    for (uint32_t key_bytes = 1; key_bytes <= KVC_MEGAKV_PACKET_KEY_MAX; key_bytes++) {
        for (uint32_t left = 0; left <= 80; left += left < 10 ? 1 : 35) {
            uint32_t least = (key_bytes + 7) / 8 * 8;
            uint8_t *packet = malloc(key_bytes + left), *copy = malloc(least + 9);
            memset(packet, 0xee, key_bytes + left);
            const struct kvc_megakv_packet_request request = {.key = packet, .key_bytes = key_bytes};
            const uint32_t strides[] = {least, least + 8, key_bytes};
            for (int s = 0; s < 3; s++) {
                memset(copy, 0x55, least + 9);
                kvc_megakv_packet_copy_key(copy, strides[s], &request, packet + key_bytes + left);
                for (uint32_t i = 0; i < least + 9; i++) {
                    cr_assert_eq(copy[i], i < key_bytes ? 0xee : i < strides[s] ? 0 : 0x55);
                }
            }
            free(packet);
            free(copy);
        }
    }
}

/* A packet that is truncated anywhere, or has any byte changed, is never read beyond its end. */
Test(megakv_packet, damaged_packets_are_not_overread)
{
    uint8_t whole[PACKET_BYTES];
    fill_packet(whole, 5);
    for (uint32_t bytes = 0; bytes <= 400; bytes++) {
        for (uint32_t change = 0; change < 3; change++) {
            /* exactly as long as the packet, so that a sanitizer sees reads beyond it */
            uint8_t *packet = malloc(bytes != 0 ? bytes : 1);
            memcpy(packet, whole, bytes);
            if (bytes != 0) {
                packet[change * 3 % bytes] ^= (uint8_t)(0x11 << change);
            }
            const uint8_t *at = packet;
            struct kvc_megakv_packet_request request;
            uint32_t sum = 0;
            while (kvc_megakv_packet_next(&at, packet + bytes, &request)) {
                sum += request.key[request.key_bytes - 1];
                sum += request.value_bytes != 0 ? request.value[request.value_bytes - 1] : 0;
            }
            cr_assert(at >= packet && at <= packet + bytes && sum < UINT32_MAX);
            free(packet);
        }
    }
}

Test(megakv_packet, refuses_what_is_no_request)
{
    static const uint64_t bad[] = {
        KVC_MEGAKV_PACKET_OPS | UINT64_C(8) << 16,                     /* the operation does not exist */
        KVC_MEGAKV_PACKET_GET,                                         /* the key is empty */
        KVC_MEGAKV_PACKET_GET | UINT64_C(256) << 16,                   /* the key is too long */
        KVC_MEGAKV_PACKET_GET | UINT64_C(8) << 16 | UINT64_C(1) << 32, /* a GET has no value */
        /* the value is longer than the packet */
        KVC_MEGAKV_PACKET_SET | UINT64_C(8) << 16 | UINT64_C(0xffffffff) << 32,
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        uint8_t packet[512] = {0};
        const uint8_t *at = packet;
        struct kvc_megakv_packet_request request;
        memcpy(packet, &bad[i], sizeof(bad[i]));
        cr_expect_not(kvc_megakv_packet_next(&at, packet + sizeof(packet), &request), "case %zu", i);
        cr_expect_eq(at, packet);
    }
}
