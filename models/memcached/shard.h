/* The real table of one server: memcached's chained one, MICA with a partition for each core, or the buckets
 * of an FPGA. It says whether a request hits and how many lines it touches.
 *
 * Fatcache's instances share one table here, whose items say where the slabs hold them. */
#ifndef KVC_MODELS_MEMCACHED_SHARD_H
#define KVC_MODELS_MEMCACHED_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/index.h"
#include "models/memcached/config.h"
#include "sim/workload/batch.h"

struct kvc_chained;
struct kvc_mica;
struct kvc_set_assoc;

struct kvc_memcached_shard {
    const struct kvc_memcached_config *config;
    struct kvc_chained *chained; /* Exactly one of the three is not NULL. */
    struct kvc_mica *mica;
    struct kvc_set_assoc *set_assoc;
    uint8_t *value;                    /* Room for the largest value. */
    uint32_t value_room;               /* [bytes] */
    struct kvc_memcached_slabs *slabs; /* Fatcache: of each instance. */
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
    struct kvc_memcached_pages read, written; /* All are read before the first is written. */
};

/* What it did. */
struct kvc_memcached_found {
    bool hit;       /* The key was stored before. */
    uint32_t lines; /* Lines of the table that it touched. */
    struct kvc_memcached_blocks blocks;
};

/* Returns the room of a table [bytes]. */
double kvc_memcached_shard_bytes(const struct kvc_memcached_config *config);

/* Returns the memory that a table takes that holds `items` pairs of this mean size [bytes]. */
double kvc_memcached_shard_memory_bytes(const struct kvc_memcached_config *config, double items,
                                        double key_bytes, double value_bytes);

/* Creates an empty table. Returns false with errno if memory is short or the options contradict each other.
 */
bool kvc_memcached_shard_open(struct kvc_memcached_shard *shard, const struct kvc_memcached_config *config,
                              uint32_t value_bytes_max, uint64_t seed);
void kvc_memcached_shard_close(struct kvc_memcached_shard *shard);

struct kvc_memcached_found kvc_memcached_shard_run(struct kvc_memcached_shard *shard,
                                                   const struct kvc_memcached_access *access);

/* Returns the thread that owns a key. */
uint32_t kvc_memcached_shard_owner(const struct kvc_memcached_shard *shard, const uint8_t *key,
                                   uint32_t key_bytes);

/* Returns the share of the table's entries that hold an item. */
double kvc_memcached_shard_load_frac(const struct kvc_memcached_shard *shard);

#endif
