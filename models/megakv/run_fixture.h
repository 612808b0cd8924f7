/* Simulations for the tests of this folder. */
#ifndef KVC_MODELS_MEGAKV_RUN_FIXTURE_H
#define KVC_MODELS_MEGAKV_RUN_FIXTURE_H

#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Simulates in a child (one engine per process) and brings the result back, to be freed. `timeline`: file for
 * what happened when; NULL: none. A simulation that fails fails the test. */
struct kvc_result *kvc_test_simulate(const struct kvc_scenario *scenario, const char *timeline);

/* Without what differs from run to run. */
void kvc_test_forget_wall(struct kvc_result *result);

/* Of the model or else of the kernels; NaN: there is none. */
double kvc_test_metric(const struct kvc_result *result, const char *name);

/* The test fails where there is none. */
const struct kvc_stage_result *kvc_test_stage(const struct kvc_result *result, const char *name);

#endif
