/** @file
 * DRAM is the memory of a socket, as one core sees it and as the channels that all its users share.
 *
 * One core: an object costs one random line and then sequential ones. Source of the form: Mega-KV (VLDB J.
 * 2017), sec. 2.1.2, fig. 2: one random line takes 76 ns, 16 sequential lines take 231 ns.
 *
 * Channels: every access occupies a channel for some time, and a channel gives one nanosecond of its time per
 * nanosecond. Streamed bytes occupy the data bus only. A random line opens a row of its own (the controller
 * closes rows), so it takes the longest of these times, each over the ranks or banks that work in parallel:
 *
 *   - data bus: the burst of one line. A change of rank leaves the bus idle for tRTRS, and activations of one
 *     rank are tRRD apart. The controller takes the cheapest of three orders: always another rank; four lines
 *     of a rank, which tFAW allows in a row, and then another rank; one rank all the time.
 *   - banks: tRC per line that is read and tRC_write per line that is written, over all banks of all ranks.
 *   - activations: four per tFAW in each rank.
 *
 * Writes wait in the controller's queue and are drained by half a queue at a time; if there are fewer reads
 * than writes, the controller turns to reads only when half a queue of them waits. Each drain turns
 * the bus around twice: tRTW before the writes, and after them the wait for the rank that was written longest
 * ago (tWTR after its last write, and then tCL until data comes). While the channel refreshes, tRFC of each
 * tREFI, it does nothing else.
 *
 * Source of the timing: JEDEC JESD79-3F. Assumed: the controller's queues hold enough lines to reorder them
 * in this way. The tests compare the formula with a simulated controller that has the queues of the Xeon E5
 * (22 reads and 32 writes in each channel: Intel, Xeon E5-2600 Uncore Performance Monitoring Guide, 327043,
 * RPQ_OCCUPANCY and WPQ_OCCUPANCY). Not modelled: rows that stay open for a later access, reads and writes
 * that take less than a line, channels that are loaded unevenly, refreshes of single ranks, power-down. */
#ifndef KVC_SIM_DEVICES_DRAM_H
#define KVC_SIM_DEVICES_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/node.h"
#include "sim/platform.h"

enum { KVC_DRAM_PAGES_MAX = 16 /**< Measured working sets. */ };

/** Times of random lines of one working set, on huge and on small pages, for one core. */
struct kvc_dram_pages {
    double footprint_bytes;  /**< Size of the working set. */
    double huge_ns;          /**< Time of a line of many that are prefetched together, on huge pages. */
    double small_ns;         /**< The same on small pages. */
    double huge_latency_ns;  /**< Time of a line whose address the line before gives, on huge pages. */
    double small_latency_ns; /**< The same on small pages. */
};

enum { KVC_DRAM_CONTENTION_MAX = 8 /**< Measured rates of a co-runner. */ };

/** Times of random lines beyond the caches for one core, while others take bandwidth. */
struct kvc_dram_contention {
    double taken_bytes_per_s; /**< Bandwidth that the others take. */
    double line_ns;           /**< Time of a line of many that are prefetched together. */
    double latency_ns;        /**< Time of a line whose address the line before gives. */
};

/** Parameters of one socket's memory. The timing is stated as a whole or not at all; without it, its fields
 * are NaN or 0. */
struct kvc_dram {
    char name[KVC_TEXT_MAX]; /**< Name of the product, for people. */
    double random_line_ns;   /**< Time of an object's first line, for one core. */
    double next_line_ns;     /**< Time of each following line, which the hardware prefetches. */
    double line_bytes;       /**< Size of a cache line, which is one burst. */
    double watched_line_ns;  /**< Time of a random line of several at once while all cores read [ns]; NaN:
                                unknown. */
    double gb_price_usd;     /**< Price of 10^9 bytes [US dollars]; NaN: unknown. */
    double capacity_bytes;   /**< Memory of the socket; NaN: unknown. */
    double bytes_per_s; /**< Measured bandwidth of the socket; NaN or 0: derived from channels and rate. */
    double idle_watts;  /**< Power of all modules without accesses; NaN: unknown. */
    double busy_watts;  /**< Power of all modules while every channel is occupied; 0: part of another
                             device's; NaN: unknown. */

    uint32_t page_count;                             /**< Used entries of `pages`. */
    struct kvc_dram_pages pages[KVC_DRAM_PAGES_MAX]; /**< Cost of small pages, by ascending working sets. */

    uint32_t contention_count; /**< Used entries of `contention`. */
    struct kvc_dram_contention
        contention[KVC_DRAM_CONTENTION_MAX]; /**< Cost of a co-runner, by ascending bandwidth, from 0 on. */

    uint64_t channels;      /**< Timing: memory channels of the socket. */
    uint64_t ranks;         /**< Timing: ranks of a channel. */
    uint64_t banks;         /**< Timing: banks of a rank. */
    double transfers_per_s; /**< Timing: transfers per second of a channel's data bus. */
    double bus_bytes;       /**< Timing: bytes of one transfer, without ECC. */
    uint64_t write_lines;   /**< Timing: lines that the controller's write queue of a channel holds. */
    double row_cycle_ns;    /**< Timing: tRC, from activation to activation of a bank. */
    double
        write_cycle_ns; /**< Timing: the same for a line that is written: tRCD + CWL + burst + tWR + tRP. */
    double activate_gap_ns;  /**< Timing: tRRD, between activations of one rank. */
    double four_activate_ns; /**< Timing: tFAW, in which a rank activates four rows at most. */
    double read_ns;          /**< Timing: tCL, from the read command to its data. */
    double write_to_read_ns; /**< Timing: tWTR, from the last data of a write to a read of the rank. */
    double read_to_write_ns; /**< Timing: idle bus between the data of a read and of a write. */
    double rank_switch_ns;   /**< Timing: idle bus between the data of two ranks. */
    double refresh_ns;       /**< Timing: tRFC, the length of a refresh. */
    double refresh_every_ns; /**< Timing: tREFI, from refresh to refresh. */
};

/** The descriptor of the memory of a socket. */
extern const struct kvc_device_kind kvc_dram_kind;

/** Finds the node's memory. Returns NULL if it has none. */
static inline const struct kvc_dram *kvc_dram_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_dram_kind);
}

/** The descriptor of the memory of a network card with cores, which is described as a socket's. */
extern const struct kvc_device_kind kvc_card_dram_kind;

/** Finds the memory of the node's network card. Returns NULL if it has none. */
static inline const struct kvc_dram *kvc_card_dram_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_card_dram_kind);
}

/** The descriptor of memory that a socket reaches over CXL, which is described as a socket's. */
extern const struct kvc_device_kind kvc_cxl_kind;

/** Finds the node's CXL memory. Returns NULL if it has none. */
static inline const struct kvc_dram *kvc_cxl_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_cxl_kind);
}

/** Returns the time to touch `lines` consecutive lines, the first one at a random place [ns]. No lines cost
 * nothing. */
double kvc_dram_object_ns(const struct kvc_dram *dram, double lines);

/** Returns the time to stream `bytes` that directly follow the previously streamed ones, as in packet
 * buffers [ns]. */
double kvc_dram_stream_ns(const struct kvc_dram *dram, double bytes);

/** Returns by how much longer a random line of a working set takes on a small page than on a huge one, by the
 * measured lines of batches that are prefetched [ns]. Between two working
 * sets, straight over the logarithm of the size; beyond the ends, as at the end. 0 if it was not measured. */
double kvc_dram_small_page_ns(const struct kvc_dram *dram, double footprint_bytes);

/** Returns by how much longer a random line of a working set takes while others take bandwidth [ns]: by the
 * measured lines beyond the caches, and in smaller working sets by the share of a line's time that the memory
 * has there (`pages`). Between two measured rates, a straight line; beyond the largest, as there. 0 if it was
 * not measured. */
double kvc_dram_contention_ns(const struct kvc_dram *dram, double taken_bytes_per_s, double footprint_bytes);

/** Load on a socket's memory. All zero is no load. */
struct kvc_dram_load {
    double random_reads;   /**< Lines that are read at random places. */
    double random_writes;  /**< Lines that are written at random places. */
    double streamed_bytes; /**< Bytes that are read or written in order. */
};

/** Adds `count` times a load to a sum. */
static inline void kvc_dram_load_add(struct kvc_dram_load *sum, const struct kvc_dram_load *load,
                                     double count)
{
    sum->random_reads += count * load->random_reads;
    sum->random_writes += count * load->random_writes;
    sum->streamed_bytes += count * load->streamed_bytes;
}

/** Returns the power of the memory as a host of the platform: a static part, and a dynamic part in proportion
 * to the use of its channels. All zero if it is unknown. */
struct kvc_watts kvc_dram_watts(const struct kvc_dram *dram);

/** Returns whether the profile states the timing of the channels. */
static inline bool kvc_dram_has_timing(const struct kvc_dram *dram)
{
    return dram->channels > 0;
}

/** Returns the number of channels that share the load evenly; 1 if the profile states no timing. */
double kvc_dram_channels(const struct kvc_dram *dram);

/** Returns the streaming rate of the socket [bytes per second]: the profile's, or the rate of all channels
 * outside of refreshes. */
double kvc_dram_bytes_per_s(const struct kvc_dram *dram);

/** Returns the time for which the load occupies channels, summed over the channels [ns].
 *
 * Without timing, a line costs its bytes over the bandwidth, whether it is at a random place or not. Grows
 * with each part of the load. The time of reads and writes together is more than the sum of their times,
 * because the bus turns around. */
double kvc_dram_channel_ns(const struct kvc_dram *dram, const struct kvc_dram_load *load);

/** Makes the memory faster by a factor, for a question of what would be if: its latencies, its bandwidth and
 * all of its timing. */
void kvc_dram_speed_up(struct kvc_dram *dram, double factor);

#endif
