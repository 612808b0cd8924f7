/* A calibrated machine, and its profile as a machine file for scenarios (scenarios/load/hardware.h). */
#ifndef KVC_VALIDATE_PROBES_MACHINE_H
#define KVC_VALIDATE_PROBES_MACHINE_H

#include <stdint.h>
#include <stdio.h>

#include "validate/probes/gpu.h"
#include "validate/probes/handoff.h"
#include "models/megakv/real/launches.h"
#include "validate/probes/memory_latency.h"
#include "validate/probes/probe.h"
#include "models/megakv/real/stage_measurement.h"
#include "validate/probes/cores.h"

struct kvc_machine_facts {
    char cpu[128];  /* the processor's name */
    char date[32];  /* 2026-11-21 */
    uint32_t cores; /* physical, of those that the process may use */
    uint32_t threads_per_core;
    double clock_hz;
    uint64_t memory_bytes;
    uint64_t near_cache_bytes; /* of the largest cache that a core has for itself */
};

/* What the system says of this machine; what it does not say is taken as one core, one thread, 1 GHz. */
void kvc_machine_ask(struct kvc_machine_facts *facts);

struct kvc_machine_report {
    struct kvc_machine_facts facts;
    const char *version; /* of kvcast */
    struct kvc_memory_latency_curve memory;
    struct kvc_megakv_measurement stages;
    struct kvc_gpu_facts gpu;
    struct kvc_megakv_launch_fits launches;
    struct kvc_handoffs handoffs;
    struct kvc_cores cores;
    struct kvc_steadiness steadiness;
};

/* More than this between checks of the same arithmetic: the machine does other things, too. */
#define KVC_MACHINE_BUSY_FRAC 0.05

/* Writes the machine file. Every value has its source and, where it was fitted, its 95 % interval; the
 * measured curves stand behind it as comments. */
void kvc_machine_write(const struct kvc_machine_report *report, FILE *out);

#endif
