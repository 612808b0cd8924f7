#include "models/price.h"

#include <criterion/criterion.h>
#include <math.h>

#include "models/model.h"
#include "models/registry.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

static struct {
    struct kvc_cpu cpu;
    struct kvc_gpu gpu;
    struct kvc_dram dram;
    struct kvc_nic nic;
    struct kvc_pcie pcie;
    struct kvc_scenario scenario;
} setup;

/* The server of Mega-KV's paper: 4837 USD without GPUs, including two processors of 1162 USD each, plus two
 * GPUs of 2150 USD each. */
static void set_up(void)
{
    setup.cpu.price_usd = 1162;
    setup.gpu.price_usd = 2150;
    const struct kvc_device devices[] = {{&kvc_cpu_kind, &setup.cpu},
                                         {&kvc_dram_kind, &setup.dram},
                                         {&kvc_gpu_kind, &setup.gpu},
                                         {&kvc_nic_kind, &setup.nic},
                                         {&kvc_pcie_kind, &setup.pcie}};
    setup.scenario = (struct kvc_scenario){.model = kvc_model_find("megakv"),
                                           .node = {.sockets = 2, .price_usd = 4837 - 2 * 1162},
                                           .cluster = {.nodes = 1}};
    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
        setup.scenario.node.device[i] = devices[i];
    }
}

TestSuite(price, .init = set_up);

Test(price, of_mega_kv_s_server_is_the_papers)
{
    struct kvc_price price = kvc_scenario_price(&setup.scenario);
    cr_expect_float_eq(price.usd, 4837 + 2 * 2150, 1e-9);
    cr_expect_float_eq(price.usd / 4837, 1.889, 5e-4, "88.9 %% above MICA's");
    cr_expect_str_eq(price.missing, "");
    setup.scenario.cluster.nodes = 3;
    cr_expect_float_eq(kvc_scenario_price(&setup.scenario).usd, 3 * price.usd, 1e-9);
}

Test(price, without_some_devices_is_a_lower_bound_that_names_them)
{
    double whole = kvc_scenario_node_price(&setup.scenario).usd;
    setup.gpu.price_usd = 0;
    setup.nic.price_usd = NAN;
    struct kvc_price price = kvc_scenario_node_price(&setup.scenario);
    cr_expect_str_eq(price.missing, "gpu, nic");
    cr_expect(price.usd < whole && price.usd > 0);
    cr_expect(isnan(kvc_price_whole_usd(&price)));
    setup.gpu.price_usd = 2150;
    cr_expect_str_eq(kvc_scenario_price(&setup.scenario).missing, "nic");
}

Test(price, of_memory_is_that_of_its_gigabytes)
{
    double without = kvc_scenario_node_price(&setup.scenario).usd;
    setup.dram.gb_price_usd = 5.62;
    setup.dram.capacity_bytes = 16e9;
    cr_expect_float_eq(kvc_scenario_node_price(&setup.scenario).usd, without + 2 * 89.92, 1e-9);
    setup.dram.capacity_bytes = NAN;
    cr_expect_str_eq(kvc_scenario_node_price(&setup.scenario).missing, "dram");
}

Test(price, of_a_gpu_on_the_processors_chip_is_in_the_processors)
{
    double with = kvc_scenario_node_price(&setup.scenario).usd;
    setup.gpu.price_usd = 0;
    setup.gpu.shares_memory = true;
    cr_expect_float_eq(kvc_scenario_node_price(&setup.scenario).usd, with - 2 * 2150, 1e-9);
}
