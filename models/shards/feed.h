/* Prepared packets of requests in memory, which replace clients and the network.
 *
 * They are made from the scenario's workload before a measurement. Mega-KV's authors feed their store in the
 * same way when the network would be the limit. */
#ifndef KVC_MODELS_SHARDS_FEED_H
#define KVC_MODELS_SHARDS_FEED_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/scenario.h"

struct kvc_shards_feed_frame {
    uint64_t offset; /* Offset of the frame in the feed's `bytes`. */
    uint32_t bytes, requests;
    double sent_ns; /* Intended send time, from the start of a lap; 0 under saturating clients [ns]. */
};

/* The feed of one pipeline. It is played in laps, each of which begins span_ns after the one before. */
struct kvc_shards_feed {
    uint8_t *bytes;
    uint64_t bytes_room;
    struct kvc_shards_feed_frame *frame;
    uint32_t frames, frame_room;
    double span_ns; /* Length of a lap; 0 under saturating clients [ns]. */
};

void kvc_shards_feed_free(struct kvc_shards_feed *feed); /* A zeroed feed is allowed. */

/* Fills `count` feeds, one for each pipeline, with up to `bytes` of packets each. Under saturating clients
 * the frames go to the pipelines in turn; in open loop they go to random pipelines, as RSS hashes flows. A
 * SET's value begins with the hash of its key. The seeds are replica 0's. Returns KVC_ERR_SCENARIO for
 * an arrival that cannot be played (closed loop, curve, trace), and KVC_ERR_RUNTIME if a pipeline gets no
 * frame. After an error nothing stays allocated. Exits with status 3 if memory is short. */
enum kvc_status kvc_shards_feeds_create(const struct kvc_scenario *scenario, uint32_t frame_requests,
                                        uint64_t bytes, uint32_t count, struct kvc_shards_feed *feeds,
                                        struct kvc_diag *diag);

#endif
