#include "models/kvdirect/memory_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/serve.h"

/* ---- gather ---- */

enum { NONE = -1 };

void kvc_kvdirect_gather_open(struct kvc_kvdirect_gather *gather, uint32_t cores, double core_reads_per_s,
                              struct kvc_events *events, uint16_t full_kind, uint16_t wait_kind)
{
    *gather = (struct kvc_kvdirect_gather){.cores = cores,
                                           .access_ns = cores > 0 ? 1e9 / core_reads_per_s : 0,
                                           .events = events,
                                           .full_kind = full_kind,
                                           .wait_kind = wait_kind,
                                           .filling = NONE};
}

void kvc_kvdirect_gather_close(struct kvc_kvdirect_gather *gather)
{
    free(gather->batch);
    free(gather->free_batch);
}

static uint32_t new_batch(struct kvc_kvdirect_gather *gather)
{
    if (gather->free_count == 0) {
        uint32_t count = gather->batches > 0 ? 2 * gather->batches : 8;
        gather->batch = kvc_array_grown(gather->batch, count, sizeof(*gather->batch));
        gather->free_batch = kvc_array_grown(gather->free_batch, count, sizeof(*gather->free_batch));
        while (gather->batches < count) {
            gather->free_batch[gather->free_count++] = gather->batches++;
        }
    }
    uint32_t number = gather->free_batch[--gather->free_count];
    gather->batch[number] = (struct kvc_kvdirect_gather_batch){.number = gather->begun++};
    return number;
}

/* Gives the batch to the core that becomes free first. */
static void give_to_core(struct kvc_kvdirect_gather *gather, double now_ns, uint32_t number)
{
    uint32_t first = 0;
    for (uint32_t core = 1; core < gather->cores; core++) {
        if (gather->core_free_ns[core] < gather->core_free_ns[first]) {
            first = core;
        }
    }
    double done_ns = kvc_serve(&gather->core_free_ns[first], &gather->busy_ns, now_ns,
                               gather->batch[number].count * gather->access_ns);
    kvc_events_add(gather->events, done_ns, gather->full_kind, 0, number);
    gather->filling = NONE;
}

void kvc_kvdirect_gather_add(struct kvc_kvdirect_gather *gather, double now_ns, uint32_t part, uint32_t bytes,
                             bool write)
{
    if (gather->filling == NONE) {
        gather->filling = (int32_t)new_batch(gather);
        /* `unit` distinguishes batches that reuse the same entry. */
        kvc_events_add(gather->events, now_ns + KVC_KVDIRECT_GATHER_BATCH * gather->access_ns,
                       gather->wait_kind, (uint16_t)gather->batch[gather->filling].number,
                       (uint32_t)gather->filling);
    }
    struct kvc_kvdirect_gather_batch *batch = &gather->batch[gather->filling];
    gather->accesses++;
    batch->part[batch->count++] = part;
    if (write) {
        batch->written_bytes += bytes;
    } else {
        batch->read_bytes += bytes;
    }
    if (batch->count == KVC_KVDIRECT_GATHER_BATCH) {
        give_to_core(gather, now_ns, (uint32_t)gather->filling);
    }
}

void kvc_kvdirect_gather_waited(struct kvc_kvdirect_gather *gather, const struct kvc_event *event)
{
    if (gather->filling == (int32_t)event->tag && (uint16_t)gather->batch[event->tag].number == event->unit) {
        give_to_core(gather, event->time_ns, event->tag);
    }
}

void kvc_kvdirect_gather_release(struct kvc_kvdirect_gather *gather, uint32_t batch)
{
    gather->free_batch[gather->free_count++] = batch;
}

enum { BACKGROUND = UINT32_MAX, NO_PART = UINT32_MAX, PARTS_FIRST = 1024, SYNC_BYTES = 64 };

/* Flag that distinguishes the number of a gathered batch from the number of a step. */
#define FETCH UINT32_C(0x80000000)

/* Step number of writes to the queue of addresses, which belong to no step. */
#define QUEUED UINT32_MAX

struct kvc_kvdirect_part {
    uint32_t tag;                   /* BACKGROUND: no operation waits for it. */
    uint32_t packets;               /* DMA packets that are still to come. */
    struct kvc_kvdirect_step *step; /* Step of an operation; NULL: the next field has it. */
    struct kvc_kvdirect_step own;
    bool looked;   /* The tag has been read from the DRAM. */
    bool holds;    /* The step's line is in flight and holds the line's place. */
    uint32_t next; /* Next part in the list of lines in flight, or in the list of waiting parts. */
    uint32_t first_waits, last_waits; /* Parts that wait for the place. */
};

static struct kvc_kvdirect_step *step_of(struct kvc_kvdirect_part *part)
{
    return part->step != NULL ? part->step : &part->own;
}

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
                                     const struct kvc_fpga *fpga, struct kvc_kvdirect_dispatch *dispatch,
                                     uint32_t gather_cores, struct kvc_events *events, uint64_t seed)
{
    *memory = (struct kvc_kvdirect_memory_engine){.pcie = pcie,
                                                  .fpga = fpga,
                                                  .dispatch = dispatch,
                                                  .events = events,
                                                  .line_ns = kvc_fpga_dram_ns(fpga, KVC_KVDIRECT_LINE_BYTES)};
    memset(memory->under_way, 0xff, sizeof(memory->under_way)); /* NO_PART. */
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
        use_dma(memory, now_ns, part, step_of(&memory->part[part])->endpoint, bytes, write);
    }
}

/* Occupies the DRAM's channel for one line and returns when it is free again. */
static double use_dram(struct kvc_kvdirect_memory_engine *memory, double now_ns)
{
    memory->dram_lines++;
    return kvc_serve(&memory->dram_free_ns, &memory->dram_busy_ns, now_ns, memory->line_ns);
}

static uint32_t new_part(struct kvc_kvdirect_memory_engine *memory, struct kvc_kvdirect_step *step,
                         uint32_t tag)
{
    if (memory->free_count == 0) {
        add_parts(memory);
    }
    uint32_t part = memory->free_part[--memory->free_count];
    memory->part[part] = (struct kvc_kvdirect_part){
        .tag = tag, .step = step, .next = NO_PART, .first_waits = NO_PART, .last_waits = NO_PART};
    return part;
}

/* ---- lines under way ---- */

/* Returns the head of the list that lines of the step's place are in. */
static uint32_t *list_of(struct kvc_kvdirect_memory_engine *memory, const struct kvc_kvdirect_step *step)
{
    return &memory->under_way[kvc_mix64(step->place) & (KVC_KVDIRECT_UNDER_WAY_LISTS - 1)];
}

/* Returns the part that holds the step's place, or NO_PART. */
static uint32_t holder_of(struct kvc_kvdirect_memory_engine *memory, const struct kvc_kvdirect_step *step)
{
    uint32_t part = *list_of(memory, step);
    while (part != NO_PART && step_of(&memory->part[part])->place != step->place) {
        part = memory->part[part].next;
    }
    return part;
}

static void hold(struct kvc_kvdirect_memory_engine *memory, uint32_t number)
{
    struct kvc_kvdirect_part *part = &memory->part[number];
    uint32_t *first = list_of(memory, step_of(part));
    part->holds = true;
    part->next = *first;
    *first = number;
}

static void wait_for(struct kvc_kvdirect_memory_engine *memory, uint32_t holder, uint32_t number)
{
    struct kvc_kvdirect_part *held = &memory->part[holder];
    if (held->first_waits == NO_PART) {
        held->first_waits = number;
    } else {
        memory->part[held->last_waits].next = number;
    }
    held->last_waits = number;
    memory->part[number].next = NO_PART;
}

/* Starts a step on the cache, which first reads line and tag from the DRAM. */
static void start_cached(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t number)
{
    struct kvc_kvdirect_step *step = step_of(&memory->part[number]);
    if (step->open && step->line_of == KVC_KVDIRECT_ALIKE) { /* The line is not the key's own. */
        kvc_kvdirect_dispatch_look(memory->dispatch, step);
    } else if (step->open) {
        uint32_t holder = holder_of(memory, step);
        if (holder != NO_PART) {
            wait_for(memory, holder, number);
            return;
        }
        kvc_kvdirect_dispatch_look(memory->dispatch, step);
        if (step->kind != KVC_KVDIRECT_CACHE_READ) {
            hold(memory, number);
        }
    }
    kvc_events_append(memory->events, KVC_KVDIRECT_LANE_READ,
                      use_dram(memory, now_ns) + memory->fpga->dram_ns, KVC_KVDIRECT_DRAM_DONE, 0, number);
}

static void start(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t number)
{
    const struct kvc_kvdirect_step *step = step_of(&memory->part[number]);
    if (step->kind == KVC_KVDIRECT_HOST_READ || step->kind == KVC_KVDIRECT_HOST_WRITE) {
        use_host(memory, now_ns, number, step->bytes, step->kind == KVC_KVDIRECT_HOST_WRITE);
    } else {
        start_cached(memory, now_ns, number);
    }
}

void kvc_kvdirect_memory_engine_start(struct kvc_kvdirect_memory_engine *memory, double now_ns,
                                      struct kvc_kvdirect_step *step, uint32_t tag)
{
    start(memory, now_ns, new_part(memory, step, tag));
}

static void start_background(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint16_t endpoint,
                             uint32_t bytes, bool write)
{
    uint32_t number = new_part(memory, NULL, BACKGROUND);
    memory->part[number].own =
        (struct kvc_kvdirect_step){.kind = write ? KVC_KVDIRECT_HOST_WRITE : KVC_KVDIRECT_HOST_READ,
                                   .endpoint = endpoint,
                                   .bytes = (uint16_t)bytes};
    start(memory, now_ns, number);
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

/* Removes a part from the list of lines in flight. */
static void unlist(struct kvc_kvdirect_memory_engine *memory, uint32_t number)
{
    struct kvc_kvdirect_part *part = &memory->part[number];
    uint32_t *link = list_of(memory, step_of(part));
    while (*link != number) {
        link = &memory->part[*link].next;
    }
    *link = part->next;
    part->holds = false;
}

/* Handles that the data of a line has arrived: its place gets the line, and waiting parts continue. */
static void arrive(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t number)
{
    if (!memory->part[number].holds) {
        return;
    }
    const struct kvc_kvdirect_step arrived = *step_of(&memory->part[number]);
    uint32_t next = memory->part[number].first_waits;
    kvc_kvdirect_dispatch_arrive(memory->dispatch, &arrived);
    unlist(memory, number);
    while (next != NO_PART) {
        uint32_t waiting = next;
        struct kvc_kvdirect_step *step = step_of(&memory->part[waiting]);
        next = memory->part[waiting].next;
        bool joins = step->line == arrived.line && step->kind == KVC_KVDIRECT_CACHE_READ &&
                     holder_of(memory, step) == NO_PART;
        if (joins) {
            step->open = false;
            step->kind = KVC_KVDIRECT_CACHE_JOIN;
            end(memory, waiting);
        } else {
            start_cached(memory, now_ns, waiting);
        }
    }
}

static void store_line(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t part)
{
    kvc_events_append(memory->events, KVC_KVDIRECT_LANE_STORE, use_dram(memory, now_ns),
                      KVC_KVDIRECT_DRAM_DONE, 0, part);
}

/* Continues a step whose tag has been read from the DRAM, or whose line has been written to it. */
static void dram_done(struct kvc_kvdirect_memory_engine *memory, double now_ns, uint32_t number)
{
    struct kvc_kvdirect_part *part = &memory->part[number];
    const struct kvc_kvdirect_step step = *step_of(part);
    if (part->looked || step.kind == KVC_KVDIRECT_CACHE_READ || step.kind == KVC_KVDIRECT_CACHE_JOIN) {
        arrive(memory, now_ns, number);
        end(memory, number);
        return;
    }
    part->looked = true;
    if (step.evicts) {
        start_background(memory, now_ns, step.evicted_endpoint, KVC_KVDIRECT_LINE_BYTES, true);
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
    uint8_t kind = step_of(&memory->part[number])->kind;
    if (kind == KVC_KVDIRECT_CACHE_WRITE) {
        store_line(memory, now_ns, number);
        return;
    }
    if (kind == KVC_KVDIRECT_CACHE_FETCH) {
        use_dram(memory, now_ns);
        arrive(memory, now_ns, number);
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

/* Handles a batch that the cores have finished. Its addresses and written data cross the links in the
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
