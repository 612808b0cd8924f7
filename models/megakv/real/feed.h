/* Requests in packets, made before a measurement from the scenario's workload: what clients would send, lying
 * in memory (as Mega-KV's authors feed theirs where the network would be the limit). */
#ifndef KVC_MODELS_MEGAKV_REAL_FEED_H
#define KVC_MODELS_MEGAKV_REAL_FEED_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/scenario.h"

struct kvc_megakv_real_feed_frame {
    uint64_t offset; /* of its first request in `bytes` */
    uint32_t bytes, requests;
    double sent_ns; /* intended, from the start; 0 under saturating clients */
};

/* Of one pipeline. Played round and round, each time span_ns later. */
struct kvc_megakv_real_feed {
    uint8_t *bytes;
    uint64_t bytes_room;
    struct kvc_megakv_real_feed_frame *frame;
    uint32_t frames, frame_room;
    double span_ns; /* 0 under saturating clients */
};

void kvc_megakv_real_feed_free(struct kvc_megakv_real_feed *feed); /* a zeroed one is allowed */

/* Fills `count` feeds, one for each pipeline, with up to `bytes` of packets each. Frames go to pipelines in
 * turns under saturating clients, and at random (as RSS hashes flows) in open loop. A SET's value begins with
 * its key's hash. KVC_ERR_SCENARIO: an arrival that cannot be played (closed loop, curve, trace).
 * KVC_ERR_RUNTIME: memory. Nothing is left allocated on failure. */
enum kvc_status kvc_megakv_real_feeds_create(const struct kvc_scenario *scenario, uint64_t hash_seed,
                                             uint32_t frame_requests, uint64_t bytes, uint32_t count,
                                             struct kvc_megakv_real_feed *feeds, struct kvc_diag *diag);

#endif
