/* Configuration of a store over RDMA: its options with typed choices, its NIC, and the values derived from
 * them and the workload. */
#ifndef KVC_MODELS_RDMA_CONFIG_H
#define KVC_MODELS_RDMA_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/nic.h"
#include "sim/scenario.h"
#include "sim/workload/batch.h"

/* Options of key-value stores over RDMA, the baselines of KV-Direct's evaluation: the scenario's `system`
 * table.
 *
 * Source: KV-Direct (SOSP 2017), sec. 2.2 and 5.1.3, fig. 13, table 3. One-sided: clients read the server's
 * memory with RDMA reads and change it with RDMA atomics, which a NIC executes one at a time on each address.
 * PUTs go to the server's cores, as such stores recommend. Two-sided: every request goes to the core that
 * owns its key. Not modelled: retries of clients that meet a concurrent change, memory bandwidth, the index
 * itself. */

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

struct kvc_rdma_config {
    const struct kvc_nic *nic; /* The server's NIC, owned by the scenario. */
    enum kvc_rdma_sides sides;
    bool atomics;
    uint32_t reads;
    uint32_t cores;
    uint32_t outstanding;
    double core_ns;                  /* Time of an operation on a core. */
    double message_ns;               /* Time of a message in the NIC. */
    double atomic_ns;                /* Time of an atomic on its address. */
    double read_ns;                  /* Time of an RDMA read or atomic within the server. */
    uint32_t key_bytes, value_bytes; /* Means over the keys, rounded up. */
    double largest_share;            /* Share of the requests that go to the most popular key. */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_rdma_config *kvc_rdma_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Resolves the scenario's options; `config` is a struct kvc_rdma_config. Always returns KVC_OK. */
enum kvc_status kvc_rdma_resolve(const struct kvc_scenario *scenario, void *config, struct kvc_diag *diag);

/* Checks what the ranges of single options cannot express: one server, an open or saturating load, one
 * request in a message. */
enum kvc_status kvc_rdma_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* The part of the server that executes an operation. */
enum kvc_rdma_unit {
    KVC_RDMA_NIC,  /* The server's NIC. */
    KVC_RDMA_KEY,  /* The NIC's unit for atomics, which serves one operation on an address at a time. */
    KVC_RDMA_CORE, /* The core that owns the key. */
};
enum kvc_rdma_unit kvc_rdma_unit_of(const struct kvc_rdma_config *config, enum kvc_op op);

/* Returns the number of messages that an operation sends to the server. */
uint32_t kvc_rdma_messages_of(const struct kvc_rdma_config *config, enum kvc_op op);

/* Return the size of one of these messages, and of its response, without headers [bytes]. */
double kvc_rdma_request_bytes(const struct kvc_rdma_config *config, enum kvc_op op, uint32_t key_bytes,
                              uint32_t value_bytes);
double kvc_rdma_response_bytes(const struct kvc_rdma_config *config, enum kvc_op op, uint32_t value_bytes);

#endif
