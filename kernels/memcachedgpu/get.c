#include "kernels/memcachedgpu/get.h"

enum {
    /* Packets parsed before their keys are searched: enough to fill the pipeline of the search, few enough
     * for their lines to stay cached. */
    GROUP = 256,
    AHEAD = 16, /* packets that are prefetched before they are parsed */
};

struct group {
    uint32_t offset[GROUP];
    uint8_t bytes[GROUP];
    struct kvc_set_assoc_item item[GROUP];
};

static void parse(const struct kvc_memcachedgpu_get_batch *batch, uint32_t first, uint32_t count,
                  struct group *group)
{
    for (uint32_t i = 0; i < count; i++) {
        if (batch->count - first - i > AHEAD) {
            const uint8_t *ahead = batch->packets + batch->packet[first + i + AHEAD].offset;
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + 64);
        }
        const struct kvc_memcachedgpu_get_packet *packet = &batch->packet[first + i];
        uint32_t key_bytes;
        enum kvc_memcachedgpu_packet_status status = kvc_memcachedgpu_packet_parse(
            batch->packets + packet->offset, packet->bytes, batch->port, &key_bytes);
        group->offset[i] = packet->offset + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET;
        group->bytes[i] = (uint8_t)key_bytes; /* 0 for an incorrect request; such a key is never found */
        batch->results[first + i].status = (uint8_t)status;
    }
}

static void respond(const struct kvc_memcachedgpu_get_batch *batch, uint32_t i, uint32_t key_bytes,
                    const struct kvc_set_assoc_item *item)
{
    struct kvc_memcachedgpu_get_result *result = &batch->results[i];
    result->location = item->location;
    result->value_bytes = item->value_bytes;
    result->key_bytes = (uint8_t)key_bytes;
    result->response_bytes = 0;
    if (result->status != KVC_MEMCACHEDGPU_PACKET_OK) {
        return;
    }
    struct kvc_memcachedgpu_packet_item found = {
        .found = item->location != KVC_LOCATION_NONE, .flags = item->flags, .value_bytes = item->value_bytes};
    const struct kvc_memcachedgpu_get_packet *packet = &batch->packet[i];
    result->response_bytes = (uint16_t)kvc_memcachedgpu_packet_respond(
        batch->packets + packet->offset, packet->bytes, key_bytes, &found,
        batch->responses + (uint64_t)i * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    if (result->response_bytes == 0) {
        result->status = KVC_MEMCACHEDGPU_PACKET_VALUE_LONG;
    }
}

void kvc_memcachedgpu_get_from(void *table, kvc_memcachedgpu_search search,
                               const struct kvc_memcachedgpu_get_batch *batch, struct kvc_index_stats *stats)
{
    struct group group;
    uint32_t count;
    for (uint32_t first = 0; first < batch->count; first += count) {
        count = batch->count - first < GROUP ? batch->count - first : GROUP;
        parse(batch, first, count, &group);
        search(table, &(struct kvc_set_assoc_keys){batch->packets, group.offset, group.bytes}, count,
               batch->now, group.item, stats);
        for (uint32_t i = 0; i < count; i++) {
            respond(batch, first + i, group.bytes[i], &group.item[i]);
        }
    }
}

static void search_sets(void *table, const struct kvc_set_assoc_keys *keys, uint32_t count, uint32_t now,
                        struct kvc_set_assoc_item *items, struct kvc_index_stats *stats)
{
    kvc_table_search(&((struct kvc_set_assoc *)table)->base, keys, count, now, items, stats);
}

void kvc_memcachedgpu_get(struct kvc_set_assoc *table, const struct kvc_memcachedgpu_get_batch *batch,
                          struct kvc_index_stats *stats)
{
    kvc_memcachedgpu_get_from(table, search_sets, batch, stats);
}
