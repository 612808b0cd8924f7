/* The machine that DIDO runs on: a chip with a CPU and a GPU that share its memory. */
#ifndef KVC_MODELS_DIDO_MACHINE_H
#define KVC_MODELS_DIDO_MACHINE_H

#include "models/dido/config.h"
#include "sim/platform.h"

/* Numbers of its hosts in the platform. */
struct kvc_dido_machine {
    uint32_t cpu; /* Its speed is the number of its cores, so that a stage takes as many as it has. */
    uint32_t gpu;
    uint32_t dram; /* Its speed is the number of its channels. */
};

/* Adds the devices to an empty platform. */
struct kvc_dido_machine kvc_dido_machine_add(const struct kvc_scenario *scenario,
                                             struct kvc_platform *platform);

#endif
