#include "kernels/bluecache/flash_map_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

const struct kvc_flash_geometry flash_small = {
    .buses = 2, .chips_per_bus = 2, .blocks_per_chip = 10, .pages_per_block = 4, .page_bytes = 512};

uint32_t flash_value_bytes(uint32_t key, uint32_t version)
{
    uint32_t mixed = (key * 2654435761u) ^ (version * 2246822519u);
    mixed ^= mixed >> 15;
    return 8 + (mixed % 8 == 0 ? mixed / 8 % (FLASH_VALUE_MAX - 7) : mixed / 8 % 200);
}

void flash_value(uint32_t key, uint32_t version, uint8_t *value)
{
    uint32_t bytes = flash_value_bytes(key, version);
    for (uint32_t i = 0; i < bytes; i++) {
        value[i] = (uint8_t)(key * 31 + version * 7 + i + i / 256);
    }
    memcpy(value, &key, 4);
    memcpy(value + 4, &version, 4);
}

uint32_t flash_key(uint32_t key, uint8_t *bytes)
{
    memset(bytes, (int)key, key + 1);
    return key + 1;
}

bool flash_map_crashed(const struct flash_map *map)
{
    return map->power_cut && kvc_flash_memory_stats(map->memory)->failures > map->failures_before;
}

static uint64_t moved(void *context, const struct kvc_bluecache_move *moves, uint32_t count)
{
    struct flash_map *map = context;
    uint64_t changed = 0;
    for (uint32_t i = 0; i < count && !flash_map_crashed(map); i++) {
        uint64_t key = moves[i].position;
        cr_assert_lt(key, FLASH_KEYS);
        if (moves[i].to == KVC_BLUECACHE_NOWHERE && map->durable_pointer[key] == moves[i].from) {
            map->durable_pointer[key] = KVC_BLUECACHE_NOWHERE;
        }
        if (map->pointer[key] == moves[i].from) {
            map->pointer[key] = moves[i].to;
            changed++;
        }
        for (uint32_t u = 0; u < map->unwritten_count; u++) {
            if (map->unwritten[u].pointer == moves[i].from) {
                cr_assert_eq(map->unwritten[u].key, key);
                map->unwritten[u].moved_to = moves[i].to;
            }
        }
    }
    return changed;
}

static void replayed(void *context, const struct kvc_flash_record *record, uint64_t pointer)
{
    struct flash_map *map = context;
    uint8_t key[FLASH_KEYS];
    cr_assert_lt(record->back, FLASH_KEYS);
    cr_assert_eq(record->key_bytes, flash_key((uint32_t)record->back, key));
    cr_assert_arr_eq(record->key, key, record->key_bytes);
    map->pointer[record->back] = record->kind == KVC_FLASH_RECORD_VALUE ? pointer : KVC_BLUECACHE_NOWHERE;
}

/* The image of the map has 8 bytes for each pointer. */
static void save(void *context, uint64_t offset, void *out, uint64_t count)
{
    const struct flash_map *map = context;
    for (uint64_t i = 0; i < count / 8; i++) {
        memcpy((uint8_t *)out + i * 8, &map->pointer[offset / 8 + i], 8);
    }
}

static void load(void *context, uint64_t offset, const void *saved, uint64_t count)
{
    struct flash_map *map = context;
    for (uint64_t i = 0; i < count / 8; i++) {
        uint64_t pointer;
        memcpy(&pointer, (const uint8_t *)saved + i * 8, 8);
        if (pointer != KVC_BLUECACHE_NOWHERE && kvc_flash_log_kept(map->log, pointer)) {
            map->pointer[offset / 8 + i] = pointer;
        }
    }
}

struct kvc_flash_log_params flash_map_params(struct flash_map *map)
{
    return (struct kvc_flash_log_params){
        .medium = kvc_flash_memory_medium(map->memory),
        .owner = {map, moved, replayed, FLASH_KEYS * 8, save, load},
        .chunk_pages = 8,
        .value_max_bytes = FLASH_VALUE_MAX,
        .checkpoint_rows = 1,
        .buffer_pointer = FLASH_BUFFER_POINTER,
    };
}

void flash_map_start(struct flash_map *map)
{
    struct kvc_flash_log_params params = flash_map_params(map);
    map->log = kvc_flash_log_create(&params);
    cr_assert_not_null(map->log);
    for (uint32_t key = 0; key < FLASH_KEYS; key++) {
        map->pointer[key] = KVC_BLUECACHE_NOWHERE;
    }
    map->unwritten_count = 0;
}

struct flash_map *flash_map_create(const struct kvc_flash_geometry *geometry)
{
    struct flash_map *map = calloc(1, sizeof(*map));
    map->memory = kvc_flash_memory_create(geometry);
    cr_assert_not_null(map->memory);
    flash_map_start(map);
    for (uint32_t key = 0; key < FLASH_KEYS; key++) {
        map->durable_pointer[key] = KVC_BLUECACHE_NOWHERE;
    }
    return map;
}

void flash_map_free(struct flash_map *map)
{
    cr_assert_eq(kvc_flash_memory_stats(map->memory)->violations, 0, "NAND's rules are kept");
    kvc_flash_log_free(map->log);
    kvc_flash_memory_free(map->memory);
    free(map);
}

/* The write buffer was written to flash. */
static void note_flush(struct flash_map *map)
{
    for (uint32_t u = 0; u < map->unwritten_count; u++) {
        const struct flash_unwritten *unwritten = &map->unwritten[u];
        map->durable_version[unwritten->key] = unwritten->deleted ? FLASH_NEVER : unwritten->version;
        map->durable_pointer[unwritten->key] = unwritten->moved_to;
    }
    map->unwritten_count = 0;
}

bool flash_map_flush(struct flash_map *map)
{
    bool written = kvc_flash_log_flush(map->log);
    note_flush(map);
    return written;
}

bool flash_map_checkpoint(struct flash_map *map)
{
    bool written = kvc_flash_log_checkpoint(map->log);
    if (!flash_map_crashed(map)) {
        note_flush(map);
    }
    return written;
}

void flash_map_append(struct flash_map *map, uint32_t key, bool deleted)
{
    uint8_t key_bytes[FLASH_KEYS], value[FLASH_VALUE_MAX];
    uint32_t version = ++map->last_version;
    uint64_t chunks = kvc_flash_log_stats(map->log)->chunks_written, pointer;
    uint32_t length = flash_key(key, key_bytes);
    uint32_t bytes = deleted ? 0 : flash_value_bytes(key, version);
    flash_value(key, version, value);
    cr_assert(kvc_flash_log_append(map->log, deleted ? KVC_FLASH_RECORD_TOMBSTONE : KVC_FLASH_RECORD_VALUE,
                                   key, key_bytes, length, value, bytes, &pointer));
    if (flash_map_crashed(map)) {
        return;
    }
    if (kvc_flash_log_stats(map->log)->chunks_written != chunks) {
        note_flush(map);
    }
    map->pointer[key] = deleted ? KVC_BLUECACHE_NOWHERE : pointer;
    map->version[key] = version;
    map->unwritten[map->unwritten_count++] = (struct flash_unwritten){
        key,    version, pointer, KVC_BLUECACHE_NOWHERE, KVC_FLASH_RECORD_HEADER_BYTES + length + bytes,
        deleted};
}

uint32_t flash_map_read_version(struct flash_map *map, uint32_t key)
{
    uint8_t key_bytes[FLASH_KEYS], value[FLASH_VALUE_MAX], expected[FLASH_VALUE_MAX];
    uint32_t bytes, length = flash_key(key, key_bytes);
    if (map->pointer[key] == KVC_BLUECACHE_NOWHERE) {
        return FLASH_NEVER;
    }
    cr_assert(kvc_flash_log_get(map->log, map->pointer[key], key_bytes, length, value, sizeof(value), &bytes),
              "the index has key %u at %lx, the log has not", key, map->pointer[key]);
    uint32_t first = map->last_version;
    while (first > FLASH_NEVER) {
        flash_value(key, first, expected);
        if (flash_value_bytes(key, first) == bytes && memcmp(expected, value, bytes) == 0) {
            break;
        }
        first--;
    }
    cr_assert_neq(first, FLASH_NEVER, "key %u has a value that it never got", key);
    return first;
}

void flash_map_check_all(struct flash_map *map)
{
    for (uint32_t key = 0; key < FLASH_KEYS; key++) {
        if (map->pointer[key] != KVC_BLUECACHE_NOWHERE) {
            uint8_t key_bytes[FLASH_KEYS], value[FLASH_VALUE_MAX], expected[FLASH_VALUE_MAX];
            uint32_t bytes, length = flash_key(key, key_bytes);
            cr_assert(kvc_flash_log_get(map->log, map->pointer[key], key_bytes, length, value, sizeof(value),
                                        &bytes));
            flash_value(key, map->version[key], expected);
            cr_assert_eq(bytes, flash_value_bytes(key, map->version[key]));
            cr_assert_eq(memcmp(value, expected, bytes), 0);
        }
    }
}

void flash_map_check_recovered(struct flash_map *map, uint64_t cut)
{
    for (uint32_t key = 0; key < FLASH_KEYS; key++) {
        uint32_t version = flash_map_read_version(map, key);
        bool durable = version != FLASH_NEVER && version == map->durable_version[key];
        bool maybe = version != FLASH_NEVER && version == map->maybe_version[key];
        bool gone = version == FLASH_NEVER &&
                    (map->durable_pointer[key] == KVC_BLUECACHE_NOWHERE || map->maybe_gone[key]);
        cr_assert(durable || maybe || gone, "cut %lu: key %u has version %u; %u was durable%s", cut, key,
                  version, map->durable_version[key],
                  map->durable_pointer[key] == KVC_BLUECACHE_NOWHERE ? ", then reclaimed" : "");
    }
}

void flash_map_restart(struct flash_map *map)
{
    struct kvc_flash_recovery recovery;
    kvc_flash_log_free(map->log);
    kvc_flash_memory_power_on(map->memory);
    flash_map_start(map);
    map->power_cut = false;
    kvc_flash_log_recover(map->log, &recovery);
}
