#include "sim/devices/network.h"

#include "sim/devices/nic.h"

static const char *const forwardings[] = {"cut_through", "store_and_forward", NULL};

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_network, "name", name, "", "name of the switch or cable"),
    KVC_COUNT_ROW(
        kvc_network, "hops", hops, 0, 64, NULL,
        "switches between client and server, 0 for a direct cable; more hops lengthen every round trip"),
    KVC_REAL_ROW(
        kvc_network, "cable_latency", cable_ns, KVC_UNIT_NS, 0, 1e9, NULL,
        "propagation time of one of the hops + 1 cables, about 5 ns a metre; a longer time lengthens every "
        "round trip"),
    KVC_REAL_ROW(kvc_network, "switch_latency", switch_ns, KVC_UNIT_NS, 0, 1e9, "unknown",
                 "latency of one switch, required if hops > 0; a longer time lengthens every round trip",
                 .auto_word = "unknown", .auto_value = -1),
    KVC_REAL_ROW(kvc_network, "link_rate", bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13, NULL,
                 "rate of the links in each direction; a higher rate shortens the path through switches "
                 "that store frames"),
    KVC_CHOICE_ROW(
        kvc_network, "forwarding", forwarding, forwardings, "cut_through",
        "whether a switch forwards a frame while it arrives, or after it has arrived, which takes longer"),
};

static const struct kvc_option_table options = KVC_OPTION_TABLE(kvc_network, rows, "network");

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    const struct kvc_network *network = device;
    if (network->hops > 0 && network->switch_ns < 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "network.switch_latency is unknown, but network.hops is %llu",
                             (unsigned long long)network->hops);
    }
    return KVC_OK;
}

const struct kvc_device_kind kvc_network_kind = {
    .name = "network",
    .help = "Path between clients and node: cables, switches, link rate",
    .options = &options,
    .check = check};

double kvc_network_serialize_ns(const struct kvc_network *network, double wire_bytes)
{
    return wire_bytes / network->bytes_per_s * 1e9;
}

double kvc_network_latency_ns(const struct kvc_network *network, double wire_bytes)
{
    double hops = (double)network->hops, cables_ns = (hops + 1) * network->cable_ns;
    if (network->hops == 0) {
        return cables_ns;
    }
    double stored_ns = network->forwarding == KVC_NETWORK_STORE_AND_FORWARD
                           ? kvc_network_serialize_ns(network, wire_bytes)
                           : 0;
    return cables_ns + hops * (network->switch_ns + stored_ns);
}

double kvc_network_path_ns(const struct kvc_node *node, double wire_bytes)
{
    const struct kvc_nic *nic = kvc_nic_of(node);
    const struct kvc_network *network = kvc_network_of(node);
    return (nic != NULL ? nic->latency_ns : 0) +
           (network != NULL ? kvc_network_latency_ns(network, wire_bytes) : 0);
}

void kvc_network_speed_up(struct kvc_network *network, double factor)
{
    network->cable_ns /= factor;
    network->switch_ns /= factor;
    network->bytes_per_s *= factor;
}
