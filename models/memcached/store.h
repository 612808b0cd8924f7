/* The real tables of all servers of a replica, with their preloaded items. */
#ifndef KVC_MODELS_MEMCACHED_STORE_H
#define KVC_MODELS_MEMCACHED_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "models/memcached/config.h"
#include "sim/base/progress.h"
#include "sim/workload/batch.h"

/* Fatcache's slabs, which hold its items: they fill up in memory and move to the SSD as a whole.
 *
 * Source: github.com/twitter/fatcache, fc_slab.c. An instance has a limited number of slabs in memory and a
 * part of the SSD. If it needs a new slab and all slabs in memory are full, it writes the oldest of them to
 * the SSD. If the SSD is full, it reads the oldest slab there, forgets its items, and overwrites it.
 *
 * Not modelled: classes of item sizes, each with slabs of its own; items of an overwritten slab stay in the
 * index, where they count as missing, until the index needs their entries. */

/* The slabs of one instance. The zeroed struct has no items. */
struct kvc_memcached_slabs {
    uint32_t slab; /* Slab that is being filled; slabs are numbered in the order in which they are filled. */
    uint32_t offset; /* Used bytes of this slab. */
};

/* Location of an item. */
struct kvc_memcached_place {
    uint32_t slab, offset;
};

/* Pages of the SSD, counted from the start of the instance's part. */
struct kvc_memcached_pages {
    uint64_t first;
    uint32_t count;
};

/* SSD operations that must happen before a new item is stored. */
struct kvc_memcached_drain {
    struct kvc_memcached_pages written; /* The slab that moves from memory to the SSD. */
    bool evicts;                        /* The slab that it overwrites is read first. */
};

/* Finds a place for an item of at most KVC_MEMCACHED_SLAB_BYTES. */
struct kvc_memcached_place kvc_memcached_slabs_add(struct kvc_memcached_slabs *slabs,
                                                   const struct kvc_memcached_slab_sizes *sizes,
                                                   uint32_t item_bytes, struct kvc_memcached_drain *drain);

/* Finds the pages of an item, none if it is in memory. Returns false if its slab is gone. */
bool kvc_memcached_slabs_find(const struct kvc_memcached_slabs *slabs,
                              const struct kvc_memcached_slab_sizes *sizes,
                              const struct kvc_memcached_place *place, uint32_t item_bytes,
                              struct kvc_memcached_pages *pages);

/* The real table of one server: memcached's chained one, MICA with a partition for each core, or the buckets
 * of an FPGA. It determines whether a request hits and how many lines it touches.
 *
 * Fatcache's instances share one table, whose items store their places in the slabs. */

struct kvc_mica;
struct kvc_table;

struct kvc_memcached_shard {
    const struct kvc_memcached_config *config;
    struct kvc_mica *mica;             /* Exactly one of the two is not NULL. */
    struct kvc_table *table;           /* The FPGA's has sets, the others are chained. */
    uint8_t *value;                    /* Room for the largest value. */
    uint32_t value_room;               /* [bytes] */
    struct kvc_memcached_slabs *slabs; /* Fatcache: the slabs of each instance. */
    uint32_t clock; /* Next timestamp of the FPGA's table, which orders its items by use. */
    struct kvc_index_stats stats;
};

/* One request for a table. */
struct kvc_memcached_access {
    enum kvc_op op;
    const uint8_t *key;
    uint32_t key_bytes, value_bytes;
    double now_ns;
};

/* Pages of the SSD that a request waits for. */
struct kvc_memcached_blocks {
    struct kvc_memcached_pages read, written; /* All reads complete before the first write. */
};

/* Outcome of a request. */
struct kvc_memcached_found {
    bool hit;       /* The key was stored before. */
    uint32_t lines; /* Lines of the table that the request touched. */
    struct kvc_memcached_blocks blocks;
};

/* Returns the size of a table [bytes]. */
double kvc_memcached_shard_bytes(const struct kvc_memcached_config *config);

/* Returns the memory of a table that holds `items` pairs of this mean size [bytes]. */
double kvc_memcached_shard_memory_bytes(const struct kvc_memcached_config *config, double items,
                                        double key_bytes, double value_bytes);

struct kvc_memcached_found kvc_memcached_shard_run(struct kvc_memcached_shard *shard,
                                                   const struct kvc_memcached_access *access);

/* Returns the thread that owns a key. */
uint32_t kvc_memcached_shard_owner(const struct kvc_memcached_shard *shard, const uint8_t *key,
                                   uint32_t key_bytes);

/* Returns the share of the table's entries that hold an item. */
double kvc_memcached_shard_load_frac(const struct kvc_memcached_shard *shard);

struct kvc_memcached_store {
    struct kvc_memcached_shard *shard;
    uint32_t shards;
    double preload_wall_s;
};

/* Returns the memory of a replica's tables and recorder [bytes]. */
double kvc_memcached_memory_bytes(const struct kvc_scenario *scenario);

/* Creates and fills the tables. `*state` becomes a struct kvc_memcached_store. */
enum kvc_status kvc_memcached_store_create(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                                           const struct kvc_progress *progress, struct kvc_diag *diag);
void kvc_memcached_store_free(struct kvc_memcached_store *store);

#endif
