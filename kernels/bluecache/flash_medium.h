/* A raw NAND flash array: what a log on flash needs of it, and nothing more.
 *
 * `buses` buses of `chips_per_bus` chips each; chip c is on bus c % buses, so that neighbouring chip numbers
 * can work in parallel. A row is one block of each chip: block b is in row b / chips on chip b % chips. The
 * rules are NAND's: a block is erased as a whole; an erased page is programmed once; the pages of a block in
 * ascending order (some may be left out). Whoever breaks them gets false. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_MEDIUM_H
#define KVC_KERNELS_BLUECACHE_FLASH_MEDIUM_H

#include <stdbool.h>
#include <stdint.h>

struct kvc_flash_geometry {
    uint32_t buses, chips_per_bus;
    uint32_t blocks_per_chip; /* = rows */
    uint32_t pages_per_block; /* typically 64 to 128 (BlueCache sec. 3.4) */
    uint32_t page_bytes;      /* 8192 (BlueCache sec. 5.1) */
};

/* False: the page cannot be read, programmed, or the block erased. A page whose programming failed or was cut
 * short reads as anything; a block that fails once is not to be written again. */
struct kvc_flash_medium {
    struct kvc_flash_geometry geometry;
    bool (*read_page)(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, void *data);
    bool (*program_page)(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, const void *data);
    bool (*erase_block)(struct kvc_flash_medium *medium, uint32_t block);
};

#endif
