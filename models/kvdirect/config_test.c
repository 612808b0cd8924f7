/* Resolution replaces every "auto" and refuses scenarios that the equations cannot handle. */
#include "models/kvdirect/config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "models/kvdirect/card_fixture.h"

struct setup {
    struct kvc_scenario scenario;
    struct kvc_kvdirect_options options;
    struct kvc_kvdirect_config config;
    struct kvc_test_card card;
};

/* Every option that can be automatic is automatic. */
static void describe(struct setup *setup)
{
    memset(setup, 0, sizeof(*setup));
    kvc_option_table_set_defaults(&kvc_kvdirect_option_table, &setup->options);
    setup->options.nics = 2;
    setup->options.memory_bytes = 128 << 20;
    setup->card = kvc_test_published_card;
    setup->card.fpga.dram_bytes = 8 << 20;
    setup->scenario = (struct kvc_scenario){
        .options = &setup->options,
        .node = kvc_test_card_node(&setup->card),
        .cluster = {.nodes = 3},
        .workload = {.keys = 3000000,
                     .key_bytes = 8,
                     .value_bytes = 8,
                     .get_frac = 0.5,
                     .set_frac = 0.5,
                     .preload_frac = 1},
        .run = {.functional = KVC_FUNCTIONAL_SAMPLED, .sample_bytes = 0x1p26},
    };
}

static void expect_refusal(struct setup *setup, const char *part)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_kvdirect_resolve(&setup->scenario, &setup->config, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, part), "found \"%s\", not \"%s\"", diag.message, part);
}

Test(config, autos_are_settled_and_the_options_stay)
{
    static struct setup setup;
    struct kvc_diag diag = {0};
    describe(&setup);
    struct kvc_kvdirect_options written = setup.options;
    kvc_test_resolve(&setup.scenario, &setup.config);
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(&setup.scenario);
    cr_expect_eq(memcmp(&setup.options, &written, sizeof(written)), 0);
    cr_expect_lt(setup.options.dispatch_frac, 0, "the options keep their auto");
    cr_expect(config->index_frac > 0 && config->index_frac <= 1, "%g", config->index_frac);
    cr_expect_neq(config->inline_bytes, KVC_KVDIRECT_INLINE_AUTO);
    cr_expect(config->dispatch_frac >= 0 && config->dispatch_frac <= 1, "%g", config->dispatch_frac);
    cr_expect_eq(config->shards, 6);
    cr_expect_eq(config->nic_bytes, 64 << 20);
    cr_expect_eq(config->sample_rate, 8, "384 MiB in 64 MiB");
    cr_expect_eq(config->mean.put_frac, 0.5);
    cr_expect_float_eq(config->watts, 6 * 29.2, 1e-9, "the cards alone: the idle power is unknown");
    cr_expect_eq(kvc_kvdirect_check(&setup.scenario, &diag), KVC_OK, "%s", diag.message);
}

Test(config, what_the_user_writes_is_kept)
{
    static struct setup setup;
    describe(&setup);
    setup.options.index_frac = 0.5;
    setup.options.inline_bytes = 10;
    setup.options.dispatch_frac = 0.25;
    setup.scenario.run.functional = KVC_FUNCTIONAL_FULL;
    kvc_test_resolve(&setup.scenario, &setup.config);
    cr_expect_eq(setup.config.index_frac, 0.5);
    cr_expect_eq(setup.config.inline_bytes, 10);
    cr_expect_eq(setup.config.dispatch_frac, 0.25);
    cr_expect_eq(setup.config.sample_rate, 1);
}

Test(config, refuses_what_it_cannot_work_with)
{
    static struct setup setup;
    describe(&setup);
    setup.scenario.workload.value_bytes = 1000;
    expect_refusal(&setup, "workload: found pairs of up to 1008 bytes");
    describe(&setup);
    setup.scenario.workload.arrival = KVC_ARRIVAL_TRACE;
    expect_refusal(&setup, "workload.arrival: found a trace");
    describe(&setup);
    setup.options.update = KVC_KVDIRECT_UPDATE;
    strcpy(setup.options.lambda, "v +");
    expect_refusal(&setup, "system.lambda: expected a value");
    describe(&setup);
    setup.card.pcie = (struct kvc_pcie){.h2d_bytes_per_s = 1e10};
    expect_refusal(&setup, "does not state packets");
}
