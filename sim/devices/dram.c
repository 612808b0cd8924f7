#include "sim/devices/dram.h"

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_dram, name),
     .by_default = "",
     .help = "name of the memory"},
    {.name = "random_line",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_dram, random_line_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e6,
     .help =
         "time to read an object's first line, at a random place; a longer time slows receivers and senders"},
    {.name = "next_line",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_dram, next_line_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e6,
     .help = "time to read each following line of the object; a longer time slows large objects"},
    {.name = "line",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_dram, line_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 16,
     .max = 4096,
     .help = "size of a cache line; with larger lines, an object has fewer of them"},
    {.name = "bandwidth",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_dram, bytes_per_s),
     .unit = KVC_UNIT_BYTES_PER_S,
     .min = 1e6,
     .max = 1e14,
     .help = "peak bandwidth of one socket; a run that needs more gets a note"},
};

static const struct kvc_option_table options = {
    .name = "dram", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .size = sizeof(struct kvc_dram)};

const struct kvc_device_kind kvc_dram_kind = {
    .name = "dram",
    .help = "Memory of a socket: cost of random and sequential lines, bandwidth",
    .options = &options};

double kvc_dram_object_ns(const struct kvc_dram *dram, double lines)
{
    return lines > 0 ? dram->random_line_ns + (lines - 1) * dram->next_line_ns : 0;
}

double kvc_dram_stream_ns(const struct kvc_dram *dram, double bytes)
{
    return bytes / dram->line_bytes * dram->next_line_ns;
}
