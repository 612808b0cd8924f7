/* The loads of a capacity search, by the closed form and by simulation.
 *
 * Loads are open-loop. A Poisson process and evenly spaced frames get another rate, a curve of rates is
 * stretched until its highest rate is the load, and saturating clients are replaced by a Poisson process. A
 * closed loop and a trace have no rate of their own, so they have no capacity in this sense.
 *
 * A probe simulates several replicas at one offered load and decides which of them serve it. A replica serves
 * a load if
 *  - it drops at most the share `loss_frac` of the requests that are offered in the second half of the
 *    measured time, and no larger share is lost or left behind by what `kvcast run` says of the whole of it,
 *  - its backlog does not grow, and
 *  - the bounded latency, if there is one, is at most the bound over the whole measured time.
 *
 * The growth of the backlog is the difference between the mean latencies of the two halves over the time
 * between their middles. Where requests arrive faster than they complete, this is the share of the offered
 * load that stays unserved. It counts as growth above a quarter of the precision; less cannot be
 * distinguished from chance.
 *
 * The halves are whole batches of the measured time (sim/metrics/batches.h), so a run must be at least two
 * batches long. The middle batch of an odd number belongs to neither half.
 *
 * The warm-up is the scenario's; "auto" is detected once, at half of the first load, because an overloaded
 * store has no steady state to detect. Below a load that all replicas serve, as on the latency curve, it ends
 * where that run turned out to be steady. While the measured time is shorter than the mean latency over the
 * precision, it is doubled, up to `longest` times the scenario's, and later probes begin with the longer one;
 * the run that detects the warm-up sets that of the first probe. A curve of rates is never prolonged, because
 * it has its own time.
 *
 * A verdict is disputed while the replicas disagree, or while twice the standard error of the growth does not
 * settle on which side of the threshold it is. If some replica violates a bound, a disputed probe is repeated
 * at once with twice the warm-up and the measured time, up to the same length, because other replicas may do
 * so later; it ends when the longer run finds the same of every replica. If only the growth is in doubt, it
 * is repeated when the caller asks for it, because a load beside this one may be clear at once. A probe that
 * the caller prolongs starts this comparison anew.
 *
 * All probes of a replica begin with the same store, which does not depend on the rate. A process for each
 * replica keeps it as it is after preloading, and forks a child for each run, as long as memory suffices
 * (scenarios/run/pool.h). */
#ifndef KVC_SCENARIOS_RUN_CAPACITY_PROBE_H
#define KVC_SCENARIOS_RUN_CAPACITY_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/load/load.h"
#include "scenarios/output/capacity.h"
#include "scenarios/run/pool.h"
#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/scenario.h"

/* The highest rate that a scenario may have [million/s]. */
extern const double kvc_capacity_rate_max_mops;

/* Refuses arrivals that have no rate, and changes of devices during the run, with their place in the
 * scenario. */
enum kvc_status kvc_capacity_check(const struct kvc_loaded *loaded, struct kvc_diag *diag);

/* Sets the closed form's answer for the point's load. */
enum kvc_status kvc_capacity_predict(const struct kvc_scenario *scenario, struct kvc_capacity_point *point,
                                     struct kvc_diag *diag);

/* Finds the capacity by the closed form, with and without the latency bound. It is NaN when the closed form
 * has no limit, or when no load is known to meet the bound. */
enum kvc_status kvc_capacity_find_closed_form(const struct kvc_scenario *scenario,
                                              struct kvc_capacity *capacity, struct kvc_diag *diag);

enum { KVC_CAPACITY_REPLICAS_MIN = 3 /* Replicas of a probe; more if the scenario has more. */ };

/* Fields other than those marked are set by kvc_capacity_prober_open(). */
struct kvc_capacity_prober {
    const struct kvc_scenario *scenario;      /* Set by the caller. */
    const struct kvc_capacity_bounds *bounds; /* Set by the caller. */
    uint32_t jobs;                            /* Set by the caller; 0 for as many as fit. */
    uint32_t longest; /* Set by the caller: longest measured time, relative to the scenario's. */
    uint32_t replicas;
    double warmup_ns, steady_ns; /* The warm-up, and its part before the store was steady. */
    double duration_ns;          /* Measured time of a probe's first run. */
    bool settles;                /* Changed by the caller: prolong every disputed probe at once. */
    double served_mops;          /* Highest load that all replicas serve; 0 before any is known. */
    double first_mops;
    struct kvc_keepers *keepers; /* One for each replica; NULL if there is too little memory. */
};

/* Checks the memory and detects the warm-up at half of first_mops. Whatever it returns, the prober must be
 * closed. */
enum kvc_status kvc_capacity_prober_open(struct kvc_capacity_prober *prober, double first_mops,
                                         const struct kvc_progress *progress, struct kvc_diag *diag);

/* Ends the prober's processes. */
void kvc_capacity_prober_close(struct kvc_capacity_prober *prober);

/* Returns the largest growth of the backlog at which a load counts as served [share of the offered load]. */
double kvc_capacity_growth_max(const struct kvc_capacity_bounds *bounds);

/* Returns whether the point's verdict is disputed and a longer run is allowed. */
bool kvc_capacity_can_prolong(const struct kvc_capacity_prober *prober,
                              const struct kvc_capacity_point *point);

/* Probes the loads points[i]->offered_mops, or prolongs the probes of those that have been judged, and fills
 * all other fields of the points except share_frac and closed_form. The results do not depend on the number
 * of jobs.
 */
enum kvc_status kvc_capacity_probe(struct kvc_capacity_prober *prober, struct kvc_capacity_point **points,
                                   uint32_t count, const struct kvc_progress *progress,
                                   struct kvc_diag *diag);

#endif
