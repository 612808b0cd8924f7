/* The forecast of a scenario: what its closed form says about it in a few numbers.
 *
 * A result (sim/metrics/result.h) has room for every value that a store may report and takes long to fill. A
 * search over many configurations needs the few values here, for each of them. Both come from the same closed
 * form: what a store forecasts equals what it predicts. */
#ifndef KVC_MODELS_FORECAST_H
#define KVC_MODELS_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/scenario.h"

enum {
    KVC_FORECAST_NAME_MAX = 32,   /* Bytes of a name, including the terminating zero. */
    KVC_FORECAST_DEVICE_MAX = 12, /* Bytes of a kind of device, likewise. */
    KVC_FORECAST_DEVICES_MAX = 6, /* Kinds of devices. */
};

/* How much the devices of a kind have to do. */
struct kvc_forecast_device {
    char device[KVC_FORECAST_DEVICE_MAX]; /* Kind, as platforms name it (sim/platform.h): "gpu". */
    double utilization_frac;              /* Mean utilization over all devices of this kind, 0 to 1. */
};

/* A forecast. A value that the closed form does not know is NaN. The struct has no pointers. */
struct kvc_forecast {
    double throughput_mops; /* Requests that are served, all nodes together [million/s]. */
    double offered_mops; /* Highest rate of an open loop; NaN: the load has no rate of its own [million/s]. */
    double latency_mean_us; /* Mean latency of a request [us]. */
    double latency_p50_us;  /* Percentiles of the latency [us]. */
    double latency_p95_us;
    double latency_p99_us;
    double latency_p999_us;
    double hit_frac;      /* Share of the GETs that hit, 0 to 1. */
    double watts_mean;    /* Mean power, all nodes together; NaN: that of a device is not stated [W]. */
    double kops_per_watt; /* Throughput for this power [thousand/s/W]. */
    double price_usd;     /* Price of all nodes [US dollars] (models/price.h). */
    double
        utilization_frac; /* Utilization of the bottleneck's stage, 0 to 1; of the busiest if the load is. */
    uint64_t nodes;       /* Nodes of the cluster. */
    /* The stage that limits the throughput, and its kind of device; "load" if the offered load does
     * (sim/metrics/bottleneck.h). Empty: unknown. */
    char bottleneck_stage[KVC_FORECAST_NAME_MAX];
    char bottleneck_device[KVC_FORECAST_NAME_MAX];
    /* Devices that work but whose power is not stated, and the device that has no price; empty: none. */
    char watts_unknown[KVC_FORECAST_NAME_MAX];
    char price_unknown[KVC_FORECAST_NAME_MAX];
    uint32_t device_count;                                       /* Used entries of `device`. */
    struct kvc_forecast_device device[KVC_FORECAST_DEVICES_MAX]; /* Those that the power depends on. */
};

/* Forecasts a resolved and checked scenario. A store without a forecast of its own is asked for its
 * prediction. Returns what the store's closed form returns. */
enum kvc_status kvc_scenario_forecast(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                      struct kvc_diag *diag);

struct kvc_power;

/* Likewise, for a scenario whose platform's power is known already; NULL: it is not. */
enum kvc_status kvc_scenario_forecast_with(const struct kvc_scenario *scenario, const struct kvc_power *power,
                                           struct kvc_forecast *out, struct kvc_diag *diag);

/* Takes a stage into account: the bottleneck becomes the first of the busiest ones, as in a result
 * (sim/metrics/bottleneck.h). */
void kvc_forecast_add_stage(struct kvc_forecast *forecast, const char *name, const char *device,
                            double utilization_frac);

/* Adds a kind of device to a forecast. */
void kvc_forecast_add_device(struct kvc_forecast *forecast, const char *device, double utilization_frac);

/* Returns whether the power of every device that works is stated. A sum over the others is a lower bound,
 * which says nothing about an objective. False if the closed form refuses the scenario. */
bool kvc_scenario_knows_power(const struct kvc_scenario *scenario);

#endif
