/* KV-Direct's configuration: its options with every "auto" resolved, its devices, and the values derived
 * from them and the workload. */
#ifndef KVC_MODELS_KVDIRECT_CONFIG_H
#define KVC_MODELS_KVDIRECT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/kvdirect/equations.h"
#include "models/kvdirect/lambda.h"
#include "models/kvdirect/options.h"
#include "sim/base/diag.h"
#include "sim/scenario.h"

enum { KVC_KVDIRECT_SOCKETS_MAX = 4 };

struct kvc_kvdirect_config {
    struct kvc_kvdirect_card card; /* Devices of a NIC, owned by the scenario. */

    /* The resolved options (models/kvdirect/options.h). */
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
    double slice_ns;           /* How often NICs meet at the devices that they share. */
    double socket_lanes;       /* PCIe lanes of a socket. */
    double socket_bytes_per_s; /* From a socket to another one. */
    double idle_w;             /* Power of a node without its NICs; 0: unknown [W]. */
    double watts;              /* Power of all devices at work whose power is known [W]. */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_kvdirect_config *kvc_kvdirect_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Return the bytes that the request of a SET carries besides the key, and those that its response carries.
 * A filter counts as returning the whole vector. */
uint32_t kvc_kvdirect_sent_bytes(const struct kvc_kvdirect_config *config, uint32_t value_bytes);
uint32_t kvc_kvdirect_returned_bytes(const struct kvc_kvdirect_config *config, uint32_t value_bytes);

/* Returns the clocks for which a vector of `value_bytes` occupies the copies of the function, and the clocks
 * until its last result is there; 0 without vectors.
 *
 * Source: sec. 3.2. The copies are fully pipelined and take an element each per clock. The paper does not say
 * how deep they are: each operator of the expression takes a clock here. In a reduction, each element waits
 * for the one before. */
uint32_t kvc_kvdirect_lambda_busy_clocks(const struct kvc_kvdirect_config *config, uint32_t value_bytes);
uint32_t kvc_kvdirect_lambda_clocks(const struct kvc_kvdirect_config *config, uint32_t value_bytes);

/* Resolves the scenario's options; `config` is a struct kvc_kvdirect_config. Returns KVC_ERR_SCENARIO for a
 * PCIe device without packets, pairs that fit into no slab, or a lambda that does not compile. */
enum kvc_status kvc_kvdirect_resolve(const struct kvc_scenario *scenario, void *config,
                                     struct kvc_diag *diag);

/* Checks what the ranges of single options cannot express: lanes, memory of a NIC, vectors, and that the keys
 * fit. */
enum kvc_status kvc_kvdirect_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

#endif
