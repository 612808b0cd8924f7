/* Tests the devices that a socket adds to the platform. */
#include "sim/devices/socket.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sim/devices/cpu.h"
#include "sim/devices/dram.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"

static struct kvc_cpu cpu = {.cores = 8, .threads_per_core = 2, .clock_hz = 2.6e9};
static struct kvc_dram dram = {.line_bytes = 64, .bytes_per_s = 50e9};
static struct kvc_gpu gpu = {
    .sms = 15, .clock_count = 1, .clocks = {{.core_hz = 875e6, .idle_watts = 62, .busy_watts = 150}}};
static struct kvc_pcie pcie = {.h2d_bytes_per_s = 11e9, .d2h_bytes_per_s = 10e9};
static struct kvc_nic nic = {.ports = 2, .bytes_per_s = 5e9, .idle_watts = 3, .busy_watts = 7};

/* Returns the links of the route between two hosts of a socket. */
static uint32_t links_between(const struct kvc_platform *platform, int32_t from, int32_t to,
                              const struct kvc_platform_link **first)
{
    uint32_t count = 0;
    const uint32_t *links = kvc_platform_route(platform, (uint32_t)from, (uint32_t)to, &count);
    cr_assert_not_null(links);
    *first = kvc_platform_link(platform, links[0]);
    return count;
}

static struct kvc_socket add(struct kvc_platform *platform, const struct kvc_node *node)
{
    struct kvc_diag diag = {0};
    uint32_t zone = kvc_platform_add_zone(platform, "node0");
    struct kvc_socket socket =
        kvc_socket_add(platform, zone, "node0.socket0", node, (struct kvc_socket_use){0});
    cr_expect_eq(kvc_platform_check(platform, &diag), KVC_OK, "%s", diag.message);
    return socket;
}

Test(socket, has_every_device_of_the_node)
{
    const struct kvc_node node = {.sockets = 1,
                                  .device = {{&kvc_cpu_kind, &cpu},
                                             {&kvc_dram_kind, &dram},
                                             {&kvc_gpu_kind, &gpu},
                                             {&kvc_pcie_kind, &pcie},
                                             {&kvc_nic_kind, &nic}}};
    struct kvc_platform *platform = kvc_platform_create();
    const struct kvc_platform_link *link;
    struct kvc_socket socket = add(platform, &node);
    cr_expect_str_eq(kvc_platform_host(platform, (uint32_t)socket.cpu)->name, "node0.socket0.cpu");
    cr_expect_eq(kvc_platform_host(platform, (uint32_t)socket.gpu)->pstate[0].watts.all_w, 150);
    cr_expect_eq(links_between(platform, socket.dram, socket.copy, &link), 1);
    cr_expect_eq(link->bytes_per_s, 11e9);
    cr_expect_eq(links_between(platform, socket.copy, socket.dram, &link), 1);
    cr_expect_eq(link->bytes_per_s, 10e9);
    kvc_platform_free(platform);
}

Test(socket, copies_cross_a_root_complex_with_a_rate)
{
    struct kvc_cpu rooted = cpu;
    const struct kvc_node node = {.sockets = 1,
                                  .device = {{&kvc_cpu_kind, &rooted},
                                             {&kvc_dram_kind, &dram},
                                             {&kvc_gpu_kind, &gpu},
                                             {&kvc_pcie_kind, &pcie}}};
    struct kvc_platform *platform = kvc_platform_create();
    const struct kvc_platform_link *link;
    rooted.root_bytes_per_s = 9e9;
    struct kvc_socket socket = add(platform, &node);
    cr_expect_eq(links_between(platform, socket.dram, socket.copy, &link), 2);
    cr_expect_eq(link->bytes_per_s, 9e9);
    cr_expect_eq(socket.clients, KVC_SOCKET_NONE);
    kvc_platform_free(platform);
}

Test(socket, the_directions_of_the_ports_share_the_power_of_the_card)
{
    const struct kvc_node node = {.sockets = 1, .device = {{&kvc_dram_kind, &dram}, {&kvc_nic_kind, &nic}}};
    struct kvc_platform *platform = kvc_platform_create();
    const struct kvc_platform_link *rx, *tx;
    struct kvc_socket socket = add(platform, &node);
    links_between(platform, socket.clients, socket.dram, &rx);
    links_between(platform, socket.dram, socket.clients, &tx);
    cr_expect_eq(rx->bytes_per_s, 10e9);
    cr_expect_eq(rx->idle_w + tx->idle_w, 3);
    cr_expect_eq(rx->busy_w + tx->busy_w, 7);
    kvc_platform_free(platform);
}
