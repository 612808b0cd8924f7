#include "models/bluecache/machine.h"

#include <stdio.h>

#include "models/bluecache/config.h"

static uint32_t add_host(struct kvc_platform *platform, uint32_t zone, const char *node, const char *device,
                         const struct kvc_watts *watts)
{
    struct kvc_platform_host host = {.device = device, .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}};
    snprintf(host.name, sizeof(host.name), "%s.%s", node, device);
    if (watts != NULL) {
        host.pstate[0].watts = *watts;
    }
    return kvc_platform_add_host(platform, zone, &host);
}

static void add_way(struct kvc_platform *platform, uint32_t zone, const char *name, const char *device,
                    double bytes_per_s, const uint32_t ends[2])
{
    struct kvc_platform_link link = {.device = device, .bytes_per_s = bytes_per_s};
    snprintf(link.name, sizeof(link.name), "%s", name);
    uint32_t added = kvc_platform_add_link(platform, zone, &link);
    kvc_platform_add_route(platform, ends[0], ends[1], &added, 1);
}

static struct kvc_bluecache_machine add_node(const struct kvc_bluecache_config *config,
                                             struct kvc_platform *platform, uint32_t zone, const char *node)
{
    double card_w = config->fpga->power_w;
    const struct kvc_watts card = {card_w, card_w, card_w};
    const struct kvc_watts flash = kvc_flash_watts(config->flash);
    struct kvc_bluecache_machine machine = {
        .host = add_host(platform, zone, node, "host", NULL),
        .card = add_host(platform, zone, node, "fpga", card_w > 0 ? &card : NULL),
        .dram = add_host(platform, zone, node, "dram", NULL),
        .flash = add_host(platform, zone, node, "flash", &flash),
    };
    char name[KVC_PLATFORM_NAME_MAX];
    snprintf(name, sizeof(name), "%s.pcie-in", node);
    add_way(platform, zone, name, "pcie", config->pcie->h2d_bytes_per_s,
            (uint32_t[]){machine.host, machine.card});
    snprintf(name, sizeof(name), "%s.pcie-out", node);
    add_way(platform, zone, name, "pcie", config->pcie->d2h_bytes_per_s,
            (uint32_t[]){machine.card, machine.host});
    return machine;
}

void kvc_bluecache_machine_add(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                               struct kvc_bluecache_machine *machine)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    uint32_t nodes = config->nodes, zone = kvc_platform_add_zone(platform, "bluecache");
    for (uint32_t i = 0; i < nodes; i++) {
        char name[KVC_PLATFORM_NAME_MAX / 2];
        snprintf(name, sizeof(name), "node%u", i);
        machine[i] = add_node(config, platform, zone, name);
    }
    if (config->database != NULL) {
        machine[0].database = add_host(platform, zone, "all", "database", NULL);
    }
    for (uint32_t a = 0; a < nodes; a++) {
        for (uint32_t b = 0; b < nodes; b++) {
            if (kvc_fabric_adjacent(config->fabric, nodes, a, b)) {
                char name[KVC_PLATFORM_NAME_MAX];
                snprintf(name, sizeof(name), "node%u.fabric%u", a, b);
                add_way(platform, zone, name, "fabric", config->edge_bytes_per_s,
                        (uint32_t[]){machine[a].card, machine[b].card});
            }
        }
    }
}
