/** @file
 * An FPGA is the programmable part of a network card: a pipeline that does one operation per clock, with
 * memory of its own. */
#ifndef KVC_SIM_DEVICES_FPGA_H
#define KVC_SIM_DEVICES_FPGA_H

#include "sim/devices/node.h"

/** Parameters of one card. */
struct kvc_fpga {
    char name[KVC_TEXT_MAX]; /**< Name of the product, for people. */
    double clock_hz;         /**< Clock of the pipeline. */
    double dram_bytes;       /**< Size of the card's memory; 0: it has none. */
    double dram_bytes_per_s; /**< Rate of the memory's one channel. */
    double dram_ns;          /**< Time from address to data, without the time on the channel. */
    double power_w;          /**< Power of the whole card at work. */
    double price_usd;        /**< Price of the card [US dollars]; NaN: unknown. */
};

/** The descriptor of the programmable part of a network card. */
extern const struct kvc_device_kind kvc_fpga_kind;

/** Finds the node's FPGA. Returns NULL if it has none. */
static inline const struct kvc_fpga *kvc_fpga_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_fpga_kind);
}

/** Returns the time of one clock of the pipeline [ns]. */
static inline double kvc_fpga_cycle_ns(const struct kvc_fpga *fpga)
{
    return 1e9 / fpga->clock_hz;
}

/** Returns the time for which `bytes` occupy the memory's channel [ns]. */
static inline double kvc_fpga_dram_ns(const struct kvc_fpga *fpga, double bytes)
{
    return bytes / fpga->dram_bytes_per_s * 1e9;
}

#endif
