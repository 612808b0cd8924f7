/* Simulations for the tests of this folder. */
#ifndef KVC_MODELS_MEGAKV_RUN_FIXTURE_H
#define KVC_MODELS_MEGAKV_RUN_FIXTURE_H

#include "models/megakv/config.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* The devices of a Mega-KV node. */
struct kvc_test_devices {
    struct kvc_cpu cpu;
    struct kvc_dram dram;
    struct kvc_gpu gpu;
    struct kvc_nic nic;
    struct kvc_pcie pcie;
    struct kvc_megakv_cost_profile costs;
};

/* Gives the node these devices, which must outlive it. */
static inline void kvc_test_connect(struct kvc_node *node, struct kvc_test_devices *devices)
{
    const struct kvc_device list[] = {
        {&kvc_cpu_kind, &devices->cpu},   {&kvc_dram_kind, &devices->dram},
        {&kvc_gpu_kind, &devices->gpu},   {&kvc_nic_kind, &devices->nic},
        {&kvc_pcie_kind, &devices->pcie}, {&kvc_megakv_cost_profile_kind, &devices->costs},
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
        node->device[i] = list[i];
    }
}

/* Resolves the scenario's options into `config`, which the scenario then points to. A failure fails the test.
 */
void kvc_test_resolve(struct kvc_scenario *scenario, struct kvc_megakv_config *config);

/* Simulates in a child process, because a process can have only one engine. Returns the result, which the
 * caller frees. `timeline` is the file of a timeline; NULL: none. A failed simulation fails the test. */
struct kvc_result *kvc_test_simulate(const struct kvc_scenario *scenario, const char *timeline);

/* Resets the wall-clock times, which differ from run to run. */
void kvc_test_forget_wall(struct kvc_result *result);

/* Resets the values of devices, with their intervals. */
void kvc_test_forget_devices(struct kvc_result *result);

/* Returns a metric of the model or, failing that, of the kernels; NaN if there is none. */
double kvc_test_metric(const struct kvc_result *result, const char *name);

/* Returns a stage. A missing stage fails the test. */
const struct kvc_stage_result *kvc_test_stage(const struct kvc_result *result, const char *name);

#endif
