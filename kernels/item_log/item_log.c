#include "kernels/item_log/item_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/index.h"

enum { FIRST_ROOM = 1024, UNIT_BYTES = 8 };

static const uint32_t location_mask = 0x7fffffff;

/* What a log knows of an item besides its bytes. */
struct record {
    uint64_t hash, position;
    uint32_t value_bytes;
    uint8_t key_bytes;
};

struct kvc_item_log {
    struct kvc_item_log_params params;
    struct record *record; /* A ring: item i is at i modulo `room`, a power of two. */
    uint64_t room;
    uint64_t first, next; /* Numbers of the oldest item, and of the next one. */
    uint64_t end;         /* Position behind the newest item. */
    uint8_t *bytes;       /* Item bytes, by position modulo `ring_bytes`; NULL: the log is compact. */
    uint64_t ring_bytes;
};

uint32_t kvc_item_log_item_bytes(uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t bytes = KVC_ITEM_LOG_HEADER_BYTES + key_bytes + value_bytes;
    return (bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
}

uint64_t kvc_item_log_begin(uint64_t position, uint32_t bytes, uint32_t page_bytes)
{
    if (page_bytes == 0) {
        return position;
    }
    uint64_t in_page = position % page_bytes;
    bool crosses = in_page > 0 && in_page + bytes > page_bytes;
    return crosses ? position + page_bytes - in_page : position;
}

struct kvc_item_log *kvc_item_log_create(const struct kvc_item_log_params *params)
{
    if (params->bytes == 0) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_item_log *log = calloc(1, sizeof(*log));
    if (log == NULL) {
        return NULL;
    }
    log->params = *params;
    log->room = FIRST_ROOM;
    log->ring_bytes = (params->bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
    log->record = calloc(log->room, sizeof(*log->record));
    log->bytes = params->compact ? NULL : malloc(log->ring_bytes);
    if (log->record == NULL || (log->bytes == NULL && !params->compact)) {
        kvc_item_log_free(log);
        errno = ENOMEM;
        return NULL;
    }
    return log;
}

void kvc_item_log_free(struct kvc_item_log *log)
{
    if (log != NULL) {
        free(log->record);
        free(log->bytes);
        free(log);
    }
}

static struct record *record_of(const struct kvc_item_log *log, uint64_t number)
{
    return &log->record[number & (log->room - 1)];
}

/* Returns the item at a location; NULL: the log has none there. */
static const struct record *find(const struct kvc_item_log *log, uint32_t location)
{
    uint64_t age = (log->next - 1 - location) & location_mask;
    bool is_there = location <= location_mask && age < log->next - log->first;
    return is_there ? record_of(log, log->next - 1 - age) : NULL;
}

bool kvc_item_log_evict(struct kvc_item_log *log, uint32_t key_bytes, uint32_t value_bytes,
                        struct kvc_item_log_evicted *evicted)
{
    uint32_t bytes = kvc_item_log_item_bytes(key_bytes, value_bytes);
    uint64_t end = kvc_item_log_begin(log->end, bytes, log->params.page_bytes) + bytes;
    if (log->first == log->next) {
        return false;
    }
    const struct record *oldest = record_of(log, log->first);
    if (end - oldest->position <= log->params.bytes) {
        return false;
    }
    *evicted =
        (struct kvc_item_log_evicted){.location = (uint32_t)log->first & location_mask, .hash = oldest->hash};
    log->first++;
    return true;
}

static bool grow(struct kvc_item_log *log)
{
    struct record *record = malloc(2 * log->room * sizeof(*record));
    if (record == NULL) {
        return false;
    }
    for (uint64_t i = log->first; i < log->next; i++) {
        record[i & (2 * log->room - 1)] = *record_of(log, i);
    }
    free(log->record);
    log->record = record;
    log->room *= 2;
    return true;
}

/* Returns how many of the bytes at a position lie in front of the end of the ring. */
static uint32_t before_end(const struct kvc_item_log *log, uint64_t position, uint32_t bytes)
{
    uint64_t left = log->ring_bytes - position % log->ring_bytes;
    return left < bytes ? (uint32_t)left : bytes;
}

static void copy_in(struct kvc_item_log *log, uint64_t position, const void *in, uint32_t bytes)
{
    uint32_t before = before_end(log, position, bytes);
    memcpy(log->bytes + position % log->ring_bytes, in, before);
    memcpy(log->bytes, (const uint8_t *)in + before, bytes - before);
}

static void copy_out(const struct kvc_item_log *log, uint64_t position, void *out, uint32_t bytes)
{
    uint32_t before = before_end(log, position, bytes);
    memcpy(out, log->bytes + position % log->ring_bytes, before);
    memcpy((uint8_t *)out + before, log->bytes, bytes - before);
}

uint32_t kvc_item_log_append(struct kvc_item_log *log, const struct kvc_item_log_item *item)
{
    uint32_t bytes = kvc_item_log_item_bytes(item->key_bytes, item->value_bytes);
    if (bytes > log->params.bytes || (log->next - log->first == log->room && !grow(log))) {
        return KVC_LOCATION_NONE;
    }
    struct record record = {.hash = item->hash,
                            .position = kvc_item_log_begin(log->end, bytes, log->params.page_bytes),
                            .value_bytes = item->value_bytes,
                            .key_bytes = item->key_bytes};
    if (log->bytes != NULL) {
        uint64_t header = (uint64_t)item->value_bytes << 8 | item->key_bytes;
        uint64_t key_at = record.position + KVC_ITEM_LOG_HEADER_BYTES;
        copy_in(log, record.position, &header, sizeof(header));
        copy_in(log, key_at, item->key, item->key_bytes);
        copy_in(log, key_at + item->key_bytes, item->value, item->value_bytes);
    }
    *record_of(log, log->next) = record;
    log->end = record.position + bytes;
    return (uint32_t)log->next++ & location_mask;
}

bool kvc_item_log_read(const struct kvc_item_log *log, uint32_t location, uint64_t hash, const void *key,
                       uint32_t key_bytes, void *value)
{
    const struct record *record = find(log, location);
    if (record == NULL || record->hash != hash) {
        return false;
    }
    if (log->bytes == NULL) {
        return true;
    }
    uint8_t stored[UINT8_MAX];
    uint64_t key_at = record->position + KVC_ITEM_LOG_HEADER_BYTES;
    copy_out(log, key_at, stored, record->key_bytes);
    if (record->key_bytes != key_bytes || memcmp(stored, key, key_bytes) != 0) {
        return false;
    }
    if (value != NULL) {
        copy_out(log, key_at + record->key_bytes, value, record->value_bytes);
    }
    return true;
}

uint64_t kvc_item_log_position(const struct kvc_item_log *log, uint32_t location)
{
    const struct record *record = find(log, location);
    return record != NULL ? record->position : UINT64_MAX;
}

uint64_t kvc_item_log_end(const struct kvc_item_log *log)
{
    return log->end;
}

uint64_t kvc_item_log_used(const struct kvc_item_log *log)
{
    return log->next - log->first;
}

uint64_t kvc_item_log_memory_bytes(const struct kvc_item_log_params *params, double items)
{
    uint64_t room = FIRST_ROOM;
    while ((double)room < items) {
        room *= 2;
    }
    /* While the ring grows, the old one is there as well. */
    uint64_t bytes = sizeof(struct kvc_item_log) + (room + room / 2) * sizeof(struct record);
    return bytes + (params->compact ? 0 : params->bytes);
}
