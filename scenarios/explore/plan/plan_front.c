#include "scenarios/explore/plan/plan_front.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"

enum { DIMENSIONS = 3 };

struct entry {
    double value[DIMENSIONS]; /* Price, power, latency; 0 where a dimension is left out. */
    uint32_t candidate;
};

static bool takes_part(const struct kvc_plan_candidate *candidate)
{
    return candidate->fate != KVC_PLAN_REFUSED && candidate->fate != KVC_PLAN_PRUNED &&
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

static int compare(const void *a, const void *b)
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

/* Keeps the entries of the front, which are sorted: an entry can only be beaten by an earlier one. Of equal
 * entries the first stays. Returns their number. */
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
    qsort(entry, count, sizeof(*entry), compare);
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
