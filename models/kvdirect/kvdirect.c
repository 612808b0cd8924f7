/* KV-Direct's entry in the registry. The design is that of Li et al., "KV-Direct: High-Performance In-Memory
 * Key-Value Store with Programmable NIC", SOSP 2017. */
#include "models/kvdirect/kvdirect.h"

#include "models/kvdirect/config.h"
#include "models/kvdirect/machine.h"
#include "models/kvdirect/predict.h"
#include "models/kvdirect/resources.h"
#include "models/kvdirect/run.h"
#include "models/kvdirect/store.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/pcie.h"
#include "sim/devices/fpga.h"
#include "sim/devices/nic.h"

static enum kvc_status prepare(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_kvdirect_store *store = NULL;
    enum kvc_status status = kvc_kvdirect_store_create(scenario, seed, progress, &store, diag);
    *state = store;
    return status;
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    struct kvc_kvdirect_machine machine;
    kvc_kvdirect_machine_open(&machine, scenario, platform);
    kvc_kvdirect_machine_close(&machine);
}

static const struct kvc_model_device devices[] = {
    {&kvc_pcie_kind, "catapult-pcie3-x8"}, {&kvc_fpga_kind, "catapult-stratix-v"},
    {&kvc_nic_kind, "catapult-40g"},       {&kvc_cpu_kind, "xeon-e5-2650v2"},
    {&kvc_dram_kind, "ddr3-1333-e5v2"},    {NULL, NULL},
};

/* Sockets have processors and memory; a NIC is one card with its FPGA, its ports and its PCIe links. */
static double device_count(const struct kvc_scenario *scenario, const struct kvc_device_kind *kind)
{
    bool of_socket = kind == &kvc_cpu_kind || kind == &kvc_dram_kind;
    return of_socket ? (double)scenario->node.sockets : kvc_kvdirect_config_of(scenario)->nics;
}

const struct kvc_model kvc_kvdirect_model = {
    .name = "kvdirect",
    .help =
        "programmable NICs that walk the host's hash table over PCIe: out-of-order engine, NIC DRAM as cache",
    .paper = "Li et al., SOSP 2017",
    .options = &kvc_kvdirect_option_table,
    .has_sockets = true,
    .devices = devices,
    .device_count = device_count,
    .config_bytes = sizeof(struct kvc_kvdirect_config),
    .resolve = kvc_kvdirect_resolve,
    .check = kvc_kvdirect_check,
    .memory_bytes = kvc_kvdirect_memory_bytes,
    .platform = platform,
    .stages = kvc_kvdirect_stages,
    .resources = kvc_kvdirect_resources,
    .predict = kvc_kvdirect_predict,
    .prepare = prepare,
    .run = kvc_kvdirect_run,
};
