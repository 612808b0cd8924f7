#include <criterion/criterion.h>
#include <string.h>

#include "scenarios/load/load_fixture.h"

TestSuite(load_sweep, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

Test(load_sweep, keeps_the_written_order_of_the_sweep)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'megakv' },\n"
                         "  sweep = { ['workload.value'] = { 8, 16 },\n"
                         "    ['system.cycle'] = { '120us', '160us', '200us' },\n"
                         "    ['cluster.nodes'] = { 1 }, ['workload.get'] = { 0.95, 1 } } }",
                         NULL);
    static const char *const paths[] = {"workload.value", "system.cycle", "cluster.nodes", "workload.get"};
    cr_assert_eq(loaded->sweep.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_str_eq(loaded->sweep.axis[i].path, paths[i]);
    }
    cr_expect_eq(loaded->sweep.axis[1].count, 3);
    cr_expect_str_eq(loaded->sweep.axis[1].value[2], "200us");
    cr_expect_str_eq(loaded->sweep.axis[3].value[0], "0.95");
    cr_expect_str_eq(loaded->sweep.axis[0].value[1], "16");
    kvc_loaded_free(loaded);
}

Test(load_sweep, checks_every_value_of_the_sweep)
{
    kvc_test_refuses(
        "return { system = { kind = 'megakv' },\n  sweep = {\n    ['system.cylce'] = { '1us' } } }", 3,
        "unknown key \"cylce\" in system; did you mean \"cycle\"?");
    kvc_test_refuses(
        "return { system = { kind = 'megakv' },\n  sweep = { ['system.cycle'] = {\n    '1us',\n    '3GB' "
        "} } }",
        4, "system.cycle: found \"3GB\"");
    kvc_test_refuses_line("sweep = { ['run.seed'] = {} }", "a list of 1 to");
    kvc_test_refuses_line("sweep = { ['run.seed'] = 3 }", "a list of 1 to");
    kvc_test_refuses_line("sweep = { ['run.seed'] = { {} } }", "value 1 is a table");
    kvc_test_refuses_line("sweep = { 3 }", "sweep: found the key 1");
    kvc_test_refuses_line("slo = { p98 = '1ms' }", "unknown key \"p98\" in slo; did you mean \"p95\"?");
}
