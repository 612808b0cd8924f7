#include "sim/devices/socket.h"

#include <stdio.h>

#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

/* A socket under construction. */
struct place {
    struct kvc_platform *platform;
    uint32_t zone;
    const char *prefix;
};

static int32_t add_host(const struct place *place, const char *name, struct kvc_platform_host host)
{
    snprintf(host.name, sizeof(host.name), "%s.%s", place->prefix, name);
    return (int32_t)kvc_platform_add_host(place->platform, place->zone, &host);
}

static uint32_t add_link(const struct place *place, const char *name, const char *device, double bytes_per_s)
{
    struct kvc_platform_link link = {.device = device, .bytes_per_s = bytes_per_s};
    snprintf(link.name, sizeof(link.name), "%s.%s", place->prefix, name);
    return kvc_platform_add_link(place->platform, place->zone, &link);
}

/* A host that does nothing itself; transfers begin and end there. */
static int32_t add_end(const struct place *place, const char *name, const char *device)
{
    return add_host(
        place, name,
        (struct kvc_platform_host){.device = device, .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}});
}

static int32_t add_cpu(const struct place *place, const struct kvc_node *node, const struct kvc_cpu *cpu)
{
    struct kvc_platform_host host = {.device = "cpu",
                                     .cores = (uint32_t)cpu->cores,
                                     .pstates = kvc_cpu_pstate_count(cpu),
                                     .can_fail = true};
    kvc_cpu_pstate_of(node, &host.first_pstate, NULL); /* The loader has checked the clock. */
    for (uint32_t i = 0; i < host.pstates; i++) {
        struct kvc_cpu_pstate state = kvc_cpu_pstate(cpu, i);
        host.pstate[i].speed = kvc_cpu_pstate_speed(cpu, i);
        host.pstate[i].clock_hz = state.clock_hz;
        if (kvc_cpu_has_watts(&state)) {
            host.pstate[i].watts =
                (struct kvc_watts){state.idle_watts, state.one_core_watts, state.all_cores_watts};
        }
    }
    return add_host(place, "cpu", host);
}

/* The clock pair does not change the speed, because the times of kernels are those at the pair. */
static int32_t add_gpu(const struct place *place, const struct kvc_gpu *gpu, uint32_t gpu_clock)
{
    struct kvc_platform_host host = {.device = "gpu",
                                     .cores = 1,
                                     .pstates = gpu->clock_count > 0 ? gpu->clock_count : 1,
                                     .first_pstate = gpu_clock,
                                     .can_fail = true};
    for (uint32_t i = 0; i < host.pstates; i++) {
        const struct kvc_gpu_clock *clock = &gpu->clocks[i];
        host.pstate[i].speed = 1;
        host.pstate[i].clock_hz = i < gpu->clock_count ? clock->core_hz : 0;
        if (i < gpu->clock_count && kvc_gpu_has_watts(clock)) {
            host.pstate[i].watts =
                (struct kvc_watts){clock->idle_watts, clock->busy_watts, clock->busy_watts};
        }
    }
    return add_host(place, "gpu", host);
}

static void add_copies(const struct place *place, const struct kvc_pcie *pcie,
                       const struct kvc_socket *socket)
{
    uint32_t down[2], up[2], links = 1;
    down[0] = add_link(place, "pcie-down", "pcie", pcie->h2d_bytes_per_s);
    up[0] = add_link(place, "pcie-up", "pcie", pcie->d2h_bytes_per_s);
    if (pcie->root_bytes_per_s > 0) {
        down[links] = add_link(place, "root-down", "root", pcie->root_bytes_per_s);
        up[links++] = add_link(place, "root-up", "root", pcie->root_bytes_per_s);
    }
    kvc_platform_add_route(place->platform, (uint32_t)socket->dram, (uint32_t)socket->copy, down, links);
    kvc_platform_add_route(place->platform, (uint32_t)socket->copy, (uint32_t)socket->dram, up, links);
}

struct kvc_socket kvc_socket_add(struct kvc_platform *platform, uint32_t zone, const char *prefix,
                                 const struct kvc_node *node, uint32_t gpu_clock)
{
    const struct place place = {platform, zone, prefix};
    const struct kvc_cpu *cpu = kvc_cpu_of(node);
    const struct kvc_dram *dram = kvc_dram_of(node);
    const struct kvc_gpu *gpu = kvc_gpu_of(node);
    const struct kvc_nic *nic = kvc_nic_of(node);
    const struct kvc_pcie *pcie = kvc_pcie_of(node);
    struct kvc_socket socket = {KVC_SOCKET_NONE, KVC_SOCKET_NONE, KVC_SOCKET_NONE,
                                KVC_SOCKET_NONE, KVC_SOCKET_NONE, KVC_SOCKET_NONE};
    if (cpu != NULL) {
        socket.cpu = add_cpu(&place, node, cpu);
    }
    if (dram != NULL) {
        socket.dram = add_host(
            &place, "dram",
            (struct kvc_platform_host){
                .device = "dram", .cores = 1, .pstates = 1, .pstate = {{.speed = kvc_dram_channels(dram)}}});
    }
    if (gpu != NULL) {
        socket.gpu = add_gpu(&place, gpu, gpu_clock);
    }
    if (gpu != NULL && dram != NULL && pcie != NULL && kvc_pcie_has_copies(pcie)) {
        socket.copy = add_end(&place, "copy", "copy");
        add_copies(&place, pcie, &socket);
    }
    if (nic != NULL) {
        double bytes_per_s = (double)nic->ports * nic->bytes_per_s;
        socket.nic = add_end(&place, "nic", "nic");
        socket.clients = add_end(&place, "clients", "clients");
        uint32_t rx = add_link(&place, "nic-rx", "nic", bytes_per_s),
                 tx = add_link(&place, "nic-tx", "nic", bytes_per_s);
        kvc_platform_add_route(platform, (uint32_t)socket.clients, (uint32_t)socket.nic, &rx, 1);
        kvc_platform_add_route(platform, (uint32_t)socket.nic, (uint32_t)socket.clients, &tx, 1);
    }
    return socket;
}
