/* The machine of a server that clients reach over RDMA, as a platform: its cores, which serve the requests
 * that the NIC does not, and the ports of its NIC. Their outages stop the server.
 *
 * The cores are one host that works at the speed of all of them, so that one activity stands for what they do
 * in a slice. Not modelled: PCIe and memory, which bound the published baselines less than the NIC does, and
 * power, which is not published for them. */
#ifndef KVC_MODELS_RDMA_MACHINE_H
#define KVC_MODELS_RDMA_MACHINE_H

#include <stdint.h>

#include "sim/platform.h"
#include "sim/scenario.h"

/* Hosts of the machine. */
struct kvc_rdma_machine {
    uint32_t cpu, nic, clients;
};

/* Adds the machine of a resolved scenario to an empty platform. */
struct kvc_rdma_machine kvc_rdma_machine_add(const struct kvc_scenario *scenario,
                                             struct kvc_platform *platform);

#endif
