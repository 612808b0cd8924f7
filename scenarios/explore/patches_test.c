/* The evaluator's patches against full loads, at every point of small spaces. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/evaluator.h"

#define GPU_STORE KVC_SOURCE_DIR "/scenarios/examples/first.lua"
#define NIC_STORE KVC_SOURCE_DIR "/models/kvdirect/golden/run.lua"
#define CHIP_STORE KVC_SOURCE_DIR "/models/dido/golden/dido.lua"

enum { AXES_MAX = 4, VALUES_MAX = 4 };

/* An axis: assignments, each of which may be several that are separated by blanks. */
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

/* Compares every point, in an order that jumps on all axes. */
static void expect_full_loads(const char *path, const char *user, const struct axis *axes)
{
    struct kvc_space space = space_of(axes);
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    struct kvc_evaluator *evaluator;
    add_assignments(&set, user);
    cr_assert_eq(kvc_evaluator_create(path, &set, &space, &evaluator, &diag), KVC_OK, "%s", diag.message);
    cr_expect(kvc_evaluator_is_fast(evaluator));
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
