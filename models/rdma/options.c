#include "models/rdma/options.h"

#include <stddef.h>

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
