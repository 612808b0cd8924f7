#include "kernels/bluecache/flash_log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_memory.h"

enum {
    KEYS = 64,
    VALUE_MAX = 1500, /* over four pages of 512 bytes */
    NEVER = 0,        /* versions count from 1 */
};

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* A key's record in the write buffer. */
struct unwritten {
    uint32_t key, version;
    uint64_t pointer, moved_to;
    uint32_t bytes;
    bool deleted;
};

/* The plain map: what the index should say, and what should outlive a crash. */
struct map {
    struct kvc_flash_memory *memory;
    struct kvc_flash_log *log;
    uint64_t pointer[KEYS]; /* KVC_BLUECACHE_NOWHERE: none */
    uint32_t version[KEYS]; /* of what pointer[] points to */
    uint32_t last_version;
    uint64_t durable_pointer[KEYS]; /* of the last record on flash, NOWHERE when it is reclaimed */
    uint32_t durable_version[KEYS]; /* NEVER: none, or it was a tombstone */
    uint32_t maybe_version[KEYS];   /* the power cut may or may not have left it whole */
    bool maybe_gone[KEYS];
    struct unwritten unwritten[4096];
    uint32_t unwritten_count;
    bool power_cut; /* one is planned: at the next failure the map stands still */
    uint64_t failures_before;
};

/* From 8 bytes, which say whose it is, up. */
static uint32_t value_bytes_of(uint32_t key, uint32_t version)
{
    uint32_t mixed = (key * 2654435761u) ^ (version * 2246822519u);
    mixed ^= mixed >> 15;
    return 8 + (mixed % 8 == 0 ? mixed / 8 % (VALUE_MAX - 7) : mixed / 8 % 200);
}

static void value_of(uint32_t key, uint32_t version, uint8_t *value)
{
    uint32_t bytes = value_bytes_of(key, version);
    for (uint32_t i = 0; i < bytes; i++) {
        value[i] = (uint8_t)(key * 31 + version * 7 + i + i / 256);
    }
    memcpy(value, &key, 4);
    memcpy(value + 4, &version, 4);
}

/* Keys of 1 to 64 bytes. */
static uint32_t key_of(uint32_t key, uint8_t *bytes)
{
    memset(bytes, (int)key, key + 1);
    return key + 1;
}

static bool crashed(const struct map *map)
{
    return map->power_cut && kvc_flash_memory_stats(map->memory)->failures > map->failures_before;
}

static uint64_t moved(void *context, const struct kvc_bluecache_move *moves, uint32_t count)
{
    struct map *map = context;
    uint64_t changed = 0;
    for (uint32_t i = 0; i < count && !crashed(map); i++) {
        uint64_t key = moves[i].position;
        cr_assert_lt(key, KEYS);
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
    struct map *map = context;
    uint8_t key[KEYS];
    cr_assert_lt(record->back, KEYS);
    cr_assert_eq(record->key_bytes, key_of((uint32_t)record->back, key));
    cr_assert_arr_eq(record->key, key, record->key_bytes);
    map->pointer[record->back] = record->kind == KVC_FLASH_RECORD_VALUE ? pointer : KVC_BLUECACHE_NOWHERE;
}

/* The map's image is one pointer for each 8 bytes. */
static void save(void *context, uint64_t offset, void *out, uint64_t count)
{
    const struct map *map = context;
    for (uint64_t i = 0; i < count / 8; i++) {
        memcpy((uint8_t *)out + i * 8, &map->pointer[offset / 8 + i], 8);
    }
}

static void load(void *context, uint64_t offset, const void *saved, uint64_t count)
{
    struct map *map = context;
    for (uint64_t i = 0; i < count / 8; i++) {
        uint64_t pointer;
        memcpy(&pointer, (const uint8_t *)saved + i * 8, 8);
        if (pointer != KVC_BLUECACHE_NOWHERE && kvc_flash_log_kept(map->log, pointer)) {
            map->pointer[offset / 8 + i] = pointer;
        }
    }
}

static const struct kvc_flash_geometry small = {
    .buses = 2, .chips_per_bus = 2, .blocks_per_chip = 10, .pages_per_block = 4, .page_bytes = 512};

static struct kvc_flash_log_params params_for(struct map *map)
{
    return (struct kvc_flash_log_params){
        .medium = kvc_flash_memory_medium(map->memory),
        .owner = {map, moved, replayed, KEYS * 8, save, load},
        .chunk_pages = 8,
        .value_max_bytes = VALUE_MAX,
        .checkpoint_rows = 1,
        .buffer_pointer = 1 << 20,
    };
}

static void start_log(struct map *map)
{
    struct kvc_flash_log_params params = params_for(map);
    map->log = kvc_flash_log_create(&params);
    cr_assert_not_null(map->log);
    for (uint32_t key = 0; key < KEYS; key++) {
        map->pointer[key] = KVC_BLUECACHE_NOWHERE;
    }
    map->unwritten_count = 0;
}

static struct map *create_map(const struct kvc_flash_geometry *geometry)
{
    struct map *map = calloc(1, sizeof(*map));
    map->memory = kvc_flash_memory_create(geometry);
    cr_assert_not_null(map->memory);
    start_log(map);
    for (uint32_t key = 0; key < KEYS; key++) {
        map->durable_pointer[key] = KVC_BLUECACHE_NOWHERE;
    }
    return map;
}

static void free_map(struct map *map)
{
    cr_assert_eq(kvc_flash_memory_stats(map->memory)->violations, 0, "NAND's rules are kept");
    kvc_flash_log_free(map->log);
    kvc_flash_memory_free(map->memory);
    free(map);
}

/* The write buffer was written. */
static void note_flush(struct map *map)
{
    for (uint32_t u = 0; u < map->unwritten_count; u++) {
        const struct unwritten *unwritten = &map->unwritten[u];
        map->durable_version[unwritten->key] = unwritten->deleted ? NEVER : unwritten->version;
        map->durable_pointer[unwritten->key] = unwritten->moved_to;
    }
    map->unwritten_count = 0;
}

static bool flush(struct map *map)
{
    bool written = kvc_flash_log_flush(map->log);
    note_flush(map);
    return written;
}

static bool checkpoint(struct map *map)
{
    bool written = kvc_flash_log_checkpoint(map->log);
    if (!crashed(map)) {
        note_flush(map);
    }
    return written;
}

/* Appends a value, or a tombstone. */
static void append(struct map *map, uint32_t key, bool deleted)
{
    uint8_t key_bytes[KEYS], value[VALUE_MAX];
    uint32_t version = ++map->last_version;
    uint64_t chunks = kvc_flash_log_stats(map->log)->chunks_written, pointer;
    uint32_t length = key_of(key, key_bytes);
    uint32_t bytes = deleted ? 0 : value_bytes_of(key, version);
    value_of(key, version, value);
    cr_assert(kvc_flash_log_append(map->log, deleted ? KVC_FLASH_RECORD_TOMBSTONE : KVC_FLASH_RECORD_VALUE,
                                   key, key_bytes, length, value, bytes, &pointer));
    if (crashed(map)) {
        return;
    }
    if (kvc_flash_log_stats(map->log)->chunks_written != chunks) {
        note_flush(map);
    }
    map->pointer[key] = deleted ? KVC_BLUECACHE_NOWHERE : pointer;
    map->version[key] = version;
    map->unwritten[map->unwritten_count++] = (struct unwritten){
        key,    version, pointer, KVC_BLUECACHE_NOWHERE, KVC_FLASH_RECORD_HEADER_BYTES + length + bytes,
        deleted};
}

/* The version that the log has at a key's pointer. */
static uint32_t read_version(struct map *map, uint32_t key)
{
    uint8_t key_bytes[KEYS], value[VALUE_MAX], expected[VALUE_MAX];
    uint32_t bytes, length = key_of(key, key_bytes);
    if (map->pointer[key] == KVC_BLUECACHE_NOWHERE) {
        return NEVER;
    }
    cr_assert(kvc_flash_log_get(map->log, map->pointer[key], key_bytes, length, value, sizeof(value), &bytes),
              "the index has key %u at %lx, the log has not", key, map->pointer[key]);
    uint32_t first = map->last_version;
    while (first > NEVER) {
        value_of(key, first, expected);
        if (value_bytes_of(key, first) == bytes && memcmp(expected, value, bytes) == 0) {
            break;
        }
        first--;
    }
    cr_assert_neq(first, NEVER, "key %u has a value that it never got", key);
    return first;
}

static void check_all(struct map *map)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        if (map->pointer[key] != KVC_BLUECACHE_NOWHERE) {
            uint8_t key_bytes[KEYS], value[VALUE_MAX], expected[VALUE_MAX];
            uint32_t bytes, length = key_of(key, key_bytes);
            cr_assert(kvc_flash_log_get(map->log, map->pointer[key], key_bytes, length, value, sizeof(value),
                                        &bytes));
            value_of(key, map->version[key], expected);
            cr_assert_eq(bytes, value_bytes_of(key, map->version[key]));
            cr_assert_eq(memcmp(value, expected, bytes), 0);
        }
    }
}

Test(flash_log, rejects_bad_params)
{
    struct map *map = create_map(&small);
    for (int i = 0; i < 11; i++) {
        struct kvc_flash_log_params params = params_for(map);
        struct kvc_flash_medium medium = *params.medium;
        params.medium = &medium;
        switch (i) {
        case 0:
            medium.geometry.buses = 0;
            break;
        case 1:
            medium.geometry.pages_per_block = 0;
            break;
        case 2:
            medium.geometry.page_bytes = 256;
            break;
        case 3:
            medium.geometry.page_bytes = 1 << 17;
            break;
        case 4:
            medium.geometry.blocks_per_chip = 3; /* one row for data */
            break;
        case 5:
            params.value_max_bytes = KVC_BLUECACHE_VALUE_MAX + 1;
            break;
        case 6:
            params.owner.moved = NULL;
            break;
        case 7:
            params.owner.image_bytes = 512 * 16; /* more than a row */
            break;
        case 8:
            params.owner.load = NULL;
            break;
        case 9:
            params.buffer_pointer = (UINT64_C(1) << 40) - 512;
            break;
        case 10:
            params.chunk_pages = 65; /* two of them are more than the flash */
            break;
        }
        errno = 0;
        cr_assert_null(kvc_flash_log_create(&params), "case %d", i);
        cr_assert_eq(errno, EINVAL);
    }
    cr_assert_not(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 0, "k", 1, "v", 1, NULL),
                  "not formatted");
    kvc_flash_log_format(map->log);
    cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 0, "k", 1, "v", 1, NULL));
    cr_assert_not(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 0, "k", 256, "v", 1, NULL));
    cr_assert_not(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_TOMBSTONE, 0, "k", 1, "v", 1, NULL));
    kvc_flash_log_free(NULL);
    kvc_flash_memory_free(NULL);
    free_map(map);
}

/* The medium in memory, against which all else is tested, keeps NAND's rules itself. */
Test(flash_log, memory_medium_refuses_what_flash_cannot_do)
{
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&small);
    struct kvc_flash_medium *medium = kvc_flash_memory_medium(memory);
    uint8_t page[512] = {1}, back[512];
    cr_assert(medium->program_page(medium, 3, 1, page));
    cr_assert_not(medium->program_page(medium, 3, 1, page), "written twice");
    cr_assert_not(medium->program_page(medium, 3, 0, page), "not ascending");
    cr_assert_not(medium->program_page(medium, 3, 4, page), "no such page");
    cr_assert_not(medium->read_page(medium, 40, 0, back), "no such block");
    cr_assert_eq(kvc_flash_memory_stats(memory)->violations, 4);
    cr_assert(medium->read_page(medium, 3, 0, back));
    cr_assert_eq(back[0], 0xff);
    cr_assert(medium->erase_block(medium, 3));
    cr_assert(medium->program_page(medium, 3, 0, page));
    kvc_flash_memory_wear_out(memory, 3);
    cr_assert_not(medium->program_page(medium, 3, 1, page));
    cr_assert_not(medium->erase_block(medium, 3));
    cr_assert(medium->read_page(medium, 3, 0, back), "what was written before is still there");
    cr_assert_eq(back[0], 1);
    kvc_flash_memory_cut_power(memory, 1, 100);
    memset(page, 7, sizeof(page));
    cr_assert(medium->program_page(medium, 4, 0, page));
    cr_assert_not(medium->program_page(medium, 4, 1, page));
    cr_assert_not(medium->read_page(medium, 4, 0, back), "no power");
    kvc_flash_memory_power_on(memory);
    cr_assert(medium->read_page(medium, 4, 1, back));
    cr_assert_eq(back[99], 7);
    cr_assert_eq(back[100], 0xff);
    cr_assert_eq(kvc_flash_memory_erases(memory, 3), 1);
    cr_assert_null(kvc_flash_memory_create(&(struct kvc_flash_geometry){1, 1, 1, 1, 0}));
    kvc_flash_memory_free(memory);
}

/* Fills the log five times over. */
Test(flash_log, random_operations_agree_with_a_plain_map)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct map *map = create_map(&small);
        const struct kvc_flash_log_stats *stats = kvc_flash_log_stats(map->log);
        random_state = seed;
        kvc_flash_log_format(map->log);
        uint64_t erased = stats->blocks_erased;
        for (int n = 0; n < 3000; n++) {
            append(map, (uint32_t)(random_word() % KEYS), random_word() % 8 == 0);
            if (random_word() % 64 == 0) {
                cr_assert(flush(map));
            }
            if (n % 16 == 0) {
                check_all(map);
            }
        }
        cr_assert_gt(stats->pages_written, 5 * 8 * 16);
        cr_assert_gt(stats->keys_reclaimed, 0);
        cr_assert_eq(stats->keys_lost, 0);
        cr_assert_eq(stats->blocks_gone_bad, 0);
        /* The log goes round: no block is ahead of another by more than one turn. */
        uint64_t least = UINT64_MAX, most = 0;
        for (uint32_t block = 0; block < 8 * 4; block++) {
            uint64_t erases = kvc_flash_memory_erases(map->memory, block);
            least = erases < least ? erases : least;
            most = erases > most ? erases : most;
        }
        cr_assert_leq(most - least, 1);
        cr_assert_eq(stats->blocks_erased - erased, (stats->pages_written - 1) / 16 * 4,
                     "only when space is needed");
        cr_assert_eq(stats->pages_reclaimed, stats->rows_reclaimed * 16);
        free_map(map);
    }
}

/* A chunk's pages go to all chips in turn, neighbours to different buses. */
Test(flash_log, chunks_are_striped_over_buses_and_chips)
{
    struct map *map = create_map(&small);
    kvc_flash_log_format(map->log);
    for (uint32_t i = 0; i < 8; i++) {
        uint8_t value[450] = {0};
        cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 0, "k", 1, value, 450, NULL));
    }
    cr_assert_eq(kvc_flash_memory_stats(map->memory)->programs, 0);
    cr_assert_eq(kvc_flash_log_stats(map->log)->chunks_written, 0);
    append(map, 1, false); /* starts the second chunk */
    cr_assert_eq(kvc_flash_memory_stats(map->memory)->programs, 8);
    uint64_t bytes;
    const uint8_t *flash = kvc_flash_memory_bytes(map->memory, &bytes);
    cr_assert_eq(bytes, 10 * 4 * 4 * 512);
    for (uint32_t i = 0; i < 8; i++) {
        struct kvc_flash_page_header header;
        uint32_t block = i % 4, page = i / 4;
        cr_assert(kvc_flash_page_open(flash + (block * 4 + page) * 512, 512, KVC_FLASH_PAGE_LOG, &header));
        cr_assert_eq(header.sequence, 1 + i);
        cr_assert_eq(header.step, i != 0);
    }
    free_map(map);
}

/* What fits into a page is read with one access; more takes the least number of pages. */
Test(flash_log, values_take_the_fewest_page_reads)
{
    struct map *map = create_map(&small);
    kvc_flash_log_format(map->log);
    uint32_t payload = 512 - KVC_FLASH_PAGE_HEADER_BYTES;
    for (uint32_t bytes = 0; bytes <= VALUE_MAX; bytes += 1 + bytes / 50) {
        uint8_t value[VALUE_MAX], back[VALUE_MAX];
        uint32_t length;
        memset(value, (int)bytes, sizeof(value));
        append(map, 5, false); /* anything in front */
        map->pointer[1] = KVC_BLUECACHE_NOWHERE;
        cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 1, "key", 3, value, bytes,
                                       &map->pointer[1]));
        cr_assert(kvc_flash_log_in_buffer(map->log, map->pointer[1]));
        cr_assert(flush(map));
        cr_assert_not(kvc_flash_log_in_buffer(map->log, map->pointer[1]));
        cr_assert_neq(map->pointer[1] & KVC_BLUECACHE_FLASH, 0);
        uint64_t before = kvc_flash_log_stats(map->log)->pages_read;
        cr_assert(kvc_flash_log_get(map->log, map->pointer[1], "key", 3, back, sizeof(back), &length));
        cr_assert_eq(length, bytes);
        cr_assert_eq(memcmp(back, value, bytes), 0);
        cr_assert_eq(kvc_flash_log_stats(map->log)->pages_read - before,
                     (KVC_FLASH_RECORD_HEADER_BYTES + 3 + bytes + payload - 1) / payload);
        cr_assert_not(kvc_flash_log_get(map->log, map->pointer[1], "kez", 3, back, sizeof(back), &length));
        cr_assert_not(
            kvc_flash_log_get(map->log, map->pointer[1] + 8, "key", 3, back, sizeof(back), &length));
        cr_assert(kvc_flash_log_get(map->log, map->pointer[1], "key", 3, back, 1, &length),
                  "cut to the capacity");
        cr_assert_eq(length, bytes);
    }
    free_map(map);
}

static uint64_t take_pointer(void *context, const struct kvc_bluecache_move *moves, uint32_t count)
{
    uint64_t *pointer = context, changed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (pointer[moves[i].position] == moves[i].from) {
            pointer[moves[i].position] = moves[i].to;
            changed++;
        }
    }
    return changed;
}

/* The published sizes: pages of 8 KiB, chunks of 128, values up to 1 MiB, which is more than a chunk. */
Test(flash_log, zero_and_maximum_sizes_come_back)
{
    struct kvc_flash_geometry geometry = {4, 2, 5, 16, 8192}; /* a row is a chunk */
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
    uint64_t pointer[2];
    struct kvc_flash_log_params params = {.medium = kvc_flash_memory_medium(memory),
                                          .owner = {.context = pointer, .moved = take_pointer}};
    struct kvc_flash_log *log = kvc_flash_log_create(&params);
    cr_assert_not_null(log);
    cr_assert_eq(kvc_flash_log_capacity_bytes(log), UINT64_C(5) << 20);
    kvc_flash_log_format(log);
    uint8_t *value = malloc(KVC_BLUECACHE_VALUE_MAX), *back = malloc(KVC_BLUECACHE_VALUE_MAX);
    uint8_t key[255] = {9};
    for (uint32_t i = 0; i < KVC_BLUECACHE_VALUE_MAX; i++) {
        value[i] = (uint8_t)(i * 2654435761u >> 24);
    }
    for (int round = 0; round < 4; round++) {
        uint32_t length;
        cr_assert(kvc_flash_log_append(log, KVC_FLASH_RECORD_VALUE, 0, NULL, 0, NULL, 0, &pointer[0]));
        cr_assert(kvc_flash_log_append(log, KVC_FLASH_RECORD_VALUE, 1, key, 255, value,
                                       KVC_BLUECACHE_VALUE_MAX, &pointer[1]));
        cr_assert_not(kvc_flash_log_append(log, KVC_FLASH_RECORD_VALUE, 1, key, 255, value,
                                           KVC_BLUECACHE_VALUE_MAX + 1, NULL));
        for (int flushed = 0; flushed < 2; flushed++) {
            cr_assert(kvc_flash_log_get(log, pointer[0], NULL, 0, back, 10, &length));
            cr_assert_eq(length, 0);
            cr_assert(kvc_flash_log_get(log, pointer[1], key, 255, back, KVC_BLUECACHE_VALUE_MAX, &length));
            cr_assert_eq(length, KVC_BLUECACHE_VALUE_MAX);
            cr_assert_arr_eq(back, value, KVC_BLUECACHE_VALUE_MAX);
            cr_assert(kvc_flash_log_flush(log));
        }
        cr_assert_eq(kvc_flash_log_stats(log)->pages_written, (round + 1) * 130u);
    }
    cr_assert_eq(kvc_flash_memory_stats(memory)->violations, 0);
    free(value);
    free(back);
    kvc_flash_log_free(log);
    kvc_flash_memory_free(memory);
}

/* Blocks wear out one after another: pages move on, pointers stay right, and when none is left that is said.
 */
Test(flash_log, bad_blocks_are_skipped)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct map *map = create_map(&small);
        const struct kvc_flash_log_stats *stats = kvc_flash_log_stats(map->log);
        random_state = seed;
        kvc_flash_memory_wear_out(map->memory, 5); /* from the factory */
        kvc_flash_log_format(map->log);
        cr_assert_eq(stats->blocks_gone_bad, 1);
        for (int n = 0; n < 3000; n++) {
            append(map, (uint32_t)(random_word() % KEYS), random_word() % 8 == 0);
            if (n % 100 == 0) {
                kvc_flash_memory_wear_out(map->memory, (uint32_t)(random_word() % 32));
            }
            if (n % 8 == 0) {
                check_all(map);
            }
        }
        cr_assert_gt(stats->blocks_gone_bad, 5);
        cr_assert_eq(stats->keys_lost, 0);
        /* The list of bad blocks outlives a restart with the checkpoint. */
        cr_assert(kvc_flash_log_checkpoint(map->log));
        uint64_t known = stats->blocks_gone_bad;
        uint64_t pointer[KEYS];
        memcpy(pointer, map->pointer, sizeof(pointer));
        uint64_t failures = kvc_flash_memory_stats(map->memory)->failures;
        kvc_flash_log_free(map->log);
        start_log(map);
        struct kvc_flash_recovery recovery;
        kvc_flash_log_recover(map->log, &recovery);
        cr_assert(recovery.checkpoint);
        cr_assert_arr_eq(map->pointer, pointer, sizeof(pointer), "nothing is lost in a restart");
        check_all(map);
        for (int n = 0; n < 1000; n++) {
            append(map, (uint32_t)(random_word() % KEYS), false);
        }
        check_all(map);
        /* Only what wore out and had not been noticed yet fails. */
        cr_assert_leq(kvc_flash_memory_stats(map->memory)->failures - failures, 32 - known);
        for (uint32_t block = 0; block < 40; block++) {
            kvc_flash_memory_wear_out(map->memory, block);
        }
        append(map, 1, false);
        errno = 0;
        cr_assert_not(flush(map));
        cr_assert_eq(errno, ENOSPC);
        cr_assert_gt(kvc_flash_log_stats(map->log)->keys_lost, 0);
        cr_assert_eq(map->pointer[1], KVC_BLUECACHE_NOWHERE);
        cr_assert_not(kvc_flash_log_checkpoint(map->log));
        append(map, 2, false);
        check_all(map);
        free_map(map);
    }
}

/* Works out what was on flash when the power went, from how many pages were programmed since the buffer's
 * first. */
static void settle(struct map *map, uint64_t programs)
{
    for (uint32_t u = 0; u < map->unwritten_count; u++) {
        const struct unwritten *unwritten = &map->unwritten[u];
        uint64_t offset = unwritten->pointer - (1 << 20);
        uint64_t payload = 512 - KVC_FLASH_PAGE_HEADER_BYTES;
        uint64_t in_page = offset % 512 - KVC_FLASH_PAGE_HEADER_BYTES;
        uint64_t last = offset / 512 + (in_page + unwritten->bytes - 1) / payload;
        uint32_t version = unwritten->deleted ? NEVER : unwritten->version;
        if (last < programs) {
            map->durable_version[unwritten->key] = version;
            map->durable_pointer[unwritten->key] =
                unwritten->deleted ? KVC_BLUECACHE_NOWHERE : unwritten->pointer;
        } else if (last == programs) { /* in the torn page, the last bytes of which it may not have needed */
            map->maybe_version[unwritten->key] = version;
            map->maybe_gone[unwritten->key] = unwritten->deleted;
        }
    }
}

static void check_recovered(struct map *map, uint64_t cut)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        uint32_t version = read_version(map, key);
        bool durable = version != NEVER && version == map->durable_version[key];
        bool maybe = version != NEVER && version == map->maybe_version[key];
        bool gone =
            version == NEVER && (map->durable_pointer[key] == KVC_BLUECACHE_NOWHERE || map->maybe_gone[key]);
        cr_assert(durable || maybe || gone, "cut %lu: key %u has version %u; %u was durable%s", cut, key,
                  version, map->durable_version[key],
                  map->durable_pointer[key] == KVC_BLUECACHE_NOWHERE ? ", then reclaimed" : "");
    }
}

/* Operations until the power goes. Returns false if it did not. */
static bool run_until_cut(struct map *map, uint32_t operations, bool checkpoints, uint64_t *programs)
{
    const struct kvc_flash_memory_stats *medium = kvc_flash_memory_stats(map->memory);
    for (uint32_t n = 0; n < operations; n++) {
        uint64_t before = medium->programs;
        if (checkpoints && n % 40 == 39) {
            checkpoint(map);
        } else {
            append(map, (uint32_t)(random_word() % KEYS), random_word() % 8 == 0);
        }
        if (crashed(map)) {
            *programs = medium->programs - before;
            return true;
        }
    }
    return false;
}

static void restart(struct map *map)
{
    struct kvc_flash_recovery recovery;
    kvc_flash_log_free(map->log);
    kvc_flash_memory_power_on(map->memory);
    start_log(map);
    map->power_cut = false;
    kvc_flash_log_recover(map->log, &recovery);
}

/* Runs until the power goes at the `at`-th program or erase; false: it did not. Then everything durable must
 * come back, and is the truth from there on. */
static bool cut_and_recover(struct map *map, uint64_t at, uint32_t operations, bool checkpoints)
{
    uint64_t programs = 0;
    map->power_cut = true;
    map->failures_before = kvc_flash_memory_stats(map->memory)->failures;
    kvc_flash_memory_cut_power(map->memory, at, (uint32_t)(at * 97 % 512));
    bool cut = run_until_cut(map, operations, checkpoints, &programs);
    settle(map, programs);
    restart(map);
    check_recovered(map, at);
    for (uint32_t key = 0; key < KEYS; key++) {
        map->version[key] = read_version(map, key);
        map->durable_version[key] = map->version[key];
        map->durable_pointer[key] = map->pointer[key];
        map->maybe_version[key] = NEVER;
        map->maybe_gone[key] = false;
    }
    return cut;
}

/* The power goes at every single program or erase of a run, then once more, and then the log goes on. */
static void cut_everywhere(bool checkpoints, uint32_t operations)
{
    bool cut = true;
    uint64_t at = 0;
    for (; cut; at++) {
        struct map *map = create_map(&small);
        uint64_t programs;
        random_state = 99;
        kvc_flash_log_format(map->log);
        cut = cut_and_recover(map, at, operations, checkpoints);
        cut_and_recover(map, at % 41, 100, checkpoints);
        run_until_cut(map, 60, checkpoints, &programs);
        check_all(map);
        free_map(map);
    }
    cr_assert_gt(at, 200);
}

Test(flash_log, power_cut_at_every_page_replaying_from_scratch)
{
    cut_everywhere(false, 700);
}

Test(flash_log, power_cut_at_every_page_with_checkpoints)
{
    cut_everywhere(true, 500);
}

/* A checkpoint spares the replay of what was before it. */
Test(flash_log, checkpoint_shortens_the_replay)
{
    struct map *map = create_map(&small);
    struct kvc_flash_recovery recovery;
    kvc_flash_log_format(map->log);
    for (uint32_t key = 0; key < KEYS; key++) {
        append(map, key, false);
    }
    cr_assert(checkpoint(map));
    append(map, 7, false);
    cr_assert(flush(map));
    uint32_t seventh = map->last_version;
    restart(map);
    check_recovered(map, 0);
    kvc_flash_log_recover(map->log, &recovery);
    cr_assert(recovery.checkpoint);
    cr_assert_eq(recovery.records_replayed, 1);
    cr_assert_eq(read_version(map, 7), seventh);
    cr_assert_eq(read_version(map, 8), 9);
    /* Any damage to it, and everything is replayed. */
    uint64_t bytes;
    uint8_t *flash = kvc_flash_memory_bytes(map->memory, &bytes);
    flash[8 * 16 * 512 + 4 * 512 + 20]++; /* its second page is the first on chip 1 */
    restart(map);
    kvc_flash_log_recover(map->log, &recovery);
    cr_assert_not(recovery.checkpoint);
    cr_assert_eq(recovery.records_replayed, KEYS + 1);
    cr_assert_eq(read_version(map, 7), seventh);
    cr_assert_eq(read_version(map, 8), 9);
    free_map(map);
}

/* After a restart the older checkpoint makes place, so that a power cut leaves the newer one. */
Test(flash_log, power_cut_in_a_checkpoint_leaves_the_other)
{
    struct map *map = create_map(&small);
    struct kvc_flash_recovery recovery;
    kvc_flash_log_format(map->log);
    append(map, 1, false);
    cr_assert(checkpoint(map));
    for (uint64_t at = 0; at < 8; at++) { /* four erases, four pages */
        restart(map);
        kvc_flash_memory_cut_power(map->memory, at, 300);
        cr_assert_not(checkpoint(map));
        restart(map);
        kvc_flash_log_recover(map->log, &recovery);
        cr_assert(recovery.checkpoint, "cut %lu", at);
        cr_assert_eq(recovery.records_replayed, 0);
        cr_assert_eq(read_version(map, 1), 1);
    }
    free_map(map);
}

/* With a page that cannot be read, its keys and those of older pages are gone, and the others are as they
 * were: an older value must not come back for the one that is lost. */
Test(flash_log, a_rotten_page_brings_no_old_value_back)
{
    struct map *map = create_map(&small);
    uint64_t bytes, newest, partly = 0;
    uint8_t *flash = kvc_flash_memory_bytes(map->memory, &bytes);
    kvc_flash_log_format(map->log);
    for (int n = 0; n < 1200; n++) {
        append(map, (uint32_t)(random_word() % KEYS), random_word() % 8 == 0);
    }
    cr_assert(flush(map));
    newest = kvc_flash_log_stats(map->log)->pages_written; /* sequences count from 1 */
    uint32_t version[KEYS];
    memcpy(version, map->version, sizeof(version));
    uint64_t pointer[KEYS];
    memcpy(pointer, map->pointer, sizeof(pointer));
    for (uint32_t i = 0; i < 8 * 16; i++) { /* page i of the rows is page i / 4 % 4 of block i % 4 */
        uint8_t *page = flash + ((i / 16 * 4 + i % 4) * 4 + i / 4 % 4) * 512;
        struct kvc_flash_page_header rotten, header;
        if (!kvc_flash_page_open(page, 512, KVC_FLASH_PAGE_LOG, &rotten) || rotten.sequence == newest) {
            continue; /* the newest page, whose end a power cut might have torn as well */
        }
        page[0] ^= 1;
        restart(map);
        for (uint32_t key = 0; key < KEYS; key++) {
            if (map->pointer[key] != KVC_BLUECACHE_NOWHERE) {
                cr_assert_eq(map->pointer[key], pointer[key], "page %u, key %u", i, key);
                cr_assert_eq(read_version(map, key), version[key]);
                partly++;
            } else if (pointer[key] != KVC_BLUECACHE_NOWHERE) {
                uint64_t lost = (pointer[key] & (KVC_BLUECACHE_FLASH - 1)) / 512;
                const uint8_t *there = flash + ((lost / 16 * 4 + lost % 4) * 4 + lost / 4 % 4) * 512;
                cr_assert(lost == i || (kvc_flash_page_open(there, 512, KVC_FLASH_PAGE_LOG, &header) &&
                                        header.sequence < rotten.sequence));
            }
        }
        page[0] ^= 1;
    }
    cr_assert_gt(partly, 1000);
    free_map(map);
}

/* So few good blocks that a chunk goes round and over its own start: that part is given up, and it is said.
 */
Test(flash_log, a_chunk_that_overwrites_itself_is_reported)
{
    struct map *map = create_map(&small);
    kvc_flash_log_format(map->log);
    for (uint32_t block = 0; block < 31; block++) {
        kvc_flash_memory_wear_out(map->memory, block);
    }
    for (uint32_t key = 0; key < 6; key++) { /* a page each; the good block has four */
        uint8_t value[440] = {0};
        cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, key, "k", 1, value, 440,
                                       &map->pointer[key]));
    }
    errno = 0;
    cr_assert_not(kvc_flash_log_flush(map->log));
    cr_assert_eq(errno, ENOSPC);
    cr_assert_eq(kvc_flash_log_stats(map->log)->keys_lost, 4);
    for (uint32_t key = 0; key < 6; key++) {
        uint8_t value[440];
        uint32_t length;
        cr_assert_eq(map->pointer[key] == KVC_BLUECACHE_NOWHERE, key < 4);
        cr_assert(key < 4 || kvc_flash_log_get(map->log, map->pointer[key], "k", 1, value, 440, &length));
    }
    free_map(map);
}

/* A record of three pages, of which the power left one: it does not go on in what is written next. */
Test(flash_log, a_torn_record_does_not_go_on_elsewhere)
{
    struct map *map = create_map(&small);
    uint8_t value[1200] = {1};
    uint32_t length;
    uint64_t pointer = KVC_BLUECACHE_FLASH | KVC_FLASH_PAGE_HEADER_BYTES; /* the log's first record */
    for (int whole = 0; whole < 2; whole++) {
        kvc_flash_log_format(map->log);
        cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 0, "k", 1, value, 1200, NULL));
        kvc_flash_memory_cut_power(map->memory, whole ? 3 : 1, 0);
        cr_assert_eq(kvc_flash_log_flush(map->log), whole);
        kvc_flash_log_free(map->log);
        kvc_flash_memory_power_on(map->memory);
        struct kvc_flash_log_params params = params_for(map);
        params.owner.replayed = NULL;
        struct kvc_flash_recovery recovery;
        map->log = kvc_flash_log_create(&params);
        kvc_flash_log_recover(map->log, &recovery);
        cr_assert_eq(recovery.records_cut, !whole);
        cr_assert_eq(recovery.records_replayed, whole);
        for (uint32_t i = 0; i < 4; i++) {
            cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 0, "l", 1, value, 455,
                                           NULL)); /* a full page */
        }
        cr_assert(kvc_flash_log_flush(map->log));
        cr_assert_eq(kvc_flash_log_get(map->log, pointer, "k", 1, value, 1200, &length), whole);
        kvc_flash_log_free(map->log);
        start_log(map);
    }
    free_map(map);
}

/* A page whose programming failed may be readable all the same, and is on flash twice then. The second one is
 * what the index knows. */
Test(flash_log, pages_written_twice_count_once)
{
    for (uint32_t at = 1; at < 32; at += 2) { /* in blocks of odd number the medium leaves such pages */
        for (int with_checkpoint = 0; with_checkpoint < 2; with_checkpoint++) {
            struct map *map = create_map(&small);
            struct kvc_flash_recovery recovery;
            uint64_t pointer[KEYS];
            kvc_flash_log_format(map->log);
            for (uint32_t i = 0; i < 40; i++) {
                if (i == at) {
                    kvc_flash_memory_wear_out(map->memory, at / 16 * 4 + at % 4);
                }
                uint32_t key = i; /* with a value of one page, so that this is page i */
                while (value_bytes_of(key, map->last_version + 1) > 300) {
                    key = (key + 1) % KEYS;
                }
                append(map, key, false);
                cr_assert(flush(map));
                if (i == at && i % 3 == 0) {
                    break; /* it is the newest */
                }
            }
            if (with_checkpoint) {
                cr_assert(checkpoint(map));
            }
            memcpy(pointer, map->pointer, sizeof(pointer));
            restart(map);
            cr_assert_arr_eq(map->pointer, pointer, sizeof(pointer), "page %u", at);
            check_all(map);
            kvc_flash_log_recover(map->log, &recovery);
            cr_assert_eq(recovery.pages_dropped, 1);
            free_map(map);
        }
    }
}

/* A block that went bad keeps old pages that nobody can erase: they never come back. */
Test(flash_log, pages_of_bad_blocks_do_not_come_back)
{
    struct map *map = create_map(&small);
    struct kvc_flash_recovery recovery;
    kvc_flash_log_format(map->log);
    append(map, 3, false); /* its first page is block 0's */
    cr_assert(flush(map));
    append(map, 3, false);
    cr_assert(flush(map));
    kvc_flash_memory_wear_out(map->memory, 0);
    /* Others fill the log until both versions are reclaimed, the second with its block. */
    while (map->pointer[3] != KVC_BLUECACHE_NOWHERE || kvc_flash_log_stats(map->log)->rows_reclaimed < 2) {
        append(map, 4 + (uint32_t)(random_word() % 8), false);
    }
    flush(map);
    restart(map);
    kvc_flash_log_recover(map->log, &recovery);
    cr_assert_gt(recovery.pages_dropped, 0);
    cr_assert_eq(read_version(map, 3), NEVER);
    free_map(map);
}

/* An owner that believes anything. */
struct believer {
    struct kvc_flash_log *log;
    struct {
        uint64_t pointer;
        uint32_t key_bytes, value_bytes;
        uint8_t key[255];
    } record[8192];
    uint32_t records, kept;
};

static void believe(void *context, const struct kvc_flash_record *record, uint64_t pointer)
{
    struct believer *believer = context;
    cr_assert_lt(believer->records, 8192, "more records than fit on the medium");
    uint32_t at = believer->records++;
    believer->record[at].pointer = pointer;
    believer->record[at].key_bytes = record->kind == KVC_FLASH_RECORD_VALUE ? record->key_bytes : UINT32_MAX;
    believer->record[at].value_bytes = record->value_bytes;
    memcpy(believer->record[at].key, record->key, record->key_bytes);
}

static uint64_t ignore_moves(void *context, const struct kvc_bluecache_move *moves, uint32_t count)
{
    (void)context;
    (void)moves;
    return count;
}

static void save_nothing(void *context, uint64_t offset, void *out, uint64_t count)
{
    (void)context;
    memset(out, (int)offset, count);
}

static void load_anything(void *context, uint64_t offset, const void *saved, uint64_t count)
{
    struct believer *believer = context;
    cr_assert_leq(offset + count, KEYS * 8);
    for (uint64_t i = 0; i + 8 <= count; i += 8) {
        uint64_t pointer;
        memcpy(&pointer, (const uint8_t *)saved + i, 8);
        believer->kept += kvc_flash_log_kept(believer->log, pointer);
    }
}

static void rot(uint8_t *flash, uint64_t pages)
{
    for (uint64_t hits = random_word() % 64; hits > 0; hits--) {
        uint8_t *page = flash + random_word() % pages * 512;
        uint32_t at = (uint32_t)(random_word() % (random_word() % 2 == 0 ? 64 : 512));
        page[at] = (uint8_t)(random_word() % 2 == 0 ? page[at] ^ 1u << random_word() % 8 : random_word());
        kvc_flash_page_seal(page, 512);
        if (random_word() % 8 == 0) {
            memmove(page, flash + random_word() % pages * 512, 512);
        }
    }
}

/* Rotten bytes anywhere, their checksums made right again: recovery ends, gives no record that cannot be read
 * back, and the log can be used. */
Test(flash_log, recovers_from_any_contents)
{
    struct map *map = create_map(&small);
    struct believer *believer = calloc(1, sizeof(*believer));
    uint64_t bytes;
    uint8_t *flash = kvc_flash_memory_bytes(map->memory, &bytes);
    uint8_t *image = malloc(bytes);
    kvc_flash_log_format(map->log);
    for (int n = 0; n < 700; n++) {
        append(map, (uint32_t)(random_word() % KEYS), false);
        if (n % 100 == 50) {
            cr_assert(checkpoint(map));
        }
    }
    memcpy(image, flash, bytes);
    uint64_t with_checkpoint = 0, kept = 0, dropped = 0, cut = 0;
    for (int round = 0; round < 1500; round++) {
        struct kvc_flash_recovery recovery;
        memcpy(flash, image, bytes);
        rot(flash, bytes / 512);
        kvc_flash_memory_scar(map->memory);
        struct kvc_flash_log_params params = params_for(map);
        params.owner =
            (struct kvc_flash_owner){believer, ignore_moves, believe, KEYS * 8, save_nothing, load_anything};
        believer->records = believer->kept = 0;
        believer->log = kvc_flash_log_create(&params);
        kvc_flash_log_recover(believer->log, &recovery);
        cr_assert_leq(recovery.pages + recovery.pages_dropped, bytes / 512);
        with_checkpoint += recovery.checkpoint;
        dropped += recovery.pages_dropped;
        cut += recovery.records_cut;
        kept += believer->kept;
        uint8_t value[VALUE_MAX];
        uint32_t length;
        for (uint32_t r = 0; r < believer->records; r++) {
            bool found =
                kvc_flash_log_get(believer->log, believer->record[r].pointer, believer->record[r].key,
                                  believer->record[r].key_bytes, value, sizeof(value), &length);
            if (believer->record[r].key_bytes == UINT32_MAX) {
                cr_assert_not(found, "a tombstone is no value");
            } else if (found) {
                cr_assert_eq(length, believer->record[r].value_bytes);
            }
        }
        uint64_t pointer = 0;
        for (int n = 0; n < 40; n++) {
            memset(value, n, sizeof(value));
            cr_assert(kvc_flash_log_append(believer->log, KVC_FLASH_RECORD_VALUE, 1, "key", 3, value, 300,
                                           &pointer));
        }
        cr_assert(kvc_flash_log_get(believer->log, pointer, "key", 3, value, sizeof(value), &length));
        cr_assert_eq(value[299], 39);
        cr_assert(kvc_flash_log_checkpoint(believer->log) ||
                  kvc_flash_log_stats(believer->log)->blocks_gone_bad > 0 || recovery.checkpoint);
        kvc_flash_log_free(believer->log);
    }
    cr_assert_gt(with_checkpoint, 0);
    cr_assert_gt(kept, 0);
    cr_assert_gt(dropped, 0);
    cr_assert_gt(cut, 0);
    free(image);
    free(believer);
    free_map(map);
}
