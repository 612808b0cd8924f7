#include "sim/devices/cpu.h"

#include <math.h>

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_cpu, name),
     .by_default = "",
     .help = "name of the processor"},
    {.name = "cores",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_cpu, cores),
     .min = 1,
     .max = 1024,
     .help = "physical cores per socket; more cores serve more pipelines"},
    {.name = "threads_per_core",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_cpu, threads_per_core),
     .min = 1,
     .max = 2,
     .help = "hardware threads per core; with 2, receiver and sender of a pipeline share a core"},
    {.name = "clock",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_cpu, clock_hz),
     .unit = KVC_UNIT_HZ,
     .min = 1e8,
     .max = 1e10,
     .help = "core clock; a faster clock shortens hits in the last-level cache"},
    {.name = "packet",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_cpu, packet_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e6,
     .help = "compute time per request for packet I/O and parsing, in each direction; a longer time "
             "slows receivers and senders"},
    {.name = "llc_hit_cycles",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_cpu, llc_hit_cycles),
     .min = 0,
     .max = 1e6,
     .help = "core cycles for which a thread stalls on a line in the last-level cache; more cycles slow "
             "receivers and senders"},
};

static const struct kvc_option_table options = {
    .name = "cpu", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .size = sizeof(struct kvc_cpu)};

const struct kvc_device_kind kvc_cpu_kind = {
    .name = "cpu",
    .help = "CPU socket: cores, clock, and what packet I/O and a cache hit cost",
    .options = &options};

double kvc_cpu_llc_hit_ns(const struct kvc_cpu *cpu)
{
    return cpu->llc_hit_cycles / cpu->clock_hz * 1e9;
}

double kvc_smt_stretch(double sibling_compute_frac)
{
    return 1.0 + fmin(fmax(sibling_compute_frac, 0.0), 1.0);
}
