/* The machines of a run as a platform: for each node the memory of its host, PCIe, the card with its DRAM and
 * its flash, and links to the neighbours; behind them there may be a database. */
#ifndef KVC_MODELS_BLUECACHE_MACHINE_H
#define KVC_MODELS_BLUECACHE_MACHINE_H

#include <stdint.h>

#include "sim/platform.h"
#include "sim/scenario.h"

/* Hosts of one node. */
struct kvc_bluecache_machine {
    uint32_t host, card, dram, flash;
    uint32_t database; /* Of the first node: the one behind all, if there is one. */
};

/* Adds the machines of a resolved scenario to an empty platform; `machine` has an entry for each node. */
void kvc_bluecache_machine_add(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                               struct kvc_bluecache_machine *machine);

#endif
