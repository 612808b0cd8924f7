#include "scenarios/output/again.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/output/json.h"
#include "scenarios/output/json_value.h"
#include "scenarios/run/driver.h"

static struct kvc_loaded *load(const char *path)
{
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_scenario_load(path, NULL, &loaded, &diag), KVC_OK, "%s: %s", path, diag.message);
    return loaded;
}

/* Returns what the result of a scenario says about it. */
static json_t *result_of(const struct kvc_loaded *loaded, const char *path)
{
    char command_line[1024];
    snprintf(command_line, sizeof(command_line), "kvcast run %s --set run.seed=1", path);
    return json_pack("{s:s, s:s, s:o, s:o}", "scenario", loaded->scenario.name, "command_line", command_line,
                     "parameters", kvc_json_values(&loaded->parameters), "provenance",
                     kvc_json_sources(&loaded->provenance));
}

static double predicted_us(const struct kvc_loaded *loaded)
{
    struct kvc_outcome *outcome = NULL;
    struct kvc_diag diag = {0};
    double us = 0;
    if (kvc_driver_predict(&loaded->scenario, &outcome, &diag) == KVC_OK) {
        us = outcome->result.throughput_mops + kvc_result_latency_mean_us(&outcome->result);
    }
    kvc_outcome_free(outcome);
    return us;
}

/* Expects that the scenario comes back from its result with the same prediction, or is refused with these
 * words. */
static void expect_again(const char *path)
{
    struct kvc_loaded *loaded = load(path), *again = NULL;
    struct kvc_diag diag = {0};
    json_t *result = result_of(loaded, path);
    bool has_function = strstr(path, "examples/day.lua") != NULL;
    enum kvc_status status = kvc_again_load("result.json", result, NULL, &again, &diag);
    cr_expect_eq(status, has_function ? KVC_ERR_SCENARIO : KVC_OK, "%s: %s", path, diag.message);
    if (status == KVC_OK) {
        double usual = predicted_us(loaded), other = predicted_us(again);
        cr_expect(usual == other || (usual != usual && other != other), "%s: %.17g and %.17g", path, usual,
                  other);
        cr_expect_str_eq(again->scenario.name, loaded->scenario.name);
        json_t *sources = kvc_json_sources(&again->provenance);
        cr_expect(json_equal(sources, json_object_get(result, "provenance")), "%s: other sources", path);
        json_decref(sources);
    } else {
        cr_expect_not_null(strstr(diag.message, "power.policy: it is a function"), "%s", diag.message);
        cr_expect_str_eq(diag.file, "result.json");
    }
    json_decref(result);
    kvc_loaded_free(again);
    kvc_loaded_free(loaded);
}

Test(again, every_example_comes_back_from_its_result)
{
    glob_t found = {0};
    cr_assert_eq(glob(KVC_SOURCE_DIR "/scenarios/examples/*.lua", 0, NULL, &found), 0);
    cr_assert_eq(glob(KVC_SOURCE_DIR "/models/*/golden/*.lua", GLOB_APPEND, NULL, &found), 0);
    cr_assert_gt(found.gl_pathc, 30);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        expect_again(found.gl_pathv[i]);
    }
    globfree(&found);
}

/* Expects that a parameter with this value is refused. */
static void expect_refused(const char *path, json_t *value, const char *said)
{
    const char scenario[] = KVC_SOURCE_DIR "/scenarios/examples/mica.lua";
    struct kvc_loaded *loaded = load(scenario), *again = NULL;
    struct kvc_diag diag = {0};
    json_t *result = result_of(loaded, scenario);
    json_object_set_new(json_object_get(result, "parameters"), path, value);
    cr_expect_eq(kvc_again_load("result.json", result, NULL, &again, &diag), KVC_ERR_SCENARIO, "%s", path);
    cr_expect(strstr(diag.message, said) != NULL &&
                  strstr(diag.message, "allowed: the scenario file") != NULL,
              "%s: %s", path, diag.message);
    cr_expect_null(again);
    json_decref(result);
    kvc_loaded_free(loaded);
}

Test(again, damaged_parameters_are_refused)
{
    expect_refused("system.kind", json_string("nosuch"), "nosuch");
    expect_refused("workload.keys", json_string("many"), "workload.keys");
    expect_refused("workload.keys", json_null(), "workload.keys: it is no text");
    expect_refused("workload.keys.more", json_integer(1), "workload.keys.more: it is no text");
    expect_refused("node.cpu.name", json_string("a\"\\\n]] .. os.exit()"), "node.cpu.name");
    expect_refused("run.duration", json_string("0.001s"),
                   "run.duration: this version of kvcast reads another");
    struct kvc_loaded *again = NULL;
    struct kvc_diag diag = {0};
    json_t *empty = json_object();
    cr_expect_eq(kvc_again_load("result.json", empty, NULL, &again, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "parameters: it has none"), "%s", diag.message);
    json_decref(empty);
}
