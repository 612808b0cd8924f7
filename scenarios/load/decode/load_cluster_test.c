#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "scenarios/load/decode/load_fixture.h"
#include "sim/devices/cpu.h"

TestSuite(load_cluster, .init = kvc_test_make_folder, .fini = kvc_test_remove_folder);

Test(load_cluster, members_override_the_scenarios_node_and_system)
{
    struct kvc_loaded *loaded = kvc_test_accepts(
        "return { system = { kind = 'memcached' }, node = { sockets = 2 },\n"
        "  workload = { arrival = { poisson_mops = 1 } },\n"
        "  cluster = { virtual_nodes = 100, members = {\n"
        "    { name = 'old', nodes = 3 },\n"
        "    { name = 'new', nodes = 2, weight = 2.5, node = { sockets = 1, cpu = 'xeon-x5670' } } } } }",
        NULL);
    const struct kvc_cluster *cluster = &loaded->scenario.cluster;
    cr_assert_eq(cluster->member_count, 2);
    cr_expect_eq(cluster->nodes, 5);
    cr_expect_eq(cluster->virtual_nodes, 100);
    cr_expect_str_eq(cluster->member[1].name, "new");
    cr_expect_eq(cluster->member[0].weight, 1);
    cr_expect_eq(cluster->member[1].weight, 2.5);
    cr_expect_eq(cluster->member[0].node.sockets, 2);
    cr_expect_eq(cluster->member[1].node.sockets, 1);
    cr_expect_neq(kvc_cpu_of(&cluster->member[0].node)->cores, kvc_cpu_of(&cluster->member[1].node)->cores);
    cr_expect_eq(loaded->scenario.node.sockets, 2);
    bool echoed = false;
    for (uint32_t i = 0; i < loaded->parameters.count; i++) {
        const struct kvc_parameter *parameter = &loaded->parameters.entry[i];
        echoed |=
            strcmp(parameter->path, "cluster.members.2.node.sockets") == 0 && parameter->value[0] == '1';
        cr_expect_neq(strcmp(parameter->path, "cluster.members.1.node.sockets"), 0, "it is the scenario's");
    }
    cr_expect(echoed);
    kvc_loaded_free(loaded);
}

#define IN_MEMBER(text)                                                                                      \
    "return { system = { kind = 'memcached' },\n  workload = { arrival = { poisson_mops = 1 } },\n"          \
    "  cluster = { members = {\n    { name = 'a', nodes = 1 },\n    { name = 'b', nodes = 1,\n      " text   \
    " } } } }"

Test(load_cluster, mistakes_in_a_member_are_found_at_their_line)
{
    kvc_test_refuses(IN_MEMBER("node = { cpu = 'xeon-x5760' }"), 6, "no hardware profile \"xeon-x5760\"");
    kvc_test_refuses(IN_MEMBER("node = { socket = 1 }"), 6, "did you mean \"sockets\"?");
    kvc_test_refuses(IN_MEMBER("system = { kind = 'mica' }"), 6,
                     "all members have the scenario's system.kind");
    kvc_test_refuses(IN_MEMBER("system = { index_of = 1 }"), 6, "unknown key \"index_of\"");
    kvc_test_refuses(IN_MEMBER("wight = 2"), 6, "did you mean \"weight\"?");
    kvc_test_refuses(IN_MEMBER("weight = 0"), 6, "weight");
    kvc_test_refuses(
        "return { system = { kind = 'memcached' }, cluster = { nodes = 2,\n members = { { name = 'a', "
        "nodes = 1 } } } }",
        1, "beside cluster.members");
    kvc_test_refuses(
        "return { system = { kind = 'memcached' },\n cluster = { members = { { name = 'a', nodes = 2 } "
        "} } }",
        2, "cluster.members: needs nodes that are simulated apart");
}
