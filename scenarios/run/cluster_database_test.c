/* Laws of clusters whose nodes each have a database of their own behind them (cluster.database). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "scenarios/run/laws_fixture.h"

#define OWNED "kind = 'mica', log = '1MiB', buckets = 1024"
#define LOCKED "kind = 'memcached', entries = 6e4"
#define PIPELINED "kind = 'fpga_memcached', entries = 65536"
#define ON_GPU "kind = 'megakv', cycle = '100us', index = '1MiB'"
#define ON_SSD "kind = 'fatcache', entries = 6e4, disk = '64MiB'"

/* So slow that queries tell, and so fast that no queue of them grows long. */
#define DATABASE "database = { base = 'mysql-bg', queries = 64, read = '100us', latency = '20us' }"
#define PER_NODE "database = 'per_node', "

/* Simulates nodes that each receive 0.2 Mops of GETs on average for 2000 keys. The caller frees the outcome.
 */
static struct kvc_outcome *read_for(const char *system, const char *node, const char *cluster, int ms)
{
    return kvc_laws_answer(
        kvc_laws_load("return { system = { %s }, node = { sockets = 1, %s }, "
                      "cluster = { nodes = 3, %s }, "
                      "workload = { keys = 6e3, key = 8, value = 32, get = 1, "
                      "dist = 'uniform', arrival = { poisson_mops = 0.6 } }, "
                      "run = { warmup = '1ms', duration = '%dms', bottleneck = 'utilization' } }",
                      system, node, cluster, ms),
        false);
}

/* Returns the share of GETs that miss in the second half of a run of 2 * ms. */
static double missed_late(const char *system, const char *node, const char *cluster, int ms)
{
    struct kvc_outcome *half = read_for(system, node, cluster, ms),
                       *whole = read_for(system, node, cluster, 2 * ms);
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
        double with = missed_late(system, DATABASE, cluster, 50),
               without = missed_late(system, "", changes[i], 50);
        cr_expect_gt(without, 0.2, "%s, %s: %.4f", system, changes[i], without);
        /* In 50 ms, a key is asked for five times on average: exp(-5) of the moved ones have not been yet. */
        cr_expect_lt(with, 0.02 * without, "%s, %s: %.4f", system, changes[i], with);
    }
}

Test(cluster_database, every_miss_is_a_query_of_its_node)
{
    const char *systems[] = {OWNED, LOCKED, PIPELINED, ON_GPU};
    for (int i = 0; i < 4; i++) {
        struct kvc_outcome *run =
            read_for(systems[i], DATABASE, PER_NODE "changes = { { at = '10ms', join = 1 } }", 50);
        double queries = kvc_laws_value(run, "database_queries"), misses = (double)run->result.misses;
        double moved = kvc_laws_value(run, "keys_moved_frac") * 6e3;
        cr_expect_gt(misses, 1000);
        /* Those that are on their way in the end. */
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
                      "run = { warmup = '50ms', duration = '100ms', bottleneck = 'utilization' } }",
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
        cr_expect_float_eq(asked, 3 * 100e3 / 25, 0.01 * asked, "%s: %g queries and updates", systems[i],
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
            "workload = { keys = 15e3, key = 8, value = 32, get = 0.9, dist = 'uniform', "
            "arrival = { poisson_mops = 0.9 } }, "
            "run = { warmup = '50ms', duration = '30ms', replicas = 5, bottleneck = 'utilization' } }",
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
