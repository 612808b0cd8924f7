/* Tests what mixes cost, with curves of round numbers. */
#include "models/megakv/launch_costs.h"

#include <criterion/criterion.h>

static const double fracs[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
enum { FRACS = sizeof(fracs) / sizeof(*fracs) };

static struct kvc_curve per_job(double ns)
{
    return (struct kvc_curve){.count = 2, .x = {0, 1000}, .y = {0, 1000 * ns}};
}

/* A search costs 10 ns if it hits and 20 ns if it misses; half of each costs 25 ns. */
static struct kvc_megakv_costs costs_of(const struct kvc_megakv_config *config)
{
    struct kvc_megakv_costs costs = {.config = config, .measured = true};
    costs.search = per_job(10);
    costs.search_miss = per_job(20);
    costs.replace = per_job(12);
    costs.insert = per_job(30);
    costs.erase = per_job(8);
    return costs;
}

static const struct kvc_megakv_config on_thread = {.index_on = KVC_MEGAKV_INDEX_ON_THREAD, .streams = 1};

static double search_ns(const struct kvc_megakv_costs *costs, double hit_frac)
{
    const struct kvc_megakv_launch_work launch = {
        .kernel = KVC_MEGAKV_KERNEL_SEARCH, .jobs = 1000, .hit_frac = hit_frac};
    return kvc_megakv_launch_ns(costs, &launch) / 1000;
}

Test(launch_costs, nobody_can_predict_a_random_half)
{
    struct kvc_megakv_costs costs = costs_of(&on_thread);
    for (int i = 0; i < FRACS; i++) {
        cr_expect_float_eq(search_ns(&costs, fracs[i]), 10 * fracs[i] + 20 * (1 - fracs[i]), 1e-9,
                           "no mix was measured");
    }
    costs.search_half_missed = per_job(25);
    cr_expect_float_eq(search_ns(&costs, 1), 10, 1e-9);
    cr_expect_float_eq(search_ns(&costs, 0), 20, 1e-9);
    cr_expect_float_eq(search_ns(&costs, 0.5), 25, 1e-9, "as measured");
    cr_expect_float_eq(search_ns(&costs, 0.9), 11 + 0.2 * 10, 1e-9, "one in ten is a surprise");
    costs.search_half_missed = per_job(11);
    cr_expect_float_eq(search_ns(&costs, 0.5), 15, 1e-9, "a mix is not cheaper than its parts");
}

Test(launch_costs, changes_have_surprises_too)
{
    struct kvc_megakv_costs costs = costs_of(&on_thread);
    struct kvc_megakv_launch_work launch = {.kernel = KVC_MEGAKV_KERNEL_INSERT,
                                            .jobs = 2000,
                                            .erases = 1000,
                                            .replaced_frac = 0.5,
                                            .erased_frac = 0.5};
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 1000 * (8 + 21), 1e-6);
    costs.insert_half_replaced = per_job(40);
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 1000 * (8 + 40), 1e-6);
    costs.erase_miss = per_job(6);
    costs.erase_half_missed = per_job(15);
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 1000 * (15 + 40), 1e-6);
    launch.erased_frac = 0;
    cr_expect_float_eq(kvc_megakv_launch_ns(&costs, &launch), 1000 * (6 + 40), 1e-6);
}

/* In the long run an item leaves the index either because its key gets a new one or because it is evicted. */
Test(launch_costs, evicted_items_were_replaced_as_often_as_keys_are_found)
{
    struct kvc_megakv_costs costs = costs_of(&on_thread);
    costs.evicting = true;
    costs.set_job_frac = 1;
    costs.hit_frac = 0.7;
    struct kvc_megakv_launch_work launch = kvc_megakv_insert_work(&costs, 1000);
    cr_expect_eq(launch.erases, 1000);
    cr_expect_float_eq(launch.erased_frac, 0.3, 1e-9);
    costs.set_job_frac = 0.5; /* Half of the writes are DELETEs, which find as many keys as GETs do. */
    launch = kvc_megakv_insert_work(&costs, 1000);
    cr_expect_eq(launch.erases, 1000);
    cr_expect_float_eq(launch.erased_frac, 0.5 * 0.3 + 0.5 * 0.7, 1e-9);
}
