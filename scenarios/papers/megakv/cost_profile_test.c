/* Tests how the loader reads Mega-KV's cost profiles. */
#include "models/megakv/cost_profile.h"

#include <criterion/criterion.h>

#include "scenarios/load/decode/load_fixture.h"

TestSuite(cost_profile, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

Test(cost_profile, is_derived_by_default)
{
    struct kvc_loaded *loaded = kvc_test_accepts("return { system = { kind = 'megakv' } }", NULL);
    const struct kvc_scenario *scenario = &loaded->scenario;
    cr_expect(!kvc_megakv_cost_profile_is_measured(kvc_megakv_cost_profile_of(&scenario->node)));
    kvc_loaded_free(loaded);
}

#define POINT(text) "{ size = 8, footprint = '1MiB', " text ", source = 'x' }"
#define LAW(name) "  " name " = { " POINT("time = '5ns'") " },\n"
#define MOST_LAWS                                                                                            \
    LAW("receive")                                                                                           \
    LAW("write")                                                                                             \
    LAW("evict")                                                                                             \
    LAW("pass")                                                                                              \
    LAW("read_checked")                                                                                      \
    LAW("read_half_marked")                                                                                  \
    LAW("read_marked")                                                                                       \
    LAW("read_half_missed")                                                                                  \
    LAW("read_slowest")                                                                                      \
    LAW("search") LAW("drain") LAW("insert") LAW("replace") LAW("erase")

Test(cost_profile, takes_measured_costs)
{
    kvc_test_write_file("m.lua", "return { kind = 'megakv_costs', name = 'here',\n" MOST_LAWS LAW(
                                     "search_miss") LAW("read") "}");
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'megakv' }, node = { megakv_costs = 'm.lua' } }", NULL);
    const struct kvc_megakv_cost_profile *costs = kvc_megakv_cost_profile_of(&loaded->scenario.node);
    cr_expect(kvc_megakv_cost_profile_is_measured(costs));
    cr_assert_eq(costs->search_miss.count, 1);
    cr_expect_eq(costs->search_miss.point[0].ns, 5);
    cr_expect_eq(costs->search_miss.point[0].footprint_bytes, 0x1p20);
    cr_expect_eq(costs->search_miss.point[0].threads, 1);
    cr_expect_eq(costs->compare.count, 0, "optional");
    cr_expect_not_null(kvc_parameters_find(&loaded->provenance, "node.megakv_costs.search_miss.1.time"));
    kvc_loaded_free(loaded);
}

Test(cost_profile, takes_the_comparison_of_keys)
{
    kvc_test_write_file("m.lua", "return { kind = 'megakv_costs', name = 'here',\n" MOST_LAWS LAW("compare")
                                     LAW("search_miss") LAW("read") "}");
    struct kvc_loaded *loaded =
        kvc_test_accepts("return { system = { kind = 'megakv' }, node = { megakv_costs = 'm.lua' } }", NULL);
    const struct kvc_megakv_cost_profile *costs = kvc_megakv_cost_profile_of(&loaded->scenario.node);
    cr_assert_eq(costs->compare.count, 1);
    cr_expect_eq(costs->compare.point[0].ns, 5);
    kvc_loaded_free(loaded);
    kvc_test_refuses_in_profile("megakv_costs", "return { kind = 'megakv_costs',\n" LAW("compare") "}", 2,
                                "megakv_costs.compare is given, megakv_costs.read is not");
}

Test(cost_profile, refuses_incomplete_costs)
{
    kvc_test_refuses_in_profile("megakv_costs", "return { kind = 'megakv_costs',\n" MOST_LAWS LAW("read") "}",
                                1, "megakv_costs.search_miss is missing: allowed are all cost curves");
    kvc_test_refuses_in_profile("megakv_costs",
                                "return { kind = 'megakv_costs',\n" MOST_LAWS LAW("search_miss") "}", 2,
                                "megakv_costs.receive is given, megakv_costs.read is not");
    kvc_test_refuses_in_profile(
        "machine",
        "return { kind = 'machine', name = '', date = '', compiler = '', commit = '',\n"
        "megakv_costs = {\n" MOST_LAWS LAW("read") "} }",
        2, "megakv_costs.search_miss is missing");
    kvc_test_refuses_in_profile(
        "megakv_costs",
        "return { kind = 'megakv_costs',\n" MOST_LAWS LAW("search_miss") "  read = {\n"
                                                                         "    " POINT("time = '-5ns'") " } }",
        18, "read.1.time: found \"-5ns\", allowed: a time");
    kvc_test_refuses_in_profile(
        "megakv_costs",
        "return { kind = 'megakv_costs',\n" MOST_LAWS LAW(
            "search_miss") "  read = {\n"
                           "    " POINT("time = '5ns'") ", " POINT(
                               "time = '6ns', threads = 2") ",\n"
                                                            "    " POINT("time = '5ns', threads = 2") " } }",
        17, "megakv_costs.read: found 3 points, the full grid has 2");
    kvc_test_refuses_in_profile("megakv_costs",
                                "return { kind = 'megakv_costs',\n" MOST_LAWS LAW(
                                    "search_miss") "  read = {\n"
                                                   "    { size = 8, time = { '5ns', source = 'x' } } } }",
                                18, "read.1.size has no source");
    kvc_test_refuses("return { system = { kind = 'megakv' },\n  node = { megakv_costs = {\n"
                     "    read = { { size = 1, time = '1ns' } } } } }",
                     2, "node.megakv_costs.receive is missing");
}
