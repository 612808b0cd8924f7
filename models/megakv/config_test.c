/* Resolution replaces every "auto" in the configuration and does not change the written options. */
#include "models/megakv/config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/costs.h"
#include "models/megakv/run_fixture.h"

struct setup {
    struct kvc_scenario scenario;
    struct kvc_megakv_options options;
    struct kvc_megakv_config config;
    struct kvc_test_devices devices;
};

/* Sets every option to "auto" that allows it. A socket has nine cores with two threads each. */
static void describe(struct setup *setup)
{
    memset(setup, 0, sizeof(*setup));
    kvc_option_table_set_defaults(&kvc_megakv_option_table, &setup->options);
    setup->devices.cpu = (struct kvc_cpu){.cores = 9, .threads_per_core = 2};
    setup->devices.dram = (struct kvc_dram){.line_bytes = 64};
    setup->devices.gpu = (struct kvc_gpu){.memory_bytes = 1e10,
                                          .clock_count = 2,
                                          .clocks = {{.core_hz = 875e6, .search = {.ns_per_op = 1}},
                                                     {.core_hz = 745e6, .search = {.ns_per_op = 2}}}};
    setup->devices.nic =
        (struct kvc_nic){.ports = 1, .queues = 64, .rss_entries = 128, .bytes_per_s = 1e9, .mtu_bytes = 160};
    setup->devices.pcie = (struct kvc_pcie){.h2d_bytes_per_s = 1e10, .d2h_bytes_per_s = 1e10};
    setup->scenario = (struct kvc_scenario){
        .options = &setup->options,
        .node = {.sockets = 2},
        .cluster = {.nodes = 3},
        .workload = {.keys = 60000000, .key_bytes = 8, .value_bytes = 8, .get_frac = 1, .preload_frac = 1},
        .run = {.functional = KVC_FUNCTIONAL_SAMPLED, .sample_bytes = 0x1p30},
    };
    kvc_test_connect(&setup->scenario.node, &setup->devices);
}

Test(config, autos_are_settled_and_the_options_stay)
{
    static struct setup setup;
    describe(&setup);
    struct kvc_megakv_options written = setup.options;
    kvc_test_resolve(&setup.scenario, &setup.config);
    const struct kvc_megakv_config *config = kvc_megakv_config_of(&setup.scenario);
    double item_bytes = kvc_megakv_slab_item_bytes(8, 8);
    cr_expect_eq(memcmp(&setup.options, &written, sizeof(written)), 0);
    cr_expect_eq(setup.options.streams, 0, "the options keep their auto");
    cr_expect_eq(config->streams, 8, "a pipeline for each core but the scheduler's");
    cr_expect_eq(config->senders, 8);
    cr_expect_eq(config->shards, 6);
    cr_expect_eq(config->index_bytes, 0x1p27, "1e7 keys fill a half of it to more than nine tenths");
    cr_expect_float_eq(config->slab_bytes, 1.1 * 1e7 * item_bytes, 1, "a tenth more than the keys need");
    cr_expect_eq(config->clock, 0, "the fastest clock");
    cr_expect_eq(config->sample_rate, 4, "2.7 GiB in 1 GiB");
    cr_expect_eq(kvc_megakv_costs_of(&setup.scenario).hit_frac, 1, "everything fits");
}

Test(config, what_the_user_writes_is_kept)
{
    static struct setup setup;
    struct kvc_diag diag = {0};
    describe(&setup);
    setup.options.streams = 3;
    setup.options.slab_bytes = 64 << 20;
    setup.options.gpu_core_hz = 745e6;
    setup.scenario.run.functional = KVC_FUNCTIONAL_FULL;
    setup.scenario.workload.frame_requests = 7;
    kvc_test_resolve(&setup.scenario, &setup.config);
    cr_expect_eq(setup.config.streams, 3);
    cr_expect_eq(setup.config.slab_bytes, 64 << 20);
    cr_expect_eq(setup.config.clock, 1);
    cr_expect_eq(setup.config.sample_rate, 1);
    cr_expect_eq(setup.config.frame_requests, 7);
    cr_expect_lt(kvc_megakv_costs_of(&setup.scenario).hit_frac, 1, "the slabs hold a part of the keys");
    cr_expect_eq(kvc_megakv_check(&setup.scenario, &diag), KVC_OK, "%s", diag.message);
}

Test(config, a_clock_that_the_gpu_lacks_is_refused)
{
    static struct setup setup;
    struct kvc_diag diag = {0};
    describe(&setup);
    setup.options.gpu_core_hz = 1e9;
    kvc_test_resolve(&setup.scenario, &setup.config);
    cr_expect_eq(kvc_megakv_check(&setup.scenario, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "system.gpu_core: found 1000MHz"), "%s", diag.message);
}

Test(config, shared_threads_have_a_sender_on_every_core_but_one)
{
    static struct setup setup;
    describe(&setup);
    setup.options.threads = KVC_MEGAKV_SHARED_THREADS;
    kvc_test_resolve(&setup.scenario, &setup.config);
    cr_expect_eq(setup.config.streams, 8);
    setup.options.streams = 20;
    kvc_test_resolve(&setup.scenario, &setup.config);
    cr_expect_eq(setup.config.streams, 20);
    cr_expect_eq(setup.config.senders, 8);
}
