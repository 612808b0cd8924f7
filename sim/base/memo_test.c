#include "sim/base/memo.h"

#include <criterion/criterion.h>

Test(memo, finds_what_it_kept_and_nothing_else)
{
    static struct kvc_memo memo;
    double result = -1;
    cr_expect_not(kvc_memo_find(&memo, (double[]){1, 2}, &result));
    for (int i = 0; i < 1000; i++) {
        kvc_memo_keep(&memo, (double[]){i, -i}, 2, 10 * i);
    }
    for (int i = 0; i < 1000; i++) {
        cr_assert(kvc_memo_find(&memo, (double[]){i, -i}, &result));
        cr_assert_eq(result, 10 * i);
        cr_assert_not(kvc_memo_find(&memo, (double[]){i, i + 1}, &result));
    }
    cr_expect_eq(memo.count, 1000);
}

Test(memo, forgets_when_it_is_large_and_stays_right)
{
    static struct kvc_memo memo;
    double result;
    for (int i = 0; i < 200000; i++) {
        if (kvc_memo_find(&memo, (double[]){i % 90000}, &result)) {
            cr_assert_eq(result, i % 90000 + 0.5);
        } else {
            kvc_memo_keep(&memo, (double[]){i % 90000}, 1, i % 90000 + 0.5);
        }
    }
    cr_expect_leq(memo.count, 1u << 16);
    cr_expect(kvc_memo_find(&memo, (double[]){199999 % 90000}, &result));
}
