#include "sim/workload/keys/popularity_sums.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/memo.h"
#include "sim/workload/keys/popularity_blocks.h"

enum {
    GROUP = 16,        /* Blocks of a group, ... */
    LANES = GROUP / 4, /* ... which are summed in lanes that need not wait for one another. */
    TERMS = 13,        /* Terms of a series in what is less than series_most, for all digits of a double. */
    MOMENTS = 16,      /* Sums that the series need. */
    NEAR_TERMS = 18,   /* Terms of a series about a group's middle in what is less than near_most. */
    NEAR_MOMENTS = 20, /* Sums that these series need. */
};

static const double series_most = 1.0 / 16, near_most = 1;

/* Beside the least popular keys, those that are requested so much more often are all used. */
static const double exponent_most = 100;

/* Keys with nearly equal popularity: their fraction of all keys, their share of the requests, and that of
 * each of them. */
struct block {
    double frac, mass, each;
};

/* A group of blocks about its middle share, from which that of each block differs by at most `spread` of it.
 */
struct group {
    double middle, spread;
    double moment[NEAR_MOMENTS]; /* Sums of frac * (each / middle - 1)^k over its blocks. */
};

struct kvc_popularity_sums {
    uint32_t count, room, groups;
    double keys;
    struct block *block; /* In descending order of popularity. */
    double *frac_before; /* Sum of `frac` over the blocks before each one, and over all. */
    struct group *group;
    double (*moment)[MOMENTS]; /* By group: the sums of frac * each^k over its blocks and all later ones. */
};

/* ---- creation ---- */

/* Sets a group of `count` blocks. */
static void set_group(struct group *group, const struct block *block, uint32_t count)
{
    double from[GROUP] = {0}, term[GROUP] = {0};
    group->middle = (block[0].each + block[count - 1].each) / 2;
    group->spread = block[0].each / group->middle - 1;
    for (uint32_t i = 0; i < count; i++) {
        from[i] = block[i].each / group->middle - 1;
        term[i] = block[i].frac;
    }
    for (int k = 0; k < NEAR_MOMENTS; k++) {
        double sum[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            sum[lane] = (term[lane] + term[lane + LANES]) + (term[lane + 2 * LANES] + term[lane + 3 * LANES]);
        }
        group->moment[k] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        for (int i = 0; i < GROUP; i++) {
            term[i] *= from[i];
        }
    }
}

static void set_moments(struct kvc_popularity_sums *sums)
{
    double sum[MOMENTS] = {0};
    sums->groups = (sums->count + GROUP - 1) / GROUP;
    sums->moment = kvc_array_grown(sums->moment, sums->groups, sizeof(*sums->moment));
    sums->group = kvc_array_grown(sums->group, sums->groups, sizeof(*sums->group));
    for (uint32_t i = 0; i < sums->groups; i++) {
        uint32_t first = i * GROUP, left = sums->count - first;
        set_group(&sums->group[i], &sums->block[first], left < GROUP ? left : GROUP);
    }
    for (uint32_t i = sums->count; i-- > 0;) {
        double term = sums->block[i].frac;
        for (int k = 0; k < MOMENTS; k++) {
            sum[k] += term;
            term *= sums->block[i].each;
        }
        if (i % GROUP == 0) {
            memcpy(sums->moment[i / GROUP], sum, sizeof(sum));
        }
    }
    sums->frac_before = kvc_array_grown(sums->frac_before, sums->count + 1, sizeof(*sums->frac_before));
    sums->frac_before[0] = 0;
    for (uint32_t i = 0; i < sums->count; i++) {
        sums->frac_before[i + 1] = sums->frac_before[i] + sums->block[i].frac;
    }
}

static void set_blocks(struct kvc_popularity_sums *sums, const struct kvc_workload *workload)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    sums->count = 0;
    sums->keys = (double)workload->keys;
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        const struct block added = {block.keys / sums->keys, block.mass, block.mass / block.keys};
        if (sums->count == sums->room) {
            sums->room = sums->room > 0 ? 2 * sums->room : 64;
            sums->block = kvc_array_grown(sums->block, sums->room, sizeof(*sums->block));
        }
        uint32_t at = sums->count++;
        for (; at > 0 && sums->block[at - 1].each < added.each; at--) { /* A kind of an action's keys. */
            sums->block[at] = sums->block[at - 1];
        }
        sums->block[at] = added;
    }
    kvc_popularity_blocks_close(&blocks);
    set_moments(sums);
}

const struct kvc_popularity_sums *kvc_popularity_sums_of(const struct kvc_workload *workload)
{
    static _Thread_local struct kvc_kept kept;
    const double argument[] = {(double)workload->keys, workload->popularity, workload->zipf_s};
    bool found, shared = workload->action_count == 0;
    struct kvc_popularity_sums *sums =
        kvc_kept_of(&kept, argument, sizeof(argument) / sizeof(*argument), shared, sizeof(*sums), &found);
    if (!found) {
        set_blocks(sums, workload);
    }
    return sums;
}

/* ---- use ---- */

/* Returns the first block whose keys, and those of later ones, are requested less than `mean` times. Blocks
 * are counted in steps of `step`. */
static uint32_t first_below(const struct kvc_popularity_sums *sums, double requests, double mean,
                            uint32_t step)
{
    uint32_t low = 0, high = (sums->count + step - 1) / step;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sums->block[middle * step].each * requests < mean) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static uint32_t end_of(const struct kvc_popularity_sums *sums, uint32_t group)
{
    return group < sums->groups ? group * GROUP : sums->count;
}

/* Adds blocks one by one. */
static void add_blocks(const struct kvc_popularity_sums *sums, uint32_t first, uint32_t end, double requests,
                       struct kvc_popularity_use *use)
{
    for (uint32_t i = first; i < end; i++) {
        const struct block *block = &sums->block[i];
        double left = exp(-block->each * requests);
        use->touched_frac += block->frac * (1 - left);
        use->left_mass += block->mass * left;
        use->left_squares += block->mass * block->each * left;
    }
}

/* Adds a group whose shares are so close together that the series about their middle ends early:
 * exp(-(m + d)) = exp(-m) (1 - d + d^2 / 2 ...). */
static void add_group(const struct kvc_popularity_sums *sums, const struct group *group, double requests,
                      struct kvc_popularity_use *use)
{
    double mean = group->middle * requests, term = exp(-mean), bound = 1;
    double keys = 0, mass = 0, squares = 0; /* Sums with the factors 1, each / middle and its square. */
    for (int k = 0; k < NEAR_TERMS && bound > 0x1p-56; k++) {
        const double *moment = group->moment + k;
        keys += term * moment[0];
        mass += term * (moment[0] + moment[1]);
        squares += term * (moment[0] + 2 * moment[1] + moment[2]);
        term *= -mean / (k + 1);
        bound *= mean * group->spread / (k + 1);
    }
    double each = sums->keys * group->middle;
    use->touched_frac += group->moment[0] - keys;
    use->left_mass += each * mass;
    use->left_squares += each * group->middle * squares;
}

struct kvc_popularity_use kvc_popularity_use_after(const struct kvc_popularity_sums *sums, double requests)
{
    uint32_t rare = first_below(sums, requests, series_most, GROUP), end = end_of(sums, rare);
    double least = sums->block[sums->count - 1].each * requests;
    uint32_t first = first_below(sums, requests, least + exponent_most, 1);
    struct kvc_popularity_use use = {.touched_frac = sums->frac_before[first]};
    double term = sums->keys;
    for (uint32_t i = first; i < end;) {
        const struct group *group = &sums->group[i / GROUP];
        uint32_t next = end_of(sums, i / GROUP + 1);
        if (i % GROUP == 0 && group->middle * requests * group->spread <= near_most) {
            add_group(sums, group, requests, &use);
        } else {
            add_blocks(sums, i, next, requests, &use);
        }
        i = next;
    }
    for (int k = 0; k < TERMS && rare < sums->groups; k++) { /* exp(-x) = 1 - x + x^2 / 2 ... */
        const double *moment = sums->moment[rare] + k;
        use.touched_frac -= k > 0 ? term / sums->keys * moment[0] : 0;
        use.left_mass += term * moment[1];
        use.left_squares += term * moment[2];
        term *= -requests / (k + 1);
    }
    return use;
}

double kvc_popularity_shared_frac(const struct kvc_popularity_sums *sums, double requests)
{
    uint32_t rare = first_below(sums, requests, series_most, GROUP), end = end_of(sums, rare);
    double shared = 0, power = sums->keys;
    for (uint32_t i = 0; i < end; i++) {
        double others = sums->block[i].each * requests;
        shared += sums->block[i].mass * others / (1 + others);
    }
    for (int k = 1; k <= TERMS && rare < sums->groups; k++) { /* x / (1 + x) = x - x^2 + x^3 ... */
        power *= k == 1 ? requests : -requests;
        shared += power * sums->moment[rare][k + 1];
    }
    return shared;
}
