/* Runs small scenarios for tests of laws. */
#ifndef KVC_SCENARIOS_RUN_LAWS_FIXTURE_H
#define KVC_SCENARIOS_RUN_LAWS_FIXTURE_H

#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"

/* Loads the text of a scenario; NULL: it was refused, as *diag says. */
struct kvc_loaded *kvc_laws_try(const char *text, struct kvc_diag *diag);

/* Loads the text of a scenario, which is formatted as by printf. The test fails if it is wrong. */
struct kvc_loaded *kvc_laws_load(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Expects that the loader refuses a scenario with these fields, with a message that contains `message`. */
void kvc_laws_refuse(const char *fields, const char *message);

/* Simulates one replica, or asks the closed form, and frees the scenario. The caller frees the outcome. */
struct kvc_outcome *kvc_laws_answer(struct kvc_loaded *loaded, bool predict);

/* Returns a value, which must be a number. */
double kvc_laws_value(const struct kvc_outcome *outcome, const char *name);

#endif
