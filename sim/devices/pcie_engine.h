/** @file
 * A PCIe engine is one link of a card at work: it turns requests into packets and simulates their tags,
 * credits, order and queues.
 *
 * A card has one or more links, each with tags and credits of its own, and all of them pass the root complex
 * (or a switch) that connects them to host memory. A read takes a tag, a non-posted header credit and room
 * for its data on the card; it sends a request the size of a header, waits for host memory, and receives
 * header and data. Tag and room are free when the last byte is in. A write takes a posted header credit and a
 * data credit for each 16 bytes, and sends header and data. The card is done with it when they are on the
 * wire, and the credits come back a round trip after the host has taken the write. Each direction of a link
 * carries one packet at a time. Requests above the largest payload are several packets.
 *
 * The order on a link is PCIe's without relaxed ordering: writes keep their order, and a read does not pass a
 * write that was asked for before it, neither while that write waits for credits nor on its way through the
 * root complex. A write may pass reads that wait for a tag. The data of different reads comes in any order.
 * Links do not order each other.
 *
 * Sources of the mechanisms: KV-Direct (SOSP 2017), sec. 2.4; PCI Express Base Specification 3.0, sec. 2.4.1
 * (order) and 2.6.1 (flow control). Not modelled: acknowledgements and flow-control packets, data that the
 * host returns in several packets, the host's caches. */
#ifndef KVC_SIM_DEVICES_PCIE_ENGINE_H
#define KVC_SIM_DEVICES_PCIE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/base/rng.h"
#include "sim/devices/dram.h"
#include "sim/devices/pcie.h"

/** Kinds of events that engines add; `unit` of such an event is the engine's number. An owner of engines
 * numbers its own kinds from KVC_PCIE_KINDS on. */
enum {
    KVC_PCIE_ASKED,  /**< The request of a read is off the link, behind writes. */
    KVC_PCIE_DATA,   /**< Host memory has the data of a read. */
    KVC_PCIE_READ,   /**< The data of a read is in. */
    KVC_PCIE_SENT,   /**< A write is on the wire. */
    KVC_PCIE_CREDIT, /**< The credit of a write is back. */
    KVC_PCIE_KINDS
};

/** The root complex and the memory behind it, which all links of a card share. All zero is idle. */
struct kvc_pcie_root {
    double down_free_ns; /**< Time when the direction to the card is free. */
    double up_free_ns;   /**< Time when the direction to the host is free. */
    double down_stretch; /**< Factor by which other users of the host slow the direction to the card; up to 1:
                            nobody does. */
    double up_stretch;   /**< The same for the direction to the host. */
    double down_bytes;   /**< Bytes sent to the card so far, with headers. */
    double up_bytes;     /**< Bytes taken from the card so far, with headers. */
    struct kvc_dram_load
        load; /**< Accesses to host memory so far. A packet is one random line and streamed ones. */
};

/** Packets of one direction: those in flight, and those that wait for a tag or credits. */
struct kvc_pcie_queue {
    struct kvc_pcie_packet *packet;  /**< Packets in flight, by tag or credit. */
    uint32_t *free;                  /**< Stack of free tags or credits. */
    uint32_t free_count;             /**< Free tags or credits. */
    uint32_t limit;                  /**< All tags or credits. */
    uint32_t data_free;              /**< Free data credits [16 bytes]. */
    uint32_t data_limit;             /**< All data credits [16 bytes]. */
    struct kvc_pcie_packet *waiting; /**< Ring of waiting packets. */
    uint32_t waiting_head;           /**< Index of the packet that waits longest. */
    uint32_t waiting_count;          /**< Waiting packets. */
    uint32_t waiting_capacity;       /**< Packets that the ring has room for. */
    uint32_t most;                   /**< Most packets that were in flight at once. */
    double held_ns;                  /**< Sum of the times that tags or credits were taken. */
    uint64_t requests;               /**< Packets so far. */
    uint64_t started;                /**< Packets that have got their tag or credits so far. */
    uint64_t bytes;                  /**< Data of these packets. */
    uint64_t waits;                  /**< Packets that had to wait. */
};

/** One link at work. */
struct kvc_pcie_engine {
    const struct kvc_pcie *pcie;  /**< Parameters of the link. */
    struct kvc_events *events;    /**< Where the engine posts its events. */
    struct kvc_pcie_root *root;   /**< Root complex that the links of a card share. */
    uint16_t number;              /**< Number of the link, and `unit` of its events. */
    struct kvc_rng rng;           /**< Draws the latency of the host's memory. */
    double byte_ns;               /**< Time of one byte on the link. */
    double up_free_ns;            /**< Time when the direction to the host is free. */
    double down_free_ns;          /**< Time when the direction to the card is free. */
    double up_busy_ns;            /**< Busy time of the direction to the host. */
    double down_busy_ns;          /**< Busy time of the direction to the card. */
    double posted_ns;             /**< Time when the host has taken every write that is off the link. */
    uint32_t sending;             /**< Writes that have their credits and are not off the link. */
    struct kvc_pcie_queue reads;  /**< Reads, which wait for tags and non-posted credits. */
    struct kvc_pcie_queue writes; /**< Writes, which wait for posted credits. */
};

/** Opens link `number` of a card. The engine adds its events to `events`, whose owner hands them to
 * kvc_pcie_engine_handle(); `pcie`, `root` and `events` must outlive the engine. Exits with status 3 if
 * memory is short. */
void kvc_pcie_engine_open(struct kvc_pcie_engine *engine, const struct kvc_pcie *pcie,
                          struct kvc_pcie_root *root, struct kvc_events *events, uint16_t number,
                          uint64_t seed);

/** Frees the engine's queues. */
void kvc_pcie_engine_close(struct kvc_pcie_engine *engine);

/** Asks for a read of `bytes` at `now_ns`. `tag` comes back once for each of its packets. */
void kvc_pcie_engine_read(struct kvc_pcie_engine *engine, double now_ns, uint32_t bytes, uint32_t tag);

/** Asks for a write of `bytes` at `now_ns`. `tag` comes back once for each of its packets. */
void kvc_pcie_engine_write(struct kvc_pcie_engine *engine, double now_ns, uint32_t bytes, uint32_t tag);

/** Handles an event of this engine.
 *
 * Returns true if a packet is done at the event's time: the data of a read is in, or a write is on the wire.
 * *tag is then the tag of its request. */
bool kvc_pcie_engine_handle(struct kvc_pcie_engine *engine, const struct kvc_event *event, uint32_t *tag);

#endif
