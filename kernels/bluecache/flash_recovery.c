/* Checkpoints of a flash log, and recovery of a log from arbitrary contents of the medium. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_log_internal.h"

/* --- checkpoints --- */

/* A checkpoint consists of an information page, the list of bad blocks and the owner's image. Its pages are
 * numbered from 0, and it is intact if all of them are on the medium in order. */

/* A checkpoint on the medium. */
struct checkpoint {
    bool found;        /* True if there is one; the other fields are 0 otherwise. */
    uint32_t area;     /* Checkpoint area that holds it, 0 or 1. */
    uint64_t number;   /* Number of the checkpoint; newer ones have larger numbers. */
    uint64_t sequence; /* Sequence number of the first log page written after it. */
};

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
static bool newest(struct kvc_flash_log *log, uint32_t area, struct checkpoint *checkpoint)
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
            *checkpoint = (struct checkpoint){true, area, header.sequence, information.sequence};
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

static void find_checkpoint(struct kvc_flash_log *log, struct checkpoint *checkpoint)
{
    *checkpoint = (struct checkpoint){0};
    for (uint32_t area = 0; area < 2 && log->checkpoint_rows > 0; area++) {
        struct checkpoint candidate;
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

static void load_checkpoint(struct kvc_flash_log *log, const struct checkpoint *checkpoint)
{
    walk(log, checkpoint->area, checkpoint->number, load_image);
}

/* --- recovery --- */

/* Recovery of a log from arbitrary contents of the medium.
 *
 * Recovery makes three passes. The first finds all intact pages and the newest of them. If several pages were
 * being programmed at a power cut, the log ends before the first of them that is missing. The second pass
 * keeps the pages that lead up to the newest one without a gap. The third replays, in the order of
 * writing, the records of those pages that the checkpoint does not cover. Pages before a gap do not count,
 * because the gap may have held newer values of their keys. A power cut while a row was being erased leaves
 * such a gap, and so does a corrupted page. */

/* Result of the first pass. */
struct scan {
    bool any;          /* True if there is at least one page that counts. */
    uint64_t sequence; /* Sequence number of the newest one. */
    uint64_t tail;     /* Oldest sequence number that counts, according to it. */
    uint32_t open;     /* Pages before it that may be missing, according to it. */
    uint32_t row;      /* Row of the newest page. */
    uint64_t end;      /* Sequence number of the newest intact page, whether it counts or not, plus 1. */
};

/* A record of several pages that has not been read to its end. */
struct pending {
    uint32_t pages_left;
    uint64_t next_sequence;
    uint64_t pointer;
    struct kvc_flash_record record;
    uint8_t key[KVC_BLUECACHE_KEY_MAX];
};

/* True if the page was written right after the page with sequence number `last`. */
static bool follows(const struct kvc_flash_page_header *header, uint64_t last)
{
    return header->step != 0 && header->sequence - header->step == last;
}

static bool read_log_page(struct kvc_flash_log *log, uint32_t row, uint32_t page,
                          struct kvc_flash_page_header *header)
{
    return kvc_flash_read_page(&log->flash, row, page, KVC_FLASH_PAGE_LOG, header) &&
           header->tail <= header->sequence && header->step <= header->sequence;
}

/* A log that ends with this page. */
static struct scan scan_at(const struct kvc_flash_log *log, uint32_t row,
                           const struct kvc_flash_page_header *header)
{
    uint64_t most = log->parallel_pages - 1 < header->sequence ? log->parallel_pages - 1 : header->sequence;
    return (struct scan){.any = true,
                         .sequence = header->sequence,
                         .tail = header->tail,
                         .open = header->open < most ? header->open : (uint32_t)most,
                         .row = row,
                         .end = header->sequence + 1};
}

/* Marks all intact pages as written, and as old those with a sequence number below `checkpoint`. */
static void find_pages(struct kvc_flash_log *log, uint64_t checkpoint, struct scan *scan,
                       struct kvc_flash_recovery *recovery)
{
    for (uint32_t row = 0; row < log->rows; row++) {
        struct kvc_flash_row *info = &log->row_info[row];
        for (uint32_t i = 0; i < log->flash.row_pages; i++) {
            struct kvc_flash_page_header header;
            uint64_t page = (uint64_t)row * log->flash.row_pages + i;
            if (!read_log_page(log, row, i, &header)) {
                continue;
            }
            kvc_flash_set_bit(log->written, page);
            recovery->pages++;
            if (header.sequence < checkpoint) {
                kvc_flash_set_bit(log->old, page);
            }
            if (info->end == 0) {
                *info =
                    (struct kvc_flash_row){.start = header.sequence, .step = header.step, .regular = true};
            } else {
                info->regular = info->regular && follows(&header, info->end - 1);
            }
            info->end = header.sequence + 1;
            info->highest = header.sequence > info->highest ? header.sequence : info->highest;
            bool second = scan->any && header.sequence == scan->sequence && row == scan->row + 1;
            if (!scan->any || header.sequence > scan->sequence ||
                second) { /* a page written twice: see filter_row */
                *scan = scan_at(log, row, &header);
            }
        }
    }
}

/* Finds the pages that were written last and of which some may be missing. log->recent[i - settled] becomes
 * the page with sequence number i, and *before the newest page before all of them. */
static void find_recent(struct kvc_flash_log *log, const struct scan *scan, uint64_t settled,
                        struct scan *before)
{
    uint64_t older = 0; /* The newest page of the rows that hold none of them. */
    for (uint32_t row = 0; row < log->rows; row++) {
        uint64_t highest = log->row_info[row].highest;
        older = highest < settled && highest > older ? highest : older;
    }
    memset(log->recent, 0, ((size_t)scan->open + 1) * sizeof(*log->recent));
    *before = (struct scan){0};
    for (uint32_t row = 0; row < log->rows; row++) {
        bool skipped = log->row_info[row].end == 0 || log->row_info[row].highest < older;
        for (uint32_t i = 0; i < log->flash.row_pages && !skipped; i++) {
            struct kvc_flash_page_header header;
            if (!kvc_flash_bit(log->written, (uint64_t)row * log->flash.row_pages + i) ||
                !read_log_page(log, row, i, &header) || header.sequence > scan->sequence) {
                continue;
            }
            if (header.sequence >= settled) {
                log->recent[header.sequence - settled] = (struct kvc_flash_recent){row, header};
            } else if (!before->any || header.sequence > before->sequence) {
                *before = scan_at(log, row, &header);
            }
        }
    }
}

/* Ends the log with the last of the recent pages before which none is missing. Returns false if there is no
 * such page. */
static bool end_recent(struct kvc_flash_log *log, uint64_t settled, struct scan *scan)
{
    bool found = false;
    uint32_t pages = scan->open + 1;
    for (uint32_t i = 0; i < pages; i++) {
        const struct kvc_flash_page_header *header = &log->recent[i].header;
        if (header->magic == 0) {
            continue; /* The number was skipped, or the page is missing; the next one tells. */
        }
        bool first = header->step == 0 || header->sequence - header->step < settled;
        if (found ? !follows(header, scan->sequence) : !first) {
            break;
        }
        *scan = scan_at(log, log->recent[i].row, header);
        found = true;
    }
    return found;
}

/* If pages were missing when the power was cut, ends the log before the first of them. */
static void settle(struct kvc_flash_log *log, struct scan *scan)
{
    uint64_t end = scan->end;
    while (scan->any && scan->open > 0) {
        uint64_t settled = scan->sequence - scan->open;
        struct scan before;
        find_recent(log, scan, settled, &before);
        if (end_recent(log, settled, scan)) {
            break;
        }
        *scan = before; /* That page may itself be one of the last before an earlier power cut. */
    }
    scan->end = end;
}

static void drop_page(struct kvc_flash_log *log, uint32_t row, uint32_t i,
                      struct kvc_flash_recovery *recovery)
{
    uint64_t page = (uint64_t)row * log->flash.row_pages + i;
    if (kvc_flash_bit(log->written, page)) {
        kvc_flash_clear_bit(log->written, page);
        kvc_flash_clear_bit(log->old, page);
        recovery->pages--;
        recovery->pages_dropped++;
    }
}

static void drop_pages(struct kvc_flash_log *log, uint32_t row, uint32_t count,
                       struct kvc_flash_recovery *recovery)
{
    for (uint32_t i = 0; i < count; i++) {
        drop_page(log, row, i, recovery);
    }
}

static void drop_row(struct kvc_flash_log *log, uint32_t row, struct kvc_flash_recovery *recovery)
{
    drop_pages(log, row, log->flash.row_pages, recovery);
    log->row_info[row] = (struct kvc_flash_row){0};
}

/* Keeps the last run of pages of a row in which each follows its predecessor, and drops the others. Pages
 * with a sequence number below `tail`, which remain in bad blocks, and above `last` are ignored. A page whose
 * programming failed may still be readable, so that the same page is there twice; the second copy counts. */
static void filter_row(struct kvc_flash_log *log, uint32_t row, uint64_t tail, uint64_t last,
                       struct kvc_flash_recovery *recovery)
{
    struct kvc_flash_row *info = &log->row_info[row];
    uint32_t before = 0; /* last page kept */
    *info = (struct kvc_flash_row){0};
    for (uint32_t i = 0; i < log->flash.row_pages; i++) {
        struct kvc_flash_page_header header;
        if (!kvc_flash_bit(log->written, (uint64_t)row * log->flash.row_pages + i)) {
            continue;
        }
        if (!read_log_page(log, row, i, &header) || header.sequence < tail || header.sequence > last ||
            header.sequence + 1 < info->end) {
            drop_page(log, row, i, recovery);
            continue;
        }
        if (info->end == 0) {
            *info = (struct kvc_flash_row){.start = header.sequence, .step = header.step};
        } else if (header.sequence + 1 == info->end) {
            drop_page(log, row, before, recovery);
        } else if (!follows(&header, info->end - 1)) {
            drop_pages(log, row, i, recovery);
            *info =
                (struct kvc_flash_row){.start = header.sequence}; /* step 0 means that the log starts here */
        }
        info->end = header.sequence + 1;
        before = i;
    }
}

/* Walks back from the newest page row by row while pages follow one another, and drops all other pages. Only
 * irregular rows are read again. Returns the oldest sequence number kept. */
static uint64_t keep_chain(struct kvc_flash_log *log, const struct scan *scan,
                           struct kvc_flash_recovery *recovery)
{
    uint64_t last = scan->sequence, oldest = scan->sequence;
    bool open = true;
    for (uint32_t back = 0; back < log->rows; back++) {
        uint32_t row = (scan->row + log->rows - back) % log->rows;
        struct kvc_flash_row *info = &log->row_info[row];
        if (open && (!info->regular || info->start < scan->tail || info->end - 1 > last)) {
            filter_row(log, row, scan->tail, last, recovery);
        }
        if (info->end == 0) {
            continue;
        }
        open = open && info->end - 1 == last;
        if (!open) {
            drop_row(log, row, recovery);
            continue;
        }
        oldest = info->start;
        last = info->start - info->step;
        open = info->step != 0;
    }
    return oldest;
}

static void replay_record(struct kvc_flash_log *log, const struct kvc_flash_record *record, uint64_t pointer,
                          struct kvc_flash_recovery *recovery)
{
    if (log->owner.replayed != NULL) {
        log->owner.replayed(log->owner.context, record, pointer);
    }
    recovery->records_replayed++;
}

static void begin_pending(struct pending *pending, const struct kvc_flash_record *record, uint64_t pointer,
                          uint64_t sequence)
{
    pending->pages_left = record->pages - 1;
    pending->next_sequence = sequence + 1;
    pending->pointer = pointer;
    pending->record = *record;
    memcpy(pending->key, record->key, record->key_bytes);
    pending->record.key = pending->key;
}

/* Continues a pending record with the page in the scratch page, or counts it as cut. */
static void continue_pending(struct kvc_flash_log *log, struct pending *pending, uint64_t sequence,
                             struct kvc_flash_recovery *recovery)
{
    if (pending->pages_left == 0) {
        return;
    }
    if (sequence != pending->next_sequence) {
        pending->pages_left = 0;
        recovery->records_cut++;
        return;
    }
    pending->next_sequence++;
    if (--pending->pages_left == 0) {
        replay_record(log, &pending->record, pending->pointer, recovery);
    }
}

static void replay(struct kvc_flash_log *log, const struct scan *scan, struct kvc_flash_recovery *recovery)
{
    struct pending pending = {0};
    for (uint32_t i = 1; i <= log->rows; i++) {
        uint32_t row = (scan->row + i) % log->rows;
        for (uint32_t p = 0; p < log->flash.row_pages; p++) {
            uint64_t page = (uint64_t)row * log->flash.row_pages + p;
            struct kvc_flash_page_header header;
            if (!kvc_flash_bit(log->written, page) || kvc_flash_bit(log->old, page) ||
                !read_log_page(log, row, p, &header)) {
                continue;
            }
            continue_pending(log, &pending, header.sequence, recovery);
            struct kvc_flash_record record;
            for (uint32_t at = header.first;
                 kvc_flash_record_read(log->flash.scratch, log->flash.page_bytes, header.used, at, &record);
                 at = record.next) {
                uint64_t pointer = KVC_BLUECACHE_FLASH | (page * log->flash.page_bytes + at);
                if (record.pages > 1) {
                    begin_pending(&pending, &record, pointer, header.sequence);
                } else {
                    replay_record(log, &record, pointer, recovery);
                }
            }
        }
    }
    recovery->records_cut += pending.pages_left != 0;
}

void kvc_flash_log_recover(struct kvc_flash_log *log, struct kvc_flash_recovery *recovery)
{
    struct checkpoint checkpoint;
    struct scan scan = {0};
    *recovery = (struct kvc_flash_recovery){0};
    kvc_flash_log_clear(log);
    find_checkpoint(log, &checkpoint);
    find_pages(log, checkpoint.sequence, &scan, recovery);
    settle(log, &scan);
    if (scan.end != 0) {
        /* Skipping a number keeps the next page from looking like the continuation of a cut record. */
        log->sequence = scan.end + 1;
    }
    if (scan.any) {
        log->tail = keep_chain(log, &scan, recovery);
        log->last_sequence = scan.sequence;
    }
    for (uint32_t row = 0; row < log->rows && !scan.any; row++) {
        drop_row(log, row, recovery);
    }
    if (checkpoint.found) {
        load_checkpoint(log, &checkpoint);
        recovery->checkpoint = true;
        log->sequence = checkpoint.sequence > log->sequence ? checkpoint.sequence : log->sequence;
    }
    if (scan.any) {
        replay(log, &scan, recovery);
    }
    log->settled = log->sequence;
    /* The row that was being written is closed as if it were full. */
    log->row = scan.any ? scan.row : log->rows - 1;
    log->next_page = log->flash.row_pages;
    log->ready = true;
}

bool kvc_flash_log_kept(const struct kvc_flash_log *log, uint64_t pointer)
{
    uint64_t page = (pointer & (KVC_BLUECACHE_FLASH - 1)) / log->flash.page_bytes;
    return (pointer & KVC_BLUECACHE_FLASH) != 0 && page < log->pages && kvc_flash_bit(log->old, page);
}
