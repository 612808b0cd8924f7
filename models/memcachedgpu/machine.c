#include "models/memcachedgpu/machine.h"

#include <stdio.h>

#include "models/memcachedgpu/config.h"

void kvc_memcachedgpu_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                              struct kvc_socket *devices)
{
    for (uint32_t i = 0; i < kvc_memcachedgpu_config_of(scenario)->shards; i++) {
        char name[KVC_PLATFORM_NAME_MAX];
        snprintf(name, sizeof(name), "node%u", i);
        uint32_t zone = kvc_platform_add_zone(platform, name);
        struct kvc_socket socket =
            kvc_socket_add(platform, zone, name, &scenario->node, (struct kvc_socket_use){0});
        if (devices != NULL) {
            devices[i] = socket;
        }
    }
}
