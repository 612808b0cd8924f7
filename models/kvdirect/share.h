/* The load of a KV-Direct NIC on the machine that it shares with other NICs (machine.h).
 *
 * After each slice a NIC posts the time for which the busiest kernel of its card worked, the channel time
 * of its memory accesses, the bytes that it moved each way over PCIe and its ports, and the core time of
 * its daemon and gathering cores (sim/run/slices/slice_mover.h). If memory, root complex and the links
 * between sockets took longer for this than the NIC's own link would take, the next slices of the NIC are
 * slower by that ratio. The port slows packets down in the same way. An outage of the card, or of a link
 * that its requests, responses or memory accesses cross, stops the NIC for that time. */
#ifndef KVC_MODELS_KVDIRECT_SHARE_H
#define KVC_MODELS_KVDIRECT_SHARE_H

#include <stdint.h>

#include "models/kvdirect/machine.h"
#include "models/kvdirect/processor.h"
#include "sim/run/slices/slice_mover.h"
#include "sim/run/slices/slice_outages.h"

struct kvc_kvdirect_share {
    struct kvc_kvdirect_processor *processor;
    const struct kvc_dram *dram;
    uint32_t nics;           /* NICs of the node. */
    uint32_t sockets;        /* Sockets with memory of this NIC. */
    uint32_t memories;       /* Sockets of the node. */
    double link_bytes_per_s; /* Bandwidth of all links of the NIC in each direction [B/s]. */
    struct kvc_slice_mover memory, cores, card, receive, send;
    struct kvc_slice_mover up[KVC_KVDIRECT_SOCKETS_MAX];   /* Movers to each socket. */
    struct kvc_slice_mover down[KVC_KVDIRECT_SOCKETS_MAX]; /* Movers from each socket. */
    struct kvc_pcie_root before;                           /* Counters at the latest post. */
    uint64_t gathered;
    double core_ns, card_ns, receive_ns, send_ns;
    struct kvc_slice_outages outages;
    double ended_ns; /* End of the latest slice. */
    bool off;        /* The NIC was stopped at the end of the latest slice. */
};

/* Starts the movers of the NIC with this number. The engine must be open, and the share must not move in
 * memory. */
void kvc_kvdirect_share_open(struct kvc_kvdirect_share *share, const struct kvc_kvdirect_machine *machine,
                             const struct kvc_scenario *scenario, uint32_t number,
                             struct kvc_kvdirect_processor *processor);

/* Frees the share, after the engine has ended. A zeroed one is allowed. */
void kvc_kvdirect_share_close(struct kvc_kvdirect_share *share);

/* Simulates the NIC until the end of a slice, which is the current time, with the outages of the slice and
 * at the speed that the other users of the host left it in the previous slices. */
void kvc_kvdirect_share_advance(struct kvc_kvdirect_share *share, double until_ns);

/* Posts the load of the NIC since the last call. */
void kvc_kvdirect_share_post(struct kvc_kvdirect_share *share);

#endif
