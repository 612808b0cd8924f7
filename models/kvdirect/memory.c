#include "models/kvdirect/memory.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/diag.h"

enum { BACKGROUND = UINT32_MAX, PARTS_FIRST = 1024, SYNC_BYTES = 64 };

struct kvc_kvd_part {
    uint32_t who;     /* BACKGROUND: nobody waits */
    uint32_t packets; /* of DMA that are still to come */
    struct kvc_kvd_step step;
    bool looked; /* the DRAM has been read for the tag */
};

static void add_parts(struct kvc_kvd_memory *memory)
{
    uint32_t count = memory->part_count > 0 ? 2 * memory->part_count : PARTS_FIRST;
    struct kvc_kvd_part *part = realloc(memory->part, count * sizeof *part);
    uint32_t *free_part = realloc(memory->free_part, count * sizeof *free_part);
    if (part == NULL || free_part == NULL)
        KVC_BUG("no memory for %u steps", count);
    memory->part = part;
    memory->free_part = free_part;
    while (memory->part_count < count)
        free_part[memory->free_count++] = memory->part_count++;
}

void kvc_kvd_memory_open(struct kvc_kvd_memory *memory, const struct kvc_dma *dma,
                         const struct kvc_fpga *fpga, struct kvc_events *events, uint64_t seed)
{
    *memory = (struct kvc_kvd_memory){.dma = dma, .fpga = fpga, .events = events};
    for (uint16_t i = 0; i < dma->endpoints; i++)
        kvc_dma_open(&memory->engine[i], dma, &memory->root, events, i, seed);
    add_parts(memory);
}

void kvc_kvd_memory_close(struct kvc_kvd_memory *memory)
{
    for (uint16_t i = 0; i < memory->dma->endpoints; i++)
        kvc_dma_close(&memory->engine[i]);
    free(memory->part);
    free(memory->free_part);
}

static void use_host(struct kvc_kvd_memory *memory, double now_ns, uint32_t part, uint32_t bytes, bool write)
{
    struct kvc_dma_engine *engine = &memory->engine[memory->part[part].step.endpoint];
    memory->part[part].packets = kvc_dma_packets(memory->dma, bytes);
    memory->host_reads += !write;
    memory->host_writes += write;
    if (write)
        kvc_dma_write(engine, now_ns, bytes, part);
    else
        kvc_dma_read(engine, now_ns, bytes, part);
}

/* Occupies the DRAM's channel for one line; returns when that is over. */
static double use_dram(struct kvc_kvd_memory *memory, double now_ns)
{
    double line_ns = kvc_fpga_dram_ns(memory->fpga, KVC_KVD_LINE_BYTES);
    memory->dram_lines++;
    memory->dram_busy_ns += line_ns;
    memory->dram_free_ns = fmax(memory->dram_free_ns, now_ns) + line_ns;
    return memory->dram_free_ns;
}

static uint32_t new_part(struct kvc_kvd_memory *memory, const struct kvc_kvd_step *step, uint32_t who)
{
    if (memory->free_count == 0)
        add_parts(memory);
    uint32_t part = memory->free_part[--memory->free_count];
    memory->part[part] = (struct kvc_kvd_part){.who = who, .step = *step};
    return part;
}

void kvc_kvd_memory_start(struct kvc_kvd_memory *memory, double now_ns, const struct kvc_kvd_step *step,
                          uint32_t who)
{
    uint32_t part = new_part(memory, step, who);
    if (step->kind == KVC_KVD_HOST_READ || step->kind == KVC_KVD_HOST_WRITE)
        use_host(memory, now_ns, part, step->bytes, step->kind == KVC_KVD_HOST_WRITE);
    else
        kvc_events_add(memory->events, use_dram(memory, now_ns) + memory->fpga->dram_ns, KVC_KVD_DRAM_DONE, 0,
                       part);
}

static void start_background(struct kvc_kvd_memory *memory, double now_ns, uint16_t endpoint, uint32_t bytes,
                             bool write)
{
    const struct kvc_kvd_step step = {.kind = write ? KVC_KVD_HOST_WRITE : KVC_KVD_HOST_READ,
                                      .endpoint = endpoint,
                                      .bytes = (uint16_t)bytes};
    kvc_kvd_memory_start(memory, now_ns, &step, BACKGROUND);
}

void kvc_kvd_memory_sync(struct kvc_kvd_memory *memory, double now_ns, uint64_t reads, uint64_t writes)
{
    for (uint64_t i = 0; i < reads + writes; i++)
        start_background(memory, now_ns, (uint16_t)(i % memory->dma->endpoints), SYNC_BYTES, i >= reads);
}

static bool end(struct kvc_kvd_memory *memory, uint32_t part, uint32_t *who)
{
    *who = memory->part[part].who;
    memory->free_part[memory->free_count++] = part;
    return *who != BACKGROUND;
}

static void store_line(struct kvc_kvd_memory *memory, double now_ns, uint32_t part)
{
    kvc_events_add(memory->events, use_dram(memory, now_ns), KVC_KVD_DRAM_DONE, 0, part);
}

/* The DRAM has been read for its tag, or a line written into it. */
static bool dram_done(struct kvc_kvd_memory *memory, double now_ns, uint32_t number, uint32_t *who)
{
    struct kvc_kvd_part *part = &memory->part[number];
    struct kvc_kvd_step step = part->step;
    if (part->looked || step.kind == KVC_KVD_CACHE_READ)
        return end(memory, number, who);
    part->looked = true;
    if (step.evicts)
        start_background(memory, now_ns, step.endpoint, KVC_KVD_LINE_BYTES, true);
    if (step.kind == KVC_KVD_CACHE_FETCH || step.fetches)
        use_host(memory, now_ns, number, KVC_KVD_LINE_BYTES, false);
    else
        store_line(memory, now_ns, number);
    return false;
}

/* All packets of a DMA operation are through. */
static bool host_done(struct kvc_kvd_memory *memory, double now_ns, uint32_t number, uint32_t *who)
{
    const struct kvc_kvd_part *part = &memory->part[number];
    if (part->step.kind == KVC_KVD_CACHE_WRITE) {
        store_line(memory, now_ns, number);
        return false;
    }
    if (part->step.kind == KVC_KVD_CACHE_FETCH)
        use_dram(memory, now_ns);
    return end(memory, number, who);
}

bool kvc_kvd_memory_handle(struct kvc_kvd_memory *memory, const struct kvc_event *event, uint32_t *who)
{
    uint32_t part;
    if (event->kind == KVC_KVD_DRAM_DONE)
        return dram_done(memory, event->time_ns, event->who, who);
    if (!kvc_dma_handle(&memory->engine[event->unit], event, &part))
        return false;
    return --memory->part[part].packets == 0 && host_done(memory, event->time_ns, part, who);
}
