/* A flash array in memory, which keeps NAND's rules and can be told to fail: for tests and simulation. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_MEMORY_H
#define KVC_KERNELS_BLUECACHE_FLASH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"

struct kvc_flash_memory;

struct kvc_flash_memory_stats {
    uint64_t reads, programs, erases; /* that succeeded */
    uint64_t violations;              /* calls that broke a rule or named no page; refused */
    uint64_t failures;                /* calls refused for a bad block, or with the power off */
};

void kvc_flash_memory_free(struct kvc_flash_memory *memory); /* NULL is allowed */

/* All erased. NULL with errno EINVAL (a dimension is 0, or more than 2^31 blocks) or ENOMEM. */
struct kvc_flash_memory *kvc_flash_memory_create(const struct kvc_flash_geometry *geometry);

/* As long as `memory` lives. */
struct kvc_flash_medium *kvc_flash_memory_medium(struct kvc_flash_memory *memory);

/* All bytes, page after page, block after block. Writing to them is what radiation, or a test, does. A
 * program that changes pages this way calls kvc_flash_memory_scar afterwards. */
uint8_t *kvc_flash_memory_bytes(struct kvc_flash_memory *memory, uint64_t *bytes);

/* Takes all blocks for fully programmed: each must be erased before it is written. */
void kvc_flash_memory_scar(struct kvc_flash_memory *memory);

/* From now on erasing and programming this block fails; the pages programmed before can be read. The page
 * whose programming fails gets half its bytes, or in blocks of odd number all of them. */
void kvc_flash_memory_wear_out(struct kvc_flash_memory *memory, uint32_t block);

/* The power fails in the middle of the `after`-th program or erase from now (0: of the next). That page keeps
 * `torn_bytes` bytes of what it was to get, the rest stays erased; of a block being erased, as many pages
 * from its start are erased. Until kvc_flash_memory_power_on, everything fails. */
void kvc_flash_memory_cut_power(struct kvc_flash_memory *memory, uint64_t after, uint32_t torn_bytes);
void kvc_flash_memory_power_on(struct kvc_flash_memory *memory);

/* How often a block was erased. */
uint64_t kvc_flash_memory_erases(const struct kvc_flash_memory *memory, uint32_t block);

const struct kvc_flash_memory_stats *kvc_flash_memory_stats(const struct kvc_flash_memory *memory);

#endif
