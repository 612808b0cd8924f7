/* Mega-KV, the design of Zhang et al., "A distributed in-memory key-value
 * store system on heterogeneous CPU-GPU cluster", VLDB J. 26(5), 2017. */
#include "models/megakv/megakv.h"

#include "models/megakv/config.h"
#include "models/megakv/cost_profile.h"
#include "models/megakv/machine.h"
#include "models/megakv/memory.h"
#include "models/megakv/predict.h"
#include "models/megakv/real/calibrate.h"
#include "models/megakv/real/measure.h"
#include "models/megakv/resources.h"
#include "models/megakv/run.h"
#include "models/cuckoo_store/store.h"
#include "sim/devices/cpu.h"
#include "sim/devices/database.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/network.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

static enum kvc_status prepare(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_cuckoo_store *store = NULL;
    enum kvc_status status = kvc_megakv_store_create(scenario, seed, progress, &store, diag);
    *state = store;
    return status;
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    kvc_megakv_machine(scenario, platform, NULL);
}

static const struct kvc_model_device devices[] = {
    {&kvc_cpu_kind, "xeon-e5-2650v2"},
    {&kvc_dram_kind, "ddr3-1600-e5v2"},
    {&kvc_gpu_kind, "tesla-k40c"},
    {&kvc_nic_kind, "xl710-2x40g"},
    {&kvc_pcie_kind, "pcie3-k40c"},
    {&kvc_network_kind, "direct-cable"},
    {&kvc_megakv_cost_profile_kind, "derived-costs"},
    {&kvc_database_kind, NULL},
    {NULL, NULL},
};

const struct kvc_model kvc_megakv_model = {
    .name = "megakv",
    .help = "CPU receivers and senders, cuckoo index on the GPU, periodic scheduling with delayed inserts",
    .paper = "Zhang et al., VLDB J. 26(5), 2017",
    .options = &kvc_megakv_option_table,
    .has_sockets = true,
    .has_rest_power = true,
    .takes_power = true,
    .devices = devices,
    .config_bytes = sizeof(struct kvc_megakv_config),
    .resolve = kvc_megakv_resolve,
    .check = kvc_megakv_check,
    .memory_bytes = kvc_megakv_memory_bytes,
    .platform = platform,
    .stages = kvc_megakv_stages,
    .resources = kvc_megakv_resources,
    .predict = kvc_megakv_predict,
    .forecast = kvc_megakv_forecast,
    .prepare = prepare,
    .run = kvc_megakv_run,
    .measure_check = kvc_megakv_measure_check,
    .measure = kvc_megakv_measure,
    .calibrate = kvc_megakv_calibrate,
};
