/* The machines of a KV-Direct run as a platform.
 *
 * A node has sockets with a CPU, memory and a root complex, and NICs that are spread over the sockets: NIC i
 * is at socket i mod node.sockets. Each NIC has a card, which can fail, a link to its root complex in each
 * direction, and ports to the clients. Its part of host memory is at its own socket, because only the memory
 * of that socket has less to give to others while the published system works (KV-Direct, SOSP 2017, table 4),
 * or it is interleaved over all sockets; what lies at another socket crosses the links between the two.
 *
 * Power: the host "base" is the whole server without NICs (system.idle_power), as it is published, so CPU and
 * memory have none of their own; and each card always draws its busy power, because the power of the idle
 * card is not published. Not modelled: the switch, because each NIC has a port of its own; limits of the root
 * complex besides its lanes, which are not published; clocks of CPUs, which do nothing in most runs.
 */
#ifndef KVC_MODELS_KVDIRECT_MACHINE_H
#define KVC_MODELS_KVDIRECT_MACHINE_H

#include <stdint.h>

#include "models/kvdirect/config.h"
#include "sim/platform.h"

struct kvc_kvdirect_machine {
    struct kvc_platform *platform; /* Owned by the caller. */
    uint32_t nics, sockets;        /* Number of NICs and sockets of a node. */
    uint32_t *cpu, *dram;          /* Hosts, by socket of all nodes. */
    uint32_t *card;                /* Hosts that work, by NIC of all nodes. */
    uint32_t *port;                /* Hosts where the transfers of a NIC end, by NIC of all nodes. */
    uint32_t *clients;             /* Hosts, by node. */
};

/* Adds the machines of a scenario to an empty platform, which must outlive the machine. */
void kvc_kvdirect_machine_open(struct kvc_kvdirect_machine *machine, const struct kvc_scenario *scenario,
                               struct kvc_platform *platform);

/* Frees the machine, not the platform. A zeroed machine is allowed. */
void kvc_kvdirect_machine_close(struct kvc_kvdirect_machine *machine);

#endif
