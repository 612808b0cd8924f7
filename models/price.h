/* The price of a scenario's machines.
 *
 * A node costs node.price plus the prices of all its devices. Devices that come with the boards (PCIe links)
 * or stand outside the nodes (switches, databases) have no price of their own. Not included: power, rooms,
 * people. Prices refer to the year that their sources state. */
#ifndef KVC_MODELS_PRICE_H
#define KVC_MODELS_PRICE_H

#include "sim/scenario.h"

/* Returns the price of one node of a resolved scenario [US dollars], or NaN if a device's price is unknown.
 * *unknown (may be NULL) becomes the first such device's kind, or NULL. */
double kvc_scenario_node_price_usd(const struct kvc_scenario *scenario,
                                   const struct kvc_device_kind **unknown);

/* Returns the price of all nodes that the cluster has at the start [US dollars], under the same rules. */
double kvc_scenario_price_usd(const struct kvc_scenario *scenario, const struct kvc_device_kind **unknown);

#endif
