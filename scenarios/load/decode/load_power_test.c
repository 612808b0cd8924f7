/* The power policy of a scenario: as a word, and as a function of the file. */
#include "scenarios/load/load.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/load/decode/load_fixture.h"

TestSuite(load_power, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

/* A scenario whose line 4 is the policy. */
#define WITH(policy)                                                                                                     \
    "return {\n  system = { kind = \"megakv\" }, run = { duration = \"20ms\" },\n  power = { period = \"1ms\",\n" policy \
    "\n} }"

static const struct kvc_platform_host cpu = {
    .pstates = 2, .pstate = {{.speed = 1, .clock_hz = 2.6e9}, {.speed = 0.5, .clock_hz = 1.3e9}}};

/* Asks the function of a loaded scenario. */
static enum kvc_status ask(const struct kvc_loaded *loaded, double offered_mops, uint32_t *pstate,
                           struct kvc_diag *diag)
{
    const struct kvc_power_function *function = &loaded->scenario.power.function;
    const struct kvc_power_view view = {.name = "node0.socket0",
                                        .at_s = 1e-3,
                                        .offered_mops = offered_mops,
                                        .capacity_mops = NAN,
                                        .cpu = &cpu,
                                        .cpu_pstate = *pstate};
    struct kvc_power_choice choice = {*pstate, 0};
    enum kvc_status status = function->choose(function->data, &view, &choice, diag);
    *pstate = choice.cpu_pstate;
    return status;
}

Test(load_power, is_fixed_unless_stated)
{
    struct kvc_loaded *loaded = kvc_test_accepts(KVC_TEST_MINIMAL, NULL);
    cr_expect_eq(loaded->scenario.power.policy, KVC_POWER_FIXED);
    cr_expect_null(kvc_parameters_find(&loaded->parameters, "power.policy"));
    kvc_loaded_free(loaded);
}

Test(load_power, has_the_times_of_the_paper)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = \"megakv\" }, run = { duration = \"20s\" }, power = { "
                         "policy = \"manager\" } }",
                         NULL);
    const struct kvc_power_policy *power = &loaded->scenario.power;
    cr_expect_eq(power->policy, KVC_POWER_MANAGER);
    cr_expect_eq(power->period_ns, 10e9);
    cr_expect_eq(power->change_frac, 0.05);
    cr_expect_eq(power->mu, 0.1);
    cr_expect_eq(power->cpu_step_hz, 100e6);
    kvc_loaded_free(loaded);
}

Test(load_power, a_function_chooses_clocks)
{
    struct kvc_loaded *loaded = kvc_test_accepts(
        WITH("policy = function(o) if o.offered_mops > 5 then return { cpu = o.cpu_clocks[1] } end "
             "return { cpu = \"1.3GHz\" } end"),
        NULL);
    uint32_t pstate = 0;
    struct kvc_diag diag = {0};
    cr_expect_eq(ask(loaded, 1, &pstate, &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(pstate, 1);
    cr_expect_eq(ask(loaded, 9, &pstate, &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(pstate, 0);
    const struct kvc_parameter *shown = kvc_parameters_find(&loaded->parameters, "power.policy");
    cr_expect_eq(strncmp(shown->value, "function of lines 4 to 4, ", 26), 0, "%s", shown->value);
    kvc_loaded_free(loaded);
}

Test(load_power, another_function_is_another_value)
{
    struct kvc_loaded *a =
        kvc_test_accepts(WITH("policy = function(o) return { cpu = \"1.3GHz\" } end"), NULL);
    struct kvc_loaded *b =
        kvc_test_accepts(WITH("policy = function(o) return { cpu = \"1.2GHz\" } end"), NULL);
    cr_expect_str_neq(kvc_parameters_find(&a->parameters, "power.policy")->value,
                      kvc_parameters_find(&b->parameters, "power.policy")->value);
    kvc_loaded_free(a);
    kvc_loaded_free(b);
}

Test(load_power, nil_leaves_the_clocks_alone)
{
    struct kvc_loaded *loaded = kvc_test_accepts(WITH("policy = function(o) end"), NULL);
    uint32_t pstate = 1;
    struct kvc_diag diag = {0};
    cr_expect_eq(ask(loaded, 1, &pstate, &diag), KVC_OK);
    cr_expect_eq(pstate, 1);
    kvc_loaded_free(loaded);
}

/* Loads a policy whose answer must be refused with a message that has `part`, in line 4. */
static void expect_refused(const char *text, const char *part)
{
    struct kvc_loaded *loaded = kvc_test_accepts(text, NULL);
    uint32_t pstate = 0;
    struct kvc_diag diag = {0};
    cr_expect_eq(ask(loaded, 1, &pstate, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, part), "%s", diag.message);
    cr_expect_eq(diag.line, 4, "line %d: %s", diag.line, diag.message);
    kvc_loaded_free(loaded);
}

Test(load_power, refuses_what_a_function_may_not_return)
{
    expect_refused(WITH("policy = function(o) return { cpu = \"1.7GHz\" } end"), "allowed: 2.6GHz, 1.3GHz");
    expect_refused(WITH("policy = function(o) return { cpu = 2 } end"), "allowed: 2.6GHz, 1.3GHz");
    expect_refused(WITH("policy = function(o) return { gpu = \"666MHz\" } end"), "no such processor");
    expect_refused(WITH("policy = function(o) return { core = \"1.3GHz\" } end"), "allowed: cpu and gpu");
    expect_refused(WITH("policy = function(o) return true end"), "allowed: nil, or a table");
    expect_refused(WITH("policy = function(o) return o.nothing.here end"), "nothing");
    expect_refused(WITH("policy = function(o) while true do end end"), "does a loop never end?");
}

Test(load_power, refuses_bad_sections)
{
    kvc_test_refuses(WITH("policy = \"managr\""), 4, "did you mean \"manager\"?");
    kvc_test_refuses(WITH("policy = \"function\""), 4, "the function itself");
    kvc_test_refuses(WITH("policy = tostring"), 4, "power.policy: found a function");
    kvc_test_refuses("return {\n  system = { kind = \"megakv\" },\n  power = { policy = \"manager\" } }", 3,
                     "allowed: less than run.duration");
    kvc_test_refuses("return {\n  system = { kind = \"mica\" },\n  power = { policy = \"race_to_idle\" } }",
                     3, "allowed only with megakv");
}

Test(load_power, warns_of_options_without_effect)
{
    struct kvc_loaded *loaded = kvc_test_accepts(WITH("mu = 0.2"), NULL);
    cr_expect_eq(loaded->warning_count, 2);
    cr_expect_not_null(strstr(loaded->warning[0], "power.period has no effect"));
    cr_expect_not_null(strstr(loaded->warning[1], "power.mu has no effect"));
    kvc_loaded_free(loaded);
}

Test(load_power, an_override_replaces_a_function)
{
    struct kvc_loaded *loaded = kvc_test_accepts(WITH("policy = function(o) end"), "power.policy=manager");
    cr_expect_eq(loaded->scenario.power.policy, KVC_POWER_MANAGER);
    cr_expect_null(loaded->function);
    kvc_loaded_free(loaded);
}
