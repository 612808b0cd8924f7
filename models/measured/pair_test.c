#include "models/measured/pair.h"

#include <criterion/criterion.h>
#include <math.h>

/* The interval of a median covers at least 95 % of the binomial distribution: with 20 values, the sixth and
 * the fifteenth (David and Nagaraja, Order Statistics, sec. 7.1). */
Test(pair, the_interval_of_a_median_is_that_of_order_statistics)
{
    double values[20], low, high;
    for (int i = 0; i < 20; i++) {
        values[i] = (7 * i) % 20 + 1;
    }
    cr_expect_eq(kvc_pair_median(values, 20, &low, &high), 10.5);
    cr_expect_eq(low, 6);
    cr_expect_eq(high, 15);
}

Test(pair, few_values_have_no_median)
{
    double values[6] = {3, 1, 2, 6, 5, 4}, low, high;
    cr_expect(isnan(kvc_pair_median(values, 0, &low, &high)));
    cr_expect(isnan(kvc_pair_median(values, 5, &low, &high)));
    cr_expect_eq(kvc_pair_median(values, 6, &low, &high), 3.5);
    cr_expect_eq(low, 1);
    cr_expect_eq(high, 6);
}
