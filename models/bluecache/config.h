/* Configuration of BlueCache: its options, its devices, and values derived from them. */
#ifndef KVC_MODELS_BLUECACHE_CONFIG_H
#define KVC_MODELS_BLUECACHE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/database.h"
#include "sim/devices/dram.h"
#include "sim/devices/fabric.h"
#include "sim/devices/flash/flash.h"
#include "sim/devices/fpga.h"
#include "sim/devices/pcie.h"
#include "sim/scenario.h"
#include "sim/workload/workload.h"

/* Options of BlueCache: the scenario's `system` table. Source: Xu et al., BlueCache, PVLDB 10(4), 2016. */

struct kvc_bluecache_options {
    double index_bytes, dram_bytes, flash_bytes; /* Sizes per node [bytes]. */
    uint64_t chunk_pages;
    uint64_t stores, app_servers; /* 0: as many as there are nodes. */
    uint64_t outstanding;
    double segment_bytes;
    uint64_t segments; /* Segments per direction. */
    uint64_t table;    /* Entries of the protocol engine's table; 0: as many as the flash has tags. */
    double call_ns, wake_ns, switch_ns, flush_pause_ns;
};

extern const struct kvc_option_table kvc_bluecache_option_table;

/* Sizes of a node's structures, for all keys or for a sample of the keys.
 *
 * In a sample, index, DRAM store, log and write buffers are smaller by the rate. So they are as full as the
 * whole structures, and evict and reclaim as often. The log keeps its number of rows while each of them has a
 * page left; a row is then one block of one chip with fewer pages. The DRAM store holds its share of the
 * items in the whole slabs. With pairs of several sizes, the slabs themselves are smaller by the rate. */

struct kvc_bluecache_sizes {
    double index_bytes, dram_bytes;
    uint32_t slab_bytes;                /* Slab of the DRAM store [bytes]; 0: KVC_DRAM_SLAB_BYTES. */
    uint32_t chunk_pages;               /* Pages of a write buffer. */
    struct kvc_flash_geometry geometry; /* Geometry of the log. */
};

/* Returns the pages of a log. */
static inline double kvc_bluecache_log_pages(const struct kvc_flash_geometry *geometry)
{
    return (double)geometry->buses * geometry->chips_per_bus * geometry->blocks_per_chip *
           geometry->pages_per_block;
}

/* Returns the memory that the structures take with `keys` keys whose items in DRAM take item_bytes on
 * average, after log_bytes were written to the log [bytes]. */
double kvc_bluecache_sizes_memory_bytes(const struct kvc_bluecache_sizes *sizes, double keys,
                                        double item_bytes, double log_bytes);

enum { KVC_BLUECACHE_NODES_MAX = 256 };

/* Size of the header of a request or response. */
enum { KVC_BLUECACHE_HEADER_BYTES = 24 };

struct kvc_bluecache_config {
    struct kvc_bluecache_options sized;            /* The scenario's options with sizes for its keys. */
    const struct kvc_bluecache_options *options;   /* The same. */
    double needed_index_bytes, needed_flash_bytes; /* Sizes with room for all keys of a node. */
    const struct kvc_pcie *pcie;                   /* Devices, owned by the scenario. */
    const struct kvc_dram *dram;
    const struct kvc_flash *flash;
    const struct kvc_fabric *fabric;
    const struct kvc_fpga *fpga;
    const struct kvc_database *database; /* NULL if there is none. */
    struct kvc_flash_geometry geometry;  /* Geometry of the log on flash. */
    struct kvc_bluecache_sizes sizes;    /* Sizes of the structures that run; smaller in a sample. */
    uint64_t sample_rate;                /* One key in this many is kept; 1: all keys. */
    uint32_t value_max_bytes;            /* Longest value, at least 1. */
    /* The first `stores` nodes store keys, and the hosts of the first `apps` nodes send requests. */
    uint32_t nodes, stores, apps;
    uint32_t table;          /* Requests of a host that fit into the table of its card. */
    uint32_t dram_channels;  /* Channels of a card's DRAM; each serves one access after another. */
    bool threads;            /* Application threads send requests; otherwise the host's DMA alone. */
    double edge_bytes_per_s; /* Bandwidth of the links between two neighbours [B/s]. */
};

/* Returns the configuration of a resolved scenario. */
static inline const struct kvc_bluecache_config *kvc_bluecache_config_of(const struct kvc_scenario *scenario)
{
    return scenario->config;
}

/* Returns the share of a page, or the pages, that a record of the log takes on average. */
double kvc_bluecache_record_pages(const struct kvc_bluecache_config *config, uint32_t key_bytes,
                                  uint32_t value_bytes);

/* Resolves the scenario's options; `config` is a struct kvc_bluecache_config. Returns KVC_ERR_SCENARIO if the
 * log, the index or the fabric is impossible. */
enum kvc_status kvc_bluecache_resolve(const struct kvc_scenario *scenario, void *config,
                                      struct kvc_diag *diag);

/* Checks what the ranges of single options cannot express. */
enum kvc_status kvc_bluecache_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

#endif
