/* Sizes of a node's structures: those of the scenario, or those of a sample of the keys.
 *
 * In a sample, index, DRAM store, log and write buffers are smaller by the rate, so that they are as full,
 * and evict and reclaim as often, as the whole ones. The log keeps its rows as long as they have pages left:
 * each of them is then one block of one chip with fewer pages. The DRAM store holds its share of the items of
 * the whole slabs; with pairs of several sizes, slabs themselves are smaller by the rate. */
#ifndef KVC_MODELS_BLUECACHE_SIZES_H
#define KVC_MODELS_BLUECACHE_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"
#include "models/bluecache/options.h"
#include "sim/base/diag.h"
#include "sim/workload/workload.h"

struct kvc_bluecache_sizes {
    double index_bytes, dram_bytes;
    uint32_t slab_bytes;                /* Of the DRAM store; 0: the usual ones. */
    uint32_t chunk_pages;               /* Of a write buffer. */
    struct kvc_flash_geometry geometry; /* Of the log. */
};

/* Returns the pages of a log. */
static inline double kvc_bluecache_log_pages(const struct kvc_flash_geometry *geometry)
{
    return (double)geometry->buses * geometry->chips_per_bus * geometry->blocks_per_chip *
           geometry->pages_per_block;
}

/* Returns the memory that the structures of a node take [bytes]. */
double kvc_bluecache_sizes_bytes(const struct kvc_bluecache_sizes *sizes);

/* Returns the memory that they take with so many keys, whose items in DRAM take item_bytes on average
 * [bytes]. */
double kvc_bluecache_sizes_memory_bytes(const struct kvc_bluecache_sizes *sizes, double keys,
                                        double item_bytes);

/* Returns the rows that a log needs at least: room for a row and four chunks, because a page is not erased
 * while one that is programmed at the same time may still be missing (flash_log.h), and for two of the
 * largest values. */
double kvc_bluecache_rows_least(double row_pages, uint32_t chunk_pages, double page_bytes,
                                uint32_t value_max_bytes);

/* Returns the sizes that a scenario asks for. */
struct kvc_bluecache_sizes kvc_bluecache_whole_sizes(const struct kvc_bluecache_options *options,
                                                     const struct kvc_flash_geometry *geometry);

/* Sets the sizes of a sample at a rate above 1 for the pairs of the workload. Returns KVC_ERR_SCENARIO if too
 * little is left of one of them. */
enum kvc_status kvc_bluecache_sample_sizes(const struct kvc_bluecache_sizes *whole,
                                           const struct kvc_workload *workload, uint64_t rate,
                                           struct kvc_bluecache_sizes *sizes, struct kvc_diag *diag);

#endif
