#include "sim/cluster.h"

#include <math.h>
#include <stddef.h>

#include "sim/workload/keys/hash_ring.h"

static const char *const simulate_names[] = {"auto", "together", "apart", NULL};
static const char *const database_names[] = {"shared", "per_node", NULL};

#define CHANGE_NODE(name_, field, text)                                                                      \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_cluster_change, field),        \
        .min = 0, .max = KVC_CLUSTER_NODES_MAX, .optional = true, .help = text                               \
    }

static const struct kvc_option change_rows[] = {
    {.name = "at",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_cluster_change, at_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e13,
     .help = "when the cluster changes, counted from the begin of the measured time; it is less than "
             "run.duration"},
    CHANGE_NODE("join", join,
                "how many nodes join; their stores are empty, and the keys that move to them miss"),
    CHANGE_NODE("leave", leave,
                "number of the node that leaves and hands nothing over; its keys miss at their new nodes"),
    CHANGE_NODE(
        "fail", fail,
        "number of the node that fails; requests sent to it are lost until clients notice, then its keys "
        "miss at their new nodes"),
    {.name = "detect",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_cluster_change, detect_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e13,
     .by_default = "1ms",
     .help = "how long clients send to a node that has failed; a longer time loses more requests"},
};

const struct kvc_option_table kvc_cluster_change_option_table = {.name = "cluster.changes",
                                                                 .rows = change_rows,
                                                                 .count = sizeof(change_rows) /
                                                                          sizeof(*change_rows),
                                                                 .size = sizeof(struct kvc_cluster_change),
                                                                 .max_list = KVC_CLUSTER_CHANGES_MAX};

static const struct kvc_option cluster_rows[] = {
    {.name = "nodes",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_cluster, nodes),
     .min = 1,
     .max = KVC_CLUSTER_NODES_MAX,
     .by_default = "1",
     .help = "nodes that share the keys by consistent hashing; more nodes divide the load"},
    {.name = "virtual_nodes",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_cluster, virtual_nodes),
     .min = 1,
     .max = 1 << 20,
     .by_default = "4096",
     .optional = true,
     .help =
         "points of a node on the hash ring; with more of them, nodes have more equal shares of the keys, "
         "which vary by 1/sqrt(virtual_nodes)"},
    {.name = "simulate",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_cluster, simulate),
     .by_default = "auto",
     .choices = simulate_names,
     .optional = true,
     .help = "apart: every node in a process of its own, possible where no load or device couples the nodes; "
             "together: all nodes in one engine; auto: apart where it is possible"},
    {.name = "database",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_cluster, database),
     .by_default = "shared",
     .choices = database_names,
     .optional = true,
     .help = "shared: one node.database behind all nodes; per_node: behind every node a database of its own, "
             "a read replica or the shard of its keys, whose latency and capacity no other node uses"},
    {.name = "multiget",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_cluster, multiget),
     .min = 1,
     .max = 1000,
     .optional = true,
     .help =
         "keys of a multiget whose latency is computed from those of the nodes that its keys lie on; more "
         "keys wait for more nodes"},
    {.name = "changes",
     .type = KVC_OPTION_LIST,
     .offset = offsetof(struct kvc_cluster, change),
     .element = &kvc_cluster_change_option_table,
     .count_offset = offsetof(struct kvc_cluster, change_count),
     .help = "nodes that join, leave or fail during the measured time"},
};

const struct kvc_option_table kvc_cluster_option_table = {.name = "cluster",
                                                          .rows = cluster_rows,
                                                          .count =
                                                              sizeof(cluster_rows) / sizeof(*cluster_rows),
                                                          .size = sizeof(struct kvc_cluster)};

uint32_t kvc_cluster_nodes(const struct kvc_cluster *cluster)
{
    double nodes = (double)cluster->nodes;
    for (uint32_t i = 0; i < cluster->change_count; i++) {
        nodes += fmax(cluster->change[i].join, 0);
    }
    return (uint32_t)fmin(nodes, UINT32_MAX);
}

static enum kvc_status check_change(const struct kvc_cluster *cluster, uint32_t i, struct kvc_diag *diag)
{
    const struct kvc_cluster_change *change = &cluster->change[i];
    const double number[] = {change->join, change->leave, change->fail};
    static const char *const name[] = {"join", "leave", "fail"};
    int given = 0;
    for (int k = 0; k < 3; k++) {
        double least = k == 0 ? 1 : 0,
               most = k == 0 ? KVC_CLUSTER_NODES_MAX : kvc_cluster_nodes(cluster) - 1.0;
        given += !isnan(number[k]);
        if (number[k] < least || number[k] > most || number[k] != floor(number[k])) {
            if (!isnan(number[k])) {
                return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                     "cluster.changes.%u.%s: found %g, allowed: a whole number from %g to %g",
                                     i + 1, name[k], number[k], least, most);
            }
        }
    }
    return given == 1
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "cluster.changes.%u: found %d of join, leave and fail, allowed: one of them",
                               i + 1, given);
}

enum kvc_status kvc_cluster_check(const struct kvc_cluster *cluster, struct kvc_diag *diag)
{
    uint32_t nodes = kvc_cluster_nodes(cluster);
    uint64_t points = cluster->virtual_nodes > 0 ? cluster->virtual_nodes : KVC_HASH_RING_POINTS;
    enum kvc_status status = KVC_OK;
    if (nodes > KVC_CLUSTER_NODES_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "cluster.changes: found %u nodes with those that join, allowed: up to %d", nodes,
                             KVC_CLUSTER_NODES_MAX);
    }
    if (points * nodes > KVC_HASH_RING_POINTS_MAX) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "cluster.virtual_nodes: found %llu for each of %u nodes, allowed: %d of all nodes",
            (unsigned long long)points, nodes, KVC_HASH_RING_POINTS_MAX);
    }
    for (uint32_t i = 0; i < cluster->change_count && status == KVC_OK; i++) {
        status = check_change(cluster, i, diag);
    }
    return status;
}
