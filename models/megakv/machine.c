#include "models/megakv/machine.h"

#include "models/megakv/config.h"

void kvc_megakv_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                        struct kvc_socket *devices)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    uint32_t zone = 0;
    const struct kvc_socket_use use = {.gpu_clock = config->clock,
                                       .cpu_polls = scenario->power.policy != KVC_POWER_RACE_TO_IDLE,
                                       .gpu_serves = config->gpu_power == KVC_MEGAKV_GPU_POWER_SERVING};
    for (uint32_t i = 0; i < config->shards; i++) {
        char name[KVC_PLATFORM_NAME_MAX / 2];
        kvc_socket_begin(platform, &scenario->node, i, &zone, name);
        struct kvc_socket socket = kvc_socket_add(platform, zone, name, &scenario->node, use);
        if (devices != NULL) {
            devices[i] = socket;
        }
    }
}
