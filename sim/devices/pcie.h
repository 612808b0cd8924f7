/* PCIe link between host and GPU: a copy occupies its direction's copy engine for its bytes over the rate,
 * and takes a fixed latency more, in which the engine already serves the next copy. */
#ifndef KVC_SIM_DEVICES_PCIE_H
#define KVC_SIM_DEVICES_PCIE_H

#include "sim/devices/node.h"

struct kvc_pcie {
    char name[KVC_TEXT_MAX];
    double h2d_bytes_per_s, d2h_bytes_per_s;
    double latency_ns; /* of one copy, either way */
};

extern const struct kvc_device_kind kvc_pcie_kind;

/** The node's pcie; NULL if it has none. */
static inline const struct kvc_pcie *kvc_pcie_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_pcie_kind);
}

/* Time that a copy occupies the engine; the latency comes on top. */
double kvc_pcie_h2d_ns(const struct kvc_pcie *pcie, double bytes);
double kvc_pcie_d2h_ns(const struct kvc_pcie *pcie, double bytes);

#endif
