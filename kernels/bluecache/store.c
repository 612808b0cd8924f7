#include "kernels/bluecache/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/key_hash.h"

enum { BATCH = 64 };

/* Pointer of an index entry while its pair bypasses DRAM. */
static const uint64_t in_transit = KVC_BLUECACHE_FLASH - 1;

struct kvc_bluecache_store {
    struct kvc_index *index;
    struct kvc_dram_slab *slab;
    struct kvc_flash_log *log;
    uint64_t index_bytes;
    uint32_t value_max_bytes;
    bool log_deletes;
    bool started;
    uint64_t foreign_records;
    struct kvc_bluecache_store_stats stats;
    struct kvc_index_stats index_stats;
    struct kvc_dram_slab_stats slab_stats;
};

/* A part of a batch of keys, with their hashes. */
struct part {
    uint32_t count;
    const uint8_t *keys;
    uint64_t stride;
    const uint8_t *bytes;
    uint64_t hash[BATCH];
};

static const uint8_t *key_of(const struct part *part, uint32_t i)
{
    return part->keys + i * part->stride;
}

/* Takes up to BATCH keys from `start` on and hashes them. */
static void take_part(const struct kvc_bluecache_keys *keys, uint32_t start, struct part *part)
{
    part->count = keys->count - start < BATCH ? keys->count - start : BATCH;
    part->keys = keys->keys + start * keys->stride;
    part->stride = keys->stride;
    part->bytes = keys->bytes + start;
    kvc_bluecache_hash(part->keys, part->stride, part->bytes, part->count, part->hash);
}

static uint64_t on_moved(void *context, const struct kvc_bluecache_move *moves, uint32_t count)
{
    struct kvc_bluecache_store *store = context;
    return kvc_bluecache_index_move(store->index, moves, count);
}

/* Repeats the set or the delete that a record of the log stands for. */
static void on_replayed(void *context, const struct kvc_flash_record *record, uint64_t pointer)
{
    struct kvc_bluecache_store *store = context;
    uint8_t key_bytes = (uint8_t)record->key_bytes;
    uint64_t hash, position;
    kvc_bluecache_hash(record->key, key_bytes, &key_bytes, 1, &hash);
    if (kvc_bluecache_index_home(store->index, hash) / KVC_BLUECACHE_WAYS !=
        record->back / KVC_BLUECACHE_WAYS) {
        store->foreign_records++;
        return;
    }
    if (record->kind == KVC_FLASH_RECORD_TOMBSTONE) {
        kvc_bluecache_index_erase(store->index, &hash, &key_bytes, 1, NULL, &store->index_stats);
    } else {
        kvc_bluecache_index_put(store->index, &hash, &key_bytes, &record->value_bytes, &pointer, 1, &position,
                                NULL, &store->index_stats);
    }
}

/* The image consists of the table and of 64 bytes with the clock. */
static void on_save(void *context, uint64_t offset, void *out, uint64_t count)
{
    struct kvc_bluecache_store *store = context;
    uint64_t table = offset + count > store->index_bytes ? store->index_bytes - offset : count;
    kvc_bluecache_index_save(store->index, offset / KVC_BLUECACHE_BUCKET_BYTES,
                             table / KVC_BLUECACHE_BUCKET_BYTES, out);
    if (table < count) {
        uint32_t clock = kvc_bluecache_index_clock(store->index);
        memset((uint8_t *)out + table, 0, count - table);
        memcpy((uint8_t *)out + table, &clock, sizeof(clock));
    }
}

static bool keep(void *context, uint64_t pointer)
{
    return kvc_flash_log_kept(context, pointer);
}

static void on_load(void *context, uint64_t offset, const void *saved, uint64_t count)
{
    struct kvc_bluecache_store *store = context;
    uint64_t table = offset + count > store->index_bytes ? store->index_bytes - offset : count;
    kvc_bluecache_index_load(store->index, offset / KVC_BLUECACHE_BUCKET_BYTES,
                             table / KVC_BLUECACHE_BUCKET_BYTES, saved, keep, store->log);
    if (table < count) {
        uint32_t clock;
        memcpy(&clock, (const uint8_t *)saved + table, sizeof(clock));
        kvc_bluecache_index_set_clock(store->index, clock);
    }
}

void kvc_bluecache_store_free(struct kvc_bluecache_store *store)
{
    if (store != NULL) {
        kvc_index_free(store->index);
        kvc_dram_slab_free(store->slab);
        kvc_flash_log_free(store->log);
        free(store);
    }
}

/* Returns false with errno. */
static bool create_parts(struct kvc_bluecache_store *store, const struct kvc_bluecache_store_params *params)
{
    store->index =
        kvc_bluecache_index_create(&(struct kvc_bluecache_index_params){.bytes = params->index_bytes});
    if (store->index == NULL) {
        return false;
    }
    store->slab = kvc_dram_slab_create(&(struct kvc_dram_slab_params){
        .bytes = params->dram_bytes, .seed = params->seed, .slab_bytes = params->slab_bytes});
    if (store->slab == NULL) {
        return false;
    }
    struct kvc_flash_log_params log = {
        .medium = params->medium,
        .owner = {store, on_moved, on_replayed, params->index_bytes + KVC_BLUECACHE_BUCKET_BYTES, on_save,
                  on_load},
        .chunk_pages = params->chunk_pages,
        .value_max_bytes = params->value_max_bytes,
        .checkpoint_rows = params->checkpoint_rows,
        .parallel_pages = params->parallel_pages,
        .buffer_pointer = kvc_dram_slab_capacity_bytes(store->slab),
    };
    store->log = kvc_flash_log_create(&log);
    return store->log != NULL;
}

struct kvc_bluecache_store *kvc_bluecache_store_create(const struct kvc_bluecache_store_params *params)
{
    struct kvc_bluecache_store *store = calloc(1, sizeof(*store));
    if (store == NULL) {
        return NULL;
    }
    store->index_bytes = params->index_bytes;
    store->value_max_bytes = params->value_max_bytes == 0 ? KVC_BLUECACHE_VALUE_MAX : params->value_max_bytes;
    store->log_deletes = params->log_deletes;
    if (!create_parts(store, params)) {
        int error = errno;
        kvc_bluecache_store_free(store);
        errno = error;
        return NULL;
    }
    return store;
}

void kvc_bluecache_store_format(struct kvc_bluecache_store *store)
{
    kvc_flash_log_format(store->log);
    store->started = true;
}

void kvc_bluecache_store_recover(struct kvc_bluecache_store *store,
                                 struct kvc_bluecache_store_recovery *recovery)
{
    kvc_flash_log_recover(store->log, &recovery->log);
    recovery->foreign_records = store->foreign_records;
    store->started = true;
}

/* Moves victims that are not dead to the write buffer, and changes their index entries. */
static void save_victims(struct kvc_bluecache_store *store, const uint64_t *victim, uint32_t count)
{
    struct kvc_dram_item item[BATCH];
    for (uint32_t i = 0; i < count; i++) {
        kvc_dram_slab_item(store->slab, victim[i], &item[i]);
        kvc_bluecache_index_prefetch(store->index, item[i].back);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_bluecache_move move = {.position = item[i].back, .from = victim[i]};
        store->stats.lines_touched++;
        if (!kvc_bluecache_index_points(store->index, move.position, move.from)) {
            store->stats.evicted_dead++;
            continue;
        }
        /* The log cannot refuse the record, because it was small enough for a put. */
        (void)kvc_flash_log_append(store->log, KVC_FLASH_RECORD_VALUE, item[i].back, item[i].key,
                                   item[i].key_bytes, item[i].value, item[i].value_bytes, &move.to);
        kvc_bluecache_index_move(store->index, &move, 1);
        store->stats.evicted_keys++;
    }
}

/* Puts a pair for which DRAM has no place. */
static void bypass(struct kvc_bluecache_store *store, uint64_t hash, const struct kvc_dram_item *item)
{
    uint8_t key_bytes = (uint8_t)item->key_bytes;
    struct kvc_bluecache_move move = {.from = in_transit};
    kvc_bluecache_index_put(store->index, &hash, &key_bytes, &item->value_bytes, &in_transit, 1,
                            &move.position, NULL, &store->index_stats);
    (void)kvc_flash_log_append(store->log, KVC_FLASH_RECORD_VALUE, move.position, item->key, item->key_bytes,
                               item->value, item->value_bytes, &move.to);
    kvc_bluecache_index_move(store->index, &move, 1);
    store->stats.bypassed++;
}

/* Puts `count` pairs of one slab class, from `start` on. */
static void put_run(struct kvc_bluecache_store *store, const struct part *part, uint32_t start,
                    uint32_t count, const uint8_t *const *value, const uint32_t *value_bytes)
{
    uint64_t pointer[BATCH], position[BATCH];
    uint32_t now = kvc_bluecache_index_clock(store->index);
    uint32_t fresh, taken = kvc_dram_slab_reserve(store->slab, part->bytes[start], value_bytes[start], now,
                                                  count, pointer, &fresh, &store->slab_stats);
    save_victims(store, pointer + fresh, taken - fresh);
    kvc_bluecache_index_put(store->index, &part->hash[start], &part->bytes[start], &value_bytes[start],
                            pointer, taken, position, NULL, &store->index_stats);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = start + i;
        struct kvc_dram_item item = {.timestamp = now + i,
                                     .key = key_of(part, at),
                                     .key_bytes = part->bytes[at],
                                     .value = value[at],
                                     .value_bytes = value_bytes[at]};
        if (i < taken) {
            item.back = position[i];
            kvc_dram_slab_write(store->slab, pointer[i], &item, &store->slab_stats);
        } else {
            bypass(store, part->hash[at], &item);
        }
    }
}

bool kvc_bluecache_store_put(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                             const uint8_t *const *value, const uint32_t *value_bytes)
{
    bool fit = store->started;
    for (uint32_t i = 0; i < keys->count; i++) {
        fit = fit && value_bytes[i] <= store->value_max_bytes;
    }
    if (!fit) {
        errno = EINVAL;
        return false;
    }
    for (uint32_t first = 0; first < keys->count; first += BATCH) {
        struct part part;
        take_part(keys, first, &part);
        for (uint32_t i = 0, end; i < part.count; i = end) {
            uint32_t class_bytes = kvc_dram_slab_item_bytes(part.bytes[i], value_bytes[first + i]);
            end = i + 1;
            while (end < part.count &&
                   kvc_dram_slab_item_bytes(part.bytes[end], value_bytes[first + end]) == class_bytes) {
                end++;
            }
            put_run(store, &part, i, end - i, value + first, value_bytes + first);
        }
        store->stats.puts += part.count;
    }
    return true;
}

/* Gets a value from the write buffer or from flash. */
static void get_logged(struct kvc_bluecache_store *store, uint64_t pointer, const uint8_t *key,
                       uint32_t key_bytes, uint8_t *out, uint32_t capacity, uint32_t *value_bytes)
{
    uint64_t *hits =
        kvc_flash_log_in_buffer(store->log, pointer) ? &store->stats.buffer_hits : &store->stats.flash_hits;
    if (kvc_flash_log_get(store->log, pointer, key, key_bytes, out, capacity, value_bytes)) {
        ++*hits;
    } else {
        store->stats.misses++;
        store->stats.false_matches++;
    }
}

/* Returns the enum kvc_bluecache_place that a pointer leads to. */
static uint8_t place_of(const struct kvc_bluecache_store *store, uint64_t pointer)
{
    if (pointer == KVC_BLUECACHE_NOWHERE) {
        return KVC_BLUECACHE_IN_NONE;
    }
    if (pointer < kvc_dram_slab_capacity_bytes(store->slab)) {
        return KVC_BLUECACHE_IN_DRAM;
    }
    return kvc_flash_log_in_buffer(store->log, pointer) ? KVC_BLUECACHE_IN_BUFFER : KVC_BLUECACHE_IN_FLASH;
}

/* Gets the values that are in DRAM. */
static void get_slabs(struct kvc_bluecache_store *store, const struct part *part, const uint64_t *pointer,
                      const uint32_t *which, uint32_t count, bool peeks, uint8_t *out, uint32_t capacity,
                      uint32_t *value_bytes)
{
    uint8_t key[BATCH][KVC_BLUECACHE_KEY_MAX], key_bytes[BATCH];
    const uint8_t *value[BATCH];
    uint32_t length[BATCH];
    for (uint32_t i = 0; i < count; i++) {
        key_bytes[i] = part->bytes[which[i]];
        memcpy(key[i], key_of(part, which[i]), key_bytes[i]);
    }
    struct kvc_dram_slab_gets gets = {.count = count,
                                      .pointer = pointer,
                                      .keys = key[0],
                                      .stride = KVC_BLUECACHE_KEY_MAX,
                                      .key_bytes = key_bytes,
                                      .now = kvc_bluecache_index_clock(store->index),
                                      .peeks = peeks,
                                      .value = value,
                                      .value_bytes = length};
    kvc_dram_slab_get(store->slab, &gets, &store->slab_stats);
    for (uint32_t i = 0; i < count; i++) {
        if (value[i] == NULL) {
            store->stats.misses++;
            store->stats.false_matches++;
            continue;
        }
        if (capacity != 0) {
            memcpy(out + (uint64_t)which[i] * capacity, value[i],
                   length[i] < capacity ? length[i] : capacity);
        }
        value_bytes[which[i]] = length[i];
        store->stats.dram_hits++;
    }
}

/* Returns the room of value i, or NULL if the caller wants no values. */
static uint8_t *room_of(uint8_t *out, uint32_t i, uint32_t capacity)
{
    return capacity != 0 ? out + (uint64_t)i * capacity : NULL;
}

static void get(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys, bool peeks,
                uint8_t *out, uint32_t capacity, uint32_t *value_bytes, struct kvc_bluecache_read *read)
{
    for (uint32_t first = 0; first < keys->count; first += BATCH) {
        struct part part;
        struct kvc_bluecache_found found[BATCH];
        uint64_t pointer[BATCH];
        uint32_t which[BATCH], in_slabs = 0;
        uint8_t *part_out = room_of(out, first, capacity);
        uint32_t *part_bytes = value_bytes + first;
        take_part(keys, first, &part);
        if (peeks) {
            kvc_bluecache_index_peek(store->index, part.hash, part.bytes, part.count, found);
        } else {
            kvc_bluecache_index_get(store->index, part.hash, part.bytes, part.count, found,
                                    &store->index_stats);
        }
        for (uint32_t i = 0; i < part.count; i++) {
            uint64_t pages = kvc_flash_log_stats(store->log)->pages_read;
            uint8_t place = place_of(store, found[i].pointer);
            part_bytes[i] = KVC_BLUECACHE_MISS;
            if (place == KVC_BLUECACHE_IN_NONE) {
                store->stats.misses++;
            } else if (place == KVC_BLUECACHE_IN_DRAM) {
                pointer[in_slabs] = found[i].pointer;
                which[in_slabs++] = i;
            } else {
                get_logged(store, found[i].pointer, key_of(&part, i), part.bytes[i],
                           room_of(part_out, i, capacity), capacity, &part_bytes[i]);
            }
            if (read != NULL) {
                pages = kvc_flash_log_stats(store->log)->pages_read - pages;
                read[first + i] = (struct kvc_bluecache_read){(uint32_t)pages, place};
            }
        }
        get_slabs(store, &part, pointer, which, in_slabs, peeks, part_out, capacity, part_bytes);
        store->stats.gets += part.count;
    }
}

void kvc_bluecache_store_get(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                             uint8_t *out, uint32_t capacity, uint32_t *value_bytes,
                             struct kvc_bluecache_read *read)
{
    get(store, keys, false, out, capacity, value_bytes, read);
}

void kvc_bluecache_store_peek(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                              uint8_t *out, uint32_t capacity, uint32_t *value_bytes,
                              struct kvc_bluecache_read *read)
{
    struct kvc_bluecache_store_stats stats = store->stats;
    struct kvc_dram_slab_stats slab_stats = store->slab_stats;
    get(store, keys, true, out, capacity, value_bytes, read);
    store->stats = stats;
    store->slab_stats = slab_stats;
}

bool kvc_bluecache_store_delete(struct kvc_bluecache_store *store, const struct kvc_bluecache_keys *keys,
                                bool *found)
{
    if (!store->started) {
        errno = EINVAL;
        return false;
    }
    for (uint32_t first = 0; first < keys->count; first += BATCH) {
        struct part part;
        uint64_t gone[BATCH];
        take_part(keys, first, &part);
        kvc_bluecache_index_erase(store->index, part.hash, part.bytes, part.count, gone, &store->index_stats);
        for (uint32_t i = 0; i < part.count; i++) {
            if (found != NULL) {
                found[first + i] = gone[i] != KVC_BLUECACHE_NOWHERE;
            }
            /* A key that is not in the index may still have a record on flash. */
            if (store->log_deletes) {
                (void)kvc_flash_log_append(store->log, KVC_FLASH_RECORD_TOMBSTONE,
                                           kvc_bluecache_index_home(store->index, part.hash[i]),
                                           key_of(&part, i), part.bytes[i], NULL, 0, NULL);
            }
        }
        store->stats.deletes += part.count;
    }
    return true;
}

bool kvc_bluecache_store_flush(struct kvc_bluecache_store *store)
{
    return kvc_flash_log_flush(store->log);
}

bool kvc_bluecache_store_checkpoint(struct kvc_bluecache_store *store)
{
    return kvc_flash_log_checkpoint(store->log);
}

void kvc_bluecache_store_stats(const struct kvc_bluecache_store *store,
                               struct kvc_bluecache_store_stats *stats)
{
    const struct kvc_index_stats *index = &store->index_stats;
    const struct kvc_dram_slab_stats *slab = &store->slab_stats;
    const struct kvc_flash_log_stats *log = kvc_flash_log_stats(store->log);
    *stats = store->stats;
    stats->index_evicted = index->evicted;
    stats->lines_touched += index->search_lines + index->insert_lines + index->erase_lines + slab->get_lines +
                            slab->write_lines + slab->sampled_lines;
    stats->pages_read = log->pages_read;
    stats->pages_written = log->pages_written;
    stats->chunks_reclaimed = log->pages_reclaimed / KVC_FLASH_CHUNK_PAGES;
    stats->keys_reclaimed = log->keys_reclaimed;
}

uint64_t kvc_bluecache_store_used(const struct kvc_bluecache_store *store)
{
    return kvc_index_used(store->index);
}
