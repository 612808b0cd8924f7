#include "sim/workload/keys/reuse.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "sim/base/memo.h"
#include "sim/workload/keys/popularity_sums.h"

enum { LOOK_BACK = 6 }; /* Steps in which the secant must do as well as bisection. */

static const double narrow = 4 * DBL_EPSILON; /* Relative width of a bracket that needs no narrowing. */

static void take(struct kvc_bracket *bracket, double x, double value)
{
    if (value < 0) {
        bracket->low = x;
        bracket->f_low = value;
    } else {
        bracket->high = x;
        bracket->f_high = value;
    }
}

void kvc_bracket_narrow(struct kvc_bracket *bracket, kvc_rising_fn *f, void *data)
{
    double weight_low = bracket->f_low, weight_high = bracket->f_high, width_before = INFINITY;
    int side = 0; /* The end that moved last: -1 low, 1 high. */
    for (int step = 0; bracket->high - bracket->low > narrow * fabs(bracket->high); step++) {
        double width = bracket->high - bracket->low, nudge = narrow / 4 * fabs(bracket->high);
        if (step % LOOK_BACK == 0) {
            if (width > width_before / (1 << LOOK_BACK)) {
                return;
            }
            width_before = width;
        }
        double x = bracket->high - weight_high * width / (weight_high - weight_low);
        /* A little away from the ends, so that the bracket closes around the root. */
        x = fmin(fmax(x, bracket->low + nudge), bracket->high - nudge);
        double value = f(data, x);
        take(bracket, x, value);
        if (value < 0) {
            weight_low = value;
            weight_high = side == -1 ? weight_high / 2 : weight_high;
            side = -1;
        } else {
            weight_high = value;
            weight_low = side == 1 ? weight_low / 2 : weight_low;
            side = 1;
        }
    }
}

bool kvc_bracket_is_below(struct kvc_bracket *bracket, kvc_rising_fn *f, void *data, double x)
{
    if (x > bracket->low && x < bracket->high) {
        take(bracket, x, f(data, x));
    }
    return x <= bracket->low;
}

double kvc_bisect_rising(kvc_rising_fn *f, void *data, double from, double to, uint32_t steps,
                         struct kvc_bracket bracket)
{
    double low = from, high = to, middle = from;
    if (isfinite(bracket.high)) {
        kvc_bracket_narrow(&bracket, f, data);
    }
    for (uint32_t i = 0; i < steps; i++) {
        middle = (low + high) / 2;
        *(kvc_bracket_is_below(&bracket, f, data, middle) ? &low : &high) = middle;
    }
    return middle;
}

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

static double share_of(struct touches *touches, double size)
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
    touched_beyond(touches, kvc_bisect_rising(touched_beyond, touches, 0, high, BISECTIONS, bracket));
    return touches->share;
}

void kvc_reuse_shares(const struct kvc_workload *workload, const struct kvc_reuse *reuse, const double *size,
                      uint32_t count, double *share)
{
    static _Thread_local struct kvc_memo memo;
    struct touches touches = {
        .reuse = reuse, .keys = (double)workload->keys, .zipf = workload->popularity == KVC_POPULARITY_ZIPF};
    for (uint32_t i = 0; i < count; i++) {
        const double argument[] = {
            (double)workload->keys, workload->popularity, workload->zipf_s, reuse->bytes_per_key,
            reuse->footprint_bytes, reuse->stream_bytes,  size[i]};
        bool can_keep = workload->action_count == 0;
        if (size[i] >= reuse->footprint_bytes && reuse->stream_bytes <= 0) {
            share[i] = 1;
        } else if (!can_keep || !kvc_memo_find(&memo, argument, &share[i])) {
            touches.sums = touches.sums != NULL ? touches.sums : kvc_popularity_sums_of(workload);
            share[i] = share_of(&touches, size[i]);
            if (can_keep) {
                kvc_memo_keep(&memo, argument, sizeof(argument) / sizeof(*argument), share[i]);
            }
        }
    }
}
