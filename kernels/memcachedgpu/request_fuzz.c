/* libFuzzer target that takes any bytes as a GET packet. Besides what the sanitizers find, it checks the
 * following:
 *  - One thread, and the two independent threads of the GPU, arrive at the same status.
 *  - A key lies inside the packet and has no space or control character, and a line end closes the request.
 *  - The response built for the key, for a hit and for a miss, reads back as what went in and stays within
 *    its slot.
 *  - A batch of one gives the same answer (kvc_memcachedgpu_get).
 *
 * The first input byte selects what is repaired before parsing, so that mutations get past the checks. Bit 0:
 * lengths. Bit 1: other headers. Bit 2: checksum. Bit 3: command and line end. Bits 4 to 7: the value length
 * of the item, divided by 200. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/memcachedgpu/get.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { PORT = 11211, BYTES_MAX = 2048 };

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
        store_16(packet + 20, 0);
        packet[23] = 17;
        store_16(packet + 36, PORT);
        store_16(packet + 44, 0);
        store_16(packet + 46, 1);
    }
    if ((what & 1) != 0) {
        store_16(packet + 16, bytes - 14);
        store_16(packet + 38, bytes - 34);
    }
    if ((what & 4) != 0) {
        store_16(packet + 24, 0);
        uint32_t checksum = ~kvc_memcachedgpu_packet_ip_sum(packet + 14) & 0xffff;
        packet[24] = (uint8_t)checksum;
        packet[25] = (uint8_t)(checksum >> 8);
    }
    if ((what & 8) != 0 && bytes >= KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + 2) {
        memcpy(packet + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, "get ", 4);
        memcpy(packet + bytes - 2, "\r\n", 2);
    }
}

static void check_response(const uint8_t *packet, uint32_t bytes, uint32_t key_bytes,
                           const struct kvc_memcachedgpu_packet_item *item)
{
    _Alignas(16) uint8_t response[KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES + 16];
    memset(response, 0xee, sizeof(response));
    uint32_t head = kvc_memcachedgpu_packet_respond(packet, bytes, key_bytes, item, response);
    check(response[KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES] == 0xee);
    if (head == 0) {
        /* "VALUE ", key, space, flags, space, length, line ends and "END" take at least this much room. */
        check(item->found && item->value_bytes + key_bytes > KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX - 40);
        return;
    }
    struct kvc_memcachedgpu_packet_response read;
    check(kvc_memcachedgpu_packet_read_response(response, head, &read));
    check(read.found == item->found && read.request_id == kvc_memcachedgpu_packet_load_16(packet + 42));
    check(memcmp(response, packet + 6, 6) == 0 && memcmp(response + 6, packet, 6) == 0);
    check(memcmp(response + 26, packet + 30, 4) == 0 && memcmp(response + 30, packet + 26, 4) == 0);
    check(memcmp(response + 34, packet + 36, 2) == 0 && memcmp(response + 36, packet + 34, 2) == 0);
    if (item->found) {
        check(read.key_bytes == key_bytes &&
              memcmp(read.key, packet + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET, key_bytes) == 0);
        check(read.flags == item->flags && read.value_bytes == item->value_bytes);
    }
}

/* The key misses first and hits later, because the table keeps what earlier packets asked for. */
static void check_batch(const uint8_t *packet, uint32_t bytes, enum kvc_memcachedgpu_packet_status status,
                        uint32_t key_bytes)
{
    static struct kvc_set_assoc *table;
    static uint32_t now;
    if (table == NULL) {
        table =
            kvc_set_assoc_create(&(struct kvc_set_assoc_params){.sets = 2, .ways = 16, .key_bytes_max = 250});
        check(table != NULL);
    }
    _Alignas(16) uint8_t response[KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES];
    struct kvc_memcachedgpu_get_packet where = {0, bytes};
    struct kvc_memcachedgpu_get_result result;
    struct kvc_memcachedgpu_get_batch batch = {.packets = packet,
                                               .packet = &where,
                                               .count = 1,
                                               .now = now++,
                                               .port = PORT,
                                               .responses = response,
                                               .results = &result};
    struct kvc_index_stats stats = {0};
    kvc_memcachedgpu_get(table, &batch, &stats);
    check(result.status == status && result.key_bytes == key_bytes);
    if (status != KVC_MEMCACHEDGPU_PACKET_OK) {
        check(result.location == KVC_LOCATION_NONE && result.response_bytes == 0);
        return;
    }
    uint32_t offset = KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET;
    uint8_t length = (uint8_t)key_bytes;
    struct kvc_set_assoc_item item = {.location = now, .value_bytes = 2};
    kvc_table_insert(&table->base, &(struct kvc_set_assoc_keys){packet, &offset, &length}, &item, 1, now++,
                     NULL, &stats);
    kvc_memcachedgpu_get(table, &batch, &stats);
    check(result.status == KVC_MEMCACHEDGPU_PACKET_OK && result.location == item.location &&
          result.value_bytes == 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > BYTES_MAX) {
        return 0;
    }
    uint32_t bytes = (uint32_t)size - 1;
    uint8_t *packet = malloc(bytes + 1);
    check(packet != NULL);
    memcpy(packet, data + 1, bytes);
    /* The buffer is exactly as long as the packet, so that sanitizers see reads behind it. */
    packet = realloc(packet, bytes != 0 ? bytes : 1);
    repair(packet, bytes, data[0]);

    uint32_t key_bytes, text_key_bytes;
    enum kvc_memcachedgpu_packet_status status =
        kvc_memcachedgpu_packet_parse(packet, bytes, PORT, &key_bytes);
    enum kvc_memcachedgpu_packet_status text = kvc_memcachedgpu_packet_get(packet, bytes, &text_key_bytes);
    check(status < KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT);
    check(kvc_memcachedgpu_packet_both(kvc_memcachedgpu_packet_check(packet, bytes, PORT), text) == status);
    check(text_key_bytes <= KVC_MEMCACHEDGPU_PACKET_KEY_MAX &&
          (text_key_bytes != 0) == (text == KVC_MEMCACHEDGPU_PACKET_OK));
    check(text_key_bytes == 0 || KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + text_key_bytes + 2 <= bytes);
    if (bytes >= KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET) {
        _Alignas(16) uint8_t response[KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES];
        kvc_memcachedgpu_packet_begin(packet, bytes,
                                      response); /* the helper thread does not wait for a status */
    }
    if (status == KVC_MEMCACHEDGPU_PACKET_OK) {
        check(key_bytes == text_key_bytes && key_bytes == kvc_memcachedgpu_packet_key_guess(packet, bytes));
        for (uint32_t i = 0; i < key_bytes; i++) {
            check(packet[KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + i] > ' ');
        }
        check(memcmp(packet + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + key_bytes, "\r\n", 2) == 0);
        struct kvc_memcachedgpu_packet_item hit = {.found = true,
                                                   .flags =
                                                       (uint16_t)kvc_memcachedgpu_packet_load_16(packet + 42),
                                                   .value_bytes = (data[0] >> 4) * 200u};
        struct kvc_memcachedgpu_packet_item miss = {.found = false};
        check_response(packet, bytes, key_bytes, &hit);
        check_response(packet, bytes, key_bytes, &miss);
    } else {
        check(key_bytes == 0);
    }
    check_batch(packet, bytes, status, key_bytes);
    free(packet);
    return 0;
}
