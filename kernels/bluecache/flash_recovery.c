/* Recovery of a log from whatever the medium holds.
 *
 * Pages are looked at in three passes: which ones are whole, and which is the newest; which of them follow
 * one another up to the newest without a gap; and, in the order of writing, which records those hold that a
 * checkpoint does not know. Pages before a gap do not count, since newer values of their keys may have been
 * in it: a row that was being erased when the power went leaves such gaps, and so does a page that rots. */
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_log_internal.h"

/* What the first pass sees. */
struct scan {
    bool any;
    uint64_t sequence; /* of the newest page */
    uint64_t tail;     /* what it says about the oldest */
    uint32_t row;      /* where it is */
};

/* A record whose last pages are still to come. */
struct pending {
    uint32_t pages_left;
    uint64_t next_sequence;
    uint64_t pointer;
    struct kvc_flash_record record;
    uint8_t key[KVC_BLUECACHE_KEY_MAX];
};

/* True: the page was written right after that of sequence `last`. */
static bool follows(const struct kvc_flash_page_header *header, uint64_t last)
{
    return header->step != 0 && header->sequence - header->step == last;
}

static bool read_log_page(struct kvc_flash_log *log, uint32_t row, uint32_t page,
                          struct kvc_flash_page_header *header)
{
    return kvc_flash_read(log, row, page, KVC_FLASH_PAGE_LOG, header) && header->tail <= header->sequence &&
           header->step <= header->sequence;
}

/* Marks all whole pages, and those from before `checkpoint`. */
static void find_pages(struct kvc_flash_log *log, uint64_t checkpoint, struct scan *scan,
                       struct kvc_flash_recovery *recovery)
{
    for (uint32_t row = 0; row < log->rows; row++) {
        struct kvc_flash_row *info = &log->row_info[row];
        for (uint32_t i = 0; i < log->row_pages; i++) {
            struct kvc_flash_page_header header;
            uint64_t page = (uint64_t)row * log->row_pages + i;
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
            bool second = scan->any && header.sequence == scan->sequence && row == scan->row + 1;
            if (!scan->any || header.sequence > scan->sequence || second) { /* as in filter_row */
                *scan = (struct scan){true, header.sequence, header.tail, row};
            }
        }
    }
}

static void drop_page(struct kvc_flash_log *log, uint32_t row, uint32_t i,
                      struct kvc_flash_recovery *recovery)
{
    uint64_t page = (uint64_t)row * log->row_pages + i;
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

/* Keeps of a row the last pages that follow one another, leaving aside those below `tail`, which bad blocks
 * keep, and above `last`. Of a page that is there twice, because a program failed and yet can be read, the
 * second counts. */
static void filter_row(struct kvc_flash_log *log, uint32_t row, uint64_t tail, uint64_t last,
                       struct kvc_flash_recovery *recovery)
{
    struct kvc_flash_row *info = &log->row_info[row];
    uint32_t before = 0; /* the page kept last */
    *info = (struct kvc_flash_row){0};
    for (uint32_t i = 0; i < log->row_pages; i++) {
        struct kvc_flash_page_header header;
        if (!kvc_flash_bit(log->written, (uint64_t)row * log->row_pages + i)) {
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
            *info = (struct kvc_flash_row){.start = header.sequence}; /* step 0: the log starts here */
        }
        info->end = header.sequence + 1;
        before = i;
    }
}

/* Goes back from the newest page, row by row, as far as pages follow one another, and drops all others. Rows
 * in which nothing is amiss need not be read again. Returns the oldest sequence. */
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
            drop_pages(log, row, log->row_pages, recovery);
            *info = (struct kvc_flash_row){0};
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

/* The page in the scratch page comes next. */
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
        for (uint32_t p = 0; p < log->row_pages; p++) {
            uint64_t page = (uint64_t)row * log->row_pages + p;
            struct kvc_flash_page_header header;
            if (!kvc_flash_bit(log->written, page) || kvc_flash_bit(log->old, page) ||
                !read_log_page(log, row, p, &header)) {
                continue;
            }
            continue_pending(log, &pending, header.sequence, recovery);
            struct kvc_flash_record record;
            for (uint32_t at = header.first;
                 kvc_flash_record_read(log->scratch, log->page_bytes, header.used, at, &record);
                 at = record.next) {
                uint64_t pointer = KVC_BLUECACHE_FLASH | (page * log->page_bytes + at);
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
    struct kvc_flash_checkpoint checkpoint;
    struct scan scan = {0};
    *recovery = (struct kvc_flash_recovery){0};
    kvc_flash_log_clear(log);
    kvc_flash_checkpoint_find(log, &checkpoint);
    find_pages(log, checkpoint.sequence, &scan, recovery);
    if (scan.any) {
        log->tail = keep_chain(log, &scan, recovery);
        log->last_sequence = scan.sequence;
        /* A number is left out, lest a record that was cut short seem to go on in the next page. */
        log->sequence = scan.sequence + 2;
    }
    if (checkpoint.found) {
        kvc_flash_checkpoint_load(log, &checkpoint);
        recovery->checkpoint = true;
        log->sequence = checkpoint.sequence > log->sequence ? checkpoint.sequence : log->sequence;
    }
    if (scan.any) {
        replay(log, &scan, recovery);
    }
    /* The row that was being written is closed, as if it were full. */
    log->row = scan.any ? scan.row : log->rows - 1;
    log->next_page = log->row_pages;
    log->ready = true;
}

bool kvc_flash_log_kept(const struct kvc_flash_log *log, uint64_t pointer)
{
    uint64_t page = (pointer & (KVC_BLUECACHE_FLASH - 1)) / log->page_bytes;
    return (pointer & KVC_BLUECACHE_FLASH) != 0 && page < log->pages && kvc_flash_bit(log->old, page);
}
