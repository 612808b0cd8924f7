/* DIDO, the design of Zhang, Hu, He and Hua, "DIDO: Dynamic Pipelines for In-Memory Key-Value Stores on
 * Coupled CPU-GPU Architectures", ICDE 2017. */
#include "models/dido/dido.h"

#include "models/dido/machine.h"
#include "models/dido/predict.h"
#include "models/dido/real/measure.h"
#include "models/dido/resources.h"
#include "models/dido/run.h"
#include "models/cuckoo_store/sizes.h"
#include "models/cuckoo_store/store.h"
#include "sim/base/array.h"
#include "sim/run/replica_memory.h"

/* Returns the mean size of an item [bytes]. The items of several phases fill the slabs. */
static double item_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    return workload->phase_count > 0
               ? config->slab_bytes
               : kvc_cuckoo_means_of(workload, config->dram, config->nic, false).item_bytes;
}

static double memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_cuckoo_store_params store = kvc_dido_store_params_of(scenario);
    struct kvc_result *predicted = kvc_array_of(1, sizeof(*predicted));
    struct kvc_diag unused = {0};
    double mops = kvc_dido_predict(scenario, predicted, &unused) == KVC_OK ? predicted->throughput_mops : 0;
    double window_ns = kvc_dido_window_ns(scenario);
    double writes = scenario->workload.set_frac * kvc_replica_requests(scenario, window_ns, mops);
    free(predicted);
    return kvc_cuckoo_store_memory_bytes(scenario, &store, item_bytes(scenario), writes) +
           kvc_dido_run_memory_bytes(scenario) + kvc_replica_memory_bytes(scenario, window_ns, 1);
}

static enum kvc_status prepare(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_cuckoo_store *store = NULL;
    enum kvc_status status = kvc_dido_store_create(scenario, seed, progress, &store, diag);
    *state = store;
    return status;
}

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    kvc_dido_machine_add(scenario, platform);
}

static const struct kvc_model_device devices[] = {
    {&kvc_cpu_kind, "a10-7850k"},
    {&kvc_dram_kind, "ddr3-1333-a10-7850k"},
    {&kvc_gpu_kind, "a10-7850k-gpu"},
    {&kvc_nic_kind, "intel-82599"},
    {&kvc_pcie_kind, NULL}, /* A GPU with memory of its own needs one. */
    {NULL, NULL},
};

const struct kvc_model kvc_dido_model = {
    .name = "dido",
    .help =
        "eight tasks of a query on the CPU and the GPU, on one chip or with PCIe between, placed anew as the "
        "load changes, with stealing between them",
    .paper = "Zhang et al., ICDE 2017",
    .options = &kvc_dido_option_table,
    .takes_phases = true,
    .devices = devices,
    .config_bytes = sizeof(struct kvc_dido_config),
    .resolve = kvc_dido_resolve,
    .check = kvc_dido_check,
    .memory_bytes = memory_bytes,
    .platform = platform,
    .stages = kvc_dido_stages,
    .resources = kvc_dido_resources,
    .predict = kvc_dido_predict,
    .prepare = prepare,
    .run = kvc_dido_run,
    .measure_check = kvc_dido_measure_check,
    .measure = kvc_dido_measure,
};
