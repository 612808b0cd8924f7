#include "models/memcachedgpu/resources.h"

#include <string.h>

#include "models/memcachedgpu/config.h"
#include "sim/devices/network.h"

static bool on_network(const struct kvc_scenario *scenario)
{
    return kvc_memcachedgpu_config_of(scenario)->feed == KVC_MEMCACHEDGPU_NETWORK;
}

uint32_t kvc_memcachedgpu_stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    double nodes = config->shards, networked = on_network(scenario) ? nodes : 0;
    bool fills = kvc_memcachedgpu_pre_fills(config);
    double copies = config->receive == KVC_MEMCACHEDGPU_RECEIVE_HOST ? nodes : 0;
    double writers = config->writes ? nodes * (double)config->options->set_threads : 0;
    const struct kvc_model_stage list[] = {
        [KVC_MEMCACHEDGPU_RX] = {"rx", "nic", networked * (double)config->options->receive_ports},
        [KVC_MEMCACHEDGPU_RECEIVE] = {"receive", "cpu", fills ? 0 : networked}, /* Part of "launch". */
        [KVC_MEMCACHEDGPU_LAUNCH] = {"launch", "cpu", nodes},
        [KVC_MEMCACHEDGPU_COPY_IN] = {"copy_in", "pcie", copies},
        [KVC_MEMCACHEDGPU_GPU] = {"kernel", "gpu", nodes * config->streams},
        [KVC_MEMCACHEDGPU_COPY_OUT] = {"copy_out", "pcie", nodes},
        [KVC_MEMCACHEDGPU_ANSWER] = {"answer", "cpu", nodes * config->post_threads},
        [KVC_MEMCACHEDGPU_TX] = {"tx", "nic", networked * (double)config->nic->ports},
        [KVC_MEMCACHEDGPU_SET] = {"write", "cpu", writers},
    };
    memcpy(stage, list, sizeof(list));
    return KVC_MEMCACHEDGPU_STAGES;
}

static struct kvc_memcachedgpu_cost_profile *profile_of(struct kvc_scenario *scenario)
{
    return kvc_node_device(&scenario->node, &kvc_memcachedgpu_cost_profile_kind);
}

static void speed_cpu(struct kvc_scenario *scenario, double factor)
{
    struct kvc_memcachedgpu_cost_profile *profile = profile_of(scenario);
    kvc_cpu_speed_up(kvc_node_device(&scenario->node, &kvc_cpu_kind), factor);
    profile->call_ns /= factor;
    profile->call_polled_ns /= factor;
    profile->staging_bytes_per_s *= factor;
    profile->answer_ns /= factor;
    profile->set_ns /= factor;
}

static void speed_dram(struct kvc_scenario *scenario, double factor)
{
    kvc_dram_speed_up(kvc_node_device(&scenario->node, &kvc_dram_kind), factor);
}

static void speed_gpu(struct kvc_scenario *scenario, double factor)
{
    struct kvc_memcachedgpu_cost_profile *profile = profile_of(scenario);
    struct kvc_memcachedgpu_options *options = scenario->options;
    kvc_gpu_speed_up(kvc_node_device(&scenario->node, &kvc_gpu_kind), factor);
    profile->block_cycles /= factor;
    profile->key_cycles /= factor;
    profile->packet_cycles /= factor;
    profile->set_cycles /= factor;
    options->background_ns /= factor;
}

static void speed_pcie(struct kvc_scenario *scenario, double factor)
{
    struct kvc_cpu *cpu = kvc_node_device(&scenario->node, &kvc_cpu_kind);
    kvc_pcie_speed_up(kvc_node_device(&scenario->node, &kvc_pcie_kind), factor);
    cpu->root_bytes_per_s *= factor;
}

static void speed_nic(struct kvc_scenario *scenario, double factor)
{
    kvc_nic_speed_up(kvc_node_device(&scenario->node, &kvc_nic_kind), factor);
}

static void speed_network(struct kvc_scenario *scenario, double factor)
{
    kvc_network_speed_up(kvc_node_device(&scenario->node, &kvc_network_kind), factor);
}

static bool has_network(const struct kvc_scenario *scenario)
{
    return on_network(scenario) && kvc_network_of(&scenario->node) != NULL;
}

const struct kvc_model_resource kvc_memcachedgpu_resources[] = {
    {.name = "cpu",
     .device = "cpu",
     .stages = 1u << KVC_MEMCACHEDGPU_RECEIVE | 1u << KVC_MEMCACHEDGPU_LAUNCH |
               1u << KVC_MEMCACHEDGPU_ANSWER | 1u << KVC_MEMCACHEDGPU_SET,
     .speed_up = speed_cpu},
    {.name = "dram", .device = "dram", .stages = 1u << KVC_MEMCACHEDGPU_ANSWER, .speed_up = speed_dram},
    {.name = "gpu", .device = "gpu", .stages = 1u << KVC_MEMCACHEDGPU_GPU, .speed_up = speed_gpu},
    {.name = "pcie",
     .device = "pcie",
     .stages = 1u << KVC_MEMCACHEDGPU_COPY_IN | 1u << KVC_MEMCACHEDGPU_COPY_OUT,
     .speed_up = speed_pcie},
    {.name = "nic",
     .device = "nic",
     .stages = 1u << KVC_MEMCACHEDGPU_RX | 1u << KVC_MEMCACHEDGPU_TX,
     .speed_up = speed_nic},
    {.name = "network", .device = "network", .used = has_network, .speed_up = speed_network},
    {.name = NULL},
};
