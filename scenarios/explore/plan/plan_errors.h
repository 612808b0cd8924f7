/* How far the closed form of a store has been from its simulation, as `kvcast validate mechanisms` measured
 * it.
 *
 * For a value of the closed form and a value of the simulation, an error has the least and the largest share
 * by which the simulated value differed from the closed form's: simulated / closed_form - 1. The two values
 * may be different ones, because a closed form that does not know a percentile may know the mean, which lies
 * below it by some share. The errors are observations, not guarantees: they are as good as the cases are
 * many.
 *
 * validate/mechanisms/closed_form.csv has the columns system, closed_form, simulated, low_frac, high_frac and
 * answers, the number of scenarios that were compared. */
#ifndef KVC_SCENARIOS_EXPLORE_PLAN_PLAN_ERRORS_H
#define KVC_SCENARIOS_EXPLORE_PLAN_PLAN_ERRORS_H

#include <stdint.h>
#include <stdio.h>

#include "scenarios/explore/plan/plan_goal.h"
#include "sim/base/diag.h"

struct kvc_plan_error {
    double low_frac, high_frac; /* -1 and infinity: unknown, as long as `answers` is 0. */
    uint32_t answers;           /* Scenarios that were compared. */
};

/* The errors of one store, of[closed form's metric][simulated metric]. */
struct kvc_plan_errors {
    struct kvc_plan_error of[KVC_PLAN_METRICS][KVC_PLAN_METRICS];
};

/* Makes all errors unknown, but those of the price 0. */
void kvc_plan_errors_clear(struct kvc_plan_errors *errors);

/* Widens the errors by one scenario. Values that are unknown or 0 are left out. */
void kvc_plan_errors_add(struct kvc_plan_errors *errors, const double *closed_form, const double *simulated);

/* Reads the errors of a store. Those that the file does not have stay unknown. KVC_ERR_SCENARIO if the file
 * is missing or malformed. */
enum kvc_status kvc_plan_errors_read(const char *path, const char *system, struct kvc_plan_errors *errors,
                                     struct kvc_diag *diag);

/* Write the header, and the known errors of a store. Write errors stay in the stream (ferror). */
void kvc_plan_errors_write_header(FILE *out);
void kvc_plan_errors_write(const struct kvc_plan_errors *errors, const char *system, FILE *out);

/* Returns the range within which a simulated metric lies if the closed form errs no more than it was seen to:
 * the narrowest that its values give. 0 .. infinity if nothing is known. */
void kvc_plan_errors_range(const struct kvc_plan_errors *errors, const double *closed_form,
                           enum kvc_plan_metric metric, double *low, double *high);

#endif
