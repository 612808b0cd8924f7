#include "validate/scoring/elasticities.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/kvcast-elasticities-XXXXXX";

static void make_path(void)
{
    strcpy(path, "/tmp/kvcast-elasticities-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

TestSuite(elasticities, .init = make_path, .fini = remove_path);

static struct kvc_case entries[] = {{.id = "a", .published = 1, .low = NAN, .high = NAN},
                                    {.id = "b", .published = 1, .low = NAN, .high = NAN},
                                    {.id = "c", .published = NAN, .role = KVC_CASE_INPUT}};
static const struct kvc_cases cases = {3, entries};

Test(elasticities, keep_the_largest)
{
    static const double values[] = {0.1, -0.9, 0.01, 0.3, -0.2, 0.5, 0.4, 2};
    static const double expected[KVC_ELASTICITIES_KEPT] = {2, -0.9, 0.5, 0.4, 0.3};
    struct kvc_moved_by moved_by = {0};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%zu", i);
        kvc_moved_by_add(&moved_by, name, values[i], 0.02);
    }
    cr_assert_eq(moved_by.count, KVC_ELASTICITIES_KEPT);
    for (size_t i = 0; i < KVC_ELASTICITIES_KEPT; i++) {
        cr_expect_eq(moved_by.entry[i].value, expected[i], "place %zu", i);
    }
    cr_expect_str_eq(moved_by.entry[0].parameter, "p7");
}

Test(elasticities, tell_what_says_nothing_about_the_model)
{
    struct kvc_moved_by moved_by = {0};
    kvc_moved_by_add(&moved_by, "clock", 0.019, 0.02);
    cr_expect(moved_by.known);
    cr_expect(kvc_moved_by_nothing_or_input(&moved_by), "nothing moves it");
    kvc_moved_by_add(&moved_by, "clock", 0.995, 0.02);
    cr_expect(kvc_moved_by_nothing_or_input(&moved_by), "it returns the clock");
    moved_by.entry[0].value = 0.9;
    cr_expect_not(kvc_moved_by_nothing_or_input(&moved_by), "it hardly differs, but not by nothing");
    moved_by.entry[0].value = -1;
    cr_expect_not(kvc_moved_by_nothing_or_input(&moved_by), "the inverse of an input is computed");
    moved_by.entry[0].value = 1;
    kvc_moved_by_add(&moved_by, "latency", -0.05, 0.02);
    cr_expect_not(kvc_moved_by_nothing_or_input(&moved_by), "two parameters move it");
}

Test(elasticities, survive_a_round_trip)
{
    struct kvc_moved_by moved_by[3] = {{.known = true}, {.known = false}, {.known = false}}, read[3];
    struct kvc_diag diag = {0};
    kvc_moved_by_add(&moved_by[1], "node.cpu.clock", 0.25, 0.02);
    kvc_moved_by_add(&moved_by[1], "workload.keys", -0.5, 0.02);
    cr_assert_eq(kvc_elasticities_write(path, &cases, moved_by, &diag), KVC_OK);
    cr_assert_eq(kvc_elasticities_read(path, &cases, read, &diag), KVC_OK, "%s", diag.message);
    cr_expect(read[0].known);
    cr_expect_eq(read[0].count, 0);
    cr_assert_eq(read[1].count, 2);
    cr_expect_str_eq(read[1].entry[0].parameter, "workload.keys");
    cr_expect_eq(read[1].entry[0].value, -0.5);
    cr_expect_not(read[2].known, "inputs may be missing");
}

Test(elasticities, a_scored_case_must_not_be_missing)
{
    struct kvc_moved_by moved_by[3] = {{.known = true}}, read[3];
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_elasticities_write(path, &cases, moved_by, &diag), KVC_OK);
    cr_expect_eq(kvc_elasticities_read(path, &cases, read, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "case \"b\" is missing");
    cr_expect_str_eq(diag.file, path);
}
