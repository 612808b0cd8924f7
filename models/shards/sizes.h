/* Bytes of items, requests and responses, and their means over a workload. */
#ifndef KVC_MODELS_SHARDS_SIZES_H
#define KVC_MODELS_SHARDS_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/dram.h"
#include "sim/devices/nic.h"
#include "sim/workload/batch.h"
#include "sim/workload/workload.h"

/* Returns the bytes that the measured costs of an item refer to. An item within one line counts its own
 * bytes. A larger one counts whole lines, averaged over the places that its size class has in a slab,
 * because memory delivers lines. */
double kvc_shards_touched_bytes(uint32_t key_bytes, uint32_t value_bytes);

/* Returns the smallest power of two of bytes whose table `keys` keys fill to nine tenths at most. A table of
 * buckets of 8 slots, of which a key has two, takes nearly as many keys as it has slots (Dietzfelbinger and
 * Weidling, "Balanced allocation and dictionaries with tightly packed constant size bins", TCS 380, 2007); at
 * nine tenths, few inserts displace other keys. */
double kvc_shards_index_bytes(double keys);

/* Returns the slots of a table of this size, and so the keys that it has room for. */
double kvc_shards_slots(double index_bytes);

/* Returns the number of cache lines of an item with its header. */
double kvc_shards_item_lines(const struct kvc_dram *dram, uint32_t key_bytes, uint32_t value_bytes);

/* Returns the payload of a hit's response: the value and, if `with_key`, the key [bytes]. */
uint32_t kvc_shards_hit_payload(bool with_key, uint32_t key_bytes, uint32_t value_bytes);

/* Returns the bytes of a request inside a frame. */
double kvc_shards_request_bytes(const struct kvc_nic *nic, enum kvc_op op, uint32_t key_bytes,
                                uint32_t value_bytes);

/* Returns the share of an operation in the workload's requests. */
double kvc_shards_op_frac(const struct kvc_workload *workload, enum kvc_op op);

/* The sizes of one key, which represents a share of all keys. */
struct kvc_shards_size_sample {
    double weight;                 /* Share of the keys that the sample stands for. */
    double requests[KVC_OP_COUNT]; /* Share of all requests that are this operation on these keys. */
    uint8_t key_bytes;
    uint32_t value_bytes;
};

enum { KVC_SHARDS_SIZE_SAMPLES_MAX = 4096 };

/* Fills up to KVC_SHARDS_SIZE_SAMPLES_MAX samples of the workload's keys and returns their number: 1 if all
 * keys have the same sizes, and one for each of several tenants or of the
 * sizes of values by rank. */
uint32_t kvc_shards_sample_sizes(const struct kvc_workload *workload, struct kvc_shards_size_sample *sample);

/* The means over the workload's operations and keys if all GETs hit. */
struct kvc_shards_means {
    double request_bytes, response_bytes; /* Bytes inside a frame. */
    double key_bytes;                     /* Length of a key. */
    double item_bytes;                    /* Size class of an item. */
    double touched_bytes;                 /* kvc_shards_touched_bytes(). */
    double dram_bytes;                    /* Bytes moved between memory and cores for a request. */
};

/* Returns the means. `dram` or `nic` may be NULL; the means that need the device are then 0. `with_key`: the
 * response to a GET that hits contains the key. */
struct kvc_shards_means kvc_shards_means_of(const struct kvc_workload *workload, const struct kvc_dram *dram,
                                            const struct kvc_nic *nic, bool with_key);

#endif
