#include "scenarios/explore/evaluator.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"

#define EXAMPLE KVC_SOURCE_DIR "/scenarios/examples/first.lua"

static void set_value(struct kvc_sweep_value *value, const char *assignment)
{
    struct kvc_diag diag = {0};
    memset(value, 0, sizeof(*value));
    snprintf(value->label, sizeof(value->label), "%s", assignment);
    cr_assert_eq(kvc_overrides_parse(&value->set, assignment, &diag), KVC_OK, "%s", diag.message);
}

/* The forecast that `kvcast predict --set ...` stands for. */
static void forecast_loaded(const struct kvc_overrides *set, struct kvc_forecast *out)
{
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded;
    cr_assert_eq(kvc_scenario_load(EXAMPLE, set, &loaded, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_scenario_forecast(&loaded->scenario, out, &diag), KVC_OK, "%s", diag.message);
    kvc_loaded_free(loaded);
}

Test(evaluator, forecasts_what_a_load_of_the_point_would)
{
    struct kvc_sweep_value cycle[2], node[2];
    struct kvc_sweep_axis axis[2] = {{.path = "system.cycle", .count = 2, .value = cycle},
                                     {.path = "cluster.nodes", .count = 2, .value = node}};
    const struct kvc_space space = {.axis_count = 2, .axis = axis, .points = 4};
    struct kvc_evaluator *evaluator;
    struct kvc_diag diag = {0};
    set_value(&cycle[0], "system.cycle=160us");
    set_value(&cycle[1], "system.cycle=300us");
    set_value(&node[0], "cluster.nodes=1");
    set_value(&node[1], "cluster.nodes=4");
    cr_assert_eq(kvc_evaluator_create(EXAMPLE, NULL, &space, &evaluator, &diag), KVC_OK, "%s", diag.message);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t value[2] = {i / 2, i % 2};
        struct kvc_forecast fast, loaded;
        struct kvc_overrides set = {0};
        kvc_overrides_parse(&set, cycle[i / 2].label, &diag);
        kvc_overrides_parse(&set, node[i % 2].label, &diag);
        forecast_loaded(&set, &loaded);
        cr_assert_eq(kvc_evaluator_forecast(evaluator, value, &fast, &diag), KVC_OK, "%s", diag.message);
        cr_expect_eq(memcmp(&fast, &loaded, sizeof(fast)), 0, "point %u", i);
        cr_expect_eq(fast.nodes, i % 2 == 0 ? 1 : 4);
        cr_expect_gt(fast.throughput_mops, 0);
        kvc_overrides_clear(&set);
    }
    kvc_evaluator_free(evaluator);
    for (int i = 0; i < 2; i++) {
        kvc_overrides_clear(&cycle[i].set);
        kvc_overrides_clear(&node[i].set);
    }
}

Test(evaluator, reports_a_point_that_the_loader_refuses)
{
    struct kvc_sweep_value cycle[2];
    struct kvc_sweep_axis axis[1] = {{.path = "system.cycle", .count = 2, .value = cycle}};
    const struct kvc_space space = {.axis_count = 1, .axis = axis, .points = 2};
    struct kvc_evaluator *evaluator;
    struct kvc_diag diag = {0};
    struct kvc_forecast forecast;
    set_value(&cycle[0], "system.cycle=1.5");
    set_value(&cycle[1], "system.cycle=150us");
    cr_assert_eq(kvc_evaluator_create(EXAMPLE, NULL, &space, &evaluator, &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(kvc_evaluator_forecast(evaluator, (const uint32_t[]){0}, &forecast, &diag),
                 KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, "system.cycle: found 1.5") != NULL, "%s", diag.message);
    diag = (struct kvc_diag){0};
    cr_expect_eq(kvc_evaluator_forecast(evaluator, (const uint32_t[]){1}, &forecast, &diag), KVC_OK, "%s",
                 diag.message);
    kvc_evaluator_free(evaluator);
    kvc_overrides_clear(&cycle[0].set);
    kvc_overrides_clear(&cycle[1].set);
}

/* Equal, or both unknown. */
static void expect_same(const char *scenario, const char *what, double forecast, double predicted)
{
    cr_expect((isnan(forecast) && isnan(predicted)) || forecast == predicted, "%s: %s is %.17g, not %.17g",
              scenario, what, forecast, predicted);
}

/* A store's forecast of its own, or the one that is made from its prediction, says what the prediction does.
 */
Test(evaluator, forecasts_what_is_predicted)
{
    static const char *const scenarios[] = {
        "scenarios/examples/open_load.lua",      "scenarios/examples/facebook_etc.lua",
        "models/megakv/limits/cpu.lua",          "models/megakv/limits/nic.lua",
        "models/bluecache/golden/run.lua",       "models/dido/golden/dido.lua",
        "models/memcached/golden/memcached.lua", "models/memcachedgpu/golden/run.lua",
    };
    struct kvc_result *result = malloc(sizeof(*result));
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
        char path[512];
        struct kvc_diag diag = {0};
        struct kvc_loaded *loaded;
        struct kvc_forecast forecast;
        snprintf(path, sizeof(path), KVC_SOURCE_DIR "/%s", scenarios[i]);
        cr_assert_eq(kvc_scenario_load(path, NULL, &loaded, &diag), KVC_OK, "%s", diag.message);
        memset(result, 0, sizeof(*result));
        const struct kvc_scenario *scenario = &loaded->scenario;
        cr_assert_eq(scenario->model->predict(scenario, result, &diag), KVC_OK, "%s", diag.message);
        cr_assert_eq(kvc_scenario_forecast(scenario, &forecast, &diag), KVC_OK, "%s", diag.message);
        expect_same(scenarios[i], "throughput", forecast.throughput_mops, result->throughput_mops);
        expect_same(scenarios[i], "mean latency", forecast.latency_mean_us, result->latency_mean_us);
        expect_same(scenarios[i], "p95", forecast.latency_p95_us, result->latency_p95_us);
        expect_same(scenarios[i], "hit ratio", forecast.hit_frac,
                    kvc_metrics_get(&result->model, "hit_frac"));
        if (result->watts_mean > 0) {
            expect_same(scenarios[i], "power", forecast.watts_mean, result->watts_mean);
        }
        cr_expect_str_eq(forecast.bottleneck_stage, result->bottleneck_stage, "%s", scenarios[i]);
        cr_expect_str_eq(forecast.bottleneck_device, result->bottleneck_device, "%s", scenarios[i]);
        kvc_loaded_free(loaded);
    }
    free(result);
}

/* The card's watts at 810 MHz are not published. A sum without them would make this pair look thrifty. */
Test(evaluator, a_device_without_watts_leaves_the_power_unknown)
{
    struct kvc_diag diag = {0};
    struct kvc_overrides set = {0};
    struct kvc_forecast forecast;
    forecast_loaded(NULL, &forecast);
    cr_expect_gt(forecast.watts_mean, 0);
    cr_expect_str_eq(forecast.watts_unknown, "");
    cr_assert_eq(kvc_overrides_parse(&set, "system.gpu_core=810MHz", &diag), KVC_OK);
    forecast_loaded(&set, &forecast);
    cr_expect(isnan(forecast.watts_mean) && isnan(forecast.kops_per_watt));
    cr_expect_str_eq(forecast.watts_unknown, "gpu");
    kvc_overrides_clear(&set);
}
