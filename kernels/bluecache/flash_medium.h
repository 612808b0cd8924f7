/** @file
 * Interface of a raw NAND flash array: the operations that a log on flash needs.
 *
 * The array has `buses` buses with `chips_per_bus` chips each. Chip c is on bus c modulo `buses`, so chips
 * with neighbouring numbers can work in parallel. A row is one block of every chip: block b belongs to row b
 * / chips and lies on chip b modulo chips. The rules of NAND apply: a block is erased as a whole, an erased
 * page is programmed once, and the pages of a block are programmed in ascending order, possibly with gaps. A
 * call that breaks a rule returns false. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_MEDIUM_H
#define KVC_KERNELS_BLUECACHE_FLASH_MEDIUM_H

#include <stdbool.h>
#include <stdint.h>

/** Dimensions of a flash array. */
struct kvc_flash_geometry {
    uint32_t buses;           /**< Buses. */
    uint32_t chips_per_bus;   /**< Chips on each bus. */
    uint32_t blocks_per_chip; /**< Blocks of each chip, which is also the number of rows. */
    uint32_t pages_per_block; /**< Pages of each block, typically 64 to 128 (BlueCache, sec. 3.4). */
    uint32_t page_bytes;      /**< Size of a page; 8192 in the paper (BlueCache, sec. 5.1) [bytes]. */
};

/** A flash array. The functions return false if the page cannot be read or programmed, or the block cannot be
 * erased. A page whose programming failed or was interrupted reads as arbitrary bytes. A block that failed
 * once must not be programmed or erased again. */
struct kvc_flash_medium {
    struct kvc_flash_geometry geometry; /**< Dimensions; constant. */
    /** Reads page `page` of a block into `data`, which holds a page. */
    bool (*read_page)(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, void *data);
    /** Returns page `page` of a block where it lies, or NULL if it cannot be read; the bytes stay until the
     * block is programmed or erased. This saves a copy if the medium is in memory. NULL: the medium only
     * copies. */
    const void *(*borrow_page)(struct kvc_flash_medium *medium, uint32_t block, uint32_t page);
    /** Programs page `page` of a block with `data`. */
    bool (*program_page)(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, const void *data);
    /** Erases a block; its pages then read as 0xff. */
    bool (*erase_block)(struct kvc_flash_medium *medium, uint32_t block);
};

#endif
