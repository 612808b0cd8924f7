#include "models/bluecache/resources.h"

#include <string.h>

#include "models/bluecache/config.h"

uint32_t kvc_bluecache_stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double apps = config->apps, stores = config->stores, threads = config->threads ? apps : 0;
    double controllers = config->flash->operation_ns > 0 ? stores : 0;
    double interfaces = config->flash->interface_bytes_per_s > 0 ? stores : 0;
    const struct kvc_model_stage list[] = {
        [KVC_BLUECACHE_AT_CALL] = {"call", "cpu", threads},
        [KVC_BLUECACHE_AT_IN] = {"in", "pcie", apps},
        [KVC_BLUECACHE_AT_FABRIC] = {"fabric", "fabric", config->nodes > 1 ? 1 : 0},
        [KVC_BLUECACHE_AT_SEARCH] = {"search", "dram", stores},
        [KVC_BLUECACHE_AT_CONTROLLER] = {"controller", "flash", controllers},
        [KVC_BLUECACHE_AT_CHANNELS] = {"channels", "flash", stores},
        [KVC_BLUECACHE_AT_CHIPS] = {"chips", "flash", stores},
        [KVC_BLUECACHE_AT_INTERFACE] = {"interface", "flash", interfaces},
        [KVC_BLUECACHE_AT_OUT] = {"out", "pcie", apps},
        [KVC_BLUECACHE_AT_WAKE] = {"wake", "cpu", threads},
        [KVC_BLUECACHE_AT_DATABASE] = {"database", "database", config->database != NULL ? 1 : 0},
    };
    memcpy(stage, list, sizeof(list));
    return KVC_BLUECACHE_STAGES;
}

static void speed_cpu(struct kvc_scenario *scenario, double factor)
{
    struct kvc_bluecache_options *options = scenario->options;
    options->call_ns /= factor;
    options->wake_ns /= factor;
    options->switch_ns /= factor;
}

static void speed_pcie(struct kvc_scenario *scenario, double factor)
{
    kvc_pcie_speed_up(kvc_node_device(&scenario->node, &kvc_pcie_kind), factor);
}

static void speed_dram(struct kvc_scenario *scenario, double factor)
{
    kvc_dram_speed_up(kvc_node_device(&scenario->node, &kvc_dram_kind), factor);
}

static void speed_flash(struct kvc_scenario *scenario, double factor)
{
    kvc_flash_speed_up(kvc_node_device(&scenario->node, &kvc_flash_kind), factor);
}

static void speed_fabric(struct kvc_scenario *scenario, double factor)
{
    kvc_fabric_speed_up(kvc_node_device(&scenario->node, &kvc_fabric_kind), factor);
}

static void speed_database(struct kvc_scenario *scenario, double factor)
{
    kvc_database_speed_up(kvc_node_device(&scenario->node, &kvc_database_kind), factor);
}

const struct kvc_model_resource kvc_bluecache_resources[] = {
    {.name = "cpu",
     .device = "cpu",
     .stages = 1u << KVC_BLUECACHE_AT_CALL | 1u << KVC_BLUECACHE_AT_WAKE,
     .speed_up = speed_cpu},
    {.name = "pcie",
     .device = "pcie",
     .stages = 1u << KVC_BLUECACHE_AT_IN | 1u << KVC_BLUECACHE_AT_OUT,
     .speed_up = speed_pcie},
    {.name = "fabric", .device = "fabric", .stages = 1u << KVC_BLUECACHE_AT_FABRIC, .speed_up = speed_fabric},
    {.name = "dram", .device = "dram", .stages = 1u << KVC_BLUECACHE_AT_SEARCH, .speed_up = speed_dram},
    {.name = "flash",
     .device = "flash",
     .stages = 1u << KVC_BLUECACHE_AT_CONTROLLER | 1u << KVC_BLUECACHE_AT_CHANNELS |
               1u << KVC_BLUECACHE_AT_CHIPS | 1u << KVC_BLUECACHE_AT_INTERFACE,
     .speed_up = speed_flash},
    {.name = "database",
     .device = "database",
     .stages = 1u << KVC_BLUECACHE_AT_DATABASE,
     .speed_up = speed_database},
    {.name = NULL},
};
