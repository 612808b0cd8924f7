#include <criterion/criterion.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/devices/flash/flash_engine.h"
#include "sim/devices/flash/flash_translation.h"
#include "sim/devices/flash/flash_fixture.h"

/* A drive of 8 chips. A sector crosses a channel in 4.096 us and the interface in 1.024 us, a page of four in
 * four times as much. Its controller takes 1 us, and the driver 10 us. */
static const struct kvc_flash card = {.cards = 1,
                                      .channels = 4,
                                      .chips = 2,
                                      .blocks = 64,
                                      .pages_per_block = 64,
                                      .page_bytes = 16384,
                                      .sector_bytes = 4096,
                                      .read_ns = 50e3,
                                      .program_ns = 300e3,
                                      .erase_ns = 2e6,
                                      .channel_bytes_per_s = 1e9,
                                      .operation_ns = 1000,
                                      .interface_bytes_per_s = 4e9,
                                      .access_ns = 10e3,
                                      .tags = 128,
                                      .over_provisioning = 0.3};

enum { PAGES = 8 * 48 * 40 }; /* Pages that the host uses: 40 and more in each of 62 blocks. */

static struct kvc_events events;
static struct kvc_flash_engine engine;
static struct kvc_flash flash;
static struct kvc_rng rng;

static void set_up(void)
{
    flash = card;
    kvc_rng_init(&rng, 1, "flash_translated_test", 0);
}

TestSuite(flash_translated, .init = set_up);

static void open(void)
{
    events = (struct kvc_events){0};
    kvc_flash_engine_open(&engine, &flash, &events, 0);
    kvc_flash_engine_translate(&engine, PAGES);
}

/* Handles all events. Returns when the last operation of the host was done, and counts them. */
static double finish(uint32_t *done)
{
    double done_ns = 0;
    uint32_t tag;
    *done = 0;
    while (events.count > 0) {
        struct kvc_event event = kvc_events_pop(&events);
        if (kvc_flash_engine_handle(&engine, &event, &tag)) {
            done_ns = event.time_ns;
            ++*done;
        }
    }
    return done_ns;
}

static void close_engine(void)
{
    kvc_flash_engine_close(&engine);
    kvc_events_free(&events);
}

Test(flash_translated, a_write_is_done_when_the_buffer_has_it)
{
    uint32_t done;
    open();
    kvc_flash_write_sector(&engine, 0, 5, 1);
    double one_ns = finish(&done);
    cr_expect_float_eq(one_ns, 1000 + 1024 + 10e3, 1e-6, "no chip works: %g", one_ns);
    cr_expect_eq(kvc_flash_engine_busy(&engine).chips_ns, 0);
    kvc_flash_read_sector(&engine, one_ns, 5, 2);
    double read_ns = finish(&done) - one_ns;
    cr_expect_float_eq(read_ns, 1000 + 1024 + 10e3, 1e-6, "it is still in the buffer: %g", read_ns);
    kvc_flash_read_sector(&engine, 1e9, 6, 3);
    read_ns = finish(&done) - 1e9;
    cr_expect_float_eq(read_ns, 1000 + 50e3 + 4096 + 1024 + 10e3, 1e-3, "another is not: %g", read_ns);
    close_engine();
}

/* Eight chips take two pages each before the buffer is full; the rest waits for a program. */
Test(flash_translated, a_burst_waits_when_the_buffer_is_full)
{
    uint32_t done;
    for (uint32_t pages = 16; pages <= 17; pages++) {
        open();
        for (uint32_t i = 0; i < pages; i++) {
            kvc_flash_program(&engine, 0, i, i);
        }
        double took_ns = finish(&done), moved_ns = pages * 4096.0;
        cr_expect_eq(done, pages);
        if (pages == 16) {
            cr_expect_lt(took_ns, 1000 + moved_ns + 10e3 + 1, "%g", took_ns);
        } else {
            cr_expect_gt(took_ns, 300e3, "%g", took_ns);
        }
        close_engine();
    }
    flash.buffer_bytes = 4 * 16384;
    open();
    for (uint32_t i = 0; i < 5; i++) {
        kvc_flash_program(&engine, 0, i, i);
    }
    cr_expect_gt(finish(&done), 300e3, "a smaller buffer is full sooner");
    close_engine();
}

/* Sectors written in order lie together; sectors written at random lie on several chips. */
Test(flash_translated, pages_are_read_from_where_their_sectors_are)
{
    uint32_t done;
    open();
    kvc_flash_read(&engine, 0, 100, flash.page_bytes, 1);
    double together_ns = finish(&done);
    cr_expect_float_eq(together_ns, 1000 + 50e3 + 4 * 4096 + 4 * 1024 + 10e3, 1e-3, "%g", together_ns);
    double alone_ns = kvc_flash_engine_busy(&engine).chips_ns;
    struct kvc_flash_translation *map = kvc_flash_engine_translation(&engine, 0);
    kvc_flash_translation_scatter(map, 4 * (uint64_t)map->size.sectors, &rng);
    kvc_flash_read(&engine, 1e9, 100, flash.page_bytes, 1);
    finish(&done);
    double apart_ns = kvc_flash_engine_busy(&engine).chips_ns - alone_ns;
    cr_expect_gt(apart_ns, 3 * alone_ns, "four chips sense: %g", apart_ns);
    close_engine();
}

/* Keeps `depth` operations on random sectors outstanding, of which a share reads. Returns operations a
 * second. */
static double rate(uint32_t depth, double reads, uint32_t count)
{
    uint32_t done = 0, asked = 0, tag, sectors = kvc_flash_engine_translation(&engine, 0)->size.sectors;
    double now_ns = 0;
    while (done < count) {
        for (; asked < done + depth; asked++) {
            bool reads_one = kvc_rng_unit(&rng) < reads;
            uint64_t sector = kvc_rng_below(&rng, sectors);
            if (reads_one) {
                kvc_flash_read_sector(&engine, now_ns, sector, asked);
            } else {
                kvc_flash_write_sector(&engine, now_ns, sector, asked);
            }
        }
        struct kvc_event event = kvc_events_pop(&events);
        cr_assert_geq(event.time_ns, now_ns);
        now_ns = event.time_ns;
        done += kvc_flash_engine_handle(&engine, &event, &tag);
    }
    double busy_ns = kvc_flash_engine_busy(&engine).chips_ns;
    cr_expect_leq(busy_ns, now_ns * 1.001);
    return count / now_ns * 1e9;
}

/* In the long run, chips only write, for the host and for garbage collection. */
Test(flash_translated, random_writes_keep_the_chips_busy)
{
    open();
    struct kvc_flash_translation *map = kvc_flash_engine_translation(&engine, 0);
    kvc_flash_translation_scatter(map, 8 * (uint64_t)map->size.sectors, &rng);
    uint64_t written = map->written, moved = map->moved, erased = map->erases;
    double per_s = rate(64, 0, 200000);
    double seconds = 200000 / per_s, programs = (double)(map->written - written + map->moved - moved) / 4;
    double amplified = 1 + (double)(map->moved - moved) / (double)(map->written - written);
    double expected = kvc_test_write_amplification(0.3);
    cr_expect_float_eq(amplified, expected, 0.04 * expected, "%g, expected %g", amplified, expected);
    double erase_s = (double)(map->erases - erased) * map->size.pages / flash.pages_per_block * 2e-3;
    double least_s = (programs * (300e-6 + 16.384e-6) + erase_s) / 8;
    cr_expect_gt(seconds, 0.98 * least_s);
    cr_expect_gt(kvc_flash_engine_busy(&engine).chips_ns / 1e9, 0.98 * seconds, "the chips rest");
    close_engine();
}

Test(flash_translated, fewer_writes_and_more_room_are_faster)
{
    double before = 0;
    for (double reads = 0; reads <= 1; reads += 0.25) {
        open();
        struct kvc_flash_translation *map = kvc_flash_engine_translation(&engine, 0);
        kvc_flash_translation_scatter(map, 4 * (uint64_t)map->size.sectors, &rng);
        double per_s = rate(32, reads, 60000);
        cr_expect_gt(per_s, before, "%g of reads: %g after %g", reads, per_s, before);
        before = per_s;
        close_engine();
    }
    double slow = 0;
    for (double more = 0.07; more < 0.5; more *= 2) {
        flash.over_provisioning = more;
        open();
        struct kvc_flash_translation *map = kvc_flash_engine_translation(&engine, 0);
        kvc_flash_translation_scatter(map, 6 * (uint64_t)map->size.sectors, &rng);
        double per_s = rate(32, 0, 60000);
        cr_expect_gt(per_s, 1.3 * slow, "%g more: %g after %g", more, per_s, slow);
        slow = per_s;
        close_engine();
    }
}

/* A block that the host erases holds nothing: its pages need no chip to be read, and none to be moved. */
Test(flash_translated, erased_blocks_are_forgotten)
{
    uint32_t done;
    open();
    kvc_flash_erase(&engine, 0, 3, 1);
    cr_expect_lt(finish(&done), 12e3, "nothing is erased now");
    const struct kvc_flash_translation *map = kvc_flash_engine_translation(&engine, 0);
    uint32_t forgotten = 0;
    for (uint32_t i = 0; i < map->size.sectors; i++) {
        bool block = i / 4 % 8 == 3 && i / 4 < 8 * 64;
        cr_assert_eq(map->place[i] == KVC_FLASH_UNWRITTEN, block, "sector %u", i);
        forgotten += block;
    }
    cr_expect_eq(forgotten, 64 * 4);
    cr_expect_eq(engine.erases, 1);
    close_engine();
}

Test(flash_translated, drives_side_by_side_share_the_pages)
{
    double one = 0;
    for (flash.cards = 1; flash.cards <= 2; flash.cards++) {
        open();
        uint32_t done;
        for (uint32_t i = 0; i < 400; i++) {
            kvc_flash_program(&engine, 0, i, i);
        }
        double took_ns = finish(&done);
        cr_expect_eq(done, 400);
        cr_expect_eq(engine.programs, 400);
        if (flash.cards == 2) {
            cr_expect_float_eq(took_ns, one / 2, 0.1 * one, "%g and %g", one, took_ns);
            cr_expect_eq(kvc_flash_engine_translation(&engine, 1)->written,
                         kvc_flash_engine_translation(&engine, 0)->written);
        }
        one = took_ns;
        close_engine();
    }
}

static void expect_refused(const char *message)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_flash_kind.check(&flash, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, message);
    flash = card;
}

Test(flash_translated, refuses_what_it_cannot_be)
{
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_flash_kind.check(&flash, &diag);
    cr_expect_eq(status, KVC_OK, "%s", diag.message);
    flash.blocks = 2;
    expect_refused("flash.blocks is 2, allowed with over_provisioning: at least 3, because each chip writes "
                   "one, keeps one free and collects another");
    flash.sector_bytes = 5000;
    expect_refused("flash.sector is 5000 bytes, allowed with over_provisioning: a whole part of the page, "
                   "16384 bytes");
    flash.buffer_bytes = 4096;
    expect_refused("flash.buffer is 4096 bytes, allowed: at least the page, 16384 bytes");
    flash.poll_ns = 100;
    expect_refused("flash.poll is 100 ns, allowed with over_provisioning: 0");
}
