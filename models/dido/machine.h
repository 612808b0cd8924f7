/* The machine that DIDO runs on: a CPU and a GPU that share a memory, on one chip or with a PCIe link
 * between. */
#ifndef KVC_MODELS_DIDO_MACHINE_H
#define KVC_MODELS_DIDO_MACHINE_H

#include "models/dido/config.h"
#include "sim/platform.h"

/* Numbers of its hosts in the platform. */
struct kvc_dido_machine {
    uint32_t cpu; /* Its speed is the number of its cores, so that a stage takes as many as it has. */
    uint32_t gpu;
    uint32_t dram; /* Its speed is the number of its channels. */
    /* Directions of the link, to the GPU and to the CPU; without a link 0, and nothing draws on them. They
     * are hosts, because what crosses them is part of work that draws on several devices at once. */
    uint32_t down, up;
};

/* Adds the devices to an empty platform. */
struct kvc_dido_machine kvc_dido_machine_add(const struct kvc_scenario *scenario,
                                             struct kvc_platform *platform);

#endif
