/* kvcast validate mechanisms: scenarios where simulation and closed form differ because of one mechanism.
 *
 * validate/mechanisms/cases.csv has the columns id, scenario, overrides, on, off, metric, mechanism. A case
 * is answered four times: by closed form and by simulation, with `overrides` and then `on` (the mechanism
 * acts), and with `overrides` and then `off` (an option of the scenario turns it off). Each is a list of
 * key=value separated by semicolons. The metric is one of sim/metrics/values.h that the closed form
 * states. */
#ifndef KVC_VALIDATE_COMMAND_VALIDATE_MECHANISMS_H
#define KVC_VALIDATE_COMMAND_VALIDATE_MECHANISMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "validate/command/validate.h"
#include "validate/command/validate_closed_form.h"

/* The answers about one side of a case. difference_frac is simulated / closed_form - 1. */
struct kvc_mechanism_side {
    double closed_form, simulated, difference_frac;
    struct kvc_both_ways both; /* All values that a plan compares. */
};

enum kvc_mechanism_verdict {
    KVC_MECHANISM_OK,      /* They differ with the mechanism, and the difference goes without it. */
    KVC_MECHANISM_NO_SIGN, /* With the mechanism they differ by no more than 10 %. */
    KVC_MECHANISM_REMAINS, /* Without it they differ by more than 5 % and a third of the first difference. */
};

struct kvc_mechanism {
    char id[64];
    char scenario[160]; /* Relative to the project. */
    char overrides[512], on[512], off[512];
    char metric[64];
    char text[320]; /* What the mechanism is, in one sentence. It may contain commas. */
    struct kvc_mechanism_side with, without;
    enum kvc_mechanism_verdict verdict;
};

struct kvc_mechanisms {
    size_t count;
    struct kvc_mechanism *entry;
};

void kvc_mechanisms_free(struct kvc_mechanisms *mechanisms);

/* Reads the cases of the subject, loads all of their scenarios, then answers them, with three replicas of
 * each simulation unless the case states run.replicas. An error names the case. Call kvc_mechanisms_free() in
 * any case. */
enum kvc_status kvc_mechanisms_score(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                     struct kvc_mechanisms *mechanisms, struct kvc_diag *diag);

/* Prints the cases and their mechanisms as tables on stdout. */
void kvc_mechanisms_print(const struct kvc_mechanisms *mechanisms);

/* Appends the cases to the list of the JSON document. */
void kvc_mechanisms_list(const struct kvc_mechanisms *mechanisms, json_t *list);

#endif
