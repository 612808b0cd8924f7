#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/explore/space.h"

static char path[] = "/tmp/kvcast-space-XXXXXX.lua";

static void make_file(void)
{
    int fd = mkstemps(path, 4);
    cr_assert_geq(fd, 0);
    close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

/* Makes the space of a scenario whose `sweep` is `text`, on line 2. */
static enum kvc_status make(const char *text, const char *seed, struct kvc_space **space,
                            struct kvc_diag *diag)
{
    struct kvc_overrides set = {0};
    struct kvc_loaded *loaded = NULL;
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(file, "return { system = { kind = 'megakv' },\n sweep = { %s } }\n", text);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(kvc_overrides_add(&set, "run.seed", seed, diag), KVC_OK);
    enum kvc_status status = kvc_scenario_load(path, &set, &loaded, diag);
    if (status == KVC_OK) {
        status = kvc_space_create(loaded, space, diag);
    }
    kvc_loaded_free(loaded);
    kvc_overrides_clear(&set);
    return status;
}

static struct kvc_space *accepts(const char *text, const char *seed)
{
    struct kvc_space *space = NULL;
    struct kvc_diag diag = {0};
    cr_assert_eq(make(text, seed, &space, &diag), KVC_OK, "%s:%d: %s", diag.file, diag.line, diag.message);
    return space;
}

static void refuses(const char *text, const char *part)
{
    struct kvc_space *space = NULL;
    struct kvc_diag diag = {0};
    cr_expect_eq(make(text, "1", &space, &diag), KVC_ERR_SCENARIO, "accepted: %s", text);
    cr_expect_null(space);
    cr_expect(diag.line == 2 && strstr(diag.message, part) != NULL, "line %d: %s", diag.line, diag.message);
}

static double number(const struct kvc_space *space, uint32_t point, uint32_t axis)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    kvc_space_point(space, point, value);
    cr_assert_lt(value[axis], space->axis[axis].count);
    return space->axis[axis].value[value[axis]].number;
}

TestSuite(space, .init = make_file, .fini = remove_file);

Test(space, a_grid_varies_its_first_axis_slowest)
{
    struct kvc_space *space =
        accepts("['run.replicas'] = { 5, 6 }, ['system.cycle'] = { '3us', '2us', '1us' }", "1");
    cr_assert_eq(space->points, 6);
    for (uint32_t i = 0; i < 6; i++) {
        cr_expect_eq(number(space, i, 0), 5 + i / 3);
        cr_expect_eq(number(space, i, 1), 1e3 * (3 - i % 3));
    }
    kvc_space_free(space);
}

Test(space, a_list_keeps_its_order_and_drops_repeated_points)
{
    struct kvc_space *space = accepts("points = { { ['run.replicas'] = 3 }, { ['run.replicas'] = 1 },"
                                      " { ['run.replicas'] = 3 }, { ['run.replicas'] = 2 } }",
                                      "1");
    static const double expected[] = {3, 1, 2};
    cr_assert_eq(space->points, 3);
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_eq(number(space, i, 0), expected[i]);
    }
    kvc_space_free(space);
}

#define CYCLES "['system.cycle'] = { from = '100us', to = '400us' }, "
#define KEYS "['workload.keys'] = { from = 1000, to = 1e6, scale = 'log' }, "

static bool same_points(const struct kvc_space *a, const struct kvc_space *b)
{
    bool same = a->points == b->points;
    for (uint32_t i = 0; i < a->points && same; i++) {
        for (uint32_t axis = 0; axis < a->axis_count && same; axis++) {
            same = number(a, i, axis) == number(b, i, axis);
        }
    }
    return same;
}

Test(space, random_points_follow_from_the_seed)
{
    static const char text[] = CYCLES "['run.replicas'] = { 1, 2, 3 }, points = { random = 300 }";
    struct kvc_space *one = accepts(text, "1"), *again = accepts(text, "1"), *other = accepts(text, "2");
    uint32_t low = 0, threes = 0;
    cr_assert_eq(one->points, 300);
    cr_expect(same_points(one, again));
    cr_expect_not(same_points(one, other));
    for (uint32_t i = 0; i < 300; i++) {
        double cycle_ns = number(one, i, 0);
        cr_assert(cycle_ns >= 100e3 && cycle_ns <= 400e3);
        low += cycle_ns < 250e3;
        threes += number(one, i, 1) == 3;
    }
    cr_expect(low > 105 && low < 195, "%u of 300 in the lower half: 5 standard deviations", low);
    cr_expect(threes > 59 && threes < 141, "%u of 300 are 3: 5 standard deviations", threes);
    kvc_space_free(one);
    kvc_space_free(again);
    kvc_space_free(other);
}

Test(space, draws_whole_numbers)
{
    struct kvc_space *wide =
        accepts("['workload.keys'] = { from = 1e6, to = 1e8, scale = 'log', whole = true },"
                "points = { latin_hypercube = 100 }",
                "1");
    uint32_t low = 0;
    for (uint32_t i = 0; i < 100; i++) {
        double keys = number(wide, i, 0);
        cr_expect(keys >= 1e6 && keys <= 1e8 && keys == floor(keys), "%g", keys);
        low += keys < 1e7;
    }
    cr_expect_eq(low, 50, "half of them lie in each decade");
    kvc_space_free(wide);
    refuses("['run.replicas'] = { from = 1, to = 4, whole = true }, points = { random = 5 }",
            "found 4 different points for random = 5");
    refuses("['run.replicas'] = { from = 1, to = 4, scale = 'log', whole = true }, points = { random = 2 }",
            "only together with steps");
    refuses("['run.replicas'] = { from = 1.5, to = 4, whole = true }, points = { random = 2 }",
            "only between whole numbers");
}

Test(space, random_points_of_a_grid_are_all_different)
{
    struct kvc_space *space = accepts(
        "['run.replicas'] = { 1, 2, 3, 4 }, ['workload.value'] = { 8, 16, 32 }, points = { random = 12 }",
        "7");
    bool seen[12] = {false};
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t value[KVC_SWEEP_AXES_MAX];
        kvc_space_point(space, i, value);
        cr_expect_not(seen[3 * value[0] + value[1]]);
        seen[3 * value[0] + value[1]] = true;
    }
    kvc_space_free(space);
    refuses("['run.replicas'] = { 1, 2 }, points = { random = 3 }",
            "found 2 different points for random = 3");
}

Test(space, a_latin_hypercube_has_one_point_in_every_part)
{
    enum { POINTS = 97 };
    struct kvc_space *space =
        accepts(CYCLES KEYS "['run.replicas'] = { 1, 2, 3, 4 }, points = { latin_hypercube = 97 }", "3");
    uint32_t cycles[POINTS] = {0}, keys[POINTS] = {0}, replicas[5] = {0}, moved = 0;
    cr_assert_eq(space->points, POINTS);
    for (uint32_t i = 0; i < POINTS; i++) {
        uint32_t cycle = (uint32_t)((number(space, i, 0) - 100e3) / 300e3 * POINTS);
        uint32_t key = (uint32_t)(log10(number(space, i, 1) / 1000) / 3 * POINTS);
        cr_assert(cycle < POINTS && key < POINTS);
        cycles[cycle]++;
        keys[key]++;
        moved += cycle != key;
        replicas[(uint32_t)number(space, i, 2)]++;
    }
    for (uint32_t i = 0; i < POINTS; i++) {
        cr_expect(cycles[i] == 1 && keys[i] == 1, "part %u: %u and %u points", i, cycles[i], keys[i]);
    }
    cr_expect_gt(moved, POINTS / 2, "the axes are not shuffled independently");
    for (uint32_t i = 1; i <= 4; i++) {
        cr_expect(replicas[i] == 24 || replicas[i] == 25, "value %u: %u points", i, replicas[i]);
    }
    kvc_space_free(space);
}

Test(space, a_constraint_sees_numbers_in_base_units)
{
    struct kvc_space *space =
        accepts("['system.cycle'] = { '100us', '0.2ms' }, "
                "['system.index'] = { 67108864, '1GiB' }, ['node.gpu'] = { 'tesla-k40c' },"
                "where = function(p) return p['system.cycle'] == 200e3 and "
                "p['system.index'] == 2^30 and p['node.gpu'] == 'tesla-k40c' end",
                "1");
    cr_assert_eq(space->points, 1);
    cr_expect_eq(number(space, 0, 0), 200e3);
    kvc_space_free(space);
    space = accepts(
        CYCLES "points = { random = 40 }, where = function(p) return p['system.cycle'] < 130e3 end", "1");
    cr_assert_eq(space->points, 40);
    cr_expect_eq(space->axis[0].count, 40, "draws that were left out keep no value");
    for (uint32_t i = 0; i < 40; i++) {
        cr_expect_lt(number(space, i, 0), 130e3);
    }
    kvc_space_free(space);
}

Test(space, says_what_is_wrong_with_a_constraint)
{
    refuses("['run.seed'] = { 1, 2 }, where = function(p) return false end", "no point of the sweep meets");
    refuses("['run.seed'] = { 1, 2 }, where = function(p) return 3 end",
            "returned 3, allowed: true or false");
    refuses("['run.seed'] = { 1, 2 }, where = function(p) return p['run.sede'] == 1 end",
            "the sweep has no path \"run.sede\"");
    refuses("['run.seed'] = { 1, 2 }, where = function(p) while true do end end", "million instructions");
    refuses("['run.seed'] = { 1, 2 }, where = function(p) return p[{}] end", "has no path \"table\"");
    refuses("['run.seed'] = { 1, 2 }, where = function(p) getmetatable(p).__gc = error end",
            "attempt to index a boolean value");
    refuses("['run.seed'] = { 1, 2 }, where = function(p) return p + 1 end", "attempt to perform arithmetic");
}

Test(space, refuses_an_empty_and_an_endless_sweep)
{
    refuses("", "the scenario has no sweep table");
    refuses("['run.seed'] = { from = 1, to = 216, steps = 216, whole = true },"
            "['workload.keys'] = { from = 1, to = 216, steps = 216, whole = true },"
            "['run.replicas'] = { from = 1, to = 216, steps = 216, whole = true }",
            "more points than the limit of 10000000");
}
