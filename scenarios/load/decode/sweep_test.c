#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/decode/load_fixture.h"

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
    cr_expect_str_eq(loaded->sweep.axis[1].value[2].label, "200us");
    cr_expect_str_eq(loaded->sweep.axis[3].value[0].label, "0.95");
    cr_expect_str_eq(loaded->sweep.axis[0].value[1].label, "16");
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
    kvc_test_refuses_line("sweep = { ['run.seed'] = { {} } }", "value 1 is empty: a table");
    kvc_test_refuses_line("sweep = { 3 }", "sweep: found the key 1");
    kvc_test_refuses_line("sweep = { replicsa = 3 }",
                          "found the key \"replicsa\"; did you mean \"replicas\"?");
    kvc_test_refuses_line("sweep = { ['run..seed'] = { 1 } }", "found \"run..seed\"");
    kvc_test_refuses_line("sweep = { ['run.seed'] = { 1 }, replicas = 0 }", "sweep.replicas: found 0");
    kvc_test_refuses_line("sweep = { ['run.seed'] = { 1 }, where = 'x < 2' }",
                          "sweep.where: found \"x < 2\"");
    kvc_test_refuses_line("slo = { p98 = '1ms' }", "unknown key \"p98\" in slo; did you mean \"p95\"?");
}

static void expect_labels(const struct kvc_sweep_axis *axis, uint32_t count, const char *const *labels)
{
    cr_assert_eq(axis->count, count, "%s: %u values", axis->path, axis->count);
    for (uint32_t i = 0; i < count; i++) {
        cr_expect_str_eq(axis->value[i].label, labels[i]);
    }
}

Test(load_sweep, steps_through_ranges_in_their_unit)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'megakv' }, sweep = {\n"
                         "  ['system.cycle'] = { from = '100us', to = '0.4ms', steps = 4 },\n"
                         "  ['workload.keys'] = { from = 1e6, to = 64e6, steps = 7, scale = 'log' },\n"
                         "  ['workload.key'] = { from = 8, to = 16, steps = 4, whole = true },\n"
                         "['system.index'] = { 67108864, '1GiB' } } }",
                         NULL);
    static const char *const cycles[] = {"100us", "200us", "300us", "0.4ms"}, *const keys[] = {"1000000",
                                                                                               "2000000",
                                                                                               "4000000",
                                                                                               "8000000",
                                                                                               "16000000",
                                                                                               "32000000",
                                                                                               "64000000"},
                             *const sizes[] = {"8", "11", "13", "16"};
    const struct kvc_sweep *sweep = &loaded->sweep;
    expect_labels(&sweep->axis[0], 4, cycles);
    cr_expect(sweep->axis[0].numeric && sweep->axis[0].unit == KVC_UNIT_NS);
    cr_expect_float_eq(sweep->axis[0].value[3].number, 400e3, 1e-6);
    cr_assert_eq(sweep->axis[1].count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        cr_expect_eq(sweep->axis[1].value[i].number, strtod(keys[i], NULL));
    }
    expect_labels(&sweep->axis[2], 4, sizes);
    cr_expect_eq(sweep->axis[3].unit, KVC_UNIT_BYTES, "the scenario resolves 67108864 to bytes");
    cr_expect_eq(sweep->axis[3].value[1].number, 0x1p30);
    kvc_loaded_free(loaded);
}

Test(load_sweep, says_what_is_wrong_with_a_range)
{
    kvc_test_refuses_line("sweep = { ['system.cycle'] = { from = '1us', to = '2GB', steps = 3 } }",
                          "found to = \"2GB\", allowed: a time");
    kvc_test_refuses_line("sweep = { ['system.cycle'] = { from = '2us', to = '1us', steps = 3 } }",
                          "allowed: more than from");
    kvc_test_refuses_line("sweep = { ['system.cycle'] = { from = '1us', to = '2us', steps = 1 } }",
                          "allowed: a whole number from 2");
    kvc_test_refuses_line("sweep = { ['system.cycle'] = { from = '1us', to = '2us', step = 3 } }",
                          "did you mean \"steps\"?");
    kvc_test_refuses_line("sweep = { ['system.cycle'] = { from = '1us', to = '2us' } }",
                          "range without steps");
    kvc_test_refuses_line("sweep = { ['workload.get'] = { from = 0, to = 1, steps = 3, scale = 'log' } }",
                          "allowed: \"linear\"");
}

Test(load_sweep, takes_sub_tables_as_values)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'megakv' }, sweep = {\n"
                         "  ['node.gpu'] = { 'tesla-k40c', { base = 'tesla-k40c', memory = '24GB' } },\n"
                         "  ['workload.dist'] = { 'uniform', { zipf = 0.99 } } } }",
                         NULL);
    const struct kvc_sweep_axis *gpu = &loaded->sweep.axis[0], *dist = &loaded->sweep.axis[1];
    static const char *const gpus[] = {"tesla-k40c", "tesla-k40c{memory=24GB}"}, *const dists[] = {
                                                                                     "uniform",
                                                                                     "{zipf=0.99}"};
    expect_labels(gpu, 2, gpus);
    expect_labels(dist, 2, dists);
    cr_expect_not(gpu->numeric);
    const struct kvc_overrides *set = &gpu->value[1].set;
    cr_assert_eq(set->count, 2);
    cr_expect_str_eq(set->entry[0].path, "node.gpu");
    cr_expect_str_eq(set->entry[0].value, "tesla-k40c");
    cr_expect_str_eq(set->entry[1].path, "node.gpu.memory");
    kvc_loaded_free(loaded);
    kvc_test_refuses_line("sweep = { ['node.gpu'] = { { base = 'tesla-k40c', memroy = '24GB' } } }",
                          "did you mean \"memory\"?");
}

Test(load_sweep, replaces_lists)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("local first = { name = 'receive', on = 'nic.rx' }\n"
                         "local last = { name = 'send', on = 'nic.tx' }\n"
                         "local a = { name = 'a', on = 'cpu', ns = 5 }\n"
                         "local b = { name = 'b', on = 'cpu', ns = 5 }\n"
                         "return { system = { kind = 'composed', stages = { first, a, b, last } },\n"
                         "         sweep = { ['system.stages'] = { { first, a, last } } } }",
                         NULL); /* With the fourth stage, `last` would be there twice, which is refused. */
    const struct kvc_overrides *set = &loaded->sweep.axis[0].value[0].set;
    cr_expect_str_eq(set->entry[0].path, "system.stages");
    cr_expect_str_eq(set->entry[0].value, "none");
    kvc_loaded_free(loaded);
}

Test(load_sweep, takes_a_list_of_points)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'megakv' }, sweep = { replicas = 3, points = {\n"
                         "  { ['system.cycle'] = '120us', ['run.seed'] = 1 },\n"
                         "  { ['system.cycle'] = '160us', ['run.seed'] = 1 },\n"
                         "  { ['system.cycle'] = '120us', ['run.seed'] = 2 } } } }",
                         NULL);
    static const uint32_t indices[] = {0, 0, 1, 0, 0, 1};
    const struct kvc_sweep *sweep = &loaded->sweep;
    cr_assert_eq(sweep->design, KVC_SWEEP_LIST);
    cr_expect_eq(sweep->replicas, 3);
    cr_assert_eq(sweep->list_count, 3);
    for (uint32_t i = 0; i < 6; i++) {
        cr_expect_eq(sweep->list[i], indices[i], "index %u", i);
    }
    kvc_loaded_free(loaded);
    kvc_test_refuses("return { system = { kind = 'megakv' }, sweep = { points = {\n"
                     "  { ['run.seed'] = 1 },\n  { ['run.replicas'] = 1 } } } }",
                     3, "point 2 has no run.seed");
    kvc_test_refuses_line("sweep = { points = { random = 0 } }",
                          "sweep.points: found the key \"random\" with 0");
    kvc_test_refuses_line("sweep = { points = { random = 5 } }", "found no path to draw from");
    kvc_test_refuses_line("sweep = { ['run.seed'] = { 1 }, points = { { ['run.seed'] = 1 } } }",
                          "it allows no other path");
}

/* A table that is shared costs the script nothing, but each of its uses is a setting. */
Test(load_sweep, bounds_what_shared_tables_multiply)
{
    kvc_test_refuses("local t = 1\nfor level = 1, 4 do\n  local u = {}\n"
                     "  for i = 1, 64 do u['f' .. i] = t end\n  t = u\nend\n"
                     "return { system = { kind = 'megakv' },\n  sweep = { ['node.gpu'] = { t } } }",
                     8, "found too many values, allowed: 65536 in the sweep");
    kvc_test_refuses("local big = { ['run.seed'] = 2 }\nfor i = 1, 100 do big['system.a' .. i] = 1 end\n"
                     "return { system = { kind = 'megakv' },\n"
                     "  sweep = { points = { { ['run.seed'] = 1 }, big } } }",
                     4, "point 2 has other paths");
}
