#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

Test(dram, is_the_measured_line)
{
    /* VLDB J. 26(5) 2017, fig. 2: one random line takes 76 ns, 16 sequential lines take 231 ns. */
    struct kvc_dram dram = {.random_line_ns = 76, .next_line_ns = 155.0 / 15, .line_bytes = 64};
    cr_expect_eq(kvc_dram_object_ns(&dram, 0), 0);
    cr_expect_eq(kvc_dram_object_ns(&dram, 1), 76);
    cr_expect_float_eq(kvc_dram_object_ns(&dram, 16), 231, 1e-9);
    cr_expect_float_eq(kvc_dram_stream_ns(&dram, 64), 155.0 / 15, 1e-9);
}

Test(cpu, times_are_cycles_of_its_clock)
{
    struct kvc_cpu cpu = {.clock_hz = 2.6e9, .llc_hit_cycles = 26, .instructions_per_cycle = 4};
    cr_expect_float_eq(kvc_cpu_llc_hit_ns(&cpu), 10, 1e-9);
    cr_expect_float_eq(kvc_cpu_instruction_ns(&cpu), 1 / 10.4, 1e-9);
    cpu.sustained_ipc = 2; /* The sustained rate of a store counts, if it is known. */
    cr_expect_float_eq(kvc_cpu_instruction_ns(&cpu), 1 / 5.2, 1e-9);
    cpu.clock_hz /= 2;
    cr_expect_float_eq(kvc_cpu_llc_hit_ns(&cpu), 20, 1e-9);
}

static void cpu_refuses(const struct kvc_cpu *profile, const char *part)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_cpu_kind.check(profile, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, part) != NULL, "found \"%s\", not \"%s\"", diag.message, part);
}

Test(cpu, has_pstates_from_the_fastest_to_the_slowest)
{
    struct kvc_cpu plain = {.clock_hz = 2e9};
    struct kvc_cpu_pstate only = kvc_cpu_pstate(&plain, 0);
    cr_expect_eq(kvc_cpu_kind.check(&plain, NULL), KVC_OK);
    cr_expect(kvc_cpu_pstate_count(&plain) == 1 && only.clock_hz == 2e9 && !kvc_cpu_has_watts(&only));
    struct kvc_cpu cpu = {
        .clock_hz = 2e9, .pstate_count = 2, .pstates = {{2e9, 20, 30, 90}, {1.5e9, 15, 20, NAN}}};
    cr_expect_eq(kvc_cpu_kind.check(&cpu, NULL), KVC_OK);
    cr_expect_eq(kvc_cpu_pstate_count(&cpu), 2);
    cr_expect(kvc_cpu_has_watts(&cpu.pstates[0]) && !kvc_cpu_has_watts(&cpu.pstates[1]));
    cr_expect_float_eq(kvc_cpu_pstate_speed(&cpu, 0), 1, 1e-12);
    cr_expect_float_eq(kvc_cpu_pstate_speed(&cpu, 1), 0.75, 1e-12);
    cpu.clock_hz = 2.2e9;
    cpu_refuses(&cpu, "cpu.pstates: the first one has 2GHz, allowed: the cpu's clock, 2.2GHz");
    cpu.clock_hz = cpu.pstates[1].clock_hz = 2e9;
    cpu_refuses(&cpu, "cpu.pstates: number 2 has 2GHz, allowed: less than the one before, 2GHz");
    cpu.pstates[1].clock_hz = 1e9;
    cpu.pstates[1].one_core_watts = 14;
    cpu_refuses(&cpu, "at 1GHz idle, one_core and all_cores are 15, 14 and nan W");
}

Test(cpu, completes_instructions_at_its_peak_or_slower)
{
    struct kvc_cpu cpu = {.clock_hz = 2e9, .instructions_per_cycle = 4};
    cr_expect_eq(kvc_cpu_kind.check(&cpu, NULL), KVC_OK);
    cr_expect_float_eq(kvc_cpu_instruction_ns(&cpu), 0.125, 1e-12);
    cpu.sustained_ipc = 2;
    cr_expect_eq(kvc_cpu_kind.check(&cpu, NULL), KVC_OK);
    cr_expect_float_eq(kvc_cpu_instruction_ns(&cpu), 0.25, 1e-12);
    cpu.sustained_ipc = 4.5;
    cpu_refuses(&cpu, "cpu.sustained_ipc: found 4.5, allowed: at most instructions_per_cycle, 4");
}

Test(cpu, has_the_clock_that_the_node_names)
{
    struct kvc_cpu cpu = {.clock_hz = 2.6e9,
                          .pstate_count = 3,
                          .pstates = {{.clock_hz = 2.6e9}, {.clock_hz = 1.9e9}, {.clock_hz = 1.2e9}}};
    struct kvc_node node = {.device = {{&kvc_cpu_kind, &cpu}}};
    struct kvc_diag diag = {0};
    uint32_t index = 7;
    cr_expect_eq(kvc_cpu_pstate_of(&node, &index, &diag), KVC_OK);
    cr_expect_eq(index, 0, "auto");
    node.cpu_clock_hz = 1.9e9;
    cr_expect_eq(kvc_cpu_pstate_of(&node, &index, &diag), KVC_OK);
    cr_expect_eq(index, 1);
    node.cpu_clock_hz = 2.2e9;
    cr_expect_eq(kvc_cpu_pstate_of(&node, &index, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "node.cpu_clock: found 2.2GHz, allowed: auto, 2.6GHz, 1.9GHz, 1.2GHz");
    cr_expect_eq(index, 1, "unchanged");
    node.device[0].kind = NULL;
    cr_expect_eq(kvc_cpu_pstate_of(&node, &index, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "node.cpu_clock: found 2.2GHz, and the node has no CPU");
}

static const struct kvc_nic nic = {
    .ports = 2, .bytes_per_s = 5e9, .mtu_bytes = 1500, .frame_overhead_bytes = 38, .packet_header_bytes = 28};

Test(nic, packs_frames)
{
    cr_expect_eq(kvc_nic_payload_bytes(&nic), 1472);
    cr_expect_eq(kvc_nic_messages_per_frame(&nic, 16), 92);
    cr_expect_eq(kvc_nic_messages_per_frame(&nic, 1472), 1);
    cr_expect_eq(kvc_nic_messages_per_frame(&nic, 5000), 1, "larger ones span frames");
}

Test(nic, takes_the_wire_for_all_its_bytes)
{
    /* A full frame takes 1538 bytes on the wire; two ports carry 10 bytes per ns. */
    cr_expect_float_eq(kvc_nic_wire_ns(&nic, 1472, 1), 153.8, 1e-9);
    cr_expect_float_eq(kvc_nic_wire_ns(&nic, 1472, 7), 7 * 153.8, 1e-9, "one of seven queues");
    cr_expect_float_eq(kvc_nic_wire_ns(&nic, 1473, 1), 153.8 + (1 + 66) / 10.0, 1e-9,
                       "one byte starts a frame");
}

/* 37 million frames a second: a frame of 64 bytes occupies the wire for 8.4 ns and the controller for 27 ns.
 */
Test(nic, handles_no_more_packets_than_its_controller)
{
    struct kvc_nic limited = nic;
    limited.packets_per_s = 37e6;
    double small_bytes = 84 - 38 - 28, wire_bytes_per_ns = 10;
    cr_expect_float_eq(kvc_nic_wire_ns(&nic, small_bytes, 1), 84 / wire_bytes_per_ns, 1e-9);
    cr_expect_float_eq(kvc_nic_wire_ns(&limited, small_bytes, 1), 1e3 / 37, 1e-9);
    cr_expect_float_eq(kvc_nic_wire_ns(&limited, small_bytes, 7), 7e3 / 37, 1e-9);
    cr_expect_eq(kvc_nic_wire_ns(&limited, 1472, 7), kvc_nic_wire_ns(&nic, 1472, 7),
                 "large frames fill the wire");
}

Test(nic, knows_its_queues)
{
    struct kvc_diag diag = {0};
    struct kvc_nic card = nic;
    card.queues = 64;
    card.rss_entries = 512;
    card.rss_fields = KVC_RSS_ADDRESSES;
    struct kvc_rss_params params = kvc_nic_rss_params(&card, 7);
    cr_expect_eq(params.queues, 7);
    cr_expect_eq(params.entries, 512);
    cr_expect_eq(params.fields, KVC_RSS_ADDRESSES);
    cr_expect_eq(kvc_nic_kind.check(&card, &diag), KVC_OK);
    cr_expect_eq(kvc_nic_check_queues(&card, 64, &diag), KVC_OK);
    cr_expect_eq(kvc_nic_check_queues(&card, 65, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "node.nic.queues: found 64, but the store uses 65"));
}

static void refuses_nic(const struct kvc_nic *card, const char *says)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_nic_kind.check(card, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, says), "%s", diag.message);
}

Test(nic, refuses_impossible_queues_and_powers)
{
    struct kvc_nic card = {.queues = 64, .rss_entries = 500};
    refuses_nic(&card, "nic.rss_entries is 500; allowed are powers of two");
    card.rss_entries = 32;
    refuses_nic(&card, "nic.queues is 64; allowed are 1 to 32");
    card.rss_entries = 64;
    card.idle_watts = 5;
    card.busy_watts = 4;
    refuses_nic(&card, "idle_power and busy_power are 5 and 4 W");
}

static const struct kvc_pcie pcie = {.h2d_bytes_per_s = 10e9, .d2h_bytes_per_s = 5e9, .latency_ns = 1000};

Test(gpu, follows_the_fit_where_there_is_one)
{
    const struct kvc_gpu gpu = {.clock_count = 1};
    const struct kvc_gpu_fit search = {.ns_per_op = 5.9, .base_ns = 22.1e3},
                             insert = {.ns_per_op = 6.2, .base_ns = 144.5e3};
    struct kvc_gpu_work work = {.jobs = 10000, .streams = 7}, none = {.streams = 7};
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, &search, &work), 81.1e3, 1e-6);
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, &insert, &work), 206.5e3, 1e-6);
    cr_expect_eq(kvc_gpu_launch_ns(&gpu, &pcie, &insert, &none), 0);
}

/* Simulates jobs that pass through three machines in order; each machine serves one job at a time. */
static double flow_shop_ns(const double stage_ns[3], uint32_t jobs)
{
    double free_ns[3] = {0};
    for (uint32_t job = 0; job < jobs; job++) {
        double now_ns = 0;
        for (int stage = 0; stage < 3; stage++) {
            now_ns = fmax(now_ns, free_ns[stage]) + stage_ns[stage];
            free_ns[stage] = now_ns;
        }
    }
    return free_ns[2];
}

Test(gpu, passes_streams_through_engines_and_sms)
{
    struct kvc_gpu gpu = {.sms = 10,
                          .threads_per_sm = 2048,
                          .sectors_per_s = 1e9,
                          .access_ns = 500,
                          .launch_ns = 9000,
                          .clock_count = 1};
    for (uint32_t streams = 1; streams <= 16; streams *= 2) {
        for (double sectors = 1e3; sectors <= 1e6; sectors *= 10) {
            struct kvc_gpu_work work = {.jobs = 1000,
                                        .in_bytes = 8e5,
                                        .out_bytes = 4e5,
                                        .sectors = sectors,
                                        .depth = 2,
                                        .threads_per_job = 8,
                                        .streams = streams};
            double stages[3] = {8e5 / 10 / streams, fmax(sectors / streams, 2 * 500), 4e5 / 5 / streams};
            double expected_ns = 9000 + 2 * 1000 + flow_shop_ns(stages, streams);
            cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, NULL, &work), expected_ns, 1e-6);
        }
    }
}

Test(gpu, runs_in_waves_when_the_sms_are_full)
{
    struct kvc_gpu gpu = {
        .sms = 10, .threads_per_sm = 2048, .sectors_per_s = 1e15, .access_ns = 500, .clock_count = 1};
    /* Ten SMs hold 20480 threads, which are 2560 jobs of eight threads. */
    struct kvc_gpu_work work = {.jobs = 2560, .depth = 2, .threads_per_job = 8, .streams = 1};
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, NULL, &work), 1000, 1e-6);
    work.jobs = 2561;
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, NULL, &work), 2000, 1e-6);
    gpu.threads_per_sm = 1536; /* Compute capability 8.6: 1920 jobs a wave, and 3841 need a third one. */
    work.jobs = 3840;
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, NULL, &work), 2000, 1e-6);
    work.jobs = 3841;
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, NULL, &work), 3000, 1e-6);
}

/* Half of the L2 cache holds 1/16 of the table in which the rate of sectors was measured, so that misses take
 * 16/15 ns. */
Test(gpu, serves_from_the_l2_cache_what_it_keeps)
{
    struct kvc_gpu gpu = {.sms = 10,
                          .threads_per_sm = 2048,
                          .sectors_per_s = 1e9,
                          .l2_bytes = 0x1p28,
                          .l2_sectors_per_s = 5e9,
                          .hot_read_ns = 2,
                          .hot_write_ns = 8,
                          .clock_count = 1};
    struct kvc_gpu_work work = {.jobs = 1000,
                                .sectors = 3000,
                                .accesses = 1000,
                                .l2_sectors = 2000,
                                .l2_frac = 1,
                                .threads_per_job = 8,
                                .streams = 1};
    cr_expect_eq(kvc_gpu_l2_reach_bytes(&gpu), 0x1p27);
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, NULL, &work), 400, 1e-6);
    work.l2_frac = 0.25;
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, NULL, &work), 400 + 750 * 16.0 / 15, 1e-6);
    work.hot_reads = 1000;
    work.hot_writes = 1000;
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, NULL, &work), 10000, 1e-6, "warps wait for one place");
    gpu.l2_bytes = 0;
    cr_expect_float_eq(kvc_gpu_launch_ns(&gpu, &pcie, NULL, &work), 3000, 1e-6, "without a cache");
}

Test(gpu, has_energy_where_both_watts_are_known)
{
    struct kvc_diag diag = {0};
    struct kvc_gpu gpu = {.clock_count = 2,
                          .clocks = {{.core_hz = 875e6, .idle_watts = 62, .busy_watts = 150},
                                     {.core_hz = 666e6, .idle_watts = 62, .busy_watts = NAN}}};
    cr_expect_eq(kvc_gpu_kind.check(&gpu, NULL), KVC_OK);
    cr_expect(kvc_gpu_has_watts(&gpu.clocks[0]) && !kvc_gpu_has_watts(&gpu.clocks[1]));
    gpu.clocks[1].busy_watts = 60;
    cr_expect_eq(kvc_gpu_kind.check(&gpu, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "gpu.clocks: at 666MHz busy is 60 W, allowed: no less than idle, 62 W");
}

static void refuses(const struct kvc_pcie *profile, const char *part)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_pcie_kind.check(profile, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, part) != NULL, "found \"%s\", not \"%s\"", diag.message, part);
}

Test(pcie, states_whole_groups)
{
    struct kvc_node node = {.sockets = 1};
    struct kvc_pcie *none = kvc_node_add(&node, &kvc_pcie_kind), copies = *none, packets = *none;
    cr_expect(!kvc_pcie_has_copies(none) && !kvc_pcie_has_packets(none));
    refuses(none, "pcie.h2d is missing: a profile states bulk copies (h2d, ...), packets (endpoints, ...)");
    copies.h2d_bytes_per_s = copies.d2h_bytes_per_s = 1e10;
    refuses(&copies, "pcie.latency is missing: the profile states h2d");
    copies.latency_ns = 0;
    cr_expect_eq(kvc_pcie_kind.check(&copies, NULL), KVC_OK);
    cr_expect(kvc_pcie_has_copies(&copies) && !kvc_pcie_has_packets(&copies));
    packets.endpoints = packets.generation = packets.lanes = 1;
    refuses(&packets, "pcie.header is missing: the profile states endpoints");
    packets.header_bytes = packets.payload_max_bytes = packets.tags = 1;
    packets.read_credits = packets.write_credits = 1;
    packets.write_data_credits = packets.completion_credits = 1;
    packets.read_ns = packets.memory_ns = packets.credit_ns = packets.root_bytes_per_s = 1;
    refuses(&packets, "pcie.core_reads is missing");
    packets.core_reads_per_s = 1;
    cr_expect_eq(kvc_pcie_kind.check(&packets, NULL), KVC_OK);
    cr_expect(!kvc_pcie_has_copies(&packets) && kvc_pcie_has_packets(&packets));
    packets.payload_max_bytes = 256;
    refuses(&packets, "pcie.write_data_credits: found 1 credits of 16 bytes, allowed: 16 or more");
    kvc_node_free(&node);
}

static const struct kvc_option sample_rows[] = {
    {.name = "speed",
     .type = KVC_OPTION_REAL,
     .offset = 0,
     .min = 0,
     .max = 10,
     .by_default = "3",
     .help = "speed of the sample"},
};

static const struct kvc_option_table sample_options = {
    .name = "sample", .rows = sample_rows, .count = 1, .size = 2 * sizeof(double)};

static const struct kvc_device_kind sample_kind = {
    .name = "sample", .help = "A device of this test", .options = &sample_options};

Test(node, has_the_devices_that_were_added)
{
    struct kvc_node node = {.sockets = 1};
    cr_expect_null(kvc_node_device(&node, &sample_kind));
    cr_expect_null(kvc_nic_of(&node));
    double *sample = kvc_node_add(&node, &sample_kind);
    cr_expect_eq(sample[0], 3, "the default");
    cr_expect_eq(sample[1], 0);
    struct kvc_nic *added = kvc_node_add(&node, &kvc_nic_kind);
    cr_expect_eq(kvc_nic_of(&node), added);
    cr_expect_eq(kvc_node_device(&node, &sample_kind), sample);
    sample[0] = sample[1] = 7;
    cr_expect_eq(kvc_node_add(&node, &sample_kind), sample, "one of a kind");
    cr_expect(sample[0] == 3 && sample[1] == 0, "reset");
    kvc_node_free(&node);
    cr_expect_null(kvc_nic_of(&node));
    kvc_node_free(NULL);
}

Test(node, may_point_to_devices_that_live_elsewhere)
{
    struct kvc_cpu cpu = {.cores = 3};
    struct kvc_node node = {.device = {{&kvc_cpu_kind, &cpu}}}, copy = node;
    cr_expect_eq(kvc_cpu_of(&node), &cpu);
    cr_expect_eq(kvc_cpu_of(&copy), &cpu, "a copy shares them");
    cr_expect_null(kvc_nic_of(&node));
}
