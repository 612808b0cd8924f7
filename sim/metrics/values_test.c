#include "sim/metrics/values.h"

#include <criterion/criterion.h>
#include <math.h>

static struct kvc_result *a_result(void)
{
    struct kvc_result *result = calloc(1, sizeof(*result));
    double sent_ns[100], done_ns[100];
    for (int i = 0; i < 100; i++) {
        sent_ns[i] = i;
        done_ns[i] = i + 1000 * (i + 1);
    }
    kvc_histogram_record(&result->latency, sent_ns, done_ns, 100);
    result->has_histogram = true;
    result->throughput_mops = 50;
    result->simulated_s = 2e-6;
    result->offered = 200;
    result->dropped = 50;
    result->gets = 80;
    result->hits = 60;
    result->misses = 20;
    result->watts_mean = 100;
    result->joules = 2e-4;
    kvc_result_add_stage(result, "search", "gpu", 0.75);
    kvc_result_add_device(result, "node0.gpu", "gpu")->utilization_frac = 0.5;
    kvc_metrics_set(&result->kernel, "both_us", 1);
    kvc_metrics_set(&result->model, "both_us", 2);
    kvc_metrics_set(&result->kernel, "items", 3);
    return result;
}

Test(values, have_the_names_of_the_document)
{
    struct kvc_result *result = a_result();
    struct kvc_values values = {0};
    kvc_values_of(result, &values);
    cr_expect_eq(kvc_values_get(&values, "throughput_mops", -1), 50);
    cr_expect_float_eq(kvc_values_get(&values, "offered_mops", -1), 100, 1e-9);
    cr_expect_eq(kvc_values_get(&values, "lost_frac", -1), 0.25);
    cr_expect_eq(kvc_values_get(&values, "hit_frac", -1), 0.75);
    cr_expect_float_eq(kvc_values_get(&values, "latency_mean_us", -1), 50.5, 1e-9);
    cr_expect_eq(kvc_values_get(&values, "latency_min_us", -1), 1);
    cr_expect_eq(kvc_values_get(&values, "latency_max_us", -1), 100);
    cr_expect_float_eq(kvc_values_get(&values, "latency_p99_us", -1), 99, 0.1);
    cr_expect_float_eq(kvc_values_get(&values, "latency_p99.99_us", -1), 100, 0.1);
    cr_expect_eq(kvc_values_get(&values, "kops_per_watt", -1), 500);
    cr_expect_eq(kvc_values_get(&values, "stages.search.utilization_frac", -1), 0.75);
    cr_expect(isnan(kvc_values_get(&values, "stages.search.mean_us", -1)));
    cr_expect_eq(kvc_values_get(&values, "devices.node0.gpu.utilization_frac", -1), 0.5);
    cr_expect(isnan(kvc_values_get(&values, "nonsense", -1)));
    kvc_values_free(&values);
    free(result);
}

Test(values, of_metrics_need_no_prefix)
{
    struct kvc_result *result = a_result();
    struct kvc_values values = {0};
    kvc_values_of(result, &values);
    cr_expect_eq(kvc_values_get(&values, "both_us", -1), 2, "the model's comes first");
    cr_expect_eq(kvc_values_get(&values, "kernel.both_us", -1), 1);
    cr_expect_eq(kvc_values_get(&values, "items", -1), 3);
    cr_expect_eq(kvc_values_get(&values, "items", 0), 3, "a wrong hint does no harm");
    cr_expect_eq(kvc_values_get(&values, "items", values.count), 3);
    kvc_values_free(&values);
    free(result);
}

Test(values, of_a_prediction_are_those_it_knows)
{
    struct kvc_result *result = calloc(1, sizeof(*result));
    struct kvc_values values = {0};
    result->throughput_mops = 10;
    result->predicted = (struct kvc_latencies){5, 4, 9, NAN, NAN};
    kvc_values_of(result, &values);
    cr_expect_eq(kvc_values_get(&values, "latency_p95_us", -1), 9);
    cr_expect_eq(kvc_values_find(&values, "latency_p99_us"), -1);
    static const char *const unknown[] = {"offered_mops", "lost_frac", "hit_frac", "watts_mean", "joules"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
        cr_expect(isnan(kvc_values_get(&values, unknown[i], -1)), "%s", unknown[i]);
    }
    kvc_values_free(&values);
    free(result);
}
