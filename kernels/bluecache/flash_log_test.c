#include "kernels/bluecache/flash_log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_map_fixture.h"
#include "kernels/bluecache/flash_memory.h"
#include "kernels/random_fixture.h"

Test(flash_log, rejects_bad_params)
{
    struct flash_map *map = flash_map_create(&flash_small);
    for (int i = 0; i < 11; i++) {
        struct kvc_flash_log_params params = flash_map_params(map);
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
            medium.geometry.blocks_per_chip = 3; /* leaves one row for data */
            break;
        case 5:
            params.value_max_bytes = KVC_BLUECACHE_VALUE_MAX + 1;
            break;
        case 6:
            params.owner.moved = NULL;
            break;
        case 7:
            params.owner.image_bytes = 512 * 16; /* more than a checkpoint row */
            break;
        case 8:
            params.owner.load = NULL;
            break;
        case 9:
            params.buffer_pointer = (UINT64_C(1) << 40) - 512;
            break;
        case 10:
            params.chunk_pages = 65; /* two chunks exceed the flash */
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
    flash_map_free(map);
}

/* The medium is filled five times over. */
Test(flash_log, random_operations_agree_with_a_plain_map)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct flash_map *map = flash_map_create(&flash_small);
        const struct kvc_flash_log_stats *stats = kvc_flash_log_stats(map->log);
        random_state = seed;
        kvc_flash_log_format(map->log);
        uint64_t erased = stats->blocks_erased;
        for (int n = 0; n < 3000; n++) {
            flash_map_append(map, (uint32_t)(random_word() % FLASH_KEYS), random_word() % 8 == 0);
            if (random_word() % 64 == 0) {
                cr_assert(flash_map_flush(map));
            }
            if (n % 16 == 0) {
                flash_map_check_all(map);
            }
        }
        cr_assert_gt(stats->pages_written, 5 * 8 * 16);
        cr_assert_gt(stats->keys_reclaimed, 0);
        cr_assert_eq(stats->keys_lost, 0);
        cr_assert_eq(stats->blocks_gone_bad, 0);
        /* The log is a ring: no block is ahead of another by more than one erase. */
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
        flash_map_free(map);
    }
}

/* The pages of a chunk go to all chips in turn, and neighbouring pages to different buses. */
Test(flash_log, chunks_are_striped_over_buses_and_chips)
{
    struct flash_map *map = flash_map_create(&flash_small);
    kvc_flash_log_format(map->log);
    for (uint32_t i = 0; i < 8; i++) {
        uint8_t value[450] = {0};
        cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 0, "k", 1, value, 450, NULL));
    }
    cr_assert_eq(kvc_flash_memory_stats(map->memory)->programs, 0);
    cr_assert_eq(kvc_flash_log_stats(map->log)->chunks_written, 0);
    flash_map_append(map, 1, false); /* starts the second chunk, which writes the first */
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
    flash_map_free(map);
}

/* A record that fits into a page takes one read; a larger one takes the fewest pages possible. */
Test(flash_log, values_take_the_fewest_page_reads)
{
    struct flash_map *map = flash_map_create(&flash_small);
    kvc_flash_log_format(map->log);
    uint32_t payload = 512 - KVC_FLASH_PAGE_HEADER_BYTES;
    for (uint32_t bytes = 0; bytes <= FLASH_VALUE_MAX; bytes += 1 + bytes / 50) {
        uint8_t value[FLASH_VALUE_MAX], back[FLASH_VALUE_MAX];
        uint32_t length;
        memset(value, (int)bytes, sizeof(value));
        flash_map_append(map, 5, false); /* some record in front */
        map->pointer[1] = KVC_BLUECACHE_NOWHERE;
        cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 1, "key", 3, value, bytes,
                                       &map->pointer[1]));
        cr_assert(kvc_flash_log_in_buffer(map->log, map->pointer[1]));
        cr_assert(flash_map_flush(map));
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
    flash_map_free(map);
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

/* The published sizes: pages of 8 KiB, chunks of 128 pages, and values up to 1 MiB, which exceed a chunk. */
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

/* Blocks wear out one after another. Pages are written elsewhere, pointers stay valid, and running out of
 * good blocks is reported. */
Test(flash_log, bad_blocks_are_skipped)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct flash_map *map = flash_map_create(&flash_small);
        const struct kvc_flash_log_stats *stats = kvc_flash_log_stats(map->log);
        random_state = seed;
        kvc_flash_memory_wear_out(map->memory, 5); /* bad from the factory */
        kvc_flash_log_format(map->log);
        cr_assert_eq(stats->blocks_gone_bad, 1);
        for (int n = 0; n < 3000; n++) {
            flash_map_append(map, (uint32_t)(random_word() % FLASH_KEYS), random_word() % 8 == 0);
            if (n % 100 == 0) {
                kvc_flash_memory_wear_out(map->memory, (uint32_t)(random_word() % 32));
            }
            if (n % 8 == 0) {
                flash_map_check_all(map);
            }
        }
        cr_assert_gt(stats->blocks_gone_bad, 5);
        cr_assert_eq(stats->keys_lost, 0);
        /* A checkpoint preserves the list of bad blocks across a restart. */
        cr_assert(kvc_flash_log_checkpoint(map->log));
        uint64_t known = stats->blocks_gone_bad;
        uint64_t pointer[FLASH_KEYS];
        memcpy(pointer, map->pointer, sizeof(pointer));
        uint64_t failures = kvc_flash_memory_stats(map->memory)->failures;
        kvc_flash_log_free(map->log);
        flash_map_start(map);
        struct kvc_flash_recovery recovery;
        kvc_flash_log_recover(map->log, &recovery);
        cr_assert(recovery.checkpoint);
        cr_assert_arr_eq(map->pointer, pointer, sizeof(pointer), "nothing is lost in a restart");
        flash_map_check_all(map);
        for (int n = 0; n < 1000; n++) {
            flash_map_append(map, (uint32_t)(random_word() % FLASH_KEYS), false);
        }
        flash_map_check_all(map);
        /* Only blocks whose wear had not been noticed yet fail. */
        cr_assert_leq(kvc_flash_memory_stats(map->memory)->failures - failures, 32 - known);
        for (uint32_t block = 0; block < 40; block++) {
            kvc_flash_memory_wear_out(map->memory, block);
        }
        flash_map_append(map, 1, false);
        errno = 0;
        cr_assert_not(flash_map_flush(map));
        cr_assert_eq(errno, ENOSPC);
        cr_assert_gt(kvc_flash_log_stats(map->log)->keys_lost, 0);
        cr_assert_eq(map->pointer[1], KVC_BLUECACHE_NOWHERE);
        cr_assert_not(kvc_flash_log_checkpoint(map->log));
        flash_map_append(map, 2, false);
        flash_map_check_all(map);
        flash_map_free(map);
    }
}

/* With few good blocks left, a chunk wraps around and overwrites its own start. The overwritten part is given
 * up and reported. */
Test(flash_log, a_chunk_that_overwrites_itself_is_reported)
{
    struct flash_map *map = flash_map_create(&flash_small);
    kvc_flash_log_format(map->log);
    for (uint32_t block = 0; block < 31; block++) {
        kvc_flash_memory_wear_out(map->memory, block);
    }
    for (uint32_t key = 0; key < 6; key++) { /* each takes a page; the good block has four */
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
    flash_map_free(map);
}

/* A page whose programming failed may still be readable, so that it is on flash twice. The index knows the
 * second copy. */
Test(flash_log, pages_written_twice_count_once)
{
    for (uint32_t at = 1; at < 32; at += 2) { /* the medium leaves such pages in blocks with an odd number */
        for (int with_checkpoint = 0; with_checkpoint < 2; with_checkpoint++) {
            struct flash_map *map = flash_map_create(&flash_small);
            struct kvc_flash_recovery recovery;
            uint64_t pointer[FLASH_KEYS];
            kvc_flash_log_format(map->log);
            for (uint32_t i = 0; i < 40; i++) {
                if (i == at) {
                    kvc_flash_memory_wear_out(map->memory, at / 16 * 4 + at % 4);
                }
                uint32_t key = i; /* a key whose value takes one page, so that this is page i */
                while (flash_value_bytes(key, map->last_version + 1) > 300) {
                    key = (key + 1) % FLASH_KEYS;
                }
                flash_map_append(map, key, false);
                cr_assert(flash_map_flush(map));
                if (i == at && i % 3 == 0) {
                    break; /* the failed page is the newest */
                }
            }
            if (with_checkpoint) {
                cr_assert(flash_map_checkpoint(map));
            }
            memcpy(pointer, map->pointer, sizeof(pointer));
            flash_map_restart(map);
            cr_assert_arr_eq(map->pointer, pointer, sizeof(pointer), "page %u", at);
            flash_map_check_all(map);
            kvc_flash_log_recover(map->log, &recovery);
            cr_assert_eq(recovery.pages_dropped, 1);
            flash_map_free(map);
        }
    }
}

/* A bad block keeps old pages that cannot be erased. They never come back. */
Test(flash_log, pages_of_bad_blocks_do_not_come_back)
{
    struct flash_map *map = flash_map_create(&flash_small);
    struct kvc_flash_recovery recovery;
    kvc_flash_log_format(map->log);
    flash_map_append(map, 3, false); /* its page is in block 0 */
    cr_assert(flash_map_flush(map));
    flash_map_append(map, 3, false);
    cr_assert(flash_map_flush(map));
    kvc_flash_memory_wear_out(map->memory, 0);
    /* Other keys fill the log until both versions are reclaimed, the second with its block. */
    while (map->pointer[3] != KVC_BLUECACHE_NOWHERE || kvc_flash_log_stats(map->log)->rows_reclaimed < 2) {
        flash_map_append(map, 4 + (uint32_t)(random_word() % 8), false);
    }
    flash_map_flush(map);
    flash_map_restart(map);
    kvc_flash_log_recover(map->log, &recovery);
    cr_assert_gt(recovery.pages_dropped, 0);
    cr_assert_eq(flash_map_read_version(map, 3), FLASH_NEVER);
    flash_map_free(map);
}

/* The header of a record has 8 bytes, as in the authors' program, and holds the largest of each field. */
Test(flash_page, keeps_a_record_in_eight_bytes_and_its_pair)
{
    uint8_t page[512] = {0};
    uint64_t back = (UINT64_C(1) << 34) - 1; /* the last of 256 GiB of entries */
    struct kvc_flash_record record;
    cr_assert_eq(kvc_flash_record_bytes(32, 32), 72);
    cr_assert_not(kvc_flash_record_read(page, 512, 512, KVC_FLASH_PAGE_HEADER_BYTES, &record), "zeros");
    kvc_flash_record_write(page + KVC_FLASH_PAGE_HEADER_BYTES, KVC_FLASH_RECORD_VALUE, back,
                           KVC_BLUECACHE_KEY_MAX, KVC_BLUECACHE_VALUE_MAX);
    cr_assert(kvc_flash_record_read(page, 512, 512, KVC_FLASH_PAGE_HEADER_BYTES, &record));
    cr_assert_eq(record.kind, KVC_FLASH_RECORD_VALUE);
    cr_assert_eq(record.back, back);
    cr_assert_eq(record.key_bytes, KVC_BLUECACHE_KEY_MAX);
    cr_assert_eq(record.value_bytes, KVC_BLUECACHE_VALUE_MAX);
    cr_assert_eq(record.value_in_page, 512 - 40 - 8 - 255);
}

/* The medium that all other tests use enforces the rules of NAND. */
Test(flash_memory, refuses_what_flash_cannot_do)
{
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&flash_small);
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

enum {
    CHIPS = 4,
    ROWS = 7,
    BLOCK_PAGES = 3,
    PAGE_BYTES = 512,
    BLOCK_BYTES = BLOCK_PAGES * PAGE_BYTES,
    PARALLEL = 20,
    KEYS = 48,
    ROUNDS = 30000,
    CHANGES_MAX = 1000,
};

/* A change of the medium since the log was recovered, and the block before it. */
struct change {
    uint32_t block;
    bool erase;
    uint64_t program; /* Number of the program operation, or of the next one. */
    uint8_t before[BLOCK_BYTES];
};

/* A record that was written since then. */
struct written {
    uint32_t key, version, row;
    uint64_t behind; /* Number of the program after its last page. */
    bool erased;
};

/* The version of a key that must be on flash; if `erased`, there may also be none. */
struct expected {
    uint32_t version, row;
    bool erased;
};

static struct parallel {
    struct kvc_flash_medium medium; /* The medium that the log uses; must be the first member. */
    struct kvc_flash_memory *memory;
    struct kvc_flash_log *log;
    uint64_t pointer[KEYS]; /* The index. */
    struct expected expected[KEYS];
    struct change change[CHANGES_MAX];
    struct written written[CHANGES_MAX];
    uint32_t changes, records;
    uint64_t programs;
    uint32_t version;
} parallel;

static uint8_t *block_of(uint32_t block)
{
    uint64_t bytes;
    return kvc_flash_memory_bytes(parallel.memory, &bytes) + (size_t)block * BLOCK_BYTES;
}

static struct kvc_flash_medium *inner(void)
{
    return kvc_flash_memory_medium(parallel.memory);
}

static void note(uint32_t block, bool erase)
{
    cr_assert_lt(parallel.changes, (uint32_t)CHANGES_MAX);
    struct change *change = &parallel.change[parallel.changes++];
    *change = (struct change){.block = block, .erase = erase, .program = parallel.programs};
    memcpy(change->before, block_of(block), BLOCK_BYTES);
}

static bool read_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, void *data)
{
    (void)medium;
    return inner()->read_page(inner(), block, page, data);
}

static bool program_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, const void *data)
{
    (void)medium;
    struct kvc_flash_page_header header;
    struct kvc_flash_record record;
    note(block, false);
    memcpy(&header, data, sizeof(header));
    for (uint32_t at = header.first; kvc_flash_record_read(data, PAGE_BYTES, header.used, at, &record);
         at = record.next) {
        struct written *written = &parallel.written[parallel.records++];
        *written = (struct written){
            .key = record.key[0], .row = block / CHIPS, .behind = parallel.programs + record.pages};
        memcpy(&written->version, record.key + record.key_bytes, sizeof(written->version));
    }
    parallel.programs++;
    return inner()->program_page(inner(), block, page, data);
}

static bool erase_block(struct kvc_flash_medium *medium, uint32_t block)
{
    (void)medium;
    note(block, true);
    for (uint32_t key = 0; key < KEYS; key++) {
        parallel.expected[key].erased |= parallel.expected[key].row == block / CHIPS;
    }
    for (uint32_t i = 0; i < parallel.records; i++) {
        parallel.written[i].erased |= parallel.written[i].row == block / CHIPS;
    }
    return inner()->erase_block(inner(), block);
}

static uint64_t moved(void *context, const struct kvc_bluecache_move *moves, uint32_t count)
{
    (void)context;
    uint64_t changed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (parallel.pointer[moves[i].position] == moves[i].from) {
            parallel.pointer[moves[i].position] = moves[i].to;
            changed++;
        }
    }
    return changed;
}

static void replayed(void *context, const struct kvc_flash_record *record, uint64_t pointer)
{
    (void)context;
    parallel.pointer[record->back] = pointer;
}

static void start(void)
{
    const struct kvc_flash_log_params params = {.medium = &parallel.medium,
                                                .owner = {.moved = moved, .replayed = replayed},
                                                .chunk_pages = PARALLEL / 2,
                                                .value_max_bytes = 1200,
                                                .parallel_pages = PARALLEL,
                                                .buffer_pointer = 1 << 20};
    parallel.log = kvc_flash_log_create(&params);
    cr_assert_not_null(parallel.log);
    for (uint32_t key = 0; key < KEYS; key++) {
        parallel.pointer[key] = KVC_BLUECACHE_NOWHERE;
    }
}

static void write_some(void)
{
    uint8_t value[1200] = {0};
    for (uint64_t records = random_word() % 150; records > 0; records--) {
        uint32_t bytes = random_word() % 16 == 0 ? 1200 : 4 + (uint32_t)(random_word() % 150);
        uint8_t key = (uint8_t)(random_word() % KEYS);
        uint64_t pointer;
        parallel.version++;
        memcpy(value, &parallel.version, sizeof(parallel.version));
        cr_assert(
            kvc_flash_log_append(parallel.log, KVC_FLASH_RECORD_VALUE, key, &key, 1, value, bytes, &pointer));
        parallel.pointer[key] = pointer;
    }
    if (random_word() % 2 == 0) {
        cr_assert(kvc_flash_log_flush(parallel.log));
    }
}

/* Undoes the operations that the chips have not done at a cut: each has worked in the order of the log, and
 * up to PARALLEL pages are missing. Returns the number of pages that are on flash with all pages before them.
 */
static uint64_t cut(void)
{
    uint64_t window = random_word() % 3 == 0 ? 0 : PARALLEL;
    uint64_t settled = parallel.programs > window ? parallel.programs - window : 0, end[CHIPS];
    uint64_t durable = parallel.programs;
    for (uint32_t chip = 0; chip < CHIPS; chip++) {
        end[chip] = settled + random_word() % (parallel.programs - settled + 1);
    }
    for (uint32_t i = parallel.changes; i-- > 0;) {
        const struct change *change = &parallel.change[i];
        if (change->program >= end[change->block % CHIPS]) {
            memcpy(block_of(change->block), change->before, BLOCK_BYTES);
            durable = change->erase ? durable : change->program;
        }
    }
    kvc_flash_memory_scar(parallel.memory);
    return durable;
}

static void expect(uint64_t durable)
{
    for (uint32_t i = 0; i < parallel.records; i++) {
        const struct written *written = &parallel.written[i];
        if (written->behind <= durable) {
            parallel.expected[written->key] =
                (struct expected){written->version, written->row, written->erased};
        }
    }
    parallel.changes = parallel.records = 0;
    parallel.programs = 0;
}

/* Returns how many keys have their values. */
static uint32_t check(int round)
{
    uint32_t kept = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        const struct expected *expected = &parallel.expected[key];
        uint32_t version = 0, bytes;
        const uint8_t name = (uint8_t)key;
        if (parallel.pointer[key] != KVC_BLUECACHE_NOWHERE) {
            bool found = kvc_flash_log_get(parallel.log, parallel.pointer[key], &name, 1, &version,
                                           sizeof(version), &bytes);
            cr_assert(found, "cut %d: the index has key %u, the log has not", round, key);
        }
        cr_assert(version == expected->version || (version == 0 && expected->erased),
                  "cut %d: key %u has version %u; %u was durable%s", round, key, version, expected->version,
                  expected->erased ? ", then reclaimed" : "");
        kept += version != 0;
        if (version == 0) {
            parallel.expected[key] = (struct expected){0};
        }
    }
    return kept;
}

Test(flash_log, power_cuts_while_several_pages_are_programmed)
{
    const struct kvc_flash_geometry geometry = {2, CHIPS / 2, ROWS, BLOCK_PAGES, PAGE_BYTES};
    uint64_t kept = 0, dropped = 0;
    parallel.medium = (struct kvc_flash_medium){.geometry = geometry,
                                                .read_page = read_page,
                                                .program_page = program_page,
                                                .erase_block = erase_block};
    parallel.memory = kvc_flash_memory_create(&geometry);
    start();
    kvc_flash_log_format(parallel.log);
    for (int round = 0; round < ROUNDS; round++) {
        struct kvc_flash_recovery recovery;
        write_some();
        kvc_flash_log_free(parallel.log);
        expect(cut());
        start();
        kvc_flash_log_recover(parallel.log, &recovery);
        kept += check(round);
        dropped += recovery.pages_dropped;
    }
    cr_expect_gt(kept, (uint64_t)ROUNDS * KEYS / 10);
    cr_expect_gt(dropped, (uint64_t)ROUNDS);
    kvc_flash_log_free(parallel.log);
    kvc_flash_memory_free(parallel.memory);
}
