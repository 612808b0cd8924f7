#include "models/composed/machine.h"

#include <math.h>

#include "models/composed/config.h"
#include "models/forecast.h"

static bool has_stages(const struct kvc_composed_config *config, enum kvc_composed_place place)
{
    bool has = false;
    for (uint32_t i = 0; i < config->stages; i++) {
        has = has || config->stage[i].place == place;
    }
    return has;
}

/* Adds the parts of the card that a store uses. Its profile states the power of all of them with its cores or
 * its FPGA, if at all. */
static void add_card(const struct kvc_composed_config *config, bool changes, struct kvc_platform *platform,
                     uint32_t zone, const char *prefix, struct kvc_composed_devices *devices)
{
    static const char *const device[KVC_COMPOSED_PARTS] = {"card_cpu", "fpga", "card_dram", "dma"};
    static const enum kvc_composed_place place[] = {KVC_COMPOSED_CARD_CPU, KVC_COMPOSED_FPGA};
    bool cores = config->card_cores.cpu != NULL, fpga = config->fpga != NULL;
    bool packets = fpga && config->pcie != NULL && kvc_pcie_has_packets(config->pcie);
    const bool has[KVC_COMPOSED_PARTS] = {
        cores, fpga, kvc_composed_card_memory_of(config).bytes > 0 || config->card_cores.dram != NULL,
        packets};
    for (uint32_t i = 0; i < KVC_COMPOSED_PARTS; i++) {
        struct kvc_platform_host host = {.device = device[i],
                                         .cores = 1,
                                         .pstates = 1,
                                         .pstate = {{.speed = 1}},
                                         .can_fail = i <= KVC_COMPOSED_PART_FPGA && changes &&
                                                     has_stages(config, place[i]),
                                         .is_metered_elsewhere = i > KVC_COMPOSED_PART_FPGA};
        if (i == KVC_COMPOSED_PART_FPGA && fpga && config->fpga->power_w > 0) {
            double watts = config->fpga->power_w;
            host.pstate[0].watts = (struct kvc_watts){watts, watts, watts};
        }
        kvc_platform_set_name(host.name, prefix, device[i]);
        devices->part[i] = has[i] ? (int32_t)kvc_platform_add_host(platform, zone, &host) : KVC_SOCKET_NONE;
    }
}

void kvc_composed_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                          struct kvc_composed_devices *devices)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    uint32_t sockets = kvc_scenario_shards(scenario), zone = 0;
    bool changes = scenario->run.change_count > 0;
    const struct kvc_socket_use use = {.gpu_clock = config->gpu_clock,
                                       .cpu_polls = scenario->power.policy != KVC_POWER_RACE_TO_IDLE,
                                       .is_one = true,
                                       .cores_fail = changes && has_stages(config, KVC_COMPOSED_CPU),
                                       .gpu_fails = changes && has_stages(config, KVC_COMPOSED_GPU),
                                       .copies = has_stages(config, KVC_COMPOSED_PCIE_DOWN) ||
                                                 has_stages(config, KVC_COMPOSED_PCIE_UP),
                                       .is_fixed = !kvc_power_policy_looks(&scenario->power) && !changes};
    for (uint32_t i = 0; i < sockets; i++) {
        char name[KVC_PLATFORM_NAME_MAX / 2];
        kvc_socket_begin(platform, &scenario->node, i, &zone, name);
        struct kvc_composed_devices added = {.socket =
                                                 kvc_socket_add(platform, zone, name, &scenario->node, use)};
        add_card(config, changes, platform, zone, name, &added);
        if (devices != NULL) {
            devices[i] = added;
        }
    }
}

/* Returns the utilization of a device out of that of its stages. A stage of cores is busy for a share of its
 * own cores, and stages on a link
 * share it. */
static double device_frac(const struct kvc_scenario *scenario, const struct kvc_result *result,
                          enum kvc_composed_place place)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double busy = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_pool *pool = &config->pool[config->stage[i].pool];
        double parts = place == KVC_COMPOSED_NIC_RX ? config->rx_parts : config->tx_parts;
        double servers = place == KVC_COMPOSED_CPU
                             ? config->thread_cores * (double)pool->servers * pool->cores * config->pipelines
                             : pool->servers / parts;
        busy += pool->place == place ? result->stage[i].utilization_frac * servers : 0;
    }
    return fmin(busy / (place == KVC_COMPOSED_CPU ? (double)config->cpu->cores : 1), 1);
}

void kvc_composed_set_power(const struct kvc_scenario *scenario, double gpu_frac, double memory_frac,
                            double flash_frac, struct kvc_result *result)
{
    struct kvc_forecast forecast = {.device_count = 0};
    struct kvc_platform *platform = kvc_platform_create();
    kvc_composed_machine(scenario, platform, NULL);
    struct kvc_power power = kvc_power_of(platform);
    kvc_platform_free(platform);
    kvc_forecast_add_device(&forecast, "cpu", device_frac(scenario, result, KVC_COMPOSED_CPU));
    kvc_forecast_add_device(&forecast, "gpu", fmin(gpu_frac, 1));
    kvc_forecast_add_device(&forecast, "dram", fmin(memory_frac, 1));
    kvc_forecast_add_device(&forecast, "flash", fmin(flash_frac, 1));
    kvc_forecast_add_device(&forecast, "nic",
                            (device_frac(scenario, result, KVC_COMPOSED_NIC_RX) +
                             device_frac(scenario, result, KVC_COMPOSED_NIC_TX)) /
                                2);
    result->watts_mean =
        kvc_power_watts(&power, forecast.device, forecast.device_count, result->watts_missing);
}
