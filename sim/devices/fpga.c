#include "sim/devices/fpga.h"

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_fpga, "name", name, "", "name of the card"),
    KVC_REAL_ROW(kvc_fpga, "clock", clock_hz, KVC_UNIT_HZ, 1e6, 1e10, NULL,
                 "clock of the pipeline, which starts one operation per clock; a faster clock raises the "
                 "highest throughput"),
    KVC_REAL_ROW(kvc_fpga, "dram", dram_bytes, KVC_UNIT_BYTES, 0, 0x1p45, NULL,
                 "memory on the card, which caches host memory; more memory hits more often"),
    KVC_REAL_ROW(kvc_fpga, "dram_rate", dram_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13, NULL,
                 "data rate of the card's memory; a higher rate serves more hits"),
    KVC_REAL_ROW(kvc_fpga, "dram_latency", dram_ns, KVC_UNIT_NS, 0, 1e6, NULL,
                 "time from address to data in the card's memory; a longer time raises the latency of hits"),
    KVC_REAL_ROW(kvc_fpga, "power", power_w, KVC_UNIT_WATTS, 0, 1e4, NULL,
                 "power of the whole card under load; it adds to the power of the node"),
    KVC_REAL_ROW(
        kvc_fpga, "price", price_usd, KVC_UNIT_NONE, 0, 1e6, NULL,
        "price of the card in US dollars, whose source states the year; a higher one raises the price of the "
        "node; 0: another price includes it; left out: unknown",
        .optional = true),
};

static double price_usd(const void *device)
{
    const struct kvc_fpga *fpga = device;
    return fpga->price_usd;
}

static const struct kvc_option_table options = KVC_OPTION_TABLE(kvc_fpga, rows, "fpga");

const struct kvc_device_kind kvc_fpga_kind = {.name = "fpga",
                                              .help =
                                                  "Programmable card: pipeline clock, on-board DRAM, power",
                                              .options = &options,
                                              .price_usd = price_usd};
