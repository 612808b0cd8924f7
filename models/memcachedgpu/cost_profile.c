#include "models/memcachedgpu/cost_profile.h"

#include <stddef.h>

#define REAL_ROW(name_, field, dimension, high, text)                                                        \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL,                                                              \
        .offset = offsetof(struct kvc_memcachedgpu_cost_profile, field), .unit = dimension, .min = 0,        \
        .max = high, .help = text                                                                            \
    }

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_memcachedgpu_cost_profile, name),
     .by_default = "",
     .help = "origin of the costs"},
    REAL_ROW("clock", clock_hz, KVC_UNIT_HZ, 1e11, "core clock of the card that was measured"),
    REAL_ROW("block_cycles", block_cycles, KVC_UNIT_NONE, 1e9,
             "core cycles of a block of 32 packets with keys of 16 bytes, besides its dependent accesses; "
             "more cycles lengthen every kernel"),
    REAL_ROW("key_cycles", key_cycles, KVC_UNIT_NONE, 1e6,
             "core cycles for each further byte of the longest key in a block"),
    REAL_ROW("accesses", accesses, KVC_UNIT_NONE, 1e6,
             "dependent accesses of a block to device memory, each of which takes the card's `access`"),
    REAL_ROW("block_shared", block_shared_bytes, KVC_UNIT_BYTES, 1e9,
             "shared memory of a block, which limits the blocks that a multiprocessor holds"),
    REAL_ROW("packet_cycles", packet_cycles, KVC_UNIT_NONE, 1e9,
             "cycles of one multiprocessor for a packet when blocks fill the card; more cycles lower the "
             "card's throughput"),
    REAL_ROW("set_cycles", set_cycles, KVC_UNIT_NONE, 1e9,
             "core cycles of the kernel of one SET, besides as many accesses as a GET has"),
    REAL_ROW("call", call_ns, KVC_UNIT_NS, 1e9,
             "time of one CUDA call of a host thread, such as a launch; a longer time lowers the rate of "
             "batches"),
    {.name = "call_polled",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_memcachedgpu_cost_profile, call_polled_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .optional = true,
     .help = "the same while other threads ask for events, with which it shares the driver's locks; left "
             "out: as `call`"},
    REAL_ROW("host_clock", host_clock_hz, KVC_UNIT_HZ, 1e11,
             "clock of the cores that the host's times were measured on"),
    REAL_ROW("answer", answer_ns, KVC_UNIT_NS, 1e9,
             "compute of a post thread for a response, without waiting for memory; a longer time lowers the "
             "rate of responses"),
    {.name = "set",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_memcachedgpu_cost_profile, set_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .optional = true,
     .help = "compute of a SET in the network stack and memcached, without the update of the GPU's table; "
             "left out: not measured, so that only GETs can be simulated"},
};

static const struct kvc_option_table options = {.name = "memcachedgpu_costs",
                                                .rows = rows,
                                                .count = sizeof(rows) / sizeof(*rows),
                                                .size = sizeof(struct kvc_memcachedgpu_cost_profile)};

const struct kvc_device_kind kvc_memcachedgpu_cost_profile_kind = {
    .name = "memcachedgpu_costs",
    .help = "costs of MemcachedGPU's kernel in cycles, and of its host threads in time",
    .options = &options,
};
