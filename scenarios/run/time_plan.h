/* The time plan of a run: whether it would need more than a day of wall-clock time.
 *
 * Two estimates refuse it. Before the start, no processor simulates more than 10^8 requests per second,
 * whatever the store: each is drawn, hashed and looked up, which takes an access to memory or more. After two
 * seconds, the run's own speed tells how long the rest will take (sim/run/replica.h). */
#ifndef KVC_SCENARIOS_RUN_TIME_PLAN_H
#define KVC_SCENARIOS_RUN_TIME_PLAN_H

#include "sim/base/diag.h"
#include "sim/scenario.h"

/* Returns the wall-clock time that a run may need [s]: a day, unless it has been set. Processes forked later
 * inherit it. */
double kvc_time_limit_s(void);

/* Sets it; +infinity: there is none. */
void kvc_time_limit_set(double limit_s);

/* Returns the least wall-clock time of one replica [s]. */
double kvc_time_least_s(const struct kvc_scenario *scenario);

/* Returns KVC_ERR_SCENARIO, with the place of run.duration or run.warmup, if `least_s` exceeds the limit.
 * `what` needs it: "the run". */
enum kvc_status kvc_time_plan(const struct kvc_scenario *scenario, double least_s, const char *what,
                              struct kvc_diag *diag);

/* A run that refuses its duration or warm-up names the option, but does not know where it was written. Adds
 * that place, unless the failure has one or is another, and returns `status`. `diag` may be NULL. */
enum kvc_status kvc_time_name_place(const struct kvc_scenario *scenario, enum kvc_status status,
                                    struct kvc_diag *diag);

#endif
