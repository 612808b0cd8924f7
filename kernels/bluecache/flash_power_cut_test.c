#include "kernels/bluecache/flash_log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_map_fixture.h"
#include "kernels/random_fixture.h"

/* Derives what was on flash at a power cut from the number of pages programmed since the start of the buffer.
 */
static void settle(struct flash_map *map, uint64_t programs)
{
    for (uint32_t u = 0; u < map->unwritten_count; u++) {
        const struct flash_unwritten *unwritten = &map->unwritten[u];
        uint64_t offset = unwritten->pointer - FLASH_BUFFER_POINTER;
        uint64_t payload = 512 - KVC_FLASH_PAGE_HEADER_BYTES;
        uint64_t in_page = offset % 512 - KVC_FLASH_PAGE_HEADER_BYTES;
        uint64_t last = offset / 512 + (in_page + unwritten->bytes - 1) / payload;
        uint32_t version = unwritten->deleted ? FLASH_NEVER : unwritten->version;
        if (last < programs) {
            map->durable_version[unwritten->key] = version;
            map->durable_pointer[unwritten->key] =
                unwritten->deleted ? KVC_BLUECACHE_NOWHERE : unwritten->pointer;
        } else if (last == programs) { /* it ends in the torn page, and may end before the tear */
            map->maybe_version[unwritten->key] = version;
            map->maybe_gone[unwritten->key] = unwritten->deleted;
        }
    }
}

/* Runs operations until the power cut. Returns false if it did not happen. */
static bool run_until_cut(struct flash_map *map, uint32_t operations, bool checkpoints, uint64_t *programs)
{
    const struct kvc_flash_memory_stats *medium = kvc_flash_memory_stats(map->memory);
    for (uint32_t n = 0; n < operations; n++) {
        uint64_t before = medium->programs;
        if (checkpoints && n % 40 == 39) {
            flash_map_checkpoint(map);
        } else {
            flash_map_append(map, (uint32_t)(random_word() % FLASH_KEYS), random_word() % 8 == 0);
        }
        if (flash_map_crashed(map)) {
            *programs = medium->programs - before;
            return true;
        }
    }
    return false;
}

/* Runs operations until the power cut at program or erase number `at`, and checks that everything durable
 * comes back. That is the truth from then on. Returns false if the power cut did not happen. */
static bool cut_and_recover(struct flash_map *map, uint64_t at, uint32_t operations, bool checkpoints)
{
    uint64_t programs = 0;
    map->power_cut = true;
    map->failures_before = kvc_flash_memory_stats(map->memory)->failures;
    kvc_flash_memory_cut_power(map->memory, at, (uint32_t)(at * 97 % 512));
    bool cut = run_until_cut(map, operations, checkpoints, &programs);
    settle(map, programs);
    flash_map_restart(map);
    flash_map_check_recovered(map, at);
    for (uint32_t key = 0; key < FLASH_KEYS; key++) {
        map->version[key] = flash_map_read_version(map, key);
        map->durable_version[key] = map->version[key];
        map->durable_pointer[key] = map->pointer[key];
        map->maybe_version[key] = FLASH_NEVER;
        map->maybe_gone[key] = false;
    }
    return cut;
}

/* Cuts the power at every single program or erase of a run, cuts it once more, and then continues the log. */
static void cut_everywhere(bool checkpoints, uint32_t operations)
{
    bool cut = true;
    uint64_t at = 0;
    for (; cut; at++) {
        struct flash_map *map = flash_map_create(&flash_small);
        uint64_t programs;
        random_state = 99;
        kvc_flash_log_format(map->log);
        cut = cut_and_recover(map, at, operations, checkpoints);
        cut_and_recover(map, at % 41, 100, checkpoints);
        run_until_cut(map, 60, checkpoints, &programs);
        flash_map_check_all(map);
        flash_map_free(map);
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

/* After a restart the older checkpoint is overwritten, so that a power cut leaves the newer one. */
Test(flash_log, power_cut_in_a_checkpoint_leaves_the_other)
{
    struct flash_map *map = flash_map_create(&flash_small);
    struct kvc_flash_recovery recovery;
    kvc_flash_log_format(map->log);
    flash_map_append(map, 1, false);
    cr_assert(flash_map_checkpoint(map));
    for (uint64_t at = 0; at < 8; at++) { /* four erases and four pages */
        flash_map_restart(map);
        kvc_flash_memory_cut_power(map->memory, at, 300);
        cr_assert_not(flash_map_checkpoint(map));
        flash_map_restart(map);
        kvc_flash_log_recover(map->log, &recovery);
        cr_assert(recovery.checkpoint, "cut %lu", at);
        cr_assert_eq(recovery.records_replayed, 0);
        cr_assert_eq(flash_map_read_version(map, 1), 1);
    }
    flash_map_free(map);
}

/* Of a record of three pages, only one survives a power cut. The next page written must not continue it. */
Test(flash_log, a_torn_record_does_not_go_on_elsewhere)
{
    struct flash_map *map = flash_map_create(&flash_small);
    uint8_t value[1200] = {1};
    uint32_t length;
    uint64_t pointer = KVC_BLUECACHE_FLASH | KVC_FLASH_PAGE_HEADER_BYTES; /* the first record of the log */
    for (int whole = 0; whole < 2; whole++) {
        kvc_flash_log_format(map->log);
        cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 0, "k", 1, value, 1200, NULL));
        kvc_flash_memory_cut_power(map->memory, whole ? 3 : 1, 0);
        cr_assert_eq(kvc_flash_log_flush(map->log), whole);
        kvc_flash_log_free(map->log);
        kvc_flash_memory_power_on(map->memory);
        struct kvc_flash_log_params params = flash_map_params(map);
        params.owner.replayed = NULL;
        struct kvc_flash_recovery recovery;
        map->log = kvc_flash_log_create(&params);
        kvc_flash_log_recover(map->log, &recovery);
        cr_assert_eq(recovery.records_cut, !whole);
        cr_assert_eq(recovery.records_replayed, (uint64_t)whole);
        for (uint32_t i = 0; i < 4; i++) {
            cr_assert(kvc_flash_log_append(map->log, KVC_FLASH_RECORD_VALUE, 0, "l", 1, value, 455,
                                           NULL)); /* fills a page */
        }
        cr_assert(kvc_flash_log_flush(map->log));
        cr_assert_eq(kvc_flash_log_get(map->log, pointer, "k", 1, value, 1200, &length), whole);
        kvc_flash_log_free(map->log);
        flash_map_start(map);
    }
    flash_map_free(map);
}
