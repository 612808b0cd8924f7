#include "sim/base/bracket.h"

#include <criterion/criterion.h>
#include <math.h>

struct probe {
    double (*f)(double);
    uint32_t calls;
};

static double call(void *data, double x)
{
    struct probe *probe = data;
    probe->calls++;
    return probe->f(x);
}

static double saturating(double x)
{
    return -expm1(-x) - 0.999;
}

static double cubic(double x)
{
    return x * x * x - 2;
}

static double steps(double x)
{
    return floor(x) - 7;
}

static double flat_then_steep(double x)
{
    return x < 1e3 ? -1 : 1e-300 + (x - 1e3) * 1e9;
}

static double negative(double x)
{
    return -1 / (1 + x);
}

static double plain_bisection(double (*f)(double), double from, double to, uint32_t count)
{
    double low = from, high = to, middle = from;
    for (uint32_t i = 0; i < count; i++) {
        middle = (low + high) / 2;
        if (f(middle) < 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return middle;
}

Test(root, is_that_of_bisection_bit_for_bit)
{
    static const struct {
        double (*f)(double);
        double low, high;
        uint32_t calls_max; /* Bisection takes 60. */
    } cases[] = {
        {saturating, 4, 8, 30}, {cubic, 1, 2, 15}, {steps, 0, 1e4, 15}, {flat_then_steep, 0, 1e4, 66}};
    for (int i = 0; i < 4; i++) {
        struct probe probe = {.f = cases[i].f};
        const struct kvc_bracket bracket = {cases[i].low, probe.f(cases[i].low), cases[i].high,
                                            probe.f(cases[i].high)};
        for (uint32_t count = 0; count <= 60; count += 12) {
            probe.calls = 0;
            double root = kvc_bisect_rising(call, &probe, 0, cases[i].high, count, bracket);
            cr_expect_eq(root, plain_bisection(cases[i].f, 0, cases[i].high, count), "case %d, %u steps", i,
                         count);
            cr_expect_leq(probe.calls, cases[i].calls_max, "case %d: %u calls", i, probe.calls);
        }
    }
}

Test(root, of_a_function_that_stays_negative_is_where_bisection_ends)
{
    struct probe probe = {.f = negative};
    double root = kvc_bisect_rising(call, &probe, 0, 8, 60, (struct kvc_bracket){8, -1.0 / 9, INFINITY, NAN});
    cr_expect_eq(root, plain_bisection(negative, 0, 8, 60));
    cr_expect_eq(probe.calls, 0);
}
