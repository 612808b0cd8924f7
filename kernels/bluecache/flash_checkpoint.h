/** @file
 * Checkpoints of a flash log: finding the newest intact one on the medium and loading its image.
 *
 * This header is internal to the flash log (flash_log.h); kvc_flash_log_checkpoint writes checkpoints. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_CHECKPOINT_H
#define KVC_KERNELS_BLUECACHE_FLASH_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

struct kvc_flash_log;

/** A checkpoint on the medium. */
struct kvc_flash_checkpoint {
    bool found;        /**< True if there is one; the other fields are 0 otherwise. */
    uint32_t area;     /**< Checkpoint area that holds it, 0 or 1. */
    uint64_t number;   /**< Number of the checkpoint; newer ones have larger numbers. */
    uint64_t sequence; /**< Sequence number of the first log page written after it. */
};

/** Finds the newest intact checkpoint and takes over its list of bad blocks. */
void kvc_flash_checkpoint_find(struct kvc_flash_log *log, struct kvc_flash_checkpoint *checkpoint);

/** Passes the image of a checkpoint to the owner's `load`. */
void kvc_flash_checkpoint_load(struct kvc_flash_log *log, const struct kvc_flash_checkpoint *checkpoint);

#endif
