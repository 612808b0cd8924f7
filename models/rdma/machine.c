#include "models/rdma/machine.h"

#include "models/rdma/config.h"

struct kvc_rdma_machine kvc_rdma_machine_add(const struct kvc_scenario *scenario,
                                             struct kvc_platform *platform)
{
    const struct kvc_rdma_config *config = kvc_rdma_config_of(scenario);
    const struct kvc_nic *nic = config->nic;
    uint32_t zone = kvc_platform_add_zone(platform, "node0");
    const struct kvc_platform_host hosts[] = {
        {.name = "node0.cpu",
         .device = "cpu",
         .cores = 1,
         .pstates = 1,
         .pstate = {{.speed = config->cores}}},
        {.name = "node0.nic", .device = "nic", .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}},
        {.name = "node0.clients", .device = "clients", .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}}};
    struct kvc_platform_link link = {.name = "node0.nic.rx",
                                     .device = "nic",
                                     .bytes_per_s = (double)nic->ports * nic->bytes_per_s,
                                     .idle_w = nic->idle_watts / 2,
                                     .busy_w = nic->busy_watts / 2};
    struct kvc_rdma_machine machine = {.cpu = kvc_platform_add_host(platform, zone, &hosts[0]),
                                       .nic = kvc_platform_add_host(platform, zone, &hosts[1]),
                                       .clients = kvc_platform_add_host(platform, zone, &hosts[2])};
    uint32_t rx = kvc_platform_add_link(platform, zone, &link);
    link.name[sizeof("node0.nic.") - 1] = 't';
    uint32_t tx = kvc_platform_add_link(platform, zone, &link);
    kvc_platform_add_route(platform, machine.clients, machine.nic, &rx, 1);
    kvc_platform_add_route(platform, machine.nic, machine.clients, &tx, 1);
    return machine;
}
