/* CPU socket: cores with hyper-threads, and what one request costs on them.
 *
 * Modelled: each hardware thread serves requests one after the other; a request costs compute time (it needs
 * the core's issue slots) and stall time (the thread waits for memory). Two hyper-threads of a core overlap
 * one's stalls with the other's compute and share the issue slots when both compute (kvc_smt_stretch). Not
 * modelled: memory-level parallelism inside a thread, last-level-cache reuse of hot items, frequency scaling,
 * NUMA-remote accesses (shards are socket-local). */
#ifndef KVC_SIM_DEVICES_CPU_H
#define KVC_SIM_DEVICES_CPU_H

#include <stdint.h>

#include "sim/devices/node.h"

struct kvc_cpu {
    char name[KVC_TEXT_MAX];
    uint64_t cores;            /* physical, per socket */
    uint64_t threads_per_core; /* 1: no hyper-threading, 2 */
    double clock_hz;
    double packet_ns;      /* compute per request for packet I/O and parsing, one direction */
    double llc_hit_cycles; /* stall for a line that the last-level cache holds */
};

extern const struct kvc_device_kind kvc_cpu_kind;

/** The node's cpu; NULL if it has none. */
static inline const struct kvc_cpu *kvc_cpu_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_cpu_kind);
}

/* Cost of one request on a hardware thread. */
struct kvc_cpu_cost {
    double compute_ns;
    double stall_ns;
};

/* The stall of one last-level-cache hit. */
double kvc_cpu_llc_hit_ns(const struct kvc_cpu *cpu);

/* How much longer compute takes while the sibling computes for `sibling_compute_frac` (0..1) of the time: the
 * two take turns, so each of this thread's compute slots waits for the sibling's with that probability. */
double kvc_smt_stretch(double sibling_compute_frac);

#endif
