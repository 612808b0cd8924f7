/** @file
 * The state of a flash log and its access to rows of the medium, shared by flash_log.c and flash_recovery.c.
 *
 * This header is internal to the flash log; users include flash_log.h.
 *
 * A row is one block of every chip. Pages of a row are numbered so that neighbouring pages lie on
 * neighbouring chips: page p of a row is page p / chips of the block on chip p modulo chips. A block that
 * fails once is bad from then on: it is no longer programmed or erased, but it can still be read. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_LOG_INTERNAL_H
#define KVC_KERNELS_BLUECACHE_FLASH_LOG_INTERNAL_H

#include "kernels/bluecache/flash_log.h"

/** A medium with its list of bad blocks. The flash log embeds it and owns the two arrays. */
struct kvc_flash_rows {
    struct kvc_flash_medium *medium;   /**< The medium; not owned. */
    struct kvc_flash_log_stats *stats; /**< Receives pages read, blocks erased and blocks gone bad. */
    uint32_t page_bytes;               /**< Size of a page [bytes]. */
    uint32_t chips;                    /**< Chips of all buses, which is also the blocks of a row. */
    uint32_t row_pages;                /**< Pages of a row, including bad blocks. */
    uint64_t blocks;                   /**< Blocks of the whole medium. */
    uint64_t *bad;                     /**< Bit b is set if block b is bad. */
    uint64_t bad_words;                /**< 64-bit words of `bad`. */
    uint8_t *scratch;                  /**< Buffer of one page, filled by kvc_flash_read_page. */
};

/** Returns bit `i` of an array of bits. */
static inline bool kvc_flash_bit(const uint64_t *bits, uint64_t i)
{
    return (bits[i / 64] >> i % 64 & 1) != 0;
}

/** Sets bit `i` of an array of bits. */
static inline void kvc_flash_set_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

/** Clears bit `i` of an array of bits. */
static inline void kvc_flash_clear_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/** Returns the number of bytes of a page after its header. */
static inline uint32_t kvc_flash_payload(const struct kvc_flash_rows *rows)
{
    return rows->page_bytes - KVC_FLASH_PAGE_HEADER_BYTES;
}

/** Reads page `page` of a row into the scratch page and checks it. Returns false if it cannot be read or is
 * not an intact page of this kind; the scratch page and *header are then unspecified. */
bool kvc_flash_read_page(struct kvc_flash_rows *rows, uint64_t row, uint32_t page,
                         enum kvc_flash_page_kind kind, struct kvc_flash_page_header *header);

/** Reads a page that was written completely, without a copy if the medium lends its pages; a medium that
 * lends pages lends them intact. Returns the page, or NULL. */
const uint8_t *kvc_flash_borrow_page(struct kvc_flash_rows *rows, uint64_t row, uint32_t page,
                                     enum kvc_flash_page_kind kind, struct kvc_flash_page_header *header);

/** Erases the good blocks of a row. Blocks that fail become bad. */
void kvc_flash_erase_row(struct kvc_flash_rows *rows, uint64_t row);

/** Programs the first good page of a row at or after *page, and sets *page to the page after it. Blocks that
 * fail become bad, and the next good page is tried. Returns false if the row has no good page left. */
bool kvc_flash_program_next(struct kvc_flash_rows *rows, uint64_t row, uint32_t *page, const void *data);

enum {
    KVC_FLASH_MOVES = 256, /**< Moves collected before the owner is told. */
};

/** Sequence numbers of the log pages in a row. */
struct kvc_flash_row {
    uint64_t end;     /**< Sequence number of the last page plus 1; 0 if the row holds no page. */
    uint64_t start;   /**< Sequence number of the first page; used only during recovery. */
    uint16_t step;    /**< Step field of the first page; used only during recovery. */
    bool regular;     /**< True if every other page follows its predecessor; used only during recovery. */
    uint64_t highest; /**< Largest sequence number; used only during recovery. */
};

/** One of the pages that were written last; used only during recovery. */
struct kvc_flash_recent {
    uint32_t row;                        /**< Row of the page. */
    struct kvc_flash_page_header header; /**< Header of the page; zeroed if it is missing. */
};

/** A flash log. The number of a log page is row * pages of a row + page in the row. */
struct kvc_flash_log {
    struct kvc_flash_rows flash;     /**< The medium and its bad blocks. */
    struct kvc_flash_owner owner;    /**< The index that points into the log. */
    uint32_t rows;                   /**< Rows for data; the rows of the checkpoints follow. */
    uint32_t checkpoint_rows;        /**< Rows of each of the two checkpoint areas. */
    uint64_t pages;                  /**< Pages for data. */
    bool ready;                      /**< True once the log was formatted or recovered. */
    uint64_t *written;               /**< Bit p is set if page p holds a part of the log. */
    uint64_t *old;                   /**< Bit p: page p is older than the checkpoint; only in recovery. */
    struct kvc_flash_row *row_info;  /**< One for each data row. */
    struct kvc_flash_recent *recent; /**< Room for the pages that are programmed at a time. */
    uint32_t row;                    /**< Row that is being written. */
    uint32_t next_page;              /**< Next page in it; the row is full at the pages of a row. */
    uint64_t sequence;               /**< Sequence number of the next page. */
    uint64_t last_sequence;          /**< Sequence number of the newest page; 0 if there is none. */
    uint64_t settled;           /**< Pages with smaller sequence numbers are on flash, or do not count. */
    uint32_t parallel_pages;    /**< Pages that the medium may be programming at a time, at least 1. */
    uint64_t tail;              /**< Pages with smaller sequence numbers no longer count. */
    uint8_t *buffer;            /**< Write buffer: pages as they will be written, not yet sealed. */
    uint64_t *placed;           /**< Log page that each buffer page was written to. */
    uint32_t buffer_limit;      /**< Capacity: a chunk, or the largest record if that is more [pages]. */
    uint32_t chunk_pages;       /**< Pages written at a time. */
    uint32_t buffer_pages;      /**< Buffer pages in use. */
    uint32_t value_max_bytes;   /**< Longest value accepted [bytes]. */
    uint64_t buffer_pointer;    /**< Pointer to the first byte of the write buffer. */
    uint32_t checkpoint_area;   /**< Area of the next checkpoint, 0 or 1. */
    uint64_t checkpoint_number; /**< Number of the next checkpoint. */
    struct kvc_bluecache_move moves[KVC_FLASH_MOVES]; /**< Moves not yet told to the owner. */
    uint32_t move_count;                              /**< Moves in `moves`. */
    struct kvc_flash_log_stats stats;                 /**< Counters for kvc_flash_log_stats. */
};

/** Returns the number of bytes of data in a full checkpoint page: whole index buckets. */
static inline uint64_t kvc_flash_checkpoint_unit(const struct kvc_flash_log *log)
{
    return kvc_flash_payload(&log->flash) / KVC_BLUECACHE_BUCKET_BYTES * KVC_BLUECACHE_BUCKET_BYTES;
}

/** Returns the number of pages that the list of bad blocks takes in a checkpoint. */
static inline uint64_t kvc_flash_checkpoint_bad_pages(const struct kvc_flash_log *log)
{
    uint64_t unit = kvc_flash_checkpoint_unit(log);
    return (log->flash.bad_words * sizeof(*log->flash.bad) + unit - 1) / unit;
}

/** Returns the number of pages of a whole checkpoint: information, bad blocks and the owner's image. */
static inline uint64_t kvc_flash_checkpoint_pages(const struct kvc_flash_log *log)
{
    uint64_t unit = kvc_flash_checkpoint_unit(log);
    return 1 + kvc_flash_checkpoint_bad_pages(log) + (log->owner.image_bytes + unit - 1) / unit;
}

/** Forgets all state except the list of bad blocks. */
void kvc_flash_log_clear(struct kvc_flash_log *log);

#endif
