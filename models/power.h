/* The power of a scenario's machines in closed form: that of every device at its mean utilization.
 *
 * A host draws its idle power when nothing works on it, and with u of its capacity in use what lies on the
 * line from one busy core to all of them; below one core, on the line from idle. A link draws its idle power
 * and, in proportion to the bytes that cross it, the rest. Watts are those of the performance state in which
 * the scenario begins. This is what a simulation adds up over time (sim/platform.h), for a steady load. Not
 * modelled: changes of clocks during a run. */
#ifndef KVC_MODELS_POWER_H
#define KVC_MODELS_POWER_H

#include <stdbool.h>
#include <stdint.h>

#include "models/forecast.h"
#include "sim/platform.h"

enum { KVC_POWER_KINDS_MAX = 16 };

/* Devices of one kind that are alike. */
struct kvc_power_kind {
    char device[KVC_FORECAST_DEVICE_MAX]; /* "gpu" */
    double count;                         /* How many there are. */
    double cores;                         /* Cores of each. */
    struct kvc_watts watts;               /* Power of each. */
};

/* What the devices of a platform draw. */
struct kvc_power {
    uint32_t count; /* Used entries of `kind`. */
    struct kvc_power_kind kind[KVC_POWER_KINDS_MAX];
    /* Kinds that work but whose power is not stated, "dram, nic"; empty: there are none. */
    char unknown[KVC_FORECAST_NAME_MAX];
};

/* Collects what the devices of a platform draw. */
struct kvc_power kvc_power_of(const struct kvc_platform *platform);

/* Likewise of a resolved scenario's platform. Without one, no power is known. */
struct kvc_power kvc_scenario_power(const struct kvc_scenario *scenario);

/* Returns the mean power of all devices whose watts and utilization are known [W]; NaN if there are none. A
 * device that draws the same whether it works or not needs no utilization. */
double kvc_power_watts(const struct kvc_power *power, const struct kvc_forecast_device *device,
                       uint32_t devices);

#endif
