/** @file
 * A CPU socket: its cores with one or two hardware threads each, and what one request costs on a
 * thread.
 *
 * Each hardware thread serves one request at a time. A request costs compute time, for which it needs the
 * core's issue slots, and stall time, in which the thread waits for memory. Two hyper-threads of a core
 * overlap the stalls of one with the compute of the other, and share the issue slots when both compute; see
 * kvc_smt_stretch(). Not modelled: memory-level parallelism inside a thread, reuse of hot items in the
 * last-level cache, frequency scaling, NUMA-remote accesses (shards are local to their socket). */
#ifndef KVC_SIM_DEVICES_CPU_H
#define KVC_SIM_DEVICES_CPU_H

#include <stdint.h>

#include "sim/devices/node.h"

/** Parameters of one socket. */
struct kvc_cpu {
    char name[KVC_TEXT_MAX];   /**< Name of the product, for people. */
    uint64_t cores;            /**< Physical cores per socket. */
    uint64_t threads_per_core; /**< Hardware threads per core: 1, or 2 with hyper-threading. */
    double clock_hz;           /**< Core clock. */
    double packet_ns;          /**< Compute per request for packet I/O and parsing, in each direction. */
    double llc_hit_cycles;     /**< Stall for a line that the last-level cache holds [core cycles]. */
};

/** The descriptor of a CPU socket. */
extern const struct kvc_device_kind kvc_cpu_kind;

/** Finds the node's CPU. Returns NULL if it has none. */
static inline const struct kvc_cpu *kvc_cpu_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_cpu_kind);
}

/** Cost of one request on a hardware thread. */
struct kvc_cpu_cost {
    double compute_ns; /**< Time in which it needs the core's issue slots. */
    double stall_ns;   /**< Time in which it waits for memory. */
};

/** Returns the stall of one hit in the last-level cache [ns]. */
double kvc_cpu_llc_hit_ns(const struct kvc_cpu *cpu);

/** Returns the factor by which compute takes longer while the sibling hyper-thread computes.
 *
 * The two threads take turns at the issue slots, so each slot of this thread waits for one of the sibling's
 * with the probability `sibling_compute_frac` (0 to 1). The factor is 1 to 2. */
double kvc_smt_stretch(double sibling_compute_frac);

#endif
