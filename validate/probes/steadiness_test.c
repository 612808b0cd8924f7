#include "validate/probes/steadiness.h"

#include <criterion/criterion.h>

Test(steadiness, spread_of_the_checks)
{
    struct kvc_steadiness steadiness = {0};
    cr_expect_eq(kvc_steadiness_spread_frac(&steadiness), 0);
    kvc_steadiness_check(&steadiness);
    cr_expect_eq(kvc_steadiness_spread_frac(&steadiness), 0);
    kvc_steadiness_check(&steadiness);
    cr_expect_geq(kvc_steadiness_spread_frac(&steadiness), 0);
    steadiness.slowest_s = 1.5 * steadiness.fastest_s;
    cr_expect_float_eq(kvc_steadiness_spread_frac(&steadiness), 0.5, 1e-12);
}
