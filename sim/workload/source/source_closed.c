#include "sim/workload/source/source_closed.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/source/source_batch.h"
#include "sim/workload/source/source_requests.h"

/* Draws the next request of a client. It depends only on the client and on how often the client has sent, so
 * that the order of completions has no effect. */
static void draw_for_client(struct kvc_source *source, uint32_t client, uint8_t *op, uint64_t *key_id)
{
    struct kvc_rng rng;
    uint64_t state =
        kvc_mix64(source->client_key + (((uint64_t)client << 32) | source->client_draws[client]++));
    for (int i = 0; i < 4; i++) {
        rng.state[i] = kvc_mix64(state += KVC_SOURCE_GOLDEN);
    }
    kvc_source_draw_ops(source, &rng, op, 1);
    kvc_source_draw_key_ids(source, &rng, key_id, 1);
}

/* Draws the next request of each client and queues it at the shard that owns the key. */
static bool queue_sends(struct kvc_source *source, const uint32_t *client, const double *sent_ns,
                        uint32_t count)
{
    struct kvc_columns *block = &source->block;
    for (uint32_t i = 0; i < count; i++) {
        draw_for_client(source, client[i], &block->op[i], &block->key_id[i]);
        source->client_op[client[i]] = block->op[i];
        source->client_key_id[client[i]] = block->key_id[i];
    }
    if (source->shards > 1) {
        kvc_source_complete_columns(source, *block, count);
        kvc_hash_ring_shards(source->ring, block->hash, count, source->block_shard);
    } else {
        memset(source->block_shard, 0, count * sizeof(*source->block_shard));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!kvc_sends_push(&source->shard[source->block_shard[i]].sends, sent_ns[i], client[i])) {
            kvc_source_out_of_memory(source);
            return false;
        }
    }
    return true;
}

/* Clients of a closed loop have one connection each, until there are more clients than connections. */
static uint32_t connection_of(const struct kvc_source *source, uint32_t client)
{
    return client % kvc_workload_connections(&source->workload);
}

bool kvc_source_peek_closed(const struct kvc_source *source, const struct kvc_source_shard *shard,
                            double until_ns, uint32_t *connection)
{
    if (kvc_sends_next_ns(&shard->sends) > until_ns) {
        return false;
    }
    *connection = connection_of(source, shard->sends.heap[0].client);
    return true;
}

uint32_t kvc_source_drain_closed(struct kvc_source *source, struct kvc_source_shard *shard, double until_ns,
                                 struct kvc_batch *batch)
{
    uint32_t most = kvc_source_room(source, batch), taken = 0;
    while (taken < most && kvc_sends_next_ns(&shard->sends) <= until_ns) {
        struct kvc_columns to = kvc_source_batch_columns(batch);
        uint32_t *client = batch->client + batch->count, count = 0;
        for (; count < KVC_SOURCE_BLOCK && taken < most && kvc_sends_next_ns(&shard->sends) <= until_ns;
             count++, taken++) {
            struct kvc_send send = kvc_sends_pop(&shard->sends);
            client[count] = send.client;
            to.sent_ns[count] = send.sent_ns;
            to.op[count] = source->client_op[send.client];
            to.key_id[count] = source->client_key_id[send.client];
        }
        kvc_source_complete_columns(source, to, count);
        batch->count += count;
    }
    if (taken != 0) {
        batch->left_ns = batch->sent_ns[batch->count - 1];
        batch->connection = connection_of(source, batch->client[batch->count - taken]);
    }
    return taken;
}

void kvc_source_complete_closed(struct kvc_source *source, const uint32_t *client, const double *done_ns,
                                uint32_t count)
{
    double sent_ns[KVC_SOURCE_BLOCK];
    for (uint32_t first = 0, part; first < count; first += part) {
        part = count - first < KVC_SOURCE_BLOCK ? count - first : KVC_SOURCE_BLOCK;
        for (uint32_t i = 0; i < part; i++) {
            sent_ns[i] = done_ns[first + i] + source->workload.think_ns;
        }
        if (!queue_sends(source, client + first, sent_ns, part)) {
            return;
        }
    }
}

bool kvc_source_start_clients(struct kvc_source *source, uint64_t seed)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, "workload.client", 0);
    source->client_key = kvc_rng_u64(&rng);
    uint64_t clients = source->workload.clients;
    source->client_key_id = malloc(clients * sizeof(*source->client_key_id));
    source->client_op = malloc(clients * sizeof(*source->client_op));
    source->client_draws = calloc(clients, sizeof(*source->client_draws));
    if (source->client_key_id == NULL || source->client_op == NULL || source->client_draws == NULL) {
        return false;
    }
    uint32_t client[KVC_SOURCE_BLOCK];
    double sent_ns[KVC_SOURCE_BLOCK];
    for (uint64_t first = 0; first < clients; first += KVC_SOURCE_BLOCK) {
        uint32_t part = clients - first < KVC_SOURCE_BLOCK ? (uint32_t)(clients - first) : KVC_SOURCE_BLOCK;
        for (uint32_t i = 0; i < part; i++) {
            client[i] = (uint32_t)first + i;
            sent_ns[i] = source->workload.think_ns * (double)(first + i) / (double)clients;
        }
        if (!queue_sends(source, client, sent_ns, part)) {
            return false;
        }
    }
    return true;
}
