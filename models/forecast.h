/* The forecast of a scenario: a few numbers from its closed form.
 *
 * A result (sim/metrics/result.h) has room for every value that a store may report and takes long to fill. A
 * search over many configurations needs only these few values of each. Both come from the same closed form: a
 * store's forecast equals its prediction. */
#ifndef KVC_MODELS_FORECAST_H
#define KVC_MODELS_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/platform.h"
#include "sim/scenario.h"

enum {
    KVC_FORECAST_NAME_MAX = 32, /* Bytes of a name, including the terminating zero. */
    /* Bytes of the name of a kind of device, including the terminating zero. */
    KVC_FORECAST_DEVICE_MAX = 12,
    KVC_FORECAST_DEVICES_MAX = 6, /* Kinds of devices. */
};

/* Utilization of the devices of one kind. */
struct kvc_forecast_device {
    char device[KVC_FORECAST_DEVICE_MAX]; /* Kind, as platforms name it (sim/platform.h): "gpu". */
    double utilization_frac;              /* Mean utilization over all devices of this kind, 0 to 1. */
};

/* A forecast. A value that the closed form does not know is NaN. The struct has no pointers. */
struct kvc_forecast {
    double throughput_mops; /* Requests that are served, all nodes together [million/s]. */
    double offered_mops; /* Highest rate of an open loop; NaN: the load has no rate of its own [million/s]. */
    struct kvc_latencies latency; /* A request takes them from client to client (models/latency.h). */
    double unserved_frac;         /* kvc_forecast_unserved_frac(). */
    double hit_frac;              /* Share of the GETs that hit, 0 to 1. */
    /* Mean power, all nodes together; NaN: some device does not state its power [W]. */
    double watts_mean;
    double kops_per_watt; /* Throughput for this power [thousand/s/W]. */
    double price_usd;     /* Price of all nodes [US dollars] (models/price.h). */
    double
        /* Utilization of the bottleneck's stage, or of the busiest stage if the load is the bottleneck, 0 to
         * 1. */
        utilization_frac;
    uint64_t nodes; /* Nodes of the cluster. */
    /* The stage that limits the throughput, and its kind of device; "load" if the offered load does
     * (sim/metrics/bottleneck.h). Empty: unknown. */
    char bottleneck_stage[KVC_FORECAST_NAME_MAX];
    char bottleneck_device[KVC_FORECAST_NAME_MAX];
    char watts_missing[KVC_MISSING_BYTES]; /* Devices that work but state no power; empty: none. */
    char price_missing[KVC_MISSING_BYTES]; /* Devices that state no price; empty: none. */
    uint32_t device_count;                 /* Used entries of `device`. */
    struct kvc_forecast_device device[KVC_FORECAST_DEVICES_MAX]; /* Devices that the power depends on. */
};

/* The power of a scenario's machines in closed form: the sum of every device's power at its mean utilization.
 *
 * A host draws its idle power when nothing works on it. Its power rises linearly from idle to one busy core,
 * and from there linearly to all cores. A link draws its idle power and, in proportion to the bytes that
 * cross it, the rest. Watts refer to the performance state in which the scenario starts. For a steady load, a
 * simulation arrives at the same power over time (sim/platform.h). Not modelled: changes of clocks during a
 * run. */

enum { KVC_POWER_KINDS_MAX = 16 };

/* Equal devices of one kind. */
struct kvc_power_kind {
    char device[KVC_FORECAST_DEVICE_MAX]; /* "gpu" */
    double count;                         /* Number of devices. */
    double cores;                         /* Cores of each device. */
    struct kvc_watts watts;               /* Power of each device. */
};

/* Power of the devices of a platform. */
struct kvc_power {
    uint32_t count; /* Used entries of `kind`. */
    struct kvc_power_kind kind[KVC_POWER_KINDS_MAX];
    char missing[KVC_MISSING_BYTES]; /* Kinds that work but whose power is not stated; empty: none. */
};

/* Returns the power of the devices of a platform. NULL: no power is known. */
struct kvc_power kvc_power_of(const struct kvc_platform *platform);

/* Returns the power of a resolved scenario's platform; without a platform, no power is known. */
struct kvc_power kvc_scenario_power(const struct kvc_scenario *scenario);

/* Returns the mean power of all devices whose watts and utilization are known [W], and adds the kinds of the
 * others that work to `missing`. A device that draws the same whether it works or not needs no utilization.
 */
double kvc_power_watts(const struct kvc_power *power, const struct kvc_forecast_device *device,
                       uint32_t devices, char missing[KVC_MISSING_BYTES]);

/* Returns the share of the offered requests that a store of this throughput does not serve: 0 for clients
 * that wait for answers, NaN for a load whose rate changes. */
double kvc_forecast_unserved_frac(const struct kvc_workload *workload, double throughput_mops);

/* Forecasts a resolved and checked scenario. If the store has no forecast of its own, its prediction is used.
 * Returns the status of the store's closed form. */
enum kvc_status kvc_scenario_forecast(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                      struct kvc_diag *diag);

/* Forecasts a scenario whose platform's power is already known; `power` is NULL if it is not. */
enum kvc_status kvc_scenario_forecast_with(const struct kvc_scenario *scenario, const struct kvc_power *power,
                                           struct kvc_forecast *out, struct kvc_diag *diag);

/* Takes a stage into account: the bottleneck becomes the first of the busiest ones, as in a result
 * (sim/metrics/bottleneck.h). */
void kvc_forecast_add_stage(struct kvc_forecast *forecast, const char *name, const char *device,
                            double utilization_frac);

/* Adds a kind of device to a forecast. */
void kvc_forecast_add_device(struct kvc_forecast *forecast, const char *device, double utilization_frac);

#endif
