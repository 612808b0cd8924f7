/** @file
 * A device kind describes one sort of hardware profile to the loader, to `describe` and to the echo of
 * results.
 *
 * Every kind of device (a CPU socket, a NIC, ...) is a plain struct of parameters with an option table. Its
 * header exports one descriptor, and the registry (models/registry.c) lists all descriptors. No other
 * place names the kinds. */
#ifndef KVC_SIM_DEVICES_DEVICE_H
#define KVC_SIM_DEVICES_DEVICE_H

#include <stdbool.h>

#include "sim/base/diag.h"
#include "sim/base/text/option.h"

/** One sort of hardware profile. */
struct kvc_device_kind {
    const char *name;                       /**< Kind of a profile and key in a scenario's node: "cpu". */
    const char *help;                       /**< One line for `kvcast describe`. */
    const struct kvc_option_table *options; /**< Parameters of a device; options->size is its struct's. */

    /** Checks what the options' ranges cannot express.
     *
     * The message starts with the kind's name and a dot, as in "pcie.d2h is missing". NULL if the ranges
     * express everything. */
    enum kvc_status (*check)(const void *device, struct kvc_diag *diag);

    /** Returns the price of one device [US dollars], or 0 if another device's price includes it; NaN:
     * unknown.
     *
     * NULL: devices of this kind are not bought separately, because they come with boards or stand outside
     * the node. */
    double (*price_usd)(const void *device);

    /** A node has the device only if the scenario names it; a store's default profile is then the base of a
     * table. */
    bool optional;
};

#endif
