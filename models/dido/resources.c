#include "models/dido/resources.h"

#include <string.h>

#include "models/dido/config.h"

uint32_t kvc_dido_stages_most(const struct kvc_scenario *scenario)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    bool more = config->adapts && config->pipeline.stages < KVC_DIDO_PLAN_STAGES_MAX;
    return more ? KVC_DIDO_PLAN_STAGES_MAX : config->pipeline.stages;
}

/* The first and the last stage of every plan are on the CPU. */
uint32_t kvc_dido_stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage)
{
    static const char *const names[KVC_DIDO_STAGES_MAX] = {"stage1", "stage2", "stage3", "stage4",
                                                           "stage5", "stage6", "stage7", "stage8"};
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    uint32_t count = kvc_dido_stages_most(scenario);
    for (uint32_t i = 0; i < count; i++) {
        bool on_gpu = config->adapts ? i > 0 && i < count - 1 : config->pipeline.stage[i].on_gpu;
        stage[i] = (struct kvc_model_stage){names[i], on_gpu ? "gpu" : "cpu", .servers = 1};
    }
    return count;
}

/* A pipeline that the closed form chose does not change. */
static void keep_pipeline(struct kvc_scenario *scenario)
{
    struct kvc_dido_options *options = scenario->options;
    kvc_dido_pipeline_print(&kvc_dido_config_of(scenario)->pipeline, options->pipeline,
                            sizeof(options->pipeline));
}

static bool has_link(const struct kvc_scenario *scenario)
{
    return kvc_dido_config_of(scenario)->pcie != NULL;
}

static void speed_cpu(struct kvc_scenario *scenario, double factor)
{
    struct kvc_dido_options *options = scenario->options;
    keep_pipeline(scenario);
    options->receive_cycles /= factor;
    options->send_cycles /= factor;
    kvc_cpu_speed_up(kvc_node_device(&scenario->node, &kvc_cpu_kind), factor);
}

static void speed_gpu(struct kvc_scenario *scenario, double factor)
{
    keep_pipeline(scenario);
    kvc_gpu_speed_up(kvc_node_device(&scenario->node, &kvc_gpu_kind), factor);
}

static void speed_dram(struct kvc_scenario *scenario, double factor)
{
    keep_pipeline(scenario);
    kvc_dram_speed_up(kvc_node_device(&scenario->node, &kvc_dram_kind), factor);
    if (has_link(scenario)) {
        struct kvc_pcie *pcie = kvc_node_device(&scenario->node, &kvc_pcie_kind);
        pcie->memory_ns /= factor;
    }
}

static void speed_pcie(struct kvc_scenario *scenario, double factor)
{
    keep_pipeline(scenario);
    kvc_pcie_speed_up(kvc_node_device(&scenario->node, &kvc_pcie_kind), factor);
}

static bool has_port(const struct kvc_scenario *scenario)
{
    return kvc_dido_config_of(scenario)->feed == KVC_DIDO_NETWORK;
}

static void speed_nic(struct kvc_scenario *scenario, double factor)
{
    keep_pipeline(scenario);
    kvc_nic_speed_up(kvc_node_device(&scenario->node, &kvc_nic_kind), factor);
}

const struct kvc_model_resource kvc_dido_resources[] = {
    {.name = "cpu", .device = "cpu", .stages = 1u << 0 | 1u << 2, .speed_up = speed_cpu},
    {.name = "gpu", .device = "gpu", .stages = 1u << 1, .speed_up = speed_gpu},
    {.name = "dram", .device = "dram", .stages = 1u << 0 | 1u << 1 | 1u << 2, .speed_up = speed_dram},
    {.name = "pcie", .device = "pcie", .stages = 1u << 1, .used = has_link, .speed_up = speed_pcie},
    {.name = "nic", .device = "nic", .stages = 1u << 0 | 1u << 2, .used = has_port, .speed_up = speed_nic},
    {.name = NULL},
};
