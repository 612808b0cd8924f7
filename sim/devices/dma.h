/* The DMA engines of a card that reads and writes host memory by itself, at the granularity of PCIe packets.
 *
 * A card has one or several endpoints, each with lanes, tags and credits of its own; behind them all is what
 * the root complex (or a switch) lets through. A read takes a tag and a non-posted credit, sends a request of
 * a header, waits for host memory and receives header and data; the tag is free when the last byte is in. A
 * write takes a posted credit, sends header and data, and is done for the card when they are on the wire; the
 * credit comes back a round trip later. Requests without a tag or credit wait in order of arrival. Both
 * directions of a link carry one packet at a time. Requests above the largest payload are several packets.
 *
 * Source of the mechanisms: KV-Direct (SOSP 2017), sec. 2.4. Not modelled: acknowledgements and flow-control
 * packets, credits by bytes of data, ordering between reads and writes, the host's caches. */
#ifndef KVC_SIM_DEVICES_DMA_H
#define KVC_SIM_DEVICES_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/devices/node.h"
#include "sim/base/rng.h"

struct kvc_dma {
    char name[KVC_TEXT_MAX];
    uint64_t endpoints;         /* of a card */
    uint64_t generation;        /* of PCIe: 1 .. 5 */
    uint64_t lanes;             /* of an endpoint */
    uint64_t header_bytes;      /* of a packet, padding and framing included */
    uint64_t payload_max_bytes; /* of a packet */
    uint64_t tags;              /* reads in flight, per endpoint */
    uint64_t read_credits;      /* non-posted headers, per endpoint */
    uint64_t write_credits;     /* posted headers, per endpoint */
    double read_ns;             /* from request to data where a cache of the host has it */
    double memory_ns;           /* mean of what the host's memory takes on top, exponential */
    double credit_ns;           /* until the credit of a write is back */
    double root_bytes_per_s;    /* payload that all endpoints together get, each way */
    double core_reads_per_s; /* random lines that one core of the host reads, where it does so for the card */
};

extern const struct kvc_device_kind kvc_dma_kind;

/** The node's dma; NULL if it has none. */
static inline const struct kvc_dma *kvc_dma_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_dma_kind);
}

/* Of one endpoint, each way, headers included. From generation and lanes: the standard's transfer rate and
 * line code. */
double kvc_dma_link_bytes_per_s(const struct kvc_dma *dma);

/* Reads, or writes, of `bytes` per second that one endpoint's link carries. */
double kvc_dma_link_per_s(const struct kvc_dma *dma, double bytes);

/* Reads per second that may be in flight at once. */
double kvc_dma_flight_reads_per_s(const struct kvc_dma *dma);

/* Mean time from request to data, nothing else on the link. */
double kvc_dma_read_ns(const struct kvc_dma *dma, double bytes);

/* ---- engines at work ---- */

/* Kinds of events that belong to engines; `unit` is the engine's number. Their owner gives its own kinds
 * numbers from KVC_DMA_KINDS on. */
enum { KVC_DMA_DATA, KVC_DMA_READ, KVC_DMA_SENT, KVC_DMA_CREDIT, KVC_DMA_KINDS };

/* Where all endpoints of a card meet; zero it to begin. */
struct kvc_dma_root {
    double down_free_ns, up_free_ns;
};

/* Packets in flight, and those that wait for a tag or credit, of one sort. */
struct kvc_dma_queue {
    struct kvc_dma_packet *packet; /* in flight, by tag or credit */
    uint32_t *free;                /* tags or credits that are not taken */
    uint32_t free_count, limit;
    struct kvc_dma_packet *waiting; /* ring */
    uint32_t waiting_head, waiting_count, waiting_capacity;
    uint32_t most;                   /* at any instant so far */
    double held_ns;                  /* how long tags or credits were taken, summed */
    uint64_t requests, bytes, waits; /* packets; of them, those that had to wait */
};

struct kvc_dma_engine {
    const struct kvc_dma *dma;
    struct kvc_events *events;
    struct kvc_dma_root *root;
    uint16_t number;
    struct kvc_rng rng;
    double byte_ns;
    double up_free_ns, down_free_ns;
    double up_busy_ns, down_busy_ns;
    struct kvc_dma_queue reads, writes;
};

/* `events` takes the engine's events, whose owner hands them to kvc_dma_handle. */
void kvc_dma_open(struct kvc_dma_engine *engine, const struct kvc_dma *dma, struct kvc_dma_root *root,
                  struct kvc_events *events, uint16_t number, uint64_t seed);
void kvc_dma_close(struct kvc_dma_engine *engine);

/* Packets that a request of `bytes` is cut into. */
uint32_t kvc_dma_packets(const struct kvc_dma *dma, uint32_t bytes);

/* Asks for a read or write of `bytes` at now_ns. `who` comes back once for each packet of it. */
void kvc_dma_read(struct kvc_dma_engine *engine, double now_ns, uint32_t bytes, uint32_t tag);
void kvc_dma_write(struct kvc_dma_engine *engine, double now_ns, uint32_t bytes, uint32_t tag);

/* Goes on with an event of this engine. True: a packet of *who is done, at the event's time: its data is here
 * (read), or it is on the wire (write). */
bool kvc_dma_handle(struct kvc_dma_engine *engine, const struct kvc_event *event, uint32_t *tag);

#endif
