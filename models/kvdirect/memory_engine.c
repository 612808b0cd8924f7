#include "models/kvdirect/memory_engine.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/serve.h"

enum { BACKGROUND = UINT32_MAX, PARTS_FIRST = 1024, SYNC_BYTES = 64 };

/* Flag that tells the number of a gathered batch from that of a step. */
#define FETCH UINT32_C(0x80000000)

/* Stands for the step number in writes to the queue of addresses, which belong to no step. */
#define QUEUED UINT32_MAX

struct kvc_kvdirect_part {
    uint32_t tag;     /* BACKGROUND: no operation waits for it. */
    uint32_t packets; /* DMA packets that are still to come. */
    struct kvc_kvdirect_step step;
    bool looked; /* The tag has been read from the DRAM. */
};

static void add_parts(struct kvc_kvdirect_memory_engine *memory)
{
    uint32_t count = memory->part_count > 0 ? 2 * memory->part_count : PARTS_FIRST;
    memory->part = kvc_array_grown(memory->part, count, sizeof(*memory->part));
    memory->free_part = kvc_array_grown(memory->free_part, count, sizeof(*memory->free_part));
    while (memory->part_count < count) {
        memory->free_part[memory->free_count++] = memory->part_count++;
    }
}

void kvc_kvdirect_memory_engine_open(struct kvc_kvdirect_memory_engine *memory, const struct kvc_pcie *pcie,
                                     const struct kvc_fpga *fpga, uint32_t gather_cores,
                                     struct kvc_events *events, uint64_t seed)
{
    *memory = (struct kvc_kvdirect_memory_engine){.pcie = pcie, .fpga = fpga, .events = events};
    kvc_kvdirect_gather_open(&memory->gather, gather_cores, pcie->core_reads_per_s, events,
                             KVC_KVDIRECT_GATHERED, KVC_KVDIRECT_GATHER_WAITED);
    for (uint16_t i = 0; i < pcie->endpoints; i++) {
        kvc_pcie_engine_open(&memory->engine[i], pcie, &memory->root, events, i, seed);
    }
    add_parts(memory);
}

void kvc_kvdirect_memory_engine_close(struct kvc_kvdirect_memory_engine *memory)
{
    for (uint16_t i = 0; i < memory->pcie->endpoints; i++) {
        kvc_pcie_engine_close(&memory->engine[i]);
    }
    kvc_kvdirect_gather_close(&memory->gather);
    free(memory->part);
    free(memory->free_part);
    free(memory->done);
}

/* Starts a DMA operation of the NIC. */
static void use_dma(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t part,
                    uint16_t endpoint, uint32_t bytes, bool write)
{
    memory->host_reads += !write;
    memory->host_writes += write;
    if (write) {
        kvc_pcie_engine_write(&memory->engine[endpoint], now_ns, bytes, part);
    } else {
        kvc_pcie_engine_read(&memory->engine[endpoint], now_ns, bytes, part);
    }
}

static void use_host(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t part, uint32_t bytes,
                     bool write)
{
    memory->part[part].packets = kvc_pcie_packets(memory->pcie, bytes);
    if (memory->gather.cores > 0) {
        kvc_kvdirect_gather_add(&memory->gather, now_ns, part, bytes, write);
    } else {
        use_dma(memory, now_ns, part, memory->part[part].step.endpoint, bytes, write);
    }
}

/* Occupies the DRAM's channel for one line and returns when it is free again. */
static double use_dram(struct kvc_kvdirect_memory_engine *memory, double now_ns)
{
    double line_ns = kvc_fpga_dram_ns(memory->fpga, KVC_KVDIRECT_LINE_BYTES);
    memory->dram_lines++;
    return kvc_serve(&memory->dram_free_ns, &memory->dram_busy_ns, now_ns, line_ns);
}

static uint32_t new_part(struct kvc_kvdirect_memory_engine *memory, const struct kvc_kvdirect_step *step,
                         uint32_t tag)
{
    if (memory->free_count == 0) {
        add_parts(memory);
    }
    uint32_t part = memory->free_part[--memory->free_count];
    memory->part[part] = (struct kvc_kvdirect_part){.tag = tag, .step = *step};
    return part;
}

void kvc_kvdirect_memory_engine_start(struct kvc_kvdirect_memory_engine *memory, double now_ns,
                                      const struct kvc_kvdirect_step *step, uint32_t tag)
{
    uint32_t part = new_part(memory, step, tag);
    if (step->kind == KVC_KVDIRECT_HOST_READ || step->kind == KVC_KVDIRECT_HOST_WRITE) {
        use_host(memory, now_ns, part, step->bytes, step->kind == KVC_KVDIRECT_HOST_WRITE);
    } else {
        kvc_events_add(memory->events, use_dram(memory, now_ns) + memory->fpga->dram_ns,
                       KVC_KVDIRECT_DRAM_DONE, 0, part);
    }
}

static void start_background(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint16_t endpoint,
                             uint32_t bytes, bool write)
{
    const struct kvc_kvdirect_step step = {.kind = write ? KVC_KVDIRECT_HOST_WRITE : KVC_KVDIRECT_HOST_READ,
                                           .endpoint = endpoint,
                                           .bytes = (uint16_t)bytes};
    kvc_kvdirect_memory_engine_start(memory, now_ns, &step, BACKGROUND);
}

void kvc_kvdirect_memory_engine_sync(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint64_t reads,
                                     uint64_t writes)
{
    for (uint64_t i = 0; i < reads + writes; i++) { /* The NIC itself transfers whole lines. */
        start_background(memory, now_ns, (uint16_t)(i % memory->pcie->endpoints), SYNC_BYTES, i >= reads);
    }
}

/* Ends a step and reports its tag. */
static void end(struct kvc_kvdirect_memory_engine *memory, uint32_t part)
{
    uint32_t tag = memory->part[part].tag;
    memory->free_part[memory->free_count++] = part;
    if (tag == BACKGROUND) {
        return;
    }
    if (memory->done_count == memory->done_capacity) {
        memory->done_capacity =
            memory->done_capacity > 0 ? 2 * memory->done_capacity : KVC_KVDIRECT_GATHER_BATCH;
        memory->done = kvc_array_grown(memory->done, memory->done_capacity, sizeof(*memory->done));
    }
    memory->done[memory->done_count++] = tag;
}

static void store_line(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t part)
{
    kvc_events_add(memory->events, use_dram(memory, now_ns), KVC_KVDIRECT_DRAM_DONE, 0, part);
}

/* Continues a step whose tag has been read from the DRAM, or whose line has been written to it. */
static void dram_done(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t number)
{
    struct kvc_kvdirect_part *part = &memory->part[number];
    struct kvc_kvdirect_step step = part->step;
    if (part->looked || step.kind == KVC_KVDIRECT_CACHE_READ) {
        end(memory, number);
        return;
    }
    part->looked = true;
    if (step.evicts) {
        start_background(memory, now_ns, step.endpoint, KVC_KVDIRECT_LINE_BYTES, true);
    }
    if (step.kind == KVC_KVDIRECT_CACHE_FETCH || step.fetches) {
        use_host(memory, now_ns, number, KVC_KVDIRECT_LINE_BYTES, false);
    } else {
        store_line(memory, now_ns, number);
    }
}

/* Continues a step after the host has finished its part. */
static void host_done(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t number)
{
    const struct kvc_kvdirect_part *part = &memory->part[number];
    if (part->step.kind == KVC_KVDIRECT_CACHE_WRITE) {
        store_line(memory, now_ns, number);
        return;
    }
    if (part->step.kind == KVC_KVDIRECT_CACHE_FETCH) {
        use_dram(memory, now_ns);
    }
    end(memory, number);
}

static void batch_done(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t number)
{
    uint32_t count = memory->gather.batch[number].count;
    for (uint32_t i = 0; i < count; i++) { /* A step that ends can start others, and the array may move. */
        host_done(memory, now_ns, memory->gather.batch[number].part[i]);
    }
    kvc_kvdirect_gather_release(&memory->gather, number);
}

/* Handles a batch that the cores have done. Its addresses and written data cross the links in the
 * background; the NIC waits for the data that it reads. */
static void gathered(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t number)
{
    struct kvc_kvdirect_gather_batch *batch = &memory->gather.batch[number];
    uint32_t addresses = batch->count * KVC_KVDIRECT_GATHER_ADDRESS_BYTES, bytes = batch->read_bytes;
    uint16_t endpoint = (uint16_t)(batch->number % memory->pcie->endpoints);
    batch->packets = bytes > 0 ? kvc_pcie_packets(memory->pcie, bytes) : 0;
    use_dma(memory, now_ns, QUEUED, endpoint, addresses + batch->written_bytes, true);
    if (bytes > 0) {
        use_dma(memory, now_ns, FETCH | number, endpoint, bytes, false);
    } else {
        batch_done(memory, now_ns, number);
    }
}

void kvc_kvdirect_memory_engine_handle(struct kvc_kvdirect_memory_engine *memory,
                                       const struct kvc_event *event)
{
    uint32_t number;
    memory->done_count = 0;
    if (event->kind == KVC_KVDIRECT_DRAM_DONE) {
        dram_done(memory, event->time_ns, event->tag);
    } else if (event->kind == KVC_KVDIRECT_GATHERED) {
        gathered(memory, event->time_ns, event->tag);
    } else if (event->kind == KVC_KVDIRECT_GATHER_WAITED) {
        kvc_kvdirect_gather_waited(&memory->gather, event);
    } else if (!kvc_pcie_engine_handle(&memory->engine[event->unit], event, &number)) {
        return;
    } else if (number == QUEUED) {
        return;
    } else if ((number & FETCH) != 0 && --memory->gather.batch[number & ~FETCH].packets == 0) {
        batch_done(memory, event->time_ns, number & ~FETCH);
    } else if ((number & FETCH) == 0 && --memory->part[number].packets == 0) {
        host_done(memory, event->time_ns, number);
    }
}
