/* A checkpoint consists of an information page, the list of bad blocks and the owner's image. Its pages are
 * numbered from 0, and it is intact if all of them are on the medium in order. */
#include "kernels/bluecache/flash_checkpoint.h"

#include <errno.h>
#include <string.h>

#include "kernels/bluecache/flash_log_internal.h"

/* Contents of the information page. All fields but the sequence must match the log that loads it. */
struct information {
    uint64_t sequence;
    uint64_t image_bytes;
    uint64_t blocks;
    uint32_t row_pages, rows;
};

/* Bytes in page `page`, counted from 0, of data of `total` bytes. *offset is where the page starts in it. */
static uint64_t part_of(const struct kvc_flash_log *log, uint64_t page, uint64_t total, uint64_t *offset)
{
    uint64_t unit = kvc_flash_checkpoint_unit(log);
    *offset = page * unit;
    return total - *offset < unit ? total - *offset : unit;
}

static struct information describe(const struct kvc_flash_log *log)
{
    return (struct information){.sequence = log->sequence,
                                .image_bytes = log->owner.image_bytes,
                                .blocks = log->flash.blocks,
                                .row_pages = log->flash.row_pages,
                                .rows = log->rows};
}

/* Composes page `number` of the checkpoint in the scratch page. */
static void compose(struct kvc_flash_log *log, const struct information *information, uint64_t number)
{
    struct kvc_flash_page_header header = {.kind = KVC_FLASH_PAGE_CHECKPOINT,
                                           .sequence = log->checkpoint_number,
                                           .tail = number,
                                           .first = (uint32_t)kvc_flash_checkpoint_pages(log)};
    uint8_t *contents = log->flash.scratch + sizeof(header);
    uint64_t bytes, offset;
    memset(log->flash.scratch, 0, log->flash.page_bytes);
    if (number == 0) {
        bytes = sizeof(*information);
        memcpy(contents, information, bytes);
    } else if (number <= kvc_flash_checkpoint_bad_pages(log)) {
        bytes = part_of(log, number - 1, log->flash.bad_words * sizeof(*log->flash.bad), &offset);
        memcpy(contents, (const uint8_t *)log->flash.bad + offset, bytes);
    } else {
        bytes =
            part_of(log, number - 1 - kvc_flash_checkpoint_bad_pages(log), log->owner.image_bytes, &offset);
        log->owner.save(log->owner.context, offset, contents, bytes);
    }
    header.used = (uint32_t)(sizeof(header) + bytes);
    memcpy(log->flash.scratch, &header, sizeof(header));
    kvc_flash_page_seal(log->flash.scratch, log->flash.page_bytes);
}

bool kvc_flash_log_checkpoint(struct kvc_flash_log *log)
{
    if (log->checkpoint_rows == 0 || !log->ready) {
        errno = EINVAL;
        return false;
    }
    if (!kvc_flash_log_flush(log)) {
        return false;
    }
    struct information information = describe(log);
    uint64_t row = log->rows + (uint64_t)log->checkpoint_area * log->checkpoint_rows;
    uint64_t end = row + log->checkpoint_rows;
    for (uint64_t r = row; r < end; r++) {
        kvc_flash_erase_row(&log->flash, r);
    }
    uint32_t page = 0;
    uint64_t pages = kvc_flash_checkpoint_pages(log);
    for (uint64_t number = 0; number < pages; number++) {
        compose(log, &information, number);
        while (row < end && !kvc_flash_program_next(&log->flash, row, &page, log->flash.scratch)) {
            row++;
            page = 0;
        }
        if (row == end) {
            errno = ENOSPC;
            return false;
        }
        log->stats.checkpoint_pages++;
    }
    log->checkpoint_area ^= 1;
    log->checkpoint_number++;
    log->stats.checkpoints++;
    return true;
}

typedef void visit_fn(struct kvc_flash_log *log, uint64_t number, const struct kvc_flash_page_header *header);

/* Visits the pages of a checkpoint in order up to the first missing one, and returns how many there are. The
 * scratch page holds the page that is being visited. */
static uint64_t walk(struct kvc_flash_log *log, uint32_t area, uint64_t checkpoint, visit_fn *visit)
{
    uint64_t first_row = log->rows + (uint64_t)area * log->checkpoint_rows;
    uint64_t number = 0;
    for (uint64_t row = first_row; row < first_row + log->checkpoint_rows; row++) {
        for (uint32_t page = 0; page < log->flash.row_pages; page++) {
            struct kvc_flash_page_header header;
            if (kvc_flash_read_page(&log->flash, row, page, KVC_FLASH_PAGE_CHECKPOINT, &header) &&
                header.sequence == checkpoint && header.tail == number &&
                header.first == kvc_flash_checkpoint_pages(log)) {
                if (visit != NULL) {
                    visit(log, number, &header);
                }
                number++;
            }
        }
    }
    return number;
}

/* Finds the newest checkpoint that was begun in an area and belongs to a log of this shape. Also raises the
 * number of the next checkpoint above all numbers seen. Returns false if there is none. */
static bool newest(struct kvc_flash_log *log, uint32_t area, struct kvc_flash_checkpoint *checkpoint)
{
    uint64_t first_row = log->rows + (uint64_t)area * log->checkpoint_rows;
    bool found = false;
    for (uint64_t row = first_row; row < first_row + log->checkpoint_rows; row++) {
        for (uint32_t page = 0; page < log->flash.row_pages; page++) {
            struct kvc_flash_page_header header;
            if (!kvc_flash_read_page(&log->flash, row, page, KVC_FLASH_PAGE_CHECKPOINT, &header)) {
                continue;
            }
            if (header.sequence >= log->checkpoint_number) {
                log->checkpoint_number = header.sequence + 1;
            }
            struct information information, expected = describe(log);
            if (header.tail != 0 || header.used != sizeof(header) + sizeof(information) ||
                (found && header.sequence < checkpoint->number)) {
                continue;
            }
            memcpy(&information, log->flash.scratch + sizeof(header), sizeof(information));
            expected.sequence = information.sequence;
            if (information.sequence >= KVC_FLASH_SEQUENCE_END ||
                memcmp(&information, &expected, sizeof(information)) != 0) {
                continue;
            }
            found = true;
            *checkpoint = (struct kvc_flash_checkpoint){true, area, header.sequence, information.sequence};
        }
    }
    return found;
}

static void take_bad_blocks(struct kvc_flash_log *log, uint64_t number,
                            const struct kvc_flash_page_header *header)
{
    if (number == 0 || number > kvc_flash_checkpoint_bad_pages(log)) {
        return;
    }
    uint64_t offset;
    uint64_t bytes = part_of(log, number - 1, log->flash.bad_words * sizeof(*log->flash.bad), &offset);
    if (header->used == sizeof(*header) + bytes) {
        memcpy((uint8_t *)log->flash.bad + offset, log->flash.scratch + sizeof(*header), bytes);
    }
}

void kvc_flash_checkpoint_find(struct kvc_flash_log *log, struct kvc_flash_checkpoint *checkpoint)
{
    *checkpoint = (struct kvc_flash_checkpoint){0};
    for (uint32_t area = 0; area < 2 && log->checkpoint_rows > 0; area++) {
        struct kvc_flash_checkpoint candidate;
        if (newest(log, area, &candidate) && (!checkpoint->found || candidate.number > checkpoint->number) &&
            walk(log, area, candidate.number, NULL) == kvc_flash_checkpoint_pages(log)) {
            *checkpoint = candidate;
        }
    }
    if (checkpoint->found) {
        walk(log, checkpoint->area, checkpoint->number, take_bad_blocks);
        log->checkpoint_area = checkpoint->area ^ 1;
    }
}

static void load_image(struct kvc_flash_log *log, uint64_t number, const struct kvc_flash_page_header *header)
{
    if (number <= kvc_flash_checkpoint_bad_pages(log)) {
        return;
    }
    uint64_t offset;
    uint64_t bytes =
        part_of(log, number - 1 - kvc_flash_checkpoint_bad_pages(log), log->owner.image_bytes, &offset);
    if (header->used == sizeof(*header) + bytes) {
        log->owner.load(log->owner.context, offset, log->flash.scratch + sizeof(*header), bytes);
    }
}

void kvc_flash_checkpoint_load(struct kvc_flash_log *log, const struct kvc_flash_checkpoint *checkpoint)
{
    walk(log, checkpoint->area, checkpoint->number, load_image);
}
