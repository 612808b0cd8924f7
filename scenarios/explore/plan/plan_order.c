#include "scenarios/explore/plan/plan_order.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"

/* Returns whether the candidate misses a goal even if the closed form errs as much as it was ever seen to. */
static bool misses(const struct kvc_plan_search *search, const struct kvc_plan_candidate *candidate,
                   const struct kvc_plan_goal *goal)
{
    double low, high;
    kvc_plan_errors_range(search->errors, candidate->closed_form, goal->metric, &low, &high);
    return kvc_plan_margin_frac(goal, goal->at_least ? high : low) < 0;
}

void kvc_plan_prune(struct kvc_plan_search *search)
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

/* The values by which candidates are compared, the first difference decides. */
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

void kvc_plan_sort(struct kvc_plan_search *search)
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

bool kvc_plan_precedes(const struct kvc_plan_search *search, uint32_t a, uint32_t b)
{
    struct key first = key_of(search, a, false), second = key_of(search, b, false);
    return compare(&first, &second) < 0;
}

bool kvc_plan_may_precede(const struct kvc_plan_search *search, uint32_t a, uint32_t b)
{
    struct key first = key_of(search, a, true), second = key_of(search, b, false);
    return compare(&first, &second) < 0;
}
