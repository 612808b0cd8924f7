/* NIC ports of one socket: line rate, Ethernet framing, one receive and one transmit queue per pipeline.
 *
 * Modelled: requests and responses are packed into frames up to the MTU; each queue gets an equal share of
 * the line rate (a fair scheduler), so a frame's serialisation time is its wire bytes over that share; a
 * receive ring of `ring_frames` per queue, beyond which arriving frames are dropped. Not modelled: interrupt
 * moderation (DPDK polls), switch buffers, losses on the wire. */
#ifndef KVC_SIM_DEVICES_NIC_H
#define KVC_SIM_DEVICES_NIC_H

#include <stdint.h>

#include "sim/devices/node.h"

struct kvc_nic {
    char name[KVC_TEXT_MAX];
    uint64_t ports;                 /* per socket */
    double bytes_per_s;             /* per port and direction */
    uint64_t mtu_bytes;             /* largest Ethernet payload */
    uint64_t frame_overhead_bytes;  /* on the wire around the payload: preamble, header, FCS, gap */
    uint64_t packet_header_bytes;   /* in the payload before the first request: IP, UDP */
    uint64_t request_header_bytes;  /* per request: opcode, key and value length */
    uint64_t response_header_bytes; /* per response: status, lengths */
    uint64_t ring_frames;           /* receive descriptors per queue */
    double latency_ns;              /* one way, wire to memory, without serialisation */
};

extern const struct kvc_device_kind kvc_nic_kind;

/** The node's nic; NULL if it has none. */
static inline const struct kvc_nic *kvc_nic_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_nic_kind);
}

/* Bytes of a frame that messages can fill. */
double kvc_nic_payload_bytes(const struct kvc_nic *nic);

/* How many messages of `message_bytes` fit into one frame (at least 1: larger ones span frames). */
uint32_t kvc_nic_messages_per_frame(const struct kvc_nic *nic, double message_bytes);

/* Time on the wire of `messages` messages of `message_bytes` in all, at a share 1/queues of the socket's
 * rate. */
double kvc_nic_wire_ns(const struct kvc_nic *nic, double message_bytes, uint32_t queues);

#endif
