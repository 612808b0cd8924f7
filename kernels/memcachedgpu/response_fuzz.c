/* Fuzz target that takes any bytes as the head of a response. A head that is accepted as a hit has a key of a
 * valid length inside the packet, and the number of bytes that its value and the end of the response take is
 * the one in its headers.
 *
 * The first input byte selects what is repaired before parsing, so that mutations get past the checks. Bit 0:
 * lengths, for a value of no bytes. Bit 1: other headers. Bit 2: checksum. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/memcachedgpu/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { BYTES_MAX = 2048, IP_AT = 14, UDP_AT = 34, END_BYTES = 7 /* "\r\nEND\r\n" */ };

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

static void store_16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static void repair(uint8_t *packet, uint32_t bytes, unsigned what)
{
    if (bytes < KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET) {
        return;
    }
    if ((what & 2) != 0) {
        store_16(packet + 12, 0x0800);
        packet[14] = 0x45;
        packet[23] = 17;
        store_16(packet + 44, 0);
        store_16(packet + 46, 1);
    }
    if ((what & 1) != 0) {
        uint32_t at = KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET;
        uint32_t behind = bytes > at && packet[at] == 'V' ? END_BYTES : 0;
        store_16(packet + 16, bytes - IP_AT + behind);
        store_16(packet + 38, bytes - UDP_AT + behind);
    }
    if ((what & 4) != 0) {
        store_16(packet + 24, 0);
        uint32_t checksum = ~kvc_memcachedgpu_packet_ip_sum(packet + IP_AT) & 0xffff;
        packet[24] = (uint8_t)checksum;
        packet[25] = (uint8_t)(checksum >> 8);
    }
}

static void check_hit(const uint8_t *packet, uint32_t bytes,
                      const struct kvc_memcachedgpu_packet_response *response)
{
    const uint8_t *key = response->key;
    check(key == packet + KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET);
    check(response->key_bytes > 0 && response->key_bytes <= KVC_MEMCACHEDGPU_PACKET_KEY_MAX);
    check(key + response->key_bytes < packet + bytes && key[response->key_bytes] == ' ');
    for (uint32_t i = 0; i < response->key_bytes; i++) {
        check(key[i] > ' ');
    }
    check(response->value_bytes <= KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX);
    check(memcmp(packet + bytes - 2, "\r\n", 2) == 0);
    uint32_t ip_bytes = kvc_memcachedgpu_packet_load_16(packet + 16);
    check(ip_bytes == bytes - IP_AT + response->value_bytes + END_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > BYTES_MAX) {
        return 0;
    }
    /* The buffer is exactly as long as the packet, so that sanitizers see reads behind it. */
    uint32_t bytes = (uint32_t)size - 1;
    uint8_t *packet = malloc(bytes > 0 ? bytes : 1);
    check(packet != NULL);
    memcpy(packet, data + 1, bytes);
    repair(packet, bytes, data[0]);
    struct kvc_memcachedgpu_packet_response response;
    if (kvc_memcachedgpu_packet_read_response(packet, bytes, &response)) {
        check(response.request_id == kvc_memcachedgpu_packet_load_16(packet + 42));
        if (response.found) {
            check_hit(packet, bytes, &response);
        } else {
            check(bytes == KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + 5);
        }
    }
    free(packet);
    return 0;
}
