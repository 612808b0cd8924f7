/** @file
 * A fabric connects the cards of the nodes with each other: serial links from card to card, without switches.
 *
 * Every card has a number of links. The topology says which cards are neighbours, and a card spreads its
 * links evenly over the neighbours that a card of this topology has at most. A message takes the shortest
 * way, from card to card, in packets that follow one another. Before a payload, sender and receiver agree on
 * its place: a request, an acknowledgement and then the payload, each of which takes the latency of a hop.
 *
 * Source of the form: BlueCache, VLDB 10(4) 2016, sec. 3.2 and 5.1. */
#ifndef KVC_SIM_DEVICES_FABRIC_H
#define KVC_SIM_DEVICES_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/node.h"

/** The cards that are neighbours. */
enum kvc_fabric_topology {
    KVC_FABRIC_LINE,  /**< "line": in a row. */
    KVC_FABRIC_RING,  /**< "ring": in a row whose ends meet. */
    KVC_FABRIC_MESH,  /**< "mesh": in a grid, as square as possible. */
    KVC_FABRIC_TORUS, /**< "torus": in a grid whose edges meet. */
    KVC_FABRIC_TREE,  /**< "tree": each has two children. */
};

/** Parameters of a fabric. */
struct kvc_fabric {
    char name[KVC_TEXT_MAX]; /**< Name of the product, for people. */
    uint64_t links;          /**< Links of a card. */
    double bytes_per_s;      /**< Rate of one link, each way, for payload. */
    double hop_ns;           /**< Time of a message from card to card, without its bytes. */
    uint64_t messages;       /**< Messages that take the way one after another for one payload. */
    int topology;            /**< enum kvc_fabric_topology. */
};

/** The descriptor of a fabric. */
extern const struct kvc_device_kind kvc_fabric_kind;

/** Finds the node's fabric. Returns NULL if it has none. */
static inline const struct kvc_fabric *kvc_fabric_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_fabric_kind);
}

/** Returns how many neighbours a card has at most. */
uint32_t kvc_fabric_degree(const struct kvc_fabric *fabric, uint32_t nodes);

/** Returns the rate of the links between two neighbours [bytes per second]; 0: there are not enough links. */
double kvc_fabric_edge_bytes_per_s(const struct kvc_fabric *fabric, uint32_t nodes);

/** Returns whether two cards are neighbours. */
bool kvc_fabric_adjacent(const struct kvc_fabric *fabric, uint32_t nodes, uint32_t a, uint32_t b);

/** Fills `next`, nodes * nodes entries: next[a * nodes + b] is the card after `a` on a shortest way to `b`,
 * always the same one of several; next[a * nodes + a] is `a`. */
void kvc_fabric_routes(const struct kvc_fabric *fabric, uint32_t nodes, uint32_t *next);

/** Makes the links faster by a factor, for a question of what would be if. */
void kvc_fabric_speed_up(struct kvc_fabric *fabric, double factor);

#endif
