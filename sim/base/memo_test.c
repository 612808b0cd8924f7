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

Test(kept, holds_the_latest_results_and_shares_none_that_is_for_one_caller)
{
    static struct kvc_kept kept;
    bool found;
    for (int i = 1; i <= KVC_KEPT; i++) {
        int *result = kvc_kept_of(&kept, (double[]){i, 0}, 2, i != 3, sizeof(*result), &found);
        cr_assert_not(found);
        cr_assert_eq(*result, 0);
        *result = 10 * i;
    }
    const int *known = kvc_kept_of(&kept, (double[]){2, 0}, 2, true, sizeof(*known), &found);
    cr_expect(found && *known == 20);
    known = kvc_kept_of(&kept, (double[]){3, 0}, 2, true, sizeof(*known), &found); /* In the room of 1. */
    cr_expect(!found && *known == 10);
    kvc_kept_of(&kept, (double[]){1, 0}, 2, true, sizeof(*known), &found); /* In the room of 2. */
    cr_expect_not(found);
    kvc_kept_of(&kept, (double[]){3, 0}, 2, true, sizeof(*known), &found);
    cr_expect(found);
}
