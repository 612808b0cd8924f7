/* KV-Direct's configuration: its options with every "auto" resolved, its devices, and the values derived
 * from them and the workload. */
#ifndef KVC_MODELS_KVDIRECT_CONFIG_H
#define KVC_MODELS_KVDIRECT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/kvdirect/equations.h"
#include "models/kvdirect/lambda.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/scenario.h"

/* KV-Direct's own options: the scenario's `system` table as a user writes it.
 *
 * Names of this model begin with kvc_kvdirect_, names of the real table in kernels/kvdirect with
 * kvc_kvdirect_table_. */

enum kvc_kvdirect_engine {
    KVC_KVDIRECT_OUT_OF_ORDER, /* Operations on a key in flight wait in the reservation station for its value.
                                */
    KVC_KVDIRECT_STALL,        /* The pipeline stops until the operation that they depend on is done. */
};

/* Placement of a NIC's memory. */
enum kvc_kvdirect_placement {
    KVC_KVDIRECT_LOCAL,       /* The NIC's memory is at its own socket. */
    KVC_KVDIRECT_INTERLEAVED, /* Spread over all sockets of the node. */
};

/* Meaning of the workload's SETs. */
enum kvc_kvdirect_update {
    KVC_KVDIRECT_PUT, /* SETs replace the value. */
    KVC_KVDIRECT_ADD, /* SETs are atomic fetch-and-adds on values of 8 bytes. */
    /* The value is a vector, and the user's function (lambda.h) runs on each element. */
    KVC_KVDIRECT_UPDATE, /* The element becomes the function's result. */
    KVC_KVDIRECT_REDUCE, /* The function combines all elements into one number. */
    KVC_KVDIRECT_FILTER, /* The function selects the elements that are sent back. */
};

struct kvc_kvdirect_options {
    uint64_t nics;             /* NICs of a node, each with its own share of keys and memory. */
    uint64_t lanes;            /* PCIe lanes that a node has for them. */
    int placement;             /* enum kvc_kvdirect_placement. */
    double socket_bytes_per_s; /* Rate between two sockets, in each direction. */
    double slice_ns;           /* Interval at which NICs post their load on shared devices [ns]. */
    double idle_w;             /* Power of a node without NICs; 0: unknown [W]. */
    double memory_bytes;       /* Host memory of a node for pairs [bytes]. */
    double index_frac;     /* Fraction of this memory that the hash index takes; negative: the best one. */
    uint64_t inline_bytes; /* Largest pair stored in the index itself [bytes]; INLINE_AUTO: the best size. */
    double dispatch_frac;  /* l, the fraction of memory that the NIC may cache; negative: the best one. */
    int engine;            /* enum kvc_kvdirect_engine. */
    uint64_t gather_cores; /* Host cores that access memory for each NIC; 0: the NIC accesses it itself. */
    int update;            /* enum kvc_kvdirect_update. */
    char lambda[KVC_TEXT_MAX]; /* Vectors: the user's function. */
    uint64_t element_bytes;    /* Vectors: size of an element: 1, 2, 4 or 8 [bytes]. */
    uint64_t delta;            /* Vectors: value of d that the client sends. */
    bool delta_vector;         /* Vectors: the client sends a d for each element. */
    uint64_t lambda_units;     /* Vectors: copies of the function on the card; 0: as many as PCIe feeds. */
    bool returns_vector;       /* KVC_KVDIRECT_UPDATE sends the old vector back. */
    double splits_per_s;       /* Slab entries that a host core moves to a smaller pool. */
    double merges_per_s;       /* Slab entries that a host core merges. */
    double pipeline_ns;  /* Time of an operation in the card's pipelines, besides a clock a stage [ns]. */
    double write_ack_ns; /* Time from a PUT's write until its acknowledgement [ns]. */
    uint64_t in_flight;  /* Operations in flight at once, including waiting ones. */
    uint64_t station;    /* Hash slots of the reservation station. */
};

extern const struct kvc_option_table kvc_kvdirect_option_table;

/* Returns the name of an update in scenarios. */
const char *kvc_kvdirect_update_name(enum kvc_kvdirect_update update);

/* Returns whether SETs change the stored value. */
static inline bool kvc_kvdirect_update_writes(enum kvc_kvdirect_update update)
{
    return update <= KVC_KVDIRECT_UPDATE;
}

/* Returns whether SETs work on the elements of a vector. */
static inline bool kvc_kvdirect_update_has_vectors(enum kvc_kvdirect_update update)
{
    return update >= KVC_KVDIRECT_UPDATE;
}

enum { KVC_KVDIRECT_SOCKETS_MAX = 4 };

struct kvc_kvdirect_config {
    struct kvc_kvdirect_card card; /* Devices of a NIC, owned by the scenario. */

    /* The resolved options (struct kvc_kvdirect_options). */
    uint32_t nics;
    double index_frac;
    uint32_t inline_bytes;
    double dispatch_frac;
    enum kvc_kvdirect_engine engine;
    uint32_t gather_cores;
    enum kvc_kvdirect_update update;
    struct kvc_kvdirect_lambda lambda; /* The user's function; empty without vectors. */
    struct kvc_kvdirect_lambda add;    /* The function of a fetch-and-add: v + d. */
    uint32_t element_bytes;
    int64_t delta;
    uint32_t lambda_units; /* Copies of the function. */
    double split_ns;       /* Time of the host's daemon per slab entry that it moves to a smaller pool. */
    double merge_ns;       /* Time of the daemon per slab entry that it merges. */
    bool delta_vector;
    bool returns_vector;
    double pipeline_ns;
    double write_ack_ns;
    uint32_t in_flight;
    uint32_t station;

    /* Derived values. */
    uint32_t shards;      /* NICs of all nodes, each with a shard of the keys. */
    double nic_bytes;     /* Host memory of one NIC's table if nothing is sampled [bytes]. */
    uint64_t sample_rate; /* One key in this many is kept; 1: all keys. */
    double buckets;       /* Buckets of all hash indexes. */
    double cache_lines;   /* Lines that the DRAM of all NICs holds. */
    struct kvc_kvdirect_operation_mean mean; /* The mean operation. */
    enum kvc_kvdirect_placement placement;
    double slice_ns;           /* Interval at which NICs post their load on shared devices [ns]. */
    double socket_lanes;       /* PCIe lanes of a socket. */
    double socket_bytes_per_s; /* Bandwidth from one socket to another [B/s]. */
    double idle_w;             /* Power of a node without its NICs; 0: unknown [W]. */
    double watts;              /* Power of all devices at work whose power is known [W]. */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_kvdirect_config *kvc_kvdirect_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Return the bytes that a SET's request carries besides its key, and the bytes of its response. A filter
 * counts as returning the whole vector. */
uint32_t kvc_kvdirect_sent_bytes(const struct kvc_kvdirect_config *config, uint32_t value_bytes);
uint32_t kvc_kvdirect_returned_bytes(const struct kvc_kvdirect_config *config, uint32_t value_bytes);

/* Returns the clocks for which a vector of `value_bytes` occupies the copies of the function, and the clocks
 * until its last result is there; 0 without vectors.
 *
 * Source: sec. 3.2. The copies are fully pipelined and take an element each per clock. The paper does not
 * say how deep they are: each operator of the expression takes a clock here. In a reduction, each element
 * waits for the previous one. */
uint32_t kvc_kvdirect_lambda_busy_clocks(const struct kvc_kvdirect_config *config, uint32_t value_bytes);
uint32_t kvc_kvdirect_lambda_clocks(const struct kvc_kvdirect_config *config, uint32_t value_bytes);

/* Resolves the scenario's options; `config` is a struct kvc_kvdirect_config. Returns KVC_ERR_SCENARIO for a
 * PCIe device without packets, pairs that fit into no slab, or a lambda that does not compile. */
enum kvc_status kvc_kvdirect_resolve(const struct kvc_scenario *scenario, void *config,
                                     struct kvc_diag *diag);

/* Returns the reuse of the lines that the caches hold. */
const struct kvc_card_reuse *kvc_kvdirect_config_reuse(const struct kvc_kvdirect_config *config,
                                                       const struct kvc_workload *workload);

/* Checks what the ranges of single options cannot express: lanes, memory of a NIC, vectors, and that the keys
 * fit. */
enum kvc_status kvc_kvdirect_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

#endif
