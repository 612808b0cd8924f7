/** @file
 * A PCIe device moves data between host memory and a card, in bulk copies or in single packets.
 *
 * The parameters fall into two groups, and a profile states one of them or both, each as a whole. Bulk copies
 * are what a GPU needs: a copy occupies its direction's copy engine for its bytes over the rate, and takes a
 * fixed latency on top, during which the engine already serves the next copy. Packets are what a card needs
 * that reads and writes host memory by itself: links, tags, credits and latencies of single requests
 * (the engine below puts them to work). A store's check refuses a node whose device lacks the group it needs.
 *
 * Sources of the packets' parameters: KV-Direct (SOSP 2017), sec. 2.4; PCI Express Base Specification 3.0,
 * sec. 2.6.1 (credits by headers and by data).
 *
 * A PCIe engine is one link of a card at work: it turns requests into packets and simulates their tags,
 * credits, order and queues.
 *
 * A card has one or more links, each with tags and credits of its own, and all of them pass the root complex
 * (or a switch) that connects them to host memory. A read takes a tag, a non-posted header credit and room
 * for its data on the card; it sends a request the size of a header, waits for host memory, and receives
 * header and data. Tag and room are free when the last byte is in. A write takes a posted header credit and a
 * data credit for each 16 bytes, and sends header and data. The card is done with it when they are on the
 * wire, and the credits come back a round trip after the host has taken the write. Each direction of a link
 * carries one packet at a time. Requests above the largest payload are several packets. The DMA engine of a
 * card's link starts one packet after another: a read takes dma_read, and a write dma_write and the time of
 * its data, so reads and writes share it, whatever the link itself could carry each way.
 *
 * The order on a link is PCIe's without relaxed ordering: writes keep their order, and a read does not pass a
 * write that was asked for before it, neither while that write waits for credits nor on its way through the
 * root complex. A write may pass reads that wait for a tag. The data of different reads comes in any order.
 * Links do not order each other.
 *
 * Sources of the mechanisms: KV-Direct (SOSP 2017), sec. 2.4; PCI Express Base Specification 3.0, sec. 2.4.1
 * (order) and 2.6.1 (flow control). Not modelled: acknowledgements and flow-control packets, data that the
 * host returns in several packets, the host's caches. */
#ifndef KVC_SIM_DEVICES_PCIE_H
#define KVC_SIM_DEVICES_PCIE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/base/rng.h"
#include "sim/devices/dram.h"
#include "sim/devices/node.h"

/** Parameters of a PCIe device. A group that the profile does not state has NaN and 0 in its fields. */
struct kvc_pcie {
    char name[KVC_TEXT_MAX]; /**< Name of the product, for people. */

    double h2d_bytes_per_s; /**< Copies: rate from host to device. */
    double d2h_bytes_per_s; /**< Copies: rate from device to host. */
    double latency_ns;      /**< Copies: fixed time of one copy, either way. */

    uint64_t endpoints;    /**< Packets: links of one card. */
    uint64_t generation;   /**< Packets: generation of PCIe, 1 to 6. */
    uint64_t lanes;        /**< Packets: lanes of one link. */
    uint64_t header_bytes; /**< Packets: bytes around the data of a packet, padding and framing included. */
    uint64_t payload_max_bytes;  /**< Packets: most data in one packet. */
    uint64_t tags;               /**< Packets: reads in flight per link. */
    uint64_t read_credits;       /**< Packets: non-posted headers that the host accepts per link. */
    uint64_t write_credits;      /**< Packets: posted headers that the host accepts per link. */
    uint64_t write_data_credits; /**< Packets: posted data that the host accepts per link [16 bytes]. */
    uint64_t
        completion_credits;  /**< Packets: data of reads that the card has room for per link [16 bytes]. */
    double read_ns;          /**< Packets: time from request to data if a cache of the host has it. */
    double memory_ns;        /**< Packets: mean extra time of host memory, which is uniform. */
    double credit_ns;        /**< Packets: time until the credit of a write is back. */
    double root_bytes_per_s; /**< Packets: data rate of all links of a card together, each way. */
    double core_reads_per_s; /**< Packets: random lines per second that a host core reads for the card. */
    /** Packets: time of a read in the DMA engine of its link; NaN or 0: none. A card may leave the three out.
     */
    double dma_read_ns;
    double dma_write_ns;    /**< Packets: time of a write in this engine, besides its data. */
    double dma_bytes_per_s; /**< Packets: rate at which this engine takes the data of writes. */
    /** Packets: by how much the links are faster than their generation says. No option: profiles describe
     * real links, for which it is 0, and only kvc_pcie_speed_up() changes it. */
    double faster_frac;
};

/** The descriptor of a PCIe link. */
extern const struct kvc_device_kind kvc_pcie_kind;

/** Finds the node's PCIe device. Returns NULL if it has none. */
static inline const struct kvc_pcie *kvc_pcie_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_pcie_kind);
}

/** Returns whether the profile states bulk copies. */
static inline bool kvc_pcie_has_copies(const struct kvc_pcie *pcie)
{
    return pcie->h2d_bytes_per_s > 0;
}

/** Returns whether the profile states packets. */
static inline bool kvc_pcie_has_packets(const struct kvc_pcie *pcie)
{
    return pcie->endpoints > 0;
}

/** Returns the time for which a copy from host to device occupies its engine [ns]. The latency comes on
 * top. */
double kvc_pcie_h2d_ns(const struct kvc_pcie *pcie, double bytes);

/** Returns the time for which a copy from device to host occupies its engine [ns]. The latency comes on
 * top. */
double kvc_pcie_d2h_ns(const struct kvc_pcie *pcie, double bytes);

/** Returns the rate of one link in each direction, headers included [bytes per second].
 *
 * Source: the transfer rates and line codes of the PCI Express Base Specification; of a flit of generation 6,
 * 236 of 256 bytes belong to packets. */
double kvc_pcie_link_bytes_per_s(const struct kvc_pcie *pcie);

/** Returns how many reads, or writes, of `bytes` one link carries per second. */
double kvc_pcie_link_per_s(const struct kvc_pcie *pcie, double bytes);

/** Returns the reads per second that the tags and credits of one link allow. */
double kvc_pcie_flight_reads_per_s(const struct kvc_pcie *pcie);

/** Returns the mean time from request to data on an idle link [ns]. */
double kvc_pcie_read_ns(const struct kvc_pcie *pcie, double bytes);

/** Returns the time for which packets occupy the DMA engine of their link [ns]. */
double kvc_pcie_dma_ns(const struct kvc_pcie *pcie, double reads, double writes, double written_bytes);

/** Packets of a card. */
struct kvc_pcie_traffic {
    double reads;         /**< Packets that are read. */
    double writes;        /**< Packets that are written. */
    double read_bytes;    /**< Data of those that are read. */
    double written_bytes; /**< Data of those that are written. */
};

/** Returns the time for which packets occupy the busiest part of a card's links [ns]: their tags and credits,
 * the DMA engines, either direction of the links, or the root complex. */
double kvc_pcie_traffic_ns(const struct kvc_pcie *pcie, const struct kvc_pcie_traffic *traffic);

enum { KVC_PCIE_CREDIT_BYTES = 16 }; /**< Data that one data credit stands for: 4 double words. */

/** Returns the number of packets that a request of `bytes` is cut into. */
uint32_t kvc_pcie_packets(const struct kvc_pcie *pcie, uint32_t bytes);

/** Makes links, copies and their latencies faster by a factor, for a what-if question. The parts of host
 * memory and host cores, memory_ns and core_reads_per_s, do not change. */
void kvc_pcie_speed_up(struct kvc_pcie *pcie, double factor);

/** Kinds of events that engines add; `unit` of such an event is the engine's number. An owner of engines
 * numbers its own kinds from KVC_PCIE_KINDS on. */
enum {
    KVC_PCIE_ASKED,  /**< The request of a read is off the link, after the writes before it. */
    KVC_PCIE_DATA,   /**< Host memory has the data of a read. */
    KVC_PCIE_READ,   /**< The data of a read is in. */
    KVC_PCIE_SENT,   /**< A write is on the wire. */
    KVC_PCIE_CREDIT, /**< The credit of a write is back. */
    KVC_PCIE_KINDS
};

/** Lanes of events (sim/base/events.h): links with even and with odd numbers have one each. An owner of
 * engines numbers its own lanes from KVC_PCIE_LANES_END on. */
enum { KVC_PCIE_LANE_FIRST = 1, KVC_PCIE_LANES_END = 3 };

/** The root complex and host memory, which all links of a card share. All zero is idle. */
struct kvc_pcie_root {
    double down_free_ns; /**< Time when the direction to the card is free. */
    double up_free_ns;   /**< Time when the direction to the host is free. */
    /** Factor by which other users of the host slow the direction to the card; up to 1: not at all. */
    double down_stretch;
    double up_stretch; /**< Stretch of the direction to the host. */
    double down_bytes; /**< Bytes sent to the card so far, with headers. */
    double up_bytes;   /**< Bytes taken from the card so far, with headers. */
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
    struct kvc_events *events;    /**< Queue to which the engine posts its events. */
    struct kvc_pcie_root *root;   /**< Root complex that the links of a card share. */
    uint16_t number;              /**< Number of the link, and `unit` of its events. */
    struct kvc_rng rng;           /**< Draws the latency of the host's memory. */
    double byte_ns;               /**< Time of one byte on the link. */
    double up_free_ns;            /**< Time when the direction to the host is free. */
    double down_free_ns;          /**< Time when the direction to the card is free. */
    double up_busy_ns;            /**< Busy time of the direction to the host. */
    double down_busy_ns;          /**< Busy time of the direction to the card. */
    double dma_free_ns;           /**< Time when the DMA engine can start the next packet. */
    double dma_busy_ns;           /**< Busy time of the DMA engine. */
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
