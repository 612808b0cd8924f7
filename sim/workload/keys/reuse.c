#include "sim/workload/keys/reuse.h"

#include <math.h>
#include <stdbool.h>

#include "sim/base/bracket.h"
#include "sim/base/memo.h"
#include "sim/workload/keys/popularity_sums.h"

enum { BISECTIONS = 60, POWERS = 64 };

/* The popularity of the keys, and the memory that requests for them touch. */
struct touches {
    const struct kvc_reuse *reuse;
    const struct kvc_popularity_sums *sums;
    double keys;
    bool zipf;
    double size;  /* The wanted size. */
    double share; /* Share at the latest evaluation. */
};

/* Returns by how many bytes `requests` requests touch more than the wanted size, and sets the
 * share: the probability that the next request returns to one of them. If keys share lines, a line is touched
 * when any of its keys is; the touched keys are assumed to be spread evenly over all lines. */
static double touched_beyond(void *data, double requests)
{
    struct touches *touches = data;
    const struct kvc_reuse *reuse = touches->reuse;
    const struct kvc_popularity_use use = kvc_popularity_use_after(touches->sums, requests);
    double lines = reuse->footprint_bytes / reuse->bytes_per_key;
    double touched_lines = touches->keys * use.touched_frac;
    touches->share = 1 - use.left_mass;
    if (lines < touches->keys) {
        double touches_of_lines = touches->zipf ? touched_lines : requests;
        double touched_each = -expm1(-touches_of_lines / lines);
        touched_lines = lines * touched_each;
        touches->share = 1 - (1 - touched_each) * (touches->zipf ? use.left_mass : 1);
    }
    return touched_lines * reuse->bytes_per_key + requests * reuse->stream_bytes - touches->size;
}

static bool is_enough(const struct touches *touches, double beyond)
{
    return beyond >= 0 || touches->share >= 1 - 1e-12;
}

/* Returns after how many requests the wanted size is touched. */
static double requests_of(struct touches *touches, double size)
{
    /* The smallest power of two whose requests touch enough; both conditions hold from some power on. */
    int too_low = -1, enough = POWERS;
    double low = 0, beyond_low = -size, high = 0, beyond_high = 0;
    touches->size = size;
    while (enough - too_low > 1) {
        int power = (too_low + enough) / 2;
        double requests = ldexp(1, power), beyond = touched_beyond(touches, requests);
        if (is_enough(touches, beyond)) {
            enough = power;
            high = requests;
            beyond_high = beyond;
        } else {
            too_low = power;
            low = requests;
            beyond_low = beyond;
        }
    }
    struct kvc_bracket bracket = {low, beyond_low, high, beyond_high};
    if (beyond_high < 0) {
        bracket = (struct kvc_bracket){high, beyond_high, INFINITY, NAN};
    }
    return kvc_bisect_rising(touched_beyond, touches, 0, high, BISECTIONS, bracket);
}

/* Returns a result for one size, a memo's or a new one. */
static double find(const struct kvc_workload *workload, const struct kvc_reuse *reuse, double size,
                   bool is_share)
{
    static _Thread_local struct kvc_memo shares, requests;
    struct kvc_memo *memo = is_share ? &shares : &requests;
    const double argument[] = {(double)workload->keys,
                               workload->popularity,
                               workload->zipf_s,
                               reuse->bytes_per_key,
                               reuse->footprint_bytes,
                               reuse->stream_bytes,
                               size};
    bool can_keep = workload->action_count == 0;
    double result;
    if (can_keep && kvc_memo_find(memo, argument, &result)) {
        return result;
    }
    struct touches touches = {.reuse = reuse,
                              .sums = kvc_popularity_sums_of(workload),
                              .keys = (double)workload->keys,
                              .zipf = workload->popularity != KVC_POPULARITY_UNIFORM};
    result = requests_of(&touches, size);
    if (is_share) {
        touched_beyond(&touches, result);
        result = touches.share;
    }
    if (can_keep) {
        kvc_memo_keep(memo, argument, sizeof(argument) / sizeof(*argument), result);
    }
    return result;
}

double kvc_reuse_share(const struct kvc_workload *workload, const struct kvc_reuse *reuse, double size)
{
    bool all = size >= reuse->footprint_bytes && reuse->stream_bytes <= 0;
    return size <= 0 ? 0 : all ? 1 : find(workload, reuse, size, true);
}

double kvc_reuse_requests(const struct kvc_workload *workload, const struct kvc_reuse *reuse, double size)
{
    bool all = size >= reuse->footprint_bytes && reuse->stream_bytes <= 0;
    return all ? INFINITY : find(workload, reuse, size, false);
}
