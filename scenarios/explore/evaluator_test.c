#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/explore/evaluator.h"

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

/* A store's own forecast, or the one made from its prediction, equals the prediction. */
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
        expect_same(scenarios[i], "mean latency", forecast.latency.mean_us, result->predicted.mean_us);
        expect_same(scenarios[i], "p50", forecast.latency.p50_us, result->predicted.p50_us);
        expect_same(scenarios[i], "p95", forecast.latency.p95_us, result->predicted.p95_us);
        expect_same(scenarios[i], "p99", forecast.latency.p99_us, result->predicted.p99_us);
        expect_same(scenarios[i], "p99.9", forecast.latency.p999_us, result->predicted.p999_us);
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
    cr_expect_str_eq(forecast.watts_missing, "");
    cr_assert_eq(kvc_overrides_parse(&set, "system.gpu_core=810MHz", &diag), KVC_OK);
    forecast_loaded(&set, &forecast);
    cr_expect(isnan(forecast.watts_mean) && isnan(forecast.kops_per_watt));
    cr_expect_str_eq(forecast.watts_missing, "gpu");
    kvc_overrides_clear(&set);
}

/* The evaluator's patches against full loads, at every point of small spaces. */

#define GPU_STORE KVC_SOURCE_DIR "/scenarios/examples/first.lua"
#define NIC_STORE KVC_SOURCE_DIR "/models/kvdirect/golden/run.lua"
#define CHIP_STORE KVC_SOURCE_DIR "/models/dido/golden/dido.lua"

enum { AXES_MAX = 4, VALUES_MAX = 4 };

/* An axis. A value has one or more assignments, with blanks between them. */
struct axis {
    const char *path;
    const char *value[VALUES_MAX + 1];
};

static void add_assignments(struct kvc_overrides *set, const char *assignments)
{
    struct kvc_diag diag = {0};
    char copy[KVC_TEXT_MAX], *rest = copy;
    snprintf(copy, sizeof(copy), "%s", assignments);
    for (char *one = strtok_r(copy, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest)) {
        cr_assert_eq(kvc_overrides_parse(set, one, &diag), KVC_OK, "%s", diag.message);
    }
}

static struct kvc_space space_of(const struct axis *axes)
{
    struct kvc_space space = {.axis = calloc(AXES_MAX, sizeof(*space.axis)), .points = 1};
    for (; axes[space.axis_count].path != NULL; space.axis_count++) {
        struct kvc_sweep_axis *axis = &space.axis[space.axis_count];
        snprintf(axis->path, sizeof(axis->path), "%s", axes[space.axis_count].path);
        axis->value = calloc(VALUES_MAX, sizeof(*axis->value));
        for (; axes[space.axis_count].value[axis->count] != NULL; axis->count++) {
            add_assignments(&axis->value[axis->count].set, axes[space.axis_count].value[axis->count]);
        }
        space.points *= axis->count;
    }
    return space;
}

static void free_space(struct kvc_space *space)
{
    for (uint32_t a = 0; a < space->axis_count; a++) {
        for (uint32_t v = 0; v < space->axis[a].count; v++) {
            kvc_overrides_clear(&space->axis[a].value[v].set);
        }
        free(space->axis[a].value);
    }
    free(space->axis);
}

static void expect_point(const char *path, const struct kvc_overrides *set, const struct kvc_space *space,
                         struct kvc_evaluator *evaluator, const uint32_t *value)
{
    struct kvc_diag fast_diag = {0}, full_diag = {0};
    struct kvc_overrides all = {0};
    struct kvc_forecast fast, full;
    struct kvc_loaded *loaded;
    kvc_overrides_join(&all, set, &full_diag);
    for (uint32_t a = 0; a < space->axis_count; a++) {
        kvc_overrides_join(&all, &space->axis[a].value[value[a]].set, &full_diag);
    }
    enum kvc_status expected = kvc_scenario_load_point(path, &all, &loaded, &full_diag);
    if (expected == KVC_OK) {
        expected = kvc_scenario_forecast(&loaded->scenario, &full, &full_diag);
    }
    enum kvc_status status = kvc_evaluator_forecast(evaluator, value, &fast, &fast_diag);
    cr_expect_eq(status, expected, "%s / %s", fast_diag.message, full_diag.message);
    cr_expect_str_eq(fast_diag.message, full_diag.message);
    cr_expect_str_eq(fast_diag.file, full_diag.file);
    cr_expect_eq(fast_diag.line, full_diag.line);
    if (status == KVC_OK && expected == KVC_OK) {
        cr_expect_eq(memcmp(&fast, &full, sizeof(fast)), 0, "%u %u: %g, not %g Mops", value[0], value[1],
                     fast.throughput_mops, full.throughput_mops);
    }
    kvc_overrides_clear(&all);
    kvc_loaded_free(loaded);
}

/* Compares every point, in an order that jumps on all axes, with a load of its own. */
static void expect_loads(const char *path, const char *user, const struct axis *axes, bool patched)
{
    struct kvc_space space = space_of(axes);
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    struct kvc_evaluator *evaluator;
    add_assignments(&set, user);
    cr_assert_eq(kvc_evaluator_create(path, &set, &space, &evaluator, &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(kvc_evaluator_is_fast(evaluator), patched);
    for (uint32_t i = 0; i < space.points; i++) {
        uint32_t value[AXES_MAX], rest = (i * 7) % space.points == 0 && i > 0 ? i : (i * 7) % space.points;
        for (uint32_t a = 0; a < space.axis_count; a++) {
            value[a] = rest % space.axis[a].count;
            rest /= space.axis[a].count;
        }
        expect_point(path, &set, &space, evaluator, value);
    }
    kvc_evaluator_free(evaluator);
    kvc_overrides_clear(&set);
    free_space(&space);
}

static void expect_full_loads(const char *path, const char *user, const struct axis *axes)
{
    expect_loads(path, user, axes, true);
}

Test(patches, of_plain_options)
{
    expect_full_loads(GPU_STORE, "",
                      (const struct axis[]){
                          {"system.cycle", {"system.cycle=120us", "system.cycle=0.3ms"}},
                          {"cluster.nodes", {"cluster.nodes=1", "cluster.nodes=3"}},
                          {"workload.arrival.poisson_mops",
                           {"workload.arrival.poisson_mops=40", "workload.arrival.poisson_mops=4Gops"}},
                          {NULL, {NULL}},
                      });
}

Test(patches, of_values_from_which_others_follow)
{
    expect_full_loads(
        GPU_STORE, "",
        (const struct axis[]){
            {"workload.dist", {"workload.dist=uniform", "workload.dist.zipf=0.8"}},
            {"workload.arrival", {"workload.arrival=saturate", "workload.arrival.clients=4000"}},
            {"workload.preset", {"workload.sizes=etc", "workload.value=64"}},
            {NULL, {NULL}},
        });
}

Test(patches, of_axes_that_make_sense_together_only)
{
    expect_full_loads(GPU_STORE, "run.duration=5ms",
                      (const struct axis[]){
                          {"workload.get", {"workload.get=0.95", "workload.get=0.5"}},
                          {"workload.set", {"workload.set=0.05", "workload.set=0.5"}},
                          {NULL, {NULL}},
                      });
}

Test(patches, of_a_profile_and_a_field_of_it)
{
    expect_full_loads(
        GPU_STORE, "",
        (const struct axis[]){
            {"node.gpu", {"node.gpu=tesla-k40c", "node.gpu=gtx-780"}},
            {"node.gpu.memory", {"node.gpu.memory=3GB", "node.gpu.memory=0.25GB"}},
            {"system.gpu_core", {"system.gpu_core=auto", "system.gpu_core=666MHz"}},
            {"node.price", {"node.price=100 node.nic.price=0 node.dram.price=0", "node.price=200"}},
            {NULL, {NULL}},
        });
}

Test(patches, of_a_profile_and_the_fields_before_it)
{
    expect_full_loads(GPU_STORE, "",
                      (const struct axis[]){
                          {"node.gpu.memory", {"node.gpu.memory=3GB", "node.gpu.memory=0.25GB"}},
                          {"node.gpu.price", {"node.gpu.price=100", "node.gpu.price=3000"}},
                          {"node.gpu", {"node.gpu=tesla-k40c", "node.gpu=gtx-780"}},
                          {NULL, {NULL}},
                      });
}

Test(patches, of_devices_whose_values_are_checked_together)
{
    expect_full_loads(GPU_STORE, "",
                      (const struct axis[]){
                          {"node.nic.idle_power", {"node.nic.idle_power=1W", "node.nic.idle_power=9W"}},
                          {"node.nic.busy_power", {"node.nic.busy_power=5W", "node.nic.busy_power=20W"}},
                          {"node.cpu_clock", {"node.cpu_clock=auto", "node.cpu_clock=1.2GHz"}},
                          {NULL, {NULL}},
                      });
}

Test(patches, of_values_that_the_loader_refuses)
{
    expect_full_loads(GPU_STORE, "",
                      (const struct axis[]){
                          {"system.cycle", {"system.cycle=120us", "system.cycle=1.5"}},
                          {"system.api", {"system.api=getk", "system.api=gett"}},
                          {"system.streams", {"system.streams=7", "system.streams=8"}},
                          {NULL, {NULL}},
                      });
}

Test(patches, of_other_stores)
{
    expect_full_loads(NIC_STORE, "",
                      (const struct axis[]){
                          {"system.nics", {"system.nics=1", "system.nics=4"}},
                          {"node.fpga.clock", {"node.fpga.clock=150MHz", "node.fpga.clock=200MHz"}},
                          {NULL, {NULL}},
                      });
    expect_full_loads(CHIP_STORE, "",
                      (const struct axis[]){
                          {"workload.get", {"workload.get=0.95", "workload.get=0.5"}},
                          {"node.cpu.price", {"node.cpu.price=150", "node.cpu.price=0"}},
                          {NULL, {NULL}},
                      });
}

/* A device that only some points have leaves no patches. */
Test(patches, are_none_of_other_devices)
{
    expect_loads(GPU_STORE, "",
                 (const struct axis[]){
                     {"node.database", {"node.database=mysql-bg", "system.cycle=200us", "system.cycle=1.5"}},
                     {"workload.get", {"workload.get=0.95", "workload.get=0.5"}},
                     {NULL, {NULL}},
                 },
                 false);
}
