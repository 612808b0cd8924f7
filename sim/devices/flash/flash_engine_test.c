#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/devices/flash/flash_engine.h"
#include "sim/devices/flash/flash_fixture.h"

/* A card whose pages of 1000 bytes cross a channel in 10 us. */
static const struct kvc_flash card = {.cards = 1,
                                      .channels = 4,
                                      .chips = 8,
                                      .blocks = 16,
                                      .pages_per_block = 32,
                                      .page_bytes = 960,
                                      .spare_bytes = 40,
                                      .read_ns = 50e3,
                                      .program_ns = 300e3,
                                      .erase_ns = 2e6,
                                      .channel_bytes_per_s = 100e6};

typedef void ask_fn(struct kvc_flash_engine *engine, double now_ns, uint64_t page, uint32_t tag);

static void read_page(struct kvc_flash_engine *engine, double now_ns, uint64_t page, uint32_t tag)
{
    kvc_flash_read(engine, now_ns, page, engine->flash->page_bytes, tag);
}

/* Handles all events. done_ns[tag] becomes the time when the operation with this tag was done. Returns the
 * time of the last event. */
static double drain(struct kvc_flash_engine *engine, struct kvc_events *events, double *done_ns)
{
    double now_ns = 0;
    uint32_t tag;
    while (events->count > 0) {
        struct kvc_event event = kvc_events_pop(events);
        cr_assert_geq(event.time_ns, now_ns);
        now_ns = event.time_ns;
        if (kvc_flash_engine_handle(engine, &event, &tag)) {
            done_ns[tag] = now_ns;
        }
    }
    cr_expect_eq(engine->waiting, 0);
    return now_ns;
}

/* Keeps `clients` operations at random pages outstanding. Returns operations per second. */
static double saturate(const struct kvc_flash *flash, ask_fn *ask, uint32_t clients)
{
    enum { OPERATIONS = 200000 };
    struct kvc_events events = {0};
    struct kvc_flash_engine engine;
    struct kvc_rng rng;
    double now_ns = 0;
    uint32_t done = 0, tag;
    kvc_rng_init(&rng, 1, "pages", 0);
    kvc_flash_engine_open(&engine, flash, &events, 0);
    for (uint32_t i = 0; i < clients; i++) {
        ask(&engine, 0, kvc_rng_below(&rng, kvc_flash_pages(flash)), i);
    }
    while (done < OPERATIONS) {
        struct kvc_event event = kvc_events_pop(&events);
        now_ns = event.time_ns;
        if (kvc_flash_engine_handle(&engine, &event, &tag)) {
            done++;
            ask(&engine, now_ns, kvc_rng_below(&rng, kvc_flash_pages(flash)), tag);
        }
    }
    cr_expect_eq(engine.waiting, clients);
    cr_expect_eq(engine.reads + engine.programs + engine.erases, OPERATIONS);
    cr_expect_leq(engine.chip_busy_ns, now_ns * (double)kvc_flash_chips(flash) * (1 + 1e-9));
    cr_expect_leq(engine.channel_busy_ns,
                  (now_ns + clients * kvc_flash_transfer_ns(flash, flash->page_bytes)) *
                      (double)kvc_flash_channels(flash));
    kvc_flash_engine_close(&engine);
    kvc_events_free(&events);
    return OPERATIONS / now_ns * 1e9;
}

Test(flash, pages_lie_on_channels_and_then_on_chips)
{
    cr_expect_eq(kvc_flash_pages(&card), 4 * 8 * 16 * 32);
    uint32_t found[32] = {0};
    for (uint64_t page = 0; page < kvc_flash_pages(&card); page++) {
        uint32_t chip = kvc_flash_chip_of(&card, page);
        cr_assert_lt(chip, 32);
        cr_assert_eq(chip / 8, kvc_flash_channel_of(&card, page));
        cr_assert_eq(kvc_flash_channel_of(&card, page), page % 4);
        found[chip]++;
    }
    for (int chip = 0; chip < 32; chip++) {
        cr_expect_eq(found[chip], 16 * 32, "as many pages on every chip");
    }
}

Test(flash, an_operation_alone_takes_its_time)
{
    static const struct {
        ask_fn *ask;
        double expected_ns;
    } alone[] = {{read_page, 60e3}, {kvc_flash_program, 310e3}, {kvc_flash_erase, 2e6}};
    for (int i = 0; i < 3; i++) {
        struct kvc_events events = {0};
        struct kvc_flash_engine engine;
        double done_ns;
        kvc_flash_engine_open(&engine, &card, &events, 3);
        alone[i].ask(&engine, 1000, 77, 0);
        drain(&engine, &events, &done_ns);
        cr_expect_float_eq(done_ns, 1000 + alone[i].expected_ns, 1e-6);
        cr_expect_float_eq(engine.chip_busy_ns, alone[i].expected_ns, 1e-6);
        cr_expect_float_eq(engine.channel_busy_ns, i < 2 ? 10e3 : 0, 1e-6, "an erase crosses no channel");
        kvc_flash_engine_close(&engine);
        kvc_events_free(&events);
    }
    cr_expect_float_eq(kvc_flash_read_ns(&card, card.page_bytes), 60e3, 1e-6);
}

Test(flash, programs_and_erases_block_their_chip_only)
{
    struct kvc_events events = {0};
    struct kvc_flash_engine engine;
    double done_ns[6];
    kvc_flash_engine_open(&engine, &card, &events, 0);
    kvc_flash_erase(&engine, 0, 0, 0);
    read_page(&engine, 0, 0, 1);
    kvc_flash_program(&engine, 0, 4, 2); /* The next chip of the same channel. */
    read_page(&engine, 0, 4, 3);
    read_page(&engine, 0, 8, 4); /* One chip further. */
    read_page(&engine, 0, 1, 5); /* Another channel. */
    drain(&engine, &events, done_ns);
    cr_expect_float_eq(done_ns[0], 2e6, 1e-6);
    cr_expect_float_eq(done_ns[1], 2060e3, 1e-6, "after the erase");
    cr_expect_float_eq(done_ns[2], 310e3, 1e-6);
    cr_expect_float_eq(done_ns[3], 370e3, 1e-6, "after the program");
    cr_expect_float_eq(done_ns[4], 60e3, 1e-6);
    cr_expect_float_eq(done_ns[5], 60e3, 1e-6);
    cr_expect(engine.reads == 4 && engine.programs == 1 && engine.erases == 1);
    kvc_flash_engine_close(&engine);
    kvc_events_free(&events);
}

/* All bytes that go in come out, and the channels carry each page once. */
Test(flash, carries_every_page_once)
{
    enum { OPERATIONS = 3000 };
    static double done_ns[OPERATIONS];
    struct kvc_events events = {0};
    struct kvc_flash_engine engine;
    struct kvc_rng rng;
    uint64_t asked[3] = {0};
    kvc_rng_init(&rng, 5, "pages", 0);
    kvc_flash_engine_open(&engine, &card, &events, 0);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        static ask_fn *const ask[] = {read_page, kvc_flash_program, kvc_flash_erase};
        uint64_t what = kvc_rng_below(&rng, 3);
        done_ns[i] = 0;
        asked[what]++;
        ask[what](&engine, 0, kvc_rng_below(&rng, kvc_flash_pages(&card)), i);
    }
    double end_ns = drain(&engine, &events, done_ns);
    for (int i = 0; i < OPERATIONS; i++) {
        cr_assert_gt(done_ns[i], 0, "operation %d was lost", i);
    }
    cr_expect(engine.reads == asked[0] && engine.programs == asked[1] && engine.erases == asked[2]);
    cr_expect_float_eq(engine.channel_busy_ns, (double)(asked[0] + asked[1]) * 10e3, 1);
    cr_expect_leq(engine.chip_busy_ns, 32 * end_ns);
    cr_expect_leq(engine.channel_busy_ns, 4 * end_ns);
    kvc_flash_engine_close(&engine);
    kvc_events_free(&events);
}

Test(flash, saturated_reads_reach_what_channels_and_chips_allow)
{
    /* Four channels carry a page in 10 us each; eight chips of a channel would give one in 7.5 us. */
    double rate = saturate(&card, read_page, 1000);
    cr_expect_float_eq(kvc_test_flash_reads_per_s(&card, card.page_bytes), 400e3, 1e-3);
    cr_expect_float_eq(rate, 400e3, 4e3, "%g reads/s", rate);
    struct kvc_flash slow = card;
    slow.read_ns = 990e3;
    rate = saturate(&slow, read_page, 4000);
    cr_expect_float_eq(kvc_test_flash_reads_per_s(&slow, slow.page_bytes), 32e3, 1e-3,
                       "one in 1 ms of each chip");
    cr_expect_float_eq(rate, 32e3, 0.03 * 32e3, "%g reads/s", rate);
    rate = saturate(&card, kvc_flash_program, 4000);
    cr_expect_float_eq(kvc_test_flash_programs_per_s(&card), 32 / 310e-6, 1e-3);
    cr_expect_float_eq(rate, 32 / 310e-6, 0.03 * 32 / 310e-6, "%g programs/s", rate);
    rate = saturate(&card, kvc_flash_erase, 4000);
    cr_expect_float_eq(rate, 16e3, 0.03 * 16e3, "%g erases/s", rate);
    cr_expect_leq(saturate(&card, read_page, 1), 1 / 60e-6 * (1 + 1e-9), "one at a time");
}

/* Operations that are asked for at the same time, each on a chip of its own, all end at the same times in
 * whatever order they come, and other cards change nothing. */
Test(flash, order_changes_nothing)
{
    enum { CHIPS = 32 };
    double first_ns = 0, first_sum_ns = 0;
    for (int order = 0; order < 3; order++) {
        struct kvc_events events = {0};
        struct kvc_flash_engine engine[2];
        double done_ns[2][CHIPS], sum_ns = 0, end_ns = 0;
        uint32_t tag;
        int other = order == 2;
        kvc_flash_engine_open(&engine[other], &card, &events, (uint16_t)other);
        kvc_flash_engine_open(&engine[!other], &card, &events, (uint16_t)!other);
        for (uint32_t i = 0; i < CHIPS; i++) {
            uint64_t page = order == 0 ? i : CHIPS - 1 - i;
            read_page(&engine[other], 0, page, (uint32_t)page);
            read_page(&engine[!other], 0, page, (uint32_t)page);
        }
        while (events.count > 0) {
            struct kvc_event event = kvc_events_pop(&events);
            end_ns = event.time_ns;
            if (kvc_flash_engine_handle(&engine[event.unit], &event, &tag)) {
                done_ns[event.unit][tag] = event.time_ns;
            }
        }
        for (int i = 0; i < CHIPS; i++) {
            cr_expect_eq(done_ns[0][i], done_ns[1][i], "equal cards");
            sum_ns += done_ns[0][i];
        }
        first_ns = order == 0 ? end_ns : first_ns;
        first_sum_ns = order == 0 ? sum_ns : first_sum_ns;
        cr_expect_float_eq(end_ns, 50e3 + 8 * 10e3, 1e-6);
        cr_expect_eq(end_ns, first_ns);
        cr_expect_float_eq(sum_ns, first_sum_ns, 1e-6);
        kvc_flash_engine_close(&engine[0]);
        kvc_flash_engine_close(&engine[1]);
        kvc_events_free(&events);
    }
}

Test(flash, refuses_less_power_at_work)
{
    struct kvc_diag diag = {0};
    struct kvc_flash flash = card;
    flash.idle_watts = 6;
    flash.busy_watts = NAN;
    cr_expect_eq(kvc_flash_kind.check(&flash, NULL), KVC_OK);
    flash.busy_watts = 5;
    cr_expect_eq(kvc_flash_kind.check(&flash, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "flash.busy is 5 W, allowed: no less than idle, 6 W");
}

/* A drive whose pages of 16000 bytes, or sectors of a quarter, cross a channel in 20 us and 5 us. */
static const struct kvc_flash drive = {.cards = 1,
                                       .channels = 4,
                                       .chips = 8,
                                       .blocks = 16,
                                       .pages_per_block = 32,
                                       .page_bytes = 16000,
                                       .spare_bytes = 4000,
                                       .sector_bytes = 4000,
                                       .read_ns = 50e3,
                                       .program_ns = 300e3,
                                       .erase_ns = 2e6,
                                       .channel_bytes_per_s = 1e9,
                                       .tags = 128};

static struct kvc_events events;
static struct kvc_flash_engine engine;
static struct kvc_flash flash;

static void set_up(void)
{
    flash = drive;
}

TestSuite(flash_drive, .init = set_up);

/* Keeps `clients` reads of a sector at random pages outstanding. Returns reads per second. */
static double saturate_drive(uint32_t clients)
{
    enum { READS = 50000 };
    struct kvc_rng rng;
    double now_ns = 0;
    uint32_t done = 0, asked = 0, tag;
    events = (struct kvc_events){0};
    kvc_rng_init(&rng, 1, "flash_drive_test", 0);
    kvc_flash_engine_open(&engine, &flash, &events, 0);
    while (done < READS) {
        for (; asked < done + clients; asked++) {
            kvc_flash_read(&engine, now_ns, kvc_rng_below(&rng, kvc_flash_pages(&flash)), flash.sector_bytes,
                           asked);
        }
        struct kvc_event event = kvc_events_pop(&events);
        cr_assert_geq(event.time_ns, now_ns);
        now_ns = event.time_ns;
        done += kvc_flash_engine_handle(&engine, &event, &tag);
    }
    struct kvc_flash_busy busy = kvc_flash_engine_busy(&engine);
    double asked_ns = clients * flash.operation_ns;
    double left_ns = clients * kvc_flash_interface_ns(&flash, flash.sector_bytes);
    cr_expect_leq(busy.controller_ns, 1.001 * now_ns + asked_ns / (double)flash.cards);
    cr_expect_leq(busy.interface_ns, 1.001 * now_ns + left_ns / (double)flash.cards);
    const struct kvc_flash_load load = {.reads = READS, .read_bytes = flash.sector_bytes};
    struct kvc_flash_busy expected = kvc_flash_busy_of(&flash, &load);
    cr_expect_float_eq(busy.controller_ns, expected.controller_ns, 0.03 * expected.controller_ns + 1);
    cr_expect_float_eq(busy.channels_ns, expected.channels_ns, 0.03 * expected.channels_ns);
    cr_expect_float_eq(busy.chips_ns, expected.chips_ns, 0.03 * expected.chips_ns, "waits do not count");
    cr_expect_float_eq(busy.interface_ns, expected.interface_ns, 0.03 * expected.interface_ns + 1);
    kvc_flash_engine_close(&engine);
    kvc_events_free(&events);
    return READS / now_ns * 1e9;
}

static void expect_rate(const char *what, double per_s, double expected)
{
    cr_expect_float_eq(per_s, expected, 0.03 * expected, "%s: %.0f, expected %.0f", what, per_s, expected);
}

/* Returns when the last of all operations is done. Their tags must come back. */
static double finish(uint32_t tags)
{
    double now_ns = 0;
    uint32_t tag, sum = 0;
    while (events.count > 0) {
        struct kvc_event event = kvc_events_pop(&events);
        now_ns = event.time_ns;
        if (kvc_flash_engine_handle(&engine, &event, &tag)) {
            sum += tag;
        }
    }
    cr_expect_eq(sum, tags * (tags + 1) / 2);
    kvc_flash_engine_close(&engine);
    kvc_events_free(&events);
    return now_ns;
}

static void open(void)
{
    events = (struct kvc_events){0};
    kvc_flash_engine_open(&engine, &flash, &events, 0);
}

Test(flash_drive, sectors_leave_room_on_the_channel)
{
    expect_rate("sectors", saturate_drive(1000), kvc_test_flash_reads_per_s(&flash, 4000));
    cr_expect_float_eq(kvc_test_flash_reads_per_s(&flash, 4000), 32 / 55e-6, 1, "the chips");
    cr_expect_float_eq(kvc_test_flash_reads_per_s(&flash, 16000), 4 / 20e-6, 1, "the channels");
}

/* A record begins anywhere at a multiple of 8; of 4000 places in a sector, one record in 500 fits exactly. */
Test(flash_drive, records_touch_whole_sectors_on_average)
{
    for (uint32_t bytes = 8; bytes <= 9000; bytes += 1112) {
        double sum = 0;
        for (uint32_t offset = 0; offset < 4000; offset += 8) {
            sum += (double)((offset + bytes - 1) / 4000 - offset / 4000 + 1) * 4000;
        }
        cr_expect_float_eq(kvc_flash_fetched_bytes(&flash, bytes), sum / 500, 1e-6, "%u bytes", bytes);
    }
    cr_expect_eq(kvc_flash_fetched_bytes(&flash, 15000), 16000, "no more than the page");
    flash.sector_bytes = 0;
    cr_expect_eq(kvc_flash_fetched_bytes(&flash, 8), 16000);
}

Test(flash_drive, an_operation_alone_takes_all_its_steps)
{
    flash.operation_ns = 3000;
    flash.access_ns = 20e3;
    flash.interface_bytes_per_s = 4e9; /* A sector in 1 us. */
    open();
    kvc_flash_read(&engine, 1000, 7, 4000, 1);
    double done_ns = finish(1);
    cr_expect_float_eq(done_ns, 1000 + 3000 + 50e3 + 5000 + 1000 + 20e3, 1e-6);
    cr_expect_float_eq(kvc_flash_read_ns(&flash, 4000), 79e3, 1e-6);
    open();
    kvc_flash_program(&engine, 0, 7, 1);
    done_ns = finish(1);
    cr_expect_float_eq(done_ns, 3000 + 4000 + 20e3 + 300e3 + 20e3, 1e-6);
    open();
    kvc_flash_erase(&engine, 0, 7, 1);
    kvc_flash_erase(&engine, 0, 8, 2);
    done_ns = finish(2);
    cr_expect_float_eq(done_ns, 2 * 3000 + 2e6 + 20e3, 1e-6, "other chips wait for the controller");
}

Test(flash_drive, controller_and_interface_limit_all_chips)
{
    flash.operation_ns = 10e3;
    expect_rate("controller", saturate_drive(1000), 100e3);
    cr_expect_float_eq(kvc_test_flash_reads_per_s(&flash, 4000), 100e3, 1);
    flash.operation_ns = 0;
    flash.interface_bytes_per_s = 1e9;
    expect_rate("interface", saturate_drive(1000), 250e3);
    cr_expect_float_eq(kvc_test_flash_reads_per_s(&flash, 4000), 250e3, 1);
    flash.interface_bytes_per_s = 0;
    flash.access_ns = 1e6;
    expect_rate("latency alone", saturate_drive(10), 10 / (1e-3 + 55e-6));
}

/* Programs of all chips share a limit, which reads and erases do not feel. */
Test(flash_drive, chips_program_no_more_than_their_drive)
{
    flash.program_bytes_per_s = 160e6; /* A page in 100 us; the chips of a drive would take 10 us. */
    cr_expect_float_eq(kvc_test_flash_programs_per_s(&flash), 10e3, 1);
    for (flash.cards = 1; flash.cards <= 2; flash.cards++) {
        open();
        for (uint32_t i = 0; i < 200; i++) {
            kvc_flash_program(&engine, 0, i, i);
        }
        kvc_flash_read(&engine, 0, 0, 4000, 200);
        double done_ns = finish(200), expected_ns = 199 / flash.cards * 100e3 + 20e3 + 300e3;
        cr_expect_float_eq(done_ns, expected_ns, 101e3, "%g, expected %g", done_ns, expected_ns);
    }
    flash.cards = 1;
    expect_rate("reads", saturate_drive(1000), kvc_test_flash_reads_per_s(&flash, 4000));
}

Test(flash_drive, cards_work_side_by_side)
{
    flash.operation_ns = 10e3;
    flash.cards = 3;
    expect_rate("three controllers", saturate_drive(1000), 300e3);
    cr_expect_eq(kvc_flash_pages(&flash), 3 * kvc_flash_pages(&drive));
    cr_expect_eq(kvc_flash_tags(&flash), 3 * 128);
    uint32_t pages[96] = {0};
    for (uint64_t page = 0; page < kvc_flash_pages(&flash); page++) {
        uint32_t chip = kvc_flash_chip_of(&flash, page);
        cr_assert_lt(chip, 96);
        cr_assert_eq(chip / 32, page % 3, "consecutive pages lie on consecutive cards");
        pages[chip]++;
    }
    for (int chip = 0; chip < 96; chip++) {
        cr_expect_eq(pages[chip], 16 * 32, "as many pages on every chip");
    }
}

Test(flash_drive, refuses_sectors_larger_than_a_page)
{
    struct kvc_diag diag = {0};
    flash.sector_bytes = 20000;
    cr_expect_eq(kvc_flash_kind.check(&flash, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message,
                     "flash.sector is 20000 bytes, allowed: no more than the page, 16000 bytes");
}
