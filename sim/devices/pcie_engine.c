#include "sim/devices/pcie_engine.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"

struct kvc_pcie_packet {
    uint32_t tag, bytes;
    double since_ns; /* Time when it got its tag or credit. */
};

static void open_queue(struct kvc_pcie_queue *queue, uint64_t limit)
{
    *queue = (struct kvc_pcie_queue){.limit = (uint32_t)limit, .waiting_capacity = 64};
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
    open_queue(&engine->reads, pcie->tags < pcie->read_credits ? pcie->tags : pcie->read_credits);
    open_queue(&engine->writes, pcie->write_credits);
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

static void start_read(struct kvc_pcie_engine *engine, double now_ns, uint32_t tag)
{
    const struct kvc_pcie *pcie = engine->pcie;
    double asked_ns = kvc_serve(&engine->up_free_ns, &engine->up_busy_ns, now_ns,
                                (double)pcie->header_bytes * engine->byte_ns);
    double data_ns = asked_ns + pcie->read_ns + kvc_rng_exponential(&engine->rng, pcie->memory_ns);
    kvc_events_add(engine->events, data_ns, KVC_PCIE_DATA, engine->number, tag);
}

static void start_write(struct kvc_pcie_engine *engine, double now_ns, uint32_t credit)
{
    const struct kvc_pcie *pcie = engine->pcie;
    uint32_t bytes = engine->writes.packet[credit].bytes;
    double sent_ns = kvc_serve(&engine->up_free_ns, &engine->up_busy_ns, now_ns,
                               (double)(pcie->header_bytes + bytes) * engine->byte_ns);
    kvc_events_add(engine->events, sent_ns, KVC_PCIE_SENT, engine->number, credit);
}

typedef void start_fn(struct kvc_pcie_engine *engine, double now_ns, uint32_t slot);

/* Takes a tag or credit for the packet, or lets it wait. */
static void ask(struct kvc_pcie_engine *engine, struct kvc_pcie_queue *queue, start_fn *start, double now_ns,
                struct kvc_pcie_packet packet)
{
    queue->requests++;
    queue->bytes += packet.bytes;
    if (queue->free_count == 0) {
        push_waiting(queue, packet);
        return;
    }
    uint32_t slot = queue->free[--queue->free_count], taken = queue->limit - queue->free_count;
    queue->most = taken > queue->most ? taken : queue->most;
    queue->packet[slot] = packet;
    queue->packet[slot].since_ns = now_ns;
    start(engine, now_ns, slot);
}

/* Gives the tag or credit to the packet that waits longest, or back to the free ones. */
static void release(struct kvc_pcie_engine *engine, struct kvc_pcie_queue *queue, start_fn *start,
                    double now_ns, uint32_t slot)
{
    queue->held_ns += now_ns - queue->packet[slot].since_ns;
    if (queue->waiting_count == 0) {
        queue->free[queue->free_count++] = slot;
        return;
    }
    queue->packet[slot] = queue->waiting[queue->waiting_head];
    queue->packet[slot].since_ns = now_ns;
    queue->waiting_head = (queue->waiting_head + 1) % queue->waiting_capacity;
    queue->waiting_count--;
    start(engine, now_ns, slot);
}

static void ask_all(struct kvc_pcie_engine *engine, struct kvc_pcie_queue *queue, start_fn *start,
                    double now_ns, uint32_t bytes, uint32_t tag)
{
    uint32_t most = (uint32_t)engine->pcie->payload_max_bytes;
    for (; bytes > most; bytes -= most) {
        ask(engine, queue, start, now_ns, (struct kvc_pcie_packet){tag, most, 0});
    }
    ask(engine, queue, start, now_ns, (struct kvc_pcie_packet){tag, bytes, 0});
}

void kvc_pcie_engine_read(struct kvc_pcie_engine *engine, double now_ns, uint32_t bytes, uint32_t tag)
{
    ask_all(engine, &engine->reads, start_read, now_ns, bytes, tag);
}

void kvc_pcie_engine_write(struct kvc_pcie_engine *engine, double now_ns, uint32_t bytes, uint32_t tag)
{
    ask_all(engine, &engine->writes, start_write, now_ns, bytes, tag);
}

bool kvc_pcie_engine_handle(struct kvc_pcie_engine *engine, const struct kvc_event *event, uint32_t *tag)
{
    const struct kvc_pcie *pcie = engine->pcie;
    uint32_t slot = event->tag, bytes;
    switch (event->kind) {
    case KVC_PCIE_DATA: {
        bytes = engine->reads.packet[slot].bytes;
        double through_ns = pass_root(engine, &engine->root->down_free_ns, event->time_ns, bytes);
        double here_ns = kvc_serve(&engine->down_free_ns, &engine->down_busy_ns, through_ns,
                                   (double)(pcie->header_bytes + bytes) * engine->byte_ns);
        kvc_events_add(engine->events, here_ns, KVC_PCIE_READ, engine->number, slot);
        return false;
    }
    case KVC_PCIE_READ:
        *tag = engine->reads.packet[slot].tag;
        release(engine, &engine->reads, start_read, event->time_ns, slot);
        return true;
    case KVC_PCIE_SENT: {
        *tag = engine->writes.packet[slot].tag;
        bytes = engine->writes.packet[slot].bytes;
        double through_ns = pass_root(engine, &engine->root->up_free_ns, event->time_ns, bytes);
        kvc_events_add(engine->events, through_ns + pcie->credit_ns, KVC_PCIE_CREDIT, engine->number, slot);
        return true;
    }
    case KVC_PCIE_CREDIT:
        release(engine, &engine->writes, start_write, event->time_ns, slot);
        return false;
    default:
        KVC_BUG("a PCIe engine got an event of kind %u", event->kind);
    }
}
