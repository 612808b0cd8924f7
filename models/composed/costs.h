/* The time of a stage for a batch on the scenario's devices. Simulation and closed form share it; the closed
 * form counts what the mean batch has. */
#ifndef KVC_MODELS_COMPOSED_COSTS_H
#define KVC_MODELS_COMPOSED_COSTS_H

#include <stdint.h>

#include "models/composed/config.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"

/* What a batch consists of, and what the operations of one stage touched for it. */
struct kvc_composed_counts {
    double requests;               /* Requests of all operations. */
    double ops[KVC_OP_COUNT];      /* Requests by operation. */
    double hits;                   /* GETs that hit. */
    double hots;                   /* GETs that the hot tier answers. */
    double op_bytes[KVC_OP_COUNT]; /* Keys, and values of SETs and of GETs that have found them [bytes]. */
    double request_bytes, response_bytes; /* Of requests and responses in frames [bytes]. */
    double filled,
        filled_bytes; /* GETs whose values the store takes from a database; keys and values [bytes]. */
    /* The following are those of a stage. */
    double searches, search_lines; /* Searches, and lines of the index that they touched. */
    double inserts, insert_lines;
    double erases, erase_lines;
    double next_lines;         /* Those of these lines that follow another one in memory. */
    double written_next_lines; /* Those of them that inserts touch. */
    double written_bytes;      /* Bytes of items that are written. */
    double compared;           /* Items whose keys alone are compared. */
    double items, item_lines;  /* Items that are read, and their lines. */
    double copied_bytes;       /* Keys that are read or written, and values [bytes]. */
};

/* Adds `times` times the requests of `counts` to a sum; what one stage touched is left out. */
void kvc_composed_counts_add(struct kvc_composed_counts *sum, const struct kvc_composed_counts *counts,
                             double times);

/* Cost of a batch in a stage. */
struct kvc_composed_cost {
    double busy_ns;    /* Time for which it occupies a server; on a GPU, that of its kernel alone [ns]. */
    double latency_ns; /* Time after it until the batch reaches the next stage [ns]. */
    double core_ns;    /* CPU: time of all cores that share the batch [ns]. */
    double issue_ns;   /* CPU: time of these in which a thread needs the issue slots of a shared core [ns]. */
    double root_ns;    /* Links: time for which it occupies the root complex in its direction [ns]. */
    double channel_ns; /* Time for which it occupies channels of host memory, summed over them [ns]. */
    double cxl_ns;     /* The same of the memory behind CXL, spread over its channels [ns]. */
    double card_ns;    /* As channel_ns, of the card's memory [ns]. */
    double dma_ns;     /* Time for which it occupies the card's PCIe links with packets [ns]. */
    double bytes;      /* Links: bytes that cross it. */
    struct kvc_gpu_kernel kernel; /* GPU: the kernel. */
};

/* How fast the machine is at the moment. */
struct kvc_composed_pace {
    double core_speed;  /* Speed of the cores at their clock, relative to their fastest. */
    uint32_t gpu_clock; /* Clock pair of the GPU. */
};

/* Returns the pace at the clocks of the scenario. */
struct kvc_composed_pace kvc_composed_pace_of(const struct kvc_composed_config *config);

/* Returns the bytes that a read of each page fetches for an item of `bytes` on flash. */
double kvc_composed_fetched_bytes(const struct kvc_composed_config *config, double bytes);

/* Returns the operations of flash for what a stage does for a batch, in closed form. */
struct kvc_flash_load kvc_composed_flash_load(const struct kvc_composed_config *config, uint32_t stage,
                                              const struct kvc_composed_counts *counts);

/* Returns for how long a page stays in the write buffer while it is programmed [ns]. */
double kvc_composed_program_ns(const struct kvc_flash *flash);

/* Returns for how long a load occupies flash: its busiest part, the chip with the most popular items, the
 * tags for reads, or the write buffer [ns]. */
double kvc_composed_flash_busy_ns(const struct kvc_composed_config *config,
                                  const struct kvc_flash_load *load);

/* Returns the share of the batches with such counts that wait for answers of storage, in closed form. */
double kvc_composed_waits_frac(const struct kvc_composed_config *config, uint32_t stage,
                               const struct kvc_composed_counts *counts);

/* Returns the cost of a stage for a batch. */
struct kvc_composed_cost kvc_composed_cost_of(const struct kvc_composed_config *config, uint32_t stage,
                                              const struct kvc_composed_counts *counts,
                                              const struct kvc_composed_pace *pace);

#endif
