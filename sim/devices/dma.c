#include "sim/devices/dma.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"

#define COUNT_ROW(name_, field, low, high, text)                                                             \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_dma, field), .min = low,      \
        .max = high, .help = text                                                                            \
    }
#define REAL_ROW(name_, field, unit_, low, high, text)                                                       \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_dma, field), .unit = unit_,    \
        .min = low, .max = high, .help = text                                                                \
    }

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_dma, name),
     .by_default = "",
     .help = "what the link is called"},
    COUNT_ROW("endpoints", endpoints, 1, 8, "links of one card, each with its own tags and credits"),
    COUNT_ROW("generation", generation, 1, 5, "of PCIe: each doubles the rate of a lane"),
    COUNT_ROW("lanes", lanes, 1, 16, "of one link"),
    COUNT_ROW("header", header_bytes, 12, 64,
              "bytes of a packet around its data, framing and padding included"),
    COUNT_ROW("payload", payload_max_bytes, 32, 4096,
              "most bytes of data in a packet; larger requests are cut"),
    COUNT_ROW("tags", tags, 1, 1024, "reads that a link may have in flight"),
    COUNT_ROW("read_credits", read_credits, 1, 4096, "reads that the host accepts at once on a link"),
    COUNT_ROW("write_credits", write_credits, 1, 4096, "writes that the host accepts at once on a link"),
    REAL_ROW("read_latency", read_ns, KVC_UNIT_NS, 1, 1e6, "of a read that a cache of the host answers"),
    REAL_ROW("memory_latency", memory_ns, KVC_UNIT_NS, 0, 1e6,
             "mean of what random reads take on top, exponentially distributed"),
    REAL_ROW("credit_return", credit_ns, KVC_UNIT_NS, 0, 1e6, "until a write's credit is back"),
    REAL_ROW("root_rate", root_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13,
             "data that all links of a card together move, each way"),
    REAL_ROW("core_reads", core_reads_per_s, KVC_UNIT_NONE, 1e3, 1e12,
             "random lines a second that a core of the host reads, where cores do so for the card"),
};

static const struct kvc_option_table options = {
    .name = "dma", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .size = sizeof(struct kvc_dma)};

const struct kvc_device_kind kvc_dma_kind = {
    .name = "dma", .help = "hardware profile of a card's own access to host memory", .options = &options};

/* PCI Express Base Specification: 2.5 and 5 GT/s with 8b/10b, from generation 3 on 8, 16, 32 GT/s with
 * 128b/130b. */
double kvc_dma_link_bytes_per_s(const struct kvc_dma *dma)
{
    static const double lane_bits_per_s[] = {2.5e9 * 8 / 10, 5e9 * 8 / 10, 8e9 * 128 / 130, 16e9 * 128 / 130,
                                             32e9 * 128 / 130};
    return lane_bits_per_s[dma->generation - 1] / 8 * (double)dma->lanes;
}

/* Bytes of all packets of a request. */
static double with_headers(const struct kvc_dma *dma, double bytes)
{
    return bytes + ceil(bytes / (double)dma->payload_max_bytes) * (double)dma->header_bytes;
}

double kvc_dma_link_per_s(const struct kvc_dma *dma, double bytes)
{
    return kvc_dma_link_bytes_per_s(dma) / with_headers(dma, bytes);
}

double kvc_dma_flight_reads_per_s(const struct kvc_dma *dma)
{
    return (double)(dma->tags < dma->read_credits ? dma->tags : dma->read_credits) /
           (dma->read_ns + dma->memory_ns) * 1e9;
}

double kvc_dma_read_ns(const struct kvc_dma *dma, double bytes)
{
    double link_ns =
        ((double)dma->header_bytes + with_headers(dma, bytes)) / kvc_dma_link_bytes_per_s(dma) * 1e9;
    return dma->read_ns + dma->memory_ns + link_ns + bytes / dma->root_bytes_per_s * 1e9;
}

/* ---- engines at work ---- */

struct kvc_dma_packet {
    uint32_t tag, bytes;
    double since_ns; /* it has its tag or credit */
};

static void open_lane(struct kvc_dma_queue *lane, uint64_t limit)
{
    *lane = (struct kvc_dma_queue){.limit = (uint32_t)limit, .waiting_capacity = 64};
    lane->packet = kvc_array_of(limit, sizeof(*lane->packet));
    lane->free = kvc_array_of(limit, sizeof(*lane->free));
    lane->waiting = kvc_array_of(lane->waiting_capacity, sizeof(*lane->waiting));
    while (lane->free_count < lane->limit) {
        lane->free[lane->free_count] = lane->limit - 1 - lane->free_count;
        lane->free_count++;
    }
}

static void close_lane(struct kvc_dma_queue *lane)
{
    free(lane->packet);
    free(lane->free);
    free(lane->waiting);
}

void kvc_dma_open(struct kvc_dma_engine *engine, const struct kvc_dma *dma, struct kvc_dma_root *root,
                  struct kvc_events *events, uint16_t number, uint64_t seed)
{
    *engine = (struct kvc_dma_engine){.dma = dma,
                                      .events = events,
                                      .root = root,
                                      .number = number,
                                      .byte_ns = 1e9 / kvc_dma_link_bytes_per_s(dma)};
    kvc_rng_init(&engine->rng, seed, "dma", number);
    open_lane(&engine->reads, dma->tags < dma->read_credits ? dma->tags : dma->read_credits);
    open_lane(&engine->writes, dma->write_credits);
}

void kvc_dma_close(struct kvc_dma_engine *engine)
{
    close_lane(&engine->reads);
    close_lane(&engine->writes);
}

uint32_t kvc_dma_packets(const struct kvc_dma *dma, uint32_t bytes)
{
    uint32_t most = (uint32_t)dma->payload_max_bytes;
    return (bytes + most - 1) / most;
}

static void push_waiting(struct kvc_dma_queue *lane, struct kvc_dma_packet packet)
{
    if (lane->waiting_count == lane->waiting_capacity) {
        struct kvc_dma_packet *larger = kvc_array_of(2 * (size_t)lane->waiting_capacity, sizeof(*larger));
        for (uint32_t i = 0; i < lane->waiting_count; i++) {
            larger[i] = lane->waiting[(lane->waiting_head + i) % lane->waiting_capacity];
        }
        free(lane->waiting);
        lane->waiting = larger;
        lane->waiting_head = 0;
        lane->waiting_capacity *= 2;
    }
    lane->waiting[(lane->waiting_head + lane->waiting_count++) % lane->waiting_capacity] = packet;
    lane->waits++;
}

static double pass_root(const struct kvc_dma_engine *engine, double *free_ns, double now_ns, uint32_t bytes)
{
    *free_ns = fmax(*free_ns, now_ns) + bytes / engine->dma->root_bytes_per_s * 1e9;
    return *free_ns;
}

static void start_read(struct kvc_dma_engine *engine, double now_ns, uint32_t tag)
{
    const struct kvc_dma *dma = engine->dma;
    double asked_ns = kvc_serve(&engine->up_free_ns, &engine->up_busy_ns, now_ns,
                                (double)dma->header_bytes * engine->byte_ns);
    double data_ns = asked_ns + dma->read_ns + kvc_rng_exponential(&engine->rng, dma->memory_ns);
    kvc_events_add(engine->events, data_ns, KVC_DMA_DATA, engine->number, tag);
}

static void start_write(struct kvc_dma_engine *engine, double now_ns, uint32_t credit)
{
    const struct kvc_dma *dma = engine->dma;
    uint32_t bytes = engine->writes.packet[credit].bytes;
    double sent_ns = kvc_serve(&engine->up_free_ns, &engine->up_busy_ns, now_ns,
                               (double)(dma->header_bytes + bytes) * engine->byte_ns);
    kvc_events_add(engine->events, sent_ns, KVC_DMA_SENT, engine->number, credit);
}

typedef void start_fn(struct kvc_dma_engine *engine, double now_ns, uint32_t slot);

/* Takes a tag or credit for the packet, or lets it wait. */
static void ask(struct kvc_dma_engine *engine, struct kvc_dma_queue *lane, start_fn *start, double now_ns,
                struct kvc_dma_packet packet)
{
    lane->requests++;
    lane->bytes += packet.bytes;
    if (lane->free_count == 0) {
        push_waiting(lane, packet);
        return;
    }
    uint32_t slot = lane->free[--lane->free_count], taken = lane->limit - lane->free_count;
    lane->most = taken > lane->most ? taken : lane->most;
    lane->packet[slot] = packet;
    lane->packet[slot].since_ns = now_ns;
    start(engine, now_ns, slot);
}

/* The tag or credit goes to who waits longest. */
static void release(struct kvc_dma_engine *engine, struct kvc_dma_queue *lane, start_fn *start, double now_ns,
                    uint32_t slot)
{
    lane->held_ns += now_ns - lane->packet[slot].since_ns;
    if (lane->waiting_count == 0) {
        lane->free[lane->free_count++] = slot;
        return;
    }
    lane->packet[slot] = lane->waiting[lane->waiting_head];
    lane->packet[slot].since_ns = now_ns;
    lane->waiting_head = (lane->waiting_head + 1) % lane->waiting_capacity;
    lane->waiting_count--;
    start(engine, now_ns, slot);
}

static void ask_all(struct kvc_dma_engine *engine, struct kvc_dma_queue *lane, start_fn *start, double now_ns,
                    uint32_t bytes, uint32_t tag)
{
    uint32_t most = (uint32_t)engine->dma->payload_max_bytes;
    for (; bytes > most; bytes -= most) {
        ask(engine, lane, start, now_ns, (struct kvc_dma_packet){tag, most, 0});
    }
    ask(engine, lane, start, now_ns, (struct kvc_dma_packet){tag, bytes, 0});
}

void kvc_dma_read(struct kvc_dma_engine *engine, double now_ns, uint32_t bytes, uint32_t tag)
{
    ask_all(engine, &engine->reads, start_read, now_ns, bytes, tag);
}

void kvc_dma_write(struct kvc_dma_engine *engine, double now_ns, uint32_t bytes, uint32_t tag)
{
    ask_all(engine, &engine->writes, start_write, now_ns, bytes, tag);
}

bool kvc_dma_handle(struct kvc_dma_engine *engine, const struct kvc_event *event, uint32_t *tag)
{
    const struct kvc_dma *dma = engine->dma;
    uint32_t slot = event->tag, bytes;
    switch (event->kind) {
    case KVC_DMA_DATA: {
        bytes = engine->reads.packet[slot].bytes;
        double through_ns = pass_root(engine, &engine->root->down_free_ns, event->time_ns, bytes);
        double here_ns = kvc_serve(&engine->down_free_ns, &engine->down_busy_ns, through_ns,
                                   (double)(dma->header_bytes + bytes) * engine->byte_ns);
        kvc_events_add(engine->events, here_ns, KVC_DMA_READ, engine->number, slot);
        return false;
    }
    case KVC_DMA_READ:
        *tag = engine->reads.packet[slot].tag;
        release(engine, &engine->reads, start_read, event->time_ns, slot);
        return true;
    case KVC_DMA_SENT: {
        *tag = engine->writes.packet[slot].tag;
        bytes = engine->writes.packet[slot].bytes;
        double through_ns = pass_root(engine, &engine->root->up_free_ns, event->time_ns, bytes);
        kvc_events_add(engine->events, through_ns + dma->credit_ns, KVC_DMA_CREDIT, engine->number, slot);
        return true;
    }
    case KVC_DMA_CREDIT:
        release(engine, &engine->writes, start_write, event->time_ns, slot);
        return false;
    default:
        KVC_BUG("event of kind %u is none of a DMA engine", event->kind);
    }
}
