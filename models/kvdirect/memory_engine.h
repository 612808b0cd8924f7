/* KV-Direct's unified memory access engine: what steps of dispatch.h take, over PCIe and in the NIC's DRAM.
 *
 * The DRAM is one channel: every line that is read or written occupies it for its bytes, in order, and data
 * is there a latency later. A fetched line is stored, and an evicted one sent to the host, behind the
 * operation's back; so are the slab allocator's own DMAs. They take their share of channel, links and
 * credits. */
#ifndef KVC_MODELS_KVDIRECT_MEMORY_ENGINE_H
#define KVC_MODELS_KVDIRECT_MEMORY_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/kvdirect/dispatch.h"
#include "models/kvdirect/gather.h"
#include "sim/base/events.h"
#include "sim/devices/pcie_engine.h"
#include "sim/devices/fpga.h"

enum { KVC_KVDIRECT_ENDPOINTS_MAX = 8 };

/* Kinds of events: the engines', this one's, and from KVC_KVDIRECT_MEMORY_KINDS on those of who uses it. */
enum {
    KVC_KVDIRECT_DRAM_DONE = KVC_PCIE_KINDS,
    KVC_KVDIRECT_GATHERED,
    KVC_KVDIRECT_GATHER_WAITED,
    KVC_KVDIRECT_MEMORY_KINDS
};

struct kvc_kvdirect_part;

struct kvc_kvdirect_memory_engine {
    const struct kvc_pcie *pcie;
    const struct kvc_fpga *fpga;
    struct kvc_events *events;
    struct kvc_pcie_root root;
    struct kvc_pcie_engine engine[KVC_KVDIRECT_ENDPOINTS_MAX];
    struct kvc_kvdirect_gather gather;
    uint32_t *done; /* who is told next: a batch that was gathered ends many steps at once */
    uint32_t done_count, done_capacity;
    double dram_free_ns, dram_busy_ns;
    struct kvc_kvdirect_part *part; /* steps under way */
    uint32_t *free_part;
    uint32_t part_count, free_count;
    uint64_t dram_lines, host_reads, host_writes; /* DMA operations, the background's included */
};

/* `gather_cores`: of the host that access memory for the card; 0: it does so itself. */
void kvc_kvdirect_memory_engine_open(struct kvc_kvdirect_memory_engine *memory, const struct kvc_pcie *pcie,
                                     const struct kvc_fpga *fpga, uint32_t gather_cores,
                                     struct kvc_events *events, uint64_t seed);
void kvc_kvdirect_memory_engine_close(struct kvc_kvdirect_memory_engine *memory);

/* Begins a step for `who`. */
void kvc_kvdirect_memory_engine_start(struct kvc_kvdirect_memory_engine *memory, double now_ns,
                                      const struct kvc_kvdirect_step *step, uint32_t tag);

/* The slab allocator reads or writes `count` batches of its stacks in host memory. */
void kvc_kvdirect_memory_engine_sync(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint64_t reads,
                                     uint64_t writes);

/* Goes on with an event of a kind below KVC_KVDIRECT_MEMORY_KINDS. Whose steps are done, at its time, is in
 * done[0
 * .. done_count - 1] until the next call. */
void kvc_kvdirect_memory_engine_handle(struct kvc_kvdirect_memory_engine *memory,
                                       const struct kvc_event *event);

#endif
