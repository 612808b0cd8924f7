/* The forecast of a scenario: what its closed form says about it in a few numbers.
 *
 * A result (sim/metrics/result.h) has room for every value that a store may report and takes long to fill. A
 * search over many configurations needs the few values here, for each of them. Both come from the same closed
 * form: what a store forecasts equals what it predicts. */
#ifndef KVC_MODELS_FORECAST_H
#define KVC_MODELS_FORECAST_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/scenario.h"

enum { KVC_FORECAST_NAME_MAX = 32 /* Bytes of a name, including the terminating zero. */ };

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
    double watts_mean;    /* Mean power of the devices whose power is known, all nodes together [W]. */
    double kops_per_watt; /* Throughput for this power [thousand/s/W]. */
    double price_usd;     /* Price of all nodes [US dollars] (models/price.h). */
    double
        utilization_frac; /* Utilization of the bottleneck's stage, 0 to 1; of the busiest if the load is. */
    uint64_t nodes;       /* Nodes of the cluster. */
    /* The stage that limits the throughput, and its kind of device; "load" if the offered load does
     * (sim/metrics/bottleneck.h). Empty: unknown. */
    char bottleneck_stage[KVC_FORECAST_NAME_MAX];
    char bottleneck_device[KVC_FORECAST_NAME_MAX];
};

/* Forecasts a resolved and checked scenario. A store without a forecast of its own is asked for its
 * prediction. Returns what the store's closed form returns. */
enum kvc_status kvc_scenario_forecast(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                      struct kvc_diag *diag);

#endif
