#include "models/memcachedgpu/config.h"

#include <criterion/criterion.h>
#include <string.h>

/* A valid scenario; each test changes one thing. */
struct setup {
    struct kvc_scenario scenario;
    struct kvc_memcachedgpu_options options;
    struct kvc_memcachedgpu_config config;
    struct kvc_cpu cpu;
    struct kvc_dram dram;
    struct kvc_gpu gpu;
    struct kvc_nic nic;
    struct kvc_pcie pcie;
    struct kvc_memcachedgpu_cost_profile costs;
};

static struct setup setup;

static void set_up(void)
{
    setup = (struct setup){
        .cpu = {.cores = 4, .threads_per_core = 2, .clock_hz = 3.5e9},
        .gpu = {.name = "card",
                .sms = 13,
                .threads_per_sm = 512,
                .blocks_per_sm = 16,
                .memory_bytes = 1e9,
                .pinned_bytes = 220 * 0x1p20,
                .sectors_per_s = 1e9,
                .access_ns = 400,
                .clock_count = 1,
                .clocks = {{.core_hz = 7e8}}},
        .nic = {.ports = 2, .bytes_per_s = 1.25e9, .frame_overhead_bytes = 38, .packet_header_bytes = 28},
        .pcie = {.h2d_bytes_per_s = 6e9, .d2h_bytes_per_s = 6e9},
        .scenario = {.cluster = {.nodes = 1},
                     .workload = {.keys = 1000,
                                  .key_bytes = 16,
                                  .value_bytes = 2,
                                  .get_frac = 1,
                                  .arrival = KVC_ARRIVAL_POISSON}}};
    kvc_option_table_set_defaults(&kvc_memcachedgpu_option_table, &setup.options);
    setup.options.entries = 100000;
    const struct kvc_device devices[] = {
        {&kvc_cpu_kind, &setup.cpu},   {&kvc_dram_kind, &setup.dram},
        {&kvc_gpu_kind, &setup.gpu},   {&kvc_nic_kind, &setup.nic},
        {&kvc_pcie_kind, &setup.pcie}, {&kvc_memcachedgpu_cost_profile_kind, &setup.costs}};
    memcpy(setup.scenario.node.device, devices, sizeof(devices));
    setup.scenario.options = &setup.options;
}

TestSuite(memcachedgpu_config, .init = set_up);

static enum kvc_status check(struct kvc_diag *diag)
{
    kvc_memcachedgpu_resolve(&setup.scenario, &setup.config, NULL);
    setup.scenario.config = &setup.config;
    return kvc_memcachedgpu_check(&setup.scenario, diag);
}

static void refuses(const char *part)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(check(&diag), KVC_ERR_SCENARIO, "allowed, but expected \"%s\"", part);
    cr_expect(strstr(diag.message, part) != NULL, "found \"%s\", not \"%s\"", diag.message, part);
}

Test(memcachedgpu_config, accepts_the_defaults)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(check(&diag), KVC_OK, "%s", diag.message);
    /* 220 MiB are 3520 pages of 64 KiB with 32 buffers each (memcachedgpu.grxb.per_page). */
    cr_expect_eq(setup.config.buffers, 112640);
    cr_expect(!setup.config.writes);
}

Test(memcachedgpu_config, refuses_a_batch_larger_than_the_buffers)
{
    setup.options.receive_bytes = 65536;
    refuses("system.batch: found 512 packets, allowed: at most 32, the receive buffers");
}

Test(memcachedgpu_config, refuses_more_pinned_memory_than_the_card_has)
{
    setup.options.receive_bytes = 500e6;
    refuses("system.receive_memory: found 500 MB, allowed: at most 230.7 MB");
}

Test(memcachedgpu_config, refuses_tables_larger_than_the_card)
{
    setup.options.entries = 8000000;
    refuses("system.entries: found 8000000, whose tables take");
}

Test(memcachedgpu_config, refuses_keys_and_values_that_packets_cannot_carry)
{
    setup.scenario.workload.key_bytes = 251;
    refuses("workload.key: found keys of 251 bytes, allowed: at most 250");
    setup.scenario.workload.key_bytes = 16;
    setup.scenario.workload.value_bytes = 1400;
    refuses("workload.value: found values of 1400 bytes, allowed: less");
}

Test(memcachedgpu_config, refuses_ids_that_a_text_key_cannot_express)
{
    setup.scenario.workload.key_bytes = 2;
    setup.scenario.workload.keys = 5000;
    refuses("workload.key: found 2 bytes for 5000 keys");
}

Test(memcachedgpu_config, refuses_another_task_that_no_multiprocessor_holds)
{
    setup.options.background_blocks = 4;
    refuses("system.background_threads: found 1024, allowed: at most 512");
    setup.options.background_threads = 512;
    setup.options.background_kernels = 5;
    refuses("system.background_kernels: found 5, allowed: at most 4");
}

Test(memcachedgpu_config, refuses_packets_from_memory_without_copies)
{
    setup.options.feed = KVC_MEMCACHEDGPU_MEMORY;
    refuses("system.receive: found \"gpu\" with feed = \"memory\"");
}

Test(memcachedgpu_config, refuses_packets_on_the_card_that_the_pre_thread_copies)
{
    setup.options.fill = KVC_MEMCACHEDGPU_FILL_PRE;
    refuses("system.receive: found \"gpu\" with fill = \"pre\"");
}

Test(memcachedgpu_config, refuses_blocks_that_no_multiprocessor_holds)
{
    setup.options.program = KVC_MEMCACHEDGPU_PUBLISHED;
    setup.gpu.threads_per_sm = 256;
    refuses("system.program: found \"published\" with blocks of 512 threads");
}

/* memcachedgpu.ht.entries: 11.75 GiB hold 45 million entries of 250-byte keys and 208.5 million of 32-byte
 * keys, with headers of 28 and locks of 0.5 bytes. This layout aligns entries to whole lines instead. */
Test(memcachedgpu_config, entries_take_header_key_and_their_part_of_the_lock)
{
    cr_assert_eq(check(NULL), KVC_OK);
    double entry = setup.config.table_bytes / 100000;
    cr_expect(entry >= 250 + 16 && entry <= 320 + 4, "an entry takes %g bytes", entry);
    setup.options.key_room = 32;
    cr_assert_eq(check(NULL), KVC_OK);
    cr_expect_lt(setup.config.table_bytes / 100000, 64 + 4.01);
}
