#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

#include "sim/devices/flash/flash_translation.h"
#include "sim/devices/flash/flash_fixture.h"

/* A drive of four chips of 64 blocks of 256 pages of four sectors, of which a share is hidden from the host.
 */
static const struct kvc_flash drive = {.cards = 1,
                                       .channels = 2,
                                       .chips = 2,
                                       .blocks = 64,
                                       .pages_per_block = 256,
                                       .page_bytes = 16384,
                                       .sector_bytes = 4096,
                                       .read_ns = 50e3,
                                       .program_ns = 300e3,
                                       .erase_ns = 2e6,
                                       .channel_bytes_per_s = 1e9,
                                       .tags = 128,
                                       .over_provisioning = 0.3};

static struct kvc_flash flash;
static struct kvc_flash_translation map;
static struct kvc_rng rng;

static void set_up(void)
{
    flash = drive;
    kvc_rng_init(&rng, 1, "flash_translation_test", 0);
}

TestSuite(flash_translation, .init = set_up);

/* Opens a layer whose host uses `pages` pages. */
static void open(uint64_t pages)
{
    struct kvc_flash_translation_size size;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_flash_translation_size_of(&flash, pages, &size, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    kvc_flash_translation_open(&map, &size);
}

/* Returns how many sectors are programmed for each one that the host writes at random, in the long run. */
static double amplification(uint64_t pages)
{
    open(pages);
    kvc_flash_translation_fill(&map);
    kvc_flash_translation_scatter(&map, 8 * (uint64_t)map.size.sectors, &rng);
    uint64_t written = map.written, moved = map.moved;
    kvc_flash_translation_scatter(&map, 2 * (uint64_t)map.size.sectors, &rng);
    double ratio = 1 + (double)(map.moved - moved) / (double)(map.written - written);
    kvc_flash_translation_close(&map);
    return ratio;
}

/* Checks that places and owners agree, and that blocks count their valid sectors. Held sectors have no place.
 */
static void expect_consistent(void)
{
    uint32_t places = map.size.chips * map.size.blocks * map.size.pages * map.size.slots, valid = 0,
             placed = 0;
    for (uint32_t i = 0; i < places; i++) {
        if (map.owner[i] != KVC_FLASH_UNWRITTEN) {
            cr_assert_eq(map.place[map.owner[i]], i);
            valid++;
        }
    }
    for (uint32_t i = 0; i < map.size.sectors; i++) {
        placed += map.place[i] < KVC_FLASH_HELD;
    }
    cr_expect_eq(valid, placed);
    for (uint32_t block = 0; block < map.size.chips * map.size.blocks; block++) {
        cr_assert_leq(kvc_flash_translation_valid(&map, block), map.size.pages * map.size.slots);
        uint32_t counted = 0, slots = map.size.pages * map.size.slots;
        for (uint32_t i = 0; i < slots; i++) {
            counted += map.owner[block * slots + i] != KVC_FLASH_UNWRITTEN;
        }
        cr_assert_eq(counted, kvc_flash_translation_valid(&map, block), "block %u", block);
    }
}

/* The closed form itself: the value that its authors print, and its limits. */
Test(flash_translation, closed_form_is_that_of_the_literature)
{
    cr_expect_float_eq(kvc_test_write_amplification(0.3), 2.36, 0.005, "Xiang and Kurkoski's example");
    cr_expect_float_eq(kvc_test_write_amplification(20), 1, 1e-6);
    for (double more = 0.01; more < 1; more *= 1.2) {
        double writes = kvc_test_write_amplification(more), valid = 1 - 1 / writes;
        /* The share of a collected block that is valid is what random writes have left of its pages. */
        cr_expect_float_eq(valid, exp(-(1 + more) * (1 - valid)), 1e-6, "%g", more);
    }
}

Test(flash_translation, random_writes_are_amplified_as_the_closed_form_says)
{
    const double shares[] = {0.0737, 0.145, 0.3, 0.374};
    for (int i = 0; i < 4; i++) {
        flash.over_provisioning = shares[i];
        double ratio = amplification(40000), expected = kvc_test_write_amplification(shares[i]);
        cr_log_info("%.1f %% more: %.3f, closed form %.3f, %+.1f %%", shares[i] * 100, ratio, expected,
                    (ratio / expected - 1) * 100);
        cr_expect_float_eq(ratio, expected, 0.03 * expected, "%g: %.3f, expected %.3f", shares[i], ratio,
                           expected);
    }
}

/* The share of spare capacity counts, not how many blocks there are. */
Test(flash_translation, a_smaller_drive_is_amplified_as_much)
{
    flash.over_provisioning = 0.145;
    flash.blocks = 1000000;
    double whole = amplification(160000), part = amplification(10000);
    cr_log_info("whole %.3f, sixteenth %.3f", whole, part);
    cr_expect_float_eq(part, whole, 0.03 * whole, "whole %.3f, a sixteenth %.3f", whole, part);
}

Test(flash_translation, writes_in_order_move_nothing)
{
    open(8000);
    for (int i = 0; i < 5; i++) {
        kvc_flash_translation_fill(&map);
    }
    cr_expect_eq(map.moved, 0);
    cr_expect_eq(map.written, 5 * map.size.sectors);
    cr_expect_gt(map.erases, 3 * 8000 / map.size.pages);
    expect_consistent();
    kvc_flash_translation_close(&map);
}

Test(flash_translation, trimmed_sectors_are_not_moved)
{
    open(8000);
    kvc_flash_translation_fill(&map);
    for (uint32_t i = 0; i < map.size.sectors; i += 2) {
        kvc_flash_translation_trim(&map, i);
    }
    expect_consistent();
    uint64_t moved = map.moved;
    kvc_flash_translation_scatter(&map, map.size.sectors, &rng);
    for (uint32_t i = 0; i < map.size.sectors; i++) {
        kvc_flash_translation_trim(&map, i);
    }
    uint64_t until = map.moved;
    kvc_flash_translation_fill(&map);
    cr_expect_lt(until - moved, map.size.sectors / 2, "half of the drive is enough room for a while");
    cr_expect_eq(map.moved, until, "nothing is valid");
    expect_consistent();
    kvc_flash_translation_close(&map);
}

Test(flash_translation, every_sector_stays_where_the_map_says)
{
    open(8000);
    kvc_flash_translation_fill(&map);
    for (int i = 0; i < 20; i++) {
        kvc_flash_translation_scatter(&map, map.size.sectors / 3, &rng);
        expect_consistent();
    }
    cr_expect_gt(map.moved, 0);
    for (uint32_t i = 0; i < map.size.sectors; i++) {
        cr_assert_neq(map.place[i], KVC_FLASH_UNWRITTEN, "sector %u is lost", i);
    }
    kvc_flash_translation_close(&map);
}

static void expect_refused(uint64_t pages, const char *part)
{
    struct kvc_flash_translation_size size;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_flash_translation_size_of(&flash, pages, &size, &diag);
    cr_expect_eq(status, KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, part), "%s", diag.message);
}

Test(flash_translation, refuses_drives_that_are_too_small_or_too_large)
{
    expect_refused(10, "uses 10 pages of a drive with 4 chips, allowed: at least 25");
    expect_refused(UINT64_C(1) << 40, "fewer than 2^32 sectors");
}
