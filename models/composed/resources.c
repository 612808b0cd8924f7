#include "models/composed/resources.h"

#include <stddef.h>

uint32_t kvc_composed_stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_pool *pool = &config->pool[config->stage[i].pool];
        double servers =
            pool->takes_all ? 1 : (double)pool->servers * (pool->of_node ? 1 : config->pipelines);
        stage[i] = (struct kvc_model_stage){.name = config->stage[i].options->name,
                                            .device = kvc_composed_device(config->stage[i].place),
                                            .servers = servers * config->shards};
    }
    return config->stages;
}

/* Returns a bit for each stage on one of two places. */
static unsigned stages_on(const struct kvc_scenario *scenario, enum kvc_composed_place place,
                          enum kvc_composed_place other)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    unsigned stages = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        bool on = config->stage[i].place == place || config->stage[i].place == other;
        stages |= on ? 1u << i : 0;
    }
    return stages;
}

static unsigned on_cpu(const struct kvc_scenario *scenario)
{
    return stages_on(scenario, KVC_COMPOSED_CPU, KVC_COMPOSED_CPU);
}

static unsigned on_card_cpu(const struct kvc_scenario *scenario)
{
    return stages_on(scenario, KVC_COMPOSED_CARD_CPU, KVC_COMPOSED_CARD_CPU);
}

static unsigned on_card(const struct kvc_scenario *scenario)
{
    return stages_on(scenario, KVC_COMPOSED_CARD_CPU, KVC_COMPOSED_FPGA);
}

/* Returns a bit for each stage that uses the memory behind CXL. */
static unsigned on_cxl(const struct kvc_scenario *scenario)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    unsigned stages = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        bool index, values;
        kvc_composed_find_far(config, &config->stage[i], &index, &values);
        stages |= index || values ? 1u << i : 0;
    }
    return stages;
}

static unsigned on_gpu(const struct kvc_scenario *scenario)
{
    return stages_on(scenario, KVC_COMPOSED_GPU, KVC_COMPOSED_GPU);
}

static unsigned on_fpga(const struct kvc_scenario *scenario)
{
    return stages_on(scenario, KVC_COMPOSED_FPGA, KVC_COMPOSED_FPGA);
}

static unsigned on_nic(const struct kvc_scenario *scenario)
{
    return stages_on(scenario, KVC_COMPOSED_NIC_RX, KVC_COMPOSED_NIC_TX) |
           stages_on(scenario, KVC_COMPOSED_NODE, KVC_COMPOSED_NODE);
}

/* Returns a bit for each stage of an FPGA that reads host memory. */
static unsigned reads_host(const struct kvc_scenario *scenario)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    unsigned stages = on_fpga(scenario);
    for (uint32_t i = 0; i < config->stages; i++) {
        stages &= kvc_composed_memory_of(config, i) == KVC_COMPOSED_IN_HOST ? ~0u : ~(1u << i);
    }
    return stages;
}

static unsigned on_pcie(const struct kvc_scenario *scenario)
{
    return stages_on(scenario, KVC_COMPOSED_PCIE_DOWN, KVC_COMPOSED_PCIE_UP) | reads_host(scenario);
}

static unsigned on_database(const struct kvc_scenario *scenario)
{
    return stages_on(scenario, KVC_COMPOSED_DATABASE, KVC_COMPOSED_DATABASE);
}

static unsigned on_flash(const struct kvc_scenario *scenario)
{
    return stages_on(scenario, KVC_COMPOSED_FLASH, KVC_COMPOSED_FLASH);
}

/* Makes what stages on a device state as times, or as cycles of a stated clock, faster. */
static void speed_stages(struct kvc_composed_options *options, int place, double factor)
{
    for (uint32_t i = 0; i < options->stage_count; i++) {
        struct kvc_composed_stage_options *stage = &options->stage[i];
        if (stage->on != place) {
            continue;
        }
        stage->own.ns /= factor;
        stage->own.cycles /= kvc_composed_has_cores((enum kvc_composed_place)place) ? factor : 1;
        for (uint32_t j = 0; j < stage->curve_count; j++) {
            stage->curve[j].ns /= factor;
        }
        for (uint32_t j = 0; j < stage->work_count; j++) {
            stage->work[j].ns /= factor;
            stage->work[j].cycles /= kvc_composed_has_cores((enum kvc_composed_place)place) ? factor : 1;
        }
    }
}

static void speed_cpu(struct kvc_scenario *scenario, double factor)
{
    kvc_cpu_speed_up(kvc_node_device(&scenario->node, &kvc_cpu_kind), factor);
    speed_stages(scenario->options, KVC_COMPOSED_CPU, factor);
}

static void speed_memory(struct kvc_scenario *scenario, double factor)
{
    kvc_dram_speed_up(kvc_node_device(&scenario->node, &kvc_dram_kind), factor);
}

static void speed_cxl(struct kvc_scenario *scenario, double factor)
{
    kvc_dram_speed_up(kvc_node_device(&scenario->node, &kvc_cxl_kind), factor);
}

static void speed_card_cpu(struct kvc_scenario *scenario, double factor)
{
    kvc_cpu_speed_up(kvc_node_device(&scenario->node, &kvc_card_cpu_kind), factor);
    speed_stages(scenario->options, KVC_COMPOSED_CARD_CPU, factor);
}

static void speed_card_memory(struct kvc_scenario *scenario, double factor)
{
    struct kvc_dram *dram = kvc_node_device(&scenario->node, &kvc_card_dram_kind);
    struct kvc_fpga *fpga = kvc_node_device(&scenario->node, &kvc_fpga_kind);
    if (dram != NULL) {
        kvc_dram_speed_up(dram, factor);
    }
    if (fpga != NULL) {
        fpga->dram_bytes_per_s *= factor;
        fpga->dram_ns /= factor;
    }
}

static void speed_gpu(struct kvc_scenario *scenario, double factor)
{
    kvc_gpu_speed_up(kvc_node_device(&scenario->node, &kvc_gpu_kind), factor);
    speed_stages(scenario->options, KVC_COMPOSED_GPU, factor);
}

static void speed_fpga(struct kvc_scenario *scenario, double factor)
{
    struct kvc_fpga *fpga = kvc_node_device(&scenario->node, &kvc_fpga_kind);
    fpga->clock_hz *= factor;
    speed_stages(scenario->options, KVC_COMPOSED_FPGA, factor);
}

static void speed_nic(struct kvc_scenario *scenario, double factor)
{
    kvc_nic_speed_up(kvc_node_device(&scenario->node, &kvc_nic_kind), factor);
}

static void speed_pcie(struct kvc_scenario *scenario, double factor)
{
    struct kvc_cpu *cpu = kvc_node_device(&scenario->node, &kvc_cpu_kind);
    kvc_pcie_speed_up(kvc_node_device(&scenario->node, &kvc_pcie_kind), factor);
    cpu->root_bytes_per_s *= factor;
}

static void speed_database(struct kvc_scenario *scenario, double factor)
{
    kvc_database_speed_up(kvc_node_device(&scenario->node, &kvc_database_kind), factor);
}

static void speed_flash(struct kvc_scenario *scenario, double factor)
{
    kvc_flash_speed_up(kvc_node_device(&scenario->node, &kvc_flash_kind), factor);
}

const struct kvc_model_resource kvc_composed_resources[] = {
    {.name = "cpu", .device = "cpu", .stages_of = on_cpu, .speed_up = speed_cpu},
    {.name = "host-memory", .device = "dram", .stages_of = on_cpu, .speed_up = speed_memory},
    {.name = "cxl-memory", .device = "cxl", .stages_of = on_cxl, .speed_up = speed_cxl},
    {.name = "gpu", .device = "gpu", .stages_of = on_gpu, .speed_up = speed_gpu},
    {.name = "fpga", .device = "fpga", .stages_of = on_fpga, .speed_up = speed_fpga},
    {.name = "card-cores", .device = "card_cpu", .stages_of = on_card_cpu, .speed_up = speed_card_cpu},
    {.name = "card-memory", .device = "card_dram", .stages_of = on_card, .speed_up = speed_card_memory},
    {.name = "ports", .device = "nic", .stages_of = on_nic, .speed_up = speed_nic},
    {.name = "pcie", .device = "pcie", .stages_of = on_pcie, .speed_up = speed_pcie},
    {.name = "database", .device = "database", .stages_of = on_database, .speed_up = speed_database},
    {.name = "flash", .device = "flash", .stages_of = on_flash, .speed_up = speed_flash},
    {.name = NULL},
};
