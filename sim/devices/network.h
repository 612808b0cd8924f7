/** @file
 * A network connects the clients with a node: a direct cable, or switches with a cable on either side.
 *
 * A frame crosses hops + 1 cables and `hops` switches. A cut-through switch sends a frame on while it still
 * arrives, after its latency; a store-and-forward switch first waits for the frame's last bit, which takes
 * its bytes over the link rate. Not modelled: queues in switches, which are empty if every server has a port
 * of its own that is no slower than the sum of what its clients send; losses; and links of different rates.
 *
 * A node of a store without this device has a direct cable, whose latency is part of its NIC's. */
#ifndef KVC_SIM_DEVICES_NETWORK_H
#define KVC_SIM_DEVICES_NETWORK_H

#include <stdint.h>

#include "sim/devices/node.h"

/** Forwarding method of a switch. */
enum kvc_network_forwarding {
    KVC_NETWORK_CUT_THROUGH,       /**< "cut_through": while they arrive. */
    KVC_NETWORK_STORE_AND_FORWARD, /**< "store_and_forward": when they have arrived. */
};

/** Parameters of a network. */
struct kvc_network {
    char name[KVC_TEXT_MAX]; /**< Name of the product, for people. */
    uint64_t hops;           /**< Switches between client and server; 0: a direct cable. */
    double cable_ns;         /**< Time of a signal on one cable [ns]. */
    double switch_ns;        /**< Latency of one switch, first bit in to first bit out [ns]. */
    double bytes_per_s;      /**< Rate of the links. */
    int forwarding;          /**< enum kvc_network_forwarding. */
};

/** The descriptor of a network. */
extern const struct kvc_device_kind kvc_network_kind;

/** Finds the node's network. Returns NULL if it has none. */
static inline const struct kvc_network *kvc_network_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_network_kind);
}

/** Returns the time for which a frame with `wire_bytes` occupies a link [ns]. */
double kvc_network_serialize_ns(const struct kvc_network *network, double wire_bytes);

/** Returns the time from the first bit of a frame with `wire_bytes` at the sender to its first bit at the
 * receiver [ns]. The frame's own time on the receiver's link comes on top. */
double kvc_network_latency_ns(const struct kvc_network *network, double wire_bytes);

/** Returns the one-way latency between a client and the memory of a node [ns]: the sum of the latencies of
 * NIC and network, if the node has them. */
double kvc_network_path_ns(const struct kvc_node *node, double wire_bytes);

/** Makes cables, switches and links faster by a factor, for a question of what would be if. */
void kvc_network_speed_up(struct kvc_network *network, double factor);

#endif
