#include <criterion/criterion.h>
#include <math.h>

#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/popularity_sums.h"

/* Sums over all blocks of keys, without leaving any out. Returns the share of requests that share their key.
 */
static double sum_in_full(const struct kvc_workload *workload, double requests,
                          struct kvc_popularity_use *use)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    double shared = 0;
    *use = (struct kvc_popularity_use){0};
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        double each = block.mass / block.keys, left = exp(-each * requests);
        use->touched_frac -= block.keys / (double)workload->keys * expm1(-each * requests);
        use->left_mass += block.mass * left;
        use->left_squares += block.mass * each * left;
        shared += block.mass * each * requests / (1 + each * requests);
    }
    kvc_popularity_blocks_close(&blocks);
    return shared;
}

static void expect_close(double found, double expected, const char *what, double skew, double requests)
{
    cr_expect(fabs(found - expected) <= 1e-12 * fabs(expected), "%s, skew %g, after %g: %.17g, not %.17g",
              what, skew, requests, found, expected);
}

static void expect_sums(const struct kvc_workload *workload)
{
    const struct kvc_popularity_sums *sums = kvc_popularity_sums_of(workload);
    double skew = workload->popularity == KVC_POPULARITY_ZIPF ? workload->zipf_s : 0;
    for (double requests = 0.01; requests < 1e10; requests *= 3) {
        struct kvc_popularity_use full, use = kvc_popularity_use_after(sums, requests);
        double shared = sum_in_full(workload, requests, &full);
        expect_close(use.touched_frac, full.touched_frac, "touched", skew, requests);
        expect_close(use.left_mass, full.left_mass, "mass", skew, requests);
        expect_close(use.left_squares, full.left_squares, "squares", skew, requests);
        expect_close(kvc_popularity_shared_frac(sums, requests), shared, "shared", skew, requests);
    }
}

/* Series and cut-offs stand for the full sums over the keys. */
Test(popularity_sums, are_those_over_all_blocks)
{
    static const double skews[] = {0, 0.5, 0.99, 1.4};
    for (size_t i = 0; i < sizeof(skews) / sizeof(*skews); i++) {
        for (uint64_t keys = 1; keys < 1000000000; keys *= 1000) {
            expect_sums(&(struct kvc_workload){.keys = keys,
                                               .popularity = skews[i] > 0 ? KVC_POPULARITY_ZIPF
                                                                          : KVC_POPULARITY_UNIFORM,
                                               .zipf_s = skews[i]});
        }
    }
}

/* The keys of an application's actions are not in the order of their popularity. */
Test(popularity_sums, are_those_of_actions)
{
    expect_sums(&(struct kvc_workload){.keys = 2000000,
                                       .popularity = KVC_POPULARITY_ZIPF,
                                       .zipf_s = 0.99,
                                       .get_frac = 1,
                                       .action_count = 2,
                                       .actions = {{.name = "few", .frac = 0.01, .value_bytes = -1},
                                                   {.name = "many", .frac = 0.99, .value_bytes = -1}}});
}

/* Sums are kept by all that they depend on, and computed again when many others were asked for since. */
Test(popularity_sums, are_kept_by_their_workload)
{
    enum { SKEWS = 300 };
    double mass[SKEWS];
    for (uint32_t i = 0; i < 2 * SKEWS; i++) {
        uint32_t skew = i < SKEWS ? i : 2 * SKEWS - 1 - i; /* The latest ones are still kept. */
        const struct kvc_workload workload = {
            .keys = 1000, .popularity = KVC_POPULARITY_ZIPF, .zipf_s = 0.5 + 0.0013 * skew};
        double left = kvc_popularity_use_after(kvc_popularity_sums_of(&workload), 500).left_mass;
        cr_expect(i < SKEWS || left == mass[skew]);
        mass[skew] = left;
    }
    for (uint32_t i = 1; i < SKEWS; i++) {
        cr_expect_lt(mass[i], mass[i - 1]);
    }
}
