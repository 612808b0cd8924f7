#include "sim/workload/workload.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/workload/source/source_fixture.h"

static struct kvc_workload good(void)
{
    return (struct kvc_workload){.keys = 1000,
                                 .key_bytes = 8,
                                 .value_bytes = 8,
                                 .get_frac = 0.9,
                                 .set_frac = 0.05,
                                 .delete_frac = 0.05,
                                 .zipf_s = 0.99,
                                 .rate_mops = 10,
                                 .clients = 5,
                                 .preload_frac = 1,
                                 .trace = {.path = "trace.csv"},
                                 .burst_count = 1,
                                 .bursts = {{.times = 4, .length_ns = 1, .at_ns = 0, .every_ns = 9}},
                                 .mmpp_states = 1,
                                 .mmpp = {{.rate_mops = 5, .length_ns = 1}},
                                 .curve_points = 2,
                                 .curve = {{.time_ns = 0, .rate_mops = 1}, {.time_ns = 10, .rate_mops = 0}}};
}

static void refused(const struct kvc_workload *workload, const char *says)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_workload_check(workload, &diag), KVC_ERR_SCENARIO);
    cr_assert_eq(diag.status, KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, says), "\"%s\" lacks \"%s\"", diag.message, says);
    cr_assert_null(strchr(diag.message, '\n'));
}

#define REFUSED(says, ...)                                                                                   \
    do {                                                                                                     \
        struct kvc_workload workload = good();                                                               \
        workload.__VA_ARGS__;                                                                                \
        refused(&workload, says);                                                                            \
    } while (0)

Test(workload, every_arrival_passes_when_complete)
{
    for (int arrival = KVC_ARRIVAL_SATURATE; arrival <= KVC_ARRIVAL_TRACE; arrival++) {
        struct kvc_workload workload = good();
        struct kvc_diag diag = {0};
        workload.arrival = arrival;
        cr_assert_eq(kvc_workload_check(&workload, &diag), KVC_OK, "%s", diag.message);
    }
}

Test(workload, clients_out_of_range_are_refused)
{
    REFUSED("flows is 4097", flows = 4097);
    REFUSED("connections is 65537", connections = 65537);
    REFUSED("2^20 together", flows = 4096, workload.connections = 257);
    REFUSED("fill_timeout", fill_timeout_ns = -1);
    REFUSED("fill_timeout", fill_timeout_ns = NAN);
    REFUSED("workload.fill is", fill = 2);
}

Test(workload, a_load_has_at_least_one_client_and_connection)
{
    struct kvc_workload workload = good();
    cr_expect_eq(kvc_workload_flows(&workload), 1);
    cr_expect_eq(kvc_workload_connections(&workload), 1);
    workload.flows = 8;
    workload.connections = 16;
    cr_expect_eq(kvc_workload_flows(&workload), 8);
    cr_expect_eq(kvc_workload_connections(&workload), 128);
}

Test(workload, keys_and_mixes_out_of_range_are_refused)
{
    REFUSED("keys is 0", keys = 0);
    REFUSED("1 to 2^32", keys = (1ull << 32) + 1);
    REFUSED("key is 0", key_bytes = 0);
    REFUSED("key is 256", key_bytes = 256);
    REFUSED("at most 256 keys", key_bytes = 1);
    REFUSED("0 to 1044480", value_bytes = 1044481);
    REFUSED("sizes", sizes = 6);
    REFUSED("add up to 0.95", delete_frac = 0);
    REFUSED("0 to 1", get_frac = -0.1);
    REFUSED("0 to 1", set_frac = NAN);
    REFUSED("preload", preload_frac = 1.5);
    REFUSED("per_frame", frame_requests = 5000);
    REFUSED("dist", popularity = 2);
    struct kvc_workload zipf = good();
    zipf.popularity = KVC_POPULARITY_ZIPF;
    zipf.zipf_s = 0;
    refused(&zipf, "Zipf exponent is 0");
    zipf.zipf_s = NAN;
    refused(&zipf, "above 0");
}

Test(workload, arrivals_that_lack_something_are_refused)
{
    struct kvc_workload workload = good();
    workload.arrival = 9;
    refused(&workload, "closed, curve, bursts, mmpp, trace");
    workload.arrival = KVC_ARRIVAL_POISSON;
    workload.rate_mops = 0;
    refused(&workload, "above 0");
    workload.arrival = KVC_ARRIVAL_FIXED;
    workload.rate_mops = INFINITY;
    refused(&workload, "above 0");
    workload.arrival = KVC_ARRIVAL_CLOSED;
    workload.think_ns = -1;
    refused(&workload, "think time is -1");
    workload.clients = 0;
    refused(&workload, "0 clients");
    workload.arrival = KVC_ARRIVAL_TRACE;
    workload.trace.path[0] = '\0';
    refused(&workload, "no file name");
    workload.arrival = KVC_ARRIVAL_CURVE;
    workload.curve[1].time_ns = 0;
    refused(&workload, "times must rise");
    workload.curve[1] = (struct kvc_rate_point){.time_ns = 5, .rate_mops = -1};
    refused(&workload, "point 2");
    workload.curve_points = 1;
    workload.curve[0].rate_mops = 0;
    refused(&workload, "0 Mops everywhere");
    workload.curve_points = 0;
    refused(&workload, "0 points");
    workload.arrival = KVC_ARRIVAL_BURSTS;
    workload.rate_mops = 1;
    workload.bursts[0].every_ns = 0.5;
    refused(&workload, "bursts.1.every: found 0.5 ns, allowed: more than the length, 1 ns");
    workload.bursts[0] = (struct kvc_burst){.times = 2, .length_ns = 1, .at_ns = -1};
    refused(&workload, "neither at nor every");
    workload.arrival = KVC_ARRIVAL_MMPP;
    workload.mmpp[0].rate_mops = 0;
    refused(&workload, "no state with a rate above 0");
    workload = good();
    workload.storm_count = 1;
    workload.storms[0] = (struct kvc_storm){.length_ns = 1, .frac = 0.5, .keys = 1001};
    refused(&workload, "workload.storms.1.keys: found 1001, allowed: up to workload.keys, 1000");
    workload.storms[0].keys = 1;
    refused(&workload, "workload.storms: allowed with an open load");
    workload.storm_count = 0;
    workload.churn_per_s = 1;
    workload.arrival = KVC_ARRIVAL_CLOSED;
    refused(&workload, "workload.churn: allowed with an open load");
    workload.arrival = KVC_ARRIVAL_POISSON;
    workload.fill = KVC_FILL_AT_ONCE;
    refused(&workload, "(fill = \"gradually\")");
}

Test(workload, the_highest_rate_is_that_of_an_open_load)
{
    struct kvc_workload workload = good();
    workload.rate_mops = 3;
    workload.curve_points = 2;
    workload.curve[0] = (struct kvc_rate_point){.time_ns = 0, .rate_mops = 7};
    workload.curve[1] = (struct kvc_rate_point){.time_ns = 5, .rate_mops = 2};
    workload.arrival = KVC_ARRIVAL_POISSON;
    cr_expect_eq(kvc_workload_rate_max_mops(&workload), 3);
    workload.arrival = KVC_ARRIVAL_FIXED;
    cr_expect_eq(kvc_workload_rate_max_mops(&workload), 3);
    workload.arrival = KVC_ARRIVAL_CURVE;
    cr_expect_eq(kvc_workload_rate_max_mops(&workload), 7);
    workload.arrival = KVC_ARRIVAL_BURSTS;
    cr_expect_eq(kvc_workload_rate_max_mops(&workload), 4 * 3);
    workload.arrival = KVC_ARRIVAL_MMPP;
    cr_expect_eq(kvc_workload_rate_max_mops(&workload), 5);
    for (workload.arrival = 0; workload.arrival <= KVC_ARRIVAL_TRACE; workload.arrival++) {
        if (workload.arrival == KVC_ARRIVAL_SATURATE || workload.arrival == KVC_ARRIVAL_CLOSED ||
            workload.arrival == KVC_ARRIVAL_TRACE) {
            cr_expect_eq(kvc_workload_rate_max_mops(&workload), INFINITY);
        }
    }
}

Test(workload, maxima_and_means_of_fixed_sizes_and_traces)
{
    struct kvc_workload workload = good();
    cr_assert_eq(kvc_workload_key_bytes_max(&workload), 8);
    cr_assert_eq(kvc_workload_value_bytes_mean(&workload), 8);
    workload.arrival = KVC_ARRIVAL_TRACE;
    workload.trace.facts = (struct kvc_trace_facts){
        .key_bytes = 20, .value_bytes = 900, .key_bytes_max = 40, .value_bytes_max = 1 << 30};
    cr_expect_eq(kvc_workload_key_bytes_max(&workload), 40);
    cr_expect_eq(kvc_workload_value_bytes_max(&workload), KVC_VALUE_BYTES_MAX);
    cr_expect_eq(kvc_workload_key_bytes_mean(&workload), 20);
    cr_expect_eq(kvc_workload_value_bytes_mean(&workload), 900);
    workload.trace.key_bytes_most = 30;
    workload.trace.value_bytes_most = 500;
    cr_expect_eq(kvc_workload_key_bytes_max(&workload), 30);
    cr_expect_eq(kvc_workload_value_bytes_max(&workload), 500);
    cr_expect_eq(kvc_workload_value_bytes_mean(&workload), 500);
}

static const struct kvc_option *row(const char *name)
{
    for (size_t i = 0; i < kvc_workload_option_table.count; i++) {
        if (strcmp(kvc_workload_option_table.rows[i].name, name) == 0) {
            return &kvc_workload_option_table.rows[i];
        }
    }
    return NULL;
}

Test(workload, options_have_help_ranges_and_defaults)
{
    static const char names[][16] = {"keys",        "key",          "value",     "sizes",       "get",
                                     "set",         "delete",       "per_frame", "multiget",    "flows",
                                     "connections", "fill_timeout", "fill",      "clients_for", "preload"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct kvc_option *option = row(names[i]);
        cr_assert_not_null(option, "%s", names[i]);
        cr_assert_not_null(option->by_default);
        cr_assert_gt(strlen(option->help), 10);
        cr_assert(option->type == KVC_OPTION_CHOICE || option->max > option->min);
    }
    /* The others are churn, which is optional, and actions, phases, tenants, storms and values by rank, five
     * lists. */
    cr_assert_eq(kvc_workload_option_table.count, sizeof(names) / sizeof(*names) + 6);
    cr_assert_eq(kvc_phase_option_table.max_list, KVC_PHASES_MAX);
    cr_assert_eq(kvc_action_option_table.max_list, KVC_ACTIONS_MAX);
    cr_assert_eq(kvc_rate_curve_option_table.max_list, KVC_CURVE_MAX);
    cr_assert_eq(kvc_burst_option_table.max_list, KVC_BURSTS_MAX);
    cr_assert_eq(kvc_mmpp_option_table.max_list, KVC_MMPP_STATES_MAX);
}

/* The most popular hundredth of the keys has small values, the rest large ones. */
static struct kvc_workload ranked(int popularity)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_POISSON);
    workload.popularity = popularity;
    workload.zipf_s = 0.99;
    workload.preload_frac = 1;
    workload.value_count = 2;
    workload.values[0] = (struct kvc_rank_values){0.01, 32};
    workload.values[1] = (struct kvc_rank_values){1, 1000};
    return workload;
}

Test(workload, values_by_rank_have_means_by_key_and_by_request)
{
    for (int popularity = KVC_POPULARITY_UNIFORM; popularity <= KVC_POPULARITY_ZIPF; popularity++) {
        struct kvc_workload workload = ranked(popularity);
        struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
        struct kvc_batch *batch = kvc_test_batch(&workload, 200000);
        double sum = 0;
        kvc_test_drain(source, 0, INFINITY, batch);
        for (uint32_t i = 0; i < batch->count; i++) {
            cr_assert_eq(batch->value_bytes[i], batch->key_id[i] < 1000 ? 32u : 1000u);
            sum += batch->value_bytes[i];
        }
        cr_expect_float_eq(kvc_workload_value_bytes_mean(&workload), 0.01 * 32 + 0.99 * 1000, 1e-9);
        cr_expect_float_eq(kvc_workload_value_bytes_requested(&workload) / (sum / batch->count), 1, 0.01);
        cr_expect_eq(kvc_workload_value_bytes_max(&workload), 1000);
        kvc_batch_free(batch);
        kvc_source_free(source);
    }
}

Test(workload, values_by_rank_must_ascend_to_all_keys)
{
    struct kvc_workload workload = ranked(KVC_POPULARITY_ZIPF);
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_workload_check(&workload, &diag), KVC_OK, "%s", diag.message);
    workload.values[1].top_frac = 0.5;
    cr_expect_eq(kvc_workload_check(&workload, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(
        strstr(diag.message, "workload.values.2.top: found 0.5, allowed for the last entry: 1"));
    workload.values[1].top_frac = 0.01;
    cr_expect_eq(kvc_workload_check(&workload, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "workload.values.2.top: found 0.01, allowed: more than 0.01"));
    workload = ranked(KVC_POPULARITY_ZIPF);
    workload.sizes = KVC_SIZES_ETC;
    cr_expect_eq(kvc_workload_check(&workload, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "workload.values: allowed with sizes"));
}
