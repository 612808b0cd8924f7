/* kvcast run and predict --sensitivity: the gain of a faster part, and the certainty of the answer.
 *
 * Every number of the node's hardware is varied around its value, one parameter at a time: it is multiplied
 * and divided by 1.05, and a whole number changes by at least 1. If only one of the two changes is allowed,
 * the other side is the value itself. Options that are "auto" follow the hardware.
 *
 * A prediction is varied by the closed form. A simulated answer is varied by paired runs
 * (scenarios/run/pairs.h), which take long: only for parameters that have an effect by the closed form or
 * belong to a device that gains throughput when it is faster (scenarios/run/gain.h), the largest effects
 * first and at most KVC_SENSITIVITY_RUNS_MOST of them. The result says what was left out.
 *
 * In a cluster of different machines, a number of the node is varied in all of them by the same factor.
 *
 * The uncertainty comes from the values with a 95 % interval (scenarios/load/load.h). Each is drawn from two
 * halves of a normal distribution that meet at the value and have the ends of the interval as their 2.5 % and
 * 97.5 % quantiles, independently of all others. All other values count as exact. The closed form answers
 * each draw. Not modelled: errors that several values share, such as errors of one day of measuring, and the
 * error of the closed form itself. */
#ifndef KVC_SCENARIOS_RUN_SENSITIVITY_H
#define KVC_SCENARIOS_RUN_SENSITIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenarios/load/load.h"
#include "scenarios/output/outcome.h"
#include "scenarios/output/sensitivity.h"
#include "scenarios/run/driver.h"
#include "sim/base/diag.h"

enum {
    KVC_SENSITIVITY_RUNS_MOST = 8, /* Most parameters that get paired runs. */
    KVC_SENSITIVITY_DRAWS = 1000,  /* Draws for the uncertainty. */
};

/* Checks whether the sensitivity of a scenario can be found, that is, whether the closed form answers it.
 * Call it before a long run. */
enum kvc_status kvc_sensitivity_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Finds the sensitivity of an answered scenario, and notes in the outcome what could not be varied. `options`
 * are the options of the runs; NULL: the outcome is a prediction. *out is NULL after an error. */
enum kvc_status kvc_sensitivity_find(const struct kvc_loaded *loaded, const struct kvc_run_options *options,
                                     struct kvc_outcome *outcome, struct kvc_sensitivity **out,
                                     struct kvc_diag *diag);

#endif
