#include "models/rdma/options.h"

#include "sim/workload/batch.h"

static const char *const sides[] = {"one", "two", NULL};

/* An address, a length and a key of the memory region: what an RDMA read or atomic names. */
enum { RDMA_REQUEST_BYTES = 16 };

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
     .help = "one: clients access the server's memory themselves; two: the server's cores serve requests"},
    {.name = "atomics",
     .type = KVC_OPTION_BOOL,
     .offset = offsetof(struct kvc_rdma_options, atomics),
     .by_default = "false",
     .help = "SETs of the workload are fetch-and-adds; else they are PUTs, which always go to a core"},
    COUNT_ROW("reads", reads, 1, 16, "2",
              "one-sided: RDMA reads of a GET, one after the other: index, then value"),
    COUNT_ROW("cores", cores, 1, 1024, "16", "of the server; each owns a part of the keys"),
    RATE_ROW("core_rate", core_mops, "7.9Mops", "of a core (kvdirect.hw.cpu.kv_rate_batched: sec. 2.2)"),
    RATE_ROW("message_rate", message_mops, "150Mops",
             "of the server's NIC (kvdirect.hw.rdma.msg_rate: up to 150, sec. 2.2)"),
    RATE_ROW("atomic_rate", atomic_mops, "2.24Mops",
             "of RDMA atomics on one address (kvdirect.ooo.rdma.atomics: sec. 5.1.3)"),
    {.name = "read_latency",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_rdma_options, read_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e6,
     .by_default = "500ns",
     .help = "of a NIC's access to the server's memory (kvdirect.hw.pcie.rtt: sec. 2.4)"},
    COUNT_ROW("outstanding", outstanding, 1, 65536, "1024",
              "operations that saturating clients have under way"),
};

const struct kvc_option_table kvc_rdma_option_table = {.name = "system",
                                                       .rows = rows,
                                                       .count = sizeof(rows) / sizeof(*rows),
                                                       .size = sizeof(struct kvc_rdma_options)};

enum kvc_status kvc_rdma_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    if (scenario->cluster.nodes != 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cluster.nodes: found %llu, rdma models one server",
                             (unsigned long long)scenario->cluster.nodes);
    }
    if (workload->arrival == KVC_ARRIVAL_TRACE || workload->arrival == KVC_ARRIVAL_CLOSED) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: found %s, rdma takes saturate or an open load",
                             workload->arrival == KVC_ARRIVAL_TRACE ? "a trace" : "clients");
    }
    if (workload->frame_requests > 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.per_frame: found %llu, an RDMA message is one request",
                             (unsigned long long)workload->frame_requests);
    }
    return KVC_OK;
}

enum kvc_rdma_unit kvc_rdma_unit_of(const struct kvc_rdma_options *system, int op)
{
    if (system->sides == KVC_RDMA_TWO_SIDED || op == KVC_OP_DELETE) {
        return KVC_RDMA_CORE;
    }
    if (op == KVC_OP_GET) {
        return KVC_RDMA_NIC;
    }
    return system->atomics ? KVC_RDMA_KEY : KVC_RDMA_CORE;
}

double kvc_rdma_messages_of(const struct kvc_rdma_options *system, int op)
{
    return kvc_rdma_unit_of(system, op) == KVC_RDMA_NIC ? (double)system->reads : 1;
}

double kvc_rdma_request_bytes(const struct kvc_rdma_options *system, int op, uint32_t key_bytes,
                              uint32_t value_bytes)
{
    if (kvc_rdma_unit_of(system, op) != KVC_RDMA_CORE) {
        return RDMA_REQUEST_BYTES;
    }
    return key_bytes + (op == KVC_OP_SET ? (double)value_bytes : 0);
}

double kvc_rdma_response_bytes(const struct kvc_rdma_options *system, int op, uint32_t value_bytes)
{
    return op == KVC_OP_GET || (op == KVC_OP_SET && system->atomics) ? (double)value_bytes : 0;
}
