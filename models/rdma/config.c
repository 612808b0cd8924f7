#include "models/rdma/config.h"

#include <math.h>
#include <stddef.h>

#include "sim/workload/keys/popularity_blocks.h"

/* ---- options ---- */

static const char *const sides[] = {"one", "two", NULL};

#define COUNT_ROW(name_, field, low, high, standard, text)                                                   \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_rdma_options, field),         \
        .min = low, .max = high, .by_default = standard, .help = text                                        \
    }
#define RATE_ROW(name_, field, standard, text)                                                               \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_rdma_options, field),          \
        .unit = KVC_UNIT_MOPS, .min = 1e-3, .max = 1e6, .by_default = standard, .help = text                 \
    }

static const struct kvc_option rows[] = {
    {.name = "sides",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_rdma_options, sides),
     .by_default = "one",
     .choices = sides,
     .help = "one: clients access the server's memory with RDMA; two: the server's cores serve all "
             "requests"},
    {.name = "atomics",
     .type = KVC_OPTION_BOOL,
     .offset = offsetof(struct kvc_rdma_options, atomics),
     .by_default = "false",
     .help = "SETs are fetch-and-adds that the NIC executes; otherwise they are PUTs, which a core serves"},
    COUNT_ROW("reads", reads, 1, 16, "2",
              "one-sided: RDMA reads of a GET, one after the other (index, then value); more reads add "
              "round trips"),
    COUNT_ROW("cores", cores, 1, 1024, "16",
              "cores of the server, each of which owns a part of the keys; more cores serve more operations"),
    RATE_ROW("core_rate", core_mops, "7.9Mops",
             "rate at which one core serves operations; a higher rate raises the limit of the cores "
             "(kvdirect.hw.cpu.kv_rate_batched: sec. 2.2)"),
    RATE_ROW("message_rate", message_mops, "150Mops",
             "rate at which the server's NIC handles messages; a higher rate raises the limit of the NIC "
             "(kvdirect.hw.rdma.msg_rate: up to 150, sec. 2.2)"),
    RATE_ROW("atomic_rate", atomic_mops, "2.24Mops",
             "rate at which the NIC executes RDMA atomics on one address; a higher rate serves popular "
             "keys faster (kvdirect.ooo.rdma.atomics: sec. 5.1.3)"),
    {.name = "read_latency",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_rdma_options, read_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e6,
     .by_default = "500ns",
     .help = "latency of the NIC's access to the server's memory; a longer one delays one-sided operations "
             "(kvdirect.hw.pcie.rtt: sec. 2.4)"},
    COUNT_ROW("outstanding", outstanding, 1, 65536, "1024",
              "operations that saturating clients keep in flight; more operations hide more latency"),
};

const struct kvc_option_table kvc_rdma_option_table = {.name = "system",
                                                       .rows = rows,
                                                       .count = sizeof(rows) / sizeof(*rows),
                                                       .size = sizeof(struct kvc_rdma_options)};

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
