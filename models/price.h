/* The price of a scenario's machines.
 *
 * A node costs node.price plus the prices of all its devices. Devices that come with the boards (PCIe links)
 * or stand outside the nodes (switches, databases) have no price of their own. Not included: power, rooms,
 * people. Prices refer to the year that their sources state. */
#ifndef KVC_MODELS_PRICE_H
#define KVC_MODELS_PRICE_H

#include "sim/metrics/result.h"
#include "sim/scenario.h"

struct kvc_price {
    double usd;                      /* Sum of the prices that are stated [US dollars]. */
    char missing[KVC_MISSING_BYTES]; /* Kinds of devices that state none: "gpu, nic"; empty: the sum is whole.
                                      */
};

/* Returns the price of one node of a resolved scenario. */
struct kvc_price kvc_scenario_node_price(const struct kvc_scenario *scenario);

/* Returns the price of all nodes that the cluster has at the start. */
struct kvc_price kvc_scenario_price(const struct kvc_scenario *scenario);

/* Returns the price [US dollars], or NaN if a device's price is missing. */
double kvc_price_whole_usd(const struct kvc_price *price);

#endif
