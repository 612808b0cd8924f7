/* Simulates a BlueCache cluster: the clients, the nodes (nodes.h), the links between cards, and the database.
 *
 * A request crosses PCIe in a DMA segment of its host to the host's card, whose protocol engine takes it out
 * of the segment. If another node stores its key, the request goes from card to card to that node. The store
 * there looks for the key in the card's DRAM and reads its pair from DRAM or flash. The response takes the
 * same path back. Responses reach the host in bursts, in the order in which they become ready.
 *
 * With a database (node.database), a GET that misses continues with a query and a SET of its result, and a
 * SET is an update followed by DELETEs (sim/run/cache_aside.h).
 *
 * A GET from a drive fetches only the sectors of its record, wherever they begin in the page.
 *
 * The chips also do the programs, erases and reclaiming reads of the log (card.h), for which reads wait.
 *
 * In a sampled run (sample.h), only the structures are sampled: all requests take these paths.
 *
 * The cluster handles its own events up to the engine's time. Real structures run up to 64 requests before
 * the first of them arrives, so that their cache misses overlap.
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
