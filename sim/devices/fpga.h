/* The programmable part of a network card: a pipeline that does one operation a clock, and memory of its own.
 */
#ifndef KVC_SIM_DEVICES_FPGA_H
#define KVC_SIM_DEVICES_FPGA_H

#include "sim/devices/node.h"

struct kvc_fpga {
    char name[KVC_TEXT_MAX];
    double clock_hz;
    double dram_bytes;       /* 0: none */
    double dram_bytes_per_s; /* of its one channel */
    double dram_ns;          /* from address to data, the channel's own time excluded */
    double power_w;          /* of the whole card, at work */
};

extern const struct kvc_device_kind kvc_fpga_kind;

/** The node's fpga; NULL if it has none. */
static inline const struct kvc_fpga *kvc_fpga_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_fpga_kind);
}

static inline double kvc_fpga_cycle_ns(const struct kvc_fpga *fpga)
{
    return 1e9 / fpga->clock_hz;
}

/* Time that `bytes` occupy the memory's channel. */
static inline double kvc_fpga_dram_ns(const struct kvc_fpga *fpga, double bytes)
{
    return bytes / fpga->dram_bytes_per_s * 1e9;
}

#endif
