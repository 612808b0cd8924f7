#include "sim/devices/socket.h"

#include <stdbool.h>
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

/* Adds a route over a link of one device and, if its rate is known, the root complex. */
static void add_route(const struct place *place, int32_t from, int32_t to, uint32_t link, int32_t root)
{
    uint32_t links[2] = {link, (uint32_t)root};
    kvc_platform_add_route(place->platform, (uint32_t)from, (uint32_t)to, links,
                           root == KVC_SOCKET_NONE ? 1 : 2);
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
    bool copies = gpu != NULL && dram != NULL && pcie != NULL && kvc_pcie_has_copies(pcie);
    int32_t root_in = KVC_SOCKET_NONE, root_out = KVC_SOCKET_NONE;
    if (cpu != NULL && cpu->root_bytes_per_s > 0 && (copies || nic != NULL)) {
        root_in = (int32_t)add_link(&place, "root-in", "root", cpu->root_bytes_per_s);
        root_out = (int32_t)add_link(&place, "root-out", "root", cpu->root_bytes_per_s);
    }
    if (copies) {
        socket.copy = add_end(&place, "copy", "copy");
        uint32_t down = add_link(&place, "pcie-down", "pcie", pcie->h2d_bytes_per_s),
                 up = add_link(&place, "pcie-up", "pcie", pcie->d2h_bytes_per_s);
        add_route(&place, socket.dram, socket.copy, down, root_out);
        add_route(&place, socket.copy, socket.dram, up, root_in);
    }
    if (nic != NULL) {
        double bytes_per_s = (double)nic->ports * nic->bytes_per_s;
        socket.nic = add_end(&place, "nic", "nic");
        socket.clients = add_end(&place, "clients", "clients");
        uint32_t rx = add_link(&place, "nic-rx", "nic", bytes_per_s),
                 tx = add_link(&place, "nic-tx", "nic", bytes_per_s);
        add_route(&place, socket.clients, socket.nic, rx, root_in);
        add_route(&place, socket.nic, socket.clients, tx, root_out);
    }
    return socket;
}
