#include "models/kvdirect/machine.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"

/* Adds a host whose power is part of the server's, where that is known. */
static uint32_t add_host(struct kvc_kvdirect_machine *machine, uint32_t zone, const char *prefix,
                         const char *name, const char *device, uint32_t cores, double speed,
                         bool server_is_metered)
{
    struct kvc_platform_host host = {.device = device,
                                     .cores = cores,
                                     .pstates = 1,
                                     .pstate = {{.speed = speed}},
                                     .is_metered_elsewhere = server_is_metered};
    kvc_platform_set_name(host.name, prefix, name);
    return kvc_platform_add_host(machine->platform, zone, &host);
}

/* Adds a host with power. */
static uint32_t add_powered(struct kvc_kvdirect_machine *machine, uint32_t zone, const char *prefix,
                            const char *name, const char *device, bool can_fail, double idle_w, double busy_w)
{
    struct kvc_platform_host host = {.device = device,
                                     .cores = 1,
                                     .pstates = 1,
                                     .pstate = {{.speed = 1, .watts = {idle_w, busy_w, busy_w}}},
                                     .can_fail = can_fail};
    kvc_platform_set_name(host.name, prefix, name);
    return kvc_platform_add_host(machine->platform, zone, &host);
}

static uint32_t add_link(struct kvc_kvdirect_machine *machine, uint32_t zone, const char *prefix,
                         const char *name, const char *device, double bytes_per_s)
{
    struct kvc_platform_link link = {.device = device, .bytes_per_s = bytes_per_s};
    kvc_platform_set_name(link.name, prefix, name);
    return kvc_platform_add_link(machine->platform, zone, &link);
}

/* Links of a node while it is built: of each socket's root complex, and from each socket to each other one.
 */
struct node_links {
    uint32_t root_up[KVC_KVDIRECT_SOCKETS_MAX], root_down[KVC_KVDIRECT_SOCKETS_MAX];
    uint32_t between[KVC_KVDIRECT_SOCKETS_MAX][KVC_KVDIRECT_SOCKETS_MAX];
};

static void add_sockets(struct kvc_kvdirect_machine *machine, const struct kvc_scenario *scenario,
                        uint32_t node, uint32_t zone, struct node_links *links)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_dram *dram = kvc_dram_of(&scenario->node);
    const struct kvc_cpu *cpu = kvc_cpu_of(&scenario->node);
    const struct kvc_pcie *pcie = config->card.pcie;
    double lane_bytes_per_s = kvc_pcie_link_bytes_per_s(pcie) / (double)pcie->lanes;
    char prefix[KVC_PLATFORM_NAME_MAX / 2], name[KVC_PLATFORM_NAME_MAX / 2];
    for (uint32_t s = 0; s < machine->sockets; s++) {
        uint32_t number = node * machine->sockets + s;
        snprintf(prefix, sizeof(prefix), "node%u.socket%u", node, s);
        machine->cpu[number] =
            add_host(machine, zone, prefix, "cpu", "cpu", (uint32_t)cpu->cores, 1, config->idle_w > 0);
        machine->dram[number] =
            add_host(machine, zone, prefix, "dram", "dram", 1, kvc_dram_channels(dram), config->idle_w > 0);
        if (s < machine->nics) { /* A root complex without a NIC is of no use. */
            double root_bytes_per_s = config->socket_lanes * lane_bytes_per_s;
            links->root_up[s] = add_link(machine, zone, prefix, "root-up", "root", root_bytes_per_s);
            links->root_down[s] = add_link(machine, zone, prefix, "root-down", "root", root_bytes_per_s);
        }
        for (uint32_t to = 0; to < machine->sockets; to++) {
            if (to != s && (s < machine->nics || to < machine->nics)) {
                snprintf(name, sizeof(name), "to-socket%u", to);
                links->between[s][to] =
                    add_link(machine, zone, prefix, name, "socket", config->socket_bytes_per_s);
            }
        }
    }
}

/* Adds the ports of a NIC. Their power, if it is stated apart from the card's, is half of the NIC's in each
 * direction. */
static void add_ports(struct kvc_kvdirect_machine *machine, const struct kvc_nic *nic, uint32_t zone,
                      const char *prefix, uint32_t clients, uint32_t port)
{
    static const char *const names[] = {"rx", "tx"};
    uint32_t added[2];
    for (int i = 0; i < 2; i++) {
        struct kvc_platform_link link = kvc_nic_port(nic);
        kvc_platform_set_name(link.name, prefix, names[i]);
        added[i] = kvc_platform_add_link(machine->platform, zone, &link);
    }
    kvc_platform_add_route(machine->platform, clients, port, &added[0], 1);
    kvc_platform_add_route(machine->platform, port, clients, &added[1], 1);
}

static void add_nic(struct kvc_kvdirect_machine *machine, const struct kvc_scenario *scenario, uint32_t node,
                    uint32_t nic, uint32_t zone, const struct node_links *links)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_pcie *pcie = config->card.pcie;
    const struct kvc_fpga *fpga = config->card.fpga;
    double bytes_per_s = (double)pcie->endpoints * kvc_pcie_link_bytes_per_s(pcie);
    uint32_t number = node * machine->nics + nic, here = nic % machine->sockets;
    char prefix[KVC_PLATFORM_NAME_MAX / 2];
    snprintf(prefix, sizeof(prefix), "node%u.nic%u", node, nic);
    /* The power of an idle card is not published. */
    machine->card[number] =
        add_powered(machine, zone, prefix, "card", "fpga", true, fpga->power_w, fpga->power_w);
    uint32_t port = machine->port[number] = add_host(machine, zone, prefix, "port", "nic", 1, 1, true);
    add_ports(machine, config->card.nic, zone, prefix, machine->clients[node], port);
    uint32_t up = add_link(machine, zone, prefix, "pcie-up", "pcie", bytes_per_s);
    uint32_t down = add_link(machine, zone, prefix, "pcie-down", "pcie", bytes_per_s);
    for (uint32_t s = 0; s < machine->sockets; s++) {
        uint32_t dram = machine->dram[node * machine->sockets + s];
        uint32_t to[] = {up, links->root_up[here], links->between[here][s]};
        uint32_t from[] = {links->between[s][here], links->root_down[here], down};
        bool other = s != here;
        kvc_platform_add_route(machine->platform, port, dram, to, other ? 3 : 2);
        kvc_platform_add_route(machine->platform, dram, port, other ? from : from + 1, other ? 3 : 2);
    }
}

void kvc_kvdirect_machine_open(struct kvc_kvdirect_machine *machine, const struct kvc_scenario *scenario,
                               struct kvc_platform *platform)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    uint32_t nodes = (uint32_t)scenario->cluster.nodes;
    *machine = (struct kvc_kvdirect_machine){
        .platform = platform, .nics = config->nics, .sockets = (uint32_t)scenario->node.sockets};
    machine->cpu = kvc_array_of((size_t)nodes * machine->sockets, sizeof(*machine->cpu));
    machine->dram = kvc_array_of((size_t)nodes * machine->sockets, sizeof(*machine->dram));
    machine->card = kvc_array_of((size_t)nodes * machine->nics, sizeof(*machine->card));
    machine->port = kvc_array_of((size_t)nodes * machine->nics, sizeof(*machine->port));
    machine->clients = kvc_array_of(nodes, sizeof(*machine->clients));
    for (uint32_t node = 0; node < nodes; node++) {
        struct node_links links = {0};
        char name[KVC_PLATFORM_NAME_MAX];
        snprintf(name, sizeof(name), "node%u", node);
        uint32_t zone = kvc_platform_add_zone(machine->platform, name);
        if (config->idle_w > 0) {
            add_powered(machine, zone, name, "base", "server", false, config->idle_w, config->idle_w);
        }
        machine->clients[node] = add_host(machine, zone, name, "clients", "clients", 1, 1, true);
        add_sockets(machine, scenario, node, zone, &links);
        for (uint32_t nic = 0; nic < machine->nics; nic++) {
            add_nic(machine, scenario, node, nic, zone, &links);
        }
    }
}

void kvc_kvdirect_machine_close(struct kvc_kvdirect_machine *machine)
{
    free(machine->cpu);
    free(machine->dram);
    free(machine->card);
    free(machine->port);
    free(machine->clients);
}
