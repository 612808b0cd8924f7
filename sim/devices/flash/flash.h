/** @file
 * Flash is NAND chips on channels, on one card or several: pages are read and programmed, blocks are
 * erased.
 *
 * Each channel connects several chips and carries one page at a time; each chip handles one operation at a
 * time. A read senses the page into the chip's register (tR), and then the page crosses the channel. A
 * program moves the page to the register first and then takes tPROG. An erase takes tBERS and no channel.
 * flash_engine.h puts the chips to work. Consecutive pages lie on consecutive channels, and then on the next
 * chip of each channel, as BlueCache stripes its chunks (VLDB 2016, sec. 3.4).
 *
 * A drive is such a card with a controller and an interface (flash_engine.c): the controller handles one
 * operation at a time, the data cross the interface, and both add latency that occupies nothing.
 *
 * Planes: if they sense pages of their own, each of them is a chip here. If they only program together, the
 * pages of all of them are one page, and a read fetches some of its sectors. A page stands for all bits of
 * its cells; if they are programmed in one go, its time is its share.
 *
 * Source of the form: ONFI 2.2 and the data sheets of its chips. Commands, addresses and the status occupy
 * the channel together with the page. Chips signal when they are ready, or the controller polls them in turn
 * (flash_turns.c). A drive may have a translation layer, which decides where pages are written
 * (flash_translation.h). Not modelled: cache registers that overlap sensing and transfer, retries and errors,
 * chips that slow down or fail as they wear, and whether a page was erased before it is programmed (the
 * store's kernels know).
 *
 * Compared with data sheets of drives, the rates of reads, one or many at a time, are right within 10 %.
 * Sequential reads and writes are at most 21 % too fast and 24 % too slow. Random writes in the long run are
 * right within 30 % where the chips, or a known limit of all programs, limit the drive; mixes with reads are
 * not compared there. Where the controller limits the drive, which no data sheet states, random writes are up
 * to twice as fast as in the data sheet, and mixes up to five times.
 */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_H
#define KVC_SIM_DEVICES_FLASH_FLASH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/node.h"
#include "sim/platform.h"

/** Parameters of one card; a node has `cards` of them, over which consecutive pages are spread. */
struct kvc_flash {
    char name[KVC_TEXT_MAX];    /**< Name of the product, for people. */
    uint64_t cards;             /**< Equal cards of a node. */
    uint64_t channels;          /**< Channels, each with chips of its own. */
    uint64_t chips;             /**< Chips (dies) of a channel. */
    uint64_t blocks;            /**< Blocks of a chip. */
    uint64_t pages_per_block;   /**< Pages of a block. */
    double page_bytes;          /**< Data of a page. */
    double spare_bytes;         /**< Bytes for error correction that cross the channel with each page. */
    double sector_bytes;        /**< Smallest part of a page that a read fetches; 0: whole pages. */
    double read_ns;             /**< tR: page to register. */
    double program_ns;          /**< tPROG: register to page. */
    double erase_ns;            /**< tBERS: one block. */
    double channel_bytes_per_s; /**< Rate of a channel. */
    double command_ns;          /**< Time for which the command of an operation occupies its channel. */
    double status_ns;     /**< Time for which a question for the status of a chip occupies its channel. */
    double first_poll_ns; /**< Controller in turns: time from the command of a read to the first question. */
    double poll_ns; /**< Controller in turns: time between questions; 0: chips say when they are ready. */
    uint64_t tags;  /**< Operations that the controller accepts at a time. */
    double operation_ns;          /**< Drive: time for which an operation occupies the controller. */
    double interface_bytes_per_s; /**< Drive: rate of the interface, each way; 0: no limit. */
    double access_ns;             /**< Drive: latency that controller and interface add to an operation. */
    double program_bytes_per_s;   /**< Drive: what all its chips program together; NaN or 0: no limit. */
    double over_provisioning;     /**< Drive: raw capacity over the host's, less 1; NaN or 0: it has no
                                     translation layer. */
    double buffer_bytes;          /**< Translation layer: its write buffer; NaN: two pages of each chip. */
    double endurance;             /**< Erases that a block is rated for; NaN: not stated. */
    double price_usd;             /**< Price of the card [US dollars]; 0: unknown. */
    double idle_watts;            /**< Power of the card without work; NaN: not published. */
    double busy_watts;            /**< Power of the card at work; NaN: not published. */
};

/** Operations on flash, such as of an average request. */
struct kvc_flash_load {
    double reads;      /**< Reads of a part of a page. */
    double read_bytes; /**< Bytes that each read fetches (kvc_flash_fetched_bytes()). */
    double programs;   /**< Pages that are programmed. */
    double erases;     /**< Blocks that are erased. */
};

/** Times for which the parts of flash are busy, as means over all parts of a kind. */
struct kvc_flash_busy {
    double controller_ns; /**< Controllers of drives. */
    double channels_ns;   /**< Channels. */
    double chips_ns;      /**< Chips, without their waits for a channel. */
    double interface_ns;  /**< Interfaces of drives, in their busier direction, or what their chips program
                             together if that is busier. */
};

/** The descriptor of flash. */
extern const struct kvc_device_kind kvc_flash_kind;

/** Finds the node's flash. Returns NULL if it has none. */
static inline const struct kvc_flash *kvc_flash_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_flash_kind);
}

/** Returns the number of pages of all cards. */
uint64_t kvc_flash_pages(const struct kvc_flash *flash);

/** Returns the data that all cards hold [bytes]. */
double kvc_flash_bytes(const struct kvc_flash *flash);

/** Returns the number of channels of all cards; the channels of a card are consecutive. */
uint32_t kvc_flash_channels(const struct kvc_flash *flash);

/** Returns the number of chips of all cards; the chips of a channel are consecutive. */
uint32_t kvc_flash_chips(const struct kvc_flash *flash);

/** Returns the number of operations that all controllers accept at a time. */
uint64_t kvc_flash_tags(const struct kvc_flash *flash);

/** Returns the channel on which a page lies, counted over all cards. Consecutive pages lie on consecutive
 * cards, and then on the next channel of each card. */
uint32_t kvc_flash_channel_of(const struct kvc_flash *flash, uint64_t page);

/** Returns the chip on which a page lies, counted over all cards. */
uint32_t kvc_flash_chip_of(const struct kvc_flash *flash, uint64_t page);

/** Returns whether a controller, an interface or a translation layer stands between the host and the chips.
 */
bool kvc_flash_is_drive(const struct kvc_flash *flash);

/** Returns whether all chips of a drive share a limit on programs (flash_engine.c). */
bool kvc_flash_limits_programs(const struct kvc_flash *flash);

/** Returns whether a translation layer decides where pages are written (flash_translation.h). */
bool kvc_flash_translates(const struct kvc_flash *flash);

/** Returns the mean bytes that a read of `bytes` fetches, which begin at any multiple of 8 in a page: whole
 * sectors, or the page [bytes]. */
double kvc_flash_fetched_bytes(const struct kvc_flash *flash, double bytes);

/** Returns the time in which data and their share of the spare bytes cross their channel [ns]. */
double kvc_flash_data_ns(const struct kvc_flash *flash, double bytes);

/** Returns the time for which data occupy their channel, with command and status [ns]. */
double kvc_flash_transfer_ns(const struct kvc_flash *flash, double bytes);

/** Returns the time for which data occupy the interface of a drive [ns]. */
double kvc_flash_interface_ns(const struct kvc_flash *flash, double bytes);

/** Returns the time of a read that fetches `bytes` on an idle card [ns]. */
double kvc_flash_read_ns(const struct kvc_flash *flash, double bytes);

/** Returns for how long a load occupies the parts of the flash if all of a kind are loaded evenly. */
struct kvc_flash_busy kvc_flash_busy_of(const struct kvc_flash *flash, const struct kvc_flash_load *load);

/** Returns the busy time of the busiest part that chips share [ns]. Power follows it. */
double kvc_flash_shared_ns(const struct kvc_flash_busy *busy);

/** Returns the power of all cards; unknown if a card's is not known at work. A card whose power is not known
 * idle draws that at work all the time. */
struct kvc_watts kvc_flash_watts(const struct kvc_flash *flash);

/** Makes the flash faster by a factor, for a question of what would be if. */
void kvc_flash_speed_up(struct kvc_flash *flash, double factor);

/** Returns the rate of reads that fetch `bytes` of random pages if `reads` of them wait or run at any time
 * [per second], for flash whose controllers visit their chips in turn (flash_turns.c).
 *
 * Chips of a channel fall into step: those that have a read get their commands, are sensed together, and then
 * their pages cross one after another. With c the command, r the time to sense, s the question, p the time
 * between questions and x the page, such a round of k chips takes
 *
 *     T(k) = c + max(r, first question) + (p + s) / 2 + k (s + x),
 *
 * because a ready chip waits for half of the time between two questions on average. In a round, every chip
 * with reads serves one, and n reads are at random chips, m of all channels. A chip is thus a queue with a
 * fixed time of service: with u the share of the chips that are busy, the mean number of reads at a chip
 * follows the M/D/1 queue, except that a read does not wait for itself:
 *
 *     n / m = u + (n - 1) / n u^2 / (2 (1 - u)).
 *
 * A channel of M chips has rounds of k = M u' / (1 - (1 - u')^M) chips on average, as there are no rounds
 * without any; u' is the share of the other n - 1 reads. All chips together serve m u / T(k).
 *
 * Compared with the simulation (flash_turns_test.c), on 8 chips a channel the rate is 2 to 4 % too low for
 * any number of reads. On 2 chips, which need not fall into step, it is up to 33 % too low, and 18 % on 8
 * chips whose pages cross four times as fast. Not modelled: reads for chips that were idle when the round
 * began, which may be sensed while other pages cross, and programs and erases. */
double kvc_flash_turns_reads_per_s(const struct kvc_flash *flash, double bytes, double reads);

#endif
