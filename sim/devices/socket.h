/** @file
 * A socket puts the devices of one CPU socket on the platform: hosts that work and links that bytes
 * cross.
 *
 *     dram  --root-out, nic-tx-->     clients  the ports, each direction the rate of all ports together
 *     dram  <--root-in, nic-rx--      clients
 *     dram  --root-out, pcie-down-->  copy     copies to the GPU, or to another card
 *     dram  <--root-in, pcie-up--     copy     copies back
 *     clients  --nic-rx, root-in, root-out, pcie-down-->  copy  frames that the NIC writes into GPU memory
 *
 * The cpu is cores that work, the dram channels that everyone draws on, the gpu multiprocessors that kernels
 * share. Devices that a node lacks are left out. Copies and packets also draw on the host `dram`, because
 * both end in memory: see struct kvc_draw. The root complex is a pair of links that GPU and NIC share, if the
 * CPU profile states its rate. Hosts and links carry the watts of their profiles; the NIC's watts are halved
 * between its directions. Not modelled: the interconnect between sockets, because every socket serves its own
 * shard of the keys. */
#ifndef KVC_SIM_DEVICES_SOCKET_H
#define KVC_SIM_DEVICES_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/node.h"
#include "sim/platform.h"

enum { KVC_SOCKET_NONE = -1 /**< The number of a device that the node lacks. */ };

/** Numbers of a socket's hosts in the platform. */
struct kvc_socket {
    int32_t cpu;      /**< The cores. */
    int32_t dram;     /**< The memory; its speed is the number of its channels. */
    int32_t gpu;      /**< The multiprocessors of the GPU. */
    int32_t copy;     /**< The copy engines of the GPU or card, where its transfers end. */
    int32_t clients;  /**< The other end of the network card's ports. */
    int32_t nic_rx;   /**< The link from the clients; the number of a link, not of a host. */
    int32_t database; /**< The database of the socket, if its store asks one there. */
    int32_t flash;    /**< The flash of the socket. */
    int32_t cxl;      /**< The memory behind CXL links; its speed is 1. */
};

/** Use of a socket by a store. All zero is a store that sleeps when it has nothing to do. */
struct kvc_socket_use {
    uint32_t gpu_clock; /**< Clock pair in which the GPU begins. */
    bool cpu_polls;     /**< All cores poll, so the processor draws the power of busy cores all the time. */
    /** The cores are one host with the speed of all of them, so that one number stands for their work, and
     * neither cores nor GPU fail during the run. */
    bool is_one;
    bool cores_fail; /**< With is_one: the cores may fail nevertheless. */
    bool gpu_fails;  /**< With is_one: so may the GPU. */
    bool copies;     /**< There are copies over PCIe, also to a card that is no GPU. */
    bool is_fixed;   /**< With is_one: nor do their clocks change. */
    bool gpu_serves; /**< The watts of busy GPUs are means over kernels and the gaps between them, so the
                          card draws them all the time. */
};

/** Adds the devices of a socket, whose names begin with `prefix` and a dot, to a zone of the platform. */
struct kvc_socket kvc_socket_add(struct kvc_platform *platform, uint32_t zone, const char *prefix,
                                 const struct kvc_node *node, struct kvc_socket_use use);

/** Begins a socket of nodes that have node->sockets each. The first socket of a node adds the zone of the
 * node, whose number stays in *zone for the others, and the host "nodeN.rest", which draws node->rest_watts
 * all the time: board, fans, drives and losses. That host is missing if its power is unknown. Sets `prefix`,
 * with which names of the socket's devices begin. */
void kvc_socket_begin(struct kvc_platform *platform, const struct kvc_node *node, uint32_t number,
                      uint32_t *zone, char prefix[KVC_PLATFORM_NAME_MAX / 2]);

#endif
