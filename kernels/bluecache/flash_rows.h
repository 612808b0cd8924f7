/** @file
 * Rows of a raw flash medium: reading, programming and erasing pages while skipping bad blocks.
 *
 * This header is internal to the flash log (flash_log.h). A row is one block of every chip. Pages of a row
 * are numbered so that neighbouring pages lie on neighbouring chips: page p of a row is page p / chips of the
 * block on chip p modulo chips. A block that fails once is bad from then on: it is no longer programmed or
 * erased, but it can still be read. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_ROWS_H
#define KVC_KERNELS_BLUECACHE_FLASH_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"
#include "kernels/bluecache/flash_page.h"
#include "kernels/bluecache/flash_stats.h"

/** A medium with its list of bad blocks. The flash log embeds it and owns the two arrays. */
struct kvc_flash_rows {
    struct kvc_flash_medium *medium;   /**< The medium; not owned. */
    struct kvc_flash_log_stats *stats; /**< Receives pages read, blocks erased and blocks gone bad. */
    uint32_t page_bytes;               /**< Size of a page [bytes]. */
    uint32_t chips;                    /**< Chips of all buses, which is also the blocks of a row. */
    uint32_t row_pages;                /**< Pages of a row, including those of bad blocks. */
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

/** Bytes of a page behind its header. */
static inline uint32_t kvc_flash_payload(const struct kvc_flash_rows *rows)
{
    return rows->page_bytes - KVC_FLASH_PAGE_HEADER_BYTES;
}

/** Reads page `page` of a row into the scratch page and checks it. Returns false if it cannot be read or is
 * not an intact page of this kind; the scratch page and *header are then unspecified. */
bool kvc_flash_read_page(struct kvc_flash_rows *rows, uint64_t row, uint32_t page,
                         enum kvc_flash_page_kind kind, struct kvc_flash_page_header *header);

/** Likewise for a page that was written whole, and without a copy if the medium allows that: a medium that
 * lends its pages lends them intact. Returns the page, or NULL. */
const uint8_t *kvc_flash_borrow_page(struct kvc_flash_rows *rows, uint64_t row, uint32_t page,
                                     enum kvc_flash_page_kind kind, struct kvc_flash_page_header *header);

/** Erases the good blocks of a row. Blocks that fail become bad. */
void kvc_flash_erase_row(struct kvc_flash_rows *rows, uint64_t row);

/** Programs the first good page of a row at or behind *page, and leaves *page one behind it. Blocks that fail
 * become bad, and the next good page is tried. Returns false if the row has no good page left. */
bool kvc_flash_program_next(struct kvc_flash_rows *rows, uint64_t row, uint32_t *page, const void *data);

#endif
