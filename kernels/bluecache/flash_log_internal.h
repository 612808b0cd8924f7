/* What the parts of the flash log share: flash_log.c (writing, reclaiming, reading), flash_checkpoint.c and
 * flash_recovery.c. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_LOG_INTERNAL_H
#define KVC_KERNELS_BLUECACHE_FLASH_LOG_INTERNAL_H

#include "kernels/bluecache/flash_log.h"

enum { KVC_FLASH_MOVES = 256 }; /* told to the owner at a time */

/* Sequences of the pages written in a row. */
struct kvc_flash_row {
    uint64_t end; /* the last one plus 1; 0: no page is written */
    /* During recovery only: the first one, its step, and whether all others follow from it. */
    uint64_t start;
    uint16_t step;
    bool regular;
};

/* A log page's number: row * pages of a row + page in the block * chips + chip. */
struct kvc_flash_log {
    struct kvc_flash_medium *medium;
    struct kvc_flash_owner owner;
    uint32_t page_bytes, chips;
    uint32_t row_pages;       /* of all blocks of a row */
    uint32_t rows;            /* for data; the checkpoints' follow */
    uint32_t checkpoint_rows; /* of each checkpoint */
    uint64_t pages;           /* for data */
    uint64_t blocks;          /* all */
    bool ready;

    uint64_t *written; /* bit p: page p holds a part of the log */
    uint64_t *old;     /* bit p: it did so before the checkpoint; during recovery only */
    uint64_t *bad;     /* bit b: block b is not written or erased */
    struct kvc_flash_row *row_info;
    uint64_t bad_words; /* of 64 bits */

    uint32_t row;           /* being written */
    uint32_t next_page;     /* in it; row_pages: it is full */
    uint64_t sequence;      /* of the next page */
    uint64_t last_sequence; /* of the page before; 0: none */
    uint64_t tail;          /* smaller sequences do not count any more */

    uint8_t *buffer;  /* pages as they will be written, headers but for used and first not yet filled in */
    uint64_t *placed; /* page of the log, for each of the buffer */
    uint32_t buffer_limit; /* pages, in a chunk or in the largest record if that is more */
    uint32_t chunk_pages;
    uint32_t buffer_pages; /* in use */
    uint32_t value_max_bytes;
    uint64_t buffer_pointer;

    uint32_t checkpoint_area;   /* 0 or 1: where the next one goes */
    uint64_t checkpoint_number; /* of the next one */

    uint8_t *scratch; /* a page */
    struct kvc_bluecache_move moves[KVC_FLASH_MOVES];
    uint32_t move_count;
    struct kvc_flash_log_stats stats;
};

static inline bool kvc_flash_bit(const uint64_t *bits, uint64_t i)
{
    return (bits[i / 64] >> i % 64 & 1) != 0;
}

static inline void kvc_flash_set_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void kvc_flash_clear_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline uint32_t kvc_flash_payload(const struct kvc_flash_log *log)
{
    return log->page_bytes - KVC_FLASH_PAGE_HEADER_BYTES;
}

/* The block and the page in it of page `page` of a row. */
static inline uint32_t kvc_flash_block(const struct kvc_flash_log *log, uint64_t row, uint32_t page)
{
    return (uint32_t)(row * log->chips + page % log->chips);
}

/* Forgets all state but the list of bad blocks. */
void kvc_flash_log_clear(struct kvc_flash_log *log);

/* Reads a page of any row into the scratch page; false: it is not a whole page of this kind. */
bool kvc_flash_read(struct kvc_flash_log *log, uint64_t row, uint32_t page, enum kvc_flash_page_kind kind,
                    struct kvc_flash_page_header *header);

/* Erases the good blocks of a row. */
void kvc_flash_erase_row(struct kvc_flash_log *log, uint64_t row);

/* Programs the next good page of a row from *page on, which moves behind it. Blocks that fail become bad.
 * False: the row has no more good pages. */
bool kvc_flash_program_next(struct kvc_flash_log *log, uint64_t row, uint32_t *page, const void *data);

/* Pages that a checkpoint takes. */
uint64_t kvc_flash_checkpoint_pages(const struct kvc_flash_log *log);

/* What a checkpoint knows about the log. */
struct kvc_flash_checkpoint {
    bool found;
    uint32_t area;
    uint64_t number;
    uint64_t sequence; /* of the first page written after it */
};

/* Finds the newest whole checkpoint and takes its bad blocks over. */
void kvc_flash_checkpoint_find(struct kvc_flash_log *log, struct kvc_flash_checkpoint *checkpoint);

/* Gives its image to the owner. */
void kvc_flash_checkpoint_load(struct kvc_flash_log *log, const struct kvc_flash_checkpoint *checkpoint);

#endif
