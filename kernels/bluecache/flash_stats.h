/** @file
 * Counters of a flash log (flash_log.h). They count from the creation of the log and only grow. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_STATS_H
#define KVC_KERNELS_BLUECACHE_FLASH_STATS_H

#include <stdint.h>

/** What a flash log has done so far. */
struct kvc_flash_log_stats {
    uint64_t appended;         /**< Records appended, values and tombstones. */
    uint64_t appended_bytes;   /**< Headers, keys and values of these records [bytes]. */
    uint64_t padding_bytes;    /**< Space left unused at the end of written log pages [bytes]. */
    uint64_t pages_written;    /**< Log pages programmed successfully; checkpoint pages are not included. */
    uint64_t pages_read;       /**< Pages read for gets, reclaiming, checkpoints and recovery. */
    uint64_t chunks_written;   /**< Write buffers flushed; an explicit flush may write a short chunk. */
    uint64_t rows_reclaimed;   /**< Reclaimed rows that held log pages. */
    uint64_t pages_reclaimed;  /**< Reclaimed pages that held log data; 128 of them make a published chunk. */
    uint64_t keys_reclaimed;   /**< Index entries removed because their page was reclaimed. */
    uint64_t keys_lost;        /**< Index entries removed because no good block was left to write to. */
    uint64_t blocks_erased;    /**< Blocks erased successfully. */
    uint64_t blocks_gone_bad;  /**< Blocks that failed to erase or program. */
    uint64_t checkpoints;      /**< Checkpoints completed. */
    uint64_t checkpoint_pages; /**< Pages programmed for checkpoints, including unfinished ones. */
};

#endif
