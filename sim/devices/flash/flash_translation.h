/** @file
 * A translation layer is the map of a drive from the sectors that the host sees to places on its
 * chips, with the garbage collection that makes room for more writes. It has no notion of time;
 * flash_translated.c adds it.
 *
 * Each chip writes page after page of one open block. What is overwritten becomes invalid where it was. A
 * chip keeps one block free. When its open block is full and no other one is free, it takes the block with
 * the fewest valid sectors (greedy), moves these to the open block, and erases it. Which chip writes next is
 * up to the caller.
 *
 * The share of the raw capacity that the host does not see decides how much is moved. Under uniform random
 * writes this follows a closed form (flash_fixture.h) for blocks of many sectors; it depends on neither their
 * number nor their size, so that a small drive of the same share behaves like the whole one.
 *
 * Source: Desnoyers, Analytic Models of SSD Write Performance, ACM Trans. Storage 10(2), 2014; Bux and
 * Iliadis, Performance of greedy garbage collection in flash-based solid-state drives, Performance Evaluation
 * 67(11), 2010. Not modelled: wear leveling, bad blocks, parity across chips, pages of the map on flash,
 * separate blocks for hot and cold data, and blocks of several chips that are collected together. */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_TRANSLATION_H
#define KVC_SIM_DEVICES_FLASH_FLASH_TRANSLATION_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/rng.h"
#include "sim/devices/flash/flash.h"

/** Sizes of the layer of one drive. */
struct kvc_flash_translation_size {
    uint32_t chips;   /**< Chips, each with blocks of its own. */
    uint32_t blocks;  /**< Blocks of a chip, with the one that it keeps free. */
    uint32_t pages;   /**< Pages of a block. */
    uint32_t slots;   /**< Sectors of a page. */
    uint32_t sectors; /**< Sectors that the host sees. */
};

/** Places of sectors that are not on a page. */
enum {
    KVC_FLASH_UNWRITTEN = UINT32_MAX, /**< Nowhere: not written, or trimmed. */
    KVC_FLASH_HELD = UINT32_MAX - 1,  /**< In the drive's memory, on its way from one block to another. */
};

/** The layer of one drive. */
struct kvc_flash_translation {
    struct kvc_flash_translation_size size;    /**< Sizes of the drive. */
    uint32_t *place;                           /**< Place of each sector; or one of the above. */
    uint32_t *owner;                           /**< Valid sector at each place; or KVC_FLASH_UNWRITTEN. */
    struct kvc_flash_translation_block *block; /**< Blocks; the blocks of a chip are consecutive. */
    struct kvc_flash_translation_chip *chip;   /**< State of each chip. */
    uint32_t turn;                             /**< Chip that is filled next, in no time. */
    uint32_t *held;   /**< For each chip, sectors of two pages that wait for a place. */
    uint64_t written; /**< Sectors that the host has written. */
    uint64_t moved;   /**< Sectors that garbage collection has moved. */
    uint64_t erases;  /**< Blocks that were erased. */
};

/** Returns the pages of each drive of a node whose host uses `pages` pages of all drives together. */
static inline uint64_t kvc_flash_translation_in_drive(const struct kvc_flash *flash, uint64_t pages)
{
    return (pages + flash->cards - 1) / flash->cards;
}

/** Determines the sizes of a drive whose host sees `pages` of its pages. If these are fewer than the
 * profile's, the drive keeps the share of spare capacity and has fewer blocks in each chip, and smaller ones
 * if need be. Returns KVC_ERR_SCENARIO with a message if the pages are too few or too many. */
enum kvc_status kvc_flash_translation_size_of(const struct kvc_flash *flash, uint64_t pages,
                                              struct kvc_flash_translation_size *size, struct kvc_diag *diag);

/** Checks the pages that a host uses of all drives of a node, if they have a translation layer. */
enum kvc_status kvc_flash_translation_check(const struct kvc_flash *flash, uint64_t pages,
                                            struct kvc_diag *diag);

/** Returns the memory that the layers of all drives take if a host uses `pages` of their pages [bytes]; 0:
 * the drives have no layer. */
double kvc_flash_translation_bytes(const struct kvc_flash *flash, uint64_t pages);

/** Opens a layer in which nothing is written. Exits with status 3 if memory is short. */
void kvc_flash_translation_open(struct kvc_flash_translation *map,
                                const struct kvc_flash_translation_size *size);

/** Frees the contents of the layer, not the struct. */
void kvc_flash_translation_close(struct kvc_flash_translation *map);

/** Returns the chip of a place. */
uint32_t kvc_flash_translation_chip_of(const struct kvc_flash_translation *map, uint32_t place);

/** Returns the page of a place, among all pages of the drive. */
uint32_t kvc_flash_translation_page_of(const struct kvc_flash_translation *map, uint32_t place);

/** Returns the number of valid sectors of a block, counted over all chips. */
uint32_t kvc_flash_translation_valid(const struct kvc_flash_translation *map, uint32_t block);

/** Returns whether a chip must collect garbage before it can take a page of the host. */
bool kvc_flash_translation_is_full(const struct kvc_flash_translation *map, uint32_t chip);

/** Writes a page of up to `slots` sectors of the host to a chip that is not full. */
void kvc_flash_translation_write(struct kvc_flash_translation *map, uint32_t chip, const uint32_t *sector,
                                 uint32_t count);

/** Forgets a sector, which the host no longer needs. */
void kvc_flash_translation_trim(struct kvc_flash_translation *map, uint32_t sector);

/** Chooses the block that a full chip collects. Returns false if all its blocks are valid as a whole, so that
 * nothing would be gained until some of them is overwritten. */
bool kvc_flash_translation_collect(struct kvc_flash_translation *map, uint32_t chip);

/** Takes the valid sectors from the next page of the block that is collected. Returns their number; 0: none
 * is left in the block, which can be erased. */
uint32_t kvc_flash_translation_take(struct kvc_flash_translation *map, uint32_t chip);

/** Writes a page of the sectors that were taken, if there are enough of them. Returns whether it did. */
bool kvc_flash_translation_settle(struct kvc_flash_translation *map, uint32_t chip);

/** Erases the block that was collected. */
void kvc_flash_translation_erase(struct kvc_flash_translation *map, uint32_t chip);

/** Writes all sectors in order, in no time. Chips write in turn. */
void kvc_flash_translation_fill(struct kvc_flash_translation *map);

/** Writes `count` sectors at random, all equally likely, in no time. */
void kvc_flash_translation_scatter(struct kvc_flash_translation *map, uint64_t count, struct kvc_rng *rng);

#endif
