#include "scenarios/load/load.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "models/model.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

#include "scenarios/load/decode/load_fixture.h"

TestSuite(load, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

Test(load, fills_everything_from_defaults)
{
    struct kvc_loaded *loaded = kvc_test_accepts(KVC_TEST_MINIMAL, NULL);
    const struct kvc_scenario *scenario = &loaded->scenario;
    cr_expect_str_eq(scenario->name, "s");
    cr_expect_str_eq(scenario->file, kvc_test_file);
    cr_expect_str_eq(scenario->model->name, "megakv");
    cr_expect_eq(kvc_cpu_of(&scenario->node)->cores, 8);
    cr_expect_float_eq(kvc_dram_of(&scenario->node)->random_line_ns, 76, 1e-9);
    cr_expect_eq(kvc_gpu_of(&scenario->node)->clock_count, 5);
    cr_expect_float_eq(kvc_gpu_of(&scenario->node)->clocks[0].search.ns_per_op, 5.9, 1e-9);
    cr_expect_float_eq(kvc_gpu_of(&scenario->node)->clocks[4].insert.base_ns, 282500, 1e-6);
    cr_expect_float_eq(kvc_nic_of(&scenario->node)->bytes_per_s, 5e9, 1e-3);
    cr_expect_float_eq(kvc_pcie_of(&scenario->node)->latency_ns, 1050, 1e-9);
    cr_expect_str_eq(scenario->node.machine.name, "");
    cr_expect_eq(scenario->workload.popularity, KVC_POPULARITY_UNIFORM);
    cr_expect_eq(scenario->workload.arrival, KVC_ARRIVAL_SATURATE);
    cr_expect(isnan(loaded->slo.p99_ns));
    cr_expect_eq(loaded->sweep.count, 0);
    cr_expect_eq(loaded->warning_count, 0);
    kvc_loaded_free(loaded);
}

Test(load, reads_every_part)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("return {\n"
                         "  name = 'full',\n"
                         "  system = { kind = 'megakv', cycle = '200us', api = 'get' },\n"
                         "  node = { sockets = 1, cpu = { base = 'xeon-e5-2650v2', cores = 6 } },\n"
                         "  cluster = { nodes = 4 },\n"
                         "  workload = { keys = 100e6, get = 0.5, dist = { zipf = 0.8 },\n"
                         "               arrival = { clients = 10, think = '5us' } },\n"
                         "  run = { seed = 7, duration = '3ms' },\n"
                         "  slo = { p99 = '1ms', mops = 400 },\n"
                         "}",
                         NULL);
    const struct kvc_scenario *scenario = &loaded->scenario;
    cr_expect_eq(scenario->node.sockets, 1);
    cr_expect_eq(kvc_cpu_of(&scenario->node)->cores, 6);
    cr_expect_float_eq(kvc_cpu_of(&scenario->node)->packet_ns, 7, 1e-9);
    cr_expect_eq(scenario->cluster.nodes, 4);
    cr_expect_eq(scenario->workload.keys, 100000000);
    cr_expect_float_eq(scenario->workload.set_frac, 0.5, 1e-15);
    cr_expect_eq(scenario->workload.popularity, KVC_POPULARITY_ZIPF);
    cr_expect_float_eq(scenario->workload.zipf_s, 0.8, 1e-15);
    cr_expect_eq(scenario->workload.arrival, KVC_ARRIVAL_CLOSED);
    cr_expect_eq(scenario->workload.clients, 10);
    cr_expect_float_eq(scenario->workload.think_ns, 5000, 1e-9);
    cr_expect_eq(scenario->run.seed, 7);
    cr_expect_float_eq(scenario->run.duration_ns, 3e6, 1e-6);
    cr_expect_float_eq(loaded->slo.p99_ns, 1e6, 1e-6);
    cr_expect_float_eq(loaded->slo.mops, 400, 1e-9);
    kvc_test_expect_parameter(loaded, "system.cycle", "200us", false, "scenario");
    kvc_test_expect_parameter(loaded, "system.delay", "2", true, "default");
    kvc_test_expect_parameter(loaded, "workload.set", "0.5", true, "1 - get - delete");
    kvc_test_expect_parameter(loaded, "node.cpu.cores", "6", true, "scenario");
    cr_assert_not_null(kvc_parameters_find(&loaded->provenance, "node.cpu.packet"));
    cr_expect(strstr(kvc_parameters_find(&loaded->provenance, "node.cpu.packet")->source,
                     "megakv.bg.io_parse_cost") != NULL);
    cr_expect_str_eq(kvc_parameters_find(&loaded->provenance, "node.cpu.cores")->source, "scenario");
    kvc_loaded_free(loaded);
}

Test(load, is_the_same_every_time)
{
    static const char text[] =
        "local w = {}\nfor k, v in pairs({ keys = 5, value = 6, key = 7 }) do w[k] = v end\n"
        "return { system = { kind = 'megakv' }, workload = w }";
    struct kvc_loaded *first = kvc_test_accepts(text, NULL), *second = kvc_test_accepts(text, NULL);
    cr_assert_eq(first->parameters.count, second->parameters.count);
    for (uint32_t i = 0; i < first->parameters.count; i++) {
        cr_expect_str_eq(first->parameters.entry[i].path, second->parameters.entry[i].path);
    }
    kvc_loaded_free(first);
    kvc_loaded_free(second);
}

Test(load, suggests_the_nearest_key)
{
    kvc_test_refuses_line("run = { sed = 1 }",
                          "unknown key \"sed\" in run; did you mean \"seed\"? allowed: functional");
    kvc_test_refuses_line("wrkload = {}",
                          "unknown key \"wrkload\" in the returned table; did you mean \"workload\"?");
    kvc_test_refuses_line(
        "cluster = { nodess = 3 }",
        "unknown key \"nodess\" in cluster; did you mean \"nodes\"? allowed: members, nodes");
    kvc_test_refuses("return {\n  system = { kind = \"megakv\",\n    cylce = \"1us\" },\n}", 3,
                     "unknown key \"cylce\" in system; did you mean \"cycle\"? allowed: kind, cycle, delay");
    kvc_test_refuses("return { system = {\n  kind = 'megakev' } }", 2,
                     "no system \"megakev\"; did you mean \"megakv\"?");
    kvc_test_refuses_line("workload = { dist = 'zpif' }", "did you mean \"zipf\"?");
    kvc_test_refuses_line("workload = { sizes = 'fixd' }", "did you mean \"fixed\"?");
    kvc_test_refuses_line("workload = { preset = 'ycsb-q' }",
                          "there is no workload preset \"ycsb-q\"; did you mean");
    kvc_test_refuses_line("workload = { arrival = { poison_mops = 3 } }", "did you mean \"poisson_mops\"?");
    kvc_test_refuses_line("node = { gpu = 'tesla-k40' }",
                          "no hardware profile \"tesla-k40\"; did you mean \"tesla-k40c\"?");
    kvc_test_refuses_line("node = { gpu = { base = 'tesla-k40' } }", "did you mean \"tesla-k40c\"?");
    kvc_test_refuses_line("node = { cpu = { core = 3 } }",
                          "unknown key \"core\" in node.cpu; did you mean \"cores\"?");
}

Test(load, reports_the_first_unknown_key_in_the_file)
{
    kvc_test_refuses("return { system = { kind = 'megakv' },\n  zzz = 1,\n  aaa = 2,\n  mmm = 3 }", 2,
                     "unknown key \"zzz\"");
}

Test(load, refuses_wrong_units_and_numbers)
{
    kvc_test_refuses_line("run = { duration = 20 }", "run.duration: found 20, allowed: a time such as");
    kvc_test_refuses_line("run = { duration = '20GB' }",
                          "run.duration: found \"20GB\", allowed: a time such as");
    kvc_test_refuses_line("run = { duration = '-3us' }", "run.duration: found \"-3us\"");
    kvc_test_refuses_line("run = { duration = {} }", "run.duration: found a table");
    kvc_test_refuses_line("run = { seed = -1 }", "run.seed: found -1, allowed: a whole number");
    kvc_test_refuses_line("run = { replicas = 1.5 }", "run.replicas: found 1.5, allowed: a whole number");
    kvc_test_refuses_line("run = { replicas = 0 }", "run.replicas: found 0");
    kvc_test_refuses_line("run = { seed = 0/0 }", "run.seed: found NaN");
    kvc_test_refuses_line("workload = { get = 0/0 }",
                          "workload.get: found NaN, allowed: a number, from 0 to 1");
    kvc_test_refuses_line("workload = { get = 95 }", "workload.get: found 95");
    kvc_test_refuses_line("workload = { keys = 1/0 }", "workload.keys: found inf");
    kvc_test_refuses_line("workload = { keys = '5' }", "workload.keys: found \"5\", allowed: a whole number");
    kvc_test_refuses_line("workload = { dist = { zipf = 0 } }", "workload.dist.zipf: found 0");
    kvc_test_refuses_line("workload = { arrival = { poisson_mops = -5 } }",
                          "workload.arrival.poisson_mops: found -5");
    kvc_test_refuses_line("node = { cpu = { clock = '3GB' } }",
                          "node.cpu.clock: found \"3GB\", allowed: a frequency");
    kvc_test_refuses("return { system = { kind = \"megakv\",\n  cycle = \"0us\" } }", 2,
                     "system.cycle: found \"0us\"");
    kvc_test_refuses("return { system = { kind = \"megakv\",\n  cycle = 0 } }", 2, "system.cycle: found 0");
}

Test(load, refuses_what_does_not_fit_together)
{
    kvc_test_refuses_line("workload = { get = 0.5, set = 0.6 }", "add up to 1.1");
    kvc_test_refuses_line("workload = { arrival = { poisson_mops = 1, clients = 3 } }",
                          "found both poisson_mops and clients");
    kvc_test_refuses_line("workload = { arrival = { think = '1us' } }", "names no kind");
    kvc_test_refuses_line("workload = { arrival = { poisson_mops = 1, think = '1us' } }",
                          "think has no effect with poisson_mops");
    kvc_test_refuses_line("workload = { arrival = { trace = 'none.csv' } }", "none.csv cannot be read");
    kvc_test_refuses_line(
        "workload = { arrival = { curve = { { time = '5us', rate = 1 }, { time = '5us', rate = 2 } } } }",
        "times must rise");
    kvc_test_refuses_line("workload = 3", "workload: found 3, allowed: a table");
    kvc_test_refuses_line("workload = { 5 }", "without a name in workload");
    kvc_test_refuses_line("name = 'a/b'", "name: found \"a/b\"");
    kvc_test_refuses("return {\n  system = {\n    kind = 'megakv', index = 3 } }", 3,
                     "system.index: found 3");
    kvc_test_refuses("return {\n  system = { kind = 'megakv',\n  streams = 8 } }", 3,
                     "system.streams: found 8, the cpu has room");
    kvc_test_refuses("return {\n  workload = {} }", 1, "system.kind is missing");
}

Test(load, passes_on_what_the_sandbox_says)
{
    kvc_test_refuses("return {\n  system = { kind = 'megakv' }\n  run = {} }", 3, "'}' expected");
    kvc_test_refuses("return {\n  system = { kind = megakv } }", 2, "undefined global \"megakv\"");
    kvc_test_refuses("\nreturn 5", 2, "must return a table");
    kvc_test_refuses("\x1bLua", 0, "is a compiled Lua chunk");
}

static void warns(const char *text, const char *part)
{
    struct kvc_loaded *loaded = kvc_test_accepts(text, NULL);
    cr_assert_eq(loaded->warning_count, 1, "%s", text);
    cr_expect(strstr(loaded->warning[0], part) != NULL, "%s", loaded->warning[0]);
    cr_expect(strncmp(loaded->warning[0], kvc_test_file, strlen(kvc_test_file)) == 0, "%s",
              loaded->warning[0]);
    kvc_loaded_free(loaded);
}

Test(load, warns_of_keys_without_effect)
{
    warns("return { system = { kind = 'megakv' },\n  workload = { sizes = 'etc',\n value = 3 } }",
          ":3: workload.value has no effect unless workload.sizes is \"fixed\"");
    warns("return { system = { kind = 'megakv' },\n  run = { sample_rate = 4 } }",
          ":2: run.sample_rate has no effect unless run.functional is \"sampled\"");
    warns("return { system = { kind = 'megakv' },\n  run = { warmup = '1ms',\n warmup_limit = '2ms' } }",
          ":3: run.warmup_limit has no effect unless run.warmup is \"auto\"");
    warns(
        "return { system = { kind = 'megakv' },\n  workload = { arrival = 'saturate',\n fill_timeout = '1us' } }",
        ":3: workload.fill_timeout has no effect unless workload.arrival is an open loop");
    kvc_test_write_file("t.csv", "time_us,op,key,key_bytes,value_bytes\n");
    warns("return { system = { kind = 'megakv' },\n  workload = { arrival = { trace = 't.csv' },\n    get = "
          "0.95 } }",
          ":3: workload.get has no effect when a trace is replayed");
}

Test(load, refuses_too_long_a_path)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag = {0};
    char path[400];
    memset(path, 'a', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    cr_expect_eq(kvc_scenario_load(path, NULL, &loaded, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, "is longer than 255 bytes") != NULL, "%s", diag.message);
}

Test(load, an_objective_for_the_latency_needs_a_load)
{
    kvc_test_refuses_line("slo = { mops = 100, p99 = '1ms' }",
                          "slo.p99: found an objective for the latency without");
    kvc_loaded_free(
        kvc_test_accepts("return { system = { kind = 'megakv' }, slo = { mops = 100, hit = 0.9 } }", NULL));
    kvc_loaded_free(kvc_test_accepts("return { system = { kind = 'megakv' }, slo = { p99 = '1ms' },\n"
                                     "  sweep = { ['workload.arrival.poisson_mops'] = { 40, 80 } } }",
                                     NULL));
    kvc_test_refuses_line("slo = { hit = 95 }", "slo.hit: found 95");
}

Test(load, bounds_what_it_reads_of_large_tables)
{
    kvc_test_refuses("local t = { system = { kind = 'megakv' } }\nfor i = 1, 10000 do t['k' .. i] = i end\n"
                     "return t",
                     3, "the returned table has more than 10000 keys");
    kvc_test_refuses("local t = { kind = 'megakv' }\nfor i = 1, 50 do t['k' .. i] = i end\n"
                     "return {\n  system = t }",
                     4, "unknown key \"k1\"");
    kvc_test_refuses("local p = {}\nfor i = 1, 33 do p[i] = 'x' end\n"
                     "return { system = { kind = 'megakv' },\n  workload = { preset = p } }",
                     4, "workload.preset: found 33 names, allowed: up to 32");
}

Test(load, shows_no_control_characters)
{
    kvc_test_refuses("return { ['a\\nkvcast: b\\27[2J'] = 3 }", 1, "unknown key \"a kvcast: b?[2J\"");
    kvc_test_refuses_line("name = 'a\\u{9b}2J'", "control characters");
    kvc_test_refuses_line("name = 'a\\xff'", "not UTF-8");
    kvc_loaded_free(kvc_test_accepts("return { name = 'm\\u{fc}ller', system = { kind = 'megakv' } }", NULL));
}
