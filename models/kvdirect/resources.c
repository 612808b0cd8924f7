#include "models/kvdirect/resources.h"

#include <string.h>

#include "models/kvdirect/config.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"

uint32_t kvc_kvdirect_stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    double nics = config->shards;
    const struct kvc_model_stage list[] = {
        [KVC_KVDIRECT_AT_RECEIVE] = {"receive", "nic", nics},
        [KVC_KVDIRECT_AT_DECODE] = {"decode", "fpga", nics},
        [KVC_KVDIRECT_AT_ACCESS] = {"access", "fpga", nics},
        [KVC_KVDIRECT_AT_PCIE] = {"pcie", "pcie", nics},
        [KVC_KVDIRECT_AT_MEMORY] = {"memory", "dram", nics},
        [KVC_KVDIRECT_AT_GATHER] = {"gather", "cpu", config->gather_cores > 0 ? nics : 0},
        [KVC_KVDIRECT_AT_DRAM] = {"dram", "fpga", nics},
        [KVC_KVDIRECT_AT_LAMBDA] = {"lambda", "fpga",
                                    kvc_kvdirect_update_has_vectors(config->update) ? nics : 0},
        [KVC_KVDIRECT_AT_DAEMON] = {"daemon", "cpu", nics, .if_busy = true},
        [KVC_KVDIRECT_AT_SEND] = {"send", "nic", nics},
    };
    memcpy(stage, list, sizeof(list));
    return KVC_KVDIRECT_STAGES;
}

/* Keeps what "auto" derived from the speed of the original's devices. Otherwise the dispatch ratio that
 * balances PCIe and the NIC's memory would move, and the gain would belong to a different cache. */
static void keep_options(struct kvc_scenario *scenario)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    struct kvc_kvdirect_options *options = scenario->options;
    options->dispatch_frac = config->dispatch_frac;
    options->lambda_units = config->lambda_units;
}

static void speed_clock(struct kvc_scenario *scenario, double factor)
{
    struct kvc_fpga *fpga = kvc_node_device(&scenario->node, &kvc_fpga_kind);
    keep_options(scenario);
    fpga->clock_hz *= factor;
}

static void speed_pcie(struct kvc_scenario *scenario, double factor)
{
    keep_options(scenario);
    kvc_pcie_speed_up(kvc_node_device(&scenario->node, &kvc_pcie_kind), factor);
}

static bool caches(const struct kvc_scenario *scenario)
{
    return kvc_kvdirect_config_of(scenario)->dispatch_frac > 0;
}

static void speed_nic_dram(struct kvc_scenario *scenario, double factor)
{
    struct kvc_fpga *fpga = kvc_node_device(&scenario->node, &kvc_fpga_kind);
    keep_options(scenario);
    fpga->dram_bytes_per_s *= factor;
    fpga->dram_ns /= factor;
}

static void speed_host_dram(struct kvc_scenario *scenario, double factor)
{
    struct kvc_pcie *pcie = kvc_node_device(&scenario->node, &kvc_pcie_kind);
    keep_options(scenario);
    kvc_dram_speed_up(kvc_node_device(&scenario->node, &kvc_dram_kind), factor);
    pcie->memory_ns /= factor;
}

static bool crosses_sockets(const struct kvc_scenario *scenario)
{
    return scenario->node.sockets > 1 &&
           kvc_kvdirect_config_of(scenario)->placement == KVC_KVDIRECT_INTERLEAVED;
}

static void speed_sockets(struct kvc_scenario *scenario, double factor)
{
    struct kvc_kvdirect_options *options = scenario->options;
    keep_options(scenario);
    options->socket_bytes_per_s *= factor;
}

static void speed_cpu(struct kvc_scenario *scenario, double factor)
{
    struct kvc_kvdirect_options *options = scenario->options;
    struct kvc_pcie *pcie = kvc_node_device(&scenario->node, &kvc_pcie_kind);
    keep_options(scenario);
    options->splits_per_s *= factor;
    options->merges_per_s *= factor;
    pcie->core_reads_per_s *= factor;
}

static void speed_nic(struct kvc_scenario *scenario, double factor)
{
    keep_options(scenario);
    kvc_nic_speed_up(kvc_node_device(&scenario->node, &kvc_nic_kind), factor);
}

const struct kvc_model_resource kvc_kvdirect_resources[] = {
    {.name = "clock",
     .device = "fpga",
     .stages = 1u << KVC_KVDIRECT_AT_DECODE | 1u << KVC_KVDIRECT_AT_ACCESS | 1u << KVC_KVDIRECT_AT_LAMBDA,
     .speed_up = speed_clock},
    {.name = "pcie", .device = "pcie", .stages = 1u << KVC_KVDIRECT_AT_PCIE, .speed_up = speed_pcie},
    {.name = "nic-dram",
     .device = "fpga",
     .stages = 1u << KVC_KVDIRECT_AT_DRAM,
     .used = caches,
     .speed_up = speed_nic_dram},
    {.name = "host-dram",
     .device = "dram",
     .stages = 1u << KVC_KVDIRECT_AT_MEMORY | 1u << KVC_KVDIRECT_AT_PCIE,
     .speed_up = speed_host_dram},
    {.name = "sockets",
     .device = "socket",
     .stages = 1u << KVC_KVDIRECT_AT_MEMORY | 1u << KVC_KVDIRECT_AT_PCIE,
     .used = crosses_sockets,
     .speed_up = speed_sockets},
    {.name = "cpu",
     .device = "cpu",
     .stages = 1u << KVC_KVDIRECT_AT_GATHER | 1u << KVC_KVDIRECT_AT_DAEMON,
     .speed_up = speed_cpu},
    {.name = "nic",
     .device = "nic",
     .stages = 1u << KVC_KVDIRECT_AT_RECEIVE | 1u << KVC_KVDIRECT_AT_SEND,
     .speed_up = speed_nic},
    {.name = NULL},
};
