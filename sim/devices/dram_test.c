#include "sim/devices/dram.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"

/* JEDEC JESD79-3F, DDR3-1600 11-11-11: a socket with four channels of two modules of two ranks. */
static const struct kvc_dram ddr3_1600 = {
    .line_bytes = 64,
    .channels = 4,
    .ranks = 4,
    .banks = 8,
    .transfers_per_s = 1600e6,
    .bus_bytes = 8,
    .write_lines = 32,
    .row_cycle_ns = 48.75,
    .write_cycle_ns = 57.5,
    .activate_gap_ns = 6.25,
    .four_activate_ns = 30,
    .read_ns = 13.75,
    .write_to_read_ns = 7.5,
    .read_to_write_ns = 2.5,
    .rank_switch_ns = 2.5,
    .refresh_ns = 160,
    .refresh_every_ns = 7800,
};

/* Returns the same memory with the data bus as its only limit. */
static struct kvc_dram only_the_bus(void)
{
    struct kvc_dram dram = ddr3_1600;
    dram.row_cycle_ns = dram.write_cycle_ns = dram.activate_gap_ns = dram.four_activate_ns = 0;
    dram.read_ns = dram.write_to_read_ns = dram.read_to_write_ns = dram.rank_switch_ns = 0;
    dram.refresh_ns = 0;
    return dram;
}

static double load_ns(const struct kvc_dram *dram, double reads, double writes, double bytes)
{
    return kvc_dram_channel_ns(dram, &(struct kvc_dram_load){reads, writes, bytes});
}

/* By hand: a rank takes four lines, three of them 6.25 ns (tRRD) after the one before, and the change of rank
 * takes 5 + 2.5 ns; 26.25 ns for four lines. Refresh takes 160 ns of 7800 ns. */
Test(dram_channels, ddr3_1600_by_hand)
{
    double awake = 7640.0 / 7800;
    cr_expect_eq(kvc_dram_channels(&ddr3_1600), 4);
    cr_expect_float_eq(kvc_dram_bytes_per_s(&ddr3_1600), 51.2e9 * awake, 1);
    cr_expect_float_eq(load_ns(&ddr3_1600, 1, 0, 0), 6.5625 / awake, 1e-9);
    cr_expect_float_eq(load_ns(&ddr3_1600, 0, 1, 0), 6.5625 / awake, 1e-9);
    /* A drain of 16 writes: tRTW, and then a change of rank, since the rank that was written longest ago is
     * ready after twelve lines of the other three. */
    cr_expect_float_eq(load_ns(&ddr3_1600, 16, 16, 0), (32 * 6.5625 + 2.5 + 2.5) / awake, 1e-9);
    cr_expect_float_eq(load_ns(&ddr3_1600, 0, 0, 12.8), 1 / awake, 1e-9);
}

/* One rank: tFAW holds the lines 7.5 ns apart, and reads wait for tWTR and tCL after the drain. */
Test(dram_channels, one_rank_by_hand)
{
    struct kvc_dram dram = ddr3_1600;
    dram.ranks = 1;
    dram.refresh_ns = 0;
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 7.5, 1e-9);
    cr_expect_float_eq(load_ns(&dram, 0, 1, 0), 7.5, 1e-9);
    cr_expect_float_eq(load_ns(&dram, 16, 16, 0), 32 * 7.5 + 2.5 + 7.5 + 13.75, 1e-9);
}

Test(dram_channels, each_limit_binds_when_the_others_are_relaxed)
{
    struct kvc_dram dram = only_the_bus();
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 5, 1e-9, "64 bytes at 12.8 bytes per ns");
    cr_expect_float_eq(load_ns(&dram, 1, 1, 64), 15, 1e-9, "all alike");
    dram.row_cycle_ns = 3200;
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 100, 1e-9, "32 banks");
    cr_expect_float_eq(load_ns(&dram, 0, 1, 0), 5, 1e-9);
    dram.write_cycle_ns = 6400;
    cr_expect_float_eq(load_ns(&dram, 0, 1, 0), 200, 1e-9);
    dram = only_the_bus();
    dram.four_activate_ns = 160;
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 10, 1e-9, "four ranks");
    dram.ranks = 1;
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 40, 1e-9);
    dram = only_the_bus();
    dram.activate_gap_ns = 80;
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 20, 1e-9, "four ranks");
    dram = only_the_bus();
    dram.rank_switch_ns = 4;
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 5, 1e-9, "it stays in the rank");
    dram.activate_gap_ns = 6;
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 6, 1e-9, "it still stays");
    dram.four_activate_ns = 40;
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), (3 * 6 + 9) / 4.0, 1e-9, "four of a rank, then another one");
    dram.activate_gap_ns = 20;
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 9, 1e-9, "always another rank");
}

Test(dram_channels, streamed_bytes_reach_the_rate_less_refresh)
{
    struct kvc_dram dram = ddr3_1600;
    for (uint64_t channels = 1; channels <= 8; channels *= 2) {
        dram.channels = channels;
        double busy_ns = load_ns(&dram, 0, 0, 1e9);
        double bytes_per_ns = 1e9 / (busy_ns / kvc_dram_channels(&dram));
        cr_expect_float_eq(bytes_per_ns, (double)channels * 12.8 * (1 - 160.0 / 7800), 1e-9);
        cr_expect_float_eq(kvc_dram_bytes_per_s(&dram), bytes_per_ns * 1e9, 1);
    }
    dram.bytes_per_s = 30e9;
    cr_expect_float_eq(load_ns(&dram, 0, 0, 30) / kvc_dram_channels(&dram), 1, 1e-9, "the measured rate");
}

/* More of anything takes longer, and a mix takes longer than its parts. */
Test(dram_channels, grows_with_each_part_of_the_load)
{
    double before_ns = 0;
    for (int writes = 0; writes <= 400; writes += 7) {
        double now_ns = load_ns(&ddr3_1600, 100, writes, 0);
        cr_expect_gt(now_ns, before_ns, "%d writes", writes);
        double parts_ns = load_ns(&ddr3_1600, 100, 0, 0) + load_ns(&ddr3_1600, 0, writes, 0);
        cr_expect(writes == 0 || now_ns > parts_ns + 1e-6, "%d writes turn the bus around", writes);
        cr_expect_gt(load_ns(&ddr3_1600, 101, writes, 0), now_ns);
        cr_expect_gt(load_ns(&ddr3_1600, 100, writes, 1), now_ns);
        before_ns = now_ns;
    }
    struct kvc_dram longer = ddr3_1600;
    longer.write_lines = 64;
    cr_expect_lt(load_ns(&longer, 100, 100, 0), load_ns(&ddr3_1600, 100, 100, 0));
    cr_expect_eq(load_ns(&ddr3_1600, 0, 0, 0), 0);
}

Test(dram_channels, without_timing_every_line_costs_its_bytes)
{
    struct kvc_dram dram = {.line_bytes = 64, .bytes_per_s = 16e9};
    cr_expect_eq(kvc_dram_channels(&dram), 1);
    cr_expect_eq(kvc_dram_bytes_per_s(&dram), 16e9);
    cr_expect_float_eq(load_ns(&dram, 1, 0, 0), 4, 1e-12);
    cr_expect_float_eq(load_ns(&dram, 2, 3, 32), 22, 1e-12);
}

/* A controller of one channel whose queues are always full, with rows and ranks drawn at random. It knows
 * when each waiting line could be on the bus at the earliest, takes the earliest one, and activates its row
 * just in time. It drains half a queue of writes, and then serves the reads that came meanwhile. */
enum { READ_LINES = 22 /* Intel 327043-001, Xeon E5-2600: RPQ_OCCUPANCY, at most 22 */, LINES_MAX = 64 };

struct waiting {
    uint64_t rank, bank;
    double since_ns;
};

struct controller {
    const struct kvc_dram *dram;
    struct kvc_rng rng;
    struct waiting queue[2][LINES_MAX]; /* Reads, and writes. */
    double bank_free_ns[16 * 64], activated_ns[16][4], written_ns[16], bus_free_ns;
    uint64_t rank; /* Rank of the last burst. */
};

static struct waiting draw(struct controller *controller, double now_ns)
{
    return (struct waiting){kvc_rng_below(&controller->rng, controller->dram->ranks),
                            kvc_rng_below(&controller->rng, controller->dram->banks), now_ns};
}

/* tRCD and CWL, which only move all bursts of a kind together. */
static const double rcd_ns = 13.75, cwl_ns = 10;

static double latency_ns(const struct controller *controller, bool write)
{
    return rcd_ns + (write ? cwl_ns : controller->dram->read_ns);
}

/* Returns when the line's burst could start at the earliest. */
static double start_ns(const struct controller *controller, const struct waiting *line, bool write)
{
    const struct kvc_dram *dram = controller->dram;
    const double *activated_ns = controller->activated_ns[line->rank]; /* The latest one first. */
    double activate_ns =
        fmax(fmax(line->since_ns, controller->bank_free_ns[line->rank * dram->banks + line->bank]),
             fmax(activated_ns[0] + dram->activate_gap_ns, activated_ns[3] + dram->four_activate_ns));
    double bus_ns = controller->bus_free_ns + (line->rank != controller->rank ? dram->rank_switch_ns : 0);
    double burst_ns = fmax(activate_ns + latency_ns(controller, write), bus_ns);
    return write
               ? burst_ns
               : fmax(burst_ns, controller->written_ns[line->rank] + dram->write_to_read_ns + dram->read_ns);
}

static void serve_one(struct controller *controller, bool write)
{
    const struct kvc_dram *dram = controller->dram;
    struct waiting *queue = controller->queue[write], *first = queue;
    uint64_t lines = write ? dram->write_lines : READ_LINES;
    for (struct waiting *line = queue + 1; line < queue + lines; line++) {
        double sooner_ns = start_ns(controller, first, write) - start_ns(controller, line, write);
        if (sooner_ns > 0 || (sooner_ns == 0 && line->since_ns < first->since_ns)) {
            first = line;
        }
    }
    double burst_ns = start_ns(controller, first, write);
    double activate_ns = burst_ns - latency_ns(controller, write);
    double *activated_ns = controller->activated_ns[first->rank];
    memmove(activated_ns + 1, activated_ns, 3 * sizeof(*activated_ns));
    activated_ns[0] = activate_ns;
    controller->bank_free_ns[first->rank * dram->banks + first->bank] =
        activate_ns + (write ? dram->write_cycle_ns : dram->row_cycle_ns);
    controller->rank = first->rank;
    controller->bus_free_ns = burst_ns + dram->line_bytes / (dram->transfers_per_s * dram->bus_bytes) * 1e9;
    if (write) {
        controller->written_ns[first->rank] = controller->bus_free_ns;
    }
    *first = draw(controller, burst_ns - (write ? cwl_ns : dram->read_ns));
}

/* Returns the time that a line takes while the controller serves `reads` and `drain` lines in turn. */
static double simulated_ns(const struct kvc_dram *dram, uint64_t reads, uint64_t drain)
{
    struct controller *controller = calloc(1, sizeof(*controller));
    cr_assert_not_null(controller);
    controller->dram = dram;
    kvc_rng_init(&controller->rng, 1, "controller", 0);
    for (int i = 0; i < 2 * LINES_MAX; i++) {
        controller->queue[i / LINES_MAX][i % LINES_MAX] = draw(controller, 0);
    }
    double lines = 0;
    for (int round = 0; round < 1000; round++) {
        for (uint64_t i = 0; i < reads; i++, lines++) {
            serve_one(controller, false);
        }
        controller->bus_free_ns += reads > 0 && drain > 0 ? dram->read_to_write_ns : 0;
        for (uint64_t i = 0; i < drain; i++, lines++) {
            serve_one(controller, true);
        }
    }
    double line_ns = controller->bus_free_ns / lines;
    free(controller);
    return line_ns;
}

Test(dram_channels, agree_with_a_simulated_controller)
{
    for (uint64_t ranks = 1; ranks <= 8; ranks *= 2) {
        struct kvc_dram dram = ddr3_1600;
        dram.ranks = ranks;
        dram.refresh_ns = 0;
        static const uint64_t mix[][2] = {{16, 0}, {48, 16}, {16, 16}, {16, 48}, {0, 16}};
        for (size_t i = 0; i < sizeof(mix) / sizeof(*mix); i++) {
            double reads = (double)mix[i][0], writes = (double)mix[i][1];
            double expected_ns = load_ns(&dram, reads, writes, 0) / (reads + writes);
            double found_ns = simulated_ns(&dram, mix[i][0], mix[i][1]);
            /* One rank of eight banks is often blocked by its banks; more ranks hardly ever are. */
            double most = ranks == 1 ? 0.1 : 0.03;
            cr_expect_lt(fabs(found_ns / expected_ns - 1), most, "%g ns for %g ns: %d ranks, %g + %g lines",
                         found_ns, expected_ns, (int)ranks, reads, writes);
        }
    }
}

static void refuses(const struct kvc_dram *profile, const char *part)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_dram_kind.check(profile, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, part) != NULL, "found \"%s\", not \"%s\"", diag.message, part);
}

Test(dram_channels, are_stated_as_a_whole)
{
    struct kvc_node node = {.sockets = 1};
    struct kvc_dram *none = kvc_node_add(&node, &kvc_dram_kind), some = *none, whole = ddr3_1600;
    cr_expect(!kvc_dram_has_timing(none));
    refuses(none, "dram.bandwidth is missing: a profile states the measured bandwidth, the timing");
    some.bytes_per_s = 1e9;
    cr_expect_eq(kvc_dram_kind.check(&some, NULL), KVC_OK);
    some.channels = 2;
    refuses(&some, "dram.ranks is missing: the profile states channels, and both belong to one group");
    some = ddr3_1600;
    some.rank_switch_ns = NAN;
    refuses(&some, "dram.tRTRS is missing: the profile states channels");
    cr_expect_eq(kvc_dram_kind.check(&whole, NULL), KVC_OK, "the rate follows");
    whole.refresh_ns = 7800;
    refuses(&whole, "dram.tRFC is 7800 ns");
    kvc_node_free(&node);
}

Test(dram_pages, the_cost_of_a_small_page_follows_the_working_set)
{
    const struct kvc_dram_pages pages[] = {{.footprint_bytes = 1 << 20, .huge_ns = 2, .small_ns = 2},
                                           {.footprint_bytes = 4 << 20, .huge_ns = 3, .small_ns = 4},
                                           {.footprint_bytes = 16 << 20, .huge_ns = 4, .small_ns = 9}};
    struct kvc_dram dram = ddr3_1600;
    dram.page_count = 3;
    memcpy(dram.pages, pages, sizeof(pages));
    const double expected_ns[][2] = {{0.5, 0}, {1, 0}, {2, 0.5}, {4, 1}, {8, 3}, {16, 5}, {99, 5}};
    for (size_t i = 0; i < sizeof(expected_ns) / sizeof(*expected_ns); i++) {
        cr_expect_float_eq(kvc_dram_small_page_ns(&dram, expected_ns[i][0] * 0x1p20), expected_ns[i][1], 1e-9,
                           "%g MiB", expected_ns[i][0]);
    }
    kvc_dram_speed_up(&dram, 2);
    cr_expect_float_eq(kvc_dram_small_page_ns(&dram, 16 * 0x1p20), 2.5, 1e-9, "walks read the same memory");
    dram.pages[2].footprint_bytes = 4 << 20;
    refuses(&dram, "dram.pages: found a footprint of 4.1943e+06 after 4.1943e+06 bytes, allowed: ascending");
    dram.page_count = 0;
    cr_expect_eq(kvc_dram_small_page_ns(&dram, 1e9), 0);
}

Test(dram_contention, lines_beyond_the_caches_wait_for_a_co_runner)
{
    const struct kvc_dram_pages pages[] = {{.footprint_bytes = 1 << 20, .huge_ns = 2},
                                           {.footprint_bytes = 16 << 20, .huge_ns = 4},
                                           {.footprint_bytes = 256 << 20, .huge_ns = 6}};
    const struct kvc_dram_contention contention[] = {{.taken_bytes_per_s = 0, .line_ns = 6},
                                                     {.taken_bytes_per_s = 4e9, .line_ns = 7},
                                                     {.taken_bytes_per_s = 8e9, .line_ns = 10}};
    struct kvc_dram dram = ddr3_1600;
    dram.contention_count = 3;
    memcpy(dram.contention, contention, sizeof(contention));
    cr_expect_float_eq(kvc_dram_contention_ns(&dram, 2e9, 1 << 30), 0.5, 1e-9);
    cr_expect_float_eq(kvc_dram_contention_ns(&dram, 6e9, 1 << 30), 2.5, 1e-9);
    cr_expect_float_eq(kvc_dram_contention_ns(&dram, 9e9, 1 << 30), 4, 1e-9);
    cr_expect_eq(kvc_dram_contention_ns(&dram, 0, 1 << 30), 0);
    cr_expect_eq(kvc_dram_contention_ns(&dram, NAN, 1 << 30), 0);
    dram.page_count = 3;
    memcpy(dram.pages, pages, sizeof(pages));
    cr_expect_float_eq(kvc_dram_contention_ns(&dram, 6e9, 16 << 20), 1.25, 1e-9,
                       "half of the time is memory");
    cr_expect_eq(kvc_dram_contention_ns(&dram, 6e9, 1 << 20), 0, "the caches hold it");
    dram.contention[0].taken_bytes_per_s = 1;
    refuses(&dram, "dram.contention: found 1 bytes/s as element 1, allowed: ascending ones from 0 on");
}
