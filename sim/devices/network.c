#include "sim/devices/network.h"

#include "sim/devices/nic.h"

static const char *const forwardings[] = {"cut_through", "store_and_forward", NULL};

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_network, name),
     .by_default = "",
     .help = "name of the switch or cable"},
    {.name = "hops",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_network, hops),
     .min = 0,
     .max = 64,
     .help = "switches between client and server, 0 for a direct cable; more hops lengthen every round trip"},
    {.name = "cable_latency",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_network, cable_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .help = "time of a signal on one of the hops + 1 cables, about 5 ns a metre; a longer time lengthens "
             "every round trip"},
    {.name = "switch_latency",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_network, switch_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .by_default = "unknown",
     .auto_word = "unknown",
     .auto_value = -1,
     .help = "latency of one switch, required if there are hops; a longer time lengthens every round trip"},
    {.name = "link_rate",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_network, bytes_per_s),
     .unit = KVC_UNIT_BYTES_PER_S,
     .min = 1e6,
     .max = 1e13,
     .help = "rate of the links in each direction; a higher rate shortens the way through switches that "
             "store frames"},
    {.name = "forwarding",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_network, forwarding),
     .by_default = "cut_through",
     .choices = forwardings,
     .help = "whether a switch sends a frame on while it arrives or when it has arrived, which takes longer"},
};

static const struct kvc_option_table options = {.name = "network",
                                                .rows = rows,
                                                .count = sizeof(rows) / sizeof(*rows),
                                                .size = sizeof(struct kvc_network)};

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
    .help = "Way between clients and node: cables, switches, link rate (optional)",
    .options = &options,
    .check = check,
    .optional = true};

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
