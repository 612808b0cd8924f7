#include <criterion/criterion.h>

#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/flash/flash.h"
#include "sim/devices/flash/flash_fixture.h"
#include "sim/devices/gpu.h"
#include "sim/devices/network.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

/* A device that is faster by a factor does everything in so much less time, whatever the work is. */
static const double FACTOR = 1.25;

static void expect_faster(double usual_ns, double faster_ns)
{
    cr_expect_gt(usual_ns, 0);
    cr_expect_float_eq(faster_ns * FACTOR, usual_ns, 1e-9 * usual_ns, "%g ns became %g ns", usual_ns,
                       faster_ns);
}

Test(speed_up, dram_takes_less_time_for_every_mix_of_accesses)
{
    struct kvc_dram usual = {.random_line_ns = 76,
                             .next_line_ns = 10.3,
                             .line_bytes = 64,
                             .channels = 4,
                             .ranks = 2,
                             .banks = 8,
                             .transfers_per_s = 1.6e9,
                             .bus_bytes = 8,
                             .write_lines = 32,
                             .row_cycle_ns = 48.75,
                             .write_cycle_ns = 60,
                             .activate_gap_ns = 6,
                             .four_activate_ns = 30,
                             .read_ns = 13.75,
                             .write_to_read_ns = 7.5,
                             .read_to_write_ns = 2.5,
                             .rank_switch_ns = 2.5,
                             .refresh_ns = 260,
                             .refresh_every_ns = 7800};
    struct kvc_dram faster = usual;
    const struct kvc_dram_load loads[] = {{.random_reads = 1},
                                          {.random_reads = 3, .random_writes = 2},
                                          {.random_reads = 1, .random_writes = 5, .streamed_bytes = 300},
                                          {.streamed_bytes = 4096}};
    kvc_dram_speed_up(&faster, FACTOR);
    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
        expect_faster(kvc_dram_channel_ns(&usual, &loads[i]), kvc_dram_channel_ns(&faster, &loads[i]));
    }
    expect_faster(kvc_dram_object_ns(&usual, 5), kvc_dram_object_ns(&faster, 5));
    expect_faster(kvc_dram_stream_ns(&usual, 100), kvc_dram_stream_ns(&faster, 100));
    usual.bytes_per_s = faster.bytes_per_s = 40e9;
    usual.channels = faster.channels = 0;
    kvc_dram_speed_up(&faster, 1 / FACTOR);
    expect_faster(kvc_dram_channel_ns(&faster, &loads[1]) / FACTOR,
                  kvc_dram_channel_ns(&usual, &loads[1]) / FACTOR);
}

Test(speed_up, flash_reads_and_programs_in_less_time)
{
    struct kvc_flash usual = {.cards = 1,
                              .channels = 4,
                              .chips = 8,
                              .page_bytes = 8192,
                              .spare_bytes = 408,
                              .read_ns = 50e3,
                              .program_ns = 1.3e6,
                              .channel_bytes_per_s = 2e8,
                              .command_ns = 990,
                              .status_ns = 470,
                              .operation_ns = 3000,
                              .interface_bytes_per_s = 1e9,
                              .access_ns = 20e3};
    struct kvc_flash faster = usual;
    kvc_flash_speed_up(&faster, FACTOR);
    expect_faster(kvc_flash_read_ns(&usual, 4096), kvc_flash_read_ns(&faster, 4096));
    expect_faster(1e9 / kvc_test_flash_reads_per_s(&usual, 8192),
                  1e9 / kvc_test_flash_reads_per_s(&faster, 8192));
    expect_faster(1e9 / kvc_test_flash_programs_per_s(&usual), 1e9 / kvc_test_flash_programs_per_s(&faster));
    faster = usual;
    usual.program_bytes_per_s = faster.program_bytes_per_s = 1e6;
    kvc_flash_speed_up(&faster, FACTOR);
    expect_faster(1e9 / kvc_test_flash_programs_per_s(&usual), 1e9 / kvc_test_flash_programs_per_s(&faster));
}

Test(speed_up, ports_and_switches_take_less_time_for_large_and_small_frames)
{
    struct kvc_nic usual = {.ports = 2,
                            .bytes_per_s = 5e9,
                            .mtu_bytes = 1500,
                            .frame_overhead_bytes = 38,
                            .packet_header_bytes = 28,
                            .packets_per_s = 37e6,
                            .latency_ns = 900},
                   faster = usual;
    struct kvc_network network = {.hops = 2, .cable_ns = 25, .switch_ns = 550, .bytes_per_s = 5e9},
                       faster_network = network;
    kvc_nic_speed_up(&faster, FACTOR);
    kvc_network_speed_up(&faster_network, FACTOR);
    expect_faster(kvc_nic_wire_ns(&usual, 3000, 3), kvc_nic_wire_ns(&faster, 3000, 3));
    expect_faster(kvc_nic_wire_ns(&usual, 16, 3), kvc_nic_wire_ns(&faster, 16, 3));
    expect_faster(usual.latency_ns, faster.latency_ns);
    expect_faster(kvc_network_latency_ns(&network, 1500), kvc_network_latency_ns(&faster_network, 1500));
    network.forwarding = faster_network.forwarding = KVC_NETWORK_STORE_AND_FORWARD;
    expect_faster(kvc_network_latency_ns(&network, 1500), kvc_network_latency_ns(&faster_network, 1500));
}

/* Host memory is not part of the link: it contributes the same 250 ns to both reads. */
Test(speed_up, pcie_takes_less_time_for_copies_and_packets_but_not_for_host_memory)
{
    struct kvc_pcie usual = {.h2d_bytes_per_s = 10e9,
                             .d2h_bytes_per_s = 9e9,
                             .latency_ns = 1050,
                             .endpoints = 2,
                             .generation = 3,
                             .lanes = 8,
                             .header_bytes = 26,
                             .payload_max_bytes = 256,
                             .tags = 64,
                             .read_credits = 84,
                             .read_ns = 800,
                             .memory_ns = 250,
                             .root_bytes_per_s = 13.2e9},
                    faster = usual;
    kvc_pcie_speed_up(&faster, FACTOR);
    expect_faster(kvc_pcie_h2d_ns(&usual, 1000), kvc_pcie_h2d_ns(&faster, 1000));
    expect_faster(kvc_pcie_d2h_ns(&usual, 1000), kvc_pcie_d2h_ns(&faster, 1000));
    expect_faster(1 / kvc_pcie_link_per_s(&usual, 64), 1 / kvc_pcie_link_per_s(&faster, 64));
    expect_faster(kvc_pcie_read_ns(&usual, 64) - usual.memory_ns,
                  kvc_pcie_read_ns(&faster, 64) - faster.memory_ns);
    cr_expect_eq(faster.memory_ns, 250);
    kvc_pcie_speed_up(&faster, FACTOR);
    expect_faster(1 / kvc_pcie_link_per_s(&usual, 64) / FACTOR, 1 / kvc_pcie_link_per_s(&faster, 64));
}

Test(speed_up, a_launch_gains_from_the_card_and_from_the_copies)
{
    struct kvc_gpu usual = {.sms = 15,
                            .threads_per_sm = 2048,
                            .sectors_per_s = 2e9,
                            .access_ns = 500,
                            .launch_ns = 5000},
                   faster = usual;
    struct kvc_pcie pcie = {.h2d_bytes_per_s = 10e9, .d2h_bytes_per_s = 10e9, .latency_ns = 1000},
                    faster_pcie = pcie;
    const struct kvc_gpu_work work = {.jobs = 1e5,
                                      .in_bytes = 8e5,
                                      .out_bytes = 4e5,
                                      .sectors = 3e5,
                                      .depth = 1.5,
                                      .threads_per_job = 8,
                                      .streams = 4};
    kvc_gpu_speed_up(&faster, FACTOR);
    kvc_pcie_speed_up(&faster_pcie, FACTOR);
    double usual_ns = kvc_gpu_launch_ns(&usual, &pcie, NULL, &work);
    double card_ns = usual_ns - kvc_gpu_launch_ns(&faster, &pcie, NULL, &work);
    double copies_ns = usual_ns - kvc_gpu_launch_ns(&usual, &faster_pcie, NULL, &work);
    expect_faster(usual_ns, kvc_gpu_launch_ns(&faster, &faster_pcie, NULL, &work));
    cr_expect_gt(copies_ns, 0);
    cr_expect_float_eq(card_ns + copies_ns, usual_ns * (1 - 1 / FACTOR), 1e-9 * usual_ns);
}

Test(speed_up, a_measured_launch_keeps_the_part_that_is_not_faster)
{
    expect_faster(1000, kvc_gpu_launch_speed_up(1000, 300, FACTOR, FACTOR));
    cr_expect_float_eq(kvc_gpu_launch_speed_up(1000, 300, 2, 1), 650, 1e-9, "kernels only");
    cr_expect_float_eq(kvc_gpu_launch_speed_up(1000, 300, 1, 2), 850, 1e-9, "copies only");
    cr_expect_float_eq(kvc_gpu_launch_speed_up(1000, 3000, 2, 1), 1000, 1e-9, "it copies all the time");
}

Test(speed_up, cores_hide_less_of_a_stall)
{
    struct kvc_cpu usual = {.clock_hz = 2.6e9,
                            .instructions_per_cycle = 4,
                            .sustained_ipc = 4,
                            .core_speed_steps_per_ns = 2,
                            .packet_ns = 30,
                            .operation_ns = 200,
                            .lookahead_ns = 20,
                            .llc_hit_cycles = 40},
                   faster = usual;
    kvc_cpu_speed_up(&faster, FACTOR);
    expect_faster(usual.packet_ns, faster.packet_ns);
    expect_faster(kvc_cpu_instruction_ns(&usual), kvc_cpu_instruction_ns(&faster));
    cr_expect_eq(kvc_cpu_kind.check(&faster, NULL), KVC_OK, "the sustained rate stays below the peak");
    expect_faster(usual.operation_ns, faster.operation_ns);
    expect_faster(usual.lookahead_ns, faster.lookahead_ns);
    expect_faster(kvc_cpu_llc_hit_ns(&usual), kvc_cpu_llc_hit_ns(&faster));
    cr_expect_float_eq(faster.core_speed_steps_per_ns, FACTOR * usual.core_speed_steps_per_ns, 1e-9);
    cr_expect_eq(faster.clock_hz, usual.clock_hz, "P-states keep their names");
}
