#include "models/megakv/real/receive.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/index.h"

struct kvc_megakv_real_frame_writes *kvc_megakv_real_frame_writes_create(uint32_t key_stride)
{
    struct kvc_megakv_real_frame_writes *writes =
        malloc(sizeof(*writes) + (size_t)KVC_MEGAKV_REAL_FRAME_REQUESTS_MAX * key_stride);
    if (writes != NULL) {
        writes->key_stride = key_stride;
    }
    return writes;
}

void kvc_megakv_real_receive_frame(struct kvc_megakv_real_buffer *buffer, const uint8_t *packet,
                                   uint32_t bytes, uint64_t hash_seed, double sent_ns,
                                   struct kvc_megakv_real_frame_writes *writes)
{
    const uint8_t *at = packet, *end = packet + bytes;
    uint32_t first = buffer->gets, gets = first, stride = buffer->key_stride;
    uint32_t first_write = buffer->sets + buffer->deletes, left = buffer->room - buffer->rows, count = 0;
    uint32_t room = left < KVC_MEGAKV_REAL_FRAME_REQUESTS_MAX ? left : KVC_MEGAKV_REAL_FRAME_REQUESTS_MAX;
    struct kvc_megakv_packet_request request;
    for (uint32_t i = 0;
         i < room && kvc_megakv_packet_next(&at, end, &request) && request.key_bytes <= stride; i++) {
        if (request.op == KVC_MEGAKV_PACKET_GET) {
            kvc_megakv_packet_copy_key(buffer->keys + (size_t)gets * stride, stride, &request, end);
            buffer->key_bytes[gets] = (uint8_t)request.key_bytes;
            buffer->sent_ns[gets++] = sent_ns;
            continue;
        }
        kvc_megakv_packet_copy_key(writes->keys + (size_t)count * stride, stride, &request, end);
        writes->key_bytes[count] = (uint8_t)request.key_bytes;
        writes->request[count] = request;
        buffer->write_sent_ns[first_write + count++] = sent_ns;
        buffer->sets += request.op == KVC_MEGAKV_PACKET_SET;
        buffer->deletes += request.op == KVC_MEGAKV_PACKET_DELETE;
    }
    writes->count = count;
    buffer->gets = gets;
    buffer->rows += gets - first + count;
    kvc_hash_batch(buffer->keys + (size_t)first * stride, stride, buffer->key_bytes + first, gets - first,
                   hash_seed, buffer->hash + first);
    kvc_hash_batch(writes->keys, stride, writes->key_bytes, count, hash_seed, writes->hash);
}

static void add_erase(struct kvc_megakv_real_buffer *buffer, uint64_t hash, uint32_t location)
{
    buffer->erase_hash[buffer->erases] = hash;
    buffer->erase_location[buffer->erases++] = location;
}

/* Refills the stock for the size of the request and returns the locations of another size to the slabs. A
 * new size gets one location, because sizes may change with every request; the second refill of a size gets
 * many, if the buffer has room for their erases beside the one erase that each later row may add. */
static void refill(struct kvc_megakv_real_stock *stock, struct kvc_megakv_real_buffer *buffer,
                   struct kvc_megakv_slab *slab, const struct kvc_megakv_packet_request *request,
                   struct kvc_megakv_slab_stats *stats)
{
    struct kvc_megakv_slab_evicted evicted[KVC_MEGAKV_REAL_STOCK_MAX];
    uint32_t evicted_count;
    bool again = stock->key_bytes == request->key_bytes && stock->value_bytes == request->value_bytes;
    bool roomy = buffer->erases + KVC_MEGAKV_REAL_STOCK_MAX <= buffer->rows + buffer->room;
    while (stock->count > 0) {
        kvc_megakv_slab_release(slab, stock->location[--stock->count]);
    }
    stock->key_bytes = request->key_bytes;
    stock->value_bytes = request->value_bytes;
    stock->count = kvc_megakv_slab_alloc(slab, request->key_bytes, request->value_bytes,
                                         again && roomy ? KVC_MEGAKV_REAL_STOCK_MAX : 1, stock->location,
                                         evicted, &evicted_count, stats);
    for (uint32_t i = 0; i < evicted_count; i++) {
        add_erase(buffer, evicted[i].hash, evicted[i].location);
    }
}

/* Returns a location for the item, or KVC_LOCATION_NONE if the slabs have no memory for it. */
static uint32_t take_location(struct kvc_megakv_real_stock *stock, struct kvc_megakv_real_buffer *buffer,
                              struct kvc_megakv_slab *slab, const struct kvc_megakv_packet_request *request,
                              struct kvc_megakv_slab_stats *stats)
{
    if (stock->count == 0 || stock->key_bytes != request->key_bytes ||
        stock->value_bytes != request->value_bytes) {
        refill(stock, buffer, slab, request, stats);
    }
    return stock->count > 0 ? stock->location[--stock->count] : KVC_LOCATION_NONE;
}

uint32_t kvc_megakv_real_receive_writes(struct kvc_megakv_real_buffer *buffer, struct kvc_megakv_slab *slab,
                                        const struct kvc_megakv_real_frame_writes *writes,
                                        struct kvc_megakv_real_stock *stock,
                                        struct kvc_megakv_slab_stats *stats)
{
    uint32_t rejected = 0;
    for (uint32_t i = 0; i < writes->count; i++) {
        const struct kvc_megakv_packet_request *request = &writes->request[i];
        if (request->op == KVC_MEGAKV_PACKET_DELETE) {
            add_erase(buffer, writes->hash[i], KVC_LOCATION_ANY);
            continue;
        }
        uint32_t location = take_location(stock, buffer, slab, request, stats);
        if (location == KVC_LOCATION_NONE) {
            rejected++;
            continue;
        }
        kvc_megakv_slab_write(slab, location, request->key, request->key_bytes, request->value,
                              request->value_bytes, stats);
        buffer->insert_hash[buffer->inserts] = writes->hash[i];
        buffer->insert_location[buffer->inserts++] = location;
    }
    return rejected;
}
