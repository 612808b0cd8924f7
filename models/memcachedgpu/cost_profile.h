/* What MemcachedGPU's code costs: the GET kernel in cycles of a multiprocessor, and the host's part in time.
 *
 * Cycles and dependent accesses are properties of the code. They are measured on one card and serve for
 * others: cycles over their clock, accesses at their latency. The same is assumed of the host's times and the
 * clock of its cores. What that assumes is that a cycle of another generation does as much work. */
#ifndef KVC_MODELS_MEMCACHEDGPU_COST_PROFILE_H
#define KVC_MODELS_MEMCACHEDGPU_COST_PROFILE_H

#include "sim/devices/node.h"

struct kvc_memcachedgpu_cost_profile {
    char name[KVC_TEXT_MAX];   /* Origin of the costs, for people. */
    double clock_hz;           /* Core clock of the card that was measured. */
    double block_cycles;       /* A block of 32 packets with keys of 16 bytes, besides its accesses. */
    double key_cycles;         /* For each further byte of the longest key in a block. */
    double accesses;           /* Dependent accesses of a block to device memory. */
    double block_shared_bytes; /* Shared memory of a block. */
    double packet_cycles;      /* Of one multiprocessor for a packet, when blocks fill the card. */
    double set_cycles;         /* The kernel of a SET, one warp, besides its accesses. */
    double call_ns;            /* One CUDA call of a host thread: a copy, a launch, an event. */
    double call_polled_ns;     /* The same while other threads ask for events; NaN: not measured. */
    double host_clock_hz;      /* Clock of the cores that the host's times were measured on. */
    double answer_ns;          /* Compute of a post thread for a response, without waiting for memory. */
    double set_ns;             /* Compute of a SET in the network stack and memcached; NaN: not measured. */
};

extern const struct kvc_device_kind kvc_memcachedgpu_cost_profile_kind;

/* Finds the node's costs. Returns NULL if it has none. */
static inline const struct kvc_memcachedgpu_cost_profile *
kvc_memcachedgpu_cost_profile_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_memcachedgpu_cost_profile_kind);
}

#endif
