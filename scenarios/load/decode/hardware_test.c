#include "scenarios/load/decode/hardware.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/forecast.h"
#include "models/model.h"
#include "models/registry.h"
#include "sim/devices/cpu.h"
#include "sim/devices/gpu.h"

#include "scenarios/load/decode/load_fixture.h"

TestSuite(hardware, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

Test(hardware, gives_every_hardware_number_a_source)
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
        bool derived = strcmp(profiles.name[i], "derived-costs") == 0;
        cr_expect_eq(loaded.provenance.count > 0, !derived, "%s: %u numbers", profiles.name[i],
                     loaded.provenance.count);
        for (uint32_t j = 0; j < loaded.provenance.count; j++) {
            cr_expect_gt(strlen(loaded.provenance.entry[j].source), 0, "%s %s", profiles.name[i],
                         loaded.provenance.entry[j].path);
        }
        kvc_node_free(&node);
        kvc_parameters_clear(&loaded.parameters);
        kvc_parameters_clear(&loaded.provenance);
    }
}

/* Returns the throughput of a small load on the store's own machine with this device, or 0 if it refuses it,
 * with the reason in `diag` [Mops]. */
static double mops_with(const char *store, const char *kind, const char *profile, struct kvc_diag *diag)
{
    /* The two devices of a card come together, and only a stage uses them, or a structure memory behind CXL.
     */
    static const char *const stage = ", stages = { { name = 'serve', on = 'card.cpu', ns = 100 } }",
                             *const far =
                                 ", index = { kernel = 'memc3', memory = 'cxl' }, stages = { { name = "
                                 "'serve', on = 'cpu', does = { 'search', 'insert' } } }",
                             *const cards =
                                 "card_cpu = 'bluefield-3-cores', card_dram = 'bluefield-3-ddr5', ";
    char text[512];
    bool card = strncmp(kind, "card_", 5) == 0;
    struct kvc_loaded *loaded;
    struct kvc_forecast forecast = {.throughput_mops = 0};
    snprintf(text, sizeof(text),
             "return { system = { kind = '%s'%s }, node = { %s%s = '%s' }, workload = { keys = 10000 } }",
             store,
             card                       ? stage
             : strcmp(kind, "cxl") == 0 ? far
                                        : "",
             card ? cards : "", kind, profile);
    if (kvc_test_load(text, NULL, &loaded, diag) == KVC_OK) {
        if (kvc_scenario_forecast(&loaded->scenario, &forecast, diag) != KVC_OK) {
            forecast.throughput_mops = 0;
        }
        kvc_loaded_free(loaded);
    }
    return forecast.throughput_mops;
}

Test(hardware, works_in_a_store_with_every_profile, .timeout = 120)
{
    struct kvc_profiles profiles;
    char path[512];
    kvc_hardware_list(&profiles);
    for (size_t i = 0; i < profiles.count; i++) {
        struct kvc_loaded read = {.warning_count = 0};
        struct kvc_node node;
        struct kvc_diag diag = {0};
        const struct kvc_device_kind *kind;
        double most = 0;
        snprintf(path, sizeof(path), "%s/%s.lua", kvc_hardware_dir(), profiles.name[i]);
        cr_assert_eq(kvc_hardware_read(path, &kind, &node, &read, &diag), KVC_OK, "%s", diag.message);
        for (size_t m = 0; kvc_models[m] != NULL; m++) {
            for (const struct kvc_model_device *device = kvc_models[m]->devices; device->kind != NULL;
                 device++) {
                if (device->kind == kind) {
                    most = fmax(most, mops_with(kvc_models[m]->name, kind->name, profiles.name[i], &diag));
                }
            }
        }
        cr_expect_gt(most, 0, "%s: no store serves with it: %s", profiles.name[i], diag.message);
        kvc_node_free(&node);
        kvc_parameters_clear(&read.parameters);
        kvc_parameters_clear(&read.provenance);
    }
}

/* An H100 (validate/measured/h100, run of 2026-11-26 21:16 UTC at c64f6cf) by the rules for cards that were
 * not measured: sectors by channels and cache, and times as on the H200. The errors are those that
 * docs/machine.md states. */
Test(hardware, predicts_an_h100_from_an_h200)
{
    struct kvc_loaded *loaded[2];
    for (int i = 0; i < 2; i++) {
        loaded[i] =
            kvc_test_accepts(i == 0 ? "return { system = { kind = 'megakv' }, node = { gpu = 'h200' } }"
                                    : "return { system = { kind = 'megakv' }, node = { gpu = 'h100' } }",
                             NULL);
    }
    struct kvc_gpu h200 = *kvc_gpu_of(&loaded[0]->scenario.node),
                   h100 = *kvc_gpu_of(&loaded[1]->scenario.node);
    double measured = kvc_gpu_sectors_per_s(&h100), of_h200 = kvc_gpu_sectors_per_s(&h200);
    cr_expect_eq(measured, 32.1e9);
    struct kvc_gpu carried = h100;
    kvc_gpu_carry(&h200, &carried);
    cr_expect_float_eq(carried.l2_sectors_per_s / h100.l2_sectors_per_s, 0.975, 5e-4);
    cr_expect_float_eq(carried.hot_read_ns / h100.hot_read_ns, 0.923, 5e-4);
    cr_expect_float_eq(carried.hot_write_ns / h100.hot_write_ns, 0.939, 5e-4);
    cr_expect_float_eq(carried.access_ns / h100.access_ns, 1.039, 5e-4);
    cr_expect_float_eq(carried.launch_ns / h100.launch_ns, 0.981, 5e-4);
    h100.sectors_per_s = h200.sectors_per_s = 0;
    cr_expect_float_eq(kvc_gpu_sectors_per_s(&h200) / of_h200, 1, 1e-9);
    cr_expect_float_eq(kvc_gpu_sectors_per_s(&h100) / measured, 1.023, 5e-4);
    cr_expect_float_eq(carried.sectors_per_s, kvc_gpu_sectors_per_s(&h100), 1);
    kvc_gpu_speed_up(&h100, 2);
    cr_expect_float_eq(kvc_gpu_sectors_per_s(&h100) / measured, 2.046, 1e-3);
    kvc_loaded_free(loaded[0]);
    kvc_loaded_free(loaded[1]);
}

Test(hardware, refuses_profiles_without_sources)
{
    kvc_test_write_file("p.lua",
                        "return { kind = 'pcie',\n  h2d = { '1GB/s', source = 'x' },\n  d2h = '1GB/s',\n"
                        "  latency = { '1us', source = 'x' } }");
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    char profile[96];
    snprintf(profile, sizeof(profile), "%s/p.lua", kvc_test_folder);
    cr_expect_eq(kvc_test_load("return { system = { kind = 'megakv' }, node = { pcie = 'p.lua' } }", NULL,
                               &loaded, &diag),
                 KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.file, profile);
    cr_expect_eq(diag.line, 3);
    cr_expect(strstr(diag.message, "d2h has no source") != NULL, "%s", diag.message);
    kvc_test_refuses("return { system = { kind = 'megakv' },\n  node = { pcie = 'q.lua' } }", 2,
                     "q.lua cannot be read");

    kvc_test_write_file("p.lua", "return { kind = 'nic' }");
    cr_expect_eq(kvc_test_load("return { system = { kind = 'megakv' }, node = { pcie = 'p.lua' } }", NULL,
                               &loaded, &diag),
                 KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "kind: found \"nic\", allowed: a profile of kind \"pcie\"");
}

Test(hardware, takes_from_a_base_what_a_profile_does_not_state)
{
    const char scenario[] = "return { system = { kind = 'mica' }, node = { dram = 'p.lua' } }";
    kvc_test_write_file(
        "p.lua",
        "return { kind = 'dram', base = 'ddr5-4800-genoa', name = 'mine', channels = { 4, source = 'x' } }");
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    cr_expect_eq(kvc_test_load(scenario, NULL, &loaded, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, "base: found \"ddr5-4800\" in a profile that is a base itself") != NULL,
              "%s", diag.message);

    kvc_test_write_file(
        "p.lua",
        "return { kind = 'dram', base = 'ddr5-4800', name = 'mine', channels = { 4, source = 'x' } }");
    loaded = kvc_test_accepts(scenario, NULL);
    kvc_test_expect_parameter(loaded, "node.dram.base", "p.lua", false, "scenario");
    kvc_test_expect_parameter(loaded, "node.dram.channels", "4", true, "x");
    kvc_test_expect_parameter(loaded, "node.dram.ranks", "2", true, "assumed: one module of two ranks");
    kvc_loaded_free(loaded);

    kvc_test_write_file("p.lua", "return { kind = 'dram',\n  base = 'ddr5-480' }");
    cr_expect_eq(kvc_test_load(scenario, NULL, &loaded, &diag), KVC_ERR_SCENARIO);
    cr_expect_eq(diag.line, 2);
    cr_expect(strstr(diag.message, "base: no hardware profile \"ddr5-480\"; did you mean \"ddr5-4800\"?") !=
                  NULL,
              "%s", diag.message);
    kvc_test_write_file("p.lua", "return { kind = 'dram', base = 'connectx-7-400g' }");
    cr_expect_eq(kvc_test_load(scenario, NULL, &loaded, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, "kind: found \"nic\", allowed: a profile of kind \"dram\"") != NULL, "%s",
              diag.message);
    kvc_test_write_file("p.lua", "return { kind = 'dram', base = 'm.lua' }");
    kvc_test_write_file("m.lua",
                        "return { kind = 'machine', name = '', date = '', compiler = '', commit = '' }");
    cr_expect_eq(kvc_test_load(scenario, NULL, &loaded, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, "base: found the machine file \"m.lua\"") != NULL, "%s", diag.message);
}

Test(hardware, refuses_a_clock_that_the_cpu_has_not)
{
    kvc_test_refuses("return { system = { kind = 'megakv' },\n  node = { cpu_clock = '2.65GHz' } }", 2,
                     "node.cpu_clock: found 2.65GHz, allowed: auto, 2.6GHz, 2.5GHz, ");
    kvc_test_refuses("return { system = { kind = 'kvdirect' },\n  node = { cpu_clock = '1.2GHz' } }", 2,
                     "node.cpu_clock: found 1.2 GHz, allowed with kvdirect: auto");
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'megakv' }, node = { cpu_clock = '1.9GHz' } }", NULL);
    cr_expect_eq(loaded->scenario.node.cpu_clock_hz, 1.9e9);
    kvc_loaded_free(loaded);
}

#define MACHINE_CPU                                                                                          \
    "cpu = { name = 'c', cores = { 4, source = 'x' }, threads_per_core = { 2, source = 'x' },\n"             \
    "  clock = { '2GHz', source = 'x' }, packet = { '5ns', source = 'x' },\n"                                \
    "  llc_hit_cycles = { 40, source = 'x' } }"

Test(hardware, takes_devices_from_a_machine_file)
{
    kvc_test_write_file("m.lua",
                        "return { kind = 'machine', name = 'box', date = '2026-11-21', compiler = 'cc',\n"
                        "  commit = '1a2b', " MACHINE_CPU " }");
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'megakv' }, node = { machine = 'm.lua' } }", NULL);
    cr_expect_eq(kvc_cpu_of(&loaded->scenario.node)->packet_ns, 5);
    cr_expect_str_eq(loaded->scenario.node.machine.date, "2026-11-21");
    cr_expect_str_eq(kvc_gpu_of(&loaded->scenario.node)->name,
                     "NVIDIA Tesla K40c"); /* not in the file: the default */
    kvc_loaded_free(loaded);
    loaded = kvc_test_accepts("return { system = { kind = 'megakv', streams = 1 },\n"
                              "  node = { cpu = { base = 'm.lua', cores = 2 } } }",
                              NULL);
    cr_expect_eq(kvc_cpu_of(&loaded->scenario.node)->cores, 2);
    cr_expect_eq(kvc_cpu_of(&loaded->scenario.node)->packet_ns, 5);
    kvc_loaded_free(loaded);
    kvc_test_refuses("return { system = { kind = 'megakv' },\n  node = { gpu = 'm.lua' } }", 2,
                     "node.gpu: the machine file m.lua has no gpu");
    kvc_test_refuses("return { system = { kind = 'megakv' },\n  node = { machine = 'n.lua' } }", 2,
                     "n.lua cannot be read");
    kvc_test_refuses("return { system = { kind = 'megakv' },\n  node = { machine = 3 } }", 2,
                     "node.machine: found 3");
}

/* A machine file whose CPU's packet is what is given. */
static void write_packet(const char *packet)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "return { kind = 'machine', name = '', date = '', compiler = '', commit = '',\n"
             "  cpu = { name = 'c', cores = { 4, source = 'x' }, threads_per_core = { 2, source = 'x' },\n"
             "  clock = { '2GHz', source = 'x' }, llc_hit_cycles = { 40, source = 'x' },\n"
             "  packet = %s } }",
             packet);
    kvc_test_write_file("m.lua", text);
}

static const char with_machine[] = "return { system = { kind = 'megakv' }, node = { machine = 'm.lua' } }";

Test(hardware, keeps_the_intervals_of_measured_values)
{
    uint32_t found = 0;
    write_packet("{ '5ns', low = '-1ns', high = '0.006us', source = 'x' }");
    struct kvc_loaded *loaded = kvc_test_accepts(with_machine, NULL);
    for (uint32_t i = 0; i < loaded->provenance.count; i++) {
        const struct kvc_parameter *parameter = &loaded->provenance.entry[i];
        bool is_packet = strcmp(parameter->path, "node.cpu.packet") == 0;
        cr_expect_eq(isnan(parameter->interval.low), !is_packet, "%s", parameter->path);
        if (is_packet) {
            cr_expect_eq(parameter->interval.low, -1);
            cr_expect_eq(parameter->interval.high, 6);
            found++;
        }
    }
    cr_expect_eq(found, 1);
    kvc_loaded_free(loaded);
}

static const char *source_of(const struct kvc_loaded *loaded, const char *path)
{
    for (uint32_t i = 0; i < loaded->provenance.count; i++) {
        if (strcmp(loaded->provenance.entry[i].path, path) == 0) {
            return loaded->provenance.entry[i].source;
        }
    }
    return "none";
}

Test(hardware, elements_continue_or_replace_the_source_of_their_list)
{
    struct kvc_loaded *loaded = kvc_test_accepts(
        "return { system = { kind = 'megakv' }, node = { gpu = { sectors = 1e9,\n clocks = { source = 'measured',\n"
        "  { core = '1GHz', memory = '2GHz' }, { core = '2GHz', memory = '2GHz', source = ', twice' },\n"
        "  { core = { '3GHz', source = ', thrice' }, memory = '2GHz', source = 'guessed' } } } } }",
        NULL);
    cr_expect_str_eq(source_of(loaded, "node.gpu.clocks.1.core"), "measured");
    cr_expect_str_eq(source_of(loaded, "node.gpu.clocks.2.core"), "measured, twice");
    cr_expect_str_eq(source_of(loaded, "node.gpu.clocks.3.core"), "guessed, thrice");
    cr_expect_str_eq(source_of(loaded, "node.gpu.clocks.3.memory"), "guessed");
    kvc_loaded_free(loaded);
    kvc_test_refuses(
        "return { system = { kind = 'megakv' }, node = { gpu = { clocks = {\n"
        "  { core = '1GHz', memory = '2GHz', source = ', alone' } } } } }",
        2, "node.gpu.clocks.1: found source = \", alone\", allowed: a text that begins with a comma");
    kvc_test_refuses("return { system = { kind = 'megakv' }, node = { gpu = { clocks = {\n"
                     "  sauce = 'x', { core = '1GHz', memory = '2GHz' } } } } }",
                     2, "node.gpu.clocks: found the key \"sauce\", allowed: a list of tables without keys");
}

Test(hardware, refuses_bad_intervals)
{
    static const struct {
        const char *packet, *message;
    } bad[] = {
        {"{ '5ns', low = '1ns', source = 'x' }",
         "cpu.packet: found one of low and high, allowed: both or neither"},
        {"{ '5ns', low = '6ns', high = '7ns', source = 'x' }",
         "cpu.packet: found 5ns with the interval from 6ns to 7ns, allowed: one around it"},
        {"{ '5ns', low = 1, high = '7ns', source = 'x' }", "cpu.packet.low: found 1, allowed: a time"},
        {"{ '5ns', least = '1ns', source = 'x' }", "cpu.packet: found a table, allowed: { value, source"},
    };
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        write_packet(bad[i].packet);
        cr_expect_eq(kvc_test_load(with_machine, NULL, &loaded, &diag), KVC_ERR_SCENARIO);
        cr_expect(strstr(diag.message, bad[i].message) != NULL, "%zu: %s", i, diag.message);
        cr_expect_eq(diag.line, 4, "%zu", i);
    }
}

Test(hardware, refuses_bad_machine_files)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    static const struct {
        char text[200], message[64];
    } bad[] = {
        {"return { kind = 'machine', name = 'box', date = '', compiler = '' }", "commit is missing"},
        {"return { kind = 'machine', name = '', date = '', compiler = '', commit = '', cpu = 3 }",
         "cpu: allowed: a table"},
        {"return { kind = 'machine', name = '', date = '', compiler = '', commit = '', cpus = {} }",
         "unknown key \"cpus\""},
        {"return { kind = 'machine', name = '', date = '', compiler = '', commit = '',\n"
         "  cpu = { cores = 2 } }",
         "cpu.cores has no source"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        kvc_test_write_file("m.lua", bad[i].text);
        cr_expect_eq(kvc_test_load("return { system = { kind = 'megakv' }, node = { machine = 'm.lua' } }",
                                   NULL, &loaded, &diag),
                     KVC_ERR_SCENARIO);
        cr_expect(strstr(diag.message, bad[i].message) != NULL, "%zu: %s", i, diag.message);
    }
}

Test(hardware, refuses_absurd_machines)
{
    kvc_test_refuses_in_profile(
        "machine",
        "return { kind = 'machine', name = '', date = '', compiler = '', commit = '',\n"
        "  cpu = { cores = { 2, source = 'x' }, threads_per_core = { 1, source = 'x' },\n    "
        "clock = { '0GHz', source = 'x' } } }",
        3, "cpu.clock: found \"0GHz\", allowed: a frequency");
    kvc_test_refuses_in_profile("machine", "return { kind = 'gpu' }", 1,
                                "kind: found \"gpu\", allowed: a profile of kind \"machine\"");
    kvc_test_refuses_in_profile("machine", "return { kind = 'cpu' }", 1,
                                "kind: found \"cpu\", allowed: a profile of kind \"machine\"");
    kvc_test_refuses_in_profile("machine", "return {\n system = { kind = 'megakv' } }", 1, "kind: found");
    kvc_test_refuses_in_profile("machine", "return 5", 1, "must return a table");
}
