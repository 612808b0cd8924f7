/* What a NIC of KV-Direct takes from the machine that it shares with others (machine.h).
 *
 * After each slice a NIC posts the time for which the busiest kernel of its card worked, the channel time of
 * its memory accesses, the bytes that it moved each way over PCIe and its ports, and the core time of its
 * daemon and gathering cores (sim/run/slices/slice_mover.h). How long memory, root complex and the links
 * between sockets took for it, over the time that its own link would take, slows its next slices down; so
 * does the port for packets. An outage of the card, or of a link that its requests, responses or memory
 * accesses cross, stops the NIC for that time. */
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
    uint32_t nics;           /* Of its node. */
    uint32_t sockets;        /* That have its memory. */
    uint32_t memories;       /* Sockets of its node. */
    double link_bytes_per_s; /* Of all its links, in each direction. */
    struct kvc_slice_mover memory, cores, card, receive, send;
    struct kvc_slice_mover up[KVC_KVDIRECT_SOCKETS_MAX];   /* To each socket. */
    struct kvc_slice_mover down[KVC_KVDIRECT_SOCKETS_MAX]; /* From each socket. */
    struct kvc_pcie_root before;                           /* Its counters when they were last posted. */
    uint64_t gathered;
    double core_ns, card_ns, receive_ns, send_ns;
    struct kvc_slice_outages outages;
    double ended_ns; /* End of the latest slice. */
    bool off;        /* Stopped at the end of the latest slice, as far as it knows. */
};

/* Starts the movers of the NIC with this number. The engine must be open, and the share must stay where it
 * is. */
void kvc_kvdirect_share_open(struct kvc_kvdirect_share *share, const struct kvc_kvdirect_machine *machine,
                             const struct kvc_scenario *scenario, uint32_t number,
                             struct kvc_kvdirect_processor *processor);

/* Frees the share, after the engine has ended. A zeroed one is allowed. */
void kvc_kvdirect_share_close(struct kvc_kvdirect_share *share);

/* Simulates the NIC until the end of a slice, the current time, with the outages in it, and as much slower as
 * the other users of the host made it lately. */
void kvc_kvdirect_share_advance(struct kvc_kvdirect_share *share, double until_ns);

/* Posts what the NIC has taken since the last call. */
void kvc_kvdirect_share_post(struct kvc_kvdirect_share *share);

#endif
