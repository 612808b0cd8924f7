#include "kernels/bluecache/flash_log.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_log_internal.h"

/* --- rows --- */

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

/* --- the log --- */

enum { PAGE_MAX_BYTES = 1 << 16 };

static const uint64_t address_end = UINT64_C(1) << 40;

static uint8_t *buffer_page(const struct kvc_flash_log *log, uint32_t page)
{
    return log->buffer + (uint64_t)page * log->flash.page_bytes;
}

/* Returns the header of a buffer page. Its `used` and `first` are always up to date. */
static struct kvc_flash_page_header *buffer_header(const struct kvc_flash_log *log, uint32_t page)
{
    return (struct kvc_flash_page_header *)buffer_page(log, page);
}

/* Passes the collected moves to the owner and returns how many index entries changed. */
static uint64_t tell(struct kvc_flash_log *log)
{
    uint32_t count = log->move_count;
    log->move_count = 0;
    return count == 0 ? 0 : log->owner.moved(log->owner.context, log->moves, count);
}

static uint64_t add_move(struct kvc_flash_log *log, uint64_t back, uint64_t from, uint64_t to)
{
    log->moves[log->move_count++] = (struct kvc_bluecache_move){back, from, to};
    return log->move_count == KVC_FLASH_MOVES ? tell(log) : 0;
}

static uint64_t flash_pointer(const struct kvc_flash_log *log, uint64_t page, uint32_t offset)
{
    return KVC_BLUECACHE_FLASH | (page * log->flash.page_bytes + offset);
}

/* Removes the keys of the page in the scratch page from the index. */
static void drop_records(struct kvc_flash_log *log, uint64_t page, const struct kvc_flash_page_header *header)
{
    struct kvc_flash_record record;
    for (uint32_t at = header->first;
         kvc_flash_record_read(log->flash.scratch, log->flash.page_bytes, header->used, at, &record);
         at = record.next) {
        if (record.kind == KVC_FLASH_RECORD_VALUE) {
            log->stats.keys_reclaimed +=
                add_move(log, record.back, flash_pointer(log, page, at), KVC_BLUECACHE_NOWHERE);
        }
    }
}

/* Removes the keys of a row from the index and erases the row. */
static void reclaim_row(struct kvc_flash_log *log, uint32_t row)
{
    uint64_t before = log->stats.pages_reclaimed;
    for (uint32_t i = 0; i < log->flash.row_pages; i++) {
        uint64_t page = (uint64_t)row * log->flash.row_pages + i;
        struct kvc_flash_page_header header;
        if (!kvc_flash_bit(log->written, page)) {
            continue;
        }
        if (kvc_flash_read_page(&log->flash, row, i, KVC_FLASH_PAGE_LOG, &header)) {
            drop_records(log, page, &header);
        }
        kvc_flash_clear_bit(log->written, page);
        log->stats.pages_reclaimed++;
    }
    log->stats.keys_reclaimed += tell(log);
    log->stats.rows_reclaimed += log->stats.pages_reclaimed != before;
    log->tail = log->row_info[row].end > log->tail ? log->row_info[row].end : log->tail;
    log->row_info[row].end = 0;
    kvc_flash_erase_row(&log->flash, row);
}

/* Writes a buffer page after the last page of the log. Returns false if no row has a good page left. */
static bool write_page(struct kvc_flash_log *log, uint32_t number)
{
    struct kvc_flash_page_header *header = buffer_header(log, number);
    uint64_t step = log->last_sequence == 0 ? 0 : log->sequence - log->last_sequence;
    for (uint32_t opened = 0; opened <= log->rows;) {
        header->kind = KVC_FLASH_PAGE_LOG;
        header->sequence = log->sequence;
        header->step = step <= UINT16_MAX ? (uint16_t)step : 0;
        header->tail = log->tail;
        uint64_t since = log->sequence - log->settled;
        header->open = (uint16_t)(since < log->parallel_pages ? since : log->parallel_pages - 1);
        kvc_flash_page_seal(header, log->flash.page_bytes);
        if (kvc_flash_program_next(&log->flash, log->row, &log->next_page, header)) {
            uint64_t page = (uint64_t)log->row * log->flash.row_pages + log->next_page - 1;
            kvc_flash_set_bit(log->written, page);
            log->placed[number] = page;
            log->last_sequence = log->sequence++;
            log->row_info[log->row].end = log->sequence;
            log->stats.pages_written++;
            log->stats.padding_bytes += log->flash.page_bytes - header->used;
            return true;
        }
        log->row = (log->row + 1) % log->rows;
        log->next_page = 0;
        opened++;
        reclaim_row(log, log->row);
    }
    return false;
}

static void reset_buffer(struct kvc_flash_log *log)
{
    memset(log->buffer, 0, (uint64_t)log->buffer_pages * log->flash.page_bytes);
    log->buffer_pages = 0;
}

bool kvc_flash_log_flush(struct kvc_flash_log *log)
{
    uint32_t pages = log->buffer_pages, done = 0;
    while (done < pages && write_page(log, done)) {
        done++;
    }
    /* If almost all blocks are bad, the end of a chunk may have overwritten its start. */
    uint32_t start = 0;
    while (start < done && buffer_header(log, start)->sequence < log->tail) {
        start++;
    }
    for (uint32_t i = 0; i < pages; i++) {
        const struct kvc_flash_page_header *header = buffer_header(log, i);
        struct kvc_flash_record record;
        for (uint32_t at = header->first;
             kvc_flash_record_read(buffer_page(log, i), log->flash.page_bytes, header->used, at, &record);
             at = record.next) {
            uint64_t from = log->buffer_pointer + (uint64_t)i * log->flash.page_bytes + at;
            bool whole = i >= start && i + record.pages <= done;
            uint64_t to = whole ? flash_pointer(log, log->placed[i], at) : KVC_BLUECACHE_NOWHERE;
            if (record.kind != KVC_FLASH_RECORD_VALUE) {
                continue;
            }
            if (whole) {
                add_move(log, record.back, from, to);
            } else {
                tell(log);
                add_move(log, record.back, from, to);
                log->stats.keys_lost += tell(log);
            }
        }
    }
    tell(log);
    log->stats.chunks_written += pages != 0;
    reset_buffer(log);
    if (done < pages || start > 0) {
        log->sequence++; /* the next page must not look like the continuation of a cut record */
        errno = ENOSPC;
        return false;
    }
    return true;
}

/* Returns the number of pages of a record of `bytes` that starts at the beginning of a page. */
static uint32_t pages_for(const struct kvc_flash_log *log, uint32_t bytes)
{
    return (bytes + kvc_flash_payload(&log->flash) - 1) / kvc_flash_payload(&log->flash);
}

/* Finds where a record of `bytes` starts in the write buffer. Returns false if it does not fit. */
static bool find_room(const struct kvc_flash_log *log, uint32_t bytes, uint32_t *page, uint32_t *offset)
{
    if (log->buffer_pages > 0) {
        uint32_t last = log->buffer_pages - 1;
        uint32_t end = (buffer_header(log, last)->used + 7) & ~UINT32_C(7);
        if (end <= log->flash.page_bytes && bytes <= log->flash.page_bytes - end) {
            *page = last;
            *offset = end;
            return true;
        }
    }
    *page = log->buffer_pages;
    *offset = KVC_FLASH_PAGE_HEADER_BYTES;
    uint32_t limit = log->buffer_pages == 0 ? log->buffer_limit : log->chunk_pages;
    uint32_t left = limit > log->buffer_pages ? limit - log->buffer_pages : 0;
    return pages_for(log, bytes) <= left;
}

/* Copies bytes to *offset of buffer page *page, continuing in further pages, and advances both. */
static void fill(struct kvc_flash_log *log, uint32_t *page, uint32_t *offset, const uint8_t *from,
                 uint32_t bytes)
{
    while (bytes > 0) {
        if (*offset == log->flash.page_bytes) {
            ++*page;
            *offset = KVC_FLASH_PAGE_HEADER_BYTES;
        }
        uint32_t room = log->flash.page_bytes - *offset;
        uint32_t part = bytes < room ? bytes : room;
        memcpy(buffer_page(log, *page) + *offset, from, part);
        *offset += part;
        buffer_header(log, *page)->used = *offset;
        from += part;
        bytes -= part;
    }
}

bool kvc_flash_log_append(struct kvc_flash_log *log, enum kvc_flash_record_kind kind, uint64_t back,
                          const void *key, uint32_t key_bytes, const void *value, uint32_t value_bytes,
                          uint64_t *pointer)
{
    if (!log->ready || key_bytes > KVC_BLUECACHE_KEY_MAX || value_bytes > log->value_max_bytes ||
        (kind == KVC_FLASH_RECORD_TOMBSTONE && value_bytes != 0)) {
        errno = EINVAL;
        return false;
    }
    uint32_t bytes = KVC_FLASH_RECORD_HEADER_BYTES + key_bytes + value_bytes;
    uint32_t page, offset;
    if (!find_room(log, bytes, &page, &offset)) {
        /* A failed flush has already counted its lost keys. Either way the buffer is empty now. */
        (void)kvc_flash_log_flush(log);
        (void)find_room(log, bytes, &page, &offset);
    }
    if (pointer != NULL) {
        *pointer = log->buffer_pointer + (uint64_t)page * log->flash.page_bytes + offset;
    }
    struct kvc_flash_page_header *header = buffer_header(log, page);
    header->first = header->first == 0 ? offset : header->first;
    uint8_t record[KVC_FLASH_RECORD_HEADER_BYTES];
    kvc_flash_record_write(record, kind, back, key_bytes, value_bytes);
    fill(log, &page, &offset, record, sizeof(record));
    fill(log, &page, &offset, key, key_bytes);
    fill(log, &page, &offset, value, value_bytes);
    log->buffer_pages = page + 1;
    log->stats.appended++;
    log->stats.appended_bytes += bytes;
    return true;
}

bool kvc_flash_log_in_buffer(const struct kvc_flash_log *log, uint64_t pointer)
{
    return pointer >= log->buffer_pointer &&
           pointer - log->buffer_pointer < (uint64_t)log->buffer_pages * log->flash.page_bytes;
}

/* Returns the next written page after `page`, wrapping around the end. Multi-page records continue there. */
static uint64_t next_written(const struct kvc_flash_log *log, uint64_t page)
{
    for (uint64_t steps = 0; steps < log->pages; steps++) {
        page = page + 1 == log->pages ? 0 : page + 1;
        if (page % 64 == 0 && log->written[page / 64] == 0 && log->pages - page >= 64) {
            page += 63; /* skips an empty word */
            steps += 63;
        } else if (kvc_flash_bit(log->written, page)) {
            break;
        }
    }
    return page;
}

/* Reads a record page by page, from the write buffer or from flash. */
struct reader {
    struct kvc_flash_log *log;
    bool buffered;
    uint64_t page; /* page number in the buffer or in the log */
    const uint8_t *bytes;
    struct kvc_flash_page_header header;
};

static bool load_page(struct reader *reader, uint64_t page)
{
    struct kvc_flash_log *log = reader->log;
    reader->page = page;
    if (reader->buffered) {
        if (page >= log->buffer_pages) {
            return false;
        }
        reader->bytes = buffer_page(log, (uint32_t)page);
        reader->header = *buffer_header(log, (uint32_t)page);
        return true;
    }
    if (page >= log->pages || !kvc_flash_bit(log->written, page)) {
        return false;
    }
    uint64_t row = page / log->flash.row_pages;
    reader->bytes = kvc_flash_borrow_page(&log->flash, row, (uint32_t)(page % log->flash.row_pages),
                                          KVC_FLASH_PAGE_LOG, &reader->header);
    return reader->bytes != NULL;
}

static bool load_next_page(struct reader *reader)
{
    uint64_t sequence = reader->header.sequence;
    if (reader->buffered) {
        return load_page(reader, reader->page + 1);
    }
    return load_page(reader, next_written(reader->log, reader->page)) &&
           reader->header.sequence == sequence + 1;
}

bool kvc_flash_log_get(struct kvc_flash_log *log, uint64_t pointer, const void *key, uint32_t key_bytes,
                       void *value, uint32_t capacity, uint32_t *value_bytes)
{
    struct reader reader = {.log = log, .buffered = kvc_flash_log_in_buffer(log, pointer)};
    uint64_t address = reader.buffered ? pointer - log->buffer_pointer : pointer & (KVC_BLUECACHE_FLASH - 1);
    uint32_t offset = (uint32_t)(address % log->flash.page_bytes);
    struct kvc_flash_record record;
    if ((!reader.buffered && (pointer & ~(KVC_BLUECACHE_FLASH - 1)) != KVC_BLUECACHE_FLASH) ||
        !load_page(&reader, address / log->flash.page_bytes) ||
        !kvc_flash_record_read(reader.bytes, log->flash.page_bytes, reader.header.used, offset, &record) ||
        record.kind != KVC_FLASH_RECORD_VALUE || record.key_bytes != key_bytes ||
        (key_bytes != 0 && memcmp(record.key, key, key_bytes) != 0)) {
        return false;
    }
    uint32_t wanted = record.value_bytes < capacity ? record.value_bytes : capacity;
    uint32_t part = wanted < record.value_in_page ? wanted : record.value_in_page;
    if (part != 0) {
        memcpy(value, record.key + key_bytes, part);
    }
    for (uint32_t done = part; done < wanted; done += part) {
        if (!load_next_page(&reader)) {
            return false;
        }
        uint32_t there = reader.header.used - KVC_FLASH_PAGE_HEADER_BYTES;
        part =
            wanted - done < kvc_flash_payload(&log->flash) ? wanted - done : kvc_flash_payload(&log->flash);
        if (part > there) {
            return false;
        }
        memcpy((uint8_t *)value + done, reader.bytes + KVC_FLASH_PAGE_HEADER_BYTES, part);
    }
    *value_bytes = record.value_bytes;
    return true;
}

void kvc_flash_log_clear(struct kvc_flash_log *log)
{
    uint64_t page_bitmap_bytes = (log->pages + 63) / 64 * sizeof(*log->written);
    memset(log->written, 0, page_bitmap_bytes);
    memset(log->old, 0, page_bitmap_bytes);
    memset(log->row_info, 0, log->rows * sizeof(*log->row_info));
    reset_buffer(log);
    log->row = 0;
    log->next_page = 0;
    log->sequence = log->settled = log->tail = 1;
    log->last_sequence = 0;
    log->checkpoint_area = 0;
    log->checkpoint_number = 0;
}

void kvc_flash_log_format(struct kvc_flash_log *log)
{
    kvc_flash_log_clear(log);
    for (uint64_t row = 0; row < log->flash.medium->geometry.blocks_per_chip; row++) {
        kvc_flash_erase_row(&log->flash, row);
    }
    log->ready = true;
}

void kvc_flash_log_free(struct kvc_flash_log *log)
{
    if (log != NULL) {
        free(log->written);
        free(log->old);
        free(log->flash.bad);
        free(log->row_info);
        free(log->buffer);
        free(log->placed);
        free(log->recent);
        free(log->flash.scratch);
        free(log);
    }
}

/* Derives all sizes from the parameters. Returns false if they are invalid. */
static bool measure(struct kvc_flash_log *log, const struct kvc_flash_log_params *params)
{
    const struct kvc_flash_geometry *geometry = &params->medium->geometry;
    uint64_t chips = (uint64_t)geometry->buses * geometry->chips_per_bus;
    if (chips == 0 || chips > INT32_MAX || geometry->pages_per_block == 0 ||
        geometry->page_bytes < KVC_FLASH_PAGE_MIN_BYTES || geometry->page_bytes > PAGE_MAX_BYTES ||
        geometry->page_bytes % 8 != 0 || chips * geometry->blocks_per_chip > INT32_MAX ||
        chips * geometry->pages_per_block > INT32_MAX ||
        geometry->blocks_per_chip < 2 + 2 * (uint64_t)params->checkpoint_rows ||
        params->value_max_bytes > KVC_BLUECACHE_VALUE_MAX || params->owner.moved == NULL ||
        params->chunk_pages > INT16_MAX || params->parallel_pages >= UINT16_MAX ||
        params->owner.image_bytes % KVC_BLUECACHE_BUCKET_BYTES != 0) {
        return false;
    }
    log->flash.page_bytes = geometry->page_bytes;
    log->flash.chips = (uint32_t)chips;
    log->flash.row_pages = (uint32_t)chips * geometry->pages_per_block;
    log->rows = geometry->blocks_per_chip - 2 * params->checkpoint_rows;
    log->checkpoint_rows = params->checkpoint_rows;
    log->pages = (uint64_t)log->rows * log->flash.row_pages;
    log->flash.blocks = chips * geometry->blocks_per_chip;
    log->flash.bad_words = (log->flash.blocks + 63) / 64;
    log->value_max_bytes = params->value_max_bytes == 0 ? KVC_BLUECACHE_VALUE_MAX : params->value_max_bytes;
    log->chunk_pages = params->chunk_pages == 0 ? KVC_FLASH_CHUNK_PAGES : params->chunk_pages;
    uint32_t largest =
        pages_for(log, KVC_FLASH_RECORD_HEADER_BYTES + KVC_BLUECACHE_KEY_MAX + log->value_max_bytes);
    log->buffer_limit = largest > log->chunk_pages ? largest : log->chunk_pages;
    log->parallel_pages = params->parallel_pages > 1 ? params->parallel_pages : 1;
    log->buffer_pointer = params->buffer_pointer;
    /* No page that may still be missing is erased again before it would be noticed. */
    bool apart =
        log->parallel_pages == 1 || log->pages >= log->flash.row_pages + 2 * (uint64_t)log->parallel_pages;
    uint64_t buffer_bytes = (uint64_t)log->buffer_limit * log->flash.page_bytes;
    bool no_image = params->checkpoint_rows == 0;
    bool image = params->owner.image_bytes != 0 && params->owner.save != NULL && params->owner.load != NULL &&
                 kvc_flash_checkpoint_pages(log) <= (uint64_t)log->checkpoint_rows * log->flash.row_pages;
    return log->pages <= address_end / log->flash.page_bytes &&
           log->pages >= 2 * (uint64_t)log->buffer_limit && params->buffer_pointer % 8 == 0 &&
           params->buffer_pointer <= address_end - buffer_bytes && (no_image || image) && apart;
}

struct kvc_flash_log *kvc_flash_log_create(const struct kvc_flash_log_params *params)
{
    struct kvc_flash_log *log = calloc(1, sizeof(*log));
    if (log == NULL) {
        return NULL;
    }
    log->flash.medium = params->medium;
    log->flash.stats = &log->stats;
    log->owner = params->owner;
    if (!measure(log, params)) {
        free(log);
        errno = EINVAL;
        return NULL;
    }
    uint64_t page_words = (log->pages + 63) / 64;
    log->written = calloc(page_words, sizeof(*log->written));
    log->old = calloc(page_words, sizeof(*log->old));
    log->flash.bad = calloc(log->flash.bad_words, sizeof(*log->flash.bad));
    log->row_info = calloc(log->rows, sizeof(*log->row_info));
    log->buffer = calloc(log->buffer_limit, log->flash.page_bytes);
    log->placed = calloc(log->buffer_limit, sizeof(*log->placed));
    log->recent = calloc(log->parallel_pages, sizeof(*log->recent));
    log->flash.scratch = malloc(log->flash.page_bytes);
    if (log->written == NULL || log->old == NULL || log->flash.bad == NULL || log->row_info == NULL ||
        log->buffer == NULL || log->placed == NULL || log->recent == NULL || log->flash.scratch == NULL) {
        kvc_flash_log_free(log);
        errno = ENOMEM;
        return NULL;
    }
    return log;
}

const struct kvc_flash_log_stats *kvc_flash_log_stats(const struct kvc_flash_log *log)
{
    return &log->stats;
}

uint64_t kvc_flash_log_capacity_bytes(const struct kvc_flash_log *log)
{
    return log->pages * log->flash.page_bytes;
}
