#include "scenarios/load/load.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sim/devices/cpu.h"
#include "sim/devices/gpu.h"

#include "scenarios/load/decode/load_fixture.h"

TestSuite(overrides, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

Test(overrides, overrides_any_value)
{
    struct kvc_loaded *loaded = kvc_test_accepts(
        "local shared = { 1 }\nreturn { system = { kind = 'megakv', cycle = '1us' } }", "system.cycle=120us");
    kvc_test_expect_parameter(loaded, "system.cycle", "120us", false, "--set");
    kvc_loaded_free(loaded);
    loaded = kvc_test_accepts(KVC_TEST_MINIMAL, "run.replicas=9");
    cr_expect_eq(loaded->scenario.run.replicas, 9);
    kvc_loaded_free(loaded);
    loaded = kvc_test_accepts("return { system = { kind = 'megakv' }, node = { gpu = 'h200' } }",
                              "node.gpu.memory=9GB");
    cr_expect_float_eq(kvc_gpu_of(&loaded->scenario.node)->memory_bytes, 9e9, 1);
    cr_expect_eq(kvc_gpu_of(&loaded->scenario.node)->sms, 132);
    kvc_loaded_free(loaded);
    loaded = kvc_test_accepts("return { system = { kind = 'megakv' }, workload = { dist = 'uniform' } }",
                              "workload.dist.zipf=0.5");
    cr_expect_eq(loaded->scenario.workload.popularity, KVC_POPULARITY_ZIPF);
    kvc_loaded_free(loaded);
}

Test(overrides, overrides_do_not_leak_through_shared_tables)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("local cpu = { base = 'xeon-e5-2650v2' }\n"
                         "local node = { cpu = cpu, dram = { base = 'ddr3-1600-e5v2' } }\n"
                         "return { system = { kind = 'megakv' }, node = node,\n"
                         "  sweep = { ['node.cpu.cores'] = { 4, 6 } } }",
                         NULL);
    cr_expect_eq(kvc_cpu_of(&loaded->scenario.node)->cores, 8);
    kvc_loaded_free(loaded);
}

Test(overrides, names_overrides_as_the_place)
{
    kvc_test_refuses_set(KVC_TEST_MINIMAL, "system.cylce=1us", -1,
                         "unknown key \"cylce\" in system; did you mean \"cycle\"?");
    kvc_test_refuses_set(KVC_TEST_MINIMAL, "sytem.cycle=1us", -1,
                         "unknown key \"sytem\" in the returned table; did you mean \"system\"?");
    kvc_test_refuses_set(KVC_TEST_MINIMAL, "system.cycle=5", -1, "system.cycle: found 5, allowed: a time");
    kvc_test_refuses_set(KVC_TEST_MINIMAL, "node.gpu=tesla", -1, "no hardware profile \"tesla\"");
    kvc_test_refuses_set(KVC_TEST_MINIMAL, "node.gpu.sms=-2", -1, "node.gpu.sms: found -2");
    kvc_test_refuses_set(KVC_TEST_MINIMAL, "system.kind.x=1", -1,
                         "system.kind is a value in the scenario, not a table");
    kvc_test_refuses_set(KVC_TEST_MINIMAL, "run.seed", -1, "allowed: PATH=VALUE");
    kvc_test_refuses_set(KVC_TEST_MINIMAL, "=3", -1, "allowed: PATH=VALUE");
    kvc_test_refuses_set(KVC_TEST_MINIMAL, "run..seed=3", -1, "allowed: a path");
}
