#include "models/rdma/config.h"

#include <math.h>
#include <stddef.h>

#include "sim/workload/keys/popularity_blocks.h"

/* ---- options ---- */

static const char *const sides[] = {"one", "two", NULL};

static const struct kvc_option rows[] = {
    KVC_CHOICE_ROW(kvc_rdma_options, "sides", sides, sides, "one",
                   "one: clients access the server's memory with RDMA; two: the server's cores serve all "
                   "requests"),
    KVC_BOOL_ROW(
        kvc_rdma_options, "atomics", atomics, "false",
        "SETs are fetch-and-adds that the NIC executes; otherwise they are PUTs, which a core serves"),
    KVC_COUNT_ROW(kvc_rdma_options, "reads", reads, 1, 16, "2",
                  "one-sided: RDMA reads of a GET, one after the other (index, then value); more reads add "
                  "round trips"),
    KVC_COUNT_ROW(
        kvc_rdma_options, "cores", cores, 1, 1024, "16",
        "cores of the server, each of which owns a part of the keys; more cores serve more operations"),
    KVC_REAL_ROW(kvc_rdma_options, "core_rate", core_mops, KVC_UNIT_MOPS, 1e-3, 1e6, "7.9Mops",
                 "rate at which one core serves operations; a higher rate raises the limit of the cores "
                 "(kvdirect.hw.cpu.kv_rate_batched: sec. 2.2)"),
    KVC_REAL_ROW(kvc_rdma_options, "message_rate", message_mops, KVC_UNIT_MOPS, 1e-3, 1e6, "150Mops",
                 "rate at which the server's NIC handles messages; a higher rate raises the limit of the NIC "
                 "(kvdirect.hw.rdma.msg_rate: up to 150, sec. 2.2)"),
    KVC_REAL_ROW(kvc_rdma_options, "atomic_rate", atomic_mops, KVC_UNIT_MOPS, 1e-3, 1e6, "2.24Mops",
                 "rate at which the NIC executes RDMA atomics on one address; a higher rate serves popular "
                 "keys faster (kvdirect.ooo.rdma.atomics: sec. 5.1.3)"),
    KVC_REAL_ROW(
        kvc_rdma_options, "read_latency", read_ns, KVC_UNIT_NS, 0, 1e6, "500ns",
        "latency of the NIC's access to the server's memory; a longer one delays one-sided operations "
        "(kvdirect.hw.pcie.rtt: sec. 2.4)"),
    KVC_COUNT_ROW(kvc_rdma_options, "outstanding", outstanding, 1, 65536, "1024",
                  "operations that saturating clients keep in flight; more operations hide more latency"),
};

const struct kvc_option_table kvc_rdma_option_table = KVC_OPTION_TABLE(kvc_rdma_options, rows, "system");

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
        .value_bytes = (uint32_t)ceil(kvc_workload_value_bytes_requested(workload)),
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
    if (workload->arrival == KVC_ARRIVAL_CLOSED) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: found clients, allowed with rdma: saturate, poisson_mops, "
                             "fixed_mops, curve or trace");
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
