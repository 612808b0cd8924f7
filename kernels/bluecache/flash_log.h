/* BlueCache's flash key-value data store: a log on raw flash, without a translation layer.
 *
 * Source: BlueCache, VLDB 10(4) 2016, sec. 3.4, 3.5. What the paper says and this log does:
 *  - victims from DRAM are collected in a write buffer and go to flash in chunks of 128 pages, striped over
 *    the chips; the index entry of each is re-pointed by its backward pointer when its chunk is on flash;
 *  - when space is needed, what is oldest is erased and overwritten, and the keys that lived there are
 *    removed from the index: no live data is ever copied;
 *  - a list of bad blocks is kept; they are skipped;
 *  - a hit in the index costs one page read for a key and value that fit into a page;
 *  - the index is written to a region of its own now and then; after a crash it is read back, and the log is
 *    replayed from there on, each record as a SET in the order of writing.
 * What the paper leaves open and is chosen here:
 *  - pages are striped over all chips of a row (flash_medium.h). Flash is erased in blocks, so a row, which
 *    holds chips * pages per block / 128 chunks, is reclaimed as a whole. With chips * pages per block = 128
 *    a row is the chunk of the paper;
 *  - a pointer is the place in the row-wise order of pages, times the page size, plus the offset; bad blocks
 *    leave holes in that order, so that blocks going bad later change no pointer. A chunk may go on in the
 *    next row;
 *  - records that fit into a page never cross into the next one, larger ones start with a page;
 *  - a block whose programming failed is bad from then on; what it held before can be read until its row is
 *    reclaimed. The list is saved with checkpoints, and what was learnt later is learnt again;
 *  - pages carry checksums, sequence numbers and how far behind the page written before is. After a crash,
 *    what follows without a gap up to the newest page counts, and nothing before: a row whose erasing was cut
 *    short must not give old values of keys whose newer ones are erased already. For the same reason a page
 *    that rots costs all that is older; the newest page, rotten, cannot be told from one that a cut tore;
 *  - the row that was being written at a crash is closed: the rest of its pages stay unused until it is
 *    reclaimed, since what a cut program left there cannot be trusted;
 *  - tombstones, for callers who want deletes to outlive a crash. The paper logs none.
 *
 * After recovery a key has the value of the last record of its that was wholly on flash, or none (where the
 * index was short of places, that record no longer counts, or only a checkpoint knew of it that is gone). Any
 * contents of the medium are survived.
 *
 * Not modelled: erasing in the background, reading several pages at once and the reorder buffer (times are
 * the business of models; pages are counted here), wear beyond the round robin that a log is. One thread at a
 * time. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_LOG_H
#define KVC_KERNELS_BLUECACHE_FLASH_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"
#include "kernels/bluecache/flash_page.h"
#include "kernels/bluecache/index.h"

enum { KVC_FLASH_CHUNK_PAGES = 128 };

struct kvc_flash_log;

/* Whose data it is: the index. */
struct kvc_flash_owner {
    void *context;
    /* Records moved from the buffer to flash, or went (to: KVC_BLUECACHE_NOWHERE). Returns how many entries
     * of the index were changed; the others were dead. */
    uint64_t (*moved)(void *context, const struct kvc_bluecache_move *moves, uint32_t count);
    /* Recovery: the next record in the log and its pointer. May be NULL. */
    void (*replayed)(void *context, const struct kvc_flash_record *record, uint64_t pointer);
    /* Checkpoints: an image of `image_bytes`, a multiple of 64; `save` gives `count` bytes from `offset` on
     * (both multiples of 64), `load` gets them back, maybe only some of them, before anything is replayed. */
    uint64_t image_bytes;
    void (*save)(void *context, uint64_t offset, void *out, uint64_t count);
    void (*load)(void *context, uint64_t offset, const void *saved, uint64_t count);
};

struct kvc_flash_log_params {
    struct kvc_flash_medium *medium; /* not owned */
    struct kvc_flash_owner owner;
    uint32_t chunk_pages;     /* pages written at a time, 0: 128 */
    uint32_t value_max_bytes; /* of any value, 0: KVC_BLUECACHE_VALUE_MAX */
    uint32_t checkpoint_rows; /* at the end, for each of two checkpoints; 0: none are made */
    uint64_t buffer_pointer;  /* the write buffer's place among DRAM pointers, which are below 2^40 */
};

struct kvc_flash_log_stats {
    uint64_t appended, appended_bytes; /* records and their bytes */
    uint64_t padding_bytes;            /* left unused at ends of pages written */
    uint64_t pages_written, pages_read;
    uint64_t chunks_written;  /* the last one of a flush may be short */
    uint64_t rows_reclaimed;  /* that held pages */
    uint64_t pages_reclaimed; /* that held data; 128 of them are a chunk */
    uint64_t keys_reclaimed;  /* index entries removed with them */
    uint64_t keys_lost;       /* index entries removed because no good block was left to write to */
    uint64_t blocks_erased, blocks_gone_bad;
    uint64_t checkpoints, checkpoint_pages; /* made and pages written for them */
};

/* What recovery found. */
struct kvc_flash_recovery {
    bool checkpoint;        /* one was whole and was loaded */
    uint64_t pages;         /* of the log that count */
    uint64_t pages_dropped; /* whole, but given up by the log, or before a gap */
    uint64_t records_replayed;
    uint64_t records_cut; /* whose last pages are missing */
};

void kvc_flash_log_free(struct kvc_flash_log *log); /* NULL is allowed; unwritten records are lost */

/* Neither reads nor writes the medium: one of the next two must come first. NULL with errno EINVAL (a
 * dimension is 0, pages of less than 512 bytes or more than 64 KiB, more than 2^40 bytes, fewer than two rows
 * or than two write buffers' pages for data, an image without functions, or checkpoint_rows too few for it)
 * or ENOMEM. */
struct kvc_flash_log *kvc_flash_log_create(const struct kvc_flash_log_params *params);

/* Starts an empty log: erases the whole medium. */
void kvc_flash_log_format(struct kvc_flash_log *log);

/* Continues the log on the medium, whatever it holds. Reads every page once, and again those whose records
 * are replayed and those of rows with gaps. The owner's index is empty before. */
void kvc_flash_log_recover(struct kvc_flash_log *log, struct kvc_flash_recovery *recovery);

/* During `load`: true if the page of this pointer is still what it was at the checkpoint. */
bool kvc_flash_log_kept(const struct kvc_flash_log *log, uint64_t pointer);

/* Appends a record to the write buffer, which is written to flash first if it has no room. *pointer is the
 * record's place in the buffer (it may be NULL). False with errno EINVAL (too large, or neither formatted nor
 * recovered). */
bool kvc_flash_log_append(struct kvc_flash_log *log, enum kvc_flash_record_kind kind, uint64_t back,
                          const void *key, uint32_t key_bytes, const void *value, uint32_t value_bytes,
                          uint64_t *pointer);

/* Writes the buffer to flash now. False with errno ENOSPC: not all of it could be written, no good block is
 * left. */
bool kvc_flash_log_flush(struct kvc_flash_log *log);

/* Finds the record at `pointer`, in flash or in the write buffer. True: it is a value of this key;
 * *value_bytes is its length, and min(capacity, length) bytes of it are in `value`. Any pointer is allowed.
 */
bool kvc_flash_log_get(struct kvc_flash_log *log, uint64_t pointer, const void *key, uint32_t key_bytes,
                       void *value, uint32_t capacity, uint32_t *value_bytes);

/* True: the pointer is one into the write buffer. */
bool kvc_flash_log_in_buffer(const struct kvc_flash_log *log, uint64_t pointer);

/* Flushes and writes a checkpoint of the owner's image over the older of two. False with errno ENOSPC (its
 * region has too few good blocks; the other checkpoint stays), EINVAL (there is no region). */
bool kvc_flash_log_checkpoint(struct kvc_flash_log *log);

const struct kvc_flash_log_stats *kvc_flash_log_stats(const struct kvc_flash_log *log);

/* Bytes of flash that data can live in, bad blocks included. */
uint64_t kvc_flash_log_capacity_bytes(const struct kvc_flash_log *log);

#endif
