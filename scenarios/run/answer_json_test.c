#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/run/answer.h"
#include "scenarios/output/json.h"
#include "scenarios/run/store_fixture.h"

static json_t *answer(struct kvc_loaded *loaded, uint32_t jobs, bool predict)
{
    char *text = NULL;
    size_t bytes;
    struct kvc_diag diag = {0};
    FILE *out = open_memstream(&text, &bytes);
    const struct kvc_answer_options task = {.loaded = loaded,
                                            .path = "fake.lua",
                                            .jobs = jobs,
                                            .json = "-",
                                            .by = predict ? KVC_ANSWER_BY_PREDICTION : KVC_ANSWER_BY_RUN};
    cr_assert_eq(kvc_answer(&task, out, &diag), KVC_OK, "%s", diag.message);
    fclose(out);
    cr_assert_eq(text[bytes - 1], '\n');
    json_error_t error;
    json_t *document = json_loads(text, 0, &error);
    cr_assert_not_null(document, "%s at line %d of %s", error.text, error.line, text);
    free(text);
    return document;
}

/* Removes the keys that begin with wall_ or memory_ or end in _per_wall_s, as a user would. */
static void strip_wall_clock(json_t *document)
{
    const char *key;
    json_t *value;
    void *next;
    json_t *simulation = json_object_get(document, "simulation");
    json_object_foreach_safe(simulation, next, key, value)
    {
        const char *end = strstr(key, "_per_wall_s");
        if (strncmp(key, "wall_", 5) == 0 || strncmp(key, "memory_", 7) == 0 ||
            (end != NULL && end[strlen("_per_wall_s")] == '\0')) {
            json_object_del(simulation, key);
        }
    }
}

Test(json, is_byte_identical_for_any_number_of_jobs)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(4);
    json_t *one = answer(loaded, 1, false), *two = answer(loaded, 2, false);
    cr_assert_neq(json_equal(one, two), 1,
                  "the clock must have left its mark for this test to mean anything");
    strip_wall_clock(one);
    strip_wall_clock(two);
    char *text_one = json_dumps(one, 0), *text_two = json_dumps(two, 0);
    cr_assert_str_eq(text_one, text_two);
    free(text_one);
    free(text_two);
    json_decref(one);
    json_decref(two);
    kvc_loaded_free(loaded);
}

Test(json, has_the_documented_keys_in_order)
{
    static const char *const keys[] = {
        "schema",     "scenario",     "system",      "seed",       "version",
        "command",    "command_line", "machine",     "intervals",  "throughput_mops",
        "latency_us", "requests",     "stages",      "devices",    "bottleneck",
        "energy",     "kernel",       "kernel_ci95", "model",      "model_ci95",
        "windows",    "notes",        "simulation",  "parameters", "provenance"};
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    json_t *document = answer(loaded, 1, false), *value;
    const char *key;
    size_t at = 0;
    json_object_foreach(document, key, value)
    {
        cr_assert_lt(at, sizeof(keys) / sizeof(*keys));
        cr_assert_str_eq(key, keys[at++]);
    }
    cr_assert_eq(at, sizeof(keys) / sizeof(*keys));
    cr_assert_str_eq(json_string_value(json_object_get(document, "schema")), "kvcast.result/1");
    cr_assert(json_is_null(json_object_get(document, "energy")));
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, energy_follows_from_power)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    kvc_fake_of(loaded)->watts = 250;
    json_t *document = answer(loaded, 1, false), *energy = json_object_get(document, "energy");
    double mops = json_number_value(json_object_get(json_object_get(document, "throughput_mops"), "mean"));
    double simulated_s =
        json_number_value(json_object_get(json_object_get(document, "simulation"), "simulated_s"));
    cr_expect_float_eq(json_number_value(json_object_get(energy, "watts_mean")), 250, 1e-9);
    cr_expect_float_eq(json_number_value(json_object_get(energy, "kops_per_watt")), mops * 1e3 / 250, 1e-6);
    cr_expect_float_eq(json_number_value(json_object_get(energy, "joules")), 250 * simulated_s, 1e-9);
    json_decref(document);
    kvc_loaded_free(loaded);
}

/* Asserts that a key with ci95 stands for every other number of the object, and that it is a number. */
static void assert_intervals(const json_t *object, const char *const *pairs)
{
    for (; *pairs != NULL; pairs += 2) {
        cr_expect(json_is_number(json_object_get(object, pairs[0])), "%s", pairs[0]);
        const json_t *half_width = json_object_get(object, pairs[1]);
        cr_expect(json_is_number(half_width) && json_number_value(half_width) >= 0, "%s", pairs[1]);
    }
}

Test(json, every_value_has_its_interval_beside_it)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(3);
    kvc_fake_of(loaded)->watts = 250;
    json_t *document = answer(loaded, 1, false), *entry;
    const json_t *intervals = json_object_get(document, "intervals"),
                 *energy = json_object_get(document, "energy");
    size_t index;
    cr_expect_str_eq(json_string_value(json_object_get(intervals, "from")), "replicas");
    cr_expect_eq(json_integer_value(json_object_get(intervals, "count")), 3);
    cr_expect(json_is_null(json_object_get(intervals, "batch_s")));
    assert_intervals(json_object_get(document, "throughput_mops"), (const char *[]){"mean", "ci95", NULL});
    assert_intervals(json_object_get(document, "latency_us"),
                     (const char *[]){"mean", "ci95", "min", "min_ci95", "max", "max_ci95", NULL});
    json_array_foreach(json_object_get(json_object_get(document, "latency_us"), "percentiles"), index, entry)
        assert_intervals(entry, (const char *[]){"us", "ci95", NULL});
    assert_intervals(json_object_get(document, "requests"),
                     (const char *[]){"offered_mops", "offered_ci95_mops", "lost_frac", "lost_ci95_frac",
                                      "hit_frac", "hit_ci95_frac", NULL});
    json_array_foreach(json_object_get(document, "stages"), index, entry)
        assert_intervals(entry, (const char *[]){"utilization_frac", "utilization_ci95_frac", "mean_us",
                                                 "mean_ci95_us", NULL});
    json_array_foreach(json_object_get(document, "devices"), index, entry)
        assert_intervals(entry, (const char *[]){"utilization_frac", "utilization_ci95_frac", NULL});
    const char *const powers[] = {"joules", "joules_ci95", "watts_mean", "watts_mean_ci95", NULL};
    assert_intervals(energy, powers);
    assert_intervals(energy, (const char *[]){"kops_per_watt", "kops_per_watt_ci95", NULL});
    json_array_foreach(json_object_get(energy, "devices"), index, entry) assert_intervals(entry, powers);
    cr_expect(json_is_number(json_object_get(json_object_get(document, "kernel_ci95"), "fake_frac")));
    cr_expect(json_is_number(json_object_get(json_object_get(document, "model_ci95"), "fake_us")));
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, without_replicas_and_batches_intervals_are_null)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    json_t *document = answer(loaded, 1, false);
    const json_t *latency = json_object_get(document, "latency_us");
    cr_expect(json_is_null(json_object_get(json_object_get(document, "intervals"), "from")));
    cr_expect(json_is_null(json_object_get(latency, "ci95")));
    cr_expect(
        json_is_null(json_object_get(json_array_get(json_object_get(latency, "percentiles"), 3), "ci95")));
    cr_expect(json_is_null(json_object_get(json_object_get(document, "model_ci95"), "fake_us")));
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, latency_is_the_histograms)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    json_t *document = answer(loaded, 1, false), *entry;
    json_t *latency = json_object_get(document, "latency_us");
    double least = json_number_value(json_object_get(latency, "min")), before = least, p95 = NAN;
    double largest = json_number_value(json_object_get(latency, "max"));
    size_t index;
    json_array_foreach(json_object_get(latency, "percentiles"), index, entry)
    {
        double us = json_number_value(json_object_get(entry, "us"));
        cr_assert_geq(us, before);
        cr_assert_leq(us, largest * (1 + 1.0 / 1024));
        before = us;
        if (json_number_value(json_object_get(entry, "p")) == 0.95) {
            p95 = us;
        }
    }
    cr_assert_eq(index, KVC_PERCENTILES);
    double fraction_below = NAN;
    json_array_foreach(json_object_get(latency, "cdf"), index,
                       entry) if (json_number_value(json_array_get(entry, 0)) <= p95)
    {
        fraction_below = json_number_value(json_array_get(entry, 1));
    }
    cr_assert_float_eq(fraction_below, 0.95, 0.01);
    cr_assert_eq(
        json_number_value(json_array_get(json_array_get(json_object_get(latency, "cdf"), index - 1), 1)), 1);
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, unknown_numbers_are_null_and_odd_text_survives)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    kvc_fake_of(loaded)->wild_numbers = true;
    strcpy(loaded->scenario.name, "bad \xff name");
    json_t *document = answer(loaded, 1, false);
    cr_assert(json_is_null(json_object_get(json_object_get(document, "model"), "fake_us")));
    cr_assert(json_is_null(json_object_get(json_object_get(document, "kernel"), "fake_frac")));
    cr_assert(json_is_null(json_object_get(json_object_get(document, "throughput_mops"), "ci95")));
    cr_assert_str_eq(json_string_value(json_object_get(document, "scenario")), "bad ? name");
    cr_assert_str_eq(json_string_value(json_array_get(json_object_get(document, "notes"), 0)),
                     "quotes \" and a \\ and \x01");
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, parameters_keep_their_type_and_hardware_its_source)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    json_t *document = answer(loaded, 1, true);
    const json_t *parameters = json_object_get(document, "parameters");
    cr_assert_float_eq(json_number_value(json_object_get(parameters, "system.share")), 0.95, 1e-15);
    cr_assert_str_eq(json_string_value(json_object_get(parameters, "system.cycle")), "160us");
    cr_assert_str_eq(
        json_string_value(json_object_get(json_object_get(document, "provenance"), "node.cpu.clock")),
        "data sheet");
    cr_assert_str_eq(json_string_value(json_object_get(document, "command")), "predict");
    cr_assert_str_eq(json_string_value(json_object_get(document, "command_line")), "kvcast predict fake.lua");
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, a_prediction_has_mean_and_p95_only)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    json_t *document = answer(loaded, 1, true);
    const json_t *latency = json_object_get(document, "latency_us");
    cr_assert_eq(json_number_value(json_object_get(latency, "mean")), 10);
    cr_assert_eq(json_array_size(json_object_get(latency, "percentiles")), 1);
    cr_assert_eq(json_array_size(json_object_get(latency, "cdf")), 0);
    cr_assert(json_is_null(json_object_get(latency, "max")));
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, a_full_disk_is_told)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    struct kvc_diag diag = {0};
    FILE *full = fopen("/dev/full", "w");
    const struct kvc_answer_options task = {.loaded = loaded, .path = "fake.lua", .jobs = 1, .json = "-"};
    cr_assert_eq(kvc_answer(&task, full, &diag), KVC_ERR_RUNTIME);
    cr_assert_not_null(strstr(diag.message, "cannot write the result"), "%s", diag.message);
    fclose(full);
    kvc_loaded_free(loaded);
}
