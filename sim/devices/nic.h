/** @file
 * A NIC is the network ports of one socket: line rate, Ethernet framing, and one receive and one
 * transmit queue per pipeline.
 *
 * Requests and responses are packed into frames of up to the MTU. Each queue gets an equal share of the line
 * rate and of the controller's packet rate, as if by a fair scheduler, so a frame occupies its share for its
 * wire bytes over the line rate or for its part of the packet rate, whichever is longer. Receive-side scaling
 * selects the queue of a frame. A receive ring holds `ring_frames` frames per queue; frames that arrive
 * beyond that are dropped. Not modelled: interrupt moderation (DPDK polls), losses on the wire, and frames
 * whose processing depends on their size.
 *
 * Receive-side scaling: how a NIC spreads the packets of clients over its receive queues.
 *
 * The NIC hashes the addresses and ports of a packet with the Toeplitz hash (Krawczyk, LFSR-based Hashing and
 * Authentication, CRYPTO 1994) under the key of Microsoft's RSS specification, takes the low bits as an index
 * into the indirection table, and finds the queue there. The table deals the queues in turn, as drivers set
 * it by default. All packets of a connection therefore reach the same queue, and a few connections load the
 * queues unevenly, whatever their speed.
 *
 * Every connection of every client has an address of its own, one above the address of the connection before
 * it, as with the load generator of Mega-KV (VLDB J. 26(5), 2017, sec. 8.4), and each client has a port. The
 * first address and the ports follow from the seed.
 *
 * Not modelled: keys and hash functions of other vendors, tables that a driver rebalances, flow director and
 * other filters that bypass the hash, and packets without UDP header. */
#ifndef KVC_SIM_DEVICES_NIC_H
#define KVC_SIM_DEVICES_NIC_H

#include <stddef.h>
#include <stdint.h>

#include "sim/platform.h"
#include "sim/base/diag.h"
#include "sim/devices/node.h"

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

/** Parameters of a table. */
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

/** Frees a table. NULL is allowed. */
void kvc_rss_close(struct kvc_rss *rss);

/** Finds the queue of every connection. Returns NULL and fills `diag` if `entries` is no power of two or
 * `queues` is not 1 to `entries`. */
struct kvc_rss *kvc_rss_open(const struct kvc_rss_params *params, struct kvc_diag *diag);

/** Returns the queue of a connection, below `queues`. `connection` is below the parameter `connections`. */
uint32_t kvc_rss_queue(const struct kvc_rss *rss, uint32_t connection);

/** Returns the share of the connections that the queue with the most of them has. */
double kvc_rss_hottest_frac(const struct kvc_rss *rss);

/** Parameters of one socket's ports. */
struct kvc_nic {
    char name[KVC_TEXT_MAX];        /**< Name of the product, for people. */
    uint64_t ports;                 /**< Ports per socket. */
    double bytes_per_s;             /**< Line rate per port and direction. */
    uint64_t mtu_bytes;             /**< Largest Ethernet payload. */
    uint64_t frame_overhead_bytes;  /**< Wire bytes around the payload: preamble, header, FCS, gap. */
    uint64_t packet_header_bytes;   /**< Payload bytes before the first request: IP, UDP. */
    uint64_t request_header_bytes;  /**< Bytes in front of each request: opcode, key and value length. */
    uint64_t response_header_bytes; /**< Bytes in front of each response: status, lengths. */
    uint64_t ring_frames;           /**< Receive descriptors per queue. */
    double latency_ns;              /**< One way from wire to memory, without the wire time. */
    double packets_per_s;           /**< Frames per second of all ports together, each way; 0: unknown. */
    uint64_t queues;                /**< Most receive queues that RSS can select. */
    uint64_t rss_entries;           /**< Size of the indirection table, a power of two. */
    int rss_fields;                 /**< enum kvc_rss_fields. */
    double idle_watts;              /**< Power of the card when idle; NaN: unknown. */
    double busy_watts;              /**< Power of the card at its line rate in both directions; 0: part of
                                       another device's; NaN: unknown. */
    double price_usd;               /**< Price of the ports of a socket [US dollars]; NaN: unknown. */
};

/** The descriptor of the network ports of a socket. */
extern const struct kvc_device_kind kvc_nic_kind;

/** Finds the node's NIC. Returns NULL if it has none. */
static inline const struct kvc_nic *kvc_nic_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_nic_kind);
}

/** Returns one direction of the NIC as a link without a name. The power of the card is halved between the
 * directions. */
struct kvc_platform_link kvc_nic_port(const struct kvc_nic *nic);

/** Returns the bytes of a frame that messages can fill. */
double kvc_nic_payload_bytes(const struct kvc_nic *nic);

/** Returns how many messages of `message_bytes` fit into one frame, at least 1: larger messages span
 * frames. */
uint32_t kvc_nic_messages_per_frame(const struct kvc_nic *nic, double message_bytes);

/** Returns the bytes on the wire of messages with a total of `message_bytes`, in frames that are full but for
 * the last one. */
double kvc_nic_wire_bytes(const struct kvc_nic *nic, double message_bytes);

/** Returns the time for which messages with a total of `message_bytes` occupy 1/`queues` of the socket's
 * ports [ns]: the time of their wire bytes or of their packets, whichever is longer. */
double kvc_nic_wire_ns(const struct kvc_nic *nic, double message_bytes, uint32_t queues);

/** Returns the same for messages that are divided over at least `frames` frames. */
double kvc_nic_frames_ns(const struct kvc_nic *nic, double message_bytes, double frames, uint32_t queues);

/** Makes the ports faster by a factor, for a question of what would be if: rates and latency. */
void kvc_nic_speed_up(struct kvc_nic *nic, double factor);

/** Checks that the NIC can spread frames over `queues` queues. */
enum kvc_status kvc_nic_check_queues(const struct kvc_nic *nic, uint32_t queues, struct kvc_diag *diag);

/** Returns the parameters of kvc_rss_open() that the NIC knows, for `queues` queues in use. The caller fills
 * in the clients, connections, server and seed. */
struct kvc_rss_params kvc_nic_rss_params(const struct kvc_nic *nic, uint32_t queues);

#endif
