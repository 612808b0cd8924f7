#include "models/shards/feed.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/megakv/packet.h"
#include "kernels/pages.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/rng.h"
#include "sim/base/seeds.h"
#include "sim/workload/source/source.h"

enum { FRAME_BYTES_MIN = 64 };

static const double for_ever_ns = 1e18;

void kvc_shards_feed_free(struct kvc_shards_feed *feed)
{
    kvc_pages_free(feed->bytes, feed->bytes_room);
    free(feed->frame);
    *feed = (struct kvc_shards_feed){0};
}

struct writer {
    const struct kvc_batch *batch;
    uint8_t *value; /* Value of the largest size; it begins with the hash of the current key. */
};

/* Appends the batch as a frame. Returns false if the feed is full. */
static bool append(struct kvc_shards_feed *feed, const struct writer *writer)
{
    static const uint32_t ops[KVC_OP_COUNT] = {KVC_MEGAKV_PACKET_GET, KVC_MEGAKV_PACKET_SET,
                                               KVC_MEGAKV_PACKET_DELETE};
    const struct kvc_batch *batch = writer->batch;
    uint64_t start =
        feed->frames > 0 ? feed->frame[feed->frames - 1].offset + feed->frame[feed->frames - 1].bytes : 0;
    uint8_t *at = feed->bytes + start, *end = feed->bytes + feed->bytes_room;
    if (feed->frames == feed->frame_room) {
        return false;
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        struct kvc_megakv_packet_request request = {
            ops[batch->op[i]], batch->key_bytes[i], batch->op[i] == KVC_OP_SET ? batch->value_bytes[i] : 0,
            batch->keys + (size_t)i * batch->key_stride, writer->value};
        if (kvc_megakv_packet_bytes(&request) > (uint64_t)(end - at)) {
            return false;
        }
        memcpy(writer->value, &batch->hash[i], sizeof(batch->hash[i]));
        at = kvc_megakv_packet_write(at, &request);
    }
    feed->frame[feed->frames++] = (struct kvc_shards_feed_frame){
        .offset = start,
        .bytes = (uint32_t)(at - (feed->bytes + start)),
        .requests = batch->count,
    };
    return true;
}

/* Fills the feeds until one is full. All get about the same number of frames. */
static enum kvc_status fill(const struct kvc_scenario *scenario, struct kvc_source *source,
                            struct kvc_batch *batch, struct writer *writer, uint32_t count,
                            struct kvc_shards_feed *feeds, struct kvc_diag *diag)
{
    bool open = scenario->workload.arrival != KVC_ARRIVAL_SATURATE;
    double last_ns = 0;
    struct kvc_rng rss;
    kvc_rng_init(&rss, kvc_seed_of_replica(scenario->run.seed, 0), "rss", 0);
    for (uint64_t number = 0;; number++) {
        struct kvc_shards_feed *feed = &feeds[open ? kvc_rng_below(&rss, count) : number % count];
        batch->count = 0;
        if (kvc_source_drain(source, 0, for_ever_ns, batch) == 0) {
            return kvc_source_error(source, diag);
        }
        if (!append(feed, writer)) {
            break;
        }
        if (open) {
            feed->frame[feed->frames - 1].sent_ns = last_ns = batch->left_ns;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        feeds[i].span_ns = last_ns;
        if (feeds[i].frames == 0) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "pipeline %u got no frame of the load", i);
        }
    }
    return KVC_OK;
}

static void open_feeds(uint64_t bytes, uint32_t count, struct kvc_shards_feed *feeds)
{
    for (uint32_t i = 0; i < count; i++) {
        feeds[i] = (struct kvc_shards_feed){.bytes = kvc_pages_alloc(bytes),
                                            .bytes_room = bytes,
                                            .frame_room = (uint32_t)(bytes / FRAME_BYTES_MIN)};
        feeds[i].frame = kvc_array_of(feeds[i].frame_room, sizeof(*feeds[i].frame));
        if (feeds[i].bytes == NULL) {
            kvc_out_of_memory("%u times %llu MiB of packets", count, (unsigned long long)(bytes >> 20));
        }
    }
}

enum kvc_status kvc_shards_feeds_create(const struct kvc_scenario *scenario, uint32_t frame_requests,
                                        uint64_t bytes, uint32_t count, struct kvc_shards_feed *feeds,
                                        struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    struct kvc_source_params params =
        kvc_scenario_source(scenario, 1, kvc_seed_of_replica(scenario->run.seed, 0));
    params.frame_requests = frame_requests;
    memset(feeds, 0, count * sizeof(*feeds));
    if (workload->arrival != KVC_ARRIVAL_SATURATE && workload->arrival != KVC_ARRIVAL_POISSON &&
        workload->arrival != KVC_ARRIVAL_FIXED) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.arrival: a measurement allows \"saturate\", poisson_mops and fixed_mops");
    }
    if (kvc_workload_has_multigets(workload) || workload->tenant_count > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.%s: a measurement allows none, because it does not tell requests apart",
            workload->tenant_count > 0 ? "tenants" : "multiget");
    }
    uint32_t value_bytes = kvc_workload_value_bytes_max(workload);
    struct kvc_source *source = kvc_source_create(&params, diag);
    struct kvc_batch *batch = kvc_batch_create(frame_requests, kvc_workload_key_stride(workload));
    struct writer writer = {batch, kvc_array_of(value_bytes > 8 ? value_bytes : 8, 1)};
    enum kvc_status status = source != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK) {
        open_feeds(bytes, count, feeds);
        status = fill(scenario, source, batch, &writer, count, feeds, diag);
    }
    for (uint32_t i = 0; status != KVC_OK && i < count; i++) {
        kvc_shards_feed_free(&feeds[i]);
    }
    free(writer.value);
    kvc_batch_free(batch);
    kvc_source_free(source);
    return status;
}
