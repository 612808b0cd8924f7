/* Main memory as one core sees it: a random line, and the following lines of the same object.
 *
 * Source of the form: Mega-KV (VLDB J. 2017) sec. 2.1.2, Fig. 2: one random line 76 ns, 16 sequential lines
 * 231 ns. */
#ifndef KVC_SIM_DEVICES_DRAM_H
#define KVC_SIM_DEVICES_DRAM_H

#include "sim/devices/node.h"

struct kvc_dram {
    char name[KVC_TEXT_MAX];
    double random_line_ns; /* first line of an object */
    double next_line_ns;   /* each following line, hardware prefetch at work */
    double line_bytes;
    double bytes_per_s; /* peak of the socket, for the bandwidth check */
};

extern const struct kvc_device_kind kvc_dram_kind;

/** The node's dram; NULL if it has none. */
static inline const struct kvc_dram *kvc_dram_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_dram_kind);
}

/* Time to touch `lines` consecutive lines, the first at a random place; 0 lines cost nothing. */
double kvc_dram_object_ns(const struct kvc_dram *dram, double lines);

/* Time to stream `bytes` that follow on from what was streamed before (packet buffers). */
double kvc_dram_stream_ns(const struct kvc_dram *dram, double bytes);

#endif
