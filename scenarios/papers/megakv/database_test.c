/* Laws of Mega-KV in front of a database: what misses and updates cost. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/run/laws_fixture.h"

/* Answers for one small socket; `database` and `workload` add to the tables. The caller frees the outcome. */
static struct kvc_outcome *answer(const char *database, const char *workload, bool predict)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { name = 'laws', system = { kind = 'megakv', cycle = '200us', index = '8MiB' }, "
            "node = { sockets = 1, database = { base = 'mysql-bg', %s } }, "
            "workload = { key = 8, value = 8, dist = 'uniform', %s }, "
            "run = { warmup = '100ms', duration = '20ms', bottleneck = 'utilization' } }",
            database, workload),
        predict);
}

#define FAST "queries = 2000, read = '100us', latency = '50us'"
#define UPDATED "keys = 1e5, get = 0.9, set = 0.1, arrival = { poisson_mops = 5 }"

Test(megakv_database, every_miss_is_a_query_and_every_set_an_update)
{
    struct kvc_outcome *run = answer(FAST, UPDATED, false), *closed = answer(FAST, UPDATED, true);
    double requests = 5 * 20e3, misses = (double)run->result.misses, sets = (double)run->result.sets;
    double queries = kvc_laws_value(run, "database_queries"),
           updates = kvc_laws_value(run, "database_updates");
    cr_expect_float_eq(queries, misses, 0.02 * queries, "%g queries, %g misses", queries, misses);
    cr_expect_float_eq(updates, sets, 0.02 * updates, "%g updates, %g SETs", updates, sets);
    cr_expect_float_eq(updates, 0.1 * requests, 0.03 * updates, "%g updates", updates);
    /* A GET misses if the key's latest request was an update, and while it is queried. */
    double hits = kvc_laws_value(run, "hit_frac");
    cr_expect_float_eq(hits, 0.9, 0.02, "%.4f", hits);
    cr_expect_float_eq(kvc_metrics_get(&closed->result.model, "hit_frac"), 0.9, 1e-3);
    /* Each is an index job: a SET of a queried key, or a DELETE of an updated key. */
    double launches = 20e3 / 400;
    double jobs = kvc_laws_value(run, "jobs_per_insert") * launches;
    cr_expect_float_eq(jobs, queries + updates, 0.03 * jobs, "%g jobs", jobs);
    double ran = kvc_laws_value(run, "latency_mean_us"), told = kvc_laws_value(closed, "latency_mean_us");
    cr_expect_float_eq(told, ran, 0.1 * ran, "%.1f us simulated, %.1f predicted", ran, told);
    cr_expect_float_eq((double)run->result.completed, requests, 0.02 * requests);
    cr_expect_eq(run->result.dropped, 0);
    kvc_outcome_free(run);
    kvc_outcome_free(closed);
}

Test(megakv_database, a_lone_miss_takes_a_query_and_two_requests_to_the_store)
{
    const char *database = "queries = 1000, read = '500us', latency = '70us'";
    const char *missing =
        "keys = 9e5, preload = 0, get = 1, fill = 'at_once', arrival = { poisson_mops = 0.1 }";
    const char *stored = "keys = 9e5, get = 1, fill = 'at_once', arrival = { poisson_mops = 0.1 }";
    struct kvc_outcome *run = answer(database, missing, false), *hits = answer(database, stored, false);
    double hit_us = kvc_laws_value(hits, "latency_mean_us"), miss_us = kvc_laws_value(run, "latency_mean_us");
    cr_expect_lt(kvc_laws_value(run, "hit_frac"), 0.02);
    cr_expect_eq(kvc_laws_value(hits, "database_queries"), 0);
    cr_expect_float_eq(miss_us, 570 + 2 * hit_us, 0.06 * miss_us, "%.1f us for a miss, %.1f us for a hit",
                       miss_us, hit_us);
    kvc_outcome_free(run);
    kvc_outcome_free(hits);
}

Test(megakv_database, a_slow_database_bounds_the_throughput)
{
    const char *slow = "queries = 25, read = '100us', times = 'fixed'";
    struct kvc_outcome *run = answer(slow, UPDATED, false), *closed = answer(slow, UPDATED, true);
    double asked = kvc_laws_value(run, "database_queries") + kvc_laws_value(run, "database_updates");
    double served = kvc_laws_value(run, "throughput_mops"), told = kvc_laws_value(closed, "throughput_mops");
    /* 25 at a time take 4 us each. */
    cr_expect_gt(asked, 0.98 * 20e3 / 4);
    cr_expect_lt(served, 4.9, "%.3f Mops", served);
    cr_expect_float_eq(told, 0.25 / (0.1 + 0.9 * (1 - kvc_metrics_get(&closed->result.model, "hit_frac"))),
                       1e-3 * told);
    cr_expect_str_eq(run->result.bottleneck_device, "database");
    cr_expect_str_eq(closed->result.bottleneck_device, "database");
    kvc_outcome_free(run);
    kvc_outcome_free(closed);
}

/* An update of two members' profiles and of the friends of one deletes three keys. */
Test(megakv_database, updates_invalidate_the_keys_of_their_action)
{
    struct kvc_outcome *run = answer(
        FAST,
        "keys = 1000, get = 0.5, arrival = { poisson_mops = 0.1 }, actions = { { name = 'profile', frac = 0.5 },"
        " { name = 'friends', frac = 0.5, value = 40 },"
        " { name = 'accept', frac = 1, invalidates = '2 profile, friends' } }",
        false);
    double hits = kvc_laws_value(run, "hit_frac");
    double law = 0.5 * (0.25 / 1.25) + 0.5 * (0.25 / 0.75);
    cr_expect_float_eq(hits, law, 0.05, "%.4f, not %.4f", hits, law);
    kvc_outcome_free(run);
}

static void expect_refused(const char *fields, const char *message)
{
    char path[] = "/tmp/kvcast-megakv-database-XXXXXX", text[600];
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = NULL;
    FILE *file = fdopen(mkstemp(path), "w");
    cr_assert_not_null(file);
    snprintf(text, sizeof(text), "return { system = { kind = 'megakv' }, %s }\n", fields);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
    cr_expect_eq(kvc_scenario_load(path, NULL, &loaded, &diag), KVC_ERR_SCENARIO, "%s", fields);
    cr_expect_not_null(strstr(diag.message, message), "%s", diag.message);
    unlink(path);
    kvc_loaded_free(loaded);
}

Test(megakv_database, what_it_cannot_simulate_is_refused)
{
#define OPEN "workload = { arrival = { poisson_mops = 1 } }"
    expect_refused("node = { sockets = 1, database = 'mysql-bg' }", "an open load");
    expect_refused("node = { sockets = 2, database = 'mysql-bg' }, " OPEN, "1 node with 1 socket");
    expect_refused("node = { sockets = 1, database = 'mysql-bg' }, run = { functional = 'off' }, " OPEN,
                   "run.functional");
}
