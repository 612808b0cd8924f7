#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/output/json_value.h"
#include "sim/base/rng.h"

static void expect_same(double number)
{
    char expected[64], found[KVC_NUMBER_TEXT_MAX];
    snprintf(expected, sizeof(expected), "%.12g", number);
    size_t length = kvc_number_text(number, found);
    cr_assert_str_eq(found, expected);
    cr_assert_eq(length, strlen(expected));
}

Test(number, writes_what_printf_writes)
{
    static const double edges[] = {0,
                                   -0.0,
                                   1,
                                   10,
                                   99.9999999999949,
                                   99.9999999999951,
                                   1e-4,
                                   9.9e-5,
                                   1e12,
                                   999999999999.4,
                                   999999999999.6,
                                   0.5,
                                   1e11,
                                   1e-300,
                                   1e300,
                                   INFINITY,
                                   NAN,
                                   0.1,
                                   0.00025,
                                   123.4375,
                                   1.0 / 3,
                                   2.5e-4,
                                   0.09999999999999,
                                   4096.0000000005,
                                   1e11 + 0.5,
                                   1e11 + 1.5};
    struct kvc_rng rng;
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
        expect_same(edges[i]);
        expect_same(-edges[i]);
    }
    kvc_rng_init(&rng, 1, "number", 0);
    for (uint32_t i = 0; i < 500000; i++) {
        double number = pow(10, 18 * kvc_rng_unit(&rng) - 6);
        expect_same(number);
        expect_same(floor(number));
        expect_same(round(number * 64) / 64);
    }
}
