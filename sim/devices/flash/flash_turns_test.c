#include <criterion/criterion.h>
#include <math.h>

#include "sim/base/rng.h"
#include "sim/devices/flash/flash_engine.h"
#include "sim/devices/flash/flash.h"
#include "sim/devices/flash/flash_fixture.h"

/* BlueDBM's card: 8 channels of 8 chips. */
static const struct kvc_flash card = {.cards = 1,
                                      .channels = 8,
                                      .chips = 8,
                                      .blocks = 16,
                                      .pages_per_block = 64,
                                      .page_bytes = 8192,
                                      .spare_bytes = 408,
                                      .read_ns = 50e3,
                                      .program_ns = 1.3e6,
                                      .erase_ns = 3e6,
                                      .channel_bytes_per_s = 200e6,
                                      .command_ns = 990,
                                      .status_ns = 470,
                                      .first_poll_ns = 30e3,
                                      .poll_ns = 5e3,
                                      .tags = 128};

static struct kvc_events events;
static struct kvc_flash_engine engine;

static void open(void)
{
    events = (struct kvc_events){0};
    kvc_flash_engine_open(&engine, &card, &events, 0);
}

static void close(void)
{
    kvc_flash_engine_close(&engine);
    kvc_events_free(&events);
}

TestSuite(flash_turns, .init = open, .fini = close);

/* Lets the engine work until `count` operations are done. Returns when the last one was done [ns]. */
static double finish(uint32_t count)
{
    uint32_t tag;
    double now_ns = 0;
    while (count > 0) {
        cr_assert_lt(kvc_events_next_ns(&events), 1e12, "nothing happens any more");
        struct kvc_event event = kvc_events_pop(&events);
        cr_assert_geq(event.time_ns, now_ns);
        now_ns = event.time_ns;
        count -= kvc_flash_engine_handle(&engine, &event, &tag);
    }
    return now_ns;
}

Test(flash_turns, one_read_waits_for_a_question_after_it_was_sensed)
{
    kvc_flash_read(&engine, 0, 5, card.page_bytes, 1);
    double page_ns = 8600 / 200e6 * 1e9;
    /* Busy until 50.99 us: questions after 30, 35, 40 and 45 us, each when the last was answered, find it so.
     */
    double done_ns = finish(1);
    cr_expect_gt(done_ns, card.command_ns + card.read_ns + page_ns);
    cr_expect_lt(done_ns, card.command_ns + card.read_ns + card.poll_ns + 2 * card.status_ns + page_ns);
    cr_expect_eq(engine.reads, 1);
    cr_expect_eq(engine.waiting, 0);
}

Test(flash_turns, programs_and_erases_take_their_time)
{
    kvc_flash_erase(&engine, 0, 0, 1);
    double done_ns = finish(1);
    cr_expect_float_eq(done_ns, 3e6, 1e4);
    kvc_flash_program(&engine, 4e6, 0, 2);
    done_ns = finish(1);
    cr_expect_float_eq(done_ns, 4e6 + 1.3e6 + 43e3, 1e4);
    cr_expect_eq(engine.erases, 1);
    cr_expect_eq(engine.programs, 1);
}

/* The measured rate of the card is 150 K/s (bluecache.t4.bluecache.iops), 83 % of what its channels carry. */
Test(flash_turns, random_reads_lose_time_to_turns)
{
    enum { READS = 20000 };
    struct kvc_rng rng;
    uint32_t tag, done = 0, asked = 0;
    double now_ns = 0;
    kvc_rng_init(&rng, 1, "flash_turns_test", 0);
    for (; asked < card.tags; asked++) {
        kvc_flash_read(&engine, 0, kvc_rng_u64(&rng) % kvc_flash_pages(&card), card.page_bytes, asked);
    }
    while (done < READS) {
        struct kvc_event event = kvc_events_pop(&events);
        now_ns = event.time_ns;
        if (kvc_flash_engine_handle(&engine, &event, &tag)) {
            done++;
            kvc_flash_read(&engine, now_ns, kvc_rng_u64(&rng) % kvc_flash_pages(&card), card.page_bytes,
                           asked++);
        }
    }
    double per_s = READS / now_ns * 1e9;
    cr_expect_lt(per_s, 0.93 * kvc_test_flash_reads_per_s(&card, card.page_bytes));
    cr_expect_float_eq(per_s, 150e3, 0.1 * 150e3, "%.0f reads a second", per_s);
    cr_expect_leq(engine.channel_busy_ns, now_ns * (double)card.channels * 1.001);
}

/* Keeps `clients` reads outstanding until `reads` are done, and notes when. `catches_up`: the engine does its
 * postponed work before each event. */
static void note_reads(uint32_t clients, uint32_t reads, bool catches_up, double *done_ns)
{
    struct kvc_rng rng;
    uint32_t tag, asked = 0;
    kvc_rng_init(&rng, 7, "flash_turns_test", 0);
    for (; asked < clients; asked++) {
        kvc_flash_read(&engine, 0, kvc_rng_below(&rng, kvc_flash_pages(&card)), card.page_bytes, asked);
    }
    for (uint32_t done = 0; done < reads;) {
        struct kvc_event event = kvc_events_pop(&events);
        if (catches_up) {
            kvc_flash_engine_catch_up(&engine, nextafter(event.time_ns, 0));
        }
        if (kvc_flash_engine_handle(&engine, &event, &tag)) {
            done_ns[done++] = event.time_ns;
            kvc_flash_read(&engine, event.time_ns, kvc_rng_below(&rng, kvc_flash_pages(&card)),
                           card.page_bytes, asked++);
        }
    }
}

/* Steps that are put off end at the same times, whoever asks for them, and few of them are events. */
Test(flash_turns, steps_may_be_put_off)
{
    enum { READS = 5000 };
    static double put_off_ns[READS], done_ns[READS];
    note_reads(100, READS, false, put_off_ns);
    cr_expect_lt(events.added, 2 * READS, "%llu events", (unsigned long long)events.added);
    close();
    open();
    note_reads(100, READS, true, done_ns);
    for (int i = 0; i < READS; i++) {
        cr_assert_eq(put_off_ns[i], done_ns[i], "read %d", i);
    }
}

/* Returns the rate of reads of random pages while a fixed number of them is outstanding [per second]. */
static double reads_per_s(const struct kvc_flash *flash, uint32_t clients)
{
    enum { READS = 40000, FIRST = 4000 };
    struct kvc_events own = {0};
    struct kvc_flash_engine at_work;
    struct kvc_rng rng;
    uint32_t tag, done = 0;
    double now_ns = 0, first_ns = 0;
    kvc_rng_init(&rng, 11, "flash_turns_test", 0);
    kvc_flash_engine_open(&at_work, flash, &own, 0);
    for (uint32_t i = 0; i < clients; i++) {
        kvc_flash_read(&at_work, 0, kvc_rng_below(&rng, kvc_flash_pages(flash)), flash->page_bytes, i);
    }
    while (done < READS) {
        struct kvc_event event = kvc_events_pop(&own);
        now_ns = event.time_ns;
        if (kvc_flash_engine_handle(&at_work, &event, &tag)) {
            first_ns = ++done == FIRST ? now_ns : first_ns;
            kvc_flash_read(&at_work, now_ns, kvc_rng_below(&rng, kvc_flash_pages(flash)), flash->page_bytes,
                           tag);
        }
    }
    kvc_flash_engine_close(&at_work);
    kvc_events_free(&own);
    return (READS - FIRST) / (now_ns - first_ns) * 1e9;
}

/* The closed form agrees with the simulation for any number of reads, where chips fall into step. */
Test(flash_turns, closed_form_agrees)
{
    static const uint32_t chips[] = {8, 32};
    for (int i = 0; i < 2; i++) {
        struct kvc_flash flash = card;
        flash.chips = chips[i];
        for (uint32_t reads = 1; reads <= 512; reads *= 2) {
            double simulated = reads_per_s(&flash, reads);
            double closed = kvc_flash_turns_reads_per_s(&flash, flash.page_bytes, reads);
            cr_expect(closed > 0.955 * simulated && closed < 1.005 * simulated,
                      "%u chips, %u reads: %.0f a second, simulated %.0f", chips[i], reads, closed,
                      simulated);
        }
    }
}
