#include "sim/devices/socket.h"

#include <stdbool.h>

#include "sim/devices/cpu.h"
#include "sim/devices/database.h"
#include "sim/devices/dram.h"
#include "sim/devices/flash/flash.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

/* A socket under construction. */
struct place {
    struct kvc_platform *platform;
    uint32_t zone;
    const char *prefix;
};

static int32_t add_host(const struct place *place, const char *name, struct kvc_platform_host *host)
{
    kvc_platform_set_name(host->name, place->prefix, name);
    return (int32_t)kvc_platform_add_host(place->platform, place->zone, host);
}

static uint32_t add_link(const struct place *place, const char *name, struct kvc_platform_link link)
{
    kvc_platform_set_name(link.name, place->prefix, name);
    return kvc_platform_add_link(place->platform, place->zone, &link);
}

/* A host that does nothing itself; transfers begin and end there. */
static int32_t add_end(const struct place *place, const char *name, const char *device)
{
    return add_host(
        place, name,
        &(struct kvc_platform_host){.device = device, .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}});
}

/* Turns a host into one whose cores work as one, and which stays in its first state if it is fixed. */
static void unite(struct kvc_platform_host *host, bool is_fixed)
{
    if (is_fixed) {
        host->pstate[0] = host->pstate[host->first_pstate];
        host->pstate[0].clock_hz = 0;
        host->pstates = 1;
        host->first_pstate = 0;
    }
    for (uint32_t i = 0; i < host->pstates; i++) {
        host->pstate[i].speed *= host->cores;
        host->pstate[i].watts.one_w = host->pstate[i].watts.all_w;
    }
    host->cores = 1;
    host->can_fail = false;
}

static int32_t add_cpu(const struct place *place, const struct kvc_node *node, const struct kvc_cpu *cpu,
                       const struct kvc_socket_use *use)
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
            double all_w = state.all_cores_watts;
            host.pstate[i].watts = use->cpu_polls
                                       ? (struct kvc_watts){all_w, all_w, all_w}
                                       : (struct kvc_watts){state.idle_watts, state.one_core_watts, all_w};
        }
    }
    if (use->is_one) {
        unite(&host, use->is_fixed);
        host.can_fail = use->cores_fail;
    }
    return add_host(place, "cpu", &host);
}

/* The clock pair does not change the speed, because the times of kernels are those at the pair. */
static int32_t add_gpu(const struct place *place, const struct kvc_gpu *gpu, const struct kvc_socket_use *use)
{
    struct kvc_platform_host host = {.device = "gpu",
                                     .cores = 1,
                                     .pstates = gpu->clock_count > 0 ? gpu->clock_count : 1,
                                     .first_pstate = use->gpu_clock,
                                     .can_fail = true};
    for (uint32_t i = 0; i < host.pstates; i++) {
        const struct kvc_gpu_clock *clock = &gpu->clocks[i];
        host.pstate[i].speed = 1;
        host.pstate[i].clock_hz = i < gpu->clock_count ? clock->core_hz : 0;
        if (i < gpu->clock_count && kvc_gpu_has_watts(clock)) {
            double busy_w = clock->busy_watts;
            host.pstate[i].watts =
                (struct kvc_watts){use->gpu_serves ? busy_w : clock->idle_watts, busy_w, busy_w};
        }
    }
    if (use->is_one) {
        unite(&host, use->is_fixed);
        host.can_fail = use->gpu_fails;
    }
    return add_host(place, "gpu", &host);
}

/* Adds the route of frames that the NIC writes into the memory of the card. */
static void add_peer_route(const struct place *place, const struct kvc_socket *socket, uint32_t rx,
                           uint32_t to_card, const uint32_t *root)
{
    uint32_t links[4] = {rx, to_card}, count = 2;
    if (root != NULL) {
        links[1] = root[1];
        links[2] = root[0];
        links[3] = to_card;
        count = 4;
    }
    kvc_platform_add_route(place->platform, (uint32_t)socket->clients, (uint32_t)socket->copy, links, count);
}

/* Adds the routes from memory to a host and back. Each crosses the root complex, if its rate is known, and a
 * link of the device. */
static void add_routes(const struct place *place, int32_t dram, int32_t end, uint32_t to_end,
                       uint32_t to_dram, const uint32_t *root)
{
    uint32_t out[2] = {to_end, to_end}, in[2] = {to_dram, to_dram}, links = 1;
    if (root != NULL) {
        out[0] = root[0];
        in[1] = root[1];
        links = 2;
    }
    kvc_platform_add_route(place->platform, (uint32_t)dram, (uint32_t)end, out, links);
    kvc_platform_add_route(place->platform, (uint32_t)end, (uint32_t)dram, in, links);
}

struct kvc_socket kvc_socket_add(struct kvc_platform *platform, uint32_t zone, const char *prefix,
                                 const struct kvc_node *node, struct kvc_socket_use use)
{
    const struct place place = {platform, zone, prefix};
    const struct kvc_cpu *cpu = kvc_cpu_of(node);
    const struct kvc_dram *dram = kvc_dram_of(node);
    const struct kvc_gpu *gpu = kvc_gpu_of(node);
    const struct kvc_nic *nic = kvc_nic_of(node);
    const struct kvc_pcie *pcie = kvc_pcie_of(node);
    struct kvc_socket socket = {KVC_SOCKET_NONE, KVC_SOCKET_NONE, KVC_SOCKET_NONE,
                                KVC_SOCKET_NONE, KVC_SOCKET_NONE, KVC_SOCKET_NONE,
                                KVC_SOCKET_NONE, KVC_SOCKET_NONE, KVC_SOCKET_NONE};
    if (cpu != NULL) {
        socket.cpu = add_cpu(&place, node, cpu, &use);
    }
    if (dram != NULL) {
        socket.dram = add_host(&place, "dram",
                               &(struct kvc_platform_host){.device = "dram",
                                                           .cores = 1,
                                                           .pstates = 1,
                                                           .pstate = {{.speed = kvc_dram_channels(dram),
                                                                       .watts = kvc_dram_watts(dram)}},
                                                           .is_metered_elsewhere = dram->busy_watts == 0});
    }
    const struct kvc_dram *cxl = kvc_cxl_of(node);
    if (cxl != NULL) {
        socket.cxl =
            add_host(&place, "cxl",
                     &(struct kvc_platform_host){.device = "cxl",
                                                 .cores = 1,
                                                 .pstates = 1,
                                                 .pstate = {{.speed = 1, .watts = kvc_dram_watts(cxl)}},
                                                 .is_metered_elsewhere = cxl->busy_watts == 0});
    }
    if (gpu != NULL) {
        socket.gpu = add_gpu(&place, gpu, &use);
    }
    bool copies = (gpu != NULL || use.copies) && dram != NULL && pcie != NULL && kvc_pcie_has_copies(pcie);
    bool frames = nic != NULL && dram != NULL;
    uint32_t both[2], *root = NULL;
    if (cpu != NULL && cpu->root_bytes_per_s > 0 && (copies || frames)) {
        const struct kvc_platform_link link = {.device = "root", .bytes_per_s = cpu->root_bytes_per_s};
        both[0] = add_link(&place, "root-out", link);
        both[1] = add_link(&place, "root-in", link);
        root = both;
    }
    uint32_t pcie_down = 0;
    if (copies) {
        socket.copy = add_end(&place, "copy", "copy");
        struct kvc_platform_link down = {.device = "pcie", .bytes_per_s = pcie->h2d_bytes_per_s},
                                 up = {.device = "pcie", .bytes_per_s = pcie->d2h_bytes_per_s};
        pcie_down = add_link(&place, "pcie-down", down);
        add_routes(&place, socket.dram, socket.copy, pcie_down, add_link(&place, "pcie-up", up), root);
    }
    if (frames) {
        const struct kvc_platform_link port = kvc_nic_port(nic);
        socket.clients = add_end(&place, "clients", "clients");
        uint32_t tx = add_link(&place, "nic-tx", port), rx = add_link(&place, "nic-rx", port);
        socket.nic_rx = (int32_t)rx;
        add_routes(&place, socket.dram, socket.clients, tx, rx, root);
        if (copies) {
            add_peer_route(&place, &socket, rx, pcie_down, root);
        }
    }
    if (kvc_database_of(node) != NULL) {
        socket.database = add_end(&place, "database", "database");
    }
    const struct kvc_flash *flash = kvc_flash_of(node);
    if (flash != NULL) {
        socket.flash =
            add_host(&place, "flash",
                     &(struct kvc_platform_host){.device = "flash",
                                                 .cores = 1,
                                                 .pstates = 1,
                                                 .pstate = {{.speed = 1, .watts = kvc_flash_watts(flash)}}});
    }
    return socket;
}

void kvc_socket_begin(struct kvc_platform *platform, const struct kvc_node *node, uint32_t number,
                      uint32_t *zone, char prefix[KVC_PLATFORM_NAME_MAX / 2])
{
    uint32_t sockets = (uint32_t)node->sockets, of_node = number / sockets, socket = number % sockets;
    snprintf(prefix, KVC_PLATFORM_NAME_MAX / 2, "node%u", of_node);
    double watts = node->rest_watts;
    if (socket == 0) {
        *zone = kvc_platform_add_zone(platform, prefix);
    }
    if (socket == 0 && watts > 0) {
        const struct place place = {platform, *zone, prefix};
        add_host(&place, "rest",
                 &(struct kvc_platform_host){.device = "rest",
                                             .cores = 1,
                                             .pstates = 1,
                                             .pstate = {{.speed = 1, .watts = {watts, watts, watts}}}});
    }
    snprintf(prefix, KVC_PLATFORM_NAME_MAX / 2, "node%u.socket%u", of_node, socket);
}
