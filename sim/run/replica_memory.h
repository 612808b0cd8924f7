/** @file
 * Predicts the memory that one replica of a simulated run takes in addition to the store.
 *
 * Memory counts when the system provides it: pages that are reserved and never touched do not. The
 * program itself and an idle engine are not included; they are measured (scenarios/run/limits.h). */
#ifndef KVC_SIM_RUN_REPLICA_MEMORY_H
#define KVC_SIM_RUN_REPLICA_MEMORY_H

#include <stdint.h>

#include "sim/scenario.h"

/** Returns how many keys a store holds when it has been preloaded, of which a sample keeps one in `rate`; 0
 * for rate 0. A store that replays a trace holds at most one key for each row of the file, whose number
 * follows from its size. */
double kvc_replica_stored_keys(const struct kvc_scenario *scenario, uint64_t rate);

/** Returns about how many requests a replica answers at a rate, its warm-up included. An automatic warm-up
 * counts as the shortest one that the recorder accepts. */
double kvc_replica_requests(const struct kvc_scenario *scenario, double window_ns, double rate_mops);

/** Returns the memory of recorder, result and clients of a replica whose recorder has windows of window_ns,
 * and whose clients serve `shards` shards [bytes]. */
double kvc_replica_memory_bytes(const struct kvc_scenario *scenario, double window_ns, uint32_t shards);

#endif
