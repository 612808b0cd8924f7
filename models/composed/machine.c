#include "models/composed/machine.h"

#include <math.h>
#include <stdio.h>

#include "models/composed/config.h"
#include "models/forecast.h"

void kvc_composed_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                          struct kvc_socket *socket)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    uint32_t sockets = (uint32_t)scenario->node.sockets;
    const struct kvc_socket_use use = {.gpu_clock = config->gpu_clock,
                                       .cpu_polls = scenario->power.policy != KVC_POWER_RACE_TO_IDLE,
                                       .is_one = true,
                                       .is_fixed = !kvc_power_policy_looks(&scenario->power) &&
                                                   scenario->run.change_count == 0};
    for (uint32_t node = 0; node < scenario->cluster.nodes; node++) {
        char name[KVC_PLATFORM_NAME_MAX / 2];
        snprintf(name, sizeof(name), "node%u", node);
        uint32_t zone = kvc_platform_add_zone(platform, name);
        kvc_socket_add_rest(platform, zone, name, &scenario->node);
        for (uint32_t i = 0; i < sockets; i++) {
            snprintf(name, sizeof(name), "node%u.socket%u", node, i);
            struct kvc_socket added = kvc_socket_add(platform, zone, name, &scenario->node, use);
            if (socket != NULL) {
                socket[node * sockets + i] = added;
            }
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
