/* Laws that hold for BlueCache on any hardware, and mechanisms that the paper describes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "scenarios/run/laws_fixture.h"

/* Answers for small nodes by a simulation or by the closed form; the first three arguments add to the tables.
 * The caller frees the outcome. */
static struct kvc_outcome *answer(const char *system, const char *more, const char *workload, bool predict)
{
    struct kvc_loaded *loaded = kvc_laws_load(
        "return { name = \"laws\", system = { kind = \"bluecache\", index = \"1MiB\", flash = \"256MiB\", %s },"
        " %s workload = { keys = 1e4, key = 32, %s },"
        " run = { warmup = \"5ms\", duration = \"50ms\", bottleneck = \"utilization\" } }",
        system, more, workload);
    return kvc_laws_answer(loaded, predict);
}

static double value(const char *system, const char *more, const char *workload, const char *name)
{
    struct kvc_outcome *outcome = answer(system, more, workload, false);
    double found = kvc_laws_value(outcome, name);
    kvc_outcome_free(outcome);
    return found;
}

#define READS "value = 900, get = 1, set = 0, "
#define DRAM "dram = \"16MiB\""
#define FLASH "dram = \"0B\""

Test(bluecache_laws, clients_are_in_the_store_for_the_latency)
{
    struct kvc_outcome *outcome = answer(FLASH, "", READS "arrival = { clients = 64 }", false);
    double inside = kvc_laws_value(outcome, "throughput_mops") * kvc_laws_value(outcome, "latency_mean_us");
    cr_expect_float_eq(inside, 64, 2, "Little's law: %.2f", inside);
    kvc_outcome_free(outcome);
}

Test(bluecache_laws, a_request_alone_takes_what_the_closed_form_says)
{
    const char *systems[] = {DRAM, FLASH};
    for (int i = 0; i < 2; i++) {
        const char *workload = READS "arrival = { fixed_mops = 0.002 }";
        struct kvc_outcome *run = answer(systems[i], "", workload, false);
        struct kvc_outcome *closed = answer(systems[i], "", workload, true);
        double ratio = kvc_laws_value(run, "latency_mean_us") / kvc_laws_value(closed, "latency_mean_us");
        /* The controller asks a chip for its status every 5 us. */
        cr_expect_float_eq(ratio, 1, i == 0 ? 1e-3 : 0.06, "%s: %.4f", systems[i], ratio);
        kvc_outcome_free(run);
        kvc_outcome_free(closed);
    }
}

Test(bluecache_laws, twice_the_channels_carry_twice_the_pages)
{
    const char *workload = READS "arrival = \"saturate\"";
    const char *twice = "node = { flash = { base = \"bluecache-flash\", channels = 16, tags = 256 } },";
    double ratio = value("dram = \"0B\", flash = \"512MiB\"", twice, workload, "throughput_mops") /
                   value(FLASH, "", workload, "throughput_mops");
    cr_expect_float_eq(ratio, 2, 0.06, "%.3f", ratio);
}

Test(bluecache_laws, reads_wait_behind_programs)
{
    const char *reads = READS "arrival = { fixed_mops = 0.05 }";
    const char *mixed = "value = 900, get = 0.5, set = 0.5, arrival = { fixed_mops = 0.1 }";
    double ratio = value(FLASH, "", mixed, "latency_p99_us") / value(FLASH, "", reads, "latency_p99_us");
    cr_expect_gt(ratio, 4, "%.2f", ratio);
}

/* A SET alone takes as long beside GETs as without them, wherever a slice ends. */
Test(bluecache_laws, sets_do_not_wait_for_later_gets)
{
    const char *sets = "value = 100, get = 0, set = 1, arrival = { fixed_mops = 0.02 }";
    const char *mixed = "value = 100, get = 0.5, set = 0.5, arrival = { fixed_mops = 0.02 }";
    double ratio = value(DRAM, "", mixed, "latency_p99_us") / value(DRAM, "", sets, "latency_p99_us");
    cr_expect_float_eq(ratio, 1, 0.02, "%.3f", ratio);
}

Test(bluecache_laws, a_full_log_erases_and_forgets_the_oldest_keys)
{
    /* 10000 pairs of 20 KB need 240 MB of pages; the log holds 268. SETs go round it. */
    const char *sets = "value = 20000, get = 0.2, set = 0.8, arrival = \"saturate\"";
    const char *node =
        "node = { flash = { base = \"bluecache-flash\", pages_per_block = 16, program = \"50us\", erase = \"300us\" } },";
    struct kvc_outcome *outcome = answer("dram = \"0B\", flash = \"200MiB\"", node, sets, false);
    cr_expect_gt(kvc_laws_value(outcome, "erases"), 64, "at least a row");
    cr_expect_gt(kvc_laws_value(outcome, "keys_reclaimed"), 0);
    cr_expect_lt(kvc_laws_value(outcome, "hit_frac"), 0.99);
    kvc_outcome_free(outcome);
}

/* GETs wait behind programs and erases of a full log, but most find their chips idle. SETs are the quickest
 * tenth of all requests; as many GETs arrive in both runs. At this load, few flushes wait for others. */
Test(bluecache_laws, a_full_log_makes_a_tail_and_leaves_the_median)
{
    const double program_us = 1300;
    const char *system = "dram = \"0B\", flash = \"72MiB\"",
               *node = "node = { flash = { base = \"bluecache-flash\", pages_per_block = 2 } },";
    struct kvc_outcome *mixed =
        answer(system, node, "value = 8104, get = 0.9, set = 0.1, arrival = { fixed_mops = 0.03 }", false);
    struct kvc_outcome *reads =
        answer(system, node, "value = 8104, get = 1, set = 0, arrival = { fixed_mops = 0.027 }", false);
    cr_expect_geq(kvc_laws_value(mixed, "erases"), 64, "a row, besides programs");
    double tail_us = kvc_laws_value(mixed, "latency_p99_us") - kvc_laws_value(reads, "latency_p99_us");
    cr_expect_gt(tail_us, program_us, "%.0f us longer", tail_us);
    double median = kvc_laws_value(mixed, "latency_p50_us") / kvc_laws_value(reads, "latency_p50_us");
    cr_expect_float_eq(median, 1, 0.1, "%.3f", median);
    kvc_outcome_free(mixed);
    kvc_outcome_free(reads);
}

/* Each channel of the card's DRAM serves requests of its own. */
Test(bluecache_laws, twice_the_channels_of_dram_serve_twice_the_requests)
{
    const char *two = "node = { pcie = \"pcie5-x16\", dram = { base = \"ddr3-1600-vc707\", channels = 2 } },";
    const char *workload = "value = 32, get = 1, set = 0, arrival = \"saturate\"";
    const char *one = "node = { pcie = \"pcie5-x16\" },";
    for (int predict = 0; predict < 2; predict++) {
        struct kvc_outcome *faster = answer(DRAM ", outstanding = 1024", two, workload, predict);
        struct kvc_outcome *usual = answer(DRAM ", outstanding = 1024", one, workload, predict);
        double ratio = kvc_laws_value(faster, "throughput_mops") / kvc_laws_value(usual, "throughput_mops");
        cr_expect_float_eq(ratio, 2, 0.05, "%.3f", ratio);
        kvc_outcome_free(faster);
        kvc_outcome_free(usual);
    }
}

/* A pair of 62 pages takes the flash longer than PCIe, which carries a page while the next ones are read. */
Test(bluecache_laws, pages_of_a_pair_cross_pcie_as_they_come)
{
    const char *workload = "keys = 100, value = 5e5, get = 1, set = 0, arrival = { fixed_mops = 0.001 }";
    const double crossing_us = 5e5 / 1.6e9 * 1e6;
    for (int predict = 0; predict < 2; predict++) {
        struct kvc_outcome *slow = answer(FLASH, "", workload, predict);
        struct kvc_outcome *fast = answer(FLASH, "node = { pcie = \"pcie5-x16\" },", workload, predict);
        double longer_us = kvc_laws_value(slow, "latency_mean_us") - kvc_laws_value(fast, "latency_mean_us");
        cr_expect_lt(longer_us, crossing_us / 4, "%.1f us", longer_us);
        kvc_outcome_free(slow);
        kvc_outcome_free(fast);
    }
}

Test(bluecache_laws, every_hop_takes_four_messages)
{
    const char *workload = READS "arrival = { fixed_mops = 0.001 }";
    double here_us = value(DRAM ", app_servers = 1", "", workload, "latency_mean_us");
    const char *nodes[] = {"cluster = { nodes = 2 },", "cluster = { nodes = 3 },",
                           "cluster = { nodes = 5 },"};
    const double hops[] = {0.5, 1, 2}; /* On average, from the first of a line. */
    for (int i = 0; i < 3; i++) {
        double us = value(DRAM ", app_servers = 1", nodes[i], workload, "latency_mean_us") - here_us;
        cr_expect_float_eq(us, 2 * hops[i], 0.3 + 0.2 * hops[i], "%s %.2f us longer", nodes[i], us);
    }
}

Test(bluecache_laws, the_own_host_gets_half_of_a_busy_card)
{
    const char *workload = READS "arrival = \"saturate\"";
    for (int hosts = 2; hosts <= 4; hosts++) {
        char system[100];
        snprintf(system, sizeof(system), FLASH ", stores = 1, app_servers = %d", hosts);
        double others = value(system, "cluster = { nodes = 4 },", workload, "remote_frac");
        cr_expect_float_eq(others, 0.5, 0.02, "%d hosts: %.3f", hosts, others);
    }
}

/* Table 1: flash of 318.59 USD for 512 GB, and a gigabyte of DRAM for 5.62 USD. */
Test(bluecache_laws, a_gigabyte_costs_its_flash_and_its_share_of_dram)
{
    const char *nodes[] = {
        "node = { flash = \"samsung-950-pro\" },",
        "node = { flash = { base = \"samsung-950-pro\", cards = 3 } },",
        "node = { flash = \"samsung-950-pro\", dram = { base = \"ddr3-1600-vc707\", price = 5.62 } },"};
    const double usd[] = {318.59 / 512, 318.59 / 512, (318.59 + 5.62) / 512};
    for (int i = 0; i < 3; i++) {
        struct kvc_outcome *closed =
            answer("dram = \"0B\", flash = \"1GiB\"", nodes[i], READS "arrival = \"saturate\"", true);
        cr_expect_float_eq(kvc_laws_value(closed, "usd_per_gb"), usd[i], 1e-3 * usd[i], "%s", nodes[i]);
        kvc_outcome_free(closed);
    }
}

/* An instance of Fatcache reads one page at a time, however many the SSD could read. BlueCache asks for as
 * many as its flash has tags. */
Test(bluecache_laws, fatcache_leaves_an_equal_flash_idle)
{
    const char *text = "return { name = \"laws\", node = { sockets = 1, flash = \"bluecache-flash\" },"
                       " system = { kind = \"fatcache\", loopback = true, entries = 2e4, instances = 4,"
                       " slab_memory = \"1MiB\", disk = \"256MiB\" },"
                       " workload = { keys = 2e4, key = 32, value = 900, get = 1, set = 0,"
                       " arrival = { clients = 64 } },"
                       " run = { warmup = \"5ms\", duration = \"50ms\", bottleneck = \"utilization\" } }";
    struct kvc_outcome *outcome = kvc_laws_answer(kvc_laws_load("%s", text), false);
    double mops = kvc_laws_value(outcome, "throughput_mops");
    double inside = mops * kvc_laws_value(outcome, "latency_mean_us");
    double blue = value(FLASH, "", READS "arrival = { clients = 64 }", "throughput_mops");
    cr_expect_float_eq(inside, 64, 3, "Little's law: %.2f", inside);
    cr_expect_lt(mops, 4 / 50.0, "each of 4 instances waits for tR, 50 us");
    cr_expect_gt(blue, 1.5 * mops, "%.3f and %.3f", blue, mops);
    kvc_outcome_free(outcome);
}

/* Returns a value of a node whose chips program fast, in the long run, measured for `ms` after twice that, or
 * as the closed form says. */
static double long_run(const char *system, const char *workload, int ms, bool predict, const char *name)
{
    struct kvc_loaded *loaded = kvc_laws_load(
        "return { name = \"laws\", system = { kind = \"bluecache\", index = \"1MiB\", %s },"
        " node = { flash = { base = \"bluecache-flash\", pages_per_block = 16, program = \"50us\","
        " erase = \"300us\", poll = \"0us\" } }, workload = { keys = 1e4, key = 32, value = 900, %s,"
        " arrival = \"saturate\" },"
        " run = { warmup = \"%dms\", duration = \"%dms\", bottleneck = \"utilization\" } }",
        system, workload, 2 * ms, ms);
    struct kvc_outcome *outcome = kvc_laws_answer(loaded, predict);
    double found = kvc_laws_value(outcome, name);
    kvc_outcome_free(outcome);
    return found;
}

/* The approximation is within a point of the cache that it describes (sim/workload/keys/set_cache_test.c). */
Test(bluecache_laws, dram_holds_the_keys_that_the_closed_form_says)
{
    const char *sizes[] = {"2MiB", "6MiB", "12MiB"};
    const char *loads[] = {"get = 0.7, set = 0.3, dist = \"uniform\"",
                           "get = 0.7, set = 0.3, dist = { zipf = 0.99 }",
                           "get = 0.5, set = 0.45, delete = 0.05, dist = { zipf = 0.99 }"};
    for (int i = 0; i < 9; i++) {
        char system[100];
        snprintf(system, sizeof(system), "flash = \"64MiB\", dram = \"%s\"", sizes[i % 3]);
        double found = long_run(system, loads[i / 3], 35, false, "dram_hit_frac");
        double expected = long_run(system, loads[i / 3], 35, true, "dram_frac");
        cr_expect_float_eq(expected, found, 0.01, "%s, %s: %.4f, simulated %.4f", sizes[i % 3], loads[i / 3],
                           expected, found);
    }
}

/* A log of two rows or of four is written over several times. What differs is the part of a row that happens
 * to be written over. */
Test(bluecache_laws, the_log_holds_the_keys_that_the_closed_form_says)
{
    const char *logs[] = {"16MiB", "32MiB"};
    const char *loads[] = {"get = 0.5, set = 0.5, dist = \"uniform\"",
                           "get = 0.5, set = 0.5, dist = { zipf = 0.99 }"};
    for (int i = 0; i < 4; i++) {
        char system[100];
        snprintf(system, sizeof(system), "flash = \"%s\", dram = \"0B\"", logs[i % 2]);
        double found = long_run(system, loads[i / 2], 70, false, "hit_frac");
        double expected = long_run(system, loads[i / 2], 70, true, "flash_frac");
        cr_expect_float_eq(expected, found, 0.01, "%s, %s: %.4f, simulated %.4f", logs[i % 2], loads[i / 2],
                           expected, found);
    }
}

/* Without DRAM, the log writes every pair once: eight of 932 bytes to a page of 8192. With DRAM, pairs that
 * are replaced there are not written. Both write whole chunks. */
Test(bluecache_laws, what_is_written_and_worn_is_what_sets_demand)
{
    const char *load = "get = 0.5, set = 0.5, dist = { zipf = 0.99 }";
    const char *systems[] = {"flash = \"64MiB\", dram = \"0B\"", "flash = \"64MiB\", dram = \"12MiB\""};
    const double tolerances[] = {0.03, 0.06};
    for (int i = 0; i < 2; i++) {
        double found = long_run(systems[i], load, 65, false, "write_amplification_ratio");
        double expected = long_run(systems[i], load, 65, true, "write_amplification_ratio");
        cr_expect_float_eq(found / expected, 1, tolerances[i], "%s: %.4f, closed form %.4f", systems[i],
                           found, expected);
        cr_expect(i == 0 ? fabs(expected - 8192 / (8 * 932.0)) < 1e-9 : expected < 0.6, "%.4f", expected);
    }
}

/* The wear follows from programs; the erases of 50 ms are counted in whole rows of 64 blocks. */
Test(bluecache_laws, blocks_are_erased_as_often_as_their_pages_are_written)
{
    struct kvc_outcome *outcome =
        answer("dram = \"0B\", flash = \"8MiB\", chunk = 32",
               "node = { flash = { base = \"bluecache-flash\", pages_per_block = 4, program = \"50us\","
               " erase = \"300us\", poll = \"0us\", endurance = 1000 } },",
               "value = 900, get = 0, set = 1, arrival = \"saturate\"", false);
    double days = 50e-3 / 86400, blocks = 4 * 64, rows = kvc_laws_value(outcome, "erases") / 64;
    double erases = kvc_laws_value(outcome, "erases_per_block_per_day") * days * blocks;
    cr_expect_gt(rows, 15);
    cr_expect_float_eq(erases / 64, rows, 1.1, "%.2f rows by programs, %.2f counted", erases / 64, rows);
    double years = 1000 / kvc_laws_value(outcome, "erases_per_block_per_day") / 365.25;
    cr_expect_float_eq(kvc_laws_value(outcome, "rated_life_years") / years, 1, 1e-9);
    kvc_outcome_free(outcome);
}
