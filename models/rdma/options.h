/* Options of key-value stores over RDMA, the baselines of KV-Direct's evaluation: the scenario's `system`
 * table.
 *
 * Source: KV-Direct (SOSP 2017), sec. 2.2 and 5.1.3, fig. 13, table 3. One-sided: clients read the server's
 * memory with RDMA reads and change it with RDMA atomics, which a NIC executes one at a time on each address.
 * PUTs go to the server's cores, as such stores recommend. Two-sided: every request goes to the core that
 * owns its key. Not modelled: retries of clients that meet a concurrent change, memory bandwidth, the index
 * itself. */
#ifndef KVC_MODELS_RDMA_OPTIONS_H
#define KVC_MODELS_RDMA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/text/option.h"

enum kvc_rdma_sides { KVC_RDMA_ONE_SIDED, KVC_RDMA_TWO_SIDED };

struct kvc_rdma_options {
    int sides;            /* enum kvc_rdma_sides. */
    bool atomics;         /* SETs are fetch-and-adds instead of PUTs. */
    uint64_t reads;       /* One-sided: RDMA reads of a GET, one after the other. */
    uint64_t cores;       /* Cores of the server. */
    double core_mops;     /* Operations that one core serves [million per second]. */
    double message_mops;  /* Messages that the server's NIC takes [million per second]. */
    double atomic_mops;   /* Atomics that the NIC executes on one address [million per second]. */
    double read_ns;       /* Time of an RDMA read or atomic within the server: NIC and its DMA [ns]. */
    uint64_t outstanding; /* Saturating load: operations in flight. */
};

extern const struct kvc_option_table kvc_rdma_option_table;

#endif
