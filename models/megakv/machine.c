#include "models/megakv/machine.h"

#include <stdio.h>

#include "models/megakv/config.h"

void kvc_megakv_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                        struct kvc_socket *devices)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    uint32_t sockets = (uint32_t)scenario->node.sockets, zone = 0;
    for (uint32_t i = 0; i < config->shards; i++) {
        char name[KVC_PLATFORM_NAME_MAX];
        if (i % sockets == 0) {
            snprintf(name, sizeof(name), "node%u", i / sockets);
            zone = kvc_platform_add_zone(platform, name);
        }
        snprintf(name, sizeof(name), "node%u.socket%u", i / sockets, i % sockets);
        struct kvc_socket socket = kvc_socket_add(platform, zone, name, &scenario->node, config->clock);
        if (devices != NULL) {
            devices[i] = socket;
        }
    }
}
