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

#include "models/bluecache/nodes.h"

/* Opens the cluster. `scenario`, `shards` and `source` must outlive it. Exits with status 3 if memory is
 * short. */
void kvc_bluecache_cluster_open(struct kvc_bluecache_cluster *cluster, const struct kvc_scenario *scenario,
                                struct kvc_bluecache_shards *shards, struct kvc_source *source,
                                uint64_t seed);
void kvc_bluecache_cluster_close(struct kvc_bluecache_cluster *cluster);

/* Simulates up to time_ns. */
void kvc_bluecache_cluster_advance(struct kvc_bluecache_cluster *cluster, double time_ns);

#endif
