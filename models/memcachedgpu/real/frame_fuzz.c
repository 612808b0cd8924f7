/* Fuzz target that takes any bytes as the frame of a response, which the measured runtime checks. The first
 * byte selects what is repaired. Bit 0: the lengths in the headers. Bit 1: the checksum. Bit 2: the end of
 * the response, "\r\nEND\r\n". The target asserts that an accepted frame ends as the protocol says. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/memcachedgpu/real/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { IP_AT = 14, UDP_AT = 34 };

static const char end_of_hit[] = "\r\nEND\r\n";

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

static void repair(uint8_t *frame, uint32_t bytes, unsigned what)
{
    if (bytes < KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + sizeof(end_of_hit)) {
        return;
    }
    if ((what & 1) != 0) {
        store_16(frame + 16, bytes - IP_AT);
        store_16(frame + 38, bytes - UDP_AT);
    }
    if ((what & 2) != 0) {
        store_16(frame + 24, 0);
        uint32_t checksum = ~kvc_memcachedgpu_packet_ip_sum(frame + IP_AT) & 0xffff;
        frame[24] = (uint8_t)checksum;
        frame[25] = (uint8_t)(checksum >> 8);
    }
    if ((what & 4) != 0) {
        memcpy(frame + bytes - (sizeof(end_of_hit) - 1), end_of_hit, sizeof(end_of_hit) - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > KVC_MEMCACHEDGPU_REAL_FRAME_BYTES) {
        return 0;
    }
    /* The buffer is exactly as long as the frame, so that sanitizers see reads beyond its end. */
    uint32_t bytes = (uint32_t)size - 1;
    uint8_t *frame = malloc(bytes > 0 ? bytes : 1);
    check(frame != NULL);
    memcpy(frame, data + 1, bytes);
    repair(frame, bytes, data[0]);
    if (kvc_memcachedgpu_real_frame_is_right(frame, bytes)) {
        check(bytes >= KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + 5);
        check(memcmp(frame + bytes - 5, "END\r\n", 5) == 0);
    }
    free(frame);
    return 0;
}
