/* Simulation and closed form count the same time as busy: for every store, at a small and at a large load. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/registry.h"
#include "scenarios/output/outcome.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/store_fixture.h"

enum { TEXT = 512 };

static const double loads[] = {0.3, 0.7}; /* Shares of the capacity. */
static const double chance_frac = 0.05;

/* Loads scenarios/run/utilization/STORE.lua. */
static struct kvc_loaded *load(const char *store, const char *set)
{
    char path[TEXT];
    struct kvc_overrides overrides = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    snprintf(path, sizeof(path), KVC_SOURCE_DIR "/scenarios/run/utilization/%s.lua", store);
    cr_assert_eq(kvc_overrides_parse(&overrides, set, &diag), KVC_OK, "%s", diag.message);
    enum kvc_status status = kvc_scenario_load(path, &overrides, &loaded, &diag);
    kvc_overrides_clear(&overrides);
    cr_assert_eq(status, KVC_OK, "%s: %s", path, diag.message);
    return loaded;
}

static struct kvc_outcome *predict(const struct kvc_loaded *loaded)
{
    struct kvc_outcome *outcome = NULL;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_driver_predict(&loaded->scenario, &outcome, &diag), KVC_OK, "%s", diag.message);
    return outcome;
}

static struct kvc_outcome *run(const struct kvc_loaded *loaded)
{
    const struct kvc_run_options options = {.jobs = 1};
    struct kvc_outcome *outcome = NULL;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome, &diag), KVC_OK, "%s", diag.message);
    return outcome;
}

static double capacity_mops(const char *store)
{
    struct kvc_loaded *loaded = load(store, "workload.arrival=saturate");
    struct kvc_outcome *outcome = predict(loaded);
    double mops = outcome->result.throughput_mops;
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    return mops;
}

/* Loads the scenario with `mops` million requests/s, at random times or by clients that wait. */
static struct kvc_loaded *load_at(const char *store, double mops)
{
    char set[TEXT];
    struct kvc_loaded *loaded = load(store, "run.replicas=1");
    const struct kvc_workload *workload = &loaded->scenario.workload;
    if (workload->arrival == KVC_ARRIVAL_CLOSED) {
        snprintf(set, sizeof(set), "workload.arrival.think=%.9gus", (double)workload->clients / mops);
    } else {
        snprintf(set, sizeof(set), "workload.arrival.poisson_mops=%.9g", mops);
    }
    kvc_loaded_free(loaded);
    return load(store, set);
}

static void expect_same(const char *store, double load_frac, const struct kvc_result *predicted,
                        const struct kvc_result *simulated)
{
    cr_assert_eq(predicted->stage_count, simulated->stage_count, "%s", store);
    for (uint32_t i = 0; i < predicted->stage_count; i++) {
        const char *name = predicted->stage[i].name;
        double closed_frac = predicted->stage[i].utilization_frac;
        double run_frac = simulated->stage[i].utilization_frac;
        cr_assert_str_eq(simulated->stage[i].name, name);
        cr_expect_leq(fabs(closed_frac - run_frac), chance_frac * run_frac,
                      "%s at %.0f %% load: %s is busy %.2f %% in closed form, %.2f %% in a run", store,
                      100 * load_frac, name, 100 * closed_frac, 100 * run_frac);
    }
}

static void compare(const char *store, double load_frac)
{
    struct kvc_loaded *loaded = load_at(store, load_frac * capacity_mops(store));
    struct kvc_outcome *predicted = predict(loaded), *simulated = run(loaded);
    expect_same(store, load_frac, &predicted->result, &simulated->result);
    kvc_outcome_free(predicted);
    kvc_outcome_free(simulated);
    kvc_loaded_free(loaded);
}

Test(utilization, both_forms_count_the_same_time_as_busy)
{
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        for (size_t j = 0; j < sizeof(loads) / sizeof(*loads); j++) {
            compare(kvc_models[i]->name, loads[j]);
        }
    }
}
