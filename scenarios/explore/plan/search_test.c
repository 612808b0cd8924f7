#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "scenarios/explore/plan/search.h"
#include "sim/base/rng.h"

enum { CANDIDATES_MAX = 64 };

/* A world whose simulations are known: the mean latency and power of each candidate, and a noise. */
static struct world {
    struct kvc_plan_candidate candidate[CANDIDATES_MAX];
    double p99_us[CANDIDATES_MAX], watts[CANDIDATES_MAX], noise_us;
    uint32_t steps, largest_step;
} world;

/* The closed form was within 10 % of the simulation. */
static struct kvc_plan_errors errors;

static const struct kvc_plan_goal p99_at_most_100us = {KVC_PLAN_P99_US, 100, false};

static enum kvc_status simulate(void *data, const struct kvc_plan_task *task, uint32_t count, double *value,
                                struct kvc_diag *diag)
{
    (void)data;
    (void)diag;
    world.steps++;
    world.largest_step = count > world.largest_step ? count : world.largest_step;
    for (uint32_t i = 0; i < count; i++) {
        double *of = value + (size_t)i * KVC_PLAN_VALUES;
        uint64_t random = kvc_rng_seed(task[i].candidate, "noise", task[i].replica);
        for (int j = 0; j < KVC_PLAN_VALUES; j++) {
            of[j] = NAN;
        }
        of[KVC_PLAN_P99_US] =
            world.p99_us[task[i].candidate] + world.noise_us * ((double)(random >> 40) / (1 << 24) - 0.5);
        of[KVC_PLAN_WATTS] = world.watts[task[i].candidate];
    }
    return KVC_OK;
}

/* Adds a candidate whose closed form says `closed_form_us`. */
static void add(uint32_t number, double price_usd, double watts, double closed_form_us, double p99_us)
{
    struct kvc_plan_candidate *candidate = &world.candidate[number];
    memset(candidate, 0, sizeof(*candidate));
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        candidate->closed_form[i] = NAN;
    }
    candidate->price_usd = candidate->closed_form[KVC_PLAN_PRICE_USD] = price_usd;
    candidate->nodes = 1;
    candidate->closed_form[KVC_PLAN_P99_US] = closed_form_us;
    candidate->closed_form[KVC_PLAN_WATTS] = watts;
    world.p99_us[number] = p99_us;
    world.watts[number] = watts;
}

static struct kvc_plan_search search_of(uint32_t count)
{
    struct kvc_plan_search search = {
        .candidate = world.candidate,
        .count = count,
        .goal = &p99_at_most_100us,
        .goal_count = 1,
        .test = {.least = 3, .most = 10, .confidence = 0.95},
        .minimise = KVC_PLAN_BY_PRICE,
        .errors = &errors,
        .ahead = 1,
        .simulate = simulate,
    };
    return search;
}

static void run(struct kvc_plan_search *search)
{
    struct kvc_diag diag = {0};
    world.steps = world.largest_step = 0;
    cr_assert_eq(kvc_plan_search_run(search, &diag), KVC_OK, "%s", diag.message);
}

static void make_world(void)
{
    memset(&world, 0, sizeof(world));
    world.noise_us = 1;
    kvc_plan_errors_clear(&errors);
    errors.of[KVC_PLAN_P99_US][KVC_PLAN_P99_US] = (struct kvc_plan_error){-0.1, 0.1, 1};
    errors.of[KVC_PLAN_WATTS][KVC_PLAN_WATTS] = (struct kvc_plan_error){-0.1, 0.1, 1};
    /* In no case was the 99th percentile less than 1.5 times the mean. */
    errors.of[KVC_PLAN_MEAN_US][KVC_PLAN_P99_US] = (struct kvc_plan_error){0.5, 3, 1};
}

TestSuite(plan_search, .init = make_world);

Test(plan_search, chooses_the_cheapest_that_meets_the_goals)
{
    add(0, 400, 10, 50, 50);
    add(1, 100, 10, 300, 300); /* The closed form rules it out. */
    add(2, 200, 10, 105, 130); /* Only a simulation rejects it, because 105 may be 94.5. */
    add(3, 300, 10, 60, 60);
    struct kvc_plan_search search = search_of(4);
    run(&search);
    cr_expect_eq(search.chosen, 3);
    cr_expect_eq(search.runner_up, 0);
    cr_expect_eq(search.candidate[1].fate, KVC_PLAN_PRUNED);
    cr_expect_eq(search.candidate[2].fate, KVC_PLAN_FAILED);
    cr_expect_eq(search.candidate[0].fate, KVC_PLAN_BEATEN);
    cr_expect_eq(search.simulations, 6);
    kvc_plan_search_free(&search);
}

Test(plan_search, adds_replicas_until_the_interval_decides)
{
    add(0, 100, 10, 99, 99);
    world.noise_us = 3;
    struct kvc_plan_search search = search_of(1);
    run(&search);
    cr_expect_eq(search.chosen, 0);
    cr_expect_gt(search.candidate[0].replicas, 3);
    cr_expect_lt(search.candidate[0].replicas, 10);
    cr_expect_eq(search.simulations, search.candidate[0].replicas);
    kvc_plan_search_free(&search);
}

Test(plan_search, leaves_undecided_what_replicas_do_not_decide)
{
    add(0, 100, 10, 100, 100);
    add(1, 200, 10, 50, 50);
    world.noise_us = 20;
    struct kvc_plan_search search = search_of(2);
    run(&search);
    cr_expect_eq(search.candidate[0].fate, KVC_PLAN_UNDECIDED);
    cr_expect_eq(search.candidate[0].replicas, 10);
    cr_expect_eq(search.chosen, 1);
    kvc_plan_search_free(&search);
}

Test(plan_search, a_power_that_may_be_lower_is_simulated)
{
    add(0, 1, 100, 50, 50);
    add(1, 1, 105, 50, 50); /* May have 94.5 W. */
    add(2, 1, 120, 50, 50); /* Has at least 108 W. */
    world.watts[1] = 95;
    struct kvc_plan_search search = search_of(3);
    search.minimise = KVC_PLAN_BY_WATTS;
    run(&search);
    cr_expect_eq(search.chosen, 1);
    cr_expect_eq(search.runner_up, 0);
    cr_expect_eq(search.candidate[2].fate, KVC_PLAN_BEATEN);
    kvc_plan_search_free(&search);
}

Test(plan_search, without_a_solution_simulates_what_comes_nearest)
{
    add(0, 100, 10, 300, 300);
    add(1, 200, 10, 120, 118);
    struct kvc_plan_search search = search_of(2);
    run(&search);
    cr_expect_eq(search.chosen, -1);
    cr_expect_eq(search.nearest, 1);
    cr_expect_eq(search.candidate[1].fate, KVC_PLAN_FAILED);
    cr_expect_eq(search.simulations, 3);
    kvc_plan_search_free(&search);
}

Test(plan_search, a_candidate_that_was_pruned_wrongly_is_found_when_all_others_fail)
{
    add(0, 100, 10, 300, 300);
    add(1, 200, 10, 120, 90);
    struct kvc_plan_search search = search_of(2);
    run(&search);
    cr_expect_eq(search.chosen, 1);
    kvc_plan_search_free(&search);
}

Test(plan_search, a_price_above_its_bound_is_never_chosen)
{
    const struct kvc_plan_goal goals[] = {p99_at_most_100us, {KVC_PLAN_PRICE_USD, 150, false}};
    add(0, 160, 10, 50, 50);
    struct kvc_plan_search search = search_of(1);
    search.goal = goals;
    search.goal_count = 2;
    run(&search);
    cr_expect_eq(search.chosen, -1);
    cr_expect_eq(search.nearest, 0);
    cr_expect_eq(search.candidate[0].goal, 1);
    kvc_plan_search_free(&search);
}

Test(plan_search, an_unknown_percentile_is_bounded_by_the_mean)
{
    add(0, 100, 10, NAN, 90);
    add(1, 200, 10, NAN, 90);
    world.candidate[0].closed_form[KVC_PLAN_MEAN_US] = 70;
    world.candidate[1].closed_form[KVC_PLAN_MEAN_US] = 60;
    struct kvc_plan_search search = search_of(2);
    run(&search);
    cr_expect_eq(search.candidate[0].fate, KVC_PLAN_PRUNED);
    cr_expect_eq(search.chosen, 1);
    kvc_plan_search_free(&search);
}

Test(plan_search, refused_candidates_are_never_simulated)
{
    add(0, 100, 10, 50, 50);
    world.candidate[0].fate = KVC_PLAN_REFUSED;
    struct kvc_plan_search search = search_of(1);
    run(&search);
    cr_expect_eq(search.chosen, -1);
    cr_expect_eq(search.nearest, -1);
    cr_expect_eq(search.simulations, 0);
    kvc_plan_search_free(&search);
}

static void make_random_world(uint64_t seed, uint32_t count)
{
    make_world();
    for (uint32_t i = 0; i < count; i++) {
        double price_usd = (double)(kvc_rng_seed(seed, "price", i) % 20) * 10;
        double us = 60 + (double)(kvc_rng_seed(seed, "latency", i) % 100);
        double wrong_frac = ((double)(kvc_rng_seed(seed, "error", i) % 1000) / 1000 - 0.5) / 6;
        add(i, price_usd, 10, us, us * (1 + wrong_frac));
    }
}

Test(plan_search, agrees_with_an_exhaustive_search)
{
    uint32_t simulations = 0, all = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        make_random_world(seed, CANDIDATES_MAX);
        struct kvc_plan_search pruned = search_of(CANDIDATES_MAX);
        run(&pruned);
        int64_t chosen = pruned.chosen;
        simulations += pruned.simulations;
        kvc_plan_search_free(&pruned);

        make_random_world(seed, CANDIDATES_MAX);
        struct kvc_plan_search exhaustive = search_of(CANDIDATES_MAX);
        exhaustive.exhaustive = true;
        run(&exhaustive);
        cr_expect_eq(chosen, exhaustive.chosen, "world %d", (int)seed);
        all += exhaustive.simulations;
        kvc_plan_search_free(&exhaustive);
    }
    cr_expect_lt(simulations, all / 10, "%u of %u", simulations, all);
}

Test(plan_search, candidates_ahead_do_not_change_the_answer)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        int64_t chosen[2];
        for (uint32_t i = 0; i < 2; i++) {
            make_random_world(seed, CANDIDATES_MAX);
            struct kvc_plan_search search = search_of(CANDIDATES_MAX);
            search.ahead = i == 0 ? 1 : 5;
            run(&search);
            chosen[i] = search.chosen;
            cr_expect_leq(world.largest_step, 3 * search.ahead);
            kvc_plan_search_free(&search);
        }
        cr_expect_eq(chosen[0], chosen[1], "world %d", (int)seed);
    }
}

enum { CANDIDATES = 300 };

static struct kvc_plan_candidate candidate[CANDIDATES];

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
