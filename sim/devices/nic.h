/** @file
 * A NIC is the network ports of one socket: line rate, Ethernet framing, and one receive and one transmit
 * queue per pipeline.
 *
 * Requests and responses are packed into frames of up to the MTU. Each queue gets an equal share of the
 * line rate and of the controller's packet rate, as if by a fair scheduler, so a frame occupies its share for
 * its wire bytes over the line rate or for its part of the packet rate, whichever is longer. Receive-side
 * scaling (sim/devices/rss.h) selects the queue of a frame. A receive ring holds `ring_frames` frames per
 * queue; frames that arrive beyond that are dropped. Not modelled: interrupt moderation (DPDK polls), losses
 * on the wire, and frames whose processing depends on their size. */
#ifndef KVC_SIM_DEVICES_NIC_H
#define KVC_SIM_DEVICES_NIC_H

#include <stdint.h>

#include "sim/devices/node.h"
#include "sim/devices/rss.h"

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
    double idle_watts;              /**< Power of the card when idle; 0: unknown. */
    double busy_watts;              /**< Power of the card at its line rate in both directions; 0: unknown. */
    double price_usd;               /**< Price of the ports of a socket [US dollars]; NaN: unknown. */
};

/** The descriptor of the network ports of a socket. */
extern const struct kvc_device_kind kvc_nic_kind;

/** Finds the node's NIC. Returns NULL if it has none. */
static inline const struct kvc_nic *kvc_nic_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_nic_kind);
}

/** Returns the bytes of a frame that messages can fill. */
double kvc_nic_payload_bytes(const struct kvc_nic *nic);

/** Returns how many messages of `message_bytes` fit into one frame, at least 1: larger messages span
 * frames. */
uint32_t kvc_nic_messages_per_frame(const struct kvc_nic *nic, double message_bytes);

/** Returns the bytes on the wire of messages with a total of `message_bytes`, in frames that are full but for
 * the last one. */
double kvc_nic_wire_bytes(const struct kvc_nic *nic, double message_bytes);

/** Returns the time for which messages with a total of `message_bytes` occupy 1/`queues` of the socket's
 * ports [ns]: that of their wire bytes or that of their packets, whichever is longer. */
double kvc_nic_wire_ns(const struct kvc_nic *nic, double message_bytes, uint32_t queues);

/** Makes the ports faster by a factor, for a question of what would be if: rates and latency. */
void kvc_nic_speed_up(struct kvc_nic *nic, double factor);

/** Checks that the NIC can spread frames over `queues` queues. */
enum kvc_status kvc_nic_check_queues(const struct kvc_nic *nic, uint32_t queues, struct kvc_diag *diag);

/** Returns the parameters of kvc_rss_open() that the NIC knows, for `queues` queues in use. The caller fills
 * in the clients, connections, server and seed. */
struct kvc_rss_params kvc_nic_rss_params(const struct kvc_nic *nic, uint32_t queues);

#endif
