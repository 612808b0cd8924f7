#include "kernels/bluecache/flash_log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_map_fixture.h"
#include "kernels/random_fixture.h"

/* Records covered by a checkpoint are not replayed. */
Test(flash_log, checkpoint_shortens_the_replay)
{
    struct flash_map *map = flash_map_create(&flash_small);
    struct kvc_flash_recovery recovery;
    kvc_flash_log_format(map->log);
    for (uint32_t key = 0; key < FLASH_KEYS; key++) {
        flash_map_append(map, key, false);
    }
    cr_assert(flash_map_checkpoint(map));
    flash_map_append(map, 7, false);
    cr_assert(flash_map_flush(map));
    uint32_t seventh = map->last_version;
    flash_map_restart(map);
    flash_map_check_recovered(map, 0);
    kvc_flash_log_recover(map->log, &recovery);
    cr_assert(recovery.checkpoint);
    cr_assert_eq(recovery.records_replayed, 1);
    cr_assert_eq(flash_map_read_version(map, 7), seventh);
    cr_assert_eq(flash_map_read_version(map, 8), 9);
    /* If the checkpoint is damaged, everything is replayed. */
    uint64_t bytes;
    uint8_t *flash = kvc_flash_memory_bytes(map->memory, &bytes);
    flash[8 * 16 * 512 + 4 * 512 + 20]++; /* its second page is the first page on chip 1 */
    flash_map_restart(map);
    kvc_flash_log_recover(map->log, &recovery);
    cr_assert_not(recovery.checkpoint);
    cr_assert_eq(recovery.records_replayed, FLASH_KEYS + 1);
    cr_assert_eq(flash_map_read_version(map, 7), seventh);
    cr_assert_eq(flash_map_read_version(map, 8), 9);
    flash_map_free(map);
}

/* A corrupted page loses its own keys and the keys of older pages. The other keys are unchanged: no lost key
 * gets an older value back. */
Test(flash_log, a_rotten_page_brings_no_old_value_back)
{
    struct flash_map *map = flash_map_create(&flash_small);
    uint64_t bytes, newest, partly = 0;
    uint8_t *flash = kvc_flash_memory_bytes(map->memory, &bytes);
    kvc_flash_log_format(map->log);
    for (int n = 0; n < 1200; n++) {
        flash_map_append(map, (uint32_t)(random_word() % FLASH_KEYS), random_word() % 8 == 0);
    }
    cr_assert(flash_map_flush(map));
    newest = kvc_flash_log_stats(map->log)->pages_written; /* sequence numbers count from 1 */
    uint32_t version[FLASH_KEYS];
    memcpy(version, map->version, sizeof(version));
    uint64_t pointer[FLASH_KEYS];
    memcpy(pointer, map->pointer, sizeof(pointer));
    for (uint32_t i = 0; i < 8 * 16; i++) { /* page i of a row is page i / 4 of block i % 4 */
        uint8_t *page = flash + ((i / 16 * 4 + i % 4) * 4 + i / 4 % 4) * 512;
        struct kvc_flash_page_header rotten, header;
        if (!kvc_flash_page_open(page, 512, KVC_FLASH_PAGE_LOG, &rotten) || rotten.sequence == newest) {
            continue; /* the newest page cannot be told from a torn one */
        }
        page[0] ^= 1;
        flash_map_restart(map);
        for (uint32_t key = 0; key < FLASH_KEYS; key++) {
            if (map->pointer[key] != KVC_BLUECACHE_NOWHERE) {
                cr_assert_eq(map->pointer[key], pointer[key], "page %u, key %u", i, key);
                cr_assert_eq(flash_map_read_version(map, key), version[key]);
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
    flash_map_free(map);
}

/* An owner that accepts every record it is told. */
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
    cr_assert_leq(offset + count, FLASH_KEYS * 8);
    for (uint64_t i = 0; i + 8 <= count; i += 8) {
        uint64_t pointer;
        memcpy(&pointer, (const uint8_t *)saved + i, 8);
        believer->kept += kvc_flash_log_kept(believer->log, pointer);
    }
}

/* Corrupts random bytes and pages, and makes the checksums valid again. */
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

/* Bytes are corrupted anywhere, with valid checksums. Recovery ends, every record it reports can be read
 * back, and the log can be used. */
Test(flash_log, recovers_from_any_contents)
{
    struct flash_map *map = flash_map_create(&flash_small);
    struct believer *believer = calloc(1, sizeof(*believer));
    uint64_t bytes;
    uint8_t *flash = kvc_flash_memory_bytes(map->memory, &bytes);
    uint8_t *image = malloc(bytes);
    kvc_flash_log_format(map->log);
    for (int n = 0; n < 700; n++) {
        flash_map_append(map, (uint32_t)(random_word() % FLASH_KEYS), false);
        if (n % 100 == 50) {
            cr_assert(flash_map_checkpoint(map));
        }
    }
    memcpy(image, flash, bytes);
    uint64_t with_checkpoint = 0, kept = 0, dropped = 0, cut = 0;
    for (int round = 0; round < 1500; round++) {
        struct kvc_flash_recovery recovery;
        memcpy(flash, image, bytes);
        rot(flash, bytes / 512);
        kvc_flash_memory_scar(map->memory);
        struct kvc_flash_log_params params = flash_map_params(map);
        params.owner = (struct kvc_flash_owner){believer,       ignore_moves, believe,
                                                FLASH_KEYS * 8, save_nothing, load_anything};
        believer->records = believer->kept = 0;
        believer->log = kvc_flash_log_create(&params);
        kvc_flash_log_recover(believer->log, &recovery);
        cr_assert_leq(recovery.pages + recovery.pages_dropped, bytes / 512);
        with_checkpoint += recovery.checkpoint;
        dropped += recovery.pages_dropped;
        cut += recovery.records_cut;
        kept += believer->kept;
        uint8_t value[FLASH_VALUE_MAX];
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
    flash_map_free(map);
}

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

/* Only one page of a record of three survives a power cut. The next page written must not continue it. */
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
