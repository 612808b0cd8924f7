/* The loads of a capacity search: a scenario at any rate, and the closed form's answer at that rate.
 *
 * Loads are open-loop. A Poisson process and evenly spaced frames get another rate, a curve of rates is
 * stretched until its highest rate is the load, and saturating clients are replaced by a Poisson process. A
 * closed loop and a trace have no rate of their own, so they have no capacity in this sense. */
#ifndef KVC_SCENARIOS_RUN_CAPACITY_LOAD_H
#define KVC_SCENARIOS_RUN_CAPACITY_LOAD_H

#include "scenarios/load/load.h"
#include "scenarios/output/capacity.h"
#include "sim/base/diag.h"

/* The highest rate that a scenario may have [million/s]. */
extern const double kvc_capacity_rate_max_mops;

/* Refuses arrivals that have no rate, and changes of devices during the run, with the place where the
 * scenario asks for them. */
enum kvc_status kvc_capacity_check(const struct kvc_loaded *loaded, struct kvc_diag *diag);

/* Copies the scenario, sets the rate and resolves the copy, which shares options and devices with the
 * original. The caller releases it with kvc_scenario_unresolve(). After an error there is nothing to release.
 */
enum kvc_status kvc_capacity_offer(const struct kvc_scenario *scenario, double rate_mops,
                                   struct kvc_scenario *offered, struct kvc_diag *diag);

/* Sets the closed form's answer for the point's load. */
enum kvc_status kvc_capacity_predict(const struct kvc_scenario *scenario, struct kvc_capacity_point *point,
                                     struct kvc_diag *diag);

/* Finds the capacity by the closed form, with and without the latency bound. It is NaN when the closed form
 * has no limit, when it does not know the bounded latency, or when no load meets the bound. */
enum kvc_status kvc_capacity_find_closed_form(const struct kvc_scenario *scenario,
                                              struct kvc_capacity *capacity, struct kvc_diag *diag);

#endif
