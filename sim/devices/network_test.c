#include "sim/devices/network.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sim/devices/nic.h"

/* 40 Gbit/s carry 5 bytes per ns. */
static const struct kvc_network direct = {.hops = 0, .cable_ns = 15, .switch_ns = -1, .bytes_per_s = 5e9};
static const struct kvc_network one = {.hops = 1, .cable_ns = 15, .switch_ns = 550, .bytes_per_s = 5e9};

Test(network, a_direct_cable_takes_the_time_of_the_signal)
{
    cr_expect_eq(kvc_network_latency_ns(&direct, 1538), 15);
    cr_expect_float_eq(kvc_network_serialize_ns(&direct, 1538), 307.6, 1e-9);
}

Test(network, every_hop_adds_a_switch_and_a_cable)
{
    struct kvc_network network = one;
    double before_ns = kvc_network_latency_ns(&network, 1538);
    cr_expect_float_eq(before_ns, 580, 1e-9);
    for (network.hops = 2; network.hops < 10; network.hops++) {
        double now_ns = kvc_network_latency_ns(&network, 1538);
        cr_expect_float_eq(now_ns - before_ns, 565, 1e-9);
        before_ns = now_ns;
    }
}

Test(network, only_a_switch_that_stores_frames_looks_at_their_size)
{
    struct kvc_network network = one;
    cr_expect_eq(kvc_network_latency_ns(&network, 84), kvc_network_latency_ns(&network, 1538));
    network.forwarding = KVC_NETWORK_STORE_AND_FORWARD;
    cr_expect_float_eq(kvc_network_latency_ns(&network, 1538), 580 + 1538 / 5.0, 1e-9);
    cr_expect_float_eq(kvc_network_latency_ns(&network, 84), 580 + 84 / 5.0, 1e-9);
}

Test(network, is_an_optional_part_of_the_way)
{
    struct kvc_nic nic = {.latency_ns = 1000};
    struct kvc_network network = one;
    const struct kvc_node none = {.sockets = 1}, plain = {.device = {{&kvc_nic_kind, &nic}}},
                          both = {.device = {{&kvc_nic_kind, &nic}, {&kvc_network_kind, &network}}};
    cr_expect_eq(kvc_network_path_ns(&none, 84), 0);
    cr_expect_eq(kvc_network_path_ns(&plain, 84), 1000);
    cr_expect_eq(kvc_network_path_ns(&both, 84), 1580);
    cr_expect_null(kvc_network_of(&plain));
    cr_expect_eq(kvc_network_of(&both), &network);
}

Test(network, needs_the_latency_of_its_switches)
{
    struct kvc_diag diag = {0};
    struct kvc_network network = direct;
    cr_expect_eq(kvc_network_kind.check(&network, &diag), KVC_OK);
    network.hops = 1;
    cr_expect_eq(kvc_network_kind.check(&network, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "network.switch_latency is unknown, but network.hops is 1"));
    cr_expect_eq(kvc_network_kind.check(&one, &diag), KVC_OK);
}
