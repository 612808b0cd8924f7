/* The equations of Mega-KV's paper for one GPU: launch times, feasibility, smallest cycle, largest speed.
 *
 * Source: Zhang et al., VLDB J. 26(5) 2017, sec. 5.2 and 8.2, eqs. (1), (2), (4); the non-delayed forms are
 * in the text beside them. Symbols: C is the cycle, n the delay, V the input speed, p_S the share of
 * searches, k and b are the fits of the clock pair. Times are in ns and speeds in operations per ns; 1 op/ns
 * is 1000 Mops. The equations hold for GPUs whose launch times are linear in the size of the batch. */
#ifndef KVC_MODELS_MEGAKV_EQUATIONS_H
#define KVC_MODELS_MEGAKV_EQUATIONS_H

#include <stdbool.h>

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

#endif
