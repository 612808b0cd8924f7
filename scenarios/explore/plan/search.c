#include "scenarios/explore/plan/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

/* Returns whether the candidate misses a goal even with the largest error of the closed form seen so far. */
static bool misses(const struct kvc_plan_search *search, const struct kvc_plan_candidate *candidate,
                   const struct kvc_plan_goal *goal)
{
    double low, high;
    kvc_plan_errors_range(search->errors, candidate->closed_form, goal->metric, &low, &high);
    return kvc_plan_margin_frac(goal, goal->at_least ? high : low) < 0;
}

/* Marks the candidates that miss a goal even at the end of the range in which the simulation may be
 * (kvc_plan_errors_range); in an exhaustive search only those with a price above its bound, which no
 * simulation changes. */
static void prune(struct kvc_plan_search *search)
{
    for (uint32_t i = 0; i < search->count; i++) {
        struct kvc_plan_candidate *candidate = &search->candidate[i];
        for (uint32_t j = 0; j < search->goal_count && candidate->fate == KVC_PLAN_OPEN_FATE; j++) {
            bool exact = search->goal[j].metric == KVC_PLAN_PRICE_USD;
            if ((exact || !search->exhaustive) && misses(search, candidate, &search->goal[j])) {
                candidate->fate = KVC_PLAN_PRUNED;
                candidate->goal = j;
            }
        }
    }
}

/* The values by which candidates are compared; the first that differs decides. */
struct key {
    double value[3];
    uint32_t number;
};

static double known(double value)
{
    return isnan(value) ? INFINITY : value;
}

/* Returns the key. `optimistic` takes the lowest power that a candidate without replicas may have. */
static struct key key_of(const struct kvc_plan_search *search, uint32_t number, bool optimistic)
{
    const struct kvc_plan_candidate *candidate = &search->candidate[number];
    double closed_form = known(candidate->closed_form[KVC_PLAN_WATTS]), watts = closed_form;
    if (candidate->replicas > 0) {
        watts = known(kvc_plan_value(search, candidate, KVC_PLAN_WATTS).mean);
    } else if (optimistic) {
        double high;
        kvc_plan_errors_range(search->errors, candidate->closed_form, KVC_PLAN_WATTS, &watts, &high);
    }
    double price = known(candidate->price_usd);
    switch (search->minimise) {
    case KVC_PLAN_BY_PRICE:
        return (struct key){{price, closed_form, 0}, number};
    case KVC_PLAN_BY_WATTS:
        return (struct key){{watts, price, 0}, number};
    case KVC_PLAN_BY_NODES:
        return (struct key){{candidate->nodes, price, closed_form}, number};
    }
    KVC_BUG("unknown objective %d", (int)search->minimise);
}

static int compare(const struct key *a, const struct key *b)
{
    for (size_t i = 0; i < sizeof(a->value) / sizeof(*a->value); i++) {
        if (a->value[i] != b->value[i]) {
            return a->value[i] < b->value[i] ? -1 : 1;
        }
    }
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_keys(const void *a, const void *b)
{
    return compare(a, b);
}

/* Makes search->order: the candidates by objective and closed form, best first. */
static void sort_candidates(struct kvc_plan_search *search)
{
    struct key *key = kvc_array_of(search->count + 1, sizeof(*key));
    for (uint32_t i = 0; i < search->count; i++) {
        key[i] = key_of(search, i, false);
    }
    qsort(key, search->count, sizeof(*key), compare_keys);
    search->order = kvc_array_of(search->count + 1, sizeof(*search->order));
    for (uint32_t i = 0; i < search->count; i++) {
        search->order[i] = key[i].number;
    }
    free(key);
}

/* Returns whether candidate `a` is better than `b` by what is known now. */
static bool precedes(const struct kvc_plan_search *search, uint32_t a, uint32_t b)
{
    struct key first = key_of(search, a, false), second = key_of(search, b, false);
    return compare(&first, &second) < 0;
}

/* Returns whether candidate `a`, which is not decided yet, may turn out better than the confirmed `b`. */
static bool may_precede(const struct kvc_plan_search *search, uint32_t a, uint32_t b)
{
    struct key first = key_of(search, a, true), second = key_of(search, b, false);
    return compare(&first, &second) < 0;
}

const char *const kvc_plan_fate_names[] = {"open",   "refused",   "excluded",  "pruned", "beaten",
                                           "failed", "undecided", "confirmed", "chosen"};

/* Copies one metric of the replicas; there are at most KVC_PLAN_REPLICAS_MAX. */
static void column(const struct kvc_plan_candidate *candidate, enum kvc_plan_metric metric, double *out)
{
    for (uint32_t i = 0; i < candidate->replicas; i++) {
        out[i] = candidate->value[i * KVC_PLAN_VALUES + metric];
    }
}

struct kvc_interval kvc_plan_value(const struct kvc_plan_search *search,
                                   const struct kvc_plan_candidate *candidate, enum kvc_plan_metric metric)
{
    double values[KVC_PLAN_REPLICAS_MAX];
    if (candidate->replicas == 0 || metric == KVC_PLAN_PRICE_USD) {
        return (struct kvc_interval){metric < KVC_PLAN_METRICS ? candidate->closed_form[metric] : NAN, NAN};
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

/* Decides the candidate's goals by its replicas. The first goal that fails decides; otherwise a goal that is
 * unknown or still open does. */
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

/* Simulates the replicas that are due for some candidates and decides the candidates. */
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
    double *value = kvc_array_of((size_t)tasks * KVC_PLAN_VALUES, sizeof(*value));
    enum kvc_status status = search->simulate(search->data, task, tasks, value, diag);
    for (uint32_t i = 0; i < tasks && status == KVC_OK; i++) {
        struct kvc_plan_candidate *candidate = &search->candidate[task[i].candidate];
        if (candidate->value == NULL) {
            candidate->value =
                kvc_array_of((size_t)search->test.most * KVC_PLAN_VALUES, sizeof(*candidate->value));
        }
        memcpy(candidate->value + (size_t)candidate->replicas++ * KVC_PLAN_VALUES,
               value + (size_t)i * KVC_PLAN_VALUES, KVC_PLAN_VALUES * sizeof(*value));
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
            (best < 0 || precedes(search, next, (uint32_t)best))) {
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
            (search->exhaustive || best < 0 || may_precede(search, next, (uint32_t)best))) {
            which[count++] = next;
        }
    }
    return count;
}

/* Returns whether all values that the goals bound are known; of an overload, the closed form knows no
 * latency. */
static bool knows_goals(const struct kvc_plan_search *search, const struct kvc_plan_candidate *candidate)
{
    bool knows = true;
    for (uint32_t i = 0; i < search->goal_count; i++) {
        knows = knows && !isnan(kvc_plan_value(search, candidate, search->goal[i].metric).mean);
    }
    return knows;
}

/* Returns the candidate that misses its goals by least, one that is known in full first, or -1 if all are
 * refused. */
static int64_t find_nearest(const struct kvc_plan_search *search)
{
    int64_t nearest = -1;
    double least_frac = INFINITY;
    bool nearest_knows = false;
    for (uint32_t i = 0; i < search->count; i++) {
        const struct kvc_plan_candidate *candidate = &search->candidate[search->order[i]];
        uint32_t goal;
        if (!kvc_plan_competes(candidate)) {
            continue;
        }
        double short_frac = kvc_plan_shortfall_frac(search, candidate, &goal);
        bool knows = knows_goals(search, candidate);
        if (nearest < 0 || knows > nearest_knows || (knows == nearest_knows && short_frac < least_frac)) {
            nearest = search->order[i];
            least_frac = short_frac;
            nearest_knows = knows;
        }
    }
    return nearest;
}

/* Simulates the nearest candidate, which a closed form may have pruned wrongly, until it is decided. If its
 * price is above the bound, it stays pruned, and the replicas only show its other goals. */
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

/* Returns the best candidate besides the chosen one that is confirmed or undisproved, or -1. */
static int64_t find_runner_up(const struct kvc_plan_search *search)
{
    int64_t found = -1;
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t next = search->order[i];
        enum kvc_plan_fate fate = search->candidate[next].fate;
        if ((fate == KVC_PLAN_CONFIRMED || fate == KVC_PLAN_BEATEN) &&
            (found < 0 || precedes(search, next, (uint32_t)found))) {
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
    prune(search);
    sort_candidates(search);
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

enum { DIMENSIONS = 3 };

struct entry {
    double value[DIMENSIONS]; /* Price, power, latency; 0 where a dimension is left out. */
    uint32_t candidate;
};

static bool takes_part(const struct kvc_plan_candidate *candidate)
{
    return kvc_plan_competes(candidate) && candidate->fate != KVC_PLAN_PRUNED &&
           candidate->fate != KVC_PLAN_FAILED;
}

/* Returns whether every candidate that takes part knows the metric. */
static bool is_known(const struct kvc_plan_search *search, enum kvc_plan_metric metric)
{
    for (uint32_t i = 0; i < search->count; i++) {
        if (takes_part(&search->candidate[i]) && !isfinite(search->candidate[i].closed_form[metric])) {
            return false;
        }
    }
    return true;
}

static enum kvc_plan_metric find_latency(const struct kvc_plan_search *search)
{
    static const enum kvc_plan_metric others[] = {KVC_PLAN_P99_US, KVC_PLAN_P95_US, KVC_PLAN_P50_US,
                                                  KVC_PLAN_MEAN_US};
    for (uint32_t i = 0; i < search->goal_count; i++) {
        if ((int)search->goal[i].metric < KVC_PLAN_LATENCIES && is_known(search, search->goal[i].metric)) {
            return search->goal[i].metric;
        }
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (is_known(search, others[i])) {
            return others[i];
        }
    }
    return KVC_PLAN_METRICS;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *first = a, *second = b;
    for (int i = 0; i < DIMENSIONS; i++) {
        if (first->value[i] != second->value[i]) {
            return first->value[i] < second->value[i] ? -1 : 1;
        }
    }
    return (first->candidate > second->candidate) - (first->candidate < second->candidate);
}

static bool is_at_least_as_good(const struct entry *a, const struct entry *b)
{
    bool good = true;
    for (int i = 0; i < DIMENSIONS; i++) {
        good = good && a->value[i] <= b->value[i];
    }
    return good;
}

/* Keeps the entries of the front and returns their number. The entries are sorted, so that only an earlier
 * one can beat an entry; the first of equal entries stays. */
static uint32_t keep_best(struct entry *entry, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool beaten = false;
        for (uint32_t j = kept; j-- > 0 && !beaten;) {
            beaten = is_at_least_as_good(&entry[j], &entry[i]);
        }
        if (!beaten) {
            entry[kept++] = entry[i];
        }
    }
    return kept;
}

void kvc_plan_front_find(const struct kvc_plan_search *search, struct kvc_plan_front *front)
{
    struct entry *entry = kvc_array_of(search->count + 1, sizeof(*entry));
    uint32_t count = 0;
    *front = (struct kvc_plan_front){.has_price = is_known(search, KVC_PLAN_PRICE_USD),
                                     .has_watts = is_known(search, KVC_PLAN_WATTS),
                                     .latency = find_latency(search)};
    for (uint32_t i = 0; i < search->count; i++) {
        const double *value = search->candidate[i].closed_form;
        if (takes_part(&search->candidate[i])) {
            entry[count++] =
                (struct entry){{front->has_price ? value[KVC_PLAN_PRICE_USD] : search->candidate[i].nodes,
                                front->has_watts ? value[KVC_PLAN_WATTS] : 0,
                                front->latency < KVC_PLAN_METRICS ? value[front->latency] : 0},
                               i};
        }
    }
    qsort(entry, count, sizeof(*entry), compare_entries);
    front->count = keep_best(entry, count);
    front->candidate = kvc_array_of(front->count + 1, sizeof(*front->candidate));
    for (uint32_t i = 0; i < front->count; i++) {
        front->candidate[i] = entry[i].candidate;
    }
    free(entry);
}

void kvc_plan_front_free(struct kvc_plan_front *front)
{
    free(front->candidate);
    front->candidate = NULL;
    front->count = 0;
}
