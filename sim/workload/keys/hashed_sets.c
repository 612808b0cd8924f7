#include "sim/workload/keys/hashed_sets.h"

#include <math.h>

#include "sim/base/memo.h"
#include "sim/workload/keys/popularity_blocks.h"

/* Returns the mean number of entries that are used in a set to which `mean` keys belong on average. */
static double used_of(double mean, double ways)
{
    double probability = exp(-mean), below = 0, used = 0;
    if (mean > 30 * ways) {
        return ways;
    }
    for (double n = 0; n < ways; n++) {
        below += probability;
        used += n * probability;
        probability *= mean / (n + 1);
    }
    return used + ways * (1 - below);
}

double kvc_hashed_sets_held(double keys, double sets, double ways)
{
    return fmin(sets * used_of(keys / sets, ways), keys);
}

static double find_hit_frac(const struct kvc_workload *workload, double keys, double sets, double ways)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    double hit_frac = 0, before = 0, held_before = 0;
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        double after = fmin(before + block.keys, keys), held = kvc_hashed_sets_held(after, sets, ways);
        hit_frac += block.mass * (held - held_before) / block.keys;
        before = after;
        held_before = held;
    }
    kvc_popularity_blocks_close(&blocks);
    return hit_frac;
}

double kvc_hashed_sets_hit_frac(const struct kvc_workload *workload, double keys, double sets, double ways)
{
    static _Thread_local struct kvc_memo memo;
    const double argument[] = {
        (double)workload->keys, workload->popularity, workload->zipf_s, keys, sets, ways};
    double hit_frac;
    if (workload->action_count > 0) {
        return find_hit_frac(workload, keys, sets, ways);
    }
    if (!kvc_memo_find(&memo, argument, &hit_frac)) {
        hit_frac = find_hit_frac(workload, keys, sets, ways);
        kvc_memo_keep(&memo, argument, sizeof(argument) / sizeof(*argument), hit_frac);
    }
    return hit_frac;
}

double kvc_hashed_sets_for(double keys, double ways)
{
    static const double lost_frac_most = 1e-3;
    double sets = 1;
    while (kvc_hashed_sets_held(keys, sets, ways) < (1 - lost_frac_most) * keys) {
        sets *= 2;
    }
    return sets;
}
