/** @file
 * A CPU socket: its cores with one or two hardware threads each, and what one request costs on a
 * thread.
 *
 * Each hardware thread serves one request at a time. A request costs compute time, for which it needs the
 * core's issue slots, and stall time, in which the thread waits for memory. Two hyper-threads of a core
 * overlap the stalls of one with the compute of the other, and share the issue slots when both compute: each
 * draws its compute on the core, over its compute and stall time, and SimGrid shares the core.
 *
 * All times hold at `clock`, which is the fastest P-state; at a slower clock, the same work takes longer in
 * proportion. All cores of a socket have one clock. Not modelled: memory-level parallelism inside a thread,
 * turbo, C-states, the time that a change of clock takes, NUMA-remote accesses (shards are local to their
 * socket). */
#ifndef KVC_SIM_DEVICES_CPU_H
#define KVC_SIM_DEVICES_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/node.h"

enum { KVC_CPU_PSTATES_MAX = 32 };

/** One clock that a socket can be set to, and its power there. */
struct kvc_cpu_pstate {
    double clock_hz;        /**< Clock of all cores. */
    double idle_watts;      /**< Power while no core works; NaN: not published. */
    double one_core_watts;  /**< Power while one core works; NaN: not published. */
    double all_cores_watts; /**< Power while all cores work; NaN: not published. */
};

/** Parameters of one socket. */
struct kvc_cpu {
    char name[KVC_TEXT_MAX];   /**< Name of the product, for people. */
    uint64_t cores;            /**< Physical cores per socket. */
    uint64_t threads_per_core; /**< Hardware threads per core: 1, or 2 with hyper-threading. */
    double clock_hz;           /**< Core clock. */
    double
        core_speed_steps_per_ns;   /**< Arithmetic that a core was seen to do while the costs were measured
                                      [steps per ns], for a comparison with other times; 0 or NaN: unknown. */
    double instructions_per_cycle; /**< Instructions that a core completes in a cycle at most; 0: unknown. */
    double sustained_ipc;  /**< Instructions that a core completes in a cycle in code of key-value stores
                              whose lines are in its first-level cache; 0: instructions_per_cycle. */
    double packet_ns;      /**< Compute per request for packet I/O and parsing, in each direction. */
    double operation_ns;   /**< Compute of one key-value operation; 0: unknown. */
    double lookahead_ns;   /**< Compute that a core still does while a load misses; a stall is shorter by this
                              time. */
    double llc_hit_cycles; /**< Stall for a line that the last-level cache holds [core cycles]. */
    double llc_bytes;      /**< Last-level cache, which all cores share; 0: unknown. */
    double root_bytes_per_s; /**< Rate of the PCIe root complex, each way [bytes per second]; 0: unknown. */
    double price_usd;        /**< Price of the processor [US dollars]; 0: unknown. */
    uint32_t pstate_count;   /**< P-states; 0: the socket always runs at clock_hz. */
    struct kvc_cpu_pstate pstates[KVC_CPU_PSTATES_MAX]; /**< P-states, fastest first. */
};

/** The descriptor of a CPU socket. */
extern const struct kvc_device_kind kvc_cpu_kind;

/** Finds the node's CPU. Returns NULL if it has none. */
static inline const struct kvc_cpu *kvc_cpu_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_cpu_kind);
}

/** The descriptor of the cores of a network card, such as a SmartNIC's, which are described as a socket's. */
extern const struct kvc_device_kind kvc_card_cpu_kind;

/** Finds the cores of the node's network card. Returns NULL if it has none. */
static inline const struct kvc_cpu *kvc_card_cpu_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_card_cpu_kind);
}

/** Cost of one request on a hardware thread. */
struct kvc_cpu_cost {
    double compute_ns; /**< Time in which it needs the core's issue slots. */
    double stall_ns;   /**< Time in which it waits for memory. */
};

/** Returns the number of clocks that the socket can be set to, at least 1. */
uint32_t kvc_cpu_pstate_count(const struct kvc_cpu *cpu);

/** Returns P-state `index`, 0 being the fastest. A socket whose profile states none has one at clock_hz,
 * without watts. */
struct kvc_cpu_pstate kvc_cpu_pstate(const struct kvc_cpu *cpu, uint32_t index);

/** Returns how fast a core works in this state, as a fraction of its speed at the fastest clock. */
double kvc_cpu_pstate_speed(const struct kvc_cpu *cpu, uint32_t index);

/** Returns whether all watts of the state are known, so that its energy is too. */
bool kvc_cpu_has_watts(const struct kvc_cpu_pstate *pstate);

/** Finds the P-state that node->cpu_clock_hz names; 0, the fastest, if it names none.
 *
 * Returns KVC_ERR_SCENARIO, with the clocks that there are, if no P-state has this clock, or if the node has
 * no CPU. `*index` is then unchanged. */
enum kvc_status kvc_cpu_pstate_of(const struct kvc_node *node, uint32_t *index, struct kvc_diag *diag);

/** Returns the compute time of an instruction of a key-value store, at the sustained rate; infinite if the
 * profile states no instructions per cycle [ns]. */
double kvc_cpu_instruction_ns(const struct kvc_cpu *cpu);

/** Returns the stall of one hit in the last-level cache [ns]. */
double kvc_cpu_llc_hit_ns(const struct kvc_cpu *cpu);

/** Makes the cores and their caches faster by a factor, for a what-if question. The stated clocks do not
 * change. The root complex belongs to PCIe and does not change either. */
void kvc_cpu_speed_up(struct kvc_cpu *cpu, double factor);

#endif
