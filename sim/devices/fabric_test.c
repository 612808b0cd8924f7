#include <criterion/criterion.h>
#include <stdlib.h>

#include "sim/devices/fabric.h"

static uint32_t hops_by(const uint32_t *next, uint32_t nodes, uint32_t a, uint32_t b)
{
    uint32_t hops = 0;
    for (; a != b; a = next[a * nodes + b]) {
        hops++;
    }
    return hops;
}

static uint32_t hops(int topology, uint32_t nodes, uint32_t a, uint32_t b)
{
    struct kvc_fabric fabric = {.links = 8, .bytes_per_s = 1e9, .topology = topology};
    uint32_t *next = calloc((size_t)nodes * nodes, sizeof(*next));
    kvc_fabric_routes(&fabric, nodes, next);
    uint32_t found = hops_by(next, nodes, a, b);
    cr_expect_eq(found, hops_by(next, nodes, b, a), "both ways are as long");
    free(next);
    return found;
}

Test(fabric, takes_the_shortest_way)
{
    cr_expect_eq(hops(KVC_FABRIC_LINE, 1, 0, 0), 0);
    cr_expect_eq(hops(KVC_FABRIC_LINE, 6, 0, 5), 5);
    cr_expect_eq(hops(KVC_FABRIC_RING, 6, 0, 5), 1);
    cr_expect_eq(hops(KVC_FABRIC_RING, 6, 0, 3), 3);
    cr_expect_eq(hops(KVC_FABRIC_MESH, 12, 0, 11), 5, "3 rows of 4");
    cr_expect_eq(hops(KVC_FABRIC_TORUS, 12, 0, 11), 2, "both edges meet");
    cr_expect_eq(hops(KVC_FABRIC_TREE, 7, 3, 6), 4, "up to the root and down");
}

Test(fabric, spreads_links_over_neighbours)
{
    struct kvc_fabric fabric = {.links = 4, .bytes_per_s = 1e9, .topology = KVC_FABRIC_LINE};
    cr_expect_eq(kvc_fabric_edge_bytes_per_s(&fabric, 1), 1e9, "no neighbour needs a link");
    cr_expect_eq(kvc_fabric_edge_bytes_per_s(&fabric, 2), 4e9);
    cr_expect_eq(kvc_fabric_edge_bytes_per_s(&fabric, 3), 2e9);
    fabric.topology = KVC_FABRIC_TREE;
    cr_expect_eq(kvc_fabric_edge_bytes_per_s(&fabric, 7), 1e9,
                 "a parent and two children: one link is left over");
    fabric.topology = KVC_FABRIC_TORUS;
    fabric.links = 3;
    cr_expect_eq(kvc_fabric_edge_bytes_per_s(&fabric, 9), 0, "four neighbours, three links");
}

Test(fabric, neighbours_are_neighbours_both_ways)
{
    for (int topology = KVC_FABRIC_LINE; topology <= KVC_FABRIC_TREE; topology++) {
        struct kvc_fabric fabric = {.links = 8, .bytes_per_s = 1e9, .topology = topology};
        for (uint32_t nodes = 1; nodes <= 16; nodes++) {
            for (uint32_t a = 0; a < nodes; a++) {
                cr_expect_not(kvc_fabric_adjacent(&fabric, nodes, a, a));
                for (uint32_t b = 0; b < nodes; b++) {
                    cr_expect_eq(kvc_fabric_adjacent(&fabric, nodes, a, b),
                                 kvc_fabric_adjacent(&fabric, nodes, b, a));
                }
            }
        }
    }
}
