#include "models/kvdirect/machine.h"

#include <criterion/criterion.h>

#include "models/kvdirect/card_fixture.h"
#include "sim/devices/cpu.h"

/* Every host and link of a node is of use, whether sockets have NICs or not. NIC i is at socket i mod
 * sockets, and what it moves to or from another socket crosses the link between them. */
Test(machine, connects_every_nic_with_the_memory_of_every_socket)
{
    struct kvc_test_card card = kvc_test_published_card;
    struct kvc_cpu cpu = {.cores = 8};
    struct kvc_dram dram = {.bytes_per_s = 40e9};
    struct kvc_kvdirect_config config = {
        .card = {&card.pcie, &card.fpga, &card.nic}, .socket_lanes = 40, .socket_bytes_per_s = 25e9};
    struct kvc_scenario scenario = {
        .cluster = {.nodes = 2},
        .config = &config,
        .node = {.device = {{&kvc_pcie_kind, &card.pcie}, {&kvc_cpu_kind, &cpu}, {&kvc_dram_kind, &dram}}}};
    for (uint32_t nics = 1; nics <= 5; nics += 2) {
        for (uint32_t sockets = 1; sockets <= KVC_KVDIRECT_SOCKETS_MAX; sockets++) {
            struct kvc_kvdirect_machine machine;
            struct kvc_diag diag = {0};
            config.nics = nics;
            config.idle_w = nics == 1 ? 0 : 100;
            scenario.node.sockets = sockets;
            struct kvc_platform *platform = kvc_platform_create();
            kvc_kvdirect_machine_open(&machine, &scenario, platform);
            cr_assert_eq(kvc_platform_check(platform, &diag), KVC_OK, "%s", diag.message);
            cr_expect_eq(kvc_platform_hosts(platform), 2 * (2 * nics + 2 * sockets + 1 + (nics > 1)));
            for (uint32_t i = 0; i < 2 * nics; i++) {
                for (uint32_t s = 0; s < sockets; s++) {
                    uint32_t memory = machine.dram[i / nics * sockets + s], there, back;
                    cr_assert_not_null(kvc_platform_route(platform, machine.port[i], memory, &there));
                    cr_assert_not_null(kvc_platform_route(platform, memory, machine.port[i], &back));
                    cr_expect_eq(there, s == i % nics % sockets ? 2 : 3);
                    cr_expect_eq(back, there);
                }
            }
            kvc_kvdirect_machine_close(&machine);
            kvc_platform_free(platform);
        }
    }
}
