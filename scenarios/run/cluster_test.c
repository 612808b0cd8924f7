#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/forecast.h"
#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/laws_fixture.h"

/* A cluster of small nodes under an open load. */
#define STORE                                                                                                \
    "system = { kind = 'megakv', cycle = '100us', index = '8MiB' }, node = { sockets = 1 }, "                \
    "workload = { keys = 4e5, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 60 } }, "
#define TIMES "warmup = '1ms', duration = '2ms'"

static struct kvc_outcome *run(const char *fields, uint32_t jobs)
{
    struct kvc_diag diag = {0};
    struct kvc_outcome *outcome = NULL;
    struct kvc_loaded *loaded = kvc_laws_load("return { %s }", fields);
    const struct kvc_run_options options = {.jobs = jobs};
    cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome, &diag), KVC_OK, "%s", diag.message);
    kvc_loaded_free(loaded);
    return outcome;
}

static bool is_apart(const char *fields)
{
    struct kvc_loaded *loaded = kvc_laws_load("return { %s }", fields);
    bool apart = kvc_cluster_is_apart(&loaded->scenario);
    kvc_loaded_free(loaded);
    return apart;
}

Test(cluster, nodes_are_apart_exactly_where_nothing_couples_them)
{
#define STORE_WITH(workload)                                                                                 \
    "system = { kind = 'megakv' }, cluster = { nodes = 2 }, workload = { " workload " }"
    cr_expect(is_apart(STORE_WITH("arrival = { poisson_mops = 10 }")));
    cr_expect(is_apart(STORE_WITH("arrival = { fixed_mops = 10 }")));
    cr_expect(is_apart(STORE_WITH("arrival = 'saturate', clients_for = 'socket'")));
    cr_expect_not(is_apart(STORE_WITH("arrival = 'saturate'")));
    cr_expect_not(is_apart(STORE_WITH("arrival = { clients = 100 }")));
    cr_expect_not(is_apart("system = { kind = 'bluecache' }, cluster = { nodes = 2 }, "
                           "workload = { arrival = { poisson_mops = 1 } }"));
    cr_expect_not(is_apart("system = { kind = 'megakv' }, workload = { arrival = { poisson_mops = 10 } }"));
    kvc_laws_refuse("system = { kind = 'megakv' }, cluster = { nodes = 2, simulate = 'apart' }",
                    "clients that wait for all of them");
    kvc_laws_refuse("system = { kind = 'megakv' }, cluster = { nodes = 2, multiget = 9 }",
                    "cluster.multiget");
    kvc_laws_refuse("system = { kind = 'megakv' }, cluster = { nodes = 1000, virtual_nodes = 100000 }",
                    "cluster.virtual_nodes: found 100000");
}

static bool has_device(const struct kvc_result *result, const char *name)
{
    uint32_t at = 0;
    while (at < result->device_count && strcmp(result->device[at].name, name) != 0) {
        at++;
    }
    return at < result->device_count;
}

Test(cluster, simulated_apart_is_as_good_as_together)
{
    static const char *const names[] = {"throughput_mops", "latency_mean_us", "latency_p50_us",
                                        "latency_p99_us", "hit_frac"};
    struct kvc_outcome *apart = run(STORE "cluster = { nodes = 4 }, run = { replicas = 6, " TIMES " }", 2);
    struct kvc_outcome *together =
        run(STORE "cluster = { nodes = 4, simulate = 'together' }, run = { replicas = 6, " TIMES " }", 2);
    cr_expect_eq(apart->node_count, 4);
    cr_expect_eq(together->node_count, 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct kvc_interval a = kvc_outcome_interval(apart, names[i]),
                            b = kvc_outcome_interval(together, names[i]);
        cr_expect_float_eq(a.mean, b.mean, a.half_width + b.half_width,
                           "%s: %g +- %g apart, %g +- %g together", names[i], a.mean, a.half_width, b.mean,
                           b.half_width);
        cr_expect_leq(a.half_width, 0.05 * a.mean, "%s: %g +- %g", names[i], a.mean, a.half_width);
    }
    cr_expect_eq(apart->result.device_count, together->result.device_count);
    for (uint32_t i = 0; i < apart->result.device_count; i++) {
        cr_expect(has_device(&together->result, apart->result.device[i].name), "%s",
                  apart->result.device[i].name);
    }
    kvc_outcome_free(apart);
    kvc_outcome_free(together);
}

Test(cluster, is_the_same_for_any_number_of_jobs_and_adds_up_its_nodes)
{
    static const char text[] =
        STORE "cluster = { nodes = 3, multiget = 10 }, run = { replicas = 2, " TIMES " }";
    struct kvc_outcome *one = run(text, 1), *two = run(text, 2);
    double requests = 0, throughput = 0, offered = 0;
    cr_expect_eq(memcmp(&one->result.latency, &two->result.latency, sizeof(one->result.latency)), 0);
    cr_expect_eq(one->result.completed, two->result.completed);
    cr_expect_eq(kvc_metrics_get(&one->result.model, "multiget_p99_us"),
                 kvc_metrics_get(&two->result.model, "multiget_p99_us"));
    cr_expect_gt(kvc_metrics_get(&one->result.model, "multiget_mean_us"),
                 kvc_histogram_mean_ns(&one->result.latency) * 1e-3);
    for (uint32_t i = 0; i < one->node_count; i++) {
        requests += one->node[i].request_frac;
        throughput += one->node[i].throughput_mops;
        offered += one->node[i].offered;
    }
    cr_expect_float_eq(requests, 1, 1e-9);
    cr_expect_float_eq(throughput, one->result.throughput_mops, 1e-9);
    cr_expect_float_eq(2 * offered, (double)one->result.offered, 1e-6);
    kvc_outcome_free(one);
    kvc_outcome_free(two);
}

/* Returns the hit ratio of the requests. */
static double hit_frac(const struct kvc_outcome *outcome)
{
    return (double)outcome->result.hits / (double)(outcome->result.hits + outcome->result.misses);
}

Test(cluster, a_node_that_fails_loses_requests_and_its_keys_miss_elsewhere)
{
    struct kvc_outcome *usual = run(STORE "cluster = { nodes = 4 }, run = { " TIMES " }", 2);
    struct kvc_outcome *failed =
        run(STORE "cluster = { nodes = 4, changes = { { at = '0.5ms', fail = 1, detect = "
                  "'0.5ms' } } }, run = { " TIMES " }",
            2);
    double share = failed->node[1].request_frac, lost = share * 60e6 * 0.5e-3;
    cr_expect_eq(usual->result.dropped, 0);
    cr_expect_float_eq((double)failed->result.dropped, lost, 5 * sqrt(lost));
    /* The node receives requests for a quarter of the time, and also answers the requests in flight. */
    cr_expect_gt(failed->node[1].throughput_mops, 0.25 * usual->node[1].throughput_mops);
    cr_expect_lt(failed->node[1].throughput_mops, 0.5 * usual->node[1].throughput_mops);
    cr_expect_gt(failed->node[0].throughput_mops, 1.05 * usual->node[0].throughput_mops, "the load shifts");
    cr_expect_gt(hit_frac(usual), 0.9999);
    cr_expect_lt(hit_frac(failed), 0.95, "%g", hit_frac(failed));
    cr_expect_float_eq(kvc_metrics_get(&failed->result.model, "keys_moved_frac"), failed->node[1].key_frac,
                       1e-9);
    kvc_outcome_free(usual);
    kvc_outcome_free(failed);
}

static void expect_sums(const struct kvc_outcome *outcome, uint32_t windows)
{
    const struct kvc_result *result = &outcome->result;
    struct kvc_span sum = {0};
    cr_assert(outcome->spans[0] != NULL && outcome->spans[0]->count == windows);
    for (uint32_t i = 0; i < windows; i++) {
        const struct kvc_span *span = &outcome->spans[0]->span[i];
        sum.offered += span->offered;
        sum.dropped += span->dropped;
        sum.completed += span->completed;
        cr_expect_leq(span->answered + span->dropped, span->offered);
    }
    cr_expect_eq(sum.offered, result->offered);
    cr_expect_eq(sum.dropped, result->dropped);
    cr_expect_eq(sum.completed, result->completed);
}

/* Nodes that find the end of their warm-ups by themselves measure the same windows, too. */
Test(cluster, windows_of_its_nodes_begin_with_their_measured_times)
{
    struct kvc_outcome *outcome = run(
        STORE "cluster = { nodes = 24 }, slo = { mops = 1, window = '0.3ms' }, run = { duration = '1ms' }",
        2);
    bool differ = false;
    for (uint32_t i = 1; i < outcome->node_count; i++) {
        differ |= outcome->node_warmup_s[i] != outcome->node_warmup_s[0];
    }
    cr_expect(differ);
    expect_sums(outcome, 3);
    cr_expect_float_eq(outcome->spans[0]->last_us, 400, 1e-6);
    kvc_outcome_free(outcome);
}

/* A window has 0.04 ms: what fails at 0.5 ms is lost in the windows 12 to 24. */
Test(cluster, windows_of_its_nodes_add_up_and_show_a_failure)
{
    struct kvc_outcome *outcome =
        run(STORE "cluster = { nodes = 4, changes = { { at = '0.5ms', fail = 1, detect = '0.5ms' } } }, "
                  "slo = { p99 = '10ms' }, run = { " TIMES " }",
            2);
    expect_sums(outcome, 50);
    for (uint32_t i = 0; i < 50; i++) {
        uint64_t lost = outcome->spans[0]->span[i].dropped;
        cr_expect_eq(lost > 0, i >= 12 && i < 25, "window %u: %d lost", i, (int)lost);
    }
    cr_expect(outcome->result.moves, "its nodes tell no interval either");
    kvc_outcome_free(outcome);
}

Test(cluster, a_node_that_joins_takes_its_share_and_misses)
{
    struct kvc_outcome *joined =
        run(STORE "cluster = { nodes = 3, changes = { { at = '1ms', join = 1 } } }, run = { " TIMES " }", 2);
    cr_assert_eq(joined->node_count, 4);
    cr_expect_eq(joined->node[3].key_frac, 0);
    cr_expect_gt(joined->node[3].throughput_mops, 1);
    cr_expect_lt(joined->node[3].hit_frac, 0.5);
    cr_expect_gt(joined->node[0].hit_frac, 0.9999, "what stays is there");
    cr_expect_float_eq(kvc_metrics_get(&joined->result.model, "keys_moved_frac"), 0.25, 0.02);
    kvc_outcome_free(joined);
}

Test(cluster, impossible_changes_are_refused)
{
#define CHANGED(changes, times)                                                                              \
    STORE "cluster = { nodes = 2, changes = { " changes " } }, run = { " times " }"
    kvc_laws_refuse(CHANGED("{ at = '1ms', leave = 5 }", TIMES), "cluster.changes.1.leave: found 5");
    kvc_laws_refuse(CHANGED("{ at = '1ms', leave = 0.5 }", TIMES), "a whole number");
    kvc_laws_refuse(CHANGED("{ at = '1ms' }", TIMES), "found 0 of join, leave and fail");
    kvc_laws_refuse(CHANGED("{ at = '1ms', join = 1, leave = 1 }", TIMES), "found 2 of join, leave and fail");
    kvc_laws_refuse(CHANGED("{ at = '9ms', leave = 1 }", TIMES), "less than run.duration");
    kvc_laws_refuse(CHANGED("{ at = '1ms', leave = 1 }", "duration = '2ms'"), "run.warmup: found auto");
    kvc_laws_refuse(CHANGED("{ at = '1ms', leave = 1 }, { at = '1.5ms', leave = 1 }", TIMES),
                    "not in the cluster");
    kvc_laws_refuse(CHANGED("{ at = '1ms', leave = 1 }, { at = '1.5ms', leave = 0 }", TIMES),
                    "the last node");
}

#define MIXED                                                                                                \
    "system = { kind = 'megakv', cycle = '100us', index = '8MiB' }, node = { sockets = 1 }, "                \
    "cluster = { members = { { name = 'one', nodes = 2 }, "                                                  \
    "{ name = 'two', nodes = 1, weight = 2, node = { sockets = 2 } } } }, "

Test(cluster, members_have_shares_by_weight_and_their_own_machines)
{
    struct kvc_outcome *outcome =
        run(MIXED "workload = { keys = 4e5, arrival = { poisson_mops = 80 } }, run = { " TIMES " }", 2);
    cr_assert_eq(outcome->node_count, 3);
    cr_expect_str_eq(outcome->node[1].class, "one");
    cr_expect_str_eq(outcome->node[2].class, "two");
    cr_expect_float_eq(outcome->node[2].key_frac, 0.5, 0.03);
    cr_expect_float_eq(outcome->node[0].key_frac, 0.25, 0.02);
    cr_expect(has_device(&outcome->result, "node2.socket1.gpu"));
    cr_expect_not(has_device(&outcome->result, "node1.socket1.gpu"));
    kvc_outcome_free(outcome);
}

Test(cluster, the_closed_form_adds_members_up)
{
    struct kvc_diag diag = {0};
    struct kvc_forecast forecast;
    struct kvc_result *result = calloc(1, sizeof(*result));
    struct kvc_loaded *open =
        kvc_laws_load("return { %s }", MIXED "workload = { arrival = { poisson_mops = 80 } }");
    struct kvc_loaded *own =
        kvc_laws_load("return { %s }", MIXED "workload = { arrival = 'saturate', clients_for = 'socket' }");
    cr_assert_eq(kvc_scenario_predict(&open->scenario, result, &diag), KVC_OK, "%s", diag.message);
    cr_expect_float_eq(result->throughput_mops, 80, 1e-6);
    memset(result, 0, sizeof(*result));
    cr_assert_eq(kvc_scenario_predict(&own->scenario, result, &diag), KVC_OK, "%s", diag.message);
    double one = kvc_metrics_get(&result->model, "one_node_mops"),
           two = kvc_metrics_get(&result->model, "two_node_mops");
    cr_expect_float_eq(two, 2 * one, 0.1 * two, "twice the sockets: %g, %g", one, two);
    cr_expect_float_eq(result->throughput_mops, 2 * one + two, 1e-6);
    cr_assert_eq(kvc_scenario_forecast(&own->scenario, &forecast, &diag), KVC_OK);
    cr_expect_float_eq(forecast.throughput_mops, result->throughput_mops, 1e-9 * forecast.throughput_mops);
    /* One set of clients for all: the nodes with most load for their speed hold back the others. */
    own->scenario.workload.clients_for = KVC_CLIENTS_FOR_CLUSTER;
    own->scenario.cluster.member[1].weight = 4;
    memset(result, 0, sizeof(*result));
    cr_assert_eq(kvc_scenario_predict(&own->scenario, result, &diag), KVC_OK, "%s", diag.message);
    cr_expect_float_eq(result->throughput_mops, kvc_metrics_get(&result->model, "two_node_mops") / (4.0 / 6),
                       1e-6);
    cr_expect_lt(kvc_metrics_get(&result->model, "one_node_mops"), 0.6 * one);
    kvc_loaded_free(open);
    kvc_loaded_free(own);
    free(result);
}

/* Laws of clusters in which each node has a database of its own (cluster.database). */

#define OWNED "kind = 'mica', log = '1MiB', buckets = 1024"
#define LOCKED "kind = 'memcached', entries = 6e4"
#define PIPELINED "kind = 'fpga_memcached', entries = 65536"
#define ON_GPU "kind = 'megakv', cycle = '100us', index = '1MiB'"
#define ON_SSD "kind = 'fatcache', entries = 6e4, disk = '64MiB'"

/* The database is slow enough for queries to matter, and fast enough that they do not queue. */
#define DATABASE "database = { base = 'mysql-bg', queries = 64, read = '100us', latency = '20us' }"
#define PER_NODE "database = 'per_node', "

/* Simulates nodes that each receive 0.2 Mops of GETs on average for a third of `keys`. The caller frees the
 * outcome.
 */
static struct kvc_outcome *read_for(const char *system, const char *node, const char *cluster, int keys,
                                    int ms)
{
    return kvc_laws_answer(
        kvc_laws_load("return { system = { %s }, node = { sockets = 1, %s }, "
                      "cluster = { nodes = 3, %s }, "
                      "workload = { keys = %d, key = 8, value = 32, get = 1, "
                      "dist = 'uniform', arrival = { poisson_mops = 0.6 } }, "
                      "run = { warmup = '1ms', duration = '%dms', bottleneck = 'utilization' } }",
                      system, node, cluster, keys, ms),
        false);
}

/* Returns the share of GETs that miss in the second half of a run of 2 * ms. */
static double missed_late(const char *system, const char *node, const char *cluster, int ms)
{
    struct kvc_outcome *half = read_for(system, node, cluster, 3000, ms),
                       *whole = read_for(system, node, cluster, 3000, 2 * ms);
    double misses = (double)(whole->result.misses - half->result.misses),
           gets = (double)(whole->result.gets - half->result.gets);
    kvc_outcome_free(half);
    kvc_outcome_free(whole);
    cr_assert_gt(gets, 0);
    return misses / gets;
}

Test(cluster_database, moved_keys_come_back_only_through_the_database)
{
    static const char joins[] = "changes = { { at = '0ms', join = 1 } }",
                      fails[] = "changes = { { at = '0ms', fail = 1, detect = '1ms' } }";
    const char *systems[] = {OWNED, OWNED, LOCKED, PIPELINED, ON_GPU},
               *changes[] = {joins, fails, joins, fails, fails};
    char cluster[200];
    for (int i = 0; i < 5; i++) {
        const char *system = systems[i];
        snprintf(cluster, sizeof(cluster), PER_NODE "%s", changes[i]);
        double with = missed_late(system, DATABASE, cluster, 25),
               without = missed_late(system, "", changes[i], 25);
        cr_expect_gt(without, 0.2, "%s, %s: %.4f", system, changes[i], without);
        /* In 25 ms, a key is asked for five times on average: exp(-5) of the moved ones have not been yet. */
        cr_expect_lt(with, 0.02 * without, "%s, %s: %.4f", system, changes[i], with);
    }
}

Test(cluster_database, every_miss_is_a_query_of_its_node)
{
    const char *systems[] = {OWNED, LOCKED, PIPELINED, ON_GPU};
    for (int i = 0; i < 4; i++) {
        struct kvc_outcome *run =
            read_for(systems[i], DATABASE, PER_NODE "changes = { { at = '10ms', join = 1 } }", 6000, 50);
        double queries = kvc_laws_value(run, "database_queries"), misses = (double)run->result.misses;
        double moved = kvc_laws_value(run, "keys_moved_frac") * 6e3;
        cr_expect_gt(misses, 1000);
        /* The tolerance covers requests still in flight at the end. */
        cr_expect_float_eq(queries, misses, 20, "%s: %g queries, %g misses", systems[i], queries, misses);
        /* A key misses once, and again while it is queried: 120 us of 10 ms between requests. */
        cr_expect_float_eq(misses, moved, 0.05 * moved, "%s: %g misses of %g moved keys", systems[i], misses,
                           moved);
        kvc_outcome_free(run);
    }
}

/* Saturates nodes with 10 % updates, so that the database limits them, and so that a fifth of the requests
 * ask for it. */
static struct kvc_outcome *saturate(const char *system, int nodes, bool predict)
{
    return kvc_laws_answer(
        kvc_laws_load("return { system = { %s, outstanding = 64 }, node = { sockets = 1, database = { base = "
                      "'mysql-bg', queries = 4, read = '100us', times = 'fixed' } }, "
                      "cluster = { nodes = %d, database = 'per_node' }, "
                      "workload = { keys = %d, key = 8, value = 32, get = 0.9, dist = 'uniform', "
                      "arrival = 'saturate', clients_for = 'socket' }, "
                      "run = { warmup = '30ms', duration = '50ms', bottleneck = 'utilization' } }",
                      system, nodes, nodes * 3000),
        predict);
}

Test(cluster_database, nodes_have_the_capacity_of_their_own_databases)
{
    const char *systems[] = {OWNED, LOCKED, PIPELINED, ON_SSD};
    for (int i = 0; i < 4; i++) {
        struct kvc_outcome *one = saturate(systems[i], 1, true), *three = saturate(systems[i], 3, true),
                           *run = saturate(systems[i], 3, false);
        double mops = kvc_laws_value(three, "throughput_mops"), ran = kvc_laws_value(run, "throughput_mops");
        double asked = kvc_laws_value(run, "database_queries") + kvc_laws_value(run, "database_updates");
        cr_expect_float_eq(mops, 3 * kvc_laws_value(one, "throughput_mops"), 1e-6 * mops, "%s", systems[i]);
        cr_expect_str_eq(three->result.bottleneck_device, "database", "%s", systems[i]);
        cr_expect_str_eq(run->result.bottleneck_device, "database", "%s", systems[i]);
        /* Four at a time take 25 us each. */
        cr_expect_float_eq(asked, 3 * 50e3 / 25, 0.01 * asked, "%s: %g queries and updates", systems[i],
                           asked);
        cr_expect_float_eq(ran, mops, 0.05 * mops, "%s: %.4f simulated, %.4f predicted", systems[i], ran,
                           mops);
        kvc_outcome_free(one);
        kvc_outcome_free(three);
        kvc_outcome_free(run);
    }
}

/* Simulates three nodes with 10 % updates in five replicas. */
static struct kvc_outcome *update(const char *system, const char *simulate)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { system = { %s }, node = { sockets = 1, " DATABASE " }, "
            "cluster = { nodes = 3, database = 'per_node', simulate = '%s' }, "
            "workload = { keys = 5e3, key = 8, value = 32, get = 0.9, dist = 'uniform', "
            "arrival = { poisson_mops = 0.6 } }, "
            "run = { warmup = '20ms', duration = '20ms', replicas = 5, bottleneck = 'utilization' } }",
            system, simulate),
        false);
}

Test(cluster_database, nodes_in_one_engine_have_their_own_databases_too)
{
    static const char *const names[] = {"throughput_mops",  "latency_mean_us",  "latency_p99_us",
                                        "database_queries", "database_updates", "hit_frac"};
    struct kvc_outcome *apart = update(OWNED, "apart"), *together = update(OWNED, "together");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct kvc_interval a = kvc_outcome_interval(apart, names[i]),
                            b = kvc_outcome_interval(together, names[i]);
        cr_expect_float_eq(a.mean, b.mean, a.half_width + b.half_width,
                           "%s: %g +- %g apart, %g +- %g together", names[i], a.mean, a.half_width, b.mean,
                           b.half_width);
        cr_expect_leq(a.half_width, 0.05 * a.mean, "%s: %g +- %g", names[i], a.mean, a.half_width);
    }
    cr_expect_gt(kvc_outcome_interval(apart, "latency_p99_us").mean, 120, "misses wait for a query");
    kvc_outcome_free(apart);
    kvc_outcome_free(together);
}

Test(cluster_database, what_has_no_database_of_its_own_is_refused)
{
#define OPEN "workload = { arrival = { poisson_mops = 1 } }"
#define BEHIND(system, cluster)                                                                              \
    "system = { kind = '" system "' }, node = { sockets = 1, database = 'mysql-bg' }, cluster = { " cluster  \
    " }, " OPEN
    kvc_laws_refuse(BEHIND("mica", "nodes = 2"), "cluster.database = \"per_node\"");
    kvc_laws_refuse(BEHIND("mica", "nodes = 1, multiget = 2"), "cluster.database = \"per_node\"");
    kvc_laws_refuse(BEHIND("bluecache", "nodes = 2, database = 'per_node'"),
                    "allowed with bluecache: shared");
    kvc_laws_refuse("system = { kind = 'mica' }, cluster = { nodes = 2, database = 'per_node' }, " OPEN,
                    "no node.database");
    kvc_laws_refuse(
        "system = { kind = 'mica' }, node = { sockets = 1 }, cluster = { database = 'per_node', "
        "members = { { name = 'a', nodes = 1, node = { database = 'mysql-bg' } }, { name = 'b', nodes = 1 } } }, " OPEN,
        "member \"b\" have no node.database");
    kvc_laws_refuse(
        "system = { kind = 'mica' }, node = { sockets = 1 }, cluster = { members = { { name = 'a', "
        "nodes = 2, node = { database = 'mysql-bg' } } } }, " OPEN,
        "the database behind them");
    kvc_laws_refuse("system = { kind = 'mica' }, node = { sockets = 2, database = 'mysql-bg' }, "
                    "cluster = { nodes = 2, database = 'per_node' }, " OPEN,
                    "nodes with 1 socket");
    kvc_laws_refuse("system = { kind = 'mica' }, node = { sockets = 1, database = 'mysql-bg' }, "
                    "cluster = { nodes = 2, database = 'per_node' }, workload = { preset = 'bg-very-low' }",
                    "workload.actions: found");
}

/* Three nodes that are simulated apart and whose ports limit them. */
#define NIC(rate) "nic = { base = 'xl710-2x40g', port_rate = '" rate "' }"
#define SATURATED                                                                                              \
    "system = { kind = 'megakv', index = '2MiB', streams = 2 }, node = { sockets = 1, " NIC(                   \
        "1Gbps") " }, "                                                                                        \
                 "workload = { keys = 3e4, key = 8, value = 8, get = 0.95, set = 0.05, arrival = 'saturate', " \
                 "clients_for = 'socket' }, "
#define ALIKE SATURATED "cluster = { nodes = 3 }, "
/* The third has slower ports of its own. */
#define MEMBERS                                                                                              \
    SATURATED "cluster = { members = { { name = 'a', nodes = 2 }, { name = 'b', nodes = 1, node = { " NIC(   \
        "500Mbps") " } } } }, "
#define RUN(replicas) "run = { warmup = '2ms', duration = '6ms', replicas = " #replicas " }"

static struct kvc_loaded *load_large(const char *fields)
{
    struct kvc_loaded *loaded = kvc_laws_load("return { %s }", fields);
    cr_assert(kvc_cluster_is_apart(&loaded->scenario));
    return loaded;
}

/* Answers with the bottleneck by gain; 0 jobs: by the closed form. The caller frees the outcome. */
static struct kvc_outcome *answer_large(const char *fields, uint32_t jobs)
{
    const struct kvc_run_options options = {.jobs = jobs};
    struct kvc_loaded *loaded = load_large(fields);
    struct kvc_outcome *outcome = NULL;
    struct kvc_diag diag = {0};
    enum kvc_status status = jobs == 0 ? kvc_driver_predict(&loaded->scenario, &outcome, &diag)
                                       : kvc_driver_run(&loaded->scenario, &options, &outcome, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    status = kvc_gain_find(&loaded->scenario, jobs == 0 ? NULL : &options, outcome, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    kvc_loaded_free(loaded);
    return outcome;
}

/* All nodes are limited by their ports, so that 5 % faster ports gain 5 % if they are so in all nodes. */
static void expect_nic(const struct kvc_outcome *outcome, double tolerance_frac)
{
    cr_assert_gt(outcome->gain_count, 0);
    cr_expect_str_eq(outcome->result.bottleneck_device, "nic", "%s", outcome->result.bottleneck_why);
    cr_expect_str_eq(outcome->gain[0].resource, "nic");
    cr_expect_float_eq(outcome->gain[0].gain_frac.mean, 0.05, tolerance_frac, "%g",
                       outcome->gain[0].gain_frac.mean);
    for (uint32_t i = 1; i < outcome->gain_count; i++) {
        cr_expect_lt(outcome->gain[i].gain_frac.mean, 0.01, "%s", outcome->gain[i].resource);
    }
}

Test(cluster_gain, of_equal_nodes_names_what_limits_them_for_any_number_of_jobs)
{
    struct kvc_outcome *one = answer_large(ALIKE RUN(2), 1), *two = answer_large(ALIKE RUN(2), 3);
    expect_nic(one, 0.007);
    cr_expect_lt(one->gain[0].gain_frac.half_width, 0.02, "%g", one->gain[0].gain_frac.half_width);
    cr_expect_eq(one->gain_count, two->gain_count);
    cr_expect_arr_eq(one->gain, two->gain, sizeof(one->gain));
    cr_expect_str_eq(one->result.bottleneck_why, two->result.bottleneck_why);
    kvc_outcome_free(one);
    kvc_outcome_free(two);
}

Test(cluster_gain, a_single_replica_has_an_interval_over_time)
{
    struct kvc_outcome *outcome = answer_large(ALIKE RUN(1), 2);
    expect_nic(outcome, 0.005);
    cr_expect_lt(outcome->gain[0].gain_frac.half_width, 0.02, "%g", outcome->gain[0].gain_frac.half_width);
    kvc_outcome_free(outcome);
}

Test(cluster_gain, devices_of_all_members_become_faster)
{
    struct kvc_outcome *run = answer_large(MEMBERS RUN(2), 2), *predicted = answer_large(MEMBERS RUN(2), 0);
    expect_nic(run, 0.005);
    expect_nic(predicted, 1e-6);
    kvc_outcome_free(run);
    kvc_outcome_free(predicted);
}

/* Each node finds the end of its warm-up by itself, and measures the same time in a paired run. */
Test(cluster_gain, a_pair_measures_the_time_that_the_run_measured)
{
    struct kvc_outcome *outcome = answer_large(ALIKE "run = { duration = '5ms', replicas = 2 }", 2);
    double most_s = 0;
    uint32_t unused = 0;
    for (uint32_t i = 0; i < outcome->node_count; i++) {
        cr_expect_gt(outcome->node_warmup_s[i], 0);
        most_s = fmax(most_s, outcome->node_warmup_s[i]);
    }
    cr_expect_eq(most_s, kvc_outcome_value(outcome, 0, "warmup_s"));
    for (uint32_t i = 0; i < outcome->gain_count; i++) {
        if (strcmp(outcome->gain[i].resource, "dram") == 0) { /* Hardly used: nothing else differs. */
            cr_expect_lt(fabs(outcome->gain[i].gain_frac.mean), 0.002, "%g", outcome->gain[i].gain_frac.mean);
            unused++;
        }
    }
    cr_expect_eq(unused, 1);
    kvc_outcome_free(outcome);
}
