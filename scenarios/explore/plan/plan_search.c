#include "scenarios/explore/plan/plan_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/plan/plan_order.h"
#include "sim/base/array.h"

const char *const kvc_plan_fate_names[] = {"open",   "refused",   "pruned",    "beaten",
                                           "failed", "undecided", "confirmed", "chosen"};

/* Copies one metric of the replicas, of which there are at most KVC_PLAN_REPLICAS_MAX. */
static void column(const struct kvc_plan_candidate *candidate, enum kvc_plan_metric metric, double *out)
{
    for (uint32_t i = 0; i < candidate->replicas; i++) {
        out[i] = candidate->value[i * KVC_PLAN_METRICS + metric];
    }
}

struct kvc_interval kvc_plan_value(const struct kvc_plan_search *search,
                                   const struct kvc_plan_candidate *candidate, enum kvc_plan_metric metric)
{
    double values[KVC_PLAN_REPLICAS_MAX];
    if (candidate->replicas == 0 || metric == KVC_PLAN_PRICE_USD) {
        return (struct kvc_interval){candidate->closed_form[metric], NAN};
    }
    column(candidate, metric, values);
    return kvc_plan_look(&search->test, values, candidate->replicas);
}

double kvc_plan_shortfall_frac(const struct kvc_plan_search *search,
                               const struct kvc_plan_candidate *candidate, uint32_t *goal)
{
    double worst_frac = -INFINITY;
    bool known = false;
    *goal = 0;
    for (uint32_t i = 0; i < search->goal_count; i++) {
        double value = kvc_plan_value(search, candidate, search->goal[i].metric).mean;
        double short_frac = -kvc_plan_margin_frac(&search->goal[i], value);
        known = known || !isnan(short_frac);
        if (short_frac > worst_frac) {
            worst_frac = short_frac;
            *goal = i;
        }
    }
    return known ? worst_frac : INFINITY;
}

/* Decides the candidate's goals by its replicas. The first goal that fails decides; otherwise one that is not
 * known or still open does. */
static void decide(struct kvc_plan_search *search, struct kvc_plan_candidate *candidate)
{
    double values[KVC_PLAN_REPLICAS_MAX];
    bool unknown = false, open = false;
    for (uint32_t i = 0; i < search->goal_count; i++) {
        const struct kvc_plan_goal *goal = &search->goal[i];
        struct kvc_interval interval;
        if (goal->metric == KVC_PLAN_PRICE_USD) {
            continue; /* Decided before the first replica. */
        }
        column(candidate, goal->metric, values);
        switch (kvc_plan_decide(&search->test, goal, values, candidate->replicas, &interval)) {
        case KVC_PLAN_MISSED:
            candidate->fate = KVC_PLAN_FAILED;
            candidate->goal = i;
            return;
        case KVC_PLAN_UNKNOWN:
            unknown = true;
            candidate->goal = i;
            break;
        case KVC_PLAN_OPEN:
            candidate->goal = unknown ? candidate->goal : i;
            open = true;
            break;
        case KVC_PLAN_MET:
            break;
        }
    }
    if (unknown || (open && candidate->replicas == search->test.most)) {
        candidate->fate = KVC_PLAN_UNDECIDED;
    } else if (!open) {
        candidate->fate = KVC_PLAN_CONFIRMED;
    }
}

static uint32_t due(const struct kvc_plan_search *search, const struct kvc_plan_candidate *candidate)
{
    return candidate->replicas == 0 ? search->test.least : 1;
}

/* Simulates the replicas that are due of some candidates and decides them. */
static enum kvc_status step(struct kvc_plan_search *search, const uint32_t *which, uint32_t count,
                            struct kvc_diag *diag)
{
    uint32_t tasks = 0;
    struct kvc_plan_task *task = kvc_array_of((size_t)count * search->test.most, sizeof(*task));
    for (uint32_t i = 0; i < count; i++) {
        const struct kvc_plan_candidate *candidate = &search->candidate[which[i]];
        for (uint32_t j = 0; j < due(search, candidate); j++) {
            task[tasks++] = (struct kvc_plan_task){which[i], candidate->replicas + j};
        }
    }
    double *value = kvc_array_of((size_t)tasks * KVC_PLAN_METRICS, sizeof(*value));
    enum kvc_status status = search->simulate(search->data, task, tasks, value, diag);
    for (uint32_t i = 0; i < tasks && status == KVC_OK; i++) {
        struct kvc_plan_candidate *candidate = &search->candidate[task[i].candidate];
        if (candidate->value == NULL) {
            candidate->value =
                kvc_array_of((size_t)search->test.most * KVC_PLAN_METRICS, sizeof(*candidate->value));
        }
        memcpy(candidate->value + (size_t)candidate->replicas++ * KVC_PLAN_METRICS,
               value + (size_t)i * KVC_PLAN_METRICS, KVC_PLAN_METRICS * sizeof(*value));
    }
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        decide(search, &search->candidate[which[i]]);
    }
    search->simulations += status == KVC_OK ? tasks : 0;
    free(task);
    free(value);
    return status;
}

/* Returns the best candidate that was confirmed, or -1. */
static int64_t best_confirmed(const struct kvc_plan_search *search)
{
    int64_t best = -1;
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t next = search->order[i];
        if (search->candidate[next].fate == KVC_PLAN_CONFIRMED &&
            (best < 0 || kvc_plan_precedes(search, next, (uint32_t)best))) {
            best = next;
        }
    }
    return best;
}

/* Lists the candidates of the next step: the first `ahead` open ones that may be better than the best. */
static uint32_t next_step(const struct kvc_plan_search *search, uint32_t *which)
{
    int64_t best = best_confirmed(search);
    uint32_t most = search->exhaustive ? search->count : search->ahead, count = 0;
    for (uint32_t i = 0; i < search->count && count < most; i++) {
        uint32_t next = search->order[i];
        if (search->candidate[next].fate == KVC_PLAN_OPEN_FATE &&
            (search->exhaustive || best < 0 || kvc_plan_may_precede(search, next, (uint32_t)best))) {
            which[count++] = next;
        }
    }
    return count;
}

/* Returns the candidate that misses its goals by least, or -1 if all are refused. */
static int64_t find_nearest(const struct kvc_plan_search *search)
{
    int64_t nearest = -1;
    double least_frac = INFINITY;
    for (uint32_t i = 0; i < search->count; i++) {
        const struct kvc_plan_candidate *candidate = &search->candidate[search->order[i]];
        uint32_t goal;
        if (candidate->fate == KVC_PLAN_REFUSED) {
            continue;
        }
        double short_frac = kvc_plan_shortfall_frac(search, candidate, &goal);
        if (nearest < 0 || short_frac < least_frac) {
            nearest = search->order[i];
            least_frac = short_frac;
        }
    }
    return nearest;
}

/* Simulates the nearest candidate, which a closed form may have pruned wrongly, until it is decided. A price
 * above its bound needs no simulation to be true, but the other goals are worth knowing. */
static enum kvc_status try_nearest(struct kvc_plan_search *search, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    search->nearest = find_nearest(search);
    if (search->nearest < 0 || search->candidate[search->nearest].replicas > 0) {
        return KVC_OK;
    }
    uint32_t which = (uint32_t)search->nearest;
    struct kvc_plan_candidate *candidate = &search->candidate[which];
    bool too_dear =
        candidate->fate == KVC_PLAN_PRUNED && search->goal[candidate->goal].metric == KVC_PLAN_PRICE_USD;
    uint32_t goal = candidate->goal;
    candidate->fate = KVC_PLAN_OPEN_FATE;
    while (status == KVC_OK && candidate->fate == KVC_PLAN_OPEN_FATE) {
        status = step(search, &which, 1, diag);
    }
    if (too_dear) {
        candidate->fate = KVC_PLAN_PRUNED;
        candidate->goal = goal;
    }
    return status;
}

/* The next best candidate that nothing speaks against. */
static int64_t find_runner_up(const struct kvc_plan_search *search)
{
    int64_t found = -1;
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t next = search->order[i];
        enum kvc_plan_fate fate = search->candidate[next].fate;
        if ((fate == KVC_PLAN_CONFIRMED || fate == KVC_PLAN_BEATEN) &&
            (found < 0 || kvc_plan_precedes(search, next, (uint32_t)found))) {
            found = next;
        }
    }
    return found;
}

static void conclude(struct kvc_plan_search *search)
{
    search->chosen = best_confirmed(search);
    if (search->chosen < 0) {
        return;
    }
    search->nearest = -1;
    search->candidate[search->chosen].fate = KVC_PLAN_CHOSEN;
    for (uint32_t i = 0; i < search->count; i++) {
        if (search->candidate[i].fate == KVC_PLAN_OPEN_FATE) {
            search->candidate[i].fate = KVC_PLAN_BEATEN;
        }
    }
    search->runner_up = find_runner_up(search);
}

enum kvc_status kvc_plan_search_run(struct kvc_plan_search *search, struct kvc_diag *diag)
{
    uint32_t *which = kvc_array_of(search->count + 1, sizeof(*which)), count;
    enum kvc_status status = KVC_OK;
    search->chosen = search->nearest = search->runner_up = -1;
    search->simulations = 0;
    search->test.goals = 0;
    for (uint32_t i = 0; i < search->goal_count; i++) {
        search->test.goals += search->goal[i].metric != KVC_PLAN_PRICE_USD;
    }
    kvc_plan_prune(search);
    kvc_plan_sort(search);
    while (status == KVC_OK && (count = next_step(search, which)) > 0) {
        status = step(search, which, count, diag);
    }
    if (status == KVC_OK && best_confirmed(search) < 0) {
        status = try_nearest(search, diag);
    }
    if (status == KVC_OK) {
        conclude(search);
    }
    free(which);
    return status;
}

void kvc_plan_search_free(struct kvc_plan_search *search)
{
    for (uint32_t i = 0; i < search->count; i++) {
        free(search->candidate[i].value);
        search->candidate[i].value = NULL;
    }
    free(search->order);
    search->order = NULL;
}
