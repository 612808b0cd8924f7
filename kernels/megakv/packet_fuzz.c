/* Fuzz target that takes any bytes as a packet of requests. Every request that is accepted lies inside the
 * packet and has the same bytes if it is written again. The rest does not start with a valid request, and
 * parsing stops at its beginning. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/megakv/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

static void check_request(const uint8_t *at, const uint8_t *behind,
                          const struct kvc_megakv_packet_request *request)
{
    check(request->op < KVC_MEGAKV_PACKET_OPS);
    check(request->key_bytes > 0 && request->key_bytes <= KVC_MEGAKV_PACKET_KEY_MAX);
    check(request->op == KVC_MEGAKV_PACKET_SET || request->value_bytes == 0);
    check(request->key == at + KVC_MEGAKV_PACKET_HEADER_BYTES);
    check(request->value == request->key + request->key_bytes);
    check(behind == request->value + request->value_bytes);
    size_t bytes = kvc_megakv_packet_bytes(request);
    check(bytes == (size_t)(behind - at));
    uint8_t *copy = malloc(bytes);
    check(copy != NULL && kvc_megakv_packet_write(copy, request) == copy + bytes);
    check(memcmp(copy, at, bytes) == 0);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const uint8_t *at = data, *end = data + bytes, *before = at;
    struct kvc_megakv_packet_request request;
    while (kvc_megakv_packet_next(&at, end, &request)) {
        check(at > before && at <= end);
        check_request(before, at, &request);
        before = at;
    }
    check(at == before);
    return 0;
}
