/* What the files of the sensitivity share. */
#ifndef KVC_SCENARIOS_RUN_SENSITIVITY_INTERNAL_H
#define KVC_SCENARIOS_RUN_SENSITIVITY_INTERNAL_H

#include "scenarios/run/hardware_values.h"
#include "scenarios/run/sensitivity.h"

/* An analysis: parameter i of `found` is parameter i of `values` until they are ranked. */
struct kvc_sensitivity_analysis {
    const struct kvc_scenario *scenario;
    struct kvc_hardware_values values;
    struct kvc_sensitivity *found;
    struct kvc_scenario *copy; /* The hardware that is varied. */
};

/* The values of an answer, by enum kvc_sensitivity_metric. */
struct kvc_sensitivity_answer {
    double metric[KVC_SENSITIVITY_METRICS];
};

/* Asks the closed form about the copy as its hardware is now. Returns false if it is refused. */
bool kvc_sensitivity_ask(struct kvc_scenario *copy, struct kvc_sensitivity_answer *answer);

/* A parameter in two places. */
struct kvc_sensitivity_step {
    double log_ratio; /* Logarithm of the upper place over the lower one, the mean over its numbers. */
    double lower,
        upper; /* Powers of the step's factor that the numbers are multiplied by, such as -1 and 1. */
};

/* Multiplies all numbers of a parameter by a power of the step's factor. Whole numbers change by 1 at least
 * unless the power is 0. Returns the mean logarithm of the change; NaN if nothing changes. */
double kvc_sensitivity_move(const struct kvc_sensitivity_analysis *analysis, uint32_t parameter, double power,
                            struct kvc_scenario *copy);

/* Finds the elasticities of all parameters by the closed form, and in step[i] how parameter i can be varied.
 */
void kvc_sensitivity_by_closed_form(struct kvc_sensitivity_analysis *analysis,
                                    struct kvc_sensitivity_step *step);

/* Replaces the elasticities of the most important parameters by those of paired runs. */
enum kvc_status kvc_sensitivity_by_runs(struct kvc_sensitivity_analysis *analysis,
                                        const struct kvc_sensitivity_step *step,
                                        const struct kvc_run_options *options,
                                        const struct kvc_outcome *outcome, struct kvc_diag *diag);

/* Draws the uncertain values, and fills in found->uncertainty and the shares of the variance. */
void kvc_sensitivity_draw(struct kvc_sensitivity_analysis *analysis, uint32_t draws);

#endif
