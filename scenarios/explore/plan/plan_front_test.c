#include <criterion/criterion.h>
#include <math.h>

#include "scenarios/explore/plan/plan_front.h"
#include "sim/base/rng.h"

enum { CANDIDATES = 300 };

static struct kvc_plan_candidate candidate[CANDIDATES];

static const struct kvc_plan_goal p99_at_most_100us = {KVC_PLAN_P99_US, 100, false};

static void set(uint32_t number, double price_usd, double watts, double p95_us)
{
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        candidate[number].closed_form[i] = NAN;
    }
    candidate[number].fate = KVC_PLAN_BEATEN;
    candidate[number].closed_form[KVC_PLAN_PRICE_USD] = price_usd;
    candidate[number].closed_form[KVC_PLAN_WATTS] = watts;
    candidate[number].closed_form[KVC_PLAN_P95_US] = p95_us;
}

static struct kvc_plan_front front_of(uint32_t count)
{
    const struct kvc_plan_search search = {
        .candidate = candidate, .count = count, .goal = &p99_at_most_100us, .goal_count = 1};
    struct kvc_plan_front front;
    kvc_plan_front_find(&search, &front);
    return front;
}

Test(plan_front, has_what_nothing_beats)
{
    set(0, 10, 20, 30);
    set(1, 10, 20, 31); /* Beaten by 0. */
    set(2, 5, 50, 50);
    set(3, 10, 20, 30); /* Equal to 0, which stays. */
    set(4, 1, 1, 1);
    candidate[4].fate = KVC_PLAN_PRUNED;
    struct kvc_plan_front front = front_of(5);
    cr_assert_eq(front.count, 2);
    cr_expect_eq(front.candidate[0], 2);
    cr_expect_eq(front.candidate[1], 0);
    cr_expect_eq(front.latency, KVC_PLAN_P95_US); /* The closed forms know no p99. */
    kvc_plan_front_free(&front);
}

Test(plan_front, counts_nodes_where_a_price_is_unknown)
{
    set(0, NAN, 20, 30);
    set(1, 10, 21, 30);
    set(2, 10, 21, 30);
    candidate[0].nodes = candidate[1].nodes = 2;
    candidate[2].nodes = 1;
    struct kvc_plan_front front = front_of(3);
    cr_expect_not(front.has_price);
    cr_assert_eq(front.count, 2);
    cr_expect_eq(front.candidate[0], 2);
    cr_expect_eq(front.candidate[1], 0);
    kvc_plan_front_free(&front);
}

static bool dominates(uint32_t a, uint32_t b)
{
    const double *first = candidate[a].closed_form, *second = candidate[b].closed_form;
    static const enum kvc_plan_metric metrics[] = {KVC_PLAN_PRICE_USD, KVC_PLAN_WATTS, KVC_PLAN_P95_US};
    bool good = true, better = false;
    for (int i = 0; i < 3; i++) {
        good = good && first[metrics[i]] <= second[metrics[i]];
        better = better || first[metrics[i]] < second[metrics[i]];
    }
    return good && better;
}

Test(plan_front, agrees_with_its_definition)
{
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        set(i, (double)(kvc_rng_seed(1, "price", i) % 1000), (double)(kvc_rng_seed(1, "watts", i) % 1000),
            (double)(kvc_rng_seed(1, "latency", i) % 1000));
    }
    struct kvc_plan_front front = front_of(CANDIDATES);
    uint32_t next[CANDIDATES] = {0};
    for (uint32_t i = 0; i < front.count; i++) {
        next[front.candidate[i]] = 1;
    }
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        bool beaten = false;
        for (uint32_t j = 0; j < CANDIDATES; j++) {
            beaten = beaten || dominates(j, i);
        }
        cr_expect_eq(next[i], !beaten, "candidate %u", i);
    }
    kvc_plan_front_free(&front);
}
