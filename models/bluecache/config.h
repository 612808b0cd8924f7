/* Configuration of BlueCache: its options, its devices, and what follows from them. */
#ifndef KVC_MODELS_BLUECACHE_CONFIG_H
#define KVC_MODELS_BLUECACHE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/bluecache/options.h"
#include "models/bluecache/sizes.h"
#include "sim/base/diag.h"
#include "sim/devices/database.h"
#include "sim/devices/dram.h"
#include "sim/devices/fabric.h"
#include "sim/devices/flash/flash.h"
#include "sim/devices/fpga.h"
#include "sim/devices/pcie.h"
#include "sim/scenario.h"

enum { KVC_BLUECACHE_NODES_MAX = 256 };

struct kvc_bluecache_config {
    const struct kvc_bluecache_options *options; /* Those of the scenario. */
    const struct kvc_pcie *pcie;                 /* Devices, owned by the scenario. */
    const struct kvc_dram *dram;
    const struct kvc_flash *flash;
    const struct kvc_fabric *fabric;
    const struct kvc_fpga *fpga;
    const struct kvc_database *database; /* NULL: there is none. */
    struct kvc_flash_geometry geometry;  /* Of the log on flash. */
    struct kvc_bluecache_sizes sizes;    /* Of the structures that run; smaller in a sample. */
    uint64_t sample_rate;                /* One key in this many is kept; 1: all keys. */
    uint32_t value_max_bytes;            /* Longest value, at least 1. */
    uint32_t nodes, stores, apps;        /* The first ones store and ask. */
    uint32_t table;                      /* Requests of a host in the table of its card. */
    uint32_t dram_channels;              /* Of a card's DRAM; each serves one access after another. */
    bool threads;                        /* Application threads ask; otherwise the host's DMA alone. */
    double edge_bytes_per_s;             /* Of the links between two neighbours. */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_bluecache_config *kvc_bluecache_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Resolves the scenario's options; `config` is a struct kvc_bluecache_config. Returns KVC_ERR_SCENARIO if the
 * log, the index or the fabric cannot be as the scenario says. */
enum kvc_status kvc_bluecache_resolve(const struct kvc_scenario *scenario, void *config,
                                      struct kvc_diag *diag);

/* Checks what the ranges of single options cannot express. */
enum kvc_status kvc_bluecache_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

#endif
