/* The smallest store, an example for new ones: one device that serves one frame of requests at a time.
 *
 * It is a store like any other (models/model.h) and brings a kind of device of its own
 * (sim/devices/device.h). Nothing outside this folder knows either of them; registry.c here lists them in
 * place of models/registry.c. Both are made up, so that every answer is a textbook's.
 *
 * Modelled: a first-in first-out queue of unlimited length in front of the device. A request costs the same
 * whatever its operation, key and value. Not modelled: network, memory and real data structures; every GET
 * finds its key. */
#ifndef KVC_SCENARIOS_CLI_TOY_TOY_H
#define KVC_SCENARIOS_CLI_TOY_TOY_H

#include "models/model.h"

extern const struct kvc_device_kind kvc_toydev_kind;
extern const struct kvc_model kvc_toy_model;

#endif
