#include "sim/devices/pcie.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"
#include "sim/devices/node.h"

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_pcie, "name", name, "", "name of the link"),
    KVC_REAL_ROW(kvc_pcie, "h2d", h2d_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13, NULL,
                 "copies: rate from host to device; a higher rate shortens launches", .optional = true),
    KVC_REAL_ROW(kvc_pcie, "d2h", d2h_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13, NULL,
                 "copies: rate from device to host; a higher rate shortens launches", .optional = true),
    KVC_REAL_ROW(kvc_pcie, "latency", latency_ns, KVC_UNIT_NS, 0, 1e9, NULL,
                 "copies: fixed time of one copy in either direction; a longer time lengthens launches",
                 .optional = true),
    KVC_COUNT_ROW(
        kvc_pcie, "endpoints", endpoints, 1, 8, NULL,
        "packets: links of one card, each with its own tags and credits; more links carry more data",
        .optional = true),
    KVC_COUNT_ROW(kvc_pcie, "generation", generation, 1, 6, NULL,
                  "packets: generation of PCIe; each one about doubles the rate of a lane", .optional = true),
    KVC_COUNT_ROW(kvc_pcie, "lanes", lanes, 1, 16, NULL,
                  "packets: lanes of one link; more lanes carry more data", .optional = true),
    KVC_COUNT_ROW(
        kvc_pcie, "header", header_bytes, 12, 64, NULL,
        "packets: bytes around the data of a packet, framing and padding included; more bytes leave "
        "less bandwidth for data",
        .optional = true),
    KVC_COUNT_ROW(kvc_pcie, "payload", payload_max_bytes, 32, 4096, NULL,
                  "packets: most bytes of data in a packet; larger requests are cut", .optional = true),
    KVC_COUNT_ROW(kvc_pcie, "tags", tags, 1, 1024, NULL,
                  "packets: reads in flight that a link allows; more tags hide more latency",
                  .optional = true),
    KVC_COUNT_ROW(kvc_pcie, "read_credits", read_credits, 1, 4096, NULL,
                  "packets: reads that the host accepts at once on a link; more credits hide more latency",
                  .optional = true),
    KVC_COUNT_ROW(
        kvc_pcie, "write_credits", write_credits, 1, 4096, NULL,
        "packets: writes that the host accepts at once on a link; more credits hide a longer credit_return",
        .optional = true),
    KVC_COUNT_ROW(
        kvc_pcie, "write_data_credits", write_data_credits, 1, 1048576, NULL,
        "packets: data of writes that the host accepts at once on a link, in credits of 16 bytes; more "
        "credits let larger writes hide a longer credit_return",
        .optional = true),
    KVC_COUNT_ROW(kvc_pcie, "completion_credits", completion_credits, 1, 1048576, NULL,
                  "packets: data of reads that the card has room for on a link, in credits of 16 bytes; more "
                  "credits let larger reads hide more latency",
                  .optional = true),
    KVC_REAL_ROW(kvc_pcie, "read_latency", read_ns, KVC_UNIT_NS, 1, 1e6, NULL,
                 "packets: time of a read that hits a cache of the host; a longer time needs more tags",
                 .optional = true),
    KVC_REAL_ROW(
        kvc_pcie, "memory_latency", memory_ns, KVC_UNIT_NS, 0, 1e6, NULL,
        "packets: mean extra time of a random read from host memory, which is uniform from 0 to twice the "
        "mean; a longer time needs more tags",
        .optional = true),
    KVC_REAL_ROW(kvc_pcie, "credit_return", credit_ns, KVC_UNIT_NS, 0, 1e6, NULL,
                 "packets: time until the credit of a write returns; a longer time needs more write_credits",
                 .optional = true),
    KVC_REAL_ROW(kvc_pcie, "root_rate", root_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13, NULL,
                 "packets: data rate of all links of a card together, in each direction; a higher rate lets "
                 "the links carry more",
                 .optional = true),
    KVC_REAL_ROW(kvc_pcie, "core_reads", core_reads_per_s, KVC_UNIT_NONE, 1e3, 1e12, NULL,
                 "packets: random lines per second that a host core reads for the card; a higher rate needs "
                 "fewer cores",
                 .optional = true),
    KVC_REAL_ROW(
        kvc_pcie, "dma_read", dma_read_ns, KVC_UNIT_NS, 0, 1e6, NULL,
        "packets: time for which a read occupies the DMA engine of its link, which starts one packet "
        "after another; a longer time leaves fewer reads and writes",
        .optional = true),
    KVC_REAL_ROW(
        kvc_pcie, "dma_write", dma_write_ns, KVC_UNIT_NS, 0, 1e6, NULL,
        "packets: time for which a write occupies this engine besides its data; a longer time leaves "
        "fewer reads and writes",
        .optional = true),
    KVC_REAL_ROW(
        kvc_pcie, "dma_rate", dma_bytes_per_s, KVC_UNIT_BYTES_PER_S, 0, 1e13, NULL,
        "packets: rate at which this engine takes the data of writes; a higher rate leaves more reads "
        "and writes",
        .optional = true),
};

enum { COPIES_FIRST = 1, PACKETS_FIRST = 4, PACKETS_END = 19, ROWS = sizeof(rows) / sizeof(*rows) };

static const struct kvc_option_table options = {
    .name = "pcie", .rows = rows, .count = ROWS, .size = sizeof(struct kvc_pcie)};

/* Returns the data credits that a packet of `bytes` takes. */
static uint32_t data_credits(uint32_t bytes)
{
    return (bytes + KVC_PCIE_CREDIT_BYTES - 1) / KVC_PCIE_CREDIT_BYTES;
}

/* Checks that a packet of the largest payload can be sent, as the specification demands of every receiver. */
static enum kvc_status check_credits(const struct kvc_pcie *pcie, struct kvc_diag *diag)
{
    uint32_t least = data_credits((uint32_t)pcie->payload_max_bytes);
    const char *few = pcie->write_data_credits < least   ? "write_data_credits"
                      : pcie->completion_credits < least ? "completion_credits"
                                                         : NULL;
    if (few == NULL) {
        return KVC_OK;
    }
    return kvc_diag_fail(
        diag, KVC_ERR_SCENARIO,
        "pcie.%s: found %llu credits of 16 bytes, allowed: %u or more, for a payload of %llu bytes", few,
        (unsigned long long)(few[0] == 'w' ? pcie->write_data_credits : pcie->completion_credits), least,
        (unsigned long long)pcie->payload_max_bytes);
}

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    bool copies, packets;
    enum kvc_status status = kvc_group_check(&options, device, COPIES_FIRST, PACKETS_FIRST, &copies, diag);
    if (status == KVC_OK) {
        status = kvc_group_check(&options, device, PACKETS_FIRST, PACKETS_END, &packets, diag);
    }
    if (status == KVC_OK && !copies && !packets) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "pcie.%s is missing: a profile states bulk copies (%s, ...), packets (%s, ...) or both",
            rows[COPIES_FIRST].name, rows[COPIES_FIRST].name, rows[PACKETS_FIRST].name);
    }
    return status == KVC_OK && packets ? check_credits(device, diag) : status;
}

const struct kvc_device_kind kvc_pcie_kind = {
    .name = "pcie",
    .help = "PCIe: bulk copies to and from a GPU, packets of a card that accesses host memory, or both",
    .options = &options,
    .check = check,
};

double kvc_pcie_h2d_ns(const struct kvc_pcie *pcie, double bytes)
{
    return bytes / pcie->h2d_bytes_per_s * 1e9;
}

double kvc_pcie_d2h_ns(const struct kvc_pcie *pcie, double bytes)
{
    return bytes / pcie->d2h_bytes_per_s * 1e9;
}

/* Generations 1 and 2 transfer 2.5 and 5 GT/s with 8b/10b, 3 to 5 transfer 8, 16 and 32 GT/s with 128b/130b.
 */
double kvc_pcie_link_bytes_per_s(const struct kvc_pcie *pcie)
{
    static const double lane_bits_per_s[] = {2.5e9 * 8 / 10,   5e9 * 8 / 10,     8e9 * 128 / 130,
                                             16e9 * 128 / 130, 32e9 * 128 / 130, 64e9 * 236 / 256};
    return (1 + pcie->faster_frac) * lane_bits_per_s[pcie->generation - 1] / 8 * (double)pcie->lanes;
}

/* Returns the bytes of all packets of a request. */
static double with_headers(const struct kvc_pcie *pcie, double bytes)
{
    return bytes + ceil(bytes / (double)pcie->payload_max_bytes) * (double)pcie->header_bytes;
}

double kvc_pcie_link_per_s(const struct kvc_pcie *pcie, double bytes)
{
    return kvc_pcie_link_bytes_per_s(pcie) / with_headers(pcie, bytes);
}

double kvc_pcie_flight_reads_per_s(const struct kvc_pcie *pcie)
{
    return (double)(pcie->tags < pcie->read_credits ? pcie->tags : pcie->read_credits) /
           (pcie->read_ns + pcie->memory_ns) * 1e9;
}

double kvc_pcie_read_ns(const struct kvc_pcie *pcie, double bytes)
{
    double link_ns =
        ((double)pcie->header_bytes + with_headers(pcie, bytes)) / kvc_pcie_link_bytes_per_s(pcie) * 1e9;
    return pcie->read_ns + pcie->memory_ns + link_ns + bytes / pcie->root_bytes_per_s * 1e9;
}

double kvc_pcie_dma_ns(const struct kvc_pcie *pcie, double reads, double writes, double written_bytes)
{
    double data_ns = pcie->dma_bytes_per_s > 0 ? written_bytes / pcie->dma_bytes_per_s * 1e9 : 0;
    double reads_ns = pcie->dma_read_ns > 0 ? reads * pcie->dma_read_ns : 0;
    return reads_ns + (pcie->dma_write_ns > 0 ? writes * pcie->dma_write_ns : 0) + data_ns;
}

double kvc_pcie_traffic_ns(const struct kvc_pcie *pcie, const struct kvc_pcie_traffic *traffic)
{
    double links = (double)pcie->endpoints * kvc_pcie_link_bytes_per_s(pcie) * 1e-9;
    double header = (double)pcie->header_bytes, reads = traffic->reads, writes = traffic->writes;
    double read_bytes = traffic->read_bytes, written_bytes = traffic->written_bytes;
    double in_flight_ns = reads / ((double)pcie->endpoints * kvc_pcie_flight_reads_per_s(pcie)) * 1e9;
    double dma_ns = kvc_pcie_dma_ns(pcie, reads, writes, written_bytes) / (double)pcie->endpoints;
    double down_ns = (reads * header + read_bytes) / links;
    double up_ns = ((reads + writes) * header + written_bytes) / links;
    double root_ns = fmax(read_bytes, written_bytes) / pcie->root_bytes_per_s * 1e9;
    return fmax(fmax(fmax(in_flight_ns, dma_ns), root_ns), fmax(down_ns, up_ns));
}

uint32_t kvc_pcie_packets(const struct kvc_pcie *pcie, uint32_t bytes)
{
    uint32_t most = (uint32_t)pcie->payload_max_bytes;
    return (bytes + most - 1) / most;
}

void kvc_pcie_speed_up(struct kvc_pcie *pcie, double factor)
{
    pcie->h2d_bytes_per_s *= factor;
    pcie->d2h_bytes_per_s *= factor;
    pcie->latency_ns /= factor;
    pcie->faster_frac = (1 + pcie->faster_frac) * factor - 1;
    pcie->read_ns /= factor;
    pcie->credit_ns /= factor;
    pcie->root_bytes_per_s *= factor;
    pcie->dma_read_ns /= factor;
    pcie->dma_write_ns /= factor;
    pcie->dma_bytes_per_s *= factor;
}

enum { LINE_BYTES = 64 }; /* Line of host memory. */

struct kvc_pcie_packet {
    uint32_t tag, bytes;
    double since_ns; /* Time when it got its tag or credits. */
    uint64_t behind; /* Read: writes that were asked for before it. */
};

static void open_queue(struct kvc_pcie_queue *queue, uint64_t limit, uint64_t data_limit)
{
    *queue = (struct kvc_pcie_queue){.limit = (uint32_t)limit,
                                     .data_limit = (uint32_t)data_limit,
                                     .data_free = (uint32_t)data_limit,
                                     .waiting_capacity = 64};
    queue->packet = kvc_array_of(limit, sizeof(*queue->packet));
    queue->free = kvc_array_of(limit, sizeof(*queue->free));
    queue->waiting = kvc_array_of(queue->waiting_capacity, sizeof(*queue->waiting));
    while (queue->free_count < queue->limit) {
        queue->free[queue->free_count] = queue->limit - 1 - queue->free_count;
        queue->free_count++;
    }
}

static void close_queue(struct kvc_pcie_queue *queue)
{
    free(queue->packet);
    free(queue->free);
    free(queue->waiting);
}

void kvc_pcie_engine_open(struct kvc_pcie_engine *engine, const struct kvc_pcie *pcie,
                          struct kvc_pcie_root *root, struct kvc_events *events, uint16_t number,
                          uint64_t seed)
{
    *engine = (struct kvc_pcie_engine){.pcie = pcie,
                                       .events = events,
                                       .root = root,
                                       .number = number,
                                       .byte_ns = 1e9 / kvc_pcie_link_bytes_per_s(pcie)};
    kvc_rng_init(&engine->rng, seed, "dma", number); /* The name of the stream is part of all results. */
    open_queue(&engine->reads, pcie->tags < pcie->read_credits ? pcie->tags : pcie->read_credits,
               pcie->completion_credits);
    open_queue(&engine->writes, pcie->write_credits, pcie->write_data_credits);
}

void kvc_pcie_engine_close(struct kvc_pcie_engine *engine)
{
    close_queue(&engine->reads);
    close_queue(&engine->writes);
}

static void push_waiting(struct kvc_pcie_queue *queue, struct kvc_pcie_packet packet)
{
    if (queue->waiting_count == queue->waiting_capacity) {
        struct kvc_pcie_packet *larger = kvc_array_of(2 * (size_t)queue->waiting_capacity, sizeof(*larger));
        for (uint32_t i = 0; i < queue->waiting_count; i++) {
            larger[i] = queue->waiting[(queue->waiting_head + i) % queue->waiting_capacity];
        }
        free(queue->waiting);
        queue->waiting = larger;
        queue->waiting_head = 0;
        queue->waiting_capacity *= 2;
    }
    queue->waiting[(queue->waiting_head + queue->waiting_count++) % queue->waiting_capacity] = packet;
    queue->waits++;
}

static double pass_root(const struct kvc_pcie_engine *engine, double *free_ns, double now_ns, uint32_t bytes)
{
    *free_ns = kvc_later_ns(*free_ns, now_ns) + bytes / engine->pcie->root_bytes_per_s * 1e9;
    return *free_ns;
}

/* Counts the lines of a packet: the first is at a random place. */
static void count_lines(double *random_lines, double *streamed_bytes, uint32_t bytes)
{
    *random_lines += 1;
    *streamed_bytes += bytes > LINE_BYTES ? bytes - LINE_BYTES : 0;
}

/* Returns the time for which `bytes` occupy a direction of the link. Other users of the host slow it down. */
static double link_ns(const struct kvc_pcie_engine *engine, uint64_t bytes, double stretch)
{
    return (double)bytes * engine->byte_ns * (stretch > 1 ? stretch : 1);
}

/* The host works on a read as soon as the request is off the link and the writes before it are taken. */
static void read_memory(struct kvc_pcie_engine *engine, double asked_ns, uint32_t slot)
{
    const struct kvc_pcie *pcie = engine->pcie;
    double data_ns = kvc_later_ns(asked_ns, engine->posted_ns) + pcie->read_ns +
                     2 * pcie->memory_ns * kvc_rng_unit(&engine->rng);
    kvc_events_add(engine->events, data_ns, KVC_PCIE_DATA, engine->number, slot);
}

/* Returns the time at which the link's DMA engine starts a packet. */
static double begins_ns(struct kvc_pcie_engine *engine, double now_ns, double dma_ns)
{
    return kvc_serve(&engine->dma_free_ns, &engine->dma_busy_ns, now_ns, dma_ns) - dma_ns;
}

static void start_read(struct kvc_pcie_engine *engine, double now_ns, uint32_t slot)
{
    double dma_ns = kvc_pcie_dma_ns(engine->pcie, 1, 0, 0);
    double asked_ns = kvc_serve(&engine->up_free_ns, &engine->up_busy_ns, begins_ns(engine, now_ns, dma_ns),
                                link_ns(engine, engine->pcie->header_bytes, engine->root->up_stretch));
    if (engine->sending > 0) { /* Writes on the link reach the host before it. */
        kvc_events_add(engine->events, asked_ns, KVC_PCIE_ASKED, engine->number, slot);
    } else {
        read_memory(engine, asked_ns, slot);
    }
}

static void start_write(struct kvc_pcie_engine *engine, double now_ns, uint32_t credit)
{
    const struct kvc_pcie *pcie = engine->pcie;
    uint32_t bytes = engine->writes.packet[credit].bytes;
    double dma_ns = kvc_pcie_dma_ns(pcie, 0, 1, bytes);
    double sent_ns = kvc_serve(&engine->up_free_ns, &engine->up_busy_ns, begins_ns(engine, now_ns, dma_ns),
                               link_ns(engine, pcie->header_bytes + bytes, engine->root->up_stretch));
    engine->sending++;
    kvc_events_add(engine->events, sent_ns, KVC_PCIE_SENT, engine->number, credit);
}

/* Gives a tag or credit, and data credits, to a packet if they are free. Returns whether they are; *slot is
 * then the packet's number. */
static bool take(struct kvc_pcie_queue *queue, double now_ns, const struct kvc_pcie_packet *packet,
                 uint32_t *slot)
{
    uint32_t data = data_credits(packet->bytes);
    if (queue->free_count == 0 || queue->data_free < data) {
        return false;
    }
    *slot = queue->free[--queue->free_count];
    queue->data_free -= data;
    queue->started++;
    uint32_t taken = queue->limit - queue->free_count;
    queue->most = taken > queue->most ? taken : queue->most;
    queue->packet[*slot] = *packet;
    queue->packet[*slot].since_ns = now_ns;
    return true;
}

static const struct kvc_pcie_packet *longest_waiting(const struct kvc_pcie_queue *queue)
{
    return queue->waiting_count > 0 ? &queue->waiting[queue->waiting_head] : NULL;
}

static void pop_waiting(struct kvc_pcie_queue *queue)
{
    queue->waiting_head = (queue->waiting_head + 1) % queue->waiting_capacity;
    queue->waiting_count--;
}

/* Starts the waiting reads that may go. A read follows the writes that were asked for before it. */
static void start_reads(struct kvc_pcie_engine *engine, double now_ns)
{
    const struct kvc_pcie_packet *packet;
    uint32_t slot;
    while ((packet = longest_waiting(&engine->reads)) != NULL && engine->writes.started >= packet->behind &&
           take(&engine->reads, now_ns, packet, &slot)) {
        pop_waiting(&engine->reads);
        start_read(engine, now_ns, slot);
    }
}

/* Starts the waiting writes that have credits, and then the reads that waited for them to go. */
static void start_writes(struct kvc_pcie_engine *engine, double now_ns)
{
    const struct kvc_pcie_packet *packet;
    uint32_t slot;
    bool started = false;
    while ((packet = longest_waiting(&engine->writes)) != NULL &&
           take(&engine->writes, now_ns, packet, &slot)) {
        pop_waiting(&engine->writes);
        start_write(engine, now_ns, slot);
        started = true;
    }
    if (started) {
        start_reads(engine, now_ns);
    }
}

static void release(struct kvc_pcie_queue *queue, double now_ns, uint32_t slot)
{
    queue->held_ns += now_ns - queue->packet[slot].since_ns;
    queue->data_free += data_credits(queue->packet[slot].bytes);
    queue->free[queue->free_count++] = slot;
}

static void ask_read(struct kvc_pcie_engine *engine, double now_ns, struct kvc_pcie_packet packet)
{
    struct kvc_pcie_queue *reads = &engine->reads;
    uint32_t slot;
    reads->requests++;
    reads->bytes += packet.bytes;
    packet.behind = engine->writes.requests;
    if (reads->waiting_count == 0 && engine->writes.started == packet.behind &&
        take(reads, now_ns, &packet, &slot)) {
        start_read(engine, now_ns, slot);
    } else {
        push_waiting(reads, packet);
    }
}

static void ask_write(struct kvc_pcie_engine *engine, double now_ns, struct kvc_pcie_packet packet)
{
    struct kvc_pcie_queue *writes = &engine->writes;
    uint32_t slot;
    writes->requests++;
    writes->bytes += packet.bytes;
    if (writes->waiting_count == 0 && take(writes, now_ns, &packet, &slot)) {
        start_write(engine, now_ns, slot);
    } else {
        push_waiting(writes, packet);
    }
}

typedef void ask_fn(struct kvc_pcie_engine *engine, double now_ns, struct kvc_pcie_packet packet);

static void ask_all(struct kvc_pcie_engine *engine, ask_fn *ask, double now_ns, uint32_t bytes, uint32_t tag)
{
    uint32_t most = (uint32_t)engine->pcie->payload_max_bytes;
    for (; bytes > most; bytes -= most) {
        ask(engine, now_ns, (struct kvc_pcie_packet){.tag = tag, .bytes = most});
    }
    ask(engine, now_ns, (struct kvc_pcie_packet){.tag = tag, .bytes = bytes});
}

void kvc_pcie_engine_read(struct kvc_pcie_engine *engine, double now_ns, uint32_t bytes, uint32_t tag)
{
    ask_all(engine, ask_read, now_ns, bytes, tag);
}

void kvc_pcie_engine_write(struct kvc_pcie_engine *engine, double now_ns, uint32_t bytes, uint32_t tag)
{
    ask_all(engine, ask_write, now_ns, bytes, tag);
}

/* The data of a read leaves host memory. */
static void send_data(struct kvc_pcie_engine *engine, double now_ns, uint32_t slot)
{
    struct kvc_pcie_root *root = engine->root;
    uint32_t bytes = engine->reads.packet[slot].bytes;
    root->down_bytes += (double)(engine->pcie->header_bytes + bytes);
    root->up_bytes += (double)engine->pcie->header_bytes;
    count_lines(&root->load.random_reads, &root->load.streamed_bytes, bytes);
    double through_ns = pass_root(engine, &root->down_free_ns, now_ns, bytes);
    double here_ns = kvc_serve(&engine->down_free_ns, &engine->down_busy_ns, through_ns,
                               link_ns(engine, engine->pcie->header_bytes + bytes, root->down_stretch));
    kvc_events_append(engine->events, KVC_PCIE_LANE_FIRST + engine->number % 2u, here_ns, KVC_PCIE_READ,
                      engine->number, slot);
}

/* The host takes a write that is off the link. */
static void take_write(struct kvc_pcie_engine *engine, double now_ns, uint32_t slot)
{
    struct kvc_pcie_root *root = engine->root;
    uint32_t bytes = engine->writes.packet[slot].bytes;
    root->up_bytes += (double)(engine->pcie->header_bytes + bytes);
    count_lines(&root->load.random_writes, &root->load.streamed_bytes, bytes);
    engine->sending--;
    engine->posted_ns = pass_root(engine, &root->up_free_ns, now_ns, bytes);
    kvc_events_add(engine->events, engine->posted_ns + engine->pcie->credit_ns, KVC_PCIE_CREDIT,
                   engine->number, slot);
}

bool kvc_pcie_engine_handle(struct kvc_pcie_engine *engine, const struct kvc_event *event, uint32_t *tag)
{
    uint32_t slot = event->tag;
    switch (event->kind) {
    case KVC_PCIE_ASKED:
        read_memory(engine, event->time_ns, slot);
        return false;
    case KVC_PCIE_DATA:
        send_data(engine, event->time_ns, slot);
        return false;
    case KVC_PCIE_READ:
        *tag = engine->reads.packet[slot].tag;
        release(&engine->reads, event->time_ns, slot);
        start_reads(engine, event->time_ns);
        return true;
    case KVC_PCIE_SENT:
        *tag = engine->writes.packet[slot].tag;
        take_write(engine, event->time_ns, slot);
        return true;
    case KVC_PCIE_CREDIT:
        release(&engine->writes, event->time_ns, slot);
        start_writes(engine, event->time_ns);
        return false;
    default:
        KVC_BUG("a PCIe engine got an event of kind %u", event->kind);
    }
}
