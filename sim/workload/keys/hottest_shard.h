/** @file
 * The share of requests that the most loaded shard receives. */
#ifndef KVC_SIM_WORKLOAD_KEYS_HOTTEST_SHARD_H
#define KVC_SIM_WORKLOAD_KEYS_HOTTEST_SHARD_H

#include <stdint.h>

#include "sim/workload/workload.h"

/** Returns the share of the hottest of nodes * sockets shards (sim/workload/keys/hash_ring.h), 0 to 1. Every
 * node has `ring_points` points on the ring; 0: KVC_HASH_RING_POINTS.
 *
 * The shard of a key is random, so the share is a mean over many placements of the keys. If the hottest shard
 * limits the rate of a store, the rate is inverse to the share; the mean is therefore harmonic: its inverse
 * is the mean of the inverses. In each placement the most popular keys are assigned to shards one by one; the
 * contribution of all other keys to a shard is close to normal. The shares of the ring that nodes own differ
 * by chance, too, and the less, the more points the nodes have (sim/workload/keys/hash_ring.h).
 *
 * If every shard has clients of its own (clients_for = "socket"), or if the workload is a trace, whose keys
 * are not known beforehand, the share is 1/shards. If memory is short, the program ends (kvc_out_of_memory).
 */
double kvc_hottest_shard_frac(const struct kvc_workload *workload, uint32_t nodes, uint32_t sockets,
                              uint32_t ring_points);

#endif
