#include "kernels/bluecache/flash_log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_map_fixture.h"
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
