#include "models/dido/machine.h"

#include <stdio.h>

static uint32_t add(struct kvc_platform *platform, uint32_t zone, const char *name, const char *device,
                    double speed, const struct kvc_watts *watts)
{
    struct kvc_platform_host host = {
        .device = device, .cores = 1, .pstates = 1, .pstate = {{.speed = speed, .watts = *watts}}};
    snprintf(host.name, sizeof(host.name), "node0.%s", name);
    return kvc_platform_add_host(platform, zone, &host);
}

struct kvc_dido_machine kvc_dido_machine_add(const struct kvc_scenario *scenario,
                                             struct kvc_platform *platform)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    const struct kvc_cpu_pstate state = kvc_cpu_pstate(config->cpu, config->cpu_pstate);
    const struct kvc_gpu_clock *clock = &config->gpu->clocks[0];
    struct kvc_watts cpu = {0}, gpu = {0};
    const struct kvc_watts unknown = {0};
    if (kvc_cpu_has_watts(&state)) {
        cpu = (struct kvc_watts){state.idle_watts, state.all_cores_watts, state.all_cores_watts};
    }
    if (kvc_gpu_has_watts(clock)) {
        gpu = (struct kvc_watts){clock->idle_watts, clock->busy_watts, clock->busy_watts};
    }
    uint32_t zone = kvc_platform_add_zone(platform, "node0");
    struct kvc_dido_machine machine = {
        .cpu = add(platform, zone, "cpu", "cpu", (double)config->cpu->cores, &cpu),
        .gpu = add(platform, zone, "gpu", "gpu", 1, &gpu),
        .dram = add(platform, zone, "dram", "dram", kvc_dram_channels(config->dram), &unknown),
    };
    if (config->pcie != NULL) {
        machine.down = add(platform, zone, "pcie-down", "pcie", 1, &unknown);
        machine.up = add(platform, zone, "pcie-up", "pcie", 1, &unknown);
    }
    return machine;
}
