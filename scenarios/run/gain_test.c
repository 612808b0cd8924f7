#include <criterion/criterion.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/model.h"
#include "models/resource.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/store_fixture.h"
#include "sim/devices/pcie.h"

/* Scenarios whose limit is known by construction, models/NAME/limits/RESOURCE.lua. The name of such a
 * scenario is what to expect: the resource, the stage and the device, and "slow" if only the closed form is
 * asked. */
static glob_t limits;

static void find_limits(void)
{
    cr_assert_eq(glob(KVC_SOURCE_DIR "/models/*/limits/*.lua", 0, NULL, &limits), 0);
    cr_assert_geq(limits.gl_pathc, 10);
}

static void forget_limits(void)
{
    globfree(&limits);
}

TestSuite(gain, .init = find_limits, .fini = forget_limits);

static struct kvc_loaded *load(const char *path, const char *set)
{
    struct kvc_overrides overrides = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    if (set != NULL) {
        cr_assert_eq(kvc_overrides_parse(&overrides, set, &diag), KVC_OK, "%s", diag.message);
    }
    enum kvc_status status = kvc_scenario_load(path, &overrides, &loaded, &diag);
    kvc_overrides_clear(&overrides);
    cr_assert_eq(status, KVC_OK, "%s: %s", path, diag.message);
    return loaded;
}

/* Loads the scenario of this name. */
static struct kvc_loaded *load_limited(const char *name, const char *set)
{
    for (size_t i = 0; i < limits.gl_pathc; i++) {
        struct kvc_loaded *loaded = load(limits.gl_pathv[i], NULL);
        bool found = strcmp(loaded->scenario.name, name) == 0;
        kvc_loaded_free(loaded);
        if (found) {
            return load(limits.gl_pathv[i], set);
        }
    }
    cr_assert_fail("no scenario is limited by %s", name);
    return NULL;
}

/* Answers with the bottleneck by gain. The caller frees the outcome. */
static struct kvc_outcome *answer(const struct kvc_loaded *loaded, bool predict, uint32_t jobs)
{
    const struct kvc_run_options options = {.jobs = jobs};
    struct kvc_outcome *outcome = NULL;
    struct kvc_diag diag = {0};
    enum kvc_status status = predict ? kvc_driver_predict(&loaded->scenario, &outcome, &diag)
                                     : kvc_driver_run(&loaded->scenario, &options, &outcome, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    status = kvc_gain_find(&loaded->scenario, predict ? NULL : &options, outcome, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    return outcome;
}

/* A resource that is 5 % faster never costs throughput, and all together gain 5 % at most, but for chance. */
static void expect_laws(const struct kvc_outcome *outcome)
{
    double sum_frac = 0, chance_frac = 1e-3;
    cr_assert_gt(outcome->gain_count, 0);
    for (uint32_t i = 0; i < outcome->gain_count; i++) {
        const struct kvc_gain *gain = &outcome->gain[i];
        double half_width = isnan(gain->gain_frac.half_width) ? 0 : gain->gain_frac.half_width;
        cr_expect_gt(gain->gain_frac.mean, -1e-3 - half_width, "%s", gain->resource);
        cr_expect(i == 0 || gain->gain_frac.mean <= gain[-1].gain_frac.mean, "in order");
        sum_frac += gain->gain_frac.mean;
        chance_frac += half_width;
    }
    cr_expect_lt(sum_frac, 0.05 + chance_frac);
}

static void expect_limit(const char *path, bool predict)
{
    struct kvc_loaded *loaded = load(path, NULL);
    char resource[KVC_TEXT_MAX], stage[KVC_TEXT_MAX], device[KVC_TEXT_MAX], slow[KVC_TEXT_MAX];
    int words = sscanf(loaded->scenario.name, "%s %s %s %s", resource, stage, device, slow);
    cr_assert_geq(words, 3, "%s", path);
    if (words == 3 || predict) {
        struct kvc_outcome *outcome = answer(loaded, predict, 0);
        const struct kvc_result *result = &outcome->result;
        expect_laws(outcome);
        cr_expect_str_eq(outcome->gain[0].resource, resource, "%s: %s", path, result->bottleneck_why);
        cr_expect_gt(outcome->gain[0].gain_frac.mean, 0.03, "%s: %s", path, result->bottleneck_why);
        cr_expect_str_eq(result->bottleneck_stage, stage, "%s: %s", path, result->bottleneck_why);
        cr_expect_str_eq(result->bottleneck_device, device, "%s: %s", path, result->bottleneck_why);
        cr_expect_eq(isnan(outcome->gain[0].gain_frac.half_width), predict);
        kvc_outcome_free(outcome);
    }
    kvc_loaded_free(loaded);
}

Test(gain, the_closed_form_knows_what_limits_a_store)
{
    for (size_t i = 0; i < limits.gl_pathc; i++) {
        expect_limit(limits.gl_pathv[i], true);
    }
}

Test(gain, paired_runs_know_what_limits_a_store)
{
    for (size_t i = 0; i < limits.gl_pathc; i++) {
        expect_limit(limits.gl_pathv[i], false);
    }
}

/* A faster device is that of the store, and a device that the store does not use cannot be made faster. */
Test(gain, a_resource_is_found_by_its_device)
{
    struct kvc_loaded *loaded = load_limited("cpu core cpu", NULL);
    const struct kvc_model_resource *cpu = kvc_scenario_resource(&loaded->scenario, "cpu");
    struct kvc_outcome *usual, *slow;
    struct kvc_diag diag = {0};
    cr_assert_not_null(cpu);
    cr_expect_str_eq(cpu->device, "cpu");
    cr_expect_null(kvc_scenario_resource(&loaded->scenario, "nosuch"));
    struct kvc_scenario *slower = kvc_scenario_faster(&loaded->scenario, cpu, 0.9, &diag);
    cr_assert_not_null(slower, "%s", diag.message);
    cr_assert_eq(kvc_driver_predict(&loaded->scenario, &usual, &diag), KVC_OK);
    cr_assert_eq(kvc_driver_predict(slower, &slow, &diag), KVC_OK);
    cr_expect_float_eq(slow->result.throughput_mops / usual->result.throughput_mops, 0.9, 1e-6);
    kvc_outcome_free(usual);
    kvc_outcome_free(slow);
    kvc_scenario_free_copy(slower);
    kvc_loaded_free(loaded);
}

/* Nothing is forgotten, and nothing counts twice: a machine all of whose resources are faster by a factor is
 * faster by this factor. */
Test(gain, all_resources_together_are_the_whole_machine)
{
    for (size_t i = 0; i < limits.gl_pathc; i++) {
        struct kvc_loaded *loaded = load(limits.gl_pathv[i], NULL);
        const struct kvc_model *model = loaded->scenario.model;
        struct kvc_scenario *faster = NULL;
        struct kvc_outcome *usual, *all;
        struct kvc_diag diag = {0};
        for (uint32_t r = 0; model->resources[r].name != NULL; r++) {
            const struct kvc_model_resource *resource = &model->resources[r];
            const struct kvc_scenario *from = faster != NULL ? faster : &loaded->scenario;
            if (kvc_resource_is_used(resource, from)) {
                struct kvc_scenario *next = kvc_scenario_faster(from, resource, 1.25, &diag);
                cr_assert_not_null(next, "%s", diag.message);
                kvc_scenario_free_copy(faster);
                faster = next;
            }
        }
        cr_assert_eq(kvc_driver_predict(&loaded->scenario, &usual, &diag), KVC_OK);
        cr_assert_eq(kvc_driver_predict(faster, &all, &diag), KVC_OK);
        double ratio = all->result.throughput_mops / usual->result.throughput_mops;
        cr_expect_float_eq(ratio, 1.25, 1e-6, "%s: %.9f", limits.gl_pathv[i], ratio);
        kvc_outcome_free(usual);
        kvc_outcome_free(all);
        kvc_scenario_free_copy(faster);
        kvc_loaded_free(loaded);
    }
}

Test(gain, an_open_load_that_is_served_is_the_limit)
{
    struct kvc_loaded *loaded = load_limited("cpu core cpu", "workload.arrival.poisson_mops=8");
    for (int predict = 0; predict < 2; predict++) {
        struct kvc_outcome *outcome = answer(loaded, predict != 0, 0);
        cr_expect_eq(outcome->gain_count, 0, "no paired runs");
        cr_expect_str_eq(outcome->result.bottleneck_stage, "load");
        cr_expect_str_eq(outcome->result.bottleneck_device, "load");
        cr_expect_not_null(strstr(outcome->result.bottleneck_why, "is busy"), "%s",
                           outcome->result.bottleneck_why);
        cr_expect_not_null(strstr(outcome->result.bottleneck_why, "would meet cpu at"), "%s",
                           outcome->result.bottleneck_why);
        kvc_outcome_free(outcome);
    }
    kvc_loaded_free(loaded);
}

/* The GPU is always busy when its batches are still small, so another resource may be the next limit. */
Test(gain, a_busy_stage_that_is_not_the_next_limit_is_explained)
{
    struct kvc_loaded *loaded =
        load(KVC_SOURCE_DIR "/models/megakv/golden/run.lua", "workload.arrival.poisson_mops=129");
    struct kvc_outcome *outcome = answer(loaded, true, 0);
    const char *why = outcome->result.bottleneck_why;
    cr_expect_not_null(strstr(why, "index (gpu) is busy 9"), "%s", why);
    cr_expect_not_null(strstr(why, "would meet cpu at"), "%s", why);
    cr_expect_not_null(strstr(why, "index would serve it in larger batches"), "%s", why);
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
}

/* A run that is too short for several windows of time knows no interval of its gains. */
Test(gain, a_gain_without_an_interval_is_not_denied)
{
    struct kvc_loaded *loaded = load(KVC_SOURCE_DIR "/models/megakv/limits/cpu.lua", "cluster.nodes=2");
    loaded->scenario.run.duration_ns = 1e6;
    struct kvc_outcome *outcome = answer(loaded, false, 0);
    const char *why = outcome->result.bottleneck_why;
    cr_expect(isnan(outcome->gain[0].gain_frac.half_width));
    cr_expect_str_eq(outcome->gain[0].resource, "cpu", "%s", why);
    cr_expect_not_null(strstr(why, "the gains do not tell the bottleneck: cpu gains most"), "%s", why);
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
}

Test(gain, an_open_load_that_is_too_high_shows_the_bottleneck)
{
    struct kvc_loaded *loaded = load_limited("cpu core cpu", "workload.arrival.poisson_mops=30");
    struct kvc_outcome *outcome = answer(loaded, false, 0);
    expect_laws(outcome);
    cr_expect_str_eq(outcome->gain[0].resource, "cpu", "%s", outcome->result.bottleneck_why);
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
}

/* The speed of the replicas differs much more than what a faster resource gains in each of them. */
Test(gain, pairs_share_their_random_numbers)
{
    struct kvc_loaded *loaded = load_limited("nic key nic", "run.replicas=4");
    struct kvc_outcome *outcome = answer(loaded, false, 1), *again = answer(loaded, false, 3);
    struct kvc_interval throughput = kvc_outcome_interval(outcome, "throughput_mops");
    double of_throughput = throughput.half_width / throughput.mean;
    cr_expect_str_eq(outcome->gain[0].resource, "nic");
    cr_expect_lt(outcome->gain[0].gain_frac.half_width, of_throughput / 2);
    cr_expect_arr_eq(outcome->gain, again->gain, sizeof(outcome->gain), "whatever the number of jobs");
    kvc_outcome_free(outcome);
    kvc_outcome_free(again);
    kvc_loaded_free(loaded);
}

/* Finds what relieves a scenario with two replicas. */
static uint32_t relieve(const struct kvc_loaded *loaded, uint32_t jobs, struct kvc_relief *relief)
{
    const struct kvc_run_options options = {.jobs = jobs};
    struct kvc_outcome *outcome = NULL;
    struct kvc_diag diag = {0};
    uint32_t count;
    memset(relief, 0, KVC_GAINS_MAX * sizeof(*relief));
    cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_gain_relieve(&loaded->scenario, &options, outcome, relief, &count, &diag), KVC_OK, "%s",
                 diag.message);
    kvc_outcome_free(outcome);
    return count;
}

/* With one job, every variant begins with a copy of its replica's store. With many, all variants run at the
 * same time, and all but one of each replica build their own. */
Test(gain, a_copy_of_a_store_is_like_one_that_was_built, .timeout = 300)
{
    static const char *const stores[] = {
        "bluecache/limits/pcie", "dido/limits/cpu",        "kvdirect/limits/pcie",   "megakv/limits/cpu",
        "memcached/limits/cpu",  "memcached/limits/flash", "memcachedgpu/limits/gpu"};
    for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++) {
        char path[256];
        struct kvc_relief copied[KVC_GAINS_MAX], built[KVC_GAINS_MAX];
        snprintf(path, sizeof(path), KVC_SOURCE_DIR "/models/%s.lua", stores[i]);
        struct kvc_loaded *loaded = load(path, "run.replicas=2");
        uint32_t count = relieve(loaded, 1, copied);
        cr_expect_gt(count, 1, "%s: several variants share a store", stores[i]);
        cr_expect_eq(relieve(loaded, 64, built), count);
        cr_expect_arr_eq(copied, built, sizeof(copied), "%s", stores[i]);
        kvc_loaded_free(loaded);
    }
}

/* Only a variant whose hardware leaves the store as it is may begin with a copy: a faster PCIe link moves the
 * share of lines that NICs cache, unless the user fixes it. */
Test(gain, a_store_that_depends_on_the_speed_of_its_hardware_is_not_copied)
{
    static const char *const dispatch[] = {"system.dispatch=0.3", "system.dispatch=auto"};
    for (int automatic = 0; automatic < 2; automatic++) {
        struct kvc_loaded *loaded =
            load(KVC_SOURCE_DIR "/models/kvdirect/limits/clock.lua", dispatch[automatic]);
        struct kvc_scenario *faster = kvc_scenario_copy(&loaded->scenario);
        kvc_pcie_speed_up(kvc_node_device(&faster->node, &kvc_pcie_kind), 1.05);
        cr_assert_eq(kvc_scenario_resolve(faster, NULL), KVC_OK);
        cr_expect_eq(kvc_scenario_prepares_same(&loaded->scenario, faster), !automatic);
        kvc_scenario_free_copy(faster);
        kvc_loaded_free(loaded);
    }
}

Test(gain, a_store_without_resources_keeps_the_busiest_stage)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    struct kvc_outcome *outcome = answer(loaded, false, 2);
    cr_expect_eq(outcome->gain_count, 0);
    cr_expect_str_eq(outcome->result.bottleneck_stage, "work");
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
}
