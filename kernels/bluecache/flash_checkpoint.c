/* Checkpoints: an information page, the list of bad blocks, the owner's image. Their pages are numbered from
 * 0; a checkpoint is whole if all of them are there in order. */
#include <errno.h>
#include <string.h>

#include "kernels/bluecache/flash_log_internal.h"

/* Contents of the information page. */
struct information {
    uint64_t sequence;
    uint64_t image_bytes;
    uint64_t blocks;
    uint32_t row_pages, rows;
};

/* Bytes of a checkpoint page: whole buckets of an index. */
static uint64_t unit_bytes(const struct kvc_flash_log *log)
{
    return kvc_flash_payload(log) / KVC_BLUECACHE_BUCKET_BYTES * KVC_BLUECACHE_BUCKET_BYTES;
}

static uint64_t bad_pages(const struct kvc_flash_log *log)
{
    return (log->bad_words * sizeof(*log->bad) + unit_bytes(log) - 1) / unit_bytes(log);
}

uint64_t kvc_flash_checkpoint_pages(const struct kvc_flash_log *log)
{
    return 1 + bad_pages(log) + (log->owner.image_bytes + unit_bytes(log) - 1) / unit_bytes(log);
}

/* Bytes of part `page` (counted from 0) of something of `total` bytes that starts at *offset. */
static uint64_t part_of(const struct kvc_flash_log *log, uint64_t page, uint64_t total, uint64_t *offset)
{
    uint64_t unit = unit_bytes(log);
    *offset = page * unit;
    return total - *offset < unit ? total - *offset : unit;
}

static struct information describe(const struct kvc_flash_log *log)
{
    return (struct information){.sequence = log->sequence,
                                .image_bytes = log->owner.image_bytes,
                                .blocks = log->blocks,
                                .row_pages = log->row_pages,
                                .rows = log->rows};
}

/* Lays page `number` out in the scratch page. */
static void compose(struct kvc_flash_log *log, const struct information *information, uint64_t number)
{
    struct kvc_flash_page_header header = {.kind = KVC_FLASH_PAGE_CHECKPOINT,
                                           .sequence = log->checkpoint_number,
                                           .tail = number,
                                           .first = (uint32_t)kvc_flash_checkpoint_pages(log)};
    uint8_t *contents = log->scratch + sizeof(header);
    uint64_t bytes, offset;
    memset(log->scratch, 0, log->page_bytes);
    if (number == 0) {
        bytes = sizeof(*information);
        memcpy(contents, information, bytes);
    } else if (number <= bad_pages(log)) {
        bytes = part_of(log, number - 1, log->bad_words * sizeof(*log->bad), &offset);
        memcpy(contents, (const uint8_t *)log->bad + offset, bytes);
    } else {
        bytes = part_of(log, number - 1 - bad_pages(log), log->owner.image_bytes, &offset);
        log->owner.save(log->owner.context, offset, contents, bytes);
    }
    header.used = (uint32_t)(sizeof(header) + bytes);
    memcpy(log->scratch, &header, sizeof(header));
    kvc_flash_page_seal(log->scratch, log->page_bytes);
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
        kvc_flash_erase_row(log, r);
    }
    uint32_t page = 0;
    uint64_t pages = kvc_flash_checkpoint_pages(log);
    for (uint64_t number = 0; number < pages; number++) {
        compose(log, &information, number);
        while (row < end && !kvc_flash_program_next(log, row, &page, log->scratch)) {
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

/* Goes over the pages of one checkpoint, in order, as far as they are there; returns how many. The page is in
 * the scratch page while it is visited. */
static uint64_t walk(struct kvc_flash_log *log, uint32_t area, uint64_t checkpoint, visit_fn *visit)
{
    uint64_t first_row = log->rows + (uint64_t)area * log->checkpoint_rows;
    uint64_t number = 0;
    for (uint64_t row = first_row; row < first_row + log->checkpoint_rows; row++) {
        for (uint32_t page = 0; page < log->row_pages; page++) {
            struct kvc_flash_page_header header;
            if (kvc_flash_read(log, row, page, KVC_FLASH_PAGE_CHECKPOINT, &header) &&
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

/* The newest checkpoint begun in an area, with what it says; false: there is none for this log and owner. */
static bool newest(struct kvc_flash_log *log, uint32_t area, struct kvc_flash_checkpoint *checkpoint)
{
    uint64_t first_row = log->rows + (uint64_t)area * log->checkpoint_rows;
    bool found = false;
    for (uint64_t row = first_row; row < first_row + log->checkpoint_rows; row++) {
        for (uint32_t page = 0; page < log->row_pages; page++) {
            struct kvc_flash_page_header header;
            if (!kvc_flash_read(log, row, page, KVC_FLASH_PAGE_CHECKPOINT, &header)) {
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
            memcpy(&information, log->scratch + sizeof(header), sizeof(information));
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
    if (number == 0 || number > bad_pages(log)) {
        return;
    }
    uint64_t offset;
    uint64_t bytes = part_of(log, number - 1, log->bad_words * sizeof(*log->bad), &offset);
    if (header->used == sizeof(*header) + bytes) {
        memcpy((uint8_t *)log->bad + offset, log->scratch + sizeof(*header), bytes);
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
    if (number <= bad_pages(log)) {
        return;
    }
    uint64_t offset;
    uint64_t bytes = part_of(log, number - 1 - bad_pages(log), log->owner.image_bytes, &offset);
    if (header->used == sizeof(*header) + bytes) {
        log->owner.load(log->owner.context, offset, log->scratch + sizeof(*header), bytes);
    }
}

void kvc_flash_checkpoint_load(struct kvc_flash_log *log, const struct kvc_flash_checkpoint *checkpoint)
{
    walk(log, checkpoint->area, checkpoint->number, load_image);
}
