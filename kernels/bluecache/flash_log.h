/** @file
 * BlueCache's key-value data store on flash: a log on raw flash, without a flash translation layer.
 *
 * Source: BlueCache, VLDB 10(4) 2016, sec. 3.4 and 3.5. The log follows the paper in these points:
 *  - Items evicted from DRAM are collected in a write buffer and written to flash in chunks of 128 pages,
 *    striped over the chips. When a chunk is on flash, the backward pointer of each record leads to its index
 *    entry, which is changed to the new location.
 *  - When space is needed, the oldest data is erased and overwritten, and its keys are removed from the
 *    index. Live data is never copied.
 *  - Bad blocks are listed and skipped.
 *  - A hit in the index costs one page read if key and value fit into a page.
 *  - The index is written to a separate region from time to time. After a crash it is read back, and the log
 *    written since then is replayed: each record acts as a SET, in the order of writing.
 *
 * The paper leaves these points open; the choices are ours:
 *  - Pages are striped over all chips of a row (flash_medium.h). Because flash is erased in blocks, a row is
 *    reclaimed as a whole; it holds chips * pages per block / 128 chunks. With chips * pages per block = 128
 *    a row is the chunk of the paper.
 *  - A pointer is the number of a page in row order, times the page size, plus an offset. Bad blocks leave
 *    holes in that order, so that a block going bad later changes no pointer. A chunk may continue in the
 *    next row.
 *  - A record that fits into a page never crosses into the next one. A larger record starts at the beginning
 *    of a page.
 *  - A block is bad once programming it has failed. Its earlier contents stay readable until its row is
 *    reclaimed. The list of bad blocks is saved with checkpoints; blocks that failed later are rediscovered.
 *  - A page carries a checksum, a sequence number and the distance to the page written before it. After a
 *    crash, only the gapless run of pages up to the newest one counts. Otherwise a row whose erasing was
 *    interrupted could bring back old values of keys whose newer values are already erased. For the same
 *    reason a corrupted page invalidates all older pages. A corrupted newest page cannot be told from a page
 *    torn by a power cut.
 *  - A medium may program several pages at a time and finish them in any order (`parallel_pages`). It starts
 *    one only when all but the last parallel_pages - 1 pages before it are on flash, and each chip works in
 *    the order of the calls. A page says how many pages before it may be missing for this reason. If one of
 *    these is missing, a power cut came first, and the log ends before the missing page. Pages written after
 *    it do not count. A corrupted page among the last parallel_pages cannot be told from a missing one.
 *  - The row that was being written at a crash is closed. Its remaining pages stay unused until the row is
 *    reclaimed, because an interrupted program may have left anything there.
 *  - Tombstones are available to callers whose deletes must survive a crash. The paper logs none.
 *
 * A record is durable once its pages and all log pages before them are on flash. If the medium returns when a
 * page is on flash, this is the case once the chunk was written or after kvc_flash_log_flush. Otherwise only
 * the medium knows when, and a checkpoint replaces a flush only if the medium is idle before it is written.
 *
 * After recovery a key has the value of its last durable record, or none. The record may be missing if it was
 * reclaimed, if the index had no room for it, or if only a checkpoint covered it and that checkpoint is gone.
 * A power cut makes the log skip up to parallel_pages + 1 sequence numbers; if repeated cuts without a
 * durable page in between skip 65535 numbers, older pages are lost, because a page cannot point further back
 * to the page before it. Recovery accepts arbitrary flash contents without crashing.
 *
 * Not modelled: erasing in the background, reading several pages at once, the reorder buffer, and wear
 * levelling beyond the round robin that a log implies. Pages are counted here; the models turn them into
 * times. A log may be used by one thread at a time. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_LOG_H
#define KVC_KERNELS_BLUECACHE_FLASH_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"
#include "kernels/bluecache/flash_page.h"
#include "kernels/bluecache/index.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    KVC_FLASH_CHUNK_PAGES = 128, /**< Published size of a chunk [pages]. */
};

/** Counts of a flash log since it was created. */
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

struct kvc_flash_log;

/** The owner of the data in a log: callbacks that maintain the index. */
struct kvc_flash_owner {
    void *context; /**< First argument of every callback. */
    /** Records moved from the write buffer to flash, or disappeared (their `to` is KVC_BLUECACHE_NOWHERE).
     * Returns how many index entries changed; the other records were dead. */
    uint64_t (*moved)(void *context, const struct kvc_bluecache_move *moves, uint32_t count);
    /** Recovery: the next record of the log and its pointer. May be NULL. */
    void (*replayed)(void *context, const struct kvc_flash_record *record, uint64_t pointer);
    /** Size of the image in a checkpoint; a multiple of 64, and 0 without checkpoints [bytes]. */
    uint64_t image_bytes;
    /** Checkpoint: copies `count` bytes of the image from `offset` on to `out`; both are multiples of 64. */
    void (*save)(void *context, uint64_t offset, void *out, uint64_t count);
    /** Recovery: takes back a part of the image. Parts may be missing. All calls precede the first record. */
    void (*load)(void *context, uint64_t offset, const void *saved, uint64_t count);
};

/** Parameters of a flash log. */
struct kvc_flash_log_params {
    struct kvc_flash_medium *medium; /**< The medium; not owned. */
    struct kvc_flash_owner owner;    /**< The owner's callbacks. */
    uint32_t chunk_pages;            /**< Pages written at a time, at most 32767; 0 means 128. */
    uint32_t value_max_bytes;        /**< Longest value; 0 means KVC_BLUECACHE_VALUE_MAX [bytes]. */
    uint32_t checkpoint_rows;        /**< Rows for each of two checkpoints, at the end; 0 disables them. */
    /** Pages that the medium may be programming at a time; at most 65534. 0 and 1: each page is on flash when
     * the call that programs it returns. */
    uint32_t parallel_pages;
    uint64_t buffer_pointer; /**< Pointer to the write buffer, among the DRAM pointers below 2^40. */
};

/** Result of a recovery. */
struct kvc_flash_recovery {
    bool checkpoint; /**< True if an intact checkpoint was loaded. */
    uint64_t pages;  /**< Log pages that count. */
    /** Intact pages that do not count: already reclaimed, before a gap, or after one that a power cut left
     * while several pages were being programmed. */
    uint64_t pages_dropped;
    uint64_t records_replayed; /**< Records replayed. */
    uint64_t records_cut;      /**< Records whose last pages are missing. */
};

/** Frees a log. Records that are not yet on flash are lost. NULL is allowed. */
void kvc_flash_log_free(struct kvc_flash_log *log);

/** Creates a log without accessing the medium; kvc_flash_log_format or kvc_flash_log_recover must follow.
 * Returns NULL with errno ENOMEM, or EINVAL in one of these cases: a dimension is 0; pages are smaller than
 * 512 bytes, larger than 64 KiB or not a multiple of 8 bytes; the data rows exceed 2^40 bytes; fewer than two
 * rows or fewer pages than two write buffers are left for data, or fewer than a row and 2 * `parallel_pages`
 * if that is above 1; `value_max_bytes`, `chunk_pages` or `parallel_pages` is too large; `moved` is NULL;
 * checkpoints are enabled but the image is empty, has no callbacks or does not fit into `checkpoint_rows`. */
struct kvc_flash_log *kvc_flash_log_create(const struct kvc_flash_log_params *params);

/** Starts an empty log by erasing the whole medium. */
void kvc_flash_log_format(struct kvc_flash_log *log);

/** Continues the log on a medium with arbitrary contents. Every page is read once; pages whose records are
 * replayed, rows that a medium with parallel pages wrote last and rows with gaps are read again. The owner's
 * index must be empty, and `parallel_pages` no smaller than before. */
void kvc_flash_log_recover(struct kvc_flash_log *log, struct kvc_flash_recovery *recovery);

/** Tells `load` whether the page of a pointer is unchanged since the checkpoint. */
bool kvc_flash_log_kept(const struct kvc_flash_log *log, uint64_t pointer);

/** Appends a record to the write buffer. If it does not fit, the buffer is written to flash first. *pointer
 * becomes the record's place in the buffer; `pointer` may be NULL. Returns false with errno EINVAL if the key
 * or the value is too long, a tombstone has a value, or the log is neither formatted nor recovered. */
bool kvc_flash_log_append(struct kvc_flash_log *log, enum kvc_flash_record_kind kind, uint64_t back,
                          const void *key, uint32_t key_bytes, const void *value, uint32_t value_bytes,
                          uint64_t *pointer);

/** Writes the write buffer to flash now. Returns false with errno ENOSPC if too few good blocks are left to
 * write all of it. */
bool kvc_flash_log_flush(struct kvc_flash_log *log);

/** Reads the record at `pointer`, in flash or in the write buffer; any pointer is allowed. Returns true if it
 * is a value of this key. *value_bytes is then its length, and min(capacity, length) bytes are in `value`. */
bool kvc_flash_log_get(struct kvc_flash_log *log, uint64_t pointer, const void *key, uint32_t key_bytes,
                       void *value, uint32_t capacity, uint32_t *value_bytes);

/** True if the pointer leads into the write buffer. */
bool kvc_flash_log_in_buffer(const struct kvc_flash_log *log, uint64_t pointer);

/** Flushes the write buffer and writes the owner's image over the older of the two checkpoints. Returns false
 * with errno ENOSPC if too few good blocks are left (the other checkpoint stays valid), or EINVAL if
 * checkpoints are disabled or the log is neither formatted nor recovered. */
bool kvc_flash_log_checkpoint(struct kvc_flash_log *log);

/** Returns the counters of the log, which are valid and up to date until the log is freed. */
const struct kvc_flash_log_stats *kvc_flash_log_stats(const struct kvc_flash_log *log);

/** Flash space for data, including bad blocks [bytes]. */
uint64_t kvc_flash_log_capacity_bytes(const struct kvc_flash_log *log);

#ifdef __cplusplus
}
#endif

#endif
