#include "models/bluecache/resources.h"

#include "models/bluecache/config.h"

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

static bool has_threads(const struct kvc_scenario *scenario)
{
    return kvc_bluecache_config_of(scenario)->threads;
}

static bool has_neighbours(const struct kvc_scenario *scenario)
{
    return kvc_bluecache_config_of(scenario)->nodes > 1;
}

const struct kvc_model_resource kvc_bluecache_resources[] = {
    {.name = "cpu", .device = "cpu", .stages = {"call", "wake"}, .used = has_threads, .speed_up = speed_cpu},
    {.name = "pcie", .device = "pcie", .stages = {"in", "out"}, .speed_up = speed_pcie},
    {.name = "fabric",
     .device = "fabric",
     .stages = {"fabric"},
     .used = has_neighbours,
     .speed_up = speed_fabric},
    {.name = "dram", .device = "dram", .stages = {"search"}, .speed_up = speed_dram},
    {.name = "flash", .device = "flash", .stages = {"channels", "chips"}, .speed_up = speed_flash},
    {.name = NULL},
};
