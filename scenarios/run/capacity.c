#include "scenarios/run/capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/run/answer.h"
#include "scenarios/run/capacity_probe.h"
#include "scenarios/run/ranks/ranks.h"
#include "sim/base/array.h"
#include "sim/base/cleanup.h"
#include "sim/base/text/option.h"

const struct kvc_capacity_bounds kvc_capacity_bounds_default = {.precision_frac = 0.01};

/* The latency curve, as shares of the highest load that most replicas serve. */
static const double shares[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1};

enum { SHARES = sizeof(shares) / sizeof(*shares) };

/* Without a bracket, the next load is further away by this share, then by the square of the step, and so on.
 */
static const double first_step_frac = 0.05;

/* The search gives up below this share of the first load. */
static const double lowest_share = 1.0 / 1024;

/* Shares of the progress bar. */
static const double warmed_frac = 0.1, searched_frac = 0.6;

struct search {
    const struct kvc_scenario *scenario;
    const struct kvc_capacity_options *options;
    struct kvc_capacity *capacity;
    struct kvc_capacity_prober prober;
    double first_mops;
    uint32_t probes;

    struct kvc_progress progress; /* Maps the progress of one step to the progress of the whole search. */
    double from_frac, to_frac;
    double shown_frac; /* A probe that is repeated does not move the bar back. */
    char step[48];
};

/* ---- options ---- */

static bool parse_share(const char *text, double min, double max, double *value)
{
    char *end;
    double share = strtod(text, &end);
    if (end == text || *end != '\0' || !(share >= min && share <= max)) {
        return false;
    }
    *value = share;
    return true;
}

enum kvc_status kvc_capacity_parse_loss(const char *text, struct kvc_capacity_bounds *bounds,
                                        struct kvc_diag *diag)
{
    if (parse_share(text, 0, 1, &bounds->loss_frac) && bounds->loss_frac < 1) {
        return KVC_OK;
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "loss: found \"%.40s\", allowed: a share from 0 to below 1, such as 0.001", text);
}

enum kvc_status kvc_capacity_parse_precision(const char *text, struct kvc_capacity_bounds *bounds,
                                             struct kvc_diag *diag)
{
    if (parse_share(text, 0.001, 0.5, &bounds->precision_frac)) {
        return KVC_OK;
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "precision: found \"%.40s\", allowed: a share from 0.001 to 0.5, such as 0.02",
                         text);
}

enum kvc_status kvc_capacity_parse_latency(const char *text, struct kvc_capacity_bounds *bounds,
                                           struct kvc_diag *diag)
{
    const char *equals = strchr(text, '='), *expected;
    size_t length = equals != NULL ? (size_t)(equals - text) : 0;
    double ns = 0;
    for (int i = 0; i < KVC_CAPACITY_LATENCIES && equals != NULL; i++) {
        const char *name = kvc_capacity_latency_names[i];
        if (strlen(name) == length && memcmp(name, text, length) == 0 &&
            kvc_quantity_parse(equals + 1, KVC_UNIT_NS, &ns, &expected) && ns > 0) {
            bounds->bounds_latency = true;
            bounds->latency = i;
            bounds->latency_us = ns * 1e-3;
            return KVC_OK;
        }
    }
    return kvc_diag_fail(
        diag, KVC_ERR_SCENARIO,
        "latency: found \"%.40s\", allowed: mean, p50, p95, p99 or p999 with a time above 0, "
        "such as p99=1ms",
        text);
}

/* ---- progress ---- */

static void report_part(void *data, const char *step, double fraction)
{
    struct search *search = data;
    (void)step;
    search->shown_frac =
        fmax(search->shown_frac, search->from_frac + fraction * (search->to_frac - search->from_frac));
    kvc_progress_report(search->options->progress, search->step, search->shown_frac);
}

/* Starts a step that moves the bar to `to_frac`, and returns its listener. */
static const struct kvc_progress *begin_step(struct search *search, double to_frac)
{
    search->from_frac = search->to_frac;
    search->to_frac = fmax(to_frac, search->from_frac);
    search->progress = (struct kvc_progress){.report = report_part, .data = search};
    return search->options->progress != NULL ? &search->progress : NULL;
}

/* ---- points ---- */

/* Rounds to six significant digits, so that a load can be typed. */
static double rounded(double mops)
{
    char text[32];
    snprintf(text, sizeof(text), "%.6g", mops);
    return strtod(text, NULL);
}

static struct kvc_capacity_point *point_at(const struct kvc_capacity *capacity, double mops)
{
    for (uint32_t i = 0; i < capacity->count; i++) {
        if (capacity->point[i].offered_mops == mops) {
            return &capacity->point[i];
        }
    }
    return NULL;
}

static int compare_points(const void *a, const void *b)
{
    double left = ((const struct kvc_capacity_point *)a)->offered_mops;
    double right = ((const struct kvc_capacity_point *)b)->offered_mops;
    return left < right ? -1 : left > right;
}

/* Probes `count` loads, at most SHARES, that were not probed yet and adds them to the points. */
static enum kvc_status probe(struct search *search, const double *mops, uint32_t count, double to_frac,
                             struct kvc_diag *diag)
{
    struct kvc_capacity *capacity = search->capacity;
    struct kvc_capacity_point *points[SHARES];
    capacity->point = kvc_array_grown(capacity->point, capacity->count + count + 1, sizeof(*capacity->point));
    search->probes++;
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        points[i] = &capacity->point[capacity->count + i];
        *points[i] = (struct kvc_capacity_point){.offered_mops = mops[i], .share_frac = NAN};
        status = kvc_capacity_predict(search->scenario, points[i], diag);
    }
    if (status == KVC_OK) {
        status = kvc_capacity_probe(&search->prober, points, count, begin_step(search, to_frac), diag);
    }
    if (status == KVC_OK) {
        capacity->count += count;
        qsort(capacity->point, capacity->count, sizeof(*capacity->point), compare_points);
    }
    return status;
}

/* ---- search ---- */

/* The replicas whose boundary is searched. */
enum quorum { MOST_REPLICAS, ALL_REPLICAS, ANY_REPLICA };

/* Returns the last point that at least `least` replicas serve, or -1. */
static int64_t last_served(const struct kvc_capacity *capacity, uint32_t least)
{
    int64_t at = (int64_t)capacity->count - 1;
    while (at >= 0 && capacity->point[at].served_by < least) {
        at--;
    }
    return at;
}

/* Returns the last point that all replicas serve with no disputed point below it, down to the first point
 * that most replicas do not serve: a latency may also be too high at low loads, where clients wait to fill a
 * packet. If there is no such point, returns that lower one, or -1. */
static int64_t last_undisputed(const struct kvc_capacity *capacity)
{
    int64_t top = last_served(capacity, capacity->point[0].replicas / 2 + 1), at = top;
    while (at > 0 && capacity->point[at - 1].served) {
        at--;
    }
    while (at >= 0 && at <= top && capacity->point[at].served_by == capacity->point[at].replicas) {
        at++;
    }
    return at >= 0 ? at - 1 : -1;
}

/* Sets the points around the boundary: *low is served, *high is not. -1 and capacity->count stand for a
 * boundary below and above all points. */
static void find_boundary(const struct kvc_capacity *capacity, enum quorum quorum, int64_t *low,
                          int64_t *high)
{
    uint32_t most = capacity->point[0].replicas / 2 + 1;
    *low = quorum == ALL_REPLICAS ? last_undisputed(capacity)
                                  : last_served(capacity, quorum == MOST_REPLICAS ? most : 1);
    *high = *low + 1;
}

/* Returns why a point is not served, as a part of a sentence. */
static void describe_failure(const struct kvc_capacity_bounds *bounds, const struct kvc_capacity_point *point,
                             char *text, size_t size)
{
    double latency_us = point->latency[bounds->latency].mean;
    if (bounds->bounds_latency && !(latency_us <= bounds->latency_us)) {
        snprintf(text, size, "the latency %s is %.4g us, above the bound of %.4g us",
                 bounds->latency < KVC_CAPACITY_TENANT ? kvc_capacity_latency_names[bounds->latency]
                                                       : "p99 of a tenant",
                 latency_us, bounds->latency_us);
    } else if (!(point->loss_frac <= bounds->loss_frac)) {
        snprintf(text, size, "the loss is %.3g, above the bound of %.3g", point->loss_frac,
                 bounds->loss_frac);
    } else if (!(point->growth_frac <= kvc_capacity_growth_max(bounds))) {
        snprintf(text, size, "the backlog grows by %.3g of the load", point->growth_frac);
    } else {
        snprintf(text, size, "%.3g of the load is lost or left behind", point->unserved_frac);
    }
}

static enum kvc_status fail_unserved(const struct search *search, struct kvc_diag *diag)
{
    char why[160];
    const struct kvc_capacity_point *point = &search->capacity->point[0];
    describe_failure(search->prober.bounds, point, why, sizeof(why));
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                         "no load meets the bounds: at %g Mops, the lowest load that was probed, %s",
                         point->offered_mops, why);
}

/* Chooses the next load beyond the lowest or the highest point. */
static enum kvc_status step_out(const struct search *search, bool upwards, double *step, double *mops,
                                struct kvc_diag *diag)
{
    const struct kvc_capacity *capacity = search->capacity;
    double edge_mops = capacity->point[upwards ? capacity->count - 1 : 0].offered_mops;
    *mops = rounded(upwards ? edge_mops * *step : edge_mops / *step);
    *step *= *step;
    if (upwards && *mops > kvc_capacity_rate_max_mops) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "the store serves %g Mops, and a scenario allows no more than %g Mops",
                             edge_mops, kvc_capacity_rate_max_mops);
    }
    return !upwards && *mops < search->first_mops * lowest_share ? fail_unserved(search, diag) : KVC_OK;
}

/* Estimates how far the search is: most of the work is done when the bracket is narrow. */
static double progress_frac(const struct search *search)
{
    return warmed_frac + (searched_frac - warmed_frac) * (1 - pow(0.85, search->probes + 1));
}

/* Returns the first step away from a load. A step as wide as the wanted bracket needs no bisection. */
static double first_step(double width_frac)
{
    return 1 + (2 * width_frac > first_step_frac ? width_frac : first_step_frac);
}

/* Returns the width to which the points around a boundary are brought, relative to the higher one. */
static double bracket_frac(const struct kvc_capacity_bounds *bounds)
{
    return bounds->precision_frac - kvc_capacity_growth_max(bounds);
}

/* Probes until the points around the boundary are close to each other. */
static enum kvc_status bisect(struct search *search, enum quorum quorum, struct kvc_diag *diag)
{
    struct kvc_capacity *capacity = search->capacity;
    const struct kvc_capacity_bounds *bounds = &capacity->bounds;
    double width_frac = bracket_frac(bounds);
    double step = first_step(width_frac);
    for (;;) {
        int64_t low, high;
        double mops;
        enum kvc_status status = KVC_OK;
        find_boundary(capacity, quorum, &low, &high);
        if (low < 0 || high == capacity->count) {
            status = step_out(search, low >= 0, &step, &mops, diag);
        } else {
            double low_mops = capacity->point[low].offered_mops,
                   high_mops = capacity->point[high].offered_mops;
            if (high_mops - low_mops <= width_frac * high_mops) {
                return KVC_OK;
            }
            mops = rounded((low_mops + high_mops) / 2);
        }
        if (status == KVC_OK) {
            snprintf(search->step, sizeof(search->step), "probe %u at %g Mops", search->probes + 1, mops);
            status = probe(search, &mops, 1, progress_frac(search), diag);
        }
        if (status != KVC_OK) {
            return status;
        }
    }
}

/* Returns the part of a served load that is served for certain: the rest may be a growing backlog that a
 * probe cannot see. */
static double seen_frac(const struct search *search)
{
    return 1 - kvc_capacity_growth_max(&search->capacity->bounds);
}

/* Sets the ends of the interval: all replicas serve *low, none serves *high. Returns false if an end is
 * missing, or if the interval is as narrow as wanted or has nothing between its ends. */
static bool is_wide(const struct search *search, int64_t *low, int64_t *high)
{
    const struct kvc_capacity *capacity = search->capacity;
    int64_t ignored, count = capacity->count;
    find_boundary(capacity, ALL_REPLICAS, low, &ignored);
    find_boundary(capacity, ANY_REPLICA, &ignored, high);
    if (*low < 0 || *high >= count || *high <= 1 + *low) {
        return false;
    }
    return capacity->point[*high].offered_mops * (1 - capacity->bounds.precision_frac) >
           capacity->point[*low].offered_mops * seen_frac(search);
}

/* Probes once more within the gaps at the ends of the interval. *probed says whether a gap was wide enough.
 */
static enum kvc_status close_gaps(struct search *search, int64_t low, int64_t high, bool *probed,
                                  struct kvc_diag *diag)
{
    const struct kvc_capacity *capacity = search->capacity;
    double least_frac = bracket_frac(&capacity->bounds) / 2, mops[2];
    const int64_t upper[] = {low + 1, high};
    uint32_t count = 0;
    for (int i = 0; i < 2; i++) {
        double above_mops = capacity->point[upper[i]].offered_mops,
               below_mops = capacity->point[upper[i] - 1].offered_mops;
        if (above_mops - below_mops > least_frac * above_mops) {
            mops[count++] = rounded((above_mops + below_mops) / 2);
        }
    }
    *probed = count > 0;
    if (count == 0) {
        return KVC_OK;
    }
    snprintf(search->step, sizeof(search->step), "probe %u at %g Mops", search->probes + 1, mops[0]);
    return probe(search, mops, count, progress_frac(search), diag);
}

/* Prolongs the disputed probes next to the ends of the interval. *prolonged says whether there was one. */
static enum kvc_status prolong_ends(struct search *search, int64_t low, int64_t high, bool *prolonged,
                                    struct kvc_diag *diag)
{
    struct kvc_capacity_point *end[] = {&search->capacity->point[low + 1],
                                        &search->capacity->point[high - 1]};
    struct kvc_capacity_point *due[2];
    uint32_t count = 0;
    for (int i = 0; i < 2; i++) {
        if ((i == 0 || end[1] != end[0]) && kvc_capacity_can_prolong(&search->prober, end[i])) {
            due[count++] = end[i];
        }
    }
    *prolonged = count > 0;
    if (count == 0) {
        return KVC_OK;
    }
    search->probes++;
    snprintf(search->step, sizeof(search->step), "a longer probe at %g Mops", due[0]->offered_mops);
    const struct kvc_progress *progress = begin_step(search, progress_frac(search));
    return kvc_capacity_probe(&search->prober, due, count, progress, diag);
}

/* Moves the ends of the interval towards each other if the replicas disagree within it. A load close to the
 * capacity takes long to judge, while two loads beside it may be clear at once. So the gaps are probed first,
 * and probes are prolonged only if that is not enough. *moved says whether there was anything to do. */
static enum kvc_status narrow(struct search *search, bool *moved, struct kvc_diag *diag)
{
    int64_t low, high;
    *moved = false;
    if (!is_wide(search, &low, &high)) {
        return KVC_OK;
    }
    enum kvc_status status = close_gaps(search, low, high, moved, diag);
    return status == KVC_OK && !*moved ? prolong_ends(search, low, high, moved, diag) : status;
}

static enum kvc_status search_boundaries(struct search *search, struct kvc_diag *diag)
{
    bool moved = true;
    snprintf(search->step, sizeof(search->step), "probe 1 at %g Mops", search->first_mops);
    enum kvc_status status = probe(search, &search->first_mops, 1, progress_frac(search), diag);
    while (status == KVC_OK && moved) {
        for (enum quorum quorum = MOST_REPLICAS; quorum <= ANY_REPLICA && status == KVC_OK; quorum++) {
            status = bisect(search, quorum, diag);
        }
        status = status == KVC_OK ? narrow(search, &moved, diag) : status;
    }
    return status;
}

static enum kvc_status probe_curve(struct search *search, double best_mops, struct kvc_diag *diag)
{
    double mops[SHARES];
    uint32_t count = 0;
    for (int i = 0; i < SHARES; i++) {
        mops[count] = rounded(shares[i] * best_mops);
        count += point_at(search->capacity, mops[count]) == NULL;
    }
    snprintf(search->step, sizeof(search->step), "the latency curve");
    search->prober.settles = true;
    enum kvc_status status = count > 0 ? probe(search, mops, count, 1, diag) : KVC_OK;
    for (int i = 0; i < SHARES && status == KVC_OK; i++) {
        point_at(search->capacity, rounded(shares[i] * best_mops))->share_frac = shares[i];
    }
    return status;
}

/* Sets the capacity from all points, which may be those of a search that was interrupted. */
static void conclude(const struct search *search)
{
    struct kvc_capacity *capacity = search->capacity;
    int64_t low, high;
    find_boundary(capacity, ALL_REPLICAS, &low, &high);
    capacity->sure = low >= 0 ? (uint32_t)low : capacity->count;
    capacity->low_mops = low >= 0 ? capacity->point[low].offered_mops * seen_frac(search) : 0;
    find_boundary(capacity, ANY_REPLICA, &low, &high);
    capacity->high_mops = high < capacity->count ? capacity->point[high].offered_mops : NAN;
    find_boundary(capacity, MOST_REPLICAS, &low, &high);
    capacity->best = low >= 0 ? (uint32_t)low : capacity->count;
    capacity->mean_mops =
        low >= 0 && high < capacity->count
            ? (capacity->point[low].offered_mops * seen_frac(search) + capacity->point[high].offered_mops) / 2
            : NAN;
}

/* Returns the load to begin with: the closed form's capacity, or else the scenario's own rate. */
static double first_load(const struct search *search)
{
    const struct kvc_capacity *capacity = search->capacity;
    double own_mops = kvc_workload_rate_max_mops(&search->scenario->workload);
    double first_mops = isfinite(capacity->closed_form_mops)         ? capacity->closed_form_mops
                        : isfinite(capacity->closed_form_limit_mops) ? capacity->closed_form_limit_mops
                        : isfinite(own_mops)                         ? own_mops
                                                                     : 1;
    return rounded(first_mops);
}

static enum kvc_status run_search(struct search *search, struct kvc_diag *diag)
{
    int64_t low, high;
    search->first_mops = first_load(search);
    snprintf(search->step, sizeof(search->step), "the warm-up");
    enum kvc_status status =
        kvc_capacity_prober_open(&search->prober, search->first_mops, begin_step(search, warmed_frac), diag);
    if (status == KVC_OK) {
        status = search_boundaries(search, diag);
    }
    if (status == KVC_OK && !search->options->no_curve) {
        find_boundary(search->capacity, MOST_REPLICAS, &low, &high);
        status = probe_curve(search, search->capacity->point[low].offered_mops, diag);
    }
    if (status == KVC_ERR_INTERRUPTED) {
        snprintf(search->capacity->interrupted_in, sizeof(search->capacity->interrupted_in), "%s",
                 search->step);
        kvc_diag_fail(diag, status, "interrupted in %s; no load has been judged yet", search->step);
    }
    if (search->capacity->count > 0 && (status == KVC_OK || status == KVC_ERR_INTERRUPTED)) {
        conclude(search);
    }
    return status;
}

enum kvc_status kvc_capacity_find(const struct kvc_loaded *loaded, const struct kvc_capacity_options *options,
                                  struct kvc_capacity *capacity, struct kvc_diag *diag)
{
    struct search search = {.scenario = &loaded->scenario, .options = options, .capacity = capacity};
    *capacity = (struct kvc_capacity){.bounds = options->bounds};
    search.prober = (struct kvc_capacity_prober){.scenario = search.scenario,
                                                 .bounds = &capacity->bounds,
                                                 .jobs = options->jobs,
                                                 .longest = options->longest > 0 ? options->longest
                                                                                 : KVC_CAPACITY_LONGEST};
    enum kvc_status status = kvc_capacity_check(loaded, diag);
    if (status == KVC_OK) {
        status = kvc_capacity_find_closed_form(search.scenario, capacity, diag);
    }
    if (status == KVC_OK) {
        status = run_search(&search, diag);
    }
    kvc_capacity_prober_close(&search.prober);
    return status;
}

enum { COMMAND_LINE_MAX = 4096 };

/* Writes the command that repeats the result. Bounds that the user did not give have their defaults. */
static void write_command_line(const struct kvc_capacity_task *task, char *text, size_t size)
{
    const struct kvc_capacity_bounds *bounds = &task->options.bounds;
    size_t length = (size_t)snprintf(text, size, "kvcast capacity %s --loss %g --precision %g", task->path,
                                     bounds->loss_frac, bounds->precision_frac);
    if (bounds->bounds_latency && length < size) {
        snprintf(text + length, size - length, " --latency %s=%.12gus",
                 kvc_capacity_latency_names[bounds->latency], bounds->latency_us);
    }
    kvc_overrides_append(task->set, text, size);
}

static enum kvc_status write_json(const void *report, FILE *out, struct kvc_diag *diag)
{
    return kvc_capacity_write_json(report, out, diag);
}

static void write_csv(const void *report, FILE *out)
{
    kvc_capacity_write_csv(report, out);
}

static void write_table(const void *report, bool color, FILE *out)
{
    kvc_capacity_write_table(report, color, out);
}

enum kvc_status kvc_capacity_answer(const struct kvc_capacity_task *task, FILE *out, bool *partial,
                                    struct kvc_diag *diag)
{
    char command_line[COMMAND_LINE_MAX];
    struct kvc_answer_files files;
    struct kvc_capacity capacity = {.count = 0};
    const struct kvc_capacity_report report = {
        .command_line = command_line, .loaded = task->loaded, .capacity = &capacity};
    struct kvc_question question = {command_line, task->loaded};
    const struct kvc_answer_forms forms = {&report,     write_json,  write_csv,
                                           write_table, task->color, task->keeps ? &question : NULL};
    *partial = false;
    write_command_line(task, command_line, sizeof(command_line));
    enum kvc_status status =
        kvc_ranks_agree(kvc_answer_files_open(&files, task->out, "capacity", task->json, diag), diag);
    if (status == KVC_OK) {
        kvc_cleanup_defer(kvc_ranks_count() == 1);
        status = kvc_capacity_find(task->loaded, &task->options, &capacity, diag);
        kvc_cleanup_defer(false);
    }
    if (status == KVC_ERR_INTERRUPTED && capacity.count > 0) {
        *partial = true;
        *diag = (struct kvc_diag){0};
        question.command_line = NULL; /* A whole answer to the same question is kept. */
        status = KVC_OK;
    }
    if (status == KVC_OK) {
        kvc_progress_done(task->options.progress);
        status = kvc_answer_files_write(&files, &forms, out, diag);
    }
    kvc_answer_files_discard(&files);
    kvc_capacity_free(&capacity);
    return status;
}

enum kvc_status kvc_capacity_draw(const char *folder, struct kvc_diag *diag)
{
    return kvc_answer_files_draw(folder, "capacity", KVC_PLOT_CAPACITY, &folder, 1, diag);
}
