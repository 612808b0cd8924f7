#include "sim/scenario.h"

#include <math.h>
#include <stddef.h>

#include "sim/base/seeds.h"
#include "sim/workload/keys/hash_ring.h"
#include "sim/workload/keys/key_parts.h"

static const char *const simulate_names[] = {"auto", "together", "apart", NULL};
static const char *const database_names[] = {"shared", "per_node", NULL};

static const struct kvc_option cluster_change_rows[] = {
    KVC_REAL_ROW(kvc_cluster_change, "at", at_ns, KVC_UNIT_NS, 0, 1e13, NULL,
                 "when the cluster changes, counted from the beginning of the measured time; less than "
                 "run.duration"),
    KVC_REAL_ROW(kvc_cluster_change, "join", join, KVC_UNIT_NONE, 0, KVC_CLUSTER_NODES_MAX, NULL,
                 "how many nodes join; their stores are empty, and the keys that move to them miss",
                 .optional = true),
    KVC_REAL_ROW(kvc_cluster_change, "leave", leave, KVC_UNIT_NONE, 0, KVC_CLUSTER_NODES_MAX, NULL,
                 "number of the node that leaves without handing its items over; its keys miss at their "
                 "new nodes",
                 .optional = true),
    KVC_REAL_ROW(
        kvc_cluster_change, "fail", fail, KVC_UNIT_NONE, 0, KVC_CLUSTER_NODES_MAX, NULL,
        "number of the node that fails; requests sent to it are lost until clients notice, then its keys "
        "miss at their new nodes",
        .optional = true),
    KVC_REAL_ROW(kvc_cluster_change, "detect", detect_ns, KVC_UNIT_NS, 0, 1e13, "1ms",
                 "how long clients keep sending to a failed node; a longer time loses more requests"),
};

const struct kvc_option_table kvc_cluster_change_option_table = {.name = "cluster.changes",
                                                                 .rows = cluster_change_rows,
                                                                 .count = sizeof(cluster_change_rows) /
                                                                          sizeof(*cluster_change_rows),
                                                                 .size = sizeof(struct kvc_cluster_change),
                                                                 .max_list = KVC_CLUSTER_CHANGES_MAX};

static const struct kvc_option cluster_rows[] = {
    KVC_COUNT_ROW(kvc_cluster, "nodes", nodes, 1, KVC_CLUSTER_NODES_MAX, "1",
                  "nodes that share the keys by consistent hashing; more nodes divide the load"),
    KVC_COUNT_ROW(
        kvc_cluster, "virtual_nodes", virtual_nodes, 1, 1 << 20, "4096",
        "points of a node on the hash ring; with more of them, nodes have more equal shares of the keys, "
        "which vary by 1/sqrt(virtual_nodes)",
        .optional = true),
    KVC_CHOICE_ROW(
        kvc_cluster, "simulate", simulate, simulate_names, "auto",
        "apart: every node in a process of its own, which requires that no load or device couples the "
        "nodes; together: all nodes in one engine; auto: apart if possible",
        .optional = true),
    KVC_CHOICE_ROW(
        kvc_cluster, "database", database, database_names, "shared",
        "shared: all nodes use one node.database; per_node: every node has a database of its own, such as "
        "a read replica or a shard, whose capacity no other node uses",
        .optional = true),
    KVC_COUNT_ROW(
        kvc_cluster, "multiget", multiget, 1, 1000, NULL,
        "keys of a multiget, whose latency is computed from the latencies of the nodes that hold its keys; "
        "more keys wait for more nodes",
        .optional = true),
    KVC_LIST_ROW(kvc_cluster, "changes", change, change_count, &kvc_cluster_change_option_table,
                 "nodes that join, leave or fail during the measured time"),
};

const struct kvc_option_table kvc_cluster_option_table =
    KVC_OPTION_TABLE(kvc_cluster, cluster_rows, "cluster");

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
    KVC_TEXT_ROW(kvc_cluster_member, "name", name, NULL, "name of the group, which results show"),
    KVC_COUNT_ROW(kvc_cluster_member, "nodes", nodes, 1, KVC_CLUSTER_NODES_MAX, NULL,
                  "equal nodes of the group"),
    KVC_REAL_ROW(
        kvc_cluster_member, "weight", weight, KVC_UNIT_NONE, 0.001, 1000, "1",
        "points of each node on the hash ring as a multiple of cluster.virtual_nodes; a node with a larger "
        "weight owns more keys"),
};

const struct kvc_option_table kvc_cluster_member_option_table = {.name = "cluster.members",
                                                                 .rows = member_rows,
                                                                 .count = sizeof(member_rows) /
                                                                          sizeof(*member_rows),
                                                                 .size = sizeof(struct kvc_cluster_member),
                                                                 .max_list = KVC_CLUSTER_MEMBERS_MAX};

static const char *const functionals[] = {"compact", "full", "sampled", "off", NULL};

static const char *const bottlenecks[] = {
    [KVC_BOTTLENECK_BY_GAIN] = "gain",
    [KVC_BOTTLENECK_BY_UTILIZATION] = "utilization",
    [KVC_BOTTLENECK_BY_COMMAND] = "auto",
    NULL,
};

static const struct kvc_option change_rows[] = {
    KVC_REAL_ROW(
        kvc_change, "at", at_ns, KVC_UNIT_NS, 0, 1e13, NULL,
        "when the device changes, counted from the beginning of the measured time; less than duration"),
    KVC_TEXT_ROW(kvc_change, "device", device, NULL,
                 "name of the device, as results list them: \"node0.socket1.gpu\""),
    KVC_REAL_ROW(
        kvc_change, "clock", clock_hz, KVC_UNIT_HZ, 1, 1e12, NULL,
        "clock of the device from then on, one of its profile's clocks; a higher clock works faster and "
        "draws more power",
        .optional = true),
    KVC_REAL_ROW(
        kvc_change, "off", off_ns, KVC_UNIT_NS, 1, 1e13, NULL,
        "how long the device is turned off; afterwards work on it is repeated, and transfers over a link "
        "continue",
        .optional = true),
};

const struct kvc_option_table kvc_change_option_table =
    KVC_OPTION_TABLE(kvc_change, change_rows, "changes", .max_list = KVC_RUN_CHANGES_MAX);

#define DURATION_MAX_NS 1e15 /* The last time that a trace can have (sim/workload/trace.c). */

static const struct kvc_option run_rows[] = {
    KVC_CHOICE_ROW(kvc_run, "functional", functional, functionals, "compact",
                   "compact: every request runs through the real index and slabs, which keep hashes and "
                   "lengths instead of values where a store can do without them, "
                   "with the same outcomes in less memory and time; full: the values are kept, too, as "
                   "measured runs always do; sampled: only requests for a sample of the keys run through "
                   "them; off: none do"),
    KVC_COUNT_ROW(kvc_run, "sample_rate", sample_rate, 1, 1048576, "auto",
                  "sampled: one key in this many is kept, a power of two; a higher rate saves memory and is "
                  "less precise; auto: the lowest rate that fits sample_memory",
                  .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(kvc_run, "sample_memory", sample_bytes, KVC_UNIT_BYTES, 1 << 20, 0x1p50, "2GiB",
                 "sampled: memory that an automatic sample_rate stays within; more memory keeps more keys"),
    KVC_REAL_ROW(
        kvc_run, "warmup", warmup_ns, KVC_UNIT_NS, 0, 1e13, "auto",
        "simulated time before measuring; a longer time lets the store settle; auto: until throughput, hit "
        "ratio, backlog and latency are steady (MSER-5) and no client still runs further ahead of a slow "
        "shard; a curve or a trace has no warm-up",
        .auto_word = "auto", .auto_value = -1),
    KVC_REAL_ROW(
        kvc_run, "warmup_limit", warmup_most_ns, KVC_UNIT_NS, 1e3, 1e13, "auto",
        "longest simulated time that an automatic warmup may take; a longer time lets slower changes "
        "settle; the result says what was not steady at its end; auto: 2000 windows, each as long as "
        "several batches of the store",
        .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(
        kvc_run, "duration", duration_ns, KVC_UNIT_NS, 1e3, DURATION_MAX_NS, "auto",
        "simulated time that is measured; a longer time narrows the confidence interval; auto: 20 ms, or "
        "the whole of a trace",
        .auto_word = "auto", .auto_value = -1),
    KVC_COUNT_ROW(kvc_run, "seed", seed, 0, 0x1p53, "1",
                  "seed of all random streams; the same seed gives identical results"),
    KVC_COUNT_ROW(kvc_run, "replicas", replicas, 1, 1000, "1",
                  "independent runs; two or more give a 95 % confidence interval, which more runs narrow"),
    KVC_CHOICE_ROW(
        kvc_run, "bottleneck", bottleneck, bottlenecks, "auto",
        "gain: the resource whose being 5 % faster gains most throughput, found by one more run for each "
        "resource, with the same random numbers; utilization: the stage whose servers work on requests most "
        "of the time, which polling is not, or the load; "
        "auto: gain in kvcast run and predict, utilization in sweep, capacity and validate. A store that "
        "serves all of an open load has no bottleneck but the load and needs no more runs"),
    KVC_LIST_ROW(kvc_run, "changes", changes, change_count, &kvc_change_option_table,
                 "devices that change their clock or are turned off during the measured time"),
};

const struct kvc_option_table kvc_run_option_table = KVC_OPTION_TABLE(kvc_run, run_rows, "run");

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
        return kvc_run_is_whole(run) ? 1 : 0;
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

struct kvc_spans_request kvc_scenario_judged(const struct kvc_scenario *scenario)
{
    enum { SPANS = 50 };
    const struct kvc_run *run = &scenario->run;
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_key_part *part = workload->part; /* A node of a cluster that changes. */
    struct kvc_spans_request judged = run->judged;
    bool bursts = workload->arrival == KVC_ARRIVAL_BURSTS || workload->arrival == KVC_ARRIVAL_MMPP ||
                  workload->storm_count > 0;
    bool changes = run->change_count > 0 || scenario->cluster.change_count > 0 || bursts ||
                   (part != NULL && part->epochs > 1);
    if (!(judged.length_ns > 0)) {
        judged.length_ns = changes ? run->duration_ns / SPANS : 0;
    }
    return judged;
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
