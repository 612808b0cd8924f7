#include "scenarios/run/capacity_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "scenarios/load/lua/locate.h"

const double kvc_capacity_rate_max_mops = 1e6;

static const double rate_min_mops = 1e-6;

/* Share by which the closed form's throughput may stay below the load because of rounding. */
static const double rounding_frac = 1e-6;

static bool comes_from_set(const struct kvc_parameters *parameters, const char *path)
{
    for (uint32_t i = 0; i < parameters->count; i++) {
        const struct kvc_parameter *parameter = &parameters->entry[i];
        if (strncmp(parameter->path, path, strlen(path)) == 0 && strcmp(parameter->source, "--set") == 0) {
            return true;
        }
    }
    return false;
}

/* Fails with the place where the user wrote `path`. */
static enum kvc_status refuse(const struct kvc_loaded *loaded, const char *path, struct kvc_diag *diag,
                              const char *message)
{
    const char *file = loaded->scenario.file;
    bool set = comes_from_set(&loaded->parameters, path);
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, set ? "--set" : file,
                            set ? 0 : kvc_locate_line(file, path), "%s: %s", path, message);
}

enum kvc_status kvc_capacity_check(const struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    static const char allowed[] =
        "whose rate cannot be chosen; a capacity search allows \"saturate\" (replaced "
        "by Poisson), poisson_mops, fixed_mops and curve";
    int arrival = loaded->scenario.workload.arrival;
    if (arrival == KVC_ARRIVAL_CLOSED || arrival == KVC_ARRIVAL_TRACE) {
        char message[256];
        snprintf(message, sizeof(message), "found %s, %s",
                 arrival == KVC_ARRIVAL_CLOSED ? "clients" : "a trace", allowed);
        return refuse(loaded, "workload.arrival", diag, message);
    }
    if (loaded->scenario.run.change_count > 0) {
        return refuse(loaded, "run.changes", diag,
                      "found changes of devices during the run, which a capacity search does not allow: it "
                      "compares the halves of a run, whose length it chooses");
    }
    return KVC_OK;
}

static void set_rate(struct kvc_workload *workload, double rate_mops)
{
    if (workload->arrival == KVC_ARRIVAL_CURVE) {
        double factor = rate_mops / kvc_workload_rate_max_mops(workload);
        for (uint32_t i = 0; i < workload->curve_points; i++) {
            workload->curve[i].rate_mops *= factor;
        }
        return;
    }
    if (workload->arrival == KVC_ARRIVAL_SATURATE) {
        workload->arrival = KVC_ARRIVAL_POISSON;
    }
    workload->rate_mops = rate_mops;
}

enum kvc_status kvc_capacity_offer(const struct kvc_scenario *scenario, double rate_mops,
                                   struct kvc_scenario *offered, struct kvc_diag *diag)
{
    const struct kvc_model *model = scenario->model;
    *offered = *scenario;
    offered->config = NULL; /* The original keeps its own. */
    set_rate(&offered->workload, rate_mops);
    enum kvc_status status = kvc_scenario_resolve(offered, diag);
    if (status == KVC_OK && model->check != NULL) {
        status = model->check(offered, diag);
    }
    if (status != KVC_OK) {
        kvc_scenario_unresolve(offered);
    }
    return status;
}

enum kvc_status kvc_capacity_predict(const struct kvc_scenario *scenario, struct kvc_capacity_point *point,
                                     struct kvc_diag *diag)
{
    struct kvc_scenario offered;
    struct kvc_result *result = calloc(1, sizeof(*result));
    if (result == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the result");
    }
    enum kvc_status status = kvc_capacity_offer(scenario, point->offered_mops, &offered, diag);
    if (status == KVC_OK) {
        status = kvc_scenario_predict(&offered, result, diag);
        kvc_scenario_unresolve(&offered);
    }
    if (status == KVC_OK) {
        point->closed_form.throughput_mops = result->throughput_mops;
        point->closed_form.mean_us = result->latency_mean_us;
        point->closed_form.p95_us = result->latency_p95_us;
    }
    free(result);
    return status;
}

/* One search along the closed form. */
struct closed_form {
    const struct kvc_scenario *scenario;
    const struct kvc_capacity_bounds *bounds;
    bool with_latency;
};

/* Returns whether the closed form knows the bounded latency. */
static bool knows_latency(const struct kvc_capacity_bounds *bounds)
{
    return bounds->latency == KVC_CAPACITY_MEAN || bounds->latency == KVC_CAPACITY_P95;
}

/* Returns the bounded latency of the point, which the closed form knows. */
static double bounded_latency_us(const struct closed_form *form, const struct kvc_capacity_point *point)
{
    return form->bounds->latency == KVC_CAPACITY_MEAN ? point->closed_form.mean_us
                                                      : point->closed_form.p95_us;
}

static enum kvc_status serves(const struct closed_form *form, double rate_mops, bool *served,
                              struct kvc_diag *diag)
{
    struct kvc_capacity_point point = {.offered_mops = rate_mops};
    enum kvc_status status = kvc_capacity_predict(form->scenario, &point, diag);
    *served = status == KVC_OK &&
              point.closed_form.throughput_mops >=
                  rate_mops * (1 - form->bounds->loss_frac) * (1 - rounding_frac) &&
              (!form->with_latency || bounded_latency_us(form, &point) <= form->bounds->latency_us);
    return status;
}

/* Bisects between a load that is served and one that is not. */
static enum kvc_status bisect(const struct closed_form *form, double low, double high, double *limit_mops,
                              struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    while (status == KVC_OK && high - low > 1e-5 * high) {
        double middle = (low + high) / 2;
        bool served;
        status = serves(form, middle, &served, diag);
        if (served) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *limit_mops = low;
    return status;
}

/* Doubles or halves from 1 Mops until the limit is bracketed, and then bisects. */
static enum kvc_status find_limit(const struct closed_form *form, double *limit_mops, struct kvc_diag *diag)
{
    double low = 1, high = 1;
    bool served;
    *limit_mops = NAN;
    enum kvc_status status = serves(form, low, &served, diag);
    bool upwards = served;
    while (status == KVC_OK && served == upwards) {
        if (upwards) {
            low = high;
            high *= 2;
        } else {
            high = low;
            low /= 2;
        }
        if (high > kvc_capacity_rate_max_mops || low < rate_min_mops) {
            return KVC_OK;
        }
        status = serves(form, upwards ? high : low, &served, diag);
    }
    return status == KVC_OK ? bisect(form, low, high, limit_mops, diag) : status;
}

/* Walks down from the limit until the latency bound is met, and then bisects. The steps are small, because
 * the bound may be violated at low loads, too, where clients wait to fill a packet. */
static enum kvc_status find_bounded(const struct closed_form *form, double limit_mops, double *bounded_mops,
                                    struct kvc_diag *diag)
{
    static const double step = 0.9, lowest_share = 1e-3;
    double mops = limit_mops;
    bool served = false;
    enum kvc_status status = KVC_OK;
    *bounded_mops = NAN;
    while (status == KVC_OK && !served && mops >= lowest_share * limit_mops) {
        status = serves(form, mops, &served, diag);
        mops = served ? mops : mops * step;
    }
    if (status != KVC_OK || !served || mops == limit_mops) {
        *bounded_mops = served ? limit_mops : NAN;
        return status;
    }
    return bisect(form, mops, mops / step, bounded_mops, diag);
}

enum kvc_status kvc_capacity_find_closed_form(const struct kvc_scenario *scenario,
                                              struct kvc_capacity *capacity, struct kvc_diag *diag)
{
    struct closed_form form = {.scenario = scenario, .bounds = &capacity->bounds};
    enum kvc_status status = find_limit(&form, &capacity->closed_form_limit_mops, diag);
    capacity->closed_form_mops = capacity->closed_form_limit_mops;
    if (status == KVC_OK && capacity->bounds.bounds_latency && !knows_latency(&capacity->bounds)) {
        capacity->closed_form_mops = NAN;
    } else if (status == KVC_OK && capacity->bounds.bounds_latency) {
        form.with_latency = true;
        status = find_bounded(&form, capacity->closed_form_limit_mops, &capacity->closed_form_mops, diag);
    }
    return status;
}
