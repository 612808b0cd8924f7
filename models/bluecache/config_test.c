#include "models/bluecache/config.h"

#include <criterion/criterion.h>
#include <string.h>

/* A valid scenario; each test changes one thing. */
static struct setup {
    struct kvc_scenario scenario;
    struct kvc_bluecache_options options;
    struct kvc_bluecache_config config;
    struct kvc_pcie pcie;
    struct kvc_dram dram;
    struct kvc_flash flash;
    struct kvc_fabric fabric;
    struct kvc_fpga fpga;
} setup;

static void set_up(void)
{
    setup = (struct setup){.pcie = {.h2d_bytes_per_s = 1e9, .d2h_bytes_per_s = 1e9},
                           .flash = {.cards = 1,
                                     .channels = 2,
                                     .chips = 2,
                                     .blocks = 100,
                                     .pages_per_block = 64,
                                     .page_bytes = 8192,
                                     .channel_bytes_per_s = 2e8,
                                     .tags = 8},
                           .fabric = {.links = 2, .bytes_per_s = 1e9, .messages = 3},
                           .scenario = {.cluster = {.nodes = 3},
                                        .workload = {.keys = 1000,
                                                     .key_bytes = 16,
                                                     .value_bytes = 100,
                                                     .get_frac = 1,
                                                     .frame_requests = 1,
                                                     .arrival = KVC_ARRIVAL_SATURATE}}};
    kvc_option_table_set_defaults(&kvc_bluecache_option_table, &setup.options);
    setup.options.flash_bytes = 64 * 0x1p20;
    setup.options.index_bytes = 64 * 0x1p20;
    const struct kvc_device devices[] = {{&kvc_pcie_kind, &setup.pcie},
                                         {&kvc_dram_kind, &setup.dram},
                                         {&kvc_flash_kind, &setup.flash},
                                         {&kvc_fabric_kind, &setup.fabric},
                                         {&kvc_fpga_kind, &setup.fpga}};
    memcpy(setup.scenario.node.device, devices, sizeof(devices));
    setup.scenario.options = &setup.options;
}

TestSuite(bluecache_config, .init = set_up);

static void expect_error(const char *text)
{
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_bluecache_resolve(&setup.scenario, &setup.config, &diag);
    setup.scenario.config = &setup.config;
    if (status == KVC_OK) {
        status = kvc_bluecache_check(&setup.scenario, &diag);
    }
    cr_expect_eq(status, text != NULL ? KVC_ERR_SCENARIO : KVC_OK, "%s", diag.message);
    cr_expect(text == NULL || strstr(diag.message, text) != NULL, "%s", diag.message);
}

Test(bluecache_config, settles_nodes_and_log)
{
    expect_error(NULL);
    cr_expect_eq(setup.config.stores, 3);
    cr_expect_eq(setup.config.apps, 3);
    cr_expect_eq(setup.config.geometry.blocks_per_chip, 32, "64 MiB in rows of 2 MiB");
    cr_expect_eq(setup.config.edge_bytes_per_s, 1e9, "two links, two neighbours");
    cr_expect_not(setup.config.threads);
    setup.flash.cards = 4;
    expect_error(NULL);
    cr_expect_eq(setup.config.geometry.blocks_per_chip, 8, "64 MiB in rows of 8 MiB");
    cr_expect_eq(setup.config.geometry.buses, 8);
}

Test(bluecache_config, refuses_a_log_smaller_than_its_chunks)
{
    setup.options.flash_bytes = 0x1p21;
    expect_error("system.flash: found 2 MiB, allowed are 6 to 200 MiB");
    setup.options.flash_bytes = 64 * 0x1p20;
    setup.options.chunk_pages = 4096;
    expect_error("system.flash: found 64 MiB, allowed are 130 to 200 MiB");
}

Test(bluecache_config, refuses_more_flash_than_a_pointer_addresses)
{
    setup.flash.blocks = 1000000;
    setup.options.flash_bytes = 0x1p40 + 0x1p21;
    expect_error("41 bits");
}

Test(bluecache_config, refuses_an_index_that_is_no_power_of_two)
{
    setup.options.index_bytes = 100000;
    expect_error("system.index: found 100000 bytes");
}

Test(bluecache_config, refuses_segments_that_hold_no_request)
{
    setup.options.segment_bytes = 39;
    expect_error("system.segment: found 39 bytes, allowed are 40 bytes to 1 MiB");
    setup.options.segment_bytes = 40;
    expect_error(NULL);
}

Test(bluecache_config, the_table_has_the_tags_of_the_flash_unless_told)
{
    expect_error(NULL);
    cr_expect_eq(setup.config.table, 8);
    setup.options.table = 3;
    expect_error(NULL);
    cr_expect_eq(setup.config.table, 3);
}

Test(bluecache_config, refuses_nodes_that_cannot_be_reached)
{
    setup.fabric.links = 1;
    expect_error("some would be unreachable");
    setup.scenario.cluster.nodes = 2;
    expect_error(NULL);
}

Test(bluecache_config, refuses_more_stores_or_hosts_than_nodes)
{
    setup.options.stores = 4;
    expect_error("system.stores: found 4, allowed are 1 to 3");
    setup.options.stores = 1;
    setup.options.app_servers = 5;
    expect_error("system.app_servers: found 5, allowed are 1 to 3");
}

Test(bluecache_config, refuses_large_values_and_other_loads)
{
    setup.scenario.workload.value_bytes = 1 << 20;
    expect_error("workload.value: found 1048576 bytes, allowed are 0 to 1048575");
    setup.scenario.workload.value_bytes = 100;
    setup.scenario.workload.frame_requests = 2;
    expect_error("workload.per_frame");
    setup.scenario.workload.frame_requests = 1;
    setup.scenario.run.functional = KVC_FUNCTIONAL_OFF;
    expect_error("run.functional: found \"off\"");
}

Test(bluecache_config, shrinks_the_structures_of_a_sample)
{
    setup.scenario.workload.keys = 1000000;
    setup.scenario.run.functional = KVC_FUNCTIONAL_SAMPLED;
    setup.scenario.run.sample_rate = 32;
    expect_error(NULL);
    const struct kvc_bluecache_sizes *sizes = &setup.config.sizes;
    cr_expect_eq(setup.config.geometry.blocks_per_chip, 32, "the card stays as large as it is");
    cr_expect_eq(sizes->index_bytes, setup.options.index_bytes / 32);
    cr_expect_eq(sizes->chunk_pages, 4);
    cr_expect_eq(sizes->geometry.blocks_per_chip, 32, "as many rows");
    cr_expect_eq(kvc_bluecache_log_pages(&sizes->geometry), 8192 / 32);
    cr_expect_eq(sizes->dram_bytes, 8 * 13107 * 160, "8 of 256 slabs of items of 160 bytes");
    setup.scenario.run.sample_rate = 0;
    setup.scenario.run.sample_bytes = 0x1p28;
    expect_error(NULL);
    cr_expect_eq(setup.config.sample_rate, 8, "three nodes of 641 MiB in 256 MiB");
}

Test(bluecache_config, refuses_a_sample_that_leaves_too_little)
{
    setup.scenario.workload.keys = 1000000;
    setup.scenario.run.functional = KVC_FUNCTIONAL_SAMPLED;
    setup.scenario.run.sample_rate = 32;
    setup.options.index_bytes = 65536;
    expect_error("run.sample_rate: found 32, which leaves 2048 bytes of system.index; at least 4096");
    setup.options.index_bytes = 0x1p26;
    setup.options.dram_bytes = 0x1p21;
    setup.scenario.workload.value_bytes = 100000;
    expect_error("which leaves 1 pairs in system.dram; at least 64");
    setup.options.dram_bytes = 0;
    setup.scenario.workload.value_bytes = 1000000;
    setup.scenario.run.sample_rate = 64;
    expect_error("which leaves 128 pages of system.flash; at least 248");
}
