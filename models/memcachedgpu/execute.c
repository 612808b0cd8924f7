/* Runs the packets of a batch through the real code: parsers, table, response heads, slabs. */
#include <math.h>
#include <string.h>

#include "models/memcachedgpu/predict.h"
#include "models/memcachedgpu/simulation.h"
#include "models/memcachedgpu/tables.h"
#include "sim/base/clock.h"

enum { PORT = 11211, VALUES_BYTES = 1 << 21 };

void kvc_memcachedgpu_write_heads(struct kvc_memcachedgpu_simulation *simulation)
{
    static const uint8_t any_key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX];
    const struct kvc_memcachedgpu_packet_ends ends = {.source_mac = {2, 0, 0, 0, 0, 1},
                                                      .destination_mac = {2, 0, 0, 0, 0, 2},
                                                      .source_address = 0x0a000001,
                                                      .destination_address = 0x0a000002,
                                                      .source_port = 40000,
                                                      .destination_port = PORT};
    for (uint32_t key_bytes = 1; key_bytes <= KVC_MEMCACHEDGPU_PACKET_KEY_MAX; key_bytes++) {
        uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
        kvc_memcachedgpu_packet_write_get(packet, &ends, 0, any_key, key_bytes);
        memcpy(simulation->head[key_bytes], packet, sizeof(simulation->head[key_bytes]));
    }
}

/* Writes the packets as the clients send them, each at a multiple of the stride. */
static void write_packets(struct kvc_memcachedgpu_server *server, const struct kvc_batch *batch)
{
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    double damaged_frac = simulation->config->options->damaged_frac;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint8_t *packet = simulation->packets + (size_t)i * simulation->packet_stride;
        uint32_t key_bytes = batch->key_bytes[i], bytes = kvc_memcachedgpu_request_bytes(key_bytes);
        uint16_t request_id = (uint16_t)i;
        memcpy(packet, simulation->head[key_bytes], sizeof(simulation->head[key_bytes]));
        memcpy(packet + KVC_MEMCACHEDGPU_PACKET_HEADER_BYTES, &request_id, sizeof(request_id));
        kvc_memcachedgpu_text_key(packet + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET, batch->key_id[i], key_bytes);
        memcpy(packet + bytes - 2, "\r\n", 2);
        if (damaged_frac > 0 && kvc_rng_unit(&server->damage) < damaged_frac) {
            /* Damage hits the IP header or what follows it, because the NIC has already checked the frame's
             * checksum. */
            uint32_t at = 14 + (uint32_t)(kvc_rng_unit(&server->damage) * (bytes - 14));
            packet[at] ^= 0x80;
        }
        simulation->packet[i] = (struct kvc_memcachedgpu_get_packet){i * simulation->packet_stride, bytes};
    }
}

/* Removes an expired item, as memcached does when a GET finds one. */
static void expire(struct kvc_memcachedgpu_server *server, const struct kvc_batch *batch, uint32_t row)
{
    server->shard->expired++;
    kvc_memcachedgpu_store_delete(server->shard, batch->key_id[row], batch->key_bytes[row]);
}

/* Copies the values out of the slabs, and finds the outcomes. */
static void read_items(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job)
{
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    const struct kvc_batch *batch = job->batch;
    double expiry_ns = simulation->config->options->expiry_ns, now_ns = kvc_engine_now_ns();
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct kvc_memcachedgpu_get_result *result = &simulation->results[i];
        bool correct = result->status == KVC_MEMCACHEDGPU_PACKET_OK;
        simulation->location[i] = correct ? result->location : KVC_LOCATION_NONE;
        simulation->read_key_bytes[i] = correct ? result->key_bytes : batch->key_bytes[i];
    }
    const struct kvc_megakv_slab_reads reads = {
        .count = batch->count,
        .location = simulation->location,
        .hash = batch->key_id,
        .keys = simulation->packets + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET,
        .key_stride = simulation->packet_stride,
        .key_bytes = simulation->read_key_bytes,
        .compare = true,
        .out = simulation->values,
        .out_bytes = VALUES_BYTES,
        .out_position = &simulation->values_position,
        .result = simulation->read_result,
    };
    kvc_megakv_slab_read(server->shard->slab, &reads, &server->shard->slab_stats);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint8_t status = simulation->results[i].status;
        bool hit = simulation->read_result[i] == KVC_MEGAKV_SLAB_HIT;
        server->shard->stale += !hit && simulation->location[i] != KVC_LOCATION_NONE;
        if (hit && expiry_ns > 0 &&
            now_ns - *kvc_memcachedgpu_written_ns(server->shard, simulation->location[i]) > expiry_ns) {
            expire(server, batch, i);
            hit = false;
        }
        simulation->bad[status]++;
        job->outcome[i] = status != KVC_MEMCACHEDGPU_PACKET_OK ? KVC_MEMCACHEDGPU_BAD
                          : hit                                ? KVC_MEMCACHEDGPU_HIT
                                                               : KVC_MEMCACHEDGPU_MISS;
        job->head_bytes[i] = simulation->results[i].response_bytes;
    }
}

/* With functional = "off", draws outcomes with the hit ratio of the closed form. */
static void draw_outcomes(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job)
{
    const struct kvc_batch *batch = job->batch;
    for (uint32_t i = 0; i < batch->count; i++) {
        bool hit = kvc_rng_unit(&server->outcome_draw) < server->simulation->hit_frac;
        job->outcome[i] = hit ? KVC_MEMCACHEDGPU_HIT : KVC_MEMCACHEDGPU_MISS;
        job->head_bytes[i] =
            (uint16_t)kvc_memcachedgpu_head_bytes(hit, batch->key_bytes[i], batch->value_bytes[i]);
    }
}

static void run_code(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job)
{
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    uint64_t started = kvc_clock_ticks();
    job->stamp = ++server->shard->stamp;
    job->second = server->second = 1 + (uint64_t)(kvc_engine_now_ns() * 1e-9);
    write_packets(server, job->batch);
    const struct kvc_memcachedgpu_get_batch batch = {.packets = simulation->packets,
                                                     .packet = simulation->packet,
                                                     .count = job->batch->count,
                                                     .now = job->stamp,
                                                     .port = PORT,
                                                     .responses = simulation->responses,
                                                     .results = simulation->results};
    kvc_memcachedgpu_get_from(&server->shard->tables, kvc_memcachedgpu_tables_search, &batch,
                              &server->shard->index_stats);
    read_items(server, job);
    simulation->replica.kernel_ticks += kvc_clock_ticks() - started;
}

void kvc_memcachedgpu_execute(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    const struct kvc_batch *batch = job->batch;
    double lines = NAN, key_bytes = 0;
    job->in_flight = true;
    if (server->shard == NULL) {
        draw_outcomes(server, job);
    } else {
        uint64_t before = server->shard->index_stats.search_lines;
        run_code(server, job);
        lines = (double)(server->shard->index_stats.search_lines - before) / batch->count;
    }
    job->returned_bytes = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        key_bytes += batch->key_bytes[i];
        job->returned_bytes += kvc_memcachedgpu_returned_bytes(job->head_bytes[i]);
    }
    job->sectors = batch->count * kvc_memcachedgpu_packet_sectors(config, key_bytes / batch->count, lines);
}
