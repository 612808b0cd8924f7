/** @file
 * DRAM is main memory as one core sees it: an object costs one random line and then sequential ones.
 *
 * Source of the form: Mega-KV (VLDB J. 2017), sec. 2.1.2, fig. 2: one random line takes 76 ns, 16 sequential
 * lines take 231 ns. */
#ifndef KVC_SIM_DEVICES_DRAM_H
#define KVC_SIM_DEVICES_DRAM_H

#include "sim/devices/node.h"

/** Parameters of one socket's memory. */
struct kvc_dram {
    char name[KVC_TEXT_MAX]; /**< Name of the product, for people. */
    double random_line_ns;   /**< Time of an object's first line. */
    double next_line_ns;     /**< Time of each following line, which the hardware prefetches. */
    double line_bytes;       /**< Size of a cache line. */
    double bytes_per_s;      /**< Peak bandwidth of the socket, for the bandwidth check. */
};

/** The descriptor of the memory of a socket. */
extern const struct kvc_device_kind kvc_dram_kind;

/** Finds the node's memory. Returns NULL if it has none. */
static inline const struct kvc_dram *kvc_dram_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_dram_kind);
}

/** Returns the time to touch `lines` consecutive lines, the first one at a random place [ns]. No lines cost
 * nothing. */
double kvc_dram_object_ns(const struct kvc_dram *dram, double lines);

/** Returns the time to stream `bytes` that directly follow the previously streamed ones, as in packet
 * buffers [ns]. */
double kvc_dram_stream_ns(const struct kvc_dram *dram, double bytes);

#endif
