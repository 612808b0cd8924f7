#include "models/memcached/machine.h"

#include <stdio.h>

#include "models/memcached/config.h"
#include "sim/devices/socket.h"

/* Returns the power of a processor of which `threads` cores work, idle and busy. */
static struct kvc_watts watts_of(const struct kvc_memcached_config *config)
{
    if (config->kind == KVC_MEMCACHED_FPGA) {
        double watts = config->fpga->power_w;
        return (struct kvc_watts){watts, watts, watts};
    }
    const struct kvc_cpu_pstate pstate = kvc_cpu_pstate(config->cpu, 0);
    if (!kvc_cpu_has_watts(&pstate)) {
        return (struct kvc_watts){0};
    }
    double others = config->cpu->cores > 1 ? (config->threads - 1.0) / ((double)config->cpu->cores - 1) : 0;
    double busy_w = pstate.one_core_watts + others * (pstate.all_cores_watts - pstate.one_core_watts);
    return (struct kvc_watts){config->polls ? busy_w : pstate.idle_watts, busy_w, busy_w};
}

static uint32_t add_host(struct kvc_platform *platform, uint32_t zone, const char *prefix, const char *name,
                         const struct kvc_platform_host *like)
{
    struct kvc_platform_host host = *like;
    snprintf(host.name, sizeof(host.name), "%s.%s", prefix, name);
    host.device = like->device != NULL ? like->device : name;
    host.cores = host.pstates = 1;
    return kvc_platform_add_host(platform, zone, &host);
}

static uint32_t add_link(struct kvc_platform *platform, uint32_t zone, const char *prefix, const char *name,
                         const struct kvc_nic *nic)
{
    struct kvc_platform_link link = {.device = "nic",
                                     .bytes_per_s = (double)nic->ports * nic->bytes_per_s,
                                     .idle_w = nic->idle_watts / 2,
                                     .busy_w = nic->busy_watts / 2};
    snprintf(link.name, sizeof(link.name), "%s.nic.%s", prefix, name);
    return kvc_platform_add_link(platform, zone, &link);
}

static struct kvc_memcached_machine add_socket(const struct kvc_memcached_config *config,
                                               struct kvc_platform *platform, uint32_t zone,
                                               const char *prefix)
{
    const struct kvc_platform_host plain = {.pstate = {{.speed = 1}}};
    const struct kvc_platform_host threads = {
        .pstate = {{.speed = config->threads, .watts = watts_of(config)}}};
    const char *processor = config->kind == KVC_MEMCACHED_FPGA ? "fpga" : "cpu";
    struct kvc_platform_host memory = plain;
    if (config->dram != NULL) {
        memory.pstate[0].watts = kvc_dram_watts(config->dram);
    }
    struct kvc_memcached_machine machine = {
        .threads = add_host(platform, zone, prefix, processor, &threads),
        .memory = add_host(platform, zone, prefix, "dram", &memory),
        .nic = add_host(platform, zone, prefix, "nic", &plain),
        .clients = add_host(platform, zone, prefix, "clients", &plain),
    };
    if (config->database != NULL) {
        machine.database = add_host(platform, zone, prefix, "database", &plain);
    }
    if (config->flash != NULL) {
        const struct kvc_platform_host flash = {
            .pstate = {{.speed = 1, .watts = kvc_flash_watts(config->flash)}}};
        machine.flash = add_host(platform, zone, prefix, "flash", &flash);
    }
    uint32_t rx = add_link(platform, zone, prefix, "rx", config->nic);
    uint32_t tx = add_link(platform, zone, prefix, "tx", config->nic);
    kvc_platform_add_route(platform, machine.clients, machine.nic, &rx, 1);
    kvc_platform_add_route(platform, machine.nic, machine.clients, &tx, 1);
    return machine;
}

void kvc_memcached_machine_add(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                               struct kvc_memcached_machine *machine)
{
    uint32_t sockets = (uint32_t)scenario->node.sockets;
    for (uint32_t node = 0; node < scenario->cluster.nodes; node++) {
        char name[KVC_PLATFORM_NAME_MAX / 2];
        snprintf(name, sizeof(name), "node%u", node);
        uint32_t zone = kvc_platform_add_zone(platform, name);
        kvc_socket_add_rest(platform, zone, name, &scenario->node);
        for (uint32_t s = 0; s < sockets; s++) {
            snprintf(name, sizeof(name), "node%u.socket%u", node, s);
            struct kvc_memcached_machine added =
                add_socket(kvc_memcached_config_of(scenario), platform, zone, name);
            if (machine != NULL) {
                machine[node * sockets + s] = added;
            }
        }
    }
}
