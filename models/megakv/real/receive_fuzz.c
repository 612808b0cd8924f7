/* Fuzz target for the receiver: any bytes become the requests of a batch and the items of a slab store. Keys
 * are padded with zeros and have their hashes, every request that is taken is counted once, and every item
 * that was written reads back. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "models/megakv/real/receive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { ROOM = 64, STRIDE = 16, SEED = 7, BYTES_MAX = 4096 };

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

static void check_keys(const uint8_t *keys, const uint8_t *key_bytes, const uint64_t *hash, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *key = keys + (size_t)i * STRIDE;
        check(key_bytes[i] > 0 && key_bytes[i] <= STRIDE && hash[i] == kvc_hash(key, key_bytes[i], SEED));
        for (uint32_t at = key_bytes[i]; at < STRIDE; at++) {
            check(key[at] == 0);
        }
    }
}

/* Checks that the item of a SET is where its index job says. */
static void check_item(struct kvc_megakv_slab *slab, uint32_t location,
                       const struct kvc_megakv_packet_request *request)
{
    static uint8_t value[BYTES_MAX];
    uint8_t key_bytes = (uint8_t)request->key_bytes, result;
    uint32_t position = 0, value_bytes;
    struct kvc_megakv_slab_stats stats = {0};
    const struct kvc_megakv_slab_reads reads = {.count = 1,
                                                .location = &location,
                                                .keys = request->key,
                                                .key_stride = request->key_bytes,
                                                .key_bytes = &key_bytes,
                                                .compare = true,
                                                .out = value,
                                                .out_bytes = sizeof(value),
                                                .out_position = &position,
                                                .result = &result,
                                                .value_bytes = &value_bytes};
    kvc_megakv_slab_read(slab, &reads, &stats);
    check(result == KVC_MEGAKV_SLAB_HIT && value_bytes == request->value_bytes);
    check(memcmp(value, request->value, value_bytes) == 0);
}

static void check_writes(struct kvc_megakv_real_buffer *buffer, struct kvc_megakv_slab *slab,
                         const struct kvc_megakv_real_frame_writes *writes)
{
    struct kvc_megakv_real_stock stock = {0};
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t rejected = kvc_megakv_real_receive_writes(buffer, slab, writes, &stock, &stats), insert = 0;
    check(buffer->inserts + rejected == buffer->sets);
    for (uint32_t i = 0; i < writes->count && rejected == 0; i++) {
        if (writes->request[i].op == KVC_MEGAKV_PACKET_SET) {
            check(buffer->insert_hash[insert] == writes->hash[i]);
            check_item(slab, buffer->insert_location[insert++], &writes->request[i]);
        }
    }
    check(stats.evicted + buffer->deletes == buffer->erases);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes > BYTES_MAX) {
        return 0;
    }
    struct kvc_megakv_real_buffer buffer;
    struct kvc_megakv_real_frame_writes *writes = kvc_megakv_real_frame_writes_create(STRIDE);
    struct kvc_megakv_slab *slab = kvc_megakv_slab_create((uint64_t)8 * KVC_MEGAKV_SLAB_BYTES, SEED);
    check(writes != NULL && slab != NULL && kvc_megakv_real_buffer_open(&buffer, ROOM, STRIDE, false));
    kvc_megakv_real_receive_frame(&buffer, data, (uint32_t)bytes, SEED, 1, writes);
    check(buffer.rows <= ROOM && buffer.rows == buffer.gets + buffer.sets + buffer.deletes);
    check(writes->count == buffer.sets + buffer.deletes);
    check_keys(buffer.keys, buffer.key_bytes, buffer.hash, buffer.gets);
    check_keys(writes->keys, writes->key_bytes, writes->hash, writes->count);
    check_writes(&buffer, slab, writes);
    kvc_megakv_slab_free(slab);
    free(writes);
    kvc_megakv_real_buffer_close(&buffer);
    return 0;
}
