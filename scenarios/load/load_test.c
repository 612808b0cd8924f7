#include "scenarios/load/load.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/megakv/cost_profile.h"
#include "models/model.h"
#include "scenarios/load/hardware.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

static char folder[] = "/tmp/kvc_load_XXXXXX";
static char file[64];

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/s.lua", folder);
}

static void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(load, .init = make_folder, .fini = remove_folder);

static void write_file(const char *name, const char *text)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    cr_assert_geq(fputs(text, out), 0);
    cr_assert_eq(fclose(out), 0);
}

/* Loads `text` with one override ("path=value", NULL: none). */
static enum kvc_status load(const char *text, const char *set, struct kvc_loaded **loaded,
                            struct kvc_diag *diag)
{
    struct kvc_overrides overrides = {0};
    memset(diag, 0, sizeof(*diag));
    write_file("s.lua", text);
    *loaded = NULL;
    enum kvc_status status = set != NULL ? kvc_overrides_parse(&overrides, set, diag) : KVC_OK;
    if (status == KVC_OK) {
        status = kvc_scenario_load(file, &overrides, loaded, diag);
    }
    kvc_overrides_clear(&overrides);
    return status;
}

static struct kvc_loaded *accepts(const char *text, const char *set)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    cr_assert_eq(load(text, set, &loaded, &diag), KVC_OK, "%s:%d: %s", diag.file, diag.line, diag.message);
    return loaded;
}

/* `line` -1: the place is --set. */
static void refuses_set(const char *text, const char *set, int line, const char *part)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    const char *place = line < 0 ? "--set" : file;
    cr_expect_eq(load(text, set, &loaded, &diag), KVC_ERR_SCENARIO, "accepted: %s", text);
    cr_expect_null(loaded);
    cr_expect(diag.line == (line < 0 ? 0 : line) && strcmp(diag.file, place) == 0 &&
                  strstr(diag.message, part) != NULL,
              "%s\nfound %s:%d: %s\nexpected %s:%d: %s", text, diag.file, diag.line, diag.message, place,
              line, part);
}

static void refuses(const char *text, int line, const char *part)
{
    refuses_set(text, NULL, line, part);
}

/* A scenario whose line 3 is `text` (in the returned table). */
static void refuses_line(const char *text, const char *part)
{
    char source[512];
    snprintf(source, sizeof(source), "return {\n  system = { kind = \"megakv\" },\n  %s,\n}\n", text);
    refuses(source, 3, part);
}

static const struct kvc_parameter *find(const struct kvc_parameters *list, const char *path)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->entry[i].path, path) == 0) {
            return &list->entry[i];
        }
    }
    return NULL;
}

static void expect_parameter(const struct kvc_loaded *loaded, const char *path, const char *value, bool bare,
                             const char *source)
{
    const struct kvc_parameter *found = find(&loaded->parameters, path);
    cr_assert_not_null(found, "%s is not recorded", path);
    cr_expect(strcmp(found->value, value) == 0 && found->bare == bare && strcmp(found->source, source) == 0,
              "%s: found %s%s from \"%s\"", path, found->value, found->bare ? " (bare)" : "", found->source);
}

#define MINIMAL "return { system = { kind = \"megakv\" } }"

Test(load, fills_everything_from_defaults)
{
    struct kvc_loaded *loaded = accepts(MINIMAL, NULL);
    const struct kvc_scenario *scenario = &loaded->scenario;
    cr_expect_str_eq(scenario->name, "s");
    cr_expect_str_eq(scenario->file, file);
    cr_expect_str_eq(scenario->model->name, "megakv");
    cr_expect_eq(kvc_cpu_of(&scenario->node)->cores, 8);
    cr_expect_float_eq(kvc_dram_of(&scenario->node)->random_line_ns, 76, 1e-9);
    cr_expect_eq(kvc_gpu_of(&scenario->node)->clock_count, 5);
    cr_expect_float_eq(kvc_gpu_of(&scenario->node)->clocks[0].search.ns_per_op, 5.9, 1e-9);
    cr_expect_float_eq(kvc_gpu_of(&scenario->node)->clocks[4].insert.base_ns, 282500, 1e-6);
    cr_expect_float_eq(kvc_nic_of(&scenario->node)->bytes_per_s, 5e9, 1e-3);
    cr_expect_float_eq(kvc_pcie_of(&scenario->node)->latency_ns, 1050, 1e-9);
    cr_expect(!kvc_megakv_cost_profile_is_measured(kvc_megakv_cost_profile_of(&scenario->node)));
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
        accepts("return {\n"
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
    expect_parameter(loaded, "system.cycle", "200us", false, "scenario");
    expect_parameter(loaded, "system.delay", "2", true, "default");
    expect_parameter(loaded, "workload.set", "0.5", true, "1 - get - delete");
    expect_parameter(loaded, "node.cpu.cores", "6", true, "scenario");
    cr_assert_not_null(find(&loaded->provenance, "node.cpu.packet"));
    cr_expect(strstr(find(&loaded->provenance, "node.cpu.packet")->source, "megakv.bg.io_parse_cost") !=
              NULL);
    cr_expect_str_eq(find(&loaded->provenance, "node.cpu.cores")->source, "scenario");
    kvc_loaded_free(loaded);
}

Test(load, gives_every_hardware_number_a_source)
{
    struct kvc_profiles profiles;
    char path[512];
    kvc_hardware_list(&profiles);
    cr_assert_geq(profiles.count, 8);
    for (size_t i = 0; i < profiles.count; i++) {
        struct kvc_loaded loaded = {.warning_count = 0};
        struct kvc_node node;
        struct kvc_diag diag = {0};
        const struct kvc_device_kind *kind;
        snprintf(path, sizeof(path), "%s/%s.lua", kvc_hardware_dir(), profiles.name[i]);
        cr_assert_eq(kvc_hardware_read(path, &kind, &node, &loaded, &diag), KVC_OK, "%s:%d: %s", diag.file,
                     diag.line, diag.message);
        bool derived = kind == &kvc_megakv_cost_profile_kind &&
                       !kvc_megakv_cost_profile_is_measured(kvc_megakv_cost_profile_of(&node));
        cr_expect_eq(loaded.provenance.count > 0, !derived, "%s: %u numbers", profiles.name[i],
                     loaded.provenance.count);
        for (uint32_t j = 0; j < loaded.provenance.count; j++) {
            cr_expect_gt(strlen(loaded.provenance.entry[j].source), 0, "%s %s", profiles.name[i],
                         loaded.provenance.entry[j].path);
        }
        kvc_node_free(&node);
        free(loaded.parameters.entry);
        free(loaded.provenance.entry);
    }
}

Test(load, applies_presets_in_order_and_keys_over_them)
{
    struct kvc_loaded *loaded = accepts("return { system = { kind = 'megakv' },\n"
                                        "  workload = { preset = { 'megakv-b', 'ycsb-a' }, value = 100 } }",
                                        NULL);
    cr_expect_eq(loaded->scenario.workload.key_bytes, 16);
    cr_expect_eq(loaded->scenario.workload.value_bytes, 100);
    cr_expect_float_eq(loaded->scenario.workload.get_frac, 0.5, 1e-15);
    expect_parameter(loaded, "workload.key", "16", true, "preset megakv-b");
    expect_parameter(loaded, "workload.value", "100", true, "scenario");
    expect_parameter(loaded, "workload.get", "0.5", true, "preset ycsb-a");
    expect_parameter(loaded, "workload.keys", "1000000", true, "default");
    kvc_loaded_free(loaded);
}

Test(load, reads_each_kind_of_arrival)
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
    write_file("t.csv", "time_us,op,key,key_bytes,value_bytes\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(source, sizeof(source),
                 "return { system = { kind = 'megakv' }, workload = { arrival = %s } }", cases[i].text);
        struct kvc_loaded *loaded = accepts(source, NULL);
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

Test(load, overrides_any_value)
{
    struct kvc_loaded *loaded = accepts(
        "local shared = { 1 }\nreturn { system = { kind = 'megakv', cycle = '1us' } }", "system.cycle=120us");
    expect_parameter(loaded, "system.cycle", "120us", false, "--set");
    kvc_loaded_free(loaded);
    loaded = accepts(MINIMAL, "run.replicas=9");
    cr_expect_eq(loaded->scenario.run.replicas, 9);
    kvc_loaded_free(loaded);
    loaded =
        accepts("return { system = { kind = 'megakv' }, node = { gpu = 'h200' } }", "node.gpu.memory=9GB");
    cr_expect_float_eq(kvc_gpu_of(&loaded->scenario.node)->memory_bytes, 9e9, 1);
    cr_expect_eq(kvc_gpu_of(&loaded->scenario.node)->sms, 132);
    kvc_loaded_free(loaded);
    loaded = accepts("return { system = { kind = 'megakv' }, workload = { dist = 'uniform' } }",
                     "workload.dist.zipf=0.5");
    cr_expect_eq(loaded->scenario.workload.popularity, KVC_POPULARITY_ZIPF);
    kvc_loaded_free(loaded);
}

Test(load, overrides_do_not_leak_through_shared_tables)
{
    struct kvc_loaded *loaded = accepts("local cpu = { base = 'xeon-e5-2650v2' }\n"
                                        "local node = { cpu = cpu, dram = { base = 'ddr3-1600-e5v2' } }\n"
                                        "return { system = { kind = 'megakv' }, node = node,\n"
                                        "  sweep = { ['node.cpu.cores'] = { 4, 6 } } }",
                                        NULL);
    cr_expect_eq(kvc_cpu_of(&loaded->scenario.node)->cores, 8);
    kvc_loaded_free(loaded);
}

Test(load, keeps_the_written_order_of_the_sweep)
{
    struct kvc_loaded *loaded = accepts("return { system = { kind = 'megakv' },\n"
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

Test(load, is_the_same_every_time)
{
    static const char text[] =
        "local w = {}\nfor k, v in pairs({ keys = 5, value = 6, key = 7 }) do w[k] = v end\n"
        "return { system = { kind = 'megakv' }, workload = w }";
    struct kvc_loaded *first = accepts(text, NULL), *second = accepts(text, NULL);
    cr_assert_eq(first->parameters.count, second->parameters.count);
    for (uint32_t i = 0; i < first->parameters.count; i++) {
        cr_expect_str_eq(first->parameters.entry[i].path, second->parameters.entry[i].path);
    }
    kvc_loaded_free(first);
    kvc_loaded_free(second);
}

Test(load, suggests_the_nearest_key)
{
    refuses_line("run = { sed = 1 }",
                 "unknown key \"sed\" in run; did you mean \"seed\"? allowed: functional");
    refuses_line("wrkload = {}", "unknown key \"wrkload\" in the returned table; did you mean \"workload\"?");
    refuses_line("cluster = { nodess = 3 }",
                 "unknown key \"nodess\" in cluster; did you mean \"nodes\"? allowed: nodes");
    refuses("return {\n  system = { kind = \"megakv\",\n    cylce = \"1us\" },\n}", 3,
            "unknown key \"cylce\" in system; did you mean \"cycle\"? allowed: kind, cycle, delay");
    refuses("return { system = {\n  kind = 'megakev' } }", 2,
            "no system \"megakev\"; did you mean \"megakv\"?");
    refuses_line("workload = { dist = 'zpif' }", "did you mean \"zipf\"?");
    refuses_line("workload = { sizes = 'fixd' }", "did you mean \"fixed\"?");
    refuses_line("workload = { preset = 'ycsb-q' }", "there is no workload preset \"ycsb-q\"; did you mean");
    refuses_line("workload = { arrival = { poison_mops = 3 } }", "did you mean \"poisson_mops\"?");
    refuses_line("node = { gpu = 'tesla-k40' }",
                 "no hardware profile \"tesla-k40\"; did you mean \"tesla-k40c\"?");
    refuses_line("node = { gpu = { base = 'tesla-k40' } }", "did you mean \"tesla-k40c\"?");
    refuses_line("node = { cpu = { core = 3 } }",
                 "unknown key \"core\" in node.cpu; did you mean \"cores\"?");
}

Test(load, reports_the_first_unknown_key_in_the_file)
{
    refuses("return { system = { kind = 'megakv' },\n  zzz = 1,\n  aaa = 2,\n  mmm = 3 }", 2,
            "unknown key \"zzz\"");
}

Test(load, refuses_wrong_units_and_numbers)
{
    refuses_line("run = { duration = 20 }", "run.duration: found 20, allowed: a time such as");
    refuses_line("run = { duration = '20GB' }", "run.duration: found \"20GB\", allowed: a time such as");
    refuses_line("run = { duration = '-3us' }", "run.duration: found \"-3us\"");
    refuses_line("run = { duration = {} }", "run.duration: found a table");
    refuses_line("run = { seed = -1 }", "run.seed: found -1, allowed: a whole number");
    refuses_line("run = { replicas = 1.5 }", "run.replicas: found 1.5, allowed: a whole number");
    refuses_line("run = { replicas = 0 }", "run.replicas: found 0");
    refuses_line("run = { seed = 0/0 }", "run.seed: found NaN");
    refuses_line("workload = { get = 0/0 }", "workload.get: found NaN, allowed: a number, from 0 to 1");
    refuses_line("workload = { get = 95 }", "workload.get: found 95");
    refuses_line("workload = { keys = 1/0 }", "workload.keys: found inf");
    refuses_line("workload = { keys = '5' }", "workload.keys: found \"5\", allowed: a whole number");
    refuses_line("workload = { dist = { zipf = 0 } }", "workload.dist.zipf: found 0");
    refuses_line("workload = { arrival = { poisson_mops = -5 } }", "workload.arrival.poisson_mops: found -5");
    refuses_line("node = { cpu = { clock = '3GB' } }", "node.cpu.clock: found \"3GB\", allowed: a frequency");
    refuses("return { system = { kind = \"megakv\",\n  cycle = \"0us\" } }", 2,
            "system.cycle: found \"0us\"");
    refuses("return { system = { kind = \"megakv\",\n  cycle = 0 } }", 2, "system.cycle: found 0");
}

Test(load, refuses_what_does_not_fit_together)
{
    refuses_line("workload = { get = 0.5, set = 0.6 }", "add up to 1.1");
    refuses_line("workload = { arrival = { poisson_mops = 1, clients = 3 } }",
                 "found both poisson_mops and clients");
    refuses_line("workload = { arrival = { think = '1us' } }", "names no kind");
    refuses_line("workload = { arrival = { poisson_mops = 1, think = '1us' } }",
                 "think has no effect with poisson_mops");
    refuses_line("workload = { arrival = { trace = 'none.csv' } }", "none.csv cannot be read");
    refuses_line(
        "workload = { arrival = { curve = { { time = '5us', rate = 1 }, { time = '5us', rate = 2 } } } }",
        "times must rise");
    refuses_line("workload = 3", "workload: found 3, allowed: a table");
    refuses_line("workload = { 5 }", "without a name in workload");
    refuses_line("name = 'a/b'", "name: found \"a/b\"");
    refuses("return {\n  system = {\n    kind = 'megakv', index = 3 } }", 3, "system.index: found 3");
    refuses("return {\n  system = { kind = 'megakv',\n  streams = 8 } }", 3,
            "system.streams: found 8, the cpu has room");
    refuses("return {\n  workload = {} }", 1, "system.kind is missing");
}

Test(load, refuses_profiles_without_sources)
{
    write_file("p.lua", "return { kind = 'pcie',\n  h2d = { '1GB/s', source = 'x' },\n  d2h = '1GB/s',\n"
                        "  latency = { '1us', source = 'x' } }");
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    char profile[96];
    snprintf(profile, sizeof(profile), "%s/p.lua", folder);
    cr_expect_eq(
        load("return { system = { kind = 'megakv' }, node = { pcie = 'p.lua' } }", NULL, &loaded, &diag),
        KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.file, profile);
    cr_expect_eq(diag.line, 3);
    cr_expect(strstr(diag.message, "d2h has no source") != NULL, "%s", diag.message);
    refuses("return { system = { kind = 'megakv' },\n  node = { pcie = 'q.lua' } }", 2,
            "q.lua cannot be read");

    write_file("p.lua", "return { kind = 'nic' }");
    cr_expect_eq(
        load("return { system = { kind = 'megakv' }, node = { pcie = 'p.lua' } }", NULL, &loaded, &diag),
        KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "kind: found \"nic\", needed is a profile of kind \"pcie\"");
}

#define MACHINE_CPU                                                                                          \
    "cpu = { name = 'c', cores = { 4, source = 'x' }, threads_per_core = { 2, source = 'x' },\n"             \
    "  clock = { '2GHz', source = 'x' }, packet = { '5ns', source = 'x' },\n"                                \
    "  llc_hit_cycles = { 40, source = 'x' } }"

Test(load, takes_devices_from_a_machine_file)
{
    write_file("m.lua", "return { kind = 'machine', name = 'box', date = '2026-11-21', compiler = 'cc',\n"
                        "  commit = '1a2b', " MACHINE_CPU " }");
    struct kvc_loaded *loaded =
        accepts("return { system = { kind = 'megakv' }, node = { machine = 'm.lua' } }", NULL);
    cr_expect_eq(kvc_cpu_of(&loaded->scenario.node)->packet_ns, 5);
    cr_expect_str_eq(loaded->scenario.node.machine.date, "2026-11-21");
    cr_expect_str_eq(kvc_gpu_of(&loaded->scenario.node)->name,
                     "NVIDIA Tesla K40c"); /* not in the file: the default */
    kvc_loaded_free(loaded);
    loaded = accepts("return { system = { kind = 'megakv', streams = 1 },\n"
                     "  node = { cpu = { base = 'm.lua', cores = 2 } } }",
                     NULL);
    cr_expect_eq(kvc_cpu_of(&loaded->scenario.node)->cores, 2);
    cr_expect_eq(kvc_cpu_of(&loaded->scenario.node)->packet_ns, 5);
    kvc_loaded_free(loaded);
    refuses("return { system = { kind = 'megakv' },\n  node = { gpu = 'm.lua' } }", 2,
            "node.gpu: the machine file m.lua has no gpu");
    refuses("return { system = { kind = 'megakv' },\n  node = { machine = 'n.lua' } }", 2,
            "n.lua cannot be read");
    refuses("return { system = { kind = 'megakv' },\n  node = { machine = 3 } }", 2, "node.machine: found 3");
}

Test(load, refuses_bad_machine_files)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    static const struct {
        char text[200], message[64];
    } bad[] = {
        {"return { kind = 'machine', name = 'box', date = '', compiler = '' }", "commit is missing"},
        {"return { kind = 'machine', name = '', date = '', compiler = '', commit = '', cpu = 3 }",
         "cpu: allowed is a table"},
        {"return { kind = 'machine', name = '', date = '', compiler = '', commit = '', cpus = {} }",
         "unknown key \"cpus\""},
        {"return { kind = 'machine', name = '', date = '', compiler = '', commit = '',\n"
         "  cpu = { cores = 2 } }",
         "cpu.cores has no source"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        write_file("m.lua", bad[i].text);
        cr_expect_eq(load("return { system = { kind = 'megakv' }, node = { machine = 'm.lua' } }", NULL,
                          &loaded, &diag),
                     KVC_ERR_SCENARIO);
        cr_expect(strstr(diag.message, bad[i].message) != NULL, "%zu: %s", i, diag.message);
    }
}

/* What a node with the file as `key` is refused for, and where in the file. */
static void refuses_in_profile(const char *key, const char *profile, int line, const char *message)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    char text[128], path[96];
    snprintf(text, sizeof(text), "return { system = { kind = 'megakv' }, node = { %s = 'm.lua' } }", key);
    snprintf(path, sizeof(path), "%s/m.lua", folder);
    write_file("m.lua", profile);
    cr_expect_eq(load(text, NULL, &loaded, &diag), KVC_ERR_SCENARIO, "accepted: %s", profile);
    cr_expect(strcmp(diag.file, path) == 0 && diag.line == line && strstr(diag.message, message) != NULL,
              "found %s:%d: %s\nexpected %s:%d: %s", diag.file, diag.line, diag.message, path, line, message);
}

Test(load, refuses_absurd_machines)
{
    refuses_in_profile("machine",
                       "return { kind = 'machine', name = '', date = '', compiler = '', commit = '',\n"
                       "  cpu = { cores = { 2, source = 'x' }, threads_per_core = { 1, source = 'x' },\n    "
                       "clock = { '0GHz', source = 'x' } } }",
                       3, "cpu.clock: found \"0GHz\", allowed: a frequency");
    refuses_in_profile("machine", "return { kind = 'gpu' }", 1,
                       "kind: found \"gpu\", needed is a profile of kind \"machine\"");
    refuses_in_profile("machine", "return { kind = 'cpu' }", 1,
                       "kind: found \"cpu\", needed is a profile of kind \"machine\"");
    refuses_in_profile("machine", "return {\n system = { kind = 'megakv' } }", 1, "kind: found");
    refuses_in_profile("machine", "return 5", 1, "must return a table");
}

#define POINT(text) "{ size = 8, footprint = '1MiB', " text ", source = 'x' }"
#define LAW(name) "  " name " = { " POINT("time = '5ns'") " },\n"
#define MOST_LAWS                                                                                            \
    LAW("receive")                                                                                           \
    LAW("write")                                                                                             \
    LAW("pass")                                                                                              \
    LAW("read_checked")                                                                                      \
    LAW("read_half_marked")                                                                                  \
    LAW("read_marked")                                                                                       \
    LAW("read_half_missed")                                                                                  \
    LAW("read_slowest") LAW("search") LAW("search_high_load") LAW("drain") LAW("insert")                     \
        LAW("insert_high_load")

Test(load, takes_measured_costs)
{
    write_file("m.lua", "return { kind = 'megakv_costs', name = 'here',\n" MOST_LAWS LAW("search_miss")
                            LAW("read") "}");
    struct kvc_loaded *loaded =
        accepts("return { system = { kind = 'megakv' }, node = { megakv_costs = 'm.lua' } }", NULL);
    const struct kvc_megakv_cost_profile *costs = kvc_megakv_cost_profile_of(&loaded->scenario.node);
    cr_expect(kvc_megakv_cost_profile_is_measured(costs));
    cr_assert_eq(costs->search_miss.count, 1);
    cr_expect_eq(costs->search_miss.point[0].ns, 5);
    cr_expect_eq(costs->search_miss.point[0].footprint_bytes, 0x1p20);
    cr_expect_eq(costs->search_miss.point[0].threads, 1);
    cr_expect_not_null(find(&loaded->provenance, "node.megakv_costs.search_miss.1.time"));
    kvc_loaded_free(loaded);
}

Test(load, refuses_incomplete_costs)
{
    refuses_in_profile("megakv_costs", "return { kind = 'megakv_costs',\n" MOST_LAWS LAW("read") "}", 1,
                       "megakv_costs.search_miss is missing: allowed are all cost curves");
    refuses_in_profile("megakv_costs", "return { kind = 'megakv_costs',\n" MOST_LAWS LAW("search_miss") "}",
                       2, "megakv_costs.receive is given, megakv_costs.read is not");
    refuses_in_profile("machine",
                       "return { kind = 'machine', name = '', date = '', compiler = '', commit = '',\n"
                       "megakv_costs = {\n" MOST_LAWS LAW("read") "} }",
                       2, "megakv_costs.search_miss is missing");
    refuses_in_profile(
        "megakv_costs",
        "return { kind = 'megakv_costs',\n" MOST_LAWS LAW("search_miss") "  read = {\n"
                                                                         "    " POINT("time = '-5ns'") " } }",
        17, "read.1.time: found \"-5ns\", allowed: a time");
    refuses_in_profile(
        "megakv_costs",
        "return { kind = 'megakv_costs',\n" MOST_LAWS LAW(
            "search_miss") "  read = {\n"
                           "    " POINT("time = '5ns'") ", " POINT(
                               "time = '6ns', threads = 2") ",\n"
                                                            "    " POINT("time = '5ns', threads = 2") " } }",
        16, "megakv_costs.read: found 3 points, 1 sizes, 1 footprints and 2 numbers of threads need 2");
    refuses_in_profile("megakv_costs",
                       "return { kind = 'megakv_costs',\n" MOST_LAWS LAW(
                           "search_miss") "  read = {\n"
                                          "    { size = 8, time = { '5ns', source = 'x' } } } }",
                       17, "read.1.size has no source");
    refuses("return { system = { kind = 'megakv' },\n  node = { megakv_costs = {\n"
            "    read = { { size = 1, time = '1ns' } } } } }",
            2, "node.megakv_costs.receive is missing");
}

Test(load, passes_on_what_the_sandbox_says)
{
    refuses("return {\n  system = { kind = 'megakv' }\n  run = {} }", 3, "'}' expected");
    refuses("return {\n  system = { kind = megakv } }", 2, "undefined global \"megakv\"");
    refuses("\nreturn 5", 2, "must return a table");
    refuses("\x1bLua", 0, "is a compiled Lua chunk");
}

Test(load, names_overrides_as_the_place)
{
    refuses_set(MINIMAL, "system.cylce=1us", -1, "unknown key \"cylce\" in system; did you mean \"cycle\"?");
    refuses_set(MINIMAL, "sytem.cycle=1us", -1,
                "unknown key \"sytem\" in the returned table; did you mean \"system\"?");
    refuses_set(MINIMAL, "system.cycle=5", -1, "system.cycle: found 5, allowed: a time");
    refuses_set(MINIMAL, "node.gpu=tesla", -1, "no hardware profile \"tesla\"");
    refuses_set(MINIMAL, "node.gpu.sms=-2", -1, "node.gpu.sms: found -2");
    refuses_set(MINIMAL, "system.kind.x=1", -1, "system.kind is a value in the scenario, not a table");
    refuses_set(MINIMAL, "run.seed", -1, "allowed is PATH=VALUE");
    refuses_set(MINIMAL, "=3", -1, "allowed is PATH=VALUE");
    refuses_set(MINIMAL, "run..seed=3", -1, "allowed is a path");
}

Test(load, checks_every_value_of_the_sweep)
{
    refuses("return { system = { kind = 'megakv' },\n  sweep = {\n    ['system.cylce'] = { '1us' } } }", 3,
            "unknown key \"cylce\" in system; did you mean \"cycle\"?");
    refuses("return { system = { kind = 'megakv' },\n  sweep = { ['system.cycle'] = {\n    '1us',\n    '3GB' "
            "} } }",
            4, "system.cycle: found \"3GB\"");
    refuses_line("sweep = { ['run.seed'] = {} }", "a list of 1 to");
    refuses_line("sweep = { ['run.seed'] = 3 }", "a list of 1 to");
    refuses_line("sweep = { ['run.seed'] = { {} } }", "value 1 is a table");
    refuses_line("sweep = { 3 }", "sweep: found the key 1");
    refuses_line("slo = { p98 = '1ms' }", "unknown key \"p98\" in slo; did you mean \"p95\"?");
}

static void warns(const char *text, const char *part)
{
    struct kvc_loaded *loaded = accepts(text, NULL);
    cr_assert_eq(loaded->warning_count, 1, "%s", text);
    cr_expect(strstr(loaded->warning[0], part) != NULL, "%s", loaded->warning[0]);
    cr_expect(strncmp(loaded->warning[0], file, strlen(file)) == 0, "%s", loaded->warning[0]);
    kvc_loaded_free(loaded);
}

Test(load, warns_of_keys_without_effect)
{
    warns("return { system = { kind = 'megakv' },\n  workload = { sizes = 'etc',\n value = 3 } }",
          ":3: workload.value has no effect unless workload.sizes is \"fixed\"");
    warns("return { system = { kind = 'megakv' },\n  run = { sample_rate = 4 } }",
          ":2: run.sample_rate has no effect unless run.functional is \"sampled\"");
    write_file("t.csv", "time_us,op,key,key_bytes,value_bytes\n");
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
