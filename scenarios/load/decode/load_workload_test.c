#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/load/decode/load_fixture.h"

TestSuite(load_workload, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

Test(load_workload, applies_presets_in_order_and_keys_over_them)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'megakv' },\n"
                         "  workload = { preset = { 'megakv-b', 'ycsb-a' }, value = 100 } }",
                         NULL);
    cr_expect_eq(loaded->scenario.workload.key_bytes, 16);
    cr_expect_eq(loaded->scenario.workload.value_bytes, 100);
    cr_expect_float_eq(loaded->scenario.workload.get_frac, 0.5, 1e-15);
    kvc_test_expect_parameter(loaded, "workload.key", "16", true, "preset megakv-b");
    kvc_test_expect_parameter(loaded, "workload.value", "100", true, "scenario");
    kvc_test_expect_parameter(loaded, "workload.get", "0.5", true, "preset ycsb-a");
    kvc_test_expect_parameter(loaded, "workload.keys", "1000000", true, "default");
    kvc_loaded_free(loaded);
}

Test(load_workload, takes_keys_and_popularity_from_a_preset_unless_it_states_them)
{
    struct kvc_loaded *loaded = kvc_test_accepts(
        "return { system = { kind = 'megakv' }, workload = { preset = 'K128-G95-S' } }", NULL);
    cr_expect_eq(loaded->scenario.workload.popularity, KVC_POPULARITY_ZIPF);
    cr_expect_eq(loaded->scenario.workload.zipf_s, 0.99);
    cr_expect_gt(loaded->scenario.workload.keys, 1000000);
    kvc_test_expect_parameter(loaded, "workload.dist.zipf", "0.99", true, "preset K128-G95-S");
    kvc_loaded_free(loaded);
    loaded = kvc_test_accepts("return { system = { kind = 'megakv' },\n"
                              "  workload = { preset = 'K128-G95-S', keys = 5000, dist = 'uniform' } }",
                              NULL);
    cr_expect_eq(loaded->scenario.workload.popularity, KVC_POPULARITY_UNIFORM);
    cr_expect_eq(loaded->scenario.workload.keys, 5000);
    kvc_test_expect_parameter(loaded, "workload.dist", "uniform", false, "scenario");
    kvc_loaded_free(loaded);
}

Test(load_workload, reads_each_kind_of_arrival)
{
    static const struct {
        char text[96];
        enum kvc_arrival arrival;
    } cases[] = {
        {"'saturate'", KVC_ARRIVAL_SATURATE},
        {"{ poisson_mops = 50 }", KVC_ARRIVAL_POISSON},
        {"{ fixed_mops = '500Kops' }", KVC_ARRIVAL_FIXED},
        {"{ clients = 3 }", KVC_ARRIVAL_CLOSED},
        {"{ curve = { { time = '0us', rate = 1 }, { time = '1ms', rate = 2 } } }", KVC_ARRIVAL_CURVE},
        {"{ trace = 't.csv' }", KVC_ARRIVAL_TRACE},
    };
    char source[1024];
    kvc_test_write_file("t.csv", "time_us,op,key,key_bytes,value_bytes\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(source, sizeof(source),
                 "return { system = { kind = 'megakv' }, workload = { arrival = %s } }", cases[i].text);
        struct kvc_loaded *loaded = kvc_test_accepts(source, NULL);
        cr_expect_eq(loaded->scenario.workload.arrival, (int)cases[i].arrival);
        if (cases[i].arrival == KVC_ARRIVAL_FIXED) {
            cr_expect_float_eq(loaded->scenario.workload.rate_mops, 0.5, 1e-12);
        }
        if (cases[i].arrival == KVC_ARRIVAL_CURVE) {
            cr_expect_eq(loaded->scenario.workload.curve_points, 2);
            cr_expect_float_eq(loaded->scenario.workload.curve[1].time_ns, 1e6, 1e-6);
        }
        if (cases[i].arrival == KVC_ARRIVAL_TRACE) {
            cr_expect_eq(access(loaded->scenario.workload.trace, R_OK), 0);
        }
        kvc_loaded_free(loaded);
    }
}

#define ACTIONS                                                                                              \
    "workload = { get = 0.9, actions = {\n"                                                                  \
    "  { name = 'profile', frac = 1, value = 700 },\n"                                                       \
    "  { name = 'accept', frac = 1, invalidates = '2 profile' } } }"

Test(load_workload, reads_actions)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'memcached', network = 'tcp', loopback = true },\n"
                         "  node = { sockets = 1, database = 'mysql-bg' }, " ACTIONS " }",
                         NULL);
    const struct kvc_workload *workload = &loaded->scenario.workload;
    cr_assert_eq(workload->action_count, 2);
    cr_expect_str_eq(workload->actions[1].name, "accept");
    cr_expect_eq(workload->actions[0].value_bytes, 700);
    kvc_test_expect_parameter(loaded, "workload.actions.2.invalidates", "2 profile", false, "scenario");
    kvc_loaded_free(loaded);
}

Test(load_workload, refuses_actions_without_a_database_or_of_a_sample)
{
    kvc_test_refuses("return { system = { kind = 'megakv' },\n " ACTIONS " }", 2,
                     "found 2 actions, allowed only with a database behind the cache (node.database)");
    kvc_test_refuses("return { system = { kind = 'bluecache' }, node = { database = 'mysql-bg' },\n" ACTIONS
                     ",\n  run = { functional = 'sampled' } }",
                     5, "run.functional: allowed with workload.actions is \"full\"");
    kvc_test_refuses("return { system = { kind = 'bluecache' }, node = { database = 'mysql-bg' },\n"
                     "  workload = { get = 0.9, actions = { { name = 'profile', frac = 1, value = 2e6 },\n"
                     "  { name = 'accept', frac = 1, invalidates = 'profile' } } } }",
                     2, "workload.actions.1.value: found 2000000");
}

#define PHASES                                                                                               \
    "workload = { phases = { { length = '3ms', key = 8, value = 8, get = 0.5, set = 0.5 },\n"                \
    "  { key = 16, value = 64, get = 0.95, set = 0.05, zipf = 0.99 } } }"

Test(load_workload, reads_phases)
{
    struct kvc_loaded *loaded = kvc_test_accepts("return { system = { kind = 'dido' },\n " PHASES " }", NULL);
    const struct kvc_workload *workload = &loaded->scenario.workload;
    cr_assert_eq(workload->phase_count, 2);
    cr_expect_eq(workload->phases[0].length_ns, 3e6);
    cr_expect_eq(workload->phases[1].length_ns, 0);
    cr_expect_eq(workload->phases[1].value_bytes, 64);
    kvc_test_expect_parameter(loaded, "workload.phases.2.length", "previous", false, "default");
    kvc_loaded_free(loaded);
}

Test(load_workload, refuses_phases_with_stores_that_do_not_take_them_or_of_a_sample)
{
    kvc_test_refuses("return { system = { kind = 'megakv' },\n " PHASES " }", 2,
                     "workload.phases: found with system.kind \"megakv\", allowed only with dido");
    kvc_test_refuses("return { system = { kind = 'dido' },\n " PHASES
                     ",\n  run = { functional = 'sampled' } }",
                     4, "run.functional: allowed with workload.phases is \"full\"");
}

Test(load_workload, applies_the_actions_of_a_preset_unless_there_are_others)
{
    static const char head[] = "return { system = { kind = 'memcached', network = 'tcp', loopback = true },\n"
                               "  node = { sockets = 1, database = 'mysql-bg' },\n";
    char source[1024];
    snprintf(source, sizeof(source), "%s workload = { preset = 'bg-high' } }", head);
    struct kvc_loaded *preset = kvc_test_accepts(source, NULL);
    cr_expect_eq(preset->scenario.workload.action_count, 9);
    kvc_test_expect_parameter(preset, "workload.actions.9.name", "thaw_friendship", false, "preset bg-high");
    kvc_test_expect_parameter(preset, "workload.actions.9.frac", "0.2", true, "preset bg-high");
    snprintf(source, sizeof(source),
             "%s workload = { preset = 'bg-high', set = 0, actions = { { name = 'view', frac = 1 } } } }",
             head);
    struct kvc_loaded *own = kvc_test_accepts(source, NULL);
    cr_expect_eq(own->scenario.workload.action_count, 1);
    cr_expect_null(kvc_parameters_find(&own->parameters, "workload.actions.9.name"));
    kvc_loaded_free(preset);
    kvc_loaded_free(own);
}
