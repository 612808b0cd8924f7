#include "sim/devices/fpga.h"

#define REAL_ROW(name_, field, unit_, low, high, text)                                                       \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_fpga, field), .unit = unit_,   \
        .min = low, .max = high, .help = text                                                                \
    }

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_fpga, name),
     .by_default = "",
     .help = "name of the card"},
    REAL_ROW("clock", clock_hz, KVC_UNIT_HZ, 1e6, 1e10,
             "clock of the pipeline, which starts one operation per clock; a faster clock raises the "
             "highest throughput"),
    REAL_ROW("dram", dram_bytes, KVC_UNIT_BYTES, 0, 0x1p45,
             "memory on the card, which caches host memory; more memory hits more often"),
    REAL_ROW("dram_rate", dram_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13,
             "data rate of the card's memory; a higher rate serves more hits"),
    REAL_ROW("dram_latency", dram_ns, KVC_UNIT_NS, 0, 1e6,
             "time from address to data in the card's memory; a longer time raises the latency of hits"),
    REAL_ROW("power", power_w, KVC_UNIT_WATTS, 0, 1e4,
             "power of the whole card at work; it adds to the power of the node"),
    {.name = "price",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_fpga, price_usd),
     .min = 0,
     .max = 1e6,
     .optional = true,
     .help =
         "price of the card in US dollars, whose source states the year; a higher one raises the price of the "
         "node; 0: another price includes it; left out: unknown"},
};

static double price_usd(const void *device)
{
    const struct kvc_fpga *fpga = device;
    return fpga->price_usd;
}

static const struct kvc_option_table options = {
    .name = "fpga", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .size = sizeof(struct kvc_fpga)};

const struct kvc_device_kind kvc_fpga_kind = {.name = "fpga",
                                              .help =
                                                  "Programmable card: pipeline clock, on-board DRAM, power",
                                              .options = &options,
                                              .price_usd = price_usd};
