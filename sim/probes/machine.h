/* The machine that we run on: what its system reports, what the probes measured, and that part of its machine
 * file. */
#ifndef KVC_SIM_PROBES_MACHINE_H
#define KVC_SIM_PROBES_MACHINE_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/probes/cores.h"
#include "sim/probes/gpu.h"
#include "sim/probes/handoff.h"
#include "sim/probes/memory_latency.h"
#include "sim/probes/profile.h"
#include "sim/probes/steadiness.h"

struct kvc_machine_facts {
    char cpu[128];             /* Name of the processor. */
    char date[32];             /* Today, like 2026-11-21. */
    uint32_t cores;            /* Physical cores among those that the process may use. */
    uint32_t threads_per_core; /* Hardware threads of a core, 1 or 2. */
    double clock_hz;
    uint64_t memory_bytes;     /* Main memory [bytes]. */
    uint64_t near_cache_bytes; /* Size of the largest cache that a core has for itself [bytes]. */
};

/* Fills in what the system reports. The default is one thread per core, 1 GHz and a 1 MiB cache. */
void kvc_machine_ask(struct kvc_machine_facts *facts);

/* Checks that enough memory is free for a calibration. KVC_ERR_RUNTIME: it is less than `needed_bytes`. */
enum kvc_status kvc_machine_check_memory(double needed_bytes, struct kvc_diag *diag);

struct kvc_probed_machine {
    struct kvc_machine_facts facts;
    struct kvc_memory_latency_curve memory;
    struct kvc_handoffs handoffs;
    struct kvc_cores cores;
    struct kvc_gpu_facts gpu; /* Without a GPU, one thread of the processor stands in for it. */
};

/* A new profile with what the probes measured. It has places for the fields cpu.packet, dram.random_line and
 * dram.next_line, which only a store's own code can measure, and for cpu.core_speed. `version` is the version
 * of kvcast. Free it with kvc_profile_free. */
struct kvc_profile *kvc_machine_profile(const struct kvc_probed_machine *machine, const char *version);

/* Adds cpu.core_speed at the end of a calibration, or a comment line that says why its value is not known:
 * hardware threads that share a core slow each other down. What a thread is seen to do then depends on what
 * its sibling does, which the simulation charges by itself, so the clock does not tell how fast a core is. */
void kvc_machine_add_core_speed(const struct kvc_probed_machine *machine,
                                const struct kvc_steadiness *steadiness, struct kvc_profile *profile);

/* Adds the measured curves of handoffs, cores and memory as comment lines, and how steady the machine was. */
void kvc_machine_comment(const struct kvc_probed_machine *machine, const struct kvc_steadiness *steadiness,
                         struct kvc_profile *profile);

#endif
