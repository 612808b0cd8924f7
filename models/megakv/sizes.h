/* Bytes of Mega-KV's items, requests and responses, and their means over a workload. */
#ifndef KVC_MODELS_MEGAKV_SIZES_H
#define KVC_MODELS_MEGAKV_SIZES_H

#include <stdint.h>

#include "models/megakv/options.h"
#include "sim/devices/dram.h"
#include "sim/devices/nic.h"
#include "sim/workload/batch.h"
#include "sim/workload/workload.h"

/* Outcome of a request at its sender. */
enum kvc_megakv_outcome {
    KVC_MEGAKV_HIT,
    KVC_MEGAKV_MISS,     /* The search found no location. */
    KVC_MEGAKV_MISMATCH, /* The search found a location, but its item was evicted or has another key. */
    KVC_MEGAKV_DONE,     /* A SET or DELETE. */
    KVC_MEGAKV_OUTCOMES,
};

/* Returns the bytes that the measured costs of an item refer to. An item within one line counts its own
 * bytes. A larger one counts whole lines, averaged over the places that its size class has in a slab,
 * because memory delivers lines. */
double kvc_megakv_touched_bytes(uint32_t key_bytes, uint32_t value_bytes);

/* Returns the number of cache lines of an item with its header. */
double kvc_megakv_item_lines(const struct kvc_dram *dram, uint32_t key_bytes, uint32_t value_bytes);

/* Returns the payload of a response: the value of a hit, and its key under KVC_MEGAKV_GETK [bytes]. */
double kvc_megakv_response_payload(enum kvc_megakv_api api, enum kvc_megakv_outcome outcome,
                                   uint32_t key_bytes, uint32_t value_bytes);

/* Return the bytes of a request, and of a response, inside a frame. */
double kvc_megakv_request_bytes(const struct kvc_nic *nic, enum kvc_op op, uint32_t key_bytes,
                                uint32_t value_bytes);
double kvc_megakv_response_bytes(const struct kvc_nic *nic, enum kvc_megakv_api api,
                                 enum kvc_megakv_outcome outcome, uint32_t key_bytes, uint32_t value_bytes);

/* Returns the outcome that the means assume for an operation: every GET hits. */
enum kvc_megakv_outcome kvc_megakv_usual_outcome(enum kvc_op op);

/* Returns the share of an operation in the workload's requests. */
double kvc_megakv_op_frac(const struct kvc_workload *workload, enum kvc_op op);

/* The sizes of one key, which represents a share of all keys. */
struct kvc_megakv_size_sample {
    double weight; /* Share of the keys that the sample stands for. */
    uint8_t key_bytes;
    uint32_t value_bytes;
};

enum { KVC_MEGAKV_SIZE_SAMPLES_MAX = 4096 };

/* Fills up to KVC_MEGAKV_SIZE_SAMPLES_MAX samples of the workload's keys and returns their number: 1 if all
 * keys have the same sizes. */
uint32_t kvc_megakv_sample_sizes(const struct kvc_workload *workload, struct kvc_megakv_size_sample *sample);

/* The means over the workload's operations and keys if all GETs hit. */
struct kvc_megakv_means {
    double request_bytes, response_bytes; /* Inside a frame. */
    double key_bytes;                     /* Length of a key. */
    double item_bytes;                    /* Size class of an item. */
    double touched_bytes;                 /* kvc_megakv_touched_bytes(). */
    double dram_bytes;                    /* Moved between memory and cores for a request. */
};

/* Returns the means. `dram` or `nic` may be NULL; the means that need the device are then 0. */
struct kvc_megakv_means kvc_megakv_means_of(const struct kvc_workload *workload, const struct kvc_dram *dram,
                                            const struct kvc_nic *nic, enum kvc_megakv_api api);

#endif
