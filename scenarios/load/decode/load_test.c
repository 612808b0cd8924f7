#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "models/model.h"
#include "scenarios/load/decode/load_fixture.h"
#include "scenarios/load/load.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

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
    kvc_test_refuses_line(
        "workload = { arrival = { fixed_mops = 1, bursts = { { times = 2, length = '1ms', at = '0us' } } } }",
        "workload.arrival.bursts has no effect with fixed_mops; it belongs to poisson_mops");
    kvc_test_refuses_line("workload = { arrival = { trace = 'none.csv' } }", "none.csv cannot be read");
    kvc_test_refuses_line("workload = { arrival = { poisson_mops = 1, copies = 2 } }",
                          "workload.arrival.copies has no effect with poisson_mops; it belongs to trace");
    kvc_test_refuses_line("workload = { arrival = { trace = 't.csv', mops = 1, speed = 2 } }",
                          "found both speed and mops");
    kvc_test_refuses_line("workload = { arrival = { trace = 't.csv', sample = 0 } }",
                          "workload.arrival.sample");
    kvc_test_refuses_line("workload = { arrival = { trace = 't.csv', misses = 'wait' } }",
                          "auto, fill, leave");
    kvc_test_refuses_line("workload = { arrival = { clients = 3, misses = 'fill' } }",
                          "workload.arrival.misses has no effect with clients");
    kvc_test_refuses_line(
        "workload = { arrival = { poisson_mops = 1, misses = 'fill' }, actions = { { name = 'a', frac = 1 } } }",
        "workload.arrival.misses: found \"fill\"");
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
    kvc_test_write_file("t.csv", "time_us,op,key,key_bytes,value_bytes\n1,get,a,1,8\n");
    warns("return { system = { kind = 'megakv' },\n  workload = { arrival = { trace = 't.csv' },\n    get = "
          "0.95 } }",
          ":3: workload.get has no effect when a trace is replayed");
}

static void warns_of(const char *system, const char *node, const char *part)
{
    char text[1024];
    snprintf(
        text, sizeof(text),
        "return { system = { kind = 'composed', %s stages = {\n { name = 'a', on = 'cpu', ns = 9 },\n"
        " { name = 'b', on = 'cpu', ns = 9, %s },\n { name = 'c', on = 'nic.tx' } } },\n node = { %s } }",
        system, strcmp(node, "when") == 0 ? "when = 'large'" : "", strcmp(node, "when") == 0 ? "" : node);
    warns(text, part);
}

Test(load, warns_of_what_no_stage_uses)
{
    warns_of("", "when", ":1: system.stages: the workload has no requests for stage \"b\"");
    warns_of("", "gpu = 'h200'", ":5: node.gpu: no stage works there");
    warns_of("index = { max_displacements = 5 },", "",
             ":1: system.index.max_displacements: it has no effect");
    warns_of("batch = { buffers = 5 },", "", ":1: system.batch.buffers: it has no effect");
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
    kvc_test_refuses_line("slo = { mops = 1, window = '1us' }, run = { duration = '20ms' }",
                          "slo.window: found 1us, allowed: from 19531.25ns to 20ms");
    kvc_test_refuses_line("slo = { mops = 1, window = '30ms' }", "slo.window: found 30ms, allowed");
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

TestSuite(load_cluster, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

Test(load_cluster, members_override_the_scenarios_node_and_system)
{
    struct kvc_loaded *loaded = kvc_test_accepts(
        "return { system = { kind = 'memcached' }, node = { sockets = 2 },\n"
        "  workload = { arrival = { poisson_mops = 1 } },\n"
        "  cluster = { virtual_nodes = 100, members = {\n"
        "    { name = 'old', nodes = 3 },\n"
        "    { name = 'new', nodes = 2, weight = 2.5, node = { sockets = 1, cpu = 'xeon-x5670' } } } } }",
        NULL);
    const struct kvc_cluster *cluster = &loaded->scenario.cluster;
    cr_assert_eq(cluster->member_count, 2);
    cr_expect_eq(cluster->nodes, 5);
    cr_expect_eq(cluster->virtual_nodes, 100);
    cr_expect_str_eq(cluster->member[1].name, "new");
    cr_expect_eq(cluster->member[0].weight, 1);
    cr_expect_eq(cluster->member[1].weight, 2.5);
    cr_expect_eq(cluster->member[0].node.sockets, 2);
    cr_expect_eq(cluster->member[1].node.sockets, 1);
    cr_expect_neq(kvc_cpu_of(&cluster->member[0].node)->cores, kvc_cpu_of(&cluster->member[1].node)->cores);
    cr_expect_eq(loaded->scenario.node.sockets, 2);
    bool echoed = false;
    for (uint32_t i = 0; i < loaded->parameters.count; i++) {
        const struct kvc_parameter *parameter = &loaded->parameters.entry[i];
        echoed |=
            strcmp(parameter->path, "cluster.members.2.node.sockets") == 0 && parameter->value[0] == '1';
        cr_expect_neq(strcmp(parameter->path, "cluster.members.1.node.sockets"), 0, "it is the scenario's");
    }
    cr_expect(echoed);
    kvc_loaded_free(loaded);
}

#define IN_MEMBER(text)                                                                                      \
    "return { system = { kind = 'memcached' },\n  workload = { arrival = { poisson_mops = 1 } },\n"          \
    "  cluster = { members = {\n    { name = 'a', nodes = 1 },\n    { name = 'b', nodes = 1,\n      " text   \
    " } } } }"

Test(load_cluster, mistakes_in_a_member_are_found_at_their_line)
{
    kvc_test_refuses(IN_MEMBER("node = { cpu = 'xeon-x5760' }"), 6, "no hardware profile \"xeon-x5760\"");
    kvc_test_refuses(IN_MEMBER("node = { socket = 1 }"), 6, "did you mean \"sockets\"?");
    kvc_test_refuses(IN_MEMBER("system = { kind = 'mica' }"), 6,
                     "all members have the scenario's system.kind");
    kvc_test_refuses(IN_MEMBER("system = { index_of = 1 }"), 6, "unknown key \"index_of\"");
    kvc_test_refuses(IN_MEMBER("wight = 2"), 6, "did you mean \"weight\"?");
    kvc_test_refuses(IN_MEMBER("weight = 0"), 6, "weight");
    kvc_test_refuses(
        "return { system = { kind = 'memcached' }, cluster = { nodes = 2,\n members = { { name = 'a', "
        "nodes = 1 } } } }",
        1, "beside cluster.members");
    kvc_test_refuses(
        "return { system = { kind = 'memcached' },\n cluster = { members = { { name = 'a', nodes = 2 } "
        "} } }",
        2, "cluster.members: needs nodes that are simulated apart");
}

/* The power policy of a scenario: as a word, and as a function of the file. */

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

/* Every field of the argument has a value of its own, so that a mix-up shows. */
Test(load_power, a_function_sees_every_observed_value)
{
    static const struct kvc_platform_host gpu = {
        .pstates = 2, .pstate = {{.speed = 1, .clock_hz = 745e6}, {.speed = 0.9, .clock_hz = 666e6}}};
    struct kvc_loaded *loaded =
        kvc_test_accepts(WITH("policy = function(o) "
                              "local seen = {} for name, value in pairs(o) do "
                              "  if type(value) == 'table' then value = table.concat(value, '+') end "
                              "  seen[#seen + 1] = name .. '=' .. value end "
                              "error(table.concat(seen, ' '), 0) end"),
                         NULL);
    const struct kvc_power_function *function = &loaded->scenario.power.function;
    struct kvc_power_view view = {.name = "node0.socket1",
                                  .at_s = 1.5,
                                  .span_s = 2.5,
                                  .offered_mops = 3.5,
                                  .served_mops = 4.5,
                                  .capacity_mops = 5.5,
                                  .cpu_busy_frac = 0.25,
                                  .gpu_busy_frac = 0.5,
                                  .latency_mean_us = 6.5,
                                  .latency_p99_us = 7.5,
                                  .watts = 8.5,
                                  .cpu = &cpu,
                                  .gpu = &gpu,
                                  .cpu_pstate = 1,
                                  .gpu_pstate = 0};
    struct kvc_power_choice choice = {0, 0};
    struct kvc_diag diag = {0};
    cr_expect_eq(function->choose(function->data, &view, &choice, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message,
                     "capacity_mops=5.5 cpu=1.3GHz cpu_busy_frac=0.25 cpu_clocks=2.6GHz+1.3GHz gpu=745MHz "
                     "gpu_busy_frac=0.5 gpu_clocks=745MHz+666MHz latency_mean_us=6.5 latency_p99_us=7.5 "
                     "offered_mops=3.5 served_mops=4.5 span_s=2.5 time_s=1.5 unit=node0.socket1 watts=8.5");
    view.capacity_mops = view.gpu_busy_frac = view.watts = NAN; /* Unknown values are absent. */
    view.gpu = NULL;
    cr_expect_eq(function->choose(function->data, &view, &choice, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message,
                     "cpu=1.3GHz cpu_busy_frac=0.25 cpu_clocks=2.6GHz+1.3GHz latency_mean_us=6.5 "
                     "latency_p99_us=7.5 offered_mops=3.5 served_mops=4.5 span_s=2.5 time_s=1.5 "
                     "unit=node0.socket1");
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
        char text[112];
        enum kvc_arrival arrival;
    } cases[] = {
        {"'saturate'", KVC_ARRIVAL_SATURATE},
        {"{ poisson_mops = 50 }", KVC_ARRIVAL_POISSON},
        {"{ fixed_mops = '500Kops' }", KVC_ARRIVAL_FIXED},
        {"{ clients = 3 }", KVC_ARRIVAL_CLOSED},
        {"{ curve = { { time = '0us', rate = 1 }, { time = '1ms', rate = 2 } } }", KVC_ARRIVAL_CURVE},
        {"{ poisson_mops = 1, bursts = { { times = 10, length = '50ms', every = '1s' } } }",
         KVC_ARRIVAL_BURSTS},
        {"{ mmpp = { { rate = 1, length = '9ms' }, { rate = 9, length = '1ms' } } }", KVC_ARRIVAL_MMPP},
        {"{ trace = 't.csv' }", KVC_ARRIVAL_TRACE},
    };
    char source[1024];
    kvc_test_write_file("t.csv", "time_us,op,key,key_bytes,value_bytes\n1,get,a,1,8\n");
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
        if (cases[i].arrival == KVC_ARRIVAL_BURSTS) {
            const struct kvc_burst *burst = &loaded->scenario.workload.bursts[0];
            cr_expect(burst->times == 10 && burst->length_ns == 50e6 && burst->at_ns < 0 &&
                      burst->every_ns == 1e9);
            cr_expect_eq(loaded->scenario.workload.burst_count, 1);
        }
        if (cases[i].arrival == KVC_ARRIVAL_MMPP) {
            cr_expect_eq(loaded->scenario.workload.mmpp_states, 2);
            cr_expect_eq(loaded->scenario.workload.mmpp[1].length_ns, 1e6);
        }
        if (cases[i].arrival == KVC_ARRIVAL_TRACE) {
            cr_expect_eq(access(loaded->scenario.workload.trace.path, R_OK), 0);
            cr_expect_null(kvc_parameters_find(&loaded->parameters, "workload.keys"),
                           "the trace has its own");
            cr_expect_null(kvc_parameters_find(&loaded->parameters, "workload.dist"));
        }
        kvc_loaded_free(loaded);
    }
}

#define ACTIONS                                                                                              \
    "workload = { get = 0.9, actions = {\n"                                                                  \
    "  { name = 'profile', frac = 1, value = 700 },\n"                                                       \
    "  { name = 'accept', frac = 1, invalidates = '2 profile' } } }"

Test(load_workload, reads_churn_and_storms_and_refuses_them_of_a_sample)
{
    struct kvc_loaded *loaded = kvc_test_accepts(
        "return { system = { kind = 'megakv' }, workload = { churn = 5, arrival = { poisson_mops = 1 },\n"
        "  storms = { { at = '1ms', length = '2ms', frac = 0.5 } } } }",
        NULL);
    const struct kvc_workload *workload = &loaded->scenario.workload;
    cr_assert_eq(workload->storm_count, 1);
    cr_expect(workload->storms[0].at_ns == 1e6 && workload->storms[0].length_ns == 2e6);
    cr_expect(workload->storms[0].frac == 0.5 && workload->storms[0].keys == 1);
    cr_expect_eq(workload->churn_per_s, 5);
    kvc_loaded_free(loaded);
    kvc_test_refuses(
        "return { system = { kind = 'megakv' }, workload = { churn = 5, arrival = { poisson_mops = 1 } },\n"
        "  run = { functional = 'off' } }",
        2, "run.functional: allowed with workload.churn or workload.storms is \"compact\" or \"full\"");
}

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
                     5, "run.functional: allowed with workload.actions is \"compact\"");
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
                     4, "run.functional: allowed with workload.phases is \"compact\"");
}

Test(load_workload, values_may_depend_on_the_rank)
{
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'mica' }, workload = { keys = 1000, values = "
                         "{ { top = 0.1, value = 8 }, { top = 1, value = 64 } } } }",
                         NULL);
    cr_expect_eq(loaded->scenario.workload.value_count, 2);
    cr_expect_float_eq(kvc_workload_value_bytes_mean(&loaded->scenario.workload), 0.1 * 8 + 0.9 * 64, 1e-9);
    kvc_loaded_free(loaded);
    kvc_test_refuses(
        "return { system = { kind = 'mica' },\n workload = { values = { { top = 0.1, value = 8 } } } }", 2,
        "workload.values.1.top: found 0.1, allowed for the last entry: 1");
}

Test(load_workload, tenants_send_at_the_sum_of_their_rates_unless_a_rate_is_stated)
{
    static const char tenants[] =
        "tenants = { { name = 'a', mops = 2, keys = 30, value = 64 }, { name = 'b', mops = 6, keys = 10, get = 0 } }";
    char source[512];
    snprintf(source, sizeof(source), "return { system = { kind = 'megakv' }, workload = { %s } }", tenants);
    struct kvc_loaded *loaded = kvc_test_accepts(source, NULL);
    const struct kvc_workload *workload = &loaded->scenario.workload;
    cr_expect_eq(workload->arrival, KVC_ARRIVAL_POISSON);
    cr_expect_eq(workload->rate_mops, 8);
    cr_expect_eq(workload->keys, 40);
    cr_expect_float_eq(workload->get_frac, 0.25 * 0.95, 1e-12);
    kvc_test_expect_parameter(loaded, "workload.arrival.poisson_mops", "8Mops", true,
                              "sum over workload.tenants");
    kvc_loaded_free(loaded);
    snprintf(source, sizeof(source),
             "return { system = { kind = 'megakv' }, workload = { %s, arrival = { fixed_mops = 3 } } }",
             tenants);
    loaded = kvc_test_accepts(source, NULL);
    cr_expect_eq(loaded->scenario.workload.rate_mops, 3);
    kvc_loaded_free(loaded);
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
