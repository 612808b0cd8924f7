/* KV-Direct's unified memory access engine simulates how long the steps of dispatch.h take on PCIe and in the
 * NIC's DRAM.
 *
 * The DRAM is one channel. Every line that is read or written occupies it for the time of its bytes, in
 * order; the data arrives one latency later. Storing a fetched line, sending an evicted line to the host, and
 * the slab allocator's own DMA operations happen in the background: no operation waits for them, but they
 * take their share of channel, links and credits.
 *
 * A line that is fetched or written is under way until its data is there, and its place of the cache waits
 * with it. Reads of the line get the data when it arrives. Other steps on the place start over then. So no
 * line is fetched twice, and none is found before it has arrived. */
#ifndef KVC_MODELS_KVDIRECT_MEMORY_ENGINE_H
#define KVC_MODELS_KVDIRECT_MEMORY_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/kvdirect/dispatch.h"
#include "sim/base/events.h"
#include "sim/devices/fpga.h"
#include "sim/devices/pcie.h"

/* Gathering: host cores do the random memory accesses for KV-Direct's NIC.
 *
 * Source: KV-Direct (SOSP 2017), sec. 6.1, fig. 18 and 19. The NIC writes addresses, and data to be
 * written, into a queue in host memory. Cores poll it, do the random accesses, and put the data that they
 * read into another queue. One doorbell announces a whole batch to the NIC, which fetches it with DMA reads
 * of the largest payload.
 *
 * A batch is complete when it is full, or when its first access has waited for the time that a core needs for
 * a full batch. The queue of addresses is written in the background and takes its share of the links. Not
 * modelled: other work of the cores. */

enum {
    KVC_KVDIRECT_GATHER_BATCH = 256, /* Accesses of a batch, sec. 6.1. */
    KVC_KVDIRECT_GATHER_ADDRESS_BYTES = 8,
    KVC_KVDIRECT_GATHER_CORES_MAX = 64,
};

struct kvc_kvdirect_gather_batch {
    uint32_t part[KVC_KVDIRECT_GATHER_BATCH]; /* Step of each access. */
    uint32_t count, read_bytes, written_bytes;
    uint32_t packets; /* Packets of the fetch that are still to come. */
    uint64_t number;  /* Number among all batches. */
};

struct kvc_kvdirect_gather {
    uint32_t cores;   /* Host cores; 0: the NIC accesses memory itself. */
    double access_ns; /* Time of an access on a core. */
    struct kvc_events *events;
    uint16_t full_kind; /* Kind of the event at which a core has finished a batch. */
    uint16_t wait_kind; /* Kind of the event at which a batch has waited long enough. */
    double core_free_ns[KVC_KVDIRECT_GATHER_CORES_MAX];
    struct kvc_kvdirect_gather_batch *batch; /* An array that grows. */
    uint32_t *free_batch;
    uint32_t batches, free_count;
    int32_t filling;   /* The batch being filled; NONE: no batch. */
    uint64_t begun;    /* Batches begun so far. */
    uint64_t accesses; /* Accesses added so far. */
    double busy_ns;    /* Busy time of all cores. */
};

/* Opens the gathering. `core_reads_per_s` is the rate at which one core accesses memory. */
void kvc_kvdirect_gather_open(struct kvc_kvdirect_gather *gather, uint32_t cores, double core_reads_per_s,
                              struct kvc_events *events, uint16_t full_kind, uint16_t wait_kind);
void kvc_kvdirect_gather_close(struct kvc_kvdirect_gather *gather);

/* Adds the access of a step to the current batch. Exits with status 3 if memory is short. */
void kvc_kvdirect_gather_add(struct kvc_kvdirect_gather *gather, double now_ns, uint32_t part, uint32_t bytes,
                             bool write);

/* Handles an event of wait_kind: a core gets the batch unless the batch is already full. */
void kvc_kvdirect_gather_waited(struct kvc_kvdirect_gather *gather, const struct kvc_event *event);

/* Releases a batch whose accesses are all done. */
void kvc_kvdirect_gather_release(struct kvc_kvdirect_gather *gather, uint32_t batch);

enum {
    KVC_KVDIRECT_ENDPOINTS_MAX = 8,
    KVC_KVDIRECT_UNDER_WAY_LISTS = 1024, /* A power of two. */
};

/* Kinds of events: first the PCIe engines' kinds, then this engine's, and from KVC_KVDIRECT_MEMORY_KINDS
 * on the caller's. */
enum {
    KVC_KVDIRECT_DRAM_DONE = KVC_PCIE_KINDS,
    KVC_KVDIRECT_GATHERED,
    KVC_KVDIRECT_GATHER_WAITED,
    KVC_KVDIRECT_MEMORY_KINDS
};

/* Lanes of events (sim/base/events.h): first those of the PCIe engines, then this engine's, and from
 * KVC_KVDIRECT_MEMORY_LANES_END on the caller's. */
enum {
    KVC_KVDIRECT_LANE_READ = KVC_PCIE_LANES_END, /* A line has been read from the DRAM. */
    KVC_KVDIRECT_LANE_STORE,                     /* A line has been written to it. */
    KVC_KVDIRECT_MEMORY_LANES_END
};

struct kvc_kvdirect_part;

struct kvc_kvdirect_memory_engine {
    const struct kvc_pcie *pcie;
    const struct kvc_fpga *fpga;
    struct kvc_kvdirect_dispatch *dispatch;
    struct kvc_events *events;
    struct kvc_pcie_root root;
    struct kvc_pcie_engine engine[KVC_KVDIRECT_ENDPOINTS_MAX];
    struct kvc_kvdirect_gather gather;
    uint32_t *done; /* Tags of the steps that the latest event ended; a gathered batch ends many. */
    uint32_t done_count, done_capacity;
    double line_ns; /* Time for which a line occupies the DRAM's channel. */
    double dram_free_ns, dram_busy_ns;
    struct kvc_kvdirect_part *part; /* Steps in flight. */
    uint32_t *free_part;
    uint32_t part_count, free_count;
    uint32_t under_way[KVC_KVDIRECT_UNDER_WAY_LISTS]; /* First part of each list of lines in flight. */
    uint64_t dram_lines, host_reads,
        host_writes; /* Lines and DMA operations, including those in the background. */
};

/* Opens the engine with the cache of `dispatch`, which must outlive it. `gather_cores` is the number of host
 * cores that access memory for the NIC; 0: the NIC does so itself. Exits with status 3 if memory is short. */
void kvc_kvdirect_memory_engine_open(struct kvc_kvdirect_memory_engine *memory, const struct kvc_pcie *pcie,
                                     const struct kvc_fpga *fpga, struct kvc_kvdirect_dispatch *dispatch,
                                     uint32_t gather_cores, struct kvc_events *events, uint64_t seed);
void kvc_kvdirect_memory_engine_close(struct kvc_kvdirect_memory_engine *memory);

/* Starts a step. `tag` identifies it in `done`. If the step is open, the engine looks it up in the cache, now
 * or after lines that are in flight, and has changed *step accordingly when it is done; until then, *step
 * must not move in memory. */
void kvc_kvdirect_memory_engine_start(struct kvc_kvdirect_memory_engine *memory, double now_ns,
                                      struct kvc_kvdirect_step *step, uint32_t tag);

/* Starts the DMA operations with which the slab allocator synchronizes its stacks with host memory. */
void kvc_kvdirect_memory_engine_sync(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint64_t reads,
                                     uint64_t writes);

/* Handles an event of a kind below KVC_KVDIRECT_MEMORY_KINDS. The tags of the steps that end at its time are
 * done[0] to done[done_count - 1] until the next call. */
void kvc_kvdirect_memory_engine_handle(struct kvc_kvdirect_memory_engine *memory,
                                       const struct kvc_event *event);

#endif
