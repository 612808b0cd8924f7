#include "sim/workload/line_cache.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <string.h>

#include "sim/base/diag.h"
#include "sim/base/memo.h"
#include "sim/workload/keys/popularity_sums.h"

enum { NODES = 16 /* Nodes of Gauss' rule in a panel. */ };

/* Steps of the requests between two uses of a line, with their weights in an integral, and how many keys are
 * used within each. */
struct steps {
    double requests[KVC_CARD_REUSE_STEPS], weight[KVC_CARD_REUSE_STEPS];
    struct kvc_popularity_use use[KVC_CARD_REUSE_STEPS];
};

/* Integrates over the logarithm of the requests. */
static void set_steps(struct steps *steps, const struct kvc_workload *workload)
{
    const struct kvc_popularity_sums *sums = kvc_popularity_sums_of(workload);
    const double first = log(0.01), last = log(1e4 * (double)workload->keys);
    const double width = (last - first) * NODES / KVC_CARD_REUSE_STEPS;
    gsl_integration_glfixed_table *nodes = gsl_integration_glfixed_table_alloc(NODES);
    if (nodes == NULL) {
        kvc_out_of_memory("the nodes of an integral");
    }
    for (uint32_t i = 0; i < KVC_CARD_REUSE_STEPS; i++) {
        double from = first + i / NODES * width, at, weight;
        gsl_integration_glfixed_point(from, from + width, i % NODES, &at, &weight, nodes);
        steps->requests[i] = exp(at);
        steps->weight[i] = weight;
        steps->use[i] = kvc_popularity_use_after(sums, steps->requests[i]);
    }
    gsl_integration_glfixed_table_free(nodes);
}

static const struct steps *steps_of(const struct kvc_workload *workload)
{
    static _Thread_local struct kvc_kept kept;
    const double argument[] = {(double)workload->keys, workload->popularity, workload->zipf_s};
    bool found;
    struct steps *steps = kvc_kept_of(&kept, argument, sizeof(argument) / sizeof(*argument),
                                      workload->action_count == 0, sizeof(*steps), &found);
    if (!found) {
        set_steps(steps, workload);
    }
    return steps;
}

/* Computes what kvc_card_reuse_of() returns. A line whose keys are requested with probability P is reused
 * after t requests with density P exp(-P t). It is still cached if none of the other lines of its place was
 * used since. Summed over all lines, P^2 exp(-P t) is the second derivative of exp(-P t). Keys fall into
 * buckets at random. */
static void compute_reuse(const struct kvc_workload *workload, const struct kvc_card_lines *cached,
                          struct kvc_card_reuse *reuse)
{
    double keys = (double)workload->keys, mean = cached->pairs_per_bucket;
    double lines = cached->slab_lines, buckets = cached->buckets;
    const struct steps *steps = steps_of(workload);
    for (uint32_t i = 0; i < KVC_CARD_REUSE_STEPS; i++) {
        const struct kvc_popularity_use use = steps->use[i];
        double left = exp(-mean * use.touched_frac); /* Fraction of the buckets without a used key. */
        double first = use.left_mass / keys, second = use.left_squares / keys;
        double bucket_density = buckets * left * (mean * mean * first * first + mean * second);
        reuse->weight[i] =
            (bucket_density + lines * use.left_squares) / (1 + lines) * steps->requests[i] * steps->weight[i];
        reuse->lines[i] = buckets * (1 - left) + keys * lines * use.touched_frac;
    }
}

/* A configuration and its prediction need the same reuse, as do those that differ only in other devices. */
const struct kvc_card_reuse *kvc_card_reuse_of(const struct kvc_workload *workload,
                                               const struct kvc_card_lines *cached)
{
    static _Thread_local struct kvc_kept kept;
    const double argument[KVC_CARD_REUSE_ARGUMENTS] = {
        (double)workload->keys, workload->popularity,     workload->zipf_s,  cached->buckets,
        cached->places,         cached->pairs_per_bucket, cached->slab_lines};
    bool found, can_keep = workload->action_count == 0;
    struct kvc_card_reuse *reuse =
        kvc_kept_of(&kept, argument, KVC_CARD_REUSE_ARGUMENTS, can_keep, sizeof(*reuse), &found);
    if (!found) {
        *reuse = (struct kvc_card_reuse){.places = cached->places, .can_keep = can_keep};
        memcpy(reuse->argument, argument, sizeof(argument));
        compute_reuse(workload, cached, reuse);
    }
    return reuse;
}

/* Sums the shares of the accesses that hit. Without the terms that are smaller than half of its last digit,
 * the sum is the same. */
static double hit_sum(const struct kvc_card_reuse *reuse, double dispatch_frac)
{
    static const double digit_frac = 0x1p-55, exponent_most = 39; /* exp(-39) is less than 2^-55. */
    double hit = 0;
    for (uint32_t i = 0; i < KVC_CARD_REUSE_STEPS && reuse->places > 0; i++) {
        double weight = reuse->weight[i], exponent = dispatch_frac * reuse->lines[i] / reuse->places;
        if (weight > hit || (weight > hit * digit_frac && exponent < exponent_most)) {
            hit += weight * exp(-exponent);
        }
    }
    return hit;
}

double kvc_card_hit_frac(const struct kvc_card_reuse *reuse, double dispatch_frac)
{
    static _Thread_local struct kvc_memo memo;
    double argument[KVC_CARD_REUSE_ARGUMENTS + 1], hit;
    memcpy(argument, reuse->argument, sizeof(reuse->argument));
    argument[KVC_CARD_REUSE_ARGUMENTS] = dispatch_frac;
    if (!reuse->can_keep || !kvc_memo_find(&memo, argument, &hit)) {
        hit = hit_sum(reuse, dispatch_frac);
        if (reuse->can_keep) {
            kvc_memo_keep(&memo, argument, KVC_CARD_REUSE_ARGUMENTS + 1, hit);
        }
    }
    return fmin(hit, 1);
}
