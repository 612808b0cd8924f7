#include "sim/devices/pcie_engine.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"

enum { LINE_BYTES = 64 }; /* Of host memory. */

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
    *free_ns = fmax(*free_ns, now_ns) + bytes / engine->pcie->root_bytes_per_s * 1e9;
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
    return (double)bytes * engine->byte_ns * fmax(stretch, 1);
}

/* The host works on a read as soon as the request is off the link and the writes before it are taken. */
static void read_memory(struct kvc_pcie_engine *engine, double asked_ns, uint32_t slot)
{
    const struct kvc_pcie *pcie = engine->pcie;
    double data_ns =
        fmax(asked_ns, engine->posted_ns) + pcie->read_ns + 2 * pcie->memory_ns * kvc_rng_unit(&engine->rng);
    kvc_events_add(engine->events, data_ns, KVC_PCIE_DATA, engine->number, slot);
}

static void start_read(struct kvc_pcie_engine *engine, double now_ns, uint32_t slot)
{
    double asked_ns = kvc_serve(&engine->up_free_ns, &engine->up_busy_ns, now_ns,
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
    double sent_ns = kvc_serve(&engine->up_free_ns, &engine->up_busy_ns, now_ns,
                               link_ns(engine, pcie->header_bytes + bytes, engine->root->up_stretch));
    engine->sending++;
    kvc_events_add(engine->events, sent_ns, KVC_PCIE_SENT, engine->number, credit);
}

/* Gives a tag or credit, and data credits, to a packet if they are free. Returns whether they are; *slot is
 * then the packet's number. */
static bool take(struct kvc_pcie_queue *queue, double now_ns, const struct kvc_pcie_packet *packet,
                 uint32_t *slot)
{
    uint32_t data = kvc_pcie_data_credits(packet->bytes);
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

/* Starts the waiting reads that may go. A read goes behind the writes that were asked for before it. */
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
    queue->data_free += kvc_pcie_data_credits(queue->packet[slot].bytes);
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
    kvc_events_add(engine->events, here_ns, KVC_PCIE_READ, engine->number, slot);
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
