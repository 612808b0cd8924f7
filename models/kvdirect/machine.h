/* The machines of a KV-Direct run as a platform, and what its NICs take from devices that they share.
 *
 * A node has sockets with a CPU, memory and a root complex, and NICs that are spread over the sockets: NIC i
 * is at socket i mod node.sockets. Each NIC has a link to its root complex in each direction. Its part of
 * host memory is at its own socket, because only the memory of that socket has less to give to others while
 * the published system works (KV-Direct, SOSP 2017, table 4), or it is interleaved over all sockets; what
 * lies at another socket crosses the links between the two. After each slice a NIC posts the channel time of
 * its memory accesses, the bytes that it moved each way, and the core time of its daemon and gathering cores
 * (sim/run/slice_mover.h). How long memory, root complex and the links between sockets took for it, over the
 * time that its own link would take, slows its next slices down.
 *
 * Power: the whole server without NICs (system.idle_power), and each card. Not modelled: the ports and the
 * switch as shared devices, because each NIC has a port of its own; limits of the root complex besides its
 * lanes, which are not published. */
#ifndef KVC_MODELS_KVDIRECT_MACHINE_H
#define KVC_MODELS_KVDIRECT_MACHINE_H

#include <stdint.h>

#include "models/kvdirect/processor.h"
#include "sim/platform.h"
#include "sim/run/slice_mover.h"

/* What a NIC shares. */
struct kvc_kvdirect_share {
    struct kvc_kvdirect_processor *processor;
    const struct kvc_dram *dram;
    uint32_t nics;           /* Of its node. */
    uint32_t sockets;        /* That have its memory. */
    uint32_t memories;       /* Sockets of its node. */
    double link_bytes_per_s; /* Of all its links, in each direction. */
    struct kvc_slice_mover memory, cores;
    struct kvc_slice_mover up[KVC_KVDIRECT_SOCKETS_MAX];   /* To each socket. */
    struct kvc_slice_mover down[KVC_KVDIRECT_SOCKETS_MAX]; /* From each socket. */
    struct kvc_pcie_root before;                           /* Its counters when they were last posted. */
    uint64_t gathered;
    double core_ns;
};

struct kvc_kvdirect_machine {
    struct kvc_platform *platform;
    uint32_t nics, sockets;           /* Of a node. */
    uint32_t *cpu, *dram;             /* Hosts, by socket of all nodes. */
    uint32_t *card;                   /* Hosts, by NIC of all nodes. */
    struct kvc_kvdirect_share *share; /* By NIC of all nodes. */
    uint32_t shares;                  /* Opened ones. */
};

/* Builds the platform of a scenario. */
void kvc_kvdirect_machine_open(struct kvc_kvdirect_machine *machine, const struct kvc_scenario *scenario);

/* Frees the machine. The engine must have ended. A zeroed machine is allowed. */
void kvc_kvdirect_machine_close(struct kvc_kvdirect_machine *machine);

/* Starts the movers of the NIC with this number. The engine must be open. */
struct kvc_kvdirect_share *kvc_kvdirect_machine_join(struct kvc_kvdirect_machine *machine,
                                                     const struct kvc_scenario *scenario, uint32_t number,
                                                     struct kvc_kvdirect_processor *processor);

/* Sets how much the other users of the host slow the NIC down from now on. */
void kvc_kvdirect_share_apply(struct kvc_kvdirect_share *share);

/* Posts what the NIC has taken since the last call. */
void kvc_kvdirect_share_post(struct kvc_kvdirect_share *share);

#endif
