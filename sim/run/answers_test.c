#include "sim/run/answers.h"

#include <criterion/criterion.h>

Test(answers, grow_and_keep_their_order)
{
    enum { COUNT = 10000 };
    struct kvc_answers answers = {.marks = 2};
    for (uint32_t i = 0; i < COUNT; i++) {
        kvc_answers_reserve(&answers, 1 + i % 3);
        cr_assert_leq(answers.count + 1 + i % 3, answers.capacity);
        kvc_answers_add(&answers, i, i + 10.0, i % KVC_ANSWERED_KINDS, 2 * i);
        double *mark_ns = kvc_answers_marks(&answers);
        mark_ns[0] = i + 1.0;
        mark_ns[1] = i + 2.0;
    }
    cr_assert_eq(answers.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        cr_assert_eq(answers.sent_ns[i], i);
        cr_assert_eq(answers.done_ns[i], i + 10.0);
        cr_assert_eq(answers.outcome[i], i % KVC_ANSWERED_KINDS);
        cr_assert_eq(answers.client[i], 2 * i);
        cr_assert_eq(answers.mark_ns[2 * i], i + 1.0);
        cr_assert_eq(answers.mark_ns[2 * i + 1], i + 2.0);
    }
    kvc_answers_free(&answers);
}
