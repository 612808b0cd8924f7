#include "scenarios/run/cluster.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/forecast.h"
#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"
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
    /* It is sent requests for a quarter of the time, and answers those that are on their way, too. */
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
