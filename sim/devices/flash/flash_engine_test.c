#include "sim/devices/flash/flash_engine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/base/rng.h"

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
    cr_expect_float_eq(kvc_flash_reads_per_s(&card, card.page_bytes), 400e3, 1e-3);
    cr_expect_float_eq(rate, 400e3, 4e3, "%g reads/s", rate);
    struct kvc_flash slow = card;
    slow.read_ns = 990e3;
    rate = saturate(&slow, read_page, 4000);
    cr_expect_float_eq(kvc_flash_reads_per_s(&slow, slow.page_bytes), 32e3, 1e-3, "one in 1 ms of each chip");
    cr_expect_float_eq(rate, 32e3, 0.03 * 32e3, "%g reads/s", rate);
    rate = saturate(&card, kvc_flash_program, 4000);
    cr_expect_float_eq(kvc_flash_programs_per_s(&card), 32 / 310e-6, 1e-3);
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
