#include "kernels/bluecache/flash_log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_map_fixture.h"
#include "kernels/random_fixture.h"

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

/* So few good blocks are left that a chunk wraps around and overwrites its own start. The overwritten part is
 * given up and reported. */
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
