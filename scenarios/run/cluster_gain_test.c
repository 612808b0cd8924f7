#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/laws_fixture.h"

/* Three nodes that are simulated apart and whose ports limit them. */
#define NIC(rate) "nic = { base = 'xl710-2x40g', port_rate = '" rate "' }"
#define STORE                                                                                                  \
    "system = { kind = 'megakv', index = '2MiB', streams = 2 }, node = { sockets = 1, " NIC(                   \
        "1Gbps") " }, "                                                                                        \
                 "workload = { keys = 3e4, key = 8, value = 8, get = 0.95, set = 0.05, arrival = 'saturate', " \
                 "clients_for = 'socket' }, "
#define ALIKE STORE "cluster = { nodes = 3 }, "
/* The third has slower ports of its own. */
#define MEMBERS                                                                                              \
    STORE "cluster = { members = { { name = 'a', nodes = 2 }, { name = 'b', nodes = 1, node = { " NIC(       \
        "500Mbps") " } } } }, "
#define RUN(replicas) "run = { warmup = '4ms', duration = '12ms', replicas = " #replicas " }"

static struct kvc_loaded *load(const char *fields)
{
    struct kvc_loaded *loaded = kvc_laws_load("return { %s }", fields);
    cr_assert(kvc_cluster_is_apart(&loaded->scenario));
    return loaded;
}

/* Answers with the bottleneck by gain; 0 jobs: by the closed form. The caller frees the outcome. */
static struct kvc_outcome *answer(const char *fields, uint32_t jobs)
{
    const struct kvc_run_options options = {.jobs = jobs};
    struct kvc_loaded *loaded = load(fields);
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
    struct kvc_outcome *one = answer(ALIKE RUN(2), 1), *two = answer(ALIKE RUN(2), 3);
    expect_nic(one, 0.005);
    cr_expect_lt(one->gain[0].gain_frac.half_width, 0.02, "%g", one->gain[0].gain_frac.half_width);
    cr_expect_eq(one->gain_count, two->gain_count);
    cr_expect_arr_eq(one->gain, two->gain, sizeof(one->gain));
    cr_expect_str_eq(one->result.bottleneck_why, two->result.bottleneck_why);
    kvc_outcome_free(one);
    kvc_outcome_free(two);
}

Test(cluster_gain, a_single_replica_has_an_interval_over_time)
{
    struct kvc_outcome *outcome = answer(ALIKE RUN(1), 2);
    expect_nic(outcome, 0.005);
    cr_expect_lt(outcome->gain[0].gain_frac.half_width, 0.02, "%g", outcome->gain[0].gain_frac.half_width);
    kvc_outcome_free(outcome);
}

Test(cluster_gain, devices_of_all_members_become_faster)
{
    struct kvc_outcome *run = answer(MEMBERS RUN(2), 2), *predicted = answer(MEMBERS RUN(2), 0);
    expect_nic(run, 0.005);
    expect_nic(predicted, 1e-6);
    kvc_outcome_free(run);
    kvc_outcome_free(predicted);
}

/* Each node finds the end of its warm-up by itself, and measures the same time in a paired run. */
Test(cluster_gain, a_pair_measures_the_time_that_the_run_measured)
{
    struct kvc_outcome *outcome = answer(ALIKE "run = { duration = '5ms', replicas = 2 }", 2);
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
