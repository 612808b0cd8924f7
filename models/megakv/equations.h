/* Mega-KV's closed form for one GPU: launch times, feasibility, smallest cycle, largest input speed.
 *
 * Source: Zhang et al., VLDB J. 26(5) 2017, sec. 5.2 and 8.2, eqs. (1), (2), (4); the non-delayed forms are
 * in the text beside them. Symbols: C cycle, n delay, V input speed, p_S share of searches, k and b the fits
 * of the clock pair. Units here: ns, and operations per ns (1 op/ns = 1000 Mops). Valid for launch times that
 * are linear in the batch (GPUs with a fit). */
#ifndef KVC_MODELS_MEGAKV_EQUATIONS_H
#define KVC_MODELS_MEGAKV_EQUATIONS_H

#include <stdbool.h>

struct kvc_megakv_fit {
    double search_ns_per_op, search_base_ns; /* k_S, b_S */
    double insert_ns_per_op, insert_base_ns; /* k_I, b_I */
};

struct kvc_megakv_load {
    double search_frac; /* p_S, 0..1; the rest are inserts and deletes */
    unsigned delay;     /* n; 1: not delayed */
};

/* T_S = k_S x + b_S; nothing to search takes no time. */
double kvc_megakv_search_ns(const struct kvc_megakv_fit *fit, double searches);
/* T_I = k_I x + b_I */
double kvc_megakv_insert_ns(const struct kvc_megakv_fit *fit, double inserts);
/* T_max = T_S + T_I over n cycles */
double kvc_megakv_busiest_ns(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                             double cycle_ns, double ops_per_ns);

/* Eq. (1): T_S + T_max <= 2C (n >= 2), T_max <= C (n = 1). */
bool kvc_megakv_feasible(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                         double cycle_ns, double ops_per_ns);

/* Eq. (2): the smallest feasible cycle at this input speed; +infinity above the speed limit. */
double kvc_megakv_cycle_min_ns(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                               double ops_per_ns);

/* Eq. (4): the largest feasible input speed at this cycle; 0 below the smallest cycle. */
double kvc_megakv_speed_max(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                            double cycle_ns);

/* Input speed that no cycle reaches: V < 2 / (2 k_S p_S + n k_I p_I), or 1 / (k_S p_S + k_I p_I) for n = 1.
 */
double kvc_megakv_speed_limit(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load);

#endif
