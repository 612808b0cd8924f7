#include "kernels/bluecache/flash_rows.h"

#include <stddef.h>

/* The block that holds page `page` of a row. */
static uint32_t block_of(const struct kvc_flash_rows *rows, uint64_t row, uint32_t page)
{
    return (uint32_t)(row * rows->chips + page % rows->chips);
}

static void mark_bad(struct kvc_flash_rows *rows, uint32_t block)
{
    kvc_flash_set_bit(rows->bad, block);
    rows->stats->blocks_gone_bad++;
}

bool kvc_flash_read_page(struct kvc_flash_rows *rows, uint64_t row, uint32_t page,
                         enum kvc_flash_page_kind kind, struct kvc_flash_page_header *header)
{
    rows->stats->pages_read++;
    return rows->medium->read_page(rows->medium, block_of(rows, row, page), page / rows->chips,
                                   rows->scratch) &&
           kvc_flash_page_open(rows->scratch, rows->page_bytes, kind, header);
}

const uint8_t *kvc_flash_borrow_page(struct kvc_flash_rows *rows, uint64_t row, uint32_t page,
                                     enum kvc_flash_page_kind kind, struct kvc_flash_page_header *header)
{
    struct kvc_flash_medium *medium = rows->medium;
    if (medium->borrow_page == NULL) {
        return kvc_flash_read_page(rows, row, page, kind, header) ? rows->scratch : NULL;
    }
    rows->stats->pages_read++;
    const uint8_t *bytes = medium->borrow_page(medium, block_of(rows, row, page), page / rows->chips);
    return bytes != NULL && kvc_flash_page_trust(bytes, rows->page_bytes, kind, header) ? bytes : NULL;
}

void kvc_flash_erase_row(struct kvc_flash_rows *rows, uint64_t row)
{
    for (uint32_t chip = 0; chip < rows->chips; chip++) {
        uint32_t block = block_of(rows, row, chip);
        if (kvc_flash_bit(rows->bad, block)) {
            continue;
        }
        if (rows->medium->erase_block(rows->medium, block)) {
            rows->stats->blocks_erased++;
        } else {
            mark_bad(rows, block);
        }
    }
}

bool kvc_flash_program_next(struct kvc_flash_rows *rows, uint64_t row, uint32_t *page, const void *data)
{
    while (*page < rows->row_pages) {
        uint32_t at = (*page)++;
        uint32_t block = block_of(rows, row, at);
        if (kvc_flash_bit(rows->bad, block)) {
            continue;
        }
        if (rows->medium->program_page(rows->medium, block, at / rows->chips, data)) {
            return true;
        }
        mark_bad(rows, block);
    }
    return false;
}
