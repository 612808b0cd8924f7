#include "models/composed/closed_form/tier.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/base/rng.h"

enum { LOOKS = 200000, PENDING = 4096 };

/* Copies of a key that are on their way, in the order in which they come. */
struct copies {
    double at[PENDING];
    uint32_t first, count;
};

static uint32_t poisson(struct kvc_rng *rng, double mean)
{
    uint32_t count = 0;
    for (double left = exp(-mean), product = kvc_rng_unit(rng); product > left; count++) {
        product *= kvc_rng_unit(rng);
    }
    return count;
}

/* Returns the share of the GETs that find a key in a tier that takes copies, request by request. */
static double found_frac(const struct kvc_composed_tier_key *key)
{
    static struct copies copies;
    struct kvc_rng rng;
    double gets = 0, found = 0, now = 0;
    bool there = true;
    kvc_rng_init(&rng, 1, "tier", 0);
    memset(&copies, 0, sizeof(copies));
    while (gets < LOOKS) {
        bool batch = key->every > 0;
        uint32_t all = batch ? poisson(&rng, key->every) : 1, reads = 0, changes = 0;
        now += batch ? key->every : -log1p(-kvc_rng_unit(&rng));
        for (uint32_t i = 0; i < all; i++) {
            bool changed = kvc_rng_unit(&rng) < key->changed;
            changes += changed;
            reads += !changed;
        }
        while (copies.count > 0 && copies.at[copies.first % PENDING] <= now) {
            copies.first++;
            copies.count--;
            there = true;
        }
        gets += reads;
        found += there ? reads : 0;
        if (!there && reads > 0 && copies.count < PENDING) {
            copies.at[(copies.first + copies.count++) % PENDING] = now + key->takes;
        }
        there = there && changes == 0;
    }
    return found / gets;
}

static void expect_found(double changed, double takes, double every, double tolerance)
{
    const struct kvc_composed_tier_key key = {1 - changed, changed, takes, every};
    double found = found_frac(&key), present = kvc_composed_tier_present(&key);
    cr_expect_float_eq(present, found, tolerance, "changed %g, copies take %g, every %g: %g, not %g", changed,
                       takes, every, present, found);
}

Test(composed_tier, finds_what_was_not_changed_if_copies_come_at_once)
{
    expect_found(0.05, 0, 0, 0.005);
    expect_found(0.3, 0, 0, 0.01);
}

Test(composed_tier, lacks_a_changed_key_until_its_copy_comes)
{
    expect_found(0.05, 1, 0, 0.01);
    expect_found(0.05, 5, 0, 0.01);
    expect_found(0.05, 20, 0, 0.03);
    expect_found(0.3, 0.2, 0, 0.01);
}

Test(composed_tier, counts_the_requests_of_a_batch_as_one)
{
    expect_found(0.05, 0.75, 0.5, 0.01);
    expect_found(0.05, 3, 2, 0.02);
    expect_found(0.05, 5, 10, 0.01);
    expect_found(0.05, 75, 50, 0.02);
    expect_found(0.3, 175, 50, 0.02);
}
