/* Laws of a cache in front of a database: what misses and updates cost, whatever the hardware is. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "scenarios/run/laws_fixture.h"

enum { MEASURED_US = 100000 };

/* Answers for one small node whose flushing thread does not sleep, so that only the database takes long;
 * `database` and `workload` add to the tables. The caller frees the outcome. */
static struct kvc_outcome *answer(const char *database, const char *workload, bool predict)
{
    struct kvc_loaded *loaded = kvc_laws_load(
        "return { name = \"laws\","
        " system = { kind = \"bluecache\", index = \"1MiB\", dram = \"16MiB\", flash = \"64MiB\","
        " chunk = 32, flush_pause = \"0us\" },"
        " node = { flash = { base = \"bluecache-flash\", pages_per_block = 32 },"
        " database = { base = \"mysql-bg\", %s } },"
        " workload = { key = 32, value = 900, dist = \"uniform\", %s },"
        " run = { warmup = \"100ms\", duration = \"%dms\", bottleneck = \"utilization\" } }",
        database, workload, MEASURED_US / 1000);
    return kvc_laws_answer(loaded, predict);
}

#define FAST "queries = 100, read = \"100us\""
#define SLOW "queries = 4, read = \"100us\", times = \"fixed\""

Test(bluecache_database, as_many_gets_miss_as_requests_are_updates)
{
    struct kvc_outcome *run = answer(FAST, "keys = 2000, get = 0.9, arrival = { poisson_mops = 0.5 }", false);
    double misses = 1 - kvc_laws_value(run, "hit_frac");
    double gets = 0.9 * kvc_laws_value(run, "throughput_mops") * MEASURED_US;
    double queries = kvc_laws_value(run, "database_queries"),
           updates = kvc_laws_value(run, "database_updates");
    /* A GET misses if the key's latest request was an update. While a key is queried, 0.03 more GETs miss. */
    cr_expect_float_eq(misses, 0.1, 0.01, "%.4f", misses);
    cr_expect_float_eq(queries, misses * gets, 0.01 * queries, "%.0f queries for %.0f misses", queries,
                       misses * gets);
    cr_expect_float_eq(updates, gets / 9, 0.03 * updates, "%.0f updates for %.0f GETs", updates, gets);
    kvc_outcome_free(run);
}

Test(bluecache_database, a_slow_database_bounds_the_throughput)
{
    /* So many that some wait for the database while others wait for a flush. */
    const char *workload = "keys = 10e3, get = 0.9, arrival = { clients = 256 }";
    struct kvc_outcome *run = answer(SLOW, workload, false), *closed = answer(SLOW, workload, true);
    double mops = kvc_laws_value(run, "throughput_mops");
    double each = (kvc_laws_value(run, "database_queries") + kvc_laws_value(run, "database_updates")) /
                  (mops * MEASURED_US);
    /* Four at a time take 25 us each. */
    cr_expect_float_eq(mops, 0.04 / each, 0.01 * mops, "%.4f with %.3f of a request", mops, each);
    double predicted = kvc_laws_value(closed, "throughput_mops");
    /* Clients that wait ask for the same keys meanwhile, which the closed form does not know. */
    cr_expect_float_eq(predicted, mops, 0.05 * mops, "%.4f predicted, %.4f simulated", predicted, mops);
    cr_expect_str_eq(run->result.bottleneck_device, "database");
    kvc_outcome_free(run);
    kvc_outcome_free(closed);
}

Test(bluecache_database, a_lone_miss_takes_a_query_and_two_requests_to_the_cache)
{
    const char *database = "queries = 4, read = \"500us\", latency = \"70us\", times = \"fixed\"";
    const char *workload = "keys = 2000, preload = 0, get = 1, arrival = { clients = 1 }";
    const char *stored = "keys = 2000, get = 1, arrival = { clients = 1 }";
    struct kvc_outcome *run = answer(database, workload, false), *hits = answer(database, stored, false);
    double hit_us = kvc_laws_value(hits, "latency_mean_us"), miss_us = kvc_laws_value(run, "latency_max_us");
    cr_expect_gt(miss_us, 570 + 1.8 * hit_us, "%.1f us for a miss, %.1f us for a hit", miss_us, hit_us);
    cr_expect_lt(miss_us, 570 + 2.3 * hit_us, "%.1f us for a miss, %.1f us for a hit", miss_us, hit_us);
    cr_expect_gt(kvc_laws_value(run, "hit_frac"), 0.01, "what was queried is stored");
    kvc_outcome_free(run);
    kvc_outcome_free(hits);
}

/* The database serves 32 at a time, and the slowest limits all; those count that are done, up to 32 that
 * begin or end outside of the measured time. Clients are in the store for the latency: Little's law. */
Test(bluecache_database, slower_queries_never_help)
{
    const char *workload = "keys = 2000, get = 0.95, arrival = { clients = 64 }";
    const int times_us[] = {50, 500, 5000};
    double before = INFINITY;
    for (int i = 0; i < 3; i++) {
        char database[80];
        snprintf(database, sizeof(database), "queries = 32, read = \"%dus\", times = \"fixed\"", times_us[i]);
        struct kvc_outcome *run = answer(database, workload, false);
        double mops = kvc_laws_value(run, "throughput_mops"),
               inside = mops * kvc_laws_value(run, "latency_mean_us");
        double asked = kvc_laws_value(run, "database_queries") + kvc_laws_value(run, "database_updates"),
               most = 32 * MEASURED_US / times_us[i];
        cr_expect_lt(mops, 0.99 * before, "%s: %.4f after %.4f", database, mops, before);
        cr_expect_float_eq(inside, 64, 0.01 * 64, "%s: %.2f inside", database, inside);
        cr_expect_lt(asked, most + 32, "%s: %.0f of %.0f", database, asked, most);
        cr_expect(i < 2 || asked > most - 32, "%s: %.0f of %.0f", database, asked, most);
        before = mops;
        kvc_outcome_free(run);
    }
}

/* A DELETE makes the next GET of its key miss, as an update does. */
Test(bluecache_database, deletes_of_the_application_cause_misses)
{
    const char *workload =
        "keys = 2000, get = 0.8, set = 0.1, delete = 0.1, arrival = { poisson_mops = 0.5 }";
    for (int predict = 0; predict < 2; predict++) {
        struct kvc_outcome *outcome = answer(FAST, workload, predict);
        double hits = predict ? kvc_laws_value(outcome, "dram_frac") + kvc_laws_value(outcome, "flash_frac")
                              : kvc_laws_value(outcome, "hit_frac");
        cr_expect_float_eq(1 - hits, 0.2, 0.02, "%.4f", 1 - hits);
        kvc_outcome_free(outcome);
    }
}

/* What fills the cache are the results of queries; the log writes each of them once, eight of 932 bytes to a
 * page of 8192. */
Test(bluecache_database, the_log_writes_what_was_queried)
{
    for (int predict = 0; predict < 2; predict++) {
        struct kvc_outcome *outcome = kvc_laws_answer(
            kvc_laws_load("return { name = \"laws\","
                          " system = { kind = \"bluecache\", index = \"1MiB\", dram = \"0B\","
                          " flash = \"256MiB\", chunk = 16 },"
                          " node = { database = { base = \"mysql-bg\", %s } },"
                          " workload = { keys = 2000, key = 32, value = 900, dist = \"uniform\", get = 0.9,"
                          " arrival = { clients = 64 } },"
                          " run = { warmup = \"100ms\", duration = \"200ms\","
                          " bottleneck = \"utilization\" } }",
                          FAST),
            predict);
        double ratio = kvc_laws_value(outcome, "write_amplification_ratio");
        cr_expect_float_eq(ratio, 8192 / (8 * 932.0), 0.03, "%.4f", ratio);
        kvc_outcome_free(outcome);
    }
}

/* The stores that BlueCache is compared with have the same database behind them. */
Test(bluecache_database, other_caches_cost_the_same_queries)
{
    const char *systems[] = {"kind = \"memcached\", network = \"tcp\", loopback = true, entries = 1e4",
                             "kind = \"fatcache\", loopback = true, entries = 1e4, disk = \"64MiB\""};
    for (int i = 0; i < 2; i++) {
        struct kvc_outcome *run = kvc_laws_answer(
            kvc_laws_load(
                "return { name = \"laws\", system = { %s },"
                " node = { sockets = 1, database = { base = \"mysql-bg\", %s } },"
                " workload = { keys = 5000, key = 32, value = 900, dist = \"uniform\", get = 0.9,"
                " arrival = { clients = 64 } },"
                " run = { warmup = \"200ms\", duration = \"200ms\", bottleneck = \"utilization\" } }",
                systems[i], SLOW),
            false);
        double mops = kvc_laws_value(run, "throughput_mops");
        double each = (kvc_laws_value(run, "database_queries") + kvc_laws_value(run, "database_updates")) /
                      (mops * 200e3);
        double misses = 1 - kvc_laws_value(run, "hit_frac");
        cr_expect_gt(each, 0.18, "%s: %.3f of a request, %.3f misses", systems[i], each, misses);
        cr_expect_lt(mops, 1.01 * 0.04 / each, "%s: %.4f with %.3f of a request", systems[i], mops, each);
        cr_expect_float_eq(each, 0.1 + 0.9 * misses, 0.01, "%s: %.3f, %.3f misses", systems[i], each, misses);
        kvc_outcome_free(run);
    }
}

/* An update of two members' profiles and of the friends of one deletes three keys. A profile is read as often
 * as it is deleted, friends twice as often. */
Test(bluecache_database, updates_invalidate_the_keys_of_their_action_in_every_store)
{
    const char *systems[] = {("kind = \"bluecache\", index = \"1MiB\", dram = \"16MiB\", flash = \"256MiB\","
                              " flush_pause = \"0us\""),
                             "kind = \"memcached\", network = \"tcp\", loopback = true, entries = 1e4",
                             "kind = \"fatcache\", loopback = true, entries = 1e4, disk = \"64MiB\"",
                             "kind = \"mica\"", "kind = \"fpga_memcached\", entries = 16384"};
    for (int i = 0; i < 5; i++) {
        struct kvc_outcome *run = kvc_laws_answer(
            kvc_laws_load(
                "return { name = \"laws\", system = { %s },"
                " node = { sockets = 1, database = { base = \"mysql-bg\", %s } },"
                " workload = { keys = 200, key = 32, value = 300, dist = \"uniform\", get = 0.5,"
                " arrival = { clients = 8, think = \"10us\" }, actions = { { name = \"profile\", frac = 0.5 },"
                " { name = \"friends\", frac = 0.5, value = 40 },"
                " { name = \"accept\", frac = 1, invalidates = \"2 profile, friends\" } } },"
                " run = { warmup = \"100ms\", duration = \"100ms\", bottleneck = \"utilization\" } }",
                systems[i], "queries = 100, read = \"20us\""),
            false);
        double hits = kvc_laws_value(run, "hit_frac");
        /* Of 0.25 GETs of a profile against 1 deletion, and against 0.5 of friends. What a query fetches may
         * be asked for again meanwhile. */
        double law = 0.5 * (0.25 / 1.25) + 0.5 * (0.25 / 0.75);
        cr_expect_float_eq(hits, law, 0.03, "%s: %.4f, not %.4f", systems[i], hits, law);
        kvc_outcome_free(run);
    }
}

Test(bluecache_database, closed_form_knows_what_updates_invalidate)
{
    const char *workload =
        "keys = 4000, get = 0.9, arrival = { poisson_mops = 0.2 },"
        " actions = { { name = \"profile\", frac = 0.8 }, { name = \"friends\", frac = 0.2 },"
        " { name = \"accept\", frac = 1, invalidates = \"2 profile, 2 friends\" } }";
    struct kvc_outcome *run = answer(FAST, workload, false), *closed = answer(FAST, workload, true);
    double hits = kvc_laws_value(run, "hit_frac");
    double predicted = kvc_laws_value(closed, "dram_frac") + kvc_laws_value(closed, "flash_frac");
    double law = 0.8 * 0.72 / 0.92 + 0.2 * 0.18 / 0.38;
    cr_expect_float_eq(predicted, law, 1e-3, "%.4f, not %.4f", predicted, law);
    cr_expect_float_eq(hits, law, 0.02, "%.4f, not %.4f", hits, law);
    kvc_outcome_free(run);
    kvc_outcome_free(closed);
}

/* The machine of the database decides how long a miss takes: its statements, the pages that its pool lacks,
 * and the way. */
Test(bluecache_database, time_of_a_miss_follows_from_the_machine)
{
    const char *machine = "queries = 100, read = \"machine\", times = \"fixed\", cores = 4, statements = 2,"
                          " statement = \"50us\", pages = 3, page = \"16KiB\", data = \"160MiB\","
                          " pool = \"%s\", page_read = \"100us\", page_rate = \"1Mops\", latency = \"70us\"";
    const char *workload = "keys = 2000, preload = 0, get = 1, arrival = { clients = 1 }";
    double miss_us[2];
    for (int i = 0; i < 2; i++) {
        char database[512];
        snprintf(database, sizeof(database), machine, i == 0 ? "160MiB" : "16KiB");
        struct kvc_outcome *run = answer(database, workload, false);
        miss_us[i] = kvc_laws_value(run, "latency_max_us");
        kvc_outcome_free(run);
    }
    cr_expect_gt(miss_us[0], 170, "%g", miss_us[0]);
    cr_expect_float_eq(miss_us[1] - miss_us[0], 300, 5, "%g and %g", miss_us[0], miss_us[1]);
}
