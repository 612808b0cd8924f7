/* kvcast validate mechanisms, second part: how far the closed form of each store is from its simulation.
 *
 * The errors are the extremes over all scenarios that are answered both ways: the two sides of each
 * mechanism, and the loads in validate/mechanisms/loads.csv, which has the columns scenario and overrides. A
 * closed form may prune the candidates of a plan only as far as validate/mechanisms/closed_form.csv states
 * its errors (scenarios/explore/plan/goal.h), so an error beyond that is a regression. */
#ifndef KVC_VALIDATE_COMMAND_VALIDATE_CLOSED_FORM_H
#define KVC_VALIDATE_COMMAND_VALIDATE_CLOSED_FORM_H

#include "validate/command/validate.h"
#include "scenarios/explore/plan/goal.h"

/* One scenario answered both ways. */
struct kvc_both_ways {
    char system[KVC_NAME_MAX];
    bool has_changes; /* Devices change during the run. */
    double closed_form[KVC_PLAN_METRICS], simulated[KVC_PLAN_METRICS];
};

struct kvc_store_errors {
    char system[KVC_NAME_MAX];
    struct kvc_plan_errors errors;
    uint32_t regressed; /* Errors beyond the stated ones. */
};

struct kvc_closed_forms {
    uint32_t count;
    struct kvc_store_errors *entry; /* In the order in which the stores appear. */
    bool is_stated;                 /* closed_form.csv exists, so that errors can regress. */
};

/* Answers a loaded scenario both ways. */
enum kvc_status kvc_answer_both_ways(const struct kvc_loaded *loaded, const struct kvc_run_options *options,
                                     struct kvc_both_ways *answer, struct kvc_diag *diag);

/* Widens the errors of the answer's store. Answers to scenarios whose devices change during the run are left
 * out: a plan takes none, and the closed form knows nothing of it. */
void kvc_closed_forms_add(struct kvc_closed_forms *forms, const struct kvc_both_ways *answer);

/* Answers the scenarios of loads.csv, if there is such a file, with three replicas, and adds them. */
enum kvc_status kvc_closed_forms_load(const struct kvc_subject *subject,
                                      const struct kvc_run_options *options, struct kvc_closed_forms *forms,
                                      struct kvc_diag *diag);

/* Compares the errors with those that closed_form.csv states. */
enum kvc_status kvc_closed_forms_judge(const struct kvc_subject *subject, struct kvc_closed_forms *forms,
                                       struct kvc_diag *diag);

/* Replaces closed_form.csv. */
enum kvc_status kvc_closed_forms_state(const struct kvc_subject *subject,
                                       const struct kvc_closed_forms *forms, struct kvc_diag *diag);

/* Prints the errors of each store as a table on stdout. */
void kvc_closed_forms_print(const struct kvc_closed_forms *forms);

/* Frees the errors and empties the struct. */
void kvc_closed_forms_free(struct kvc_closed_forms *forms);

#endif
