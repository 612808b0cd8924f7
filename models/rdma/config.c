#include "models/rdma/config.h"

#include <math.h>

#include "sim/workload/keys/popularity_blocks.h"

/* Bytes that name the target of an RDMA read or atomic: address, length and key of the memory region. */
enum { RDMA_REQUEST_BYTES = 16 };

static double largest_share(const struct kvc_workload *workload)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block first;
    kvc_popularity_blocks_open(&blocks, workload);
    kvc_popularity_blocks_next(&blocks, &first);
    kvc_popularity_blocks_close(&blocks);
    return first.mass / first.keys;
}

enum kvc_status kvc_rdma_resolve(const struct kvc_scenario *scenario, void *into, struct kvc_diag *diag)
{
    (void)diag;
    struct kvc_rdma_config *config = into;
    const struct kvc_rdma_options *options = scenario->options;
    const struct kvc_workload *workload = &scenario->workload;
    *config = (struct kvc_rdma_config){
        .nic = kvc_nic_of(&scenario->node),
        .sides = (enum kvc_rdma_sides)options->sides,
        .atomics = options->atomics,
        .reads = (uint32_t)options->reads,
        .cores = (uint32_t)options->cores,
        .outstanding = (uint32_t)options->outstanding,
        .core_ns = 1e3 / options->core_mops,
        .message_ns = 1e3 / options->message_mops,
        .atomic_ns = 1e3 / options->atomic_mops,
        .read_ns = options->read_ns,
        .key_bytes = (uint32_t)ceil(kvc_workload_key_bytes_mean(workload)),
        .value_bytes = (uint32_t)ceil(kvc_workload_value_bytes_mean(workload)),
        .largest_share = largest_share(workload),
    };
    return KVC_OK;
}

enum kvc_status kvc_rdma_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    if (scenario->cluster.nodes != 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "cluster.nodes: found %llu, allowed is 1, because rdma models one server",
                             (unsigned long long)scenario->cluster.nodes);
    }
    if (workload->arrival == KVC_ARRIVAL_TRACE || workload->arrival == KVC_ARRIVAL_CLOSED) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.arrival: found %s, allowed with rdma: saturate, poisson_mops, fixed_mops or curve",
            workload->arrival == KVC_ARRIVAL_TRACE ? "a trace" : "clients");
    }
    if (workload->frame_requests > 1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.per_frame: found %llu, allowed is 1, because an RDMA message is one request",
            (unsigned long long)workload->frame_requests);
    }
    return KVC_OK;
}

enum kvc_rdma_unit kvc_rdma_unit_of(const struct kvc_rdma_config *config, enum kvc_op op)
{
    if (config->sides == KVC_RDMA_TWO_SIDED || op == KVC_OP_DELETE) {
        return KVC_RDMA_CORE;
    }
    if (op == KVC_OP_GET) {
        return KVC_RDMA_NIC;
    }
    return config->atomics ? KVC_RDMA_KEY : KVC_RDMA_CORE;
}

uint32_t kvc_rdma_messages_of(const struct kvc_rdma_config *config, enum kvc_op op)
{
    return kvc_rdma_unit_of(config, op) == KVC_RDMA_NIC ? config->reads : 1;
}

double kvc_rdma_request_bytes(const struct kvc_rdma_config *config, enum kvc_op op, uint32_t key_bytes,
                              uint32_t value_bytes)
{
    if (kvc_rdma_unit_of(config, op) != KVC_RDMA_CORE) {
        return RDMA_REQUEST_BYTES;
    }
    return key_bytes + (op == KVC_OP_SET ? (double)value_bytes : 0);
}

double kvc_rdma_response_bytes(const struct kvc_rdma_config *config, enum kvc_op op, uint32_t value_bytes)
{
    return op == KVC_OP_GET || (op == KVC_OP_SET && config->atomics) ? (double)value_bytes : 0;
}
