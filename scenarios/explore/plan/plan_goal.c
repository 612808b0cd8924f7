#include "scenarios/explore/plan/plan_goal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stddef.h>

const char *const kvc_plan_metric_names[] = {
    "latency_p50_us",
    "latency_p95_us",
    "latency_p99_us",
    "latency_p999_us",
    "latency_mean_us",
    "throughput_mops",
    "served_frac",
    "hit_frac",
    "watts_mean",
    "price_usd",
    NULL,
};

double kvc_plan_margin_frac(const struct kvc_plan_goal *goal, double value)
{
    double over = value - goal->bound;
    return (goal->at_least ? over : -over) / goal->bound;
}

struct kvc_interval kvc_plan_look(const struct kvc_plan_test *test, const double *values, uint32_t count)
{
    struct kvc_interval interval = kvc_interval_of(values, count);
    double looks = test->most - test->least + 1;
    if (count >= 2) {
        double tail = (1 - test->confidence) / looks / test->goals / 2;
        interval.half_width *= gsl_cdf_tdist_Qinv(tail, count - 1) / gsl_cdf_tdist_Pinv(0.975, count - 1);
    }
    return interval;
}

enum kvc_plan_answer kvc_plan_decide(const struct kvc_plan_test *test, const struct kvc_plan_goal *goal,
                                     const double *values, uint32_t count, struct kvc_interval *interval)
{
    *interval = kvc_plan_look(test, values, count);
    if (count > 0 && isnan(interval->mean)) {
        return KVC_PLAN_UNKNOWN;
    }
    if (count < test->least) {
        return KVC_PLAN_OPEN;
    }
    double sign = goal->at_least ? 1 : -1;
    double over = sign * (interval->mean - goal->bound);
    if (over - interval->half_width >= 0) {
        return KVC_PLAN_MET;
    }
    return over + interval->half_width < 0 ? KVC_PLAN_MISSED : KVC_PLAN_OPEN;
}
