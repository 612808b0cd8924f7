#include "scenarios/explore/plan/plan_check.h"

#include <math.h>
#include <string.h>

#include "models/model.h"
#include "models/price.h"
#include "scenarios/load/lua/locate.h"

const double kvc_plan_served_least_frac = 0.99;

/* Returns the line of a path in the scenario, or that of its return statement. */
static int line_of(const struct kvc_plan_options *options, const char *path)
{
    int line = kvc_locate_line(options->path, path);
    return line > 0 ? line : kvc_locate_line(options->path, "");
}

static void add_goal(struct kvc_planned *planned, enum kvc_plan_metric metric, double bound, bool at_least)
{
    if (!isnan(bound)) {
        planned->goal[planned->goal_count++] = (struct kvc_plan_goal){metric, bound, at_least};
    }
}

static void set_goals(const struct kvc_slo *slo, struct kvc_planned *planned)
{
    planned->goal_count = 0;
    planned->is_served_implied = isnan(slo->mops);
    add_goal(planned, KVC_PLAN_P50_US, slo->p50_ns / 1e3, false);
    add_goal(planned, KVC_PLAN_P95_US, slo->p95_ns / 1e3, false);
    add_goal(planned, KVC_PLAN_P99_US, slo->p99_ns / 1e3, false);
    add_goal(planned, KVC_PLAN_P999_US, slo->p999_ns / 1e3, false);
    add_goal(planned, KVC_PLAN_MOPS, slo->mops, true);
    add_goal(planned, KVC_PLAN_SERVED_FRAC, planned->is_served_implied ? kvc_plan_served_least_frac : NAN,
             true);
    add_goal(planned, KVC_PLAN_HIT_FRAC, slo->hit_frac, true);
    add_goal(planned, KVC_PLAN_WATTS, slo->watts, false);
    add_goal(planned, KVC_PLAN_PRICE_USD, slo->price_usd, false);
}

static enum kvc_status check_load(const struct kvc_plan_options *options, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &options->loaded->scenario.workload;
    if (workload->arrival == KVC_ARRIVAL_SATURATE || workload->arrival == KVC_ARRIVAL_CLOSED) {
        return kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, options->path, line_of(options, "workload.arrival"),
            "workload.arrival: found %s, allowed in a plan: an open load such as "
            "{ poisson_mops = 50 }, because an slo means nothing without the load it holds for",
            workload->arrival == KVC_ARRIVAL_SATURATE ? "\"saturate\"" : "clients that wait");
    }
    if (options->loaded->scenario.run.change_count > 0) {
        return kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, options->path, line_of(options, "run.changes"),
            "run.changes: not allowed in a plan, because the closed form knows no changes");
    }
    double rate_mops = kvc_workload_rate_max_mops(workload), least_mops = options->loaded->slo.mops;
    if (isfinite(rate_mops) && least_mops > rate_mops) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, line_of(options, "slo.mops"),
                                "slo.mops: found %g, but the load offers no more than %g Mops", least_mops,
                                rate_mops);
    }
    return KVC_OK;
}

/* Returns whether a path is of hardware or settings, not of the load or the run. */
static bool is_configuration(const char *path)
{
    static const char *const sections[] = {"system", "node", "cluster"};
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        size_t length = strlen(sections[i]);
        if (strncmp(path, sections[i], length) == 0 && (path[length] == '.' || path[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Returns whether a value of the axis may be of another store. */
static bool changes_store(const struct kvc_sweep_axis *axis)
{
    for (uint32_t i = 0; i < axis->count; i++) {
        for (uint32_t j = 0; j < axis->value[i].set.count; j++) {
            if (strcmp(axis->value[i].set.entry[j].path, "system.kind") == 0) {
                return true;
            }
        }
    }
    return false;
}

static enum kvc_status check_axes(const struct kvc_plan_options *options, struct kvc_diag *diag)
{
    const struct kvc_sweep *sweep = &options->loaded->sweep;
    for (uint32_t i = 0; i < sweep->count; i++) {
        const char *path = sweep->axis[i].path;
        char place[KVC_PATH_MAX + sizeof("sweep.")];
        snprintf(place, sizeof(place), "sweep.%s", path);
        if (!is_configuration(path)) {
            return kvc_diag_fail_at(
                diag, KVC_ERR_SCENARIO, options->path, line_of(options, place),
                "sweep of %s: allowed in a plan: paths of system, node and cluster, because a "
                "plan compares configurations under one load",
                path);
        }
        if (changes_store(&sweep->axis[i])) {
            return kvc_diag_fail_at(
                diag, KVC_ERR_SCENARIO, options->path, line_of(options, place),
                "sweep of %s: found system.kind, but a plan compares configurations of one "
                "store, because the errors of the closed form are those of a store",
                path);
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_plan_check(const struct kvc_plan_options *options, struct kvc_planned *planned,
                               struct kvc_diag *diag)
{
    if (!options->loaded->plan.is_stated) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, line_of(options, ""),
                                "the scenario has no plan table, such as plan = { minimise = \"price\" }");
    }
    set_goals(&options->loaded->slo, planned);
    if (planned->goal_count == (planned->is_served_implied ? 1 : 0)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, line_of(options, ""),
                                "the scenario has no slo table, such as slo = { p99 = \"400us\" }");
    }
    enum kvc_status status = check_load(options, diag);
    return status == KVC_OK ? check_axes(options, diag) : status;
}

enum kvc_status kvc_plan_load(const struct kvc_plan_options *options, const struct kvc_planned *planned,
                              uint32_t candidate, struct kvc_loaded **out, struct kvc_diag *diag)
{
    struct kvc_overrides set = {0};
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; options->set != NULL && i < options->set->count && status == KVC_OK; i++) {
        status = kvc_overrides_add(&set, options->set->entry[i].path, options->set->entry[i].value, diag);
    }
    if (status == KVC_OK) {
        status = kvc_space_set(planned->space, candidate, &set, diag);
    }
    if (status == KVC_OK) {
        status = kvc_scenario_load_point(options->path, &set, out, diag);
    }
    kvc_overrides_clear(&set);
    return status;
}

/* Fails with the device that makes the price of the candidate unknown. */
static enum kvc_status fail_price(const struct kvc_plan_options *options, const struct kvc_planned *planned,
                                  uint32_t candidate, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = NULL;
    const struct kvc_device_kind *unknown = NULL;
    enum kvc_status status = kvc_plan_load(options, planned, candidate, &loaded, diag);
    if (status == KVC_OK) {
        kvc_scenario_price_usd(&loaded->scenario, &unknown);
        const char *name = unknown != NULL ? unknown->name : "a device";
        status =
            kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, options->path, 0,
                             "plan: the price of node.%s is unknown at point %u of the sweep; state it, such "
                             "as node = { %s = { base = ..., price = 1000 } }",
                             name, candidate + 1, name);
    }
    kvc_loaded_free(loaded);
    return status;
}

/* Fails with the devices that make the power of the candidate unknown. */
static enum kvc_status fail_watts(const struct kvc_plan_options *options, const struct kvc_planned *planned,
                                  uint32_t candidate, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = NULL;
    struct kvc_forecast forecast = {.watts_unknown = ""};
    enum kvc_status status = kvc_plan_load(options, planned, candidate, &loaded, diag);
    if (status == KVC_OK) {
        status = kvc_scenario_forecast(&loaded->scenario, &forecast, diag);
    }
    if (status == KVC_OK) {
        status = kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, options->path, 0,
            "plan: the power of %s is unknown at point %u of the sweep; state the watts "
            "of these devices, or leave the point out, such as with sweep.where",
            forecast.watts_unknown[0] != '\0' ? forecast.watts_unknown : "a device", candidate + 1);
    }
    kvc_loaded_free(loaded);
    return status;
}

enum kvc_status kvc_plan_check_known(const struct kvc_plan_options *options,
                                     const struct kvc_planned *planned, struct kvc_diag *diag)
{
    const struct kvc_plan_search *search = &planned->search;
    bool needs_price = search->minimise == KVC_PLAN_BY_PRICE || !isnan(options->loaded->slo.price_usd);
    bool needs_watts = search->minimise == KVC_PLAN_BY_WATTS || !isnan(options->loaded->slo.watts);
    for (uint32_t i = 0; i < search->count; i++) {
        const struct kvc_plan_candidate *candidate = &search->candidate[i];
        if (candidate->fate == KVC_PLAN_REFUSED) {
            continue;
        }
        if (needs_price && isnan(candidate->price_usd)) {
            return fail_price(options, planned, i, diag);
        }
        if (needs_watts && isnan(candidate->closed_form[KVC_PLAN_WATTS])) {
            return fail_watts(options, planned, i, diag);
        }
    }
    return KVC_OK;
}
