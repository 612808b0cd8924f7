/** @file
 * The seeds of a replica.
 *
 * A scenario has one seed. Everything that is random in a replica follows from the seed of that replica,
 * which follows from the scenario's seed and the number of the replica: the hash of keys, which decides on
 * the node, socket or NIC of a key and on its bucket; the points of the nodes on the ring; the order in which
 * a store is filled, what its caches hold at the start, and which entries it displaces; the addresses and
 * ports of clients, from which their receive queues follow; arrivals, operations and keys. Each of them has a
 * stream of its own (rng.h), so that two stores under the same seed see the same requests. */
#ifndef KVC_SIM_BASE_SEEDS_H
#define KVC_SIM_BASE_SEEDS_H

#include <stdint.h>

/** Returns the seed of a replica, counted from 0, of a run with the seed `run_seed`. A measurement, which has
 * no replicas, takes the seed of replica 0. */
uint64_t kvc_seed_of_replica(uint64_t run_seed, uint32_t replica);

/** Returns the seed of a node of a cluster that is simulated apart, in a replica with the seed
 * `replica_seed`. */
uint64_t kvc_seed_of_node(uint64_t replica_seed, uint32_t node);

/** Returns the seed of kvc_hash() in a replica with the seed `replica_seed`. */
uint64_t kvc_seed_of_hash(uint64_t replica_seed);

#endif
