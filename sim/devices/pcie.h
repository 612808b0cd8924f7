/** @file
 * A PCIe device moves data between host memory and a card, in bulk copies or in single packets.
 *
 * The parameters fall into two groups, and a profile states one of them or both, each as a whole. Bulk copies
 * are what a GPU needs: a copy occupies its direction's copy engine for its bytes over the rate, and takes a
 * fixed latency on top, during which the engine already serves the next copy. Packets are what a card needs
 * that reads and writes host memory by itself: links, tags, credits and latencies of single requests
 * (pcie_engine.h puts them to work). A store's check refuses a node whose device lacks the group it needs.
 *
 * Sources of the packets' parameters: KV-Direct (SOSP 2017), sec. 2.4; PCI Express Base Specification 3.0,
 * sec. 2.6.1 (credits by headers and by data). */
#ifndef KVC_SIM_DEVICES_PCIE_H
#define KVC_SIM_DEVICES_PCIE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/node.h"

/** Parameters of a PCIe device. A group that the profile does not state has NaN and 0 in its fields. */
struct kvc_pcie {
    char name[KVC_TEXT_MAX]; /**< Name of the product, for people. */

    double h2d_bytes_per_s; /**< Copies: rate from host to device. */
    double d2h_bytes_per_s; /**< Copies: rate from device to host. */
    double latency_ns;      /**< Copies: fixed time of one copy, either way. */

    uint64_t endpoints;    /**< Packets: links of one card. */
    uint64_t generation;   /**< Packets: generation of PCIe, 1 to 5. */
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
 * Source: the transfer rates and line codes of the PCI Express Base Specification. */
double kvc_pcie_link_bytes_per_s(const struct kvc_pcie *pcie);

/** Returns how many reads, or writes, of `bytes` one link carries per second. */
double kvc_pcie_link_per_s(const struct kvc_pcie *pcie, double bytes);

/** Returns the reads per second that the tags and credits of one link allow. */
double kvc_pcie_flight_reads_per_s(const struct kvc_pcie *pcie);

/** Returns the mean time from request to data on an idle link [ns]. */
double kvc_pcie_read_ns(const struct kvc_pcie *pcie, double bytes);

enum { KVC_PCIE_CREDIT_BYTES = 16 }; /**< Data that one data credit stands for: 4 double words. */

/** Returns the data credits that a packet of `bytes` takes. */
static inline uint32_t kvc_pcie_data_credits(uint32_t bytes)
{
    return (bytes + KVC_PCIE_CREDIT_BYTES - 1) / KVC_PCIE_CREDIT_BYTES;
}

/** Returns the number of packets that a request of `bytes` is cut into. */
uint32_t kvc_pcie_packets(const struct kvc_pcie *pcie, uint32_t bytes);

/** Makes links, copies and their latencies faster by a factor, for a question of what would be if. What host
 * memory and host cores contribute, memory_ns and core_reads_per_s, stays as it is. */
void kvc_pcie_speed_up(struct kvc_pcie *pcie, double factor);

#endif
