#include "sim/metrics/paths.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { COUNT = 61 * 1000 };

/* Counts requests whose latencies are 10 us, and 30 us for one of a hundred, 25 us of which are before the
 * mark. */
static struct kvc_paths *counted(void)
{
    struct kvc_paths *paths = calloc(1, sizeof(*paths));
    for (uint32_t i = 0; i < COUNT; i++) {
        bool slow = i / KVC_PATHS_EVERY % 100 == 0;
        double sent_ns = i, mark_ns = i + (slow ? 25e3 : 2e3), done_ns = i + (slow ? 30e3 : 10e3);
        kvc_paths_count(paths, &sent_ns, &done_ns, 1, &mark_ns, 1, 0);
    }
    return paths;
}

Test(paths, the_slowest_requests_have_times_of_their_own)
{
    struct kvc_paths *paths = counted();
    double part_us[KVC_PATHS_PARTS_MAX];
    cr_expect_float_eq(kvc_paths_slowest(paths, 1, part_us), 1000, 1e-9, "every 61st request");
    cr_expect_float_eq(part_us[0], 0.99 * 2 + 0.01 * 25, 1e-9);
    cr_expect_float_eq(part_us[1], 0.99 * 8 + 0.01 * 5, 1e-9);
    cr_expect_float_eq(kvc_paths_slowest(paths, 0.01, part_us), 10, 1e-9);
    cr_expect_float_eq(part_us[0], 25, 1e-9);
    cr_expect_float_eq(part_us[1], 5, 1e-9);
    kvc_paths_slowest(paths, 0.02, part_us);
    cr_expect_float_eq(part_us[0] + part_us[1], (30 + 10) / 2., 1e-9, "half of them are from the other bin");
    free(paths);
}

Test(paths, rows_of_a_batch_take_turns)
{
    struct kvc_paths *one = counted(), *batches = calloc(1, sizeof(*batches));
    double sent_ns[1000], done_ns[1000], mark_ns = 1e6;
    for (uint32_t i = 0; i < COUNT; i += 1000) {
        for (uint32_t j = 0; j < 1000; j++) {
            sent_ns[j] = 0;
            done_ns[j] = 2e6 + j * 1e3;
        }
        kvc_paths_count(batches, sent_ns, done_ns, 1000, &mark_ns, 1, 0);
    }
    double part_us[KVC_PATHS_PARTS_MAX];
    cr_expect_float_eq(kvc_paths_slowest(batches, 1, part_us), 1000, 1e-9);
    cr_expect_float_eq(part_us[1], 1000 + 499.5, 1e-6, "each of the 1,000 places once");
    kvc_paths_add(batches, one);
    cr_expect_float_eq(kvc_paths_slowest(batches, 1, part_us), 2000, 1e-9);
    one->parts = 3;
    kvc_paths_add(batches, one);
    cr_expect_float_eq(kvc_paths_slowest(batches, 1, part_us), 2000, 1e-9, "another store");
    free(one);
    free(batches);
}

Test(paths, requests_may_have_marks_of_their_own)
{
    struct kvc_paths *paths = calloc(1, sizeof(*paths));
    const double sent_ns[2] = {0, 0}, done_ns[2] = {10e3, 20e3}, mark_ns[2][2] = {{1e3, 4e3}, {2e3, 12e3}};
    double part_us[KVC_PATHS_PARTS_MAX];
    for (uint32_t i = 0; i < 2; i++) {
        paths->skip = i;
        kvc_paths_count(paths, sent_ns, done_ns, 2, &mark_ns[0][0], 2, 2);
    }
    cr_expect_float_eq(kvc_paths_slowest(paths, 1, part_us), 2, 1e-9);
    cr_expect_float_eq(part_us[0], (1 + 2) / 2., 1e-9);
    cr_expect_float_eq(part_us[1], (3 + 10) / 2., 1e-9);
    cr_expect_float_eq(part_us[2], (6 + 8) / 2., 1e-9);
    free(paths);
}

Test(paths, extremes_are_in_the_outermost_bins)
{
    struct kvc_paths *paths = calloc(1, sizeof(*paths));
    const double sent_ns = 0, fast_ns = 10, slow_ns = 1e12;
    double part_us[KVC_PATHS_PARTS_MAX];
    cr_expect_eq(kvc_paths_slowest(paths, 1, part_us), 0);
    kvc_paths_count(paths, &sent_ns, &fast_ns, 1, NULL, 0, 0);
    paths->skip = 0;
    kvc_paths_count(paths, &sent_ns, &slow_ns, 1, NULL, 0, 0);
    cr_expect_eq(paths->count[0], 1);
    cr_expect_eq(paths->count[KVC_PATHS_BINS - 1], 1);
    paths->skip = 0;
    kvc_paths_count(paths, &sent_ns, &slow_ns, 1, &sent_ns, 1, 0);
    cr_expect_float_eq(kvc_paths_slowest(paths, 1, part_us), 2, 1e-9, "two parts where the others have one");
    kvc_paths_slowest(paths, 0.5, part_us);
    cr_expect_float_eq(part_us[0], 1e9, 1);
    free(paths);
}
