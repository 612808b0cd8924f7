#include "scenarios/output/compared/compare.h"

#include <criterion/criterion.h>
#include <string.h>

/* Returns a result with this throughput and half width (negative: unknown), 99th percentile and power. */
static json_t *result_of(double mops, double half_width, double p99_us, const char *missing,
                         const char *cycle)
{
    json_t *interval = half_width >= 0 ? json_real(half_width) : json_null();
    json_t *document =
        json_pack("{s:s, s:s, s:{s:f, s:o}, s:{s:[{s:f, s:f, s:f}]}, s:{s:f, s:f, s:[s?]}, s:{s:s, s:i}}",
                  "schema", "kvcast.result/1", "system", "megakv", "throughput_mops", "mean", mops, "ci95",
                  interval, "latency_us", "percentiles", "p", 0.99, "us", p99_us, "ci95", 1.0, "energy",
                  "watts_mean", 100.0, "watts_mean_ci95", 1.0, "missing", missing, "parameters",
                  "system.cycle", cycle, "workload.keys", 1000);
    cr_assert_not_null(document);
    if (missing == NULL) {
        json_object_set_new(json_object_get(document, "energy"), "missing", json_array());
    }
    return document;
}

static json_t *compared(json_t *first, json_t *second)
{
    const struct kvc_compared result[] = {{"a", first}, {"b", second}};
    json_t *comparison = kvc_compare(result, 2);
    json_decref(first);
    json_decref(second);
    return comparison;
}

static const json_t *metric_of(const json_t *comparison, const char *name)
{
    const json_t *metric;
    size_t i;
    json_array_foreach(json_object_get(comparison, "metrics"), i, metric)
    {
        if (strcmp(json_string_value(json_object_get(metric, "name")), name) == 0) {
            return metric;
        }
    }
    return NULL;
}

static const json_t *difference_of(const json_t *comparison, const char *name)
{
    return json_array_get(json_object_get(metric_of(comparison, name), "differences"), 0);
}

static const char *verdict_of(const json_t *comparison, const char *name)
{
    const char *verdict = json_string_value(json_object_get(difference_of(comparison, name), "verdict"));
    return verdict != NULL ? verdict : "none";
}

/* Half the widths 3 and 4 make 5. */
Test(compare, a_difference_counts_beyond_the_interval_of_both)
{
    static const struct {
        double mops;
        const char *verdict;
    } cases[] = {{104.9, "same"}, {105.1, "higher"}, {95.1, "same"}, {94.9, "lower"}, {100, "same"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        json_t *comparison =
            compared(result_of(100, 3, 50, NULL, "160us"), result_of(cases[i].mops, 4, 50, NULL, "160us"));
        cr_expect_str_eq(verdict_of(comparison, "throughput_mops"), cases[i].verdict, "%g", cases[i].mops);
        const json_t *difference = difference_of(comparison, "throughput_mops");
        cr_expect_float_eq(json_number_value(json_object_get(difference, "ci95")), 5, 1e-12);
        cr_expect_float_eq(json_number_value(json_object_get(difference, "change_frac")),
                           cases[i].mops / 100 - 1, 1e-12);
        json_decref(comparison);
    }
}

Test(compare, without_an_interval_there_is_no_verdict)
{
    json_t *comparison =
        compared(result_of(100, 3, 50, NULL, "160us"), result_of(120, -1, 55, NULL, "160us"));
    cr_expect_str_eq(verdict_of(comparison, "throughput_mops"), "none");
    cr_expect_str_eq(verdict_of(comparison, "latency_p99_us"), "higher");
    cr_expect_null(metric_of(comparison, "latency_p50_us"), "no result has it");
    json_decref(comparison);
}

Test(compare, a_total_without_a_device_has_no_verdict)
{
    json_t *comparison =
        compared(result_of(100, 3, 50, NULL, "160us"), result_of(100, 3, 50, "nic", "160us"));
    const char *note = json_string_value(json_array_get(json_object_get(comparison, "notes"), 0));
    cr_expect_str_eq(verdict_of(comparison, "watts_mean"), "none");
    cr_assert_not_null(note);
    cr_expect_str_eq(note, "power, W: not judged, because not all devices state theirs (nic)");
    json_decref(comparison);
}

Test(compare, lists_the_parameters_that_differ)
{
    json_t *comparison = compared(result_of(100, 3, 50, NULL, "160us"), result_of(100, 3, 50, NULL, "200us"));
    const json_t *parameters = json_object_get(comparison, "parameters");
    char *text = json_dumps(parameters, JSON_COMPACT);
    cr_expect_str_eq(text, "[{\"path\":\"system.cycle\",\"values\":[\"160us\",\"200us\"]}]");
    free(text);
    json_decref(comparison);
}

Test(compare, writes_a_table_and_columns)
{
    json_t *comparison = compared(result_of(100, 3, 50, NULL, "160us"), result_of(110, 4, 50, NULL, "200us"));
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    kvc_compare_write_table(comparison, false, out);
    kvc_compare_write_csv(comparison, out);
    cr_assert_eq(fclose(out), 0);
    cr_expect_not_null(strstr(text, "throughput, Mops                100 +- 3              110 +- 4"
                                    "              +10 % higher\n"),
                       "%s", text);
    cr_expect_not_null(strstr(text, "system.cycle                    \"160us\"               \"200us\"\n"),
                       "%s", text);
    cr_expect_not_null(strstr(text, "\nthroughput_mops,B,110,4,10,5,0.1,higher\n"), "%s", text);
    cr_expect_not_null(strstr(text, "\nthroughput_mops,A,100,3,,,,\n"), "%s", text);
    free(text);
    json_decref(comparison);
}
