/** @file
 * A flash array in main memory that enforces the rules of NAND and can be told to fail, for tests and
 * simulation. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_MEMORY_H
#define KVC_KERNELS_BLUECACHE_FLASH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kvc_flash_memory;

/** Counts of a flash array in memory since it was created. */
struct kvc_flash_memory_stats {
    uint64_t reads;      /**< Pages read successfully. */
    uint64_t programs;   /**< Pages programmed successfully. */
    uint64_t erases;     /**< Blocks erased successfully. */
    uint64_t violations; /**< Calls refused because they broke a rule or named a page that does not exist. */
    uint64_t failures;   /**< Calls refused because the block was worn out or the power was off. */
};

/** Frees an array. NULL is allowed. */
void kvc_flash_memory_free(struct kvc_flash_memory *memory);

/** Creates an erased array, which takes memory for the pages that are programmed. Returns NULL with errno
 * EINVAL (a dimension is 0, or there are more than 2^31 - 1 blocks) or ENOMEM. */
struct kvc_flash_memory *kvc_flash_memory_create(const struct kvc_flash_geometry *geometry);

/** Returns the interface to the array, which is valid until the array is freed. */
struct kvc_flash_medium *kvc_flash_memory_medium(struct kvc_flash_memory *memory);

/** Returns the raw bytes of the array, page after page and block after block; *bytes is their number. Tests
 * write to them to corrupt pages, and call kvc_flash_memory_scar afterwards if they change pages that may be
 * erased. Only the next call stores the bytes of blocks that are erased after this one. */
uint8_t *kvc_flash_memory_bytes(struct kvc_flash_memory *memory, uint64_t *bytes);

/** Marks all blocks as fully programmed, so that each must be erased before it is programmed again. */
void kvc_flash_memory_scar(struct kvc_flash_memory *memory);

/** Wears out a block: from now on erasing and programming it fails. Pages programmed before can still be
 * read. A page whose programming fails receives half of its bytes in a block with an even number, and all of
 * them in a block with an odd number. */
void kvc_flash_memory_wear_out(struct kvc_flash_memory *memory, uint32_t block);

/** Plans a power cut in the middle of a program or erase: `after` such operations succeed before it. A page
 * that is being programmed keeps the first `torn_bytes` bytes of its data, and the rest of it stays erased.
 * The first `torn_bytes` pages of a block that is being erased are erased. All calls then fail until
 * kvc_flash_memory_power_on. */
void kvc_flash_memory_cut_power(struct kvc_flash_memory *memory, uint64_t after, uint32_t torn_bytes);

/** Turns the power on again and cancels a planned power cut. */
void kvc_flash_memory_power_on(struct kvc_flash_memory *memory);

/** Returns the number of times that a block was erased. */
uint64_t kvc_flash_memory_erases(const struct kvc_flash_memory *memory, uint32_t block);

/** Returns the counters of the array, which are valid until the array is freed. */
const struct kvc_flash_memory_stats *kvc_flash_memory_stats(const struct kvc_flash_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
