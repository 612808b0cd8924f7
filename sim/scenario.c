#include "sim/scenario.h"

#include <math.h>
#include <stddef.h>

#include "sim/base/seeds.h"
#include "sim/workload/keys/hash_ring.h"

static const char *const simulate_names[] = {"auto", "together", "apart", NULL};
static const char *const database_names[] = {"shared", "per_node", NULL};

#define CHANGE_NODE(name_, field, text)                                                                      \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_cluster_change, field),        \
        .min = 0, .max = KVC_CLUSTER_NODES_MAX, .optional = true, .help = text                               \
    }

static const struct kvc_option cluster_change_rows[] = {
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
                                                                 .rows = cluster_change_rows,
                                                                 .count = sizeof(cluster_change_rows) /
                                                                          sizeof(*cluster_change_rows),
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

static const struct kvc_option member_rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_cluster_member, name),
     .help = "name of the group, which results show"},
    {.name = "nodes",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_cluster_member, nodes),
     .min = 1,
     .max = KVC_CLUSTER_NODES_MAX,
     .help = "equal nodes of the group"},
    {.name = "weight",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_cluster_member, weight),
     .min = 0.001,
     .max = 1000,
     .by_default = "1",
     .help =
         "points of each node on the hash ring as a multiple of cluster.virtual_nodes; a node with a larger "
         "weight owns more keys"},
};

const struct kvc_option_table kvc_cluster_member_option_table = {.name = "cluster.members",
                                                                 .rows = member_rows,
                                                                 .count = sizeof(member_rows) /
                                                                          sizeof(*member_rows),
                                                                 .size = sizeof(struct kvc_cluster_member),
                                                                 .max_list = KVC_CLUSTER_MEMBERS_MAX};

static const char *const functionals[] = {"full", "sampled", "off", NULL};

static const char *const bottlenecks[] = {
    [KVC_BOTTLENECK_BY_GAIN] = "gain",
    [KVC_BOTTLENECK_BY_UTILIZATION] = "utilization",
    [KVC_BOTTLENECK_BY_COMMAND] = "auto",
    NULL,
};

static const struct kvc_option change_rows[] = {
    {.name = "at",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_change, at_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e13,
     .help =
         "when the device changes, counted from the begin of the measured time; it is less than duration"},
    {.name = "device",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_change, device),
     .help = "name of the device, as results list them: \"node0.socket1.gpu\""},
    {.name = "clock",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_change, clock_hz),
     .unit = KVC_UNIT_HZ,
     .min = 1,
     .max = 1e12,
     .optional = true,
     .help = "clock that the device runs at from then on, one of its profile's; a higher clock works faster "
             "and takes more power"},
    {.name = "off",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_change, off_ns),
     .unit = KVC_UNIT_NS,
     .min = 1,
     .max = 1e13,
     .optional = true,
     .help = "how long the device is turned off; work on it is repeated afterwards, transfers over a link "
             "continue"},
};

const struct kvc_option_table kvc_change_option_table = {.name = "changes",
                                                         .rows = change_rows,
                                                         .count = sizeof(change_rows) / sizeof(*change_rows),
                                                         .size = sizeof(struct kvc_change),
                                                         .max_list = KVC_RUN_CHANGES_MAX};

#define DURATION_MAX_NS 1e15 /* The last time that a trace can have (sim/workload/trace.c). */

static const struct kvc_option run_rows[] = {
    {.name = "functional",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_run, functional),
     .by_default = "full",
     .choices = functionals,
     .help = "full: every request runs through the real index and slabs; sampled: only requests for a "
             "sample of the keys do; off: none do"},
    {.name = "sample_rate",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_run, sample_rate),
     .min = 1,
     .max = 1048576,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "sampled: one key in this many is kept, a power of two; a higher rate saves memory and is "
             "less precise; auto: the lowest rate that fits sample_memory"},
    {.name = "sample_memory",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_run, sample_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 1 << 20,
     .max = 0x1p50,
     .by_default = "2GiB",
     .help = "sampled: memory that an automatic sample_rate aims at; more memory keeps more keys"},
    {.name = "warmup",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_run, warmup_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e13,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = -1,
     .help = "simulated time before measuring; a longer time lets the store settle; auto: until throughput, "
             "hit ratio, backlog and latency are steady (MSER-5) and no client runs further ahead of a slow "
             "shard, and none for a curve or a trace"},
    {.name = "warmup_limit",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_run, warmup_most_ns),
     .unit = KVC_UNIT_NS,
     .min = 1e3,
     .max = 1e13,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "longest simulated time that an automatic warmup may take; a longer time lets slower changes "
             "settle; the result says what was not steady at its end; auto: 2000 windows, which a store "
             "makes as long as some of its batches"},
    {.name = "duration",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_run, duration_ns),
     .unit = KVC_UNIT_NS,
     .min = 1e3,
     .max = DURATION_MAX_NS,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = -1,
     .help =
         "simulated time that is measured; a longer time narrows the confidence interval; auto: 20 ms, or "
         "the whole of a trace"},
    {.name = "seed",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_run, seed),
     .min = 0,
     .max = 0x1p53,
     .by_default = "1",
     .help = "seed of all random streams; the same seed gives identical results"},
    {.name = "replicas",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_run, replicas),
     .min = 1,
     .max = 1000,
     .by_default = "1",
     .help = "independent runs; two or more give a 95 % confidence interval, which more runs narrow"},
    {.name = "bottleneck",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_run, bottleneck),
     .by_default = "auto",
     .choices = bottlenecks,
     .help =
         "gain: the resource whose being 5 % faster gains most throughput, found by one more run for each "
         "resource, with the same random numbers; utilization: the stage that is busy most, or the load; "
         "auto: gain in kvcast run and predict, utilization in sweep, capacity and validate. A store that "
         "serves all of an open load has no bottleneck but the load and needs no more runs"},
    {.name = "changes",
     .type = KVC_OPTION_LIST,
     .offset = offsetof(struct kvc_run, changes),
     .element = &kvc_change_option_table,
     .count_offset = offsetof(struct kvc_run, change_count),
     .help = "devices that change their clock or are turned off during the measured time"},
};

const struct kvc_option_table kvc_run_option_table = {.name = "run",
                                                      .rows = run_rows,
                                                      .count = sizeof(run_rows) / sizeof(*run_rows),
                                                      .size = sizeof(struct kvc_run)};

double kvc_run_real_warmup_ns(const struct kvc_run *run)
{
    static const double least_ns = 50e6;
    return run->warmup_ns >= 0 ? run->warmup_ns : fmax(run->duration_ns / 2, least_ns);
}

void kvc_run_settle(struct kvc_run *run, const struct kvc_workload *workload)
{
    static const double usual_ns = 20e6;
    if (run->duration_ns < 0) {
        run->duration_ns = workload->arrival == KVC_ARRIVAL_TRACE ? DURATION_MAX_NS : usual_ns;
    }
    if (run->warmup_ns < 0 && kvc_workload_changes(workload)) {
        run->warmup_ns = 0;
    }
}

enum kvc_status kvc_run_check(const struct kvc_run *run, uint64_t keys, struct kvc_diag *diag)
{
    enum { KEYS_MIN = 1000 }; /* Fewer keys say little about a hit ratio. */
    if (run->functional != KVC_FUNCTIONAL_SAMPLED || run->sample_rate <= 1) {
        return KVC_OK;
    }
    if ((run->sample_rate & (run->sample_rate - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "run.sample_rate: found %llu, allowed: a power of two",
                             (unsigned long long)run->sample_rate);
    }
    if (keys / run->sample_rate < KEYS_MIN) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.sample_rate: found %llu, which keeps %llu of %llu keys; at least %d must stay",
            (unsigned long long)run->sample_rate, (unsigned long long)(keys / run->sample_rate),
            (unsigned long long)keys, KEYS_MIN);
    }
    return KVC_OK;
}

uint64_t kvc_run_sample_rate(const struct kvc_run *run, double full_bytes)
{
    if (run->functional != KVC_FUNCTIONAL_SAMPLED) {
        return run->functional == KVC_FUNCTIONAL_FULL ? 1 : 0;
    }
    if (run->sample_rate > 0) {
        return run->sample_rate;
    }
    uint64_t rate = 1;
    while (full_bytes / (double)rate > run->sample_bytes) {
        rate *= 2;
    }
    return rate;
}

struct kvc_source_params kvc_scenario_source(const struct kvc_scenario *scenario, uint32_t sockets,
                                             uint64_t seed)
{
    return (struct kvc_source_params){
        .workload = &scenario->workload,
        .nodes = (uint32_t)scenario->cluster.nodes,
        .sockets = sockets,
        .ring_points = (uint32_t)scenario->cluster.virtual_nodes,
        .seed = seed,
        .hash_seed = kvc_seed_of_hash(seed),
        .frame_requests = 1,
    };
}
