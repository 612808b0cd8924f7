/* MemcachedGPU and GNoM, the design of Hetherington, O'Connor and Aamodt, "MemcachedGPU: Scaling-up Scale-out
 * Key-value Stores", SoCC 2015. */
#include "models/memcachedgpu/memcachedgpu.h"

#include "models/memcachedgpu/config.h"
#include "models/memcachedgpu/machine.h"
#include "models/memcachedgpu/predict.h"
#include "models/memcachedgpu/real/calibrate.h"
#include "models/memcachedgpu/real/measure.h"
#include "models/memcachedgpu/resources.h"
#include "models/memcachedgpu/run.h"
#include "models/memcachedgpu/store.h"
#include "sim/devices/network.h"

static enum kvc_status prepare(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_memcachedgpu_store *store = NULL;
    enum kvc_status status = kvc_memcachedgpu_store_create(scenario, seed, progress, &store, diag);
    *state = store;
    return status;
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    kvc_memcachedgpu_machine(scenario, platform, NULL);
}

static const struct kvc_model_device devices[] = {
    {&kvc_cpu_kind, "core-i7-4770k"},
    {&kvc_dram_kind, "ddr3-1600-i7-4770k"},
    {&kvc_gpu_kind, "tesla-k20c"},
    {&kvc_nic_kind, "x520-t2"},
    {&kvc_pcie_kind, "pcie2-x16-k20c"},
    {&kvc_network_kind, "direct-cable-10g"},
    {&kvc_memcachedgpu_cost_profile_kind, "memcachedgpu-costs-h200"},
    {NULL, NULL},
};

const struct kvc_model kvc_memcachedgpu_model = {
    .name = "memcachedgpu",
    .help = "UDP packets in GPU memory: one kernel parses, looks up and builds responses; the CPU moves "
            "pointers",
    .paper = "Hetherington et al., SoCC 2015",
    .options = &kvc_memcachedgpu_option_table,
    .devices = devices,
    .config_bytes = sizeof(struct kvc_memcachedgpu_config),
    .resolve = kvc_memcachedgpu_resolve,
    .check = kvc_memcachedgpu_check,
    .memory_bytes = kvc_memcachedgpu_memory_bytes,
    .platform = platform,
    .stages = kvc_memcachedgpu_stages,
    .resources = kvc_memcachedgpu_resources,
    .predict = kvc_memcachedgpu_predict,
    .prepare = prepare,
    .run = kvc_memcachedgpu_run,
    .measure_check = kvc_memcachedgpu_measure_check,
    .measure = kvc_memcachedgpu_measure,
    .calibrate = kvc_memcachedgpu_calibrate,
};
