/* The closed form of Mega-KV: the limits of a socket's speed, the speed that it serves, and the times of its
 * periodic schedule. A prediction and a forecast take their values from it. */
#ifndef KVC_MODELS_MEGAKV_CLOSED_FORM_H
#define KVC_MODELS_MEGAKV_CLOSED_FORM_H

#include "models/megakv/costs.h"
#include "models/megakv/equations.h"
#include "models/megakv/periodic.h"
#include "sim/scenario.h"

/* Returns the fit of a clock pair. Without a fit, and with measured costs, this is the line through the
 * durations of a small and a large launch. */
struct kvc_megakv_fit kvc_megakv_fit_of(const struct kvc_megakv_costs *costs, uint32_t clock);

/* Returns the load that the equations take: the scenario's share of GETs and its delay. */
struct kvc_megakv_load kvc_megakv_load_of(const struct kvc_scenario *scenario);

/* The speeds that the parts of a socket sustain at the scenario's cycle [requests/ns]. */
struct kvc_megakv_limits {
    double gpu, receivers, senders, rx, tx;
    double buffers; /* Each pipeline fills at most one buffer in a cycle. */
    double lowest;
};

/* The closed form for the hottest socket. */
struct kvc_megakv_closed_form {
    struct kvc_megakv_fit fit;
    struct kvc_megakv_load load;
    struct kvc_megakv_mean_costs mean;
    struct kvc_megakv_limits limits;
    struct kvc_megakv_cycle_times times;
    double speed;   /* Requests that it serves [requests/ns]. */
    double share;   /* Its share of all requests. */
    double fill_ns; /* Mean wait of a request for its frame to fill, which the times contain [ns]. */
};

/* Computes the closed form of a resolved scenario, whose costs it changes: they become those of the batches
 * that the socket serves, and of full slabs if its SETs fill them. */
struct kvc_megakv_closed_form kvc_megakv_closed_form_of(const struct kvc_scenario *scenario,
                                                        struct kvc_megakv_costs *costs);

/* The stages of a socket, in the order of a request's way. */
enum kvc_megakv_closed_stage {
    KVC_MEGAKV_CLOSED_RX,
    KVC_MEGAKV_CLOSED_RECEIVE,
    KVC_MEGAKV_CLOSED_INDEX,
    KVC_MEGAKV_CLOSED_SEND,
    KVC_MEGAKV_CLOSED_TX,
    KVC_MEGAKV_CLOSED_STAGES,
};

/* Returns how much of its time a stage of the hottest socket is busy, 0 to 1. */
double kvc_megakv_closed_utilization(const struct kvc_megakv_closed_form *form, uint32_t delay,
                                     enum kvc_megakv_closed_stage stage);

/* Names and kinds of device of the stages. */
struct kvc_megakv_closed_name {
    const char *name, *device;
};
extern const struct kvc_megakv_closed_name kvc_megakv_closed_names[KVC_MEGAKV_CLOSED_STAGES];

#endif
