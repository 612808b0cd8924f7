#include "kernels/memcachedgpu/packet.h"

static void store_16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static void store_32(uint8_t *to, uint32_t value)
{
    store_16(to, value >> 16);
    store_16(to + 2, value & 0xffff);
}

uint32_t kvc_memcachedgpu_packet_write_get(uint8_t *packet, const struct kvc_memcachedgpu_packet_ends *ends,
                                           uint16_t request_id, const void *key, uint32_t key_bytes)
{
    if (key_bytes == 0 || key_bytes > KVC_MEMCACHEDGPU_PACKET_KEY_MAX) {
        return 0;
    }
    uint32_t bytes = KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + key_bytes + 2;
    memset(packet, 0, KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET);
    memcpy(packet, ends->destination_mac, 6);
    memcpy(packet + 6, ends->source_mac, 6);
    store_16(packet + 12, 0x0800);
    packet[14] = 0x45;
    store_16(packet + 16, bytes - 14);
    store_16(packet + 20, 0x4000); /* do not fragment */
    packet[22] = 64;
    packet[23] = 17;
    store_32(packet + 26, ends->source_address);
    store_32(packet + 30, ends->destination_address);
    uint32_t checksum = ~kvc_memcachedgpu_packet_ip_sum(packet + 14) & 0xffff;
    packet[24] = (uint8_t)checksum; /* the sum is little-endian */
    packet[25] = (uint8_t)(checksum >> 8);
    store_16(packet + 34, ends->source_port);
    store_16(packet + 36, ends->destination_port);
    store_16(packet + 38, bytes - 34);
    store_16(packet + 42, request_id);
    store_16(packet + 46, 1);
    memcpy(packet + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, "get ", 4);
    memcpy(packet + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET, key, key_bytes);
    memcpy(packet + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + key_bytes, "\r\n", 2);
    return bytes;
}

/* Parses a decimal number of at most `most` at *at and moves *at behind it. */
static bool read_number(const uint8_t *packet, uint32_t bytes, uint32_t *at, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    uint32_t start = *at;
    while (*at < bytes && packet[*at] >= '0' && packet[*at] <= '9') {
        value = value * 10 + (packet[*at] - '0');
        if (value > most) {
            return false;
        }
        ++*at;
    }
    *number = (uint32_t)value;
    return *at != start;
}

static bool read_byte(const uint8_t *packet, uint32_t bytes, uint32_t *at, uint8_t wanted)
{
    return *at < bytes && packet[(*at)++] == wanted;
}

bool kvc_memcachedgpu_packet_read_response(const uint8_t *packet, uint32_t bytes,
                                           struct kvc_memcachedgpu_packet_response *response)
{
    if (bytes < KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + 5 ||
        kvc_memcachedgpu_packet_load_16(packet + 12) != 0x0800 || packet[14] != 0x45 || packet[23] != 17 ||
        kvc_memcachedgpu_packet_ip_sum(packet + 14) != 0xffff ||
        kvc_memcachedgpu_packet_load_16(packet + 44) != 0 ||
        kvc_memcachedgpu_packet_load_16(packet + 46) != 1) {
        return false;
    }
    uint32_t ip_bytes = kvc_memcachedgpu_packet_load_16(packet + 16);
    uint32_t udp_bytes = kvc_memcachedgpu_packet_load_16(packet + 38);
    *response = (struct kvc_memcachedgpu_packet_response){
        .request_id = (uint16_t)kvc_memcachedgpu_packet_load_16(packet + 42)};
    if (udp_bytes != ip_bytes - 20) {
        return false;
    }
    if (memcmp(packet + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, "END\r\n", 5) == 0) {
        return ip_bytes == bytes - 14 && bytes == KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + 5;
    }
    if (bytes < KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET ||
        memcmp(packet + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, "VALUE ", 6) != 0) {
        return false;
    }
    response->found = true;
    response->key = packet + KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET;
    uint32_t at = KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET;
    while (at < bytes && packet[at] > ' ') {
        at++;
    }
    response->key_bytes = at - KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET;
    uint32_t flags;
    if (!read_byte(packet, bytes, &at, ' ') || !read_number(packet, bytes, &at, UINT16_MAX, &flags) ||
        !read_byte(packet, bytes, &at, ' ') ||
        !read_number(packet, bytes, &at, KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX, &response->value_bytes) ||
        !read_byte(packet, bytes, &at, '\r') || !read_byte(packet, bytes, &at, '\n')) {
        return false;
    }
    response->flags = (uint16_t)flags;
    return at == bytes && response->key_bytes != 0 &&
           response->key_bytes <= KVC_MEMCACHEDGPU_PACKET_KEY_MAX &&
           ip_bytes == bytes - 14 + response->value_bytes + 7;
}

const char *kvc_memcachedgpu_packet_status_name(unsigned status)
{
    static const char *const names[KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT] = {
        [KVC_MEMCACHEDGPU_PACKET_OK] = "ok",
        [KVC_MEMCACHEDGPU_PACKET_SHORT] = "short",
        [KVC_MEMCACHEDGPU_PACKET_NOT_IPV4] = "not IPv4",
        [KVC_MEMCACHEDGPU_PACKET_IP_HEADER] = "IP header",
        [KVC_MEMCACHEDGPU_PACKET_FRAGMENT] = "fragment",
        [KVC_MEMCACHEDGPU_PACKET_NOT_UDP] = "not UDP",
        [KVC_MEMCACHEDGPU_PACKET_CHECKSUM] = "checksum",
        [KVC_MEMCACHEDGPU_PACKET_PORT] = "port",
        [KVC_MEMCACHEDGPU_PACKET_LENGTH] = "length",
        [KVC_MEMCACHEDGPU_PACKET_MULTI_DATAGRAM] = "several datagrams",
        [KVC_MEMCACHEDGPU_PACKET_NOT_GET] = "not get",
        [KVC_MEMCACHEDGPU_PACKET_NO_KEY] = "no key",
        [KVC_MEMCACHEDGPU_PACKET_MULTI_KEY] = "several keys",
        [KVC_MEMCACHEDGPU_PACKET_KEY_LONG] = "key too long",
        [KVC_MEMCACHEDGPU_PACKET_MALFORMED] = "malformed",
        [KVC_MEMCACHEDGPU_PACKET_VALUE_LONG] = "value too long",
    };
    return status < KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT ? names[status] : "unknown";
}
