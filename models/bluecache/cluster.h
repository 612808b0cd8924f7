/* Simulates the nodes of BlueCache: hosts, cards with their DRAM and flash, and the links between cards.
 *
 * A request crosses PCIe in a DMA segment of its host (host.h) to the card there, whose protocol engine takes
 * it out (protocol.h), and, if another node stores its key, goes card after card to that one. The index and
 * all else in the card's DRAM is served one access after another by each of its channels. A pair on flash is
 * read page by page; the controller has a limited number of tags, which requests of the own host and of
 * others get in turn. The response takes the same way back. Responses leave in the order in which they become
 * ready, in bursts.
 *
 * Behind the cache there may be a database (node.database): a GET that misses goes on with a query and a SET
 * of its result, and a SET is an update and then DELETEs (sim/run/cache_aside.h).
 *
 * A GET from a drive fetches only the sectors of its record, wherever they begin in the page.
 *
 * What the log programs, erases and reads to reclaim is done by the same chips (writer.h): reads wait behind
 * it. SETs wait while both write buffers are being programmed.
 *
 * In a sampled run (sample.h), only what the structures do is sampled: all requests go this way.
 *
 * Like a NIC of KV-Direct, the cluster handles its own events up to the engine's time. Real structures run up
 * to 64 requests before the first of them arrives, so that their cache misses overlap.
 *
 * Not modelled: programs and erases take no tags. */
#ifndef KVC_MODELS_BLUECACHE_CLUSTER_H
#define KVC_MODELS_BLUECACHE_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "models/bluecache/host.h"
#include "models/bluecache/protocol.h"
#include "models/bluecache/sample.h"
#include "models/bluecache/writer.h"
#include "sim/base/events.h"
#include "sim/base/ring.h"
#include "sim/base/rng.h"
#include "sim/devices/database.h"
#include "sim/devices/flash/flash_engine.h"
#include "sim/run/answers.h"
#include "sim/run/cache_aside.h"
#include "sim/workload/source/source.h"

enum kvc_bluecache_outcome {
    KVC_BLUECACHE_HIT,
    KVC_BLUECACHE_MISSED,
    KVC_BLUECACHE_SET_DONE,
    KVC_BLUECACHE_DELETE_DONE,
};

struct kvc_bluecache_request;

struct kvc_bluecache_node {
    struct kvc_flash_engine flash;
    uint32_t tags_used;
    struct kvc_bluecache_writer writer;
    struct kvc_ring wanted[2]; /* Pages that wait for a tag: of the own host, and of others. */
    uint32_t turn;             /* Whose turn it is. */
    struct kvc_ring blocked;   /* SETs that wait for a write buffer. */
    struct kvc_batch *staged;  /* Requests that the structures have run or will run next. */
    uint32_t request[KVC_BLUECACHE_RUN_MAX], next;
    struct kvc_bluecache_host host;
    struct kvc_bluecache_protocol protocol;
    double in_free_ns, out_free_ns;
    double *dram_free_ns;                         /* Of each channel. */
    double in_busy_ns, out_busy_ns, dram_busy_ns; /* Since the cluster opened. */
};

struct kvc_bluecache_cluster {
    const struct kvc_scenario *scenario;
    const struct kvc_bluecache_config *config;
    struct kvc_bluecache_shards *shards;
    struct kvc_bluecache_sample sample;
    struct kvc_source *source;
    struct kvc_rng choice; /* Of the store that a saturating host asks, and of channels of the DRAM. */
    struct kvc_events events;
    struct kvc_bluecache_node *node;
    uint32_t *route;      /* kvc_fabric_routes(). */
    double *edge_free_ns; /* Of the links from a node to another: nodes * nodes. */
    double *edge_busy_ns; /* Likewise. */
    struct kvc_database_engine database;
    struct kvc_invalidations invalidations; /* Of the updates. */
    struct kvc_bluecache_request *request;
    uint8_t *keys;           /* Of all requests; NULL without a database. */
    struct kvc_batch *again; /* Holds a request that follows an answer of the database. */
    uint32_t *free_request;
    uint32_t requests, free_count, next_app;
    struct kvc_answers answers;
    uint64_t served, flash_reads,
        remote; /* Since the cluster was opened; `remote`: requests for other nodes. */
    uint64_t segments, flushes, bursts;   /* Likewise. */
    uint64_t gets, dram_hits, flash_hits; /* Likewise: GETs that the stores have served, by place. */
    uint64_t set_bytes;                   /* Likewise: keys and values of SETs. */
    uint64_t kernel_ticks, source_ticks;  /* kvc_clock_ticks() in the structures and in the source. */
    bool started;
};

/* Opens the cluster. `scenario`, `shards` and `source` must outlive it. Exits with status 3 if memory is
 * short. */
void kvc_bluecache_cluster_open(struct kvc_bluecache_cluster *cluster, const struct kvc_scenario *scenario,
                                struct kvc_bluecache_shards *shards, struct kvc_source *source,
                                uint64_t seed);
void kvc_bluecache_cluster_close(struct kvc_bluecache_cluster *cluster);

/* Simulates up to time_ns. */
void kvc_bluecache_cluster_advance(struct kvc_bluecache_cluster *cluster, double time_ns);

#endif
