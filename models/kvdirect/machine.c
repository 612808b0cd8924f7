#include "models/kvdirect/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/devices/cpu.h"

_Static_assert((int)KVC_KVDIRECT_SOCKETS_MAX <= (int)KVC_DRAWS_MAX,
               "an activity draws from the memory of all sockets");

static uint32_t add_host(struct kvc_kvdirect_machine *machine, uint32_t zone, const char *name,
                         const char *device, uint32_t cores, double speed, double watts)
{
    struct kvc_platform_host host = {.device = device,
                                     .cores = cores,
                                     .pstates = 1,
                                     .pstate = {{.speed = speed, .watts = {watts, watts, watts}}}};
    snprintf(host.name, sizeof(host.name), "%s", name);
    return kvc_platform_add_host(machine->platform, zone, &host);
}

static uint32_t add_link(struct kvc_kvdirect_machine *machine, uint32_t zone, const char *name,
                         const char *device, double bytes_per_s)
{
    struct kvc_platform_link link = {.device = device, .bytes_per_s = bytes_per_s};
    snprintf(link.name, sizeof(link.name), "%s", name);
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
    char name[KVC_PLATFORM_NAME_MAX];
    for (uint32_t s = 0; s < machine->sockets; s++) {
        uint32_t number = node * machine->sockets + s;
        snprintf(name, sizeof(name), "node%u.socket%u.cpu", node, s);
        machine->cpu[number] = add_host(machine, zone, name, "cpu", (uint32_t)cpu->cores, 1, 0);
        snprintf(name, sizeof(name), "node%u.socket%u.dram", node, s);
        machine->dram[number] = add_host(machine, zone, name, "dram", 1, kvc_dram_channels(dram), 0);
        if (s < machine->nics) { /* A root complex without a NIC is of no use. */
            double root_bytes_per_s = config->socket_lanes * lane_bytes_per_s;
            snprintf(name, sizeof(name), "node%u.socket%u.root-up", node, s);
            links->root_up[s] = add_link(machine, zone, name, "root", root_bytes_per_s);
            snprintf(name, sizeof(name), "node%u.socket%u.root-down", node, s);
            links->root_down[s] = add_link(machine, zone, name, "root", root_bytes_per_s);
        }
        for (uint32_t to = 0; to < machine->sockets; to++) {
            if (to != s && (s < machine->nics || to < machine->nics)) {
                snprintf(name, sizeof(name), "node%u.socket%u.to-socket%u", node, s, to);
                links->between[s][to] = add_link(machine, zone, name, "socket", config->socket_bytes_per_s);
            }
        }
    }
}

static void add_nic(struct kvc_kvdirect_machine *machine, const struct kvc_scenario *scenario, uint32_t node,
                    uint32_t nic, uint32_t zone, const struct node_links *links)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_pcie *pcie = config->card.pcie;
    double bytes_per_s = (double)pcie->endpoints * kvc_pcie_link_bytes_per_s(pcie);
    char name[KVC_PLATFORM_NAME_MAX];
    snprintf(name, sizeof(name), "node%u.nic%u.card", node, nic);
    uint32_t card =
        add_host(machine, zone, name, "fpga", 1, 1, config->watts > 0 ? config->card.fpga->power_w : 0);
    machine->card[node * machine->nics + nic] = card;
    snprintf(name, sizeof(name), "node%u.nic%u.pcie-up", node, nic);
    uint32_t up = add_link(machine, zone, name, "pcie", bytes_per_s), here = nic % machine->sockets;
    snprintf(name, sizeof(name), "node%u.nic%u.pcie-down", node, nic);
    uint32_t down = add_link(machine, zone, name, "pcie", bytes_per_s);
    for (uint32_t s = 0; s < machine->sockets; s++) {
        uint32_t dram = machine->dram[node * machine->sockets + s];
        uint32_t to[] = {up, links->root_up[here], links->between[here][s]};
        uint32_t from[] = {links->between[s][here], links->root_down[here], down};
        bool other = s != here;
        kvc_platform_add_route(machine->platform, card, dram, to, other ? 3 : 2);
        kvc_platform_add_route(machine->platform, dram, card, other ? from : from + 1, other ? 3 : 2);
    }
}

void kvc_kvdirect_machine_open(struct kvc_kvdirect_machine *machine, const struct kvc_scenario *scenario)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    uint32_t nodes = (uint32_t)scenario->cluster.nodes;
    *machine = (struct kvc_kvdirect_machine){
        .platform = kvc_platform_create(), .nics = config->nics, .sockets = (uint32_t)scenario->node.sockets};
    machine->cpu = kvc_array_of((size_t)nodes * machine->sockets, sizeof(*machine->cpu));
    machine->dram = kvc_array_of((size_t)nodes * machine->sockets, sizeof(*machine->dram));
    machine->card = kvc_array_of((size_t)nodes * machine->nics, sizeof(*machine->card));
    machine->share = kvc_array_of((size_t)nodes * machine->nics, sizeof(*machine->share));
    for (uint32_t node = 0; node < nodes; node++) {
        struct node_links links = {0};
        char name[KVC_PLATFORM_NAME_MAX];
        snprintf(name, sizeof(name), "node%u", node);
        uint32_t zone = kvc_platform_add_zone(machine->platform, name);
        if (config->watts > 0) {
            snprintf(name, sizeof(name), "node%u.server", node);
            add_host(machine, zone, name, "server", 1, 1, config->idle_w);
        }
        add_sockets(machine, scenario, node, zone, &links);
        for (uint32_t nic = 0; nic < machine->nics; nic++) {
            add_nic(machine, scenario, node, nic, zone, &links);
        }
    }
}

static void close_share(struct kvc_kvdirect_share *share)
{
    kvc_slice_mover_close(&share->memory);
    kvc_slice_mover_close(&share->cores);
    for (uint32_t s = 0; s < share->sockets; s++) {
        kvc_slice_mover_close(&share->up[s]);
        kvc_slice_mover_close(&share->down[s]);
    }
}

void kvc_kvdirect_machine_close(struct kvc_kvdirect_machine *machine)
{
    for (uint32_t i = 0; i < machine->shares; i++) {
        close_share(&machine->share[i]);
    }
    kvc_platform_free(machine->platform);
    free(machine->cpu);
    free(machine->dram);
    free(machine->card);
    free(machine->share);
}

struct kvc_kvdirect_share *kvc_kvdirect_machine_join(struct kvc_kvdirect_machine *machine,
                                                     const struct kvc_scenario *scenario, uint32_t number,
                                                     struct kvc_kvdirect_processor *processor)
{
    struct kvc_kvdirect_share *share = &machine->share[number];
    const struct kvc_pcie *pcie = kvc_pcie_of(&scenario->node);
    uint32_t here = number % machine->nics % machine->sockets;
    uint32_t first = number / machine->nics * machine->sockets;
    bool local = kvc_kvdirect_config_of(scenario)->placement == KVC_KVDIRECT_LOCAL;
    uint32_t sockets = local ? 1 : machine->sockets;
    *share = (struct kvc_kvdirect_share){.processor = processor,
                                         .dram = kvc_dram_of(&scenario->node),
                                         .nics = machine->nics,
                                         .sockets = sockets,
                                         .memories = machine->sockets,
                                         .link_bytes_per_s =
                                             (double)pcie->endpoints * kvc_pcie_link_bytes_per_s(pcie)};
    share->memory.hosts = sockets;
    share->cores.hosts = 1;
    share->cores.host[0] = machine->cpu[first + here];
    kvc_slice_mover_open(&share->cores);
    for (uint32_t s = 0; s < sockets; s++) {
        uint32_t dram = machine->dram[first + (local ? here : s)], card = machine->card[number];
        share->memory.host[s] = dram;
        share->up[s].from = share->down[s].to = card;
        share->up[s].to = share->down[s].from = dram;
        kvc_slice_mover_open(&share->up[s]);
        kvc_slice_mover_open(&share->down[s]);
    }
    kvc_slice_mover_open(&share->memory);
    machine->shares++;
    return share;
}

void kvc_kvdirect_share_apply(struct kvc_kvdirect_share *share)
{
    struct kvc_kvdirect_memory_engine *memory = &share->processor->memory;
    double down = share->memory.stretch, up = share->memory.stretch;
    for (uint32_t s = 0; s < share->sockets; s++) {
        down = fmax(down, share->down[s].stretch);
        up = fmax(up, share->up[s].stretch);
    }
    memory->root.down_stretch = down;
    memory->root.up_stretch = up;
}

/* Returns the accesses to host memory since the last call. Gathering cores read and write it for the card,
 * whose own accesses then go to queues in the cache of the host. */
static struct kvc_dram_load accesses_of(struct kvc_kvdirect_share *share)
{
    const struct kvc_kvdirect_memory_engine *memory = &share->processor->memory;
    const struct kvc_dram_load *now = &memory->root.load, *before = &share->before.load;
    struct kvc_dram_load load = {now->random_reads - before->random_reads,
                                 now->random_writes - before->random_writes,
                                 now->streamed_bytes - before->streamed_bytes};
    if (memory->gather.cores > 0) {
        load = (struct kvc_dram_load){.random_reads = (double)(memory->gather.accesses - share->gathered)};
        share->gathered = memory->gather.accesses;
    }
    return load;
}

void kvc_kvdirect_share_post(struct kvc_kvdirect_share *share)
{
    const struct kvc_kvdirect_processor *processor = share->processor;
    const struct kvc_kvdirect_memory_engine *memory = &processor->memory;
    struct kvc_dram_load load = accesses_of(share);
    double up = memory->root.up_bytes - share->before.up_bytes;
    double down = memory->root.down_bytes - share->before.down_bytes;
    double byte_ns = 1e9 / share->link_bytes_per_s;
    double core_ns = processor->counts.daemon_busy_ns + memory->gather.busy_ns;
    double gathering_ns = memory->gather.access_ns / fmax(memory->gather.cores, 1) * load.random_reads;
    kvc_slice_mover_post(&share->memory, kvc_dram_channel_ns(share->dram, &load),
                         fmax(fmax(up, down) * byte_ns, gathering_ns));
    for (uint32_t s = 0; s < share->sockets; s++) {
        kvc_slice_mover_post(&share->up[s], up / share->sockets, up * byte_ns);
        kvc_slice_mover_post(&share->down[s], down / share->sockets, down * byte_ns);
    }
    kvc_slice_mover_post(&share->cores, core_ns - share->core_ns, core_ns - share->core_ns);
    share->core_ns = core_ns;
    share->before = memory->root;
}
