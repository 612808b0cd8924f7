/** @file
 * Flash is a card of NAND chips on channels: pages are read and programmed, blocks are erased.
 *
 * Each channel connects several chips and carries one page at a time; each chip handles one operation at a
 * time. A read senses the page into the chip's register (tR), and then the page crosses the channel. A
 * program moves the page to the register first and then takes tPROG. An erase takes tBERS and no channel.
 * flash_engine.h puts the chips to work. Consecutive pages lie on consecutive channels, and then on the next
 * chip of each channel, as BlueCache stripes its chunks (VLDB 2016, sec. 3.4).
 *
 * Source of the form: ONFI 2.2 and the data sheets of its chips. Commands, addresses and the status
 * occupy the channel together with the page. Chips say when they are ready, or the controller visits them in
 * turn and asks (flash_turns.h). Not modelled: planes, cache registers that overlap sensing and transfer,
 * retries and errors, chips that slow down or fail as they wear, and whether a page was erased before it is
 * programmed (the store's kernels know).
 */
#ifndef KVC_SIM_DEVICES_FLASH_H
#define KVC_SIM_DEVICES_FLASH_H

#include <stdint.h>

#include "sim/devices/node.h"

/** Parameters of one card. */
struct kvc_flash {
    char name[KVC_TEXT_MAX];    /**< Name of the product, for people. */
    uint64_t channels;          /**< Channels, each with chips of its own. */
    uint64_t chips;             /**< Chips (dies) of a channel. */
    uint64_t blocks;            /**< Blocks of a chip. */
    uint64_t pages_per_block;   /**< Pages of a block. */
    double page_bytes;          /**< Data of a page. */
    double spare_bytes;         /**< Bytes for error correction that cross the channel with each page. */
    double read_ns;             /**< tR: page to register. */
    double program_ns;          /**< tPROG: register to page. */
    double erase_ns;            /**< tBERS: one block. */
    double channel_bytes_per_s; /**< Rate of a channel. */
    double command_ns;          /**< Time for which the command of an operation occupies its channel. */
    double status_ns;     /**< Time for which a question for the status of a chip occupies its channel. */
    double first_poll_ns; /**< Controller in turns: time from the command of a read to the first question. */
    double poll_ns;       /**< Likewise: time between questions; 0: chips say when they are ready. */
    uint64_t tags;        /**< Operations that the controller accepts at a time. */
    double endurance;     /**< Erases that a block is rated for; NaN: not stated. */
    double idle_watts;    /**< Power of the card without work; NaN: not published. */
    double busy_watts;    /**< Power of the card at work; NaN: not published. */
};

/** The descriptor of a flash card. */
extern const struct kvc_device_kind kvc_flash_kind;

/** Finds the node's flash card. Returns NULL if it has none. */
static inline const struct kvc_flash *kvc_flash_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_flash_kind);
}

/** Returns the number of pages of the card. */
uint64_t kvc_flash_pages(const struct kvc_flash *flash);

/** Returns the channel on which a page lies. */
uint32_t kvc_flash_channel_of(const struct kvc_flash *flash, uint64_t page);

/** Returns the chip on which a page lies, counted over the whole card: chips of a channel are consecutive. */
uint32_t kvc_flash_chip_of(const struct kvc_flash *flash, uint64_t page);

/** Returns the time in which the bytes of a page cross their channel [ns]. */
double kvc_flash_page_ns(const struct kvc_flash *flash);

/** Returns the time for which a page occupies its channel, with its command and status [ns]. */
double kvc_flash_transfer_ns(const struct kvc_flash *flash);

/** Returns the time of a read on an idle card [ns]. */
double kvc_flash_read_ns(const struct kvc_flash *flash);

/** Returns the highest rate of reads at random pages, all chips and channels loaded evenly [per second]. */
double kvc_flash_reads_per_s(const struct kvc_flash *flash);

/** Returns the highest rate of programs, all chips and channels loaded evenly and erases not counted [per
 * second]. */
double kvc_flash_programs_per_s(const struct kvc_flash *flash);

#endif
