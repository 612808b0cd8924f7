#include "scenarios/load/parameters.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 5000 };

static struct kvc_parameter parameter_of(const char *folder, uint32_t number, const char *value)
{
    struct kvc_parameter parameter = {.bare = true};
    snprintf(parameter.path, sizeof(parameter.path), "%s.%u", folder, number);
    snprintf(parameter.value, sizeof(parameter.value), "%s", value);
    return parameter;
}

/* Two paths of a machine in turn: node.cpu.0, node.gpu.1, node.cpu.2, ... */
static struct kvc_parameters many(void)
{
    struct kvc_parameters list = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        struct kvc_parameter parameter = parameter_of(i % 2 == 0 ? "node.cpu" : "node.gpu", i, "1");
        cr_assert(kvc_parameters_put(&list, &parameter));
    }
    return list;
}

Test(parameters, keep_the_order_and_the_last_value_of_each_path)
{
    struct kvc_parameters list = many();
    struct kvc_parameter changed = parameter_of("node.gpu", 4001, "2");
    cr_assert(kvc_parameters_put(&list, &changed));
    cr_assert_eq(list.count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        struct kvc_parameter parameter = parameter_of(i % 2 == 0 ? "node.cpu" : "node.gpu", i, "");
        cr_assert_str_eq(list.entry[i].path, parameter.path);
        cr_assert_str_eq(list.entry[i].value, i == 4001 ? "2" : "1");
        cr_assert_eq(kvc_parameters_find(&list, parameter.path), &list.entry[i]);
    }
    cr_expect_null(kvc_parameters_find(&list, "node.cpu"));
    kvc_parameters_clear(&list);
    cr_expect_null(kvc_parameters_find(&list, "node.cpu.0"));
}

Test(parameters, forget_what_lies_below_a_path)
{
    struct kvc_parameters list = many();
    kvc_parameters_forget_below(&list, "node.gpu");
    kvc_parameters_forget_below(&list, "node.cp");
    cr_assert_eq(list.count, MANY / 2);
    for (uint32_t i = 0; i < MANY; i++) {
        struct kvc_parameter parameter = parameter_of(i % 2 == 0 ? "node.cpu" : "node.gpu", i, "");
        const struct kvc_parameter *found = kvc_parameters_find(&list, parameter.path);
        cr_assert_eq(found, i % 2 == 0 ? &list.entry[i / 2] : NULL, "%s", parameter.path);
    }
    kvc_parameters_clear(&list);
}

Test(parameters, forget_a_path_and_what_lies_below)
{
    static const char *const paths[] = {"workload.keys", "workload.dist", "workload.dist.zipf",
                                        "workload.distance"};
    struct kvc_parameters list = {0};
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct kvc_parameter parameter = {0};
        snprintf(parameter.path, sizeof(parameter.path), "%s", paths[i]);
        cr_assert(kvc_parameters_put(&list, &parameter));
    }
    kvc_parameters_forget(&list, "workload.dist");
    cr_assert_eq(list.count, 2);
    cr_expect_not_null(kvc_parameters_find(&list, "workload.keys"));
    cr_expect_not_null(kvc_parameters_find(&list, "workload.distance"));
    kvc_parameters_clear(&list);
}

Test(parameters, join_replaces_and_appends)
{
    struct kvc_parameters list = {0}, more = {0};
    struct kvc_parameter a = parameter_of("a", 1, "old"), b = parameter_of("a", 1, "new"),
                         c = parameter_of("a", 2, "new");
    cr_assert(kvc_parameters_put(&list, &a));
    cr_assert(kvc_parameters_put(&more, &c));
    cr_assert(kvc_parameters_put(&more, &b));
    cr_assert(kvc_parameters_join(&list, &more));
    cr_assert_eq(list.count, 2);
    cr_expect_str_eq(list.entry[0].value, "new");
    cr_expect_str_eq(list.entry[1].path, "a.2");
    cr_expect_neq(kvc_parameters_hash(&list), kvc_parameters_hash(&more), "the order counts");
    kvc_parameters_clear(&list);
    kvc_parameters_clear(&more);
}
