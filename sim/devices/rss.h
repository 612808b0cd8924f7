/** @file
 * Receive-side scaling: how a NIC spreads the packets of clients over its receive queues.
 *
 * The NIC hashes the addresses and ports of a packet with the Toeplitz hash (Krawczyk, LFSR-based Hashing and
 * Authentication, CRYPTO 1994) under the key of Microsoft's RSS specification, takes the low bits as an index
 * into the indirection table, and finds the queue there. The table deals the queues in turn, as drivers set
 * it by default. All packets of a connection therefore reach the same queue, and a few connections load the
 * queues unevenly, whatever their speed.
 *
 * Every connection of every client has an address of its own, one above that of the connection before it, as
 * with the load generator of Mega-KV (VLDB J. 26(5), 2017, sec. 8.4), and each client has a port. The first
 * address and the ports follow from the seed.
 *
 * Not modelled: keys and hash functions of other vendors, tables that a driver rebalances, flow director and
 * other filters that bypass the hash, and packets without UDP header. */
#ifndef KVC_SIM_DEVICES_RSS_H
#define KVC_SIM_DEVICES_RSS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/diag.h"

/** The fields that are hashed. */
enum kvc_rss_fields {
    KVC_RSS_PORTS,     /**< "ports": addresses and UDP ports. */
    KVC_RSS_ADDRESSES, /**< "addresses": addresses only. */
};

/** Addresses and ports of a packet. */
struct kvc_rss_tuple {
    uint32_t source_address;      /**< IPv4 address of the client: 10.0.0.1 is 0x0a000001. */
    uint32_t destination_address; /**< IPv4 address of the server. */
    uint16_t source_port;         /**< UDP port of the client. */
    uint16_t destination_port;    /**< UDP port of the server. */
};

/** What a table is opened from. */
struct kvc_rss_params {
    uint32_t queues;      /**< Receive queues in use, 1 to `entries`. */
    uint32_t entries;     /**< Size of the indirection table, a power of two up to 65536. */
    int fields;           /**< enum kvc_rss_fields. */
    uint32_t clients;     /**< Clients; kvc_workload_flows(). */
    uint32_t connections; /**< Connections of all clients, a multiple of them; kvc_workload_connections(). */
    uint32_t server;      /**< Number of the socket, which has an address of its own. */
    uint64_t seed;        /**< Seed of the replica. */
};

/** The queues of all connections. */
struct kvc_rss;

/** Returns the Toeplitz hash of `bytes` bytes, up to 36, in network order. */
uint32_t kvc_rss_hash(const uint8_t *input, size_t bytes);

/** Returns the hash of a packet. */
uint32_t kvc_rss_tuple_hash(const struct kvc_rss_tuple *tuple, int fields);

/** Returns the addresses and ports of a connection. */
struct kvc_rss_tuple kvc_rss_tuple_of(const struct kvc_rss_params *params, uint32_t connection);

/** Checks that the table has a power of two entries and that `queues` is 1 to `entries`. */
enum kvc_status kvc_rss_check(uint64_t queues, uint64_t entries, struct kvc_diag *diag);

/** Frees a table. NULL is allowed. */
void kvc_rss_close(struct kvc_rss *rss);

/** Finds the queue of every connection. Returns NULL and fills `diag` if kvc_rss_check() fails. */
struct kvc_rss *kvc_rss_open(const struct kvc_rss_params *params, struct kvc_diag *diag);

/** Returns the queue of a connection, below `queues`. `connection` is below the parameter `connections`. */
uint32_t kvc_rss_queue(const struct kvc_rss *rss, uint32_t connection);

/** Returns the share of the connections that the queue with the most of them has. */
double kvc_rss_hottest_frac(const struct kvc_rss *rss);

#endif
