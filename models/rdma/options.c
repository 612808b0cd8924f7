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
