/* The closed form of Mega-KV: the limits of a socket's speed, the speed that it serves, and the times of its
 * periodic schedule. A prediction and a forecast take their values from it. */
#ifndef KVC_MODELS_MEGAKV_CLOSED_FORM_H
#define KVC_MODELS_MEGAKV_CLOSED_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "models/megakv/config.h"
#include "models/megakv/costs.h"
#include "models/megakv/resources.h"
#include "sim/run/cache_aside.h"
#include "sim/scenario.h"
#include "sim/workload/source/fill.h"

/* The periodic schedule of a socket, and the latencies that follow from it.
 *
 * Every cycle launches the searches of the requests that arrived in the cycle before; every n-th cycle the
 * inserts of n cycles follow on the GPU. A search waits until the GPU is free, and the batch's sender until
 * it has sent the batch before. Over n cycles the waits repeat, unless the schedule is infeasible: then they
 * grow, and the waits after 64 n cycles count. Requests arrive evenly over a cycle and leave evenly over the
 * time in which their batch is sent, so that the latencies of each of the n batches are evenly spread over an
 * interval. */

/* Times of a socket in one cycle [ns]. */
struct kvc_megakv_cycle_times {
    double cycle_ns, search_ns, insert_ns, batch_send_ns;
    double searches, inserts; /* Jobs of a launch. */
    double fixed_ns;          /* Time of receiving, of half a frame each way, and of the wire. */
    bool overlap;             /* Inserts have a stream of their own, so that searches do not wait for them. */
};

/* The latencies of the requests of n batches. */
struct kvc_megakv_latencies {
    uint32_t batches;                       /* n */
    double middle_ns[KVC_MEGAKV_DELAY_MAX]; /* Latency of the request in the middle of each batch. */
    /* Latency of the last request minus the latency of the first [ns]. */
    double spread_ns;
};

/* Follows the GPU and a sender through the schedule with the delay n, 1 to KVC_MEGAKV_DELAY_MAX. */
struct kvc_megakv_latencies kvc_megakv_latencies_of(const struct kvc_megakv_cycle_times *times,
                                                    uint32_t delay);

/* Returns the mean latency [ns]. */
double kvc_megakv_latency_mean_ns(const struct kvc_megakv_latencies *latencies);

/* The equations of Mega-KV's paper for one GPU: launch times, feasibility, smallest cycle, largest speed.
 *
 * Source: Zhang et al., VLDB J. 26(5) 2017, sec. 5.2 and 8.2, eqs. (1), (2), (4); the non-delayed forms are
 * in the text around them. Symbols: C is the cycle, n the delay, V the input speed, p_S the share of
 * searches, k and b are the fits of the clock pair. Times are in ns and speeds in operations per ns; 1 op/ns
 * is 1000 Mops. The equations hold for GPUs whose launch times are linear in the size of the batch. */

/* Durations of launches as straight lines: time per operation and base time [ns]. */
struct kvc_megakv_fit {
    double search_ns_per_op, search_base_ns; /* k_S, b_S */
    double insert_ns_per_op, insert_base_ns; /* k_I, b_I */
};

/* The load of the GPU. */
struct kvc_megakv_load {
    double search_frac; /* p_S, 0 to 1; the rest are inserts and deletes. */
    unsigned delay;     /* n; 1: inserts are not delayed. */
};

/* Returns T_S = k_S x + b_S, or 0 without searches [ns]. */
double kvc_megakv_search_ns(const struct kvc_megakv_fit *fit, double searches);
/* Returns T_I = k_I x + b_I, or 0 without inserts [ns]. */
double kvc_megakv_insert_ns(const struct kvc_megakv_fit *fit, double inserts);
/* Returns T_max: T_S of a cycle plus T_I of the inserts of n cycles [ns]. */
double kvc_megakv_busiest_ns(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                             double cycle_ns, double ops_per_ns);

/* Eq. (1): returns whether T_S + T_max <= 2C for n >= 2, or T_max <= C for n = 1. */
bool kvc_megakv_feasible(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                         double cycle_ns, double ops_per_ns);

/* Eq. (2): returns the smallest feasible cycle at an input speed, or +infinity above the speed limit [ns]. */
double kvc_megakv_cycle_min_ns(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                               double ops_per_ns);

/* Eq. (4): returns the largest feasible input speed at a cycle, or 0 below the smallest cycle [op/ns]. */
double kvc_megakv_speed_max(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                            double cycle_ns);

/* Returns the input speed that no cycle reaches [op/ns]: 2 / (2 k_S p_S + n k_I p_I), or 1 / (k_S p_S + k_I
 * p_I) for n = 1. */
double kvc_megakv_speed_limit(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load);

/* Returns the fit of a clock pair. Without a fit, and with measured costs, this is the line through the
 * durations of a small and a large launch. */
struct kvc_megakv_fit kvc_megakv_fit_of(const struct kvc_megakv_costs *costs, uint32_t clock);

/* Returns the input load of the equations: the scenario's share of GETs and its delay. */
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
    struct kvc_fill fill; /* How its clients fill their frames. */
    double speed;         /* Requests that it serves [requests/ns]. */
    double share;         /* Share of all requests. */
    double fill_ns;       /* Mean wait of a request for its frame to fill, which the times contain [ns]. */
};

/* Computes the closed form of a resolved scenario, and updates its costs to the batches that the socket
 * serves, and to full slabs if its SETs fill them. */
struct kvc_megakv_closed_form kvc_megakv_closed_form_of(const struct kvc_scenario *scenario,
                                                        struct kvc_megakv_costs *costs);

/* Returns the utilization of a stage of the hottest socket, 0 to 1. The database is not such a stage. */
double kvc_megakv_closed_utilization(const struct kvc_scenario *scenario,
                                     const struct kvc_megakv_costs *costs,
                                     const struct kvc_megakv_closed_form *form, enum kvc_megakv_stage stage);

/* A Mega-KV with a database in the closed form: the requests to the store that replace the application's
 * requests (sim/run/cache_aside.h).
 *
 * The mix holds for the long run, in which all requested keys are stored or, if there is no room, the most
 * popular ones. A stored key misses after an update. */

struct kvc_megakv_behind {
    /* Scenario of the store's requests, limited to the rate that the database serves. */
    const struct kvc_scenario *scenario;
    struct kvc_scenario limited; /* It, with a database; without one, it is the asked scenario. */
    struct kvc_megakv_config config;
    struct kvc_cache_aside_mix mix;
    double messages;               /* Requests to the store for one of the application. */
    struct kvc_database_load load; /* Load of the database for a request of the application. */
    double limit_mops;             /* Most requests of the application that the hottest node's database serves
                                      [million/s]. */
};

/* Derives the store's request mix from a resolved scenario; without a database it is unchanged. The result
 * points to itself and must not be copied. */
void kvc_megakv_behind_open(struct kvc_megakv_behind *behind, const struct kvc_scenario *scenario);

/* Opens the costs of the store's requests. */
void kvc_megakv_behind_costs(const struct kvc_megakv_behind *behind, struct kvc_megakv_costs *costs);

/* Returns the mean latency of a GET of the application, or of any request if there are no GETs [ns]. A
 * request to the store takes latency_ns, including fill_ns for its frame to fill. Messages that follow the
 * database do not wait for a full frame. */
double kvc_megakv_behind_latency_ns(const struct kvc_megakv_behind *behind, double latency_ns,
                                    double fill_ns);

#endif
