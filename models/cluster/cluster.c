#include "models/cluster/cluster.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/latency.h"
#include "models/model.h"
#include "sim/base/array.h"
#include "sim/devices/database.h"
#include "sim/metrics/bottleneck.h"
#include "sim/workload/keys/hash_ring.h"
#include "sim/workload/rates.h"

/* ---- epochs ---- */

/* A change of the cluster and the nodes that it concerns. A failure is two events: the node dies, and later
 * clients notice. */
enum event_kind { EVENT_JOIN, EVENT_LEAVE, EVENT_DIE, EVENT_NOTICE };

struct event {
    double at_ns;
    enum event_kind kind;
    uint32_t change, node, nodes;
};

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns ? -1 : 1;
    }
    return (a->change > b->change) - (a->change < b->change);
}

/* Lists the events in the order of time. Nodes that join are numbered in the order of the changes. */
static uint32_t list_events(const struct kvc_scenario *scenario, struct event *event)
{
    const struct kvc_cluster *cluster = &scenario->cluster;
    uint32_t count = 0, joined = (uint32_t)cluster->nodes;
    for (uint32_t i = 0; i < cluster->change_count; i++) {
        const struct kvc_cluster_change *change = &cluster->change[i];
        double at_ns = scenario->run.warmup_ns + change->at_ns;
        struct event made = {.at_ns = at_ns, .change = i, .nodes = 1};
        if (!isnan(change->join)) {
            made.kind = EVENT_JOIN;
            made.node = joined;
            made.nodes = (uint32_t)change->join;
            joined += made.nodes;
        } else if (!isnan(change->leave)) {
            made.kind = EVENT_LEAVE;
            made.node = (uint32_t)change->leave;
        } else {
            made.kind = EVENT_DIE;
            made.node = (uint32_t)change->fail;
        }
        event[count++] = made;
        if (made.kind == EVENT_DIE) {
            made.kind = EVENT_NOTICE;
            made.at_ns += change->detect_ns;
            event[count++] = made;
        }
    }
    qsort(event, count, sizeof(*event), by_time);
    return count;
}

/* Applies an event to an epoch. */
static enum kvc_status apply(const struct event *event, const struct kvc_scenario *scenario, uint32_t *points,
                             bool *dead, struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < event->nodes; i++) {
        uint32_t node = event->node + i;
        bool there = points[node] > 0 && (!dead[node] || event->kind == EVENT_NOTICE);
        if (event->kind != EVENT_JOIN && !there) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "cluster.changes.%u: found node %u, which is not in the cluster at that time",
                event->change + 1, node);
        }
        dead[node] = event->kind == EVENT_DIE;
        if (event->kind == EVENT_JOIN) {
            points[node] = kvc_cluster_class_points(scenario, kvc_cluster_class_of(scenario, node));
        } else if (event->kind != EVENT_DIE) {
            points[node] = 0;
        }
    }
    return KVC_OK;
}

static enum kvc_status check_rest(const uint32_t *points, uint32_t nodes, uint32_t change,
                                  struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < nodes; i++) {
        if (points[i] > 0) {
            return KVC_OK;
        }
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cluster.changes.%u: the last node leaves", change + 1);
}

enum kvc_status kvc_cluster_epochs_open(struct kvc_cluster_epochs *epochs,
                                        const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    struct event event[2 * KVC_CLUSTER_CHANGES_MAX];
    uint32_t events = list_events(scenario, event), nodes = kvc_cluster_nodes(&scenario->cluster);
    enum kvc_status status = KVC_OK;
    *epochs = (struct kvc_cluster_epochs){.count = 1,
                                          .nodes = nodes,
                                          .points = kvc_array_of((events + 1) * nodes, sizeof(uint32_t)),
                                          .dead = kvc_array_of((events + 1) * nodes, sizeof(bool))};
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t class = kvc_cluster_class_of(scenario, i);
        epochs->points[i] = i < scenario->cluster.nodes ? kvc_cluster_class_points(scenario, class) : 0;
        epochs->dead[i] = false;
    }
    for (uint32_t i = 0; i < events && status == KVC_OK; i++) {
        uint32_t *points = epochs->points + (size_t)epochs->count * nodes;
        bool *dead = epochs->dead + (size_t)epochs->count * nodes;
        memcpy(points, points - nodes, nodes * sizeof(*points));
        memcpy(dead, dead - nodes, nodes * sizeof(*dead));
        epochs->from_ns[epochs->count] = event[i].at_ns;
        status = apply(&event[i], scenario, points, dead, diag);
        if (status == KVC_OK) {
            status = check_rest(points, nodes, event[i].change, diag);
        }
        epochs->count++;
    }
    return status;
}

void kvc_cluster_epochs_close(struct kvc_cluster_epochs *epochs)
{
    free(epochs->points);
    free(epochs->dead);
}

/* ---- nodes that are apart ---- */

static const struct kvc_database *database_of_class(const struct kvc_scenario *scenario, uint32_t class)
{
    const struct kvc_cluster *cluster = &scenario->cluster;
    return kvc_database_of(cluster->member_count > 0 ? &cluster->member[class].node : &scenario->node);
}

/* Returns the first class of nodes that has a database or, if `has_database` is false, has none. Returns the
 * number of classes if there is no such class. */
static uint32_t first_class(const struct kvc_scenario *scenario, bool has_database)
{
    uint32_t class = 0;
    while (class < kvc_cluster_classes(scenario) &&
           (database_of_class(scenario, class) != NULL) != has_database) {
        class ++;
    }
    return class;
}

const char *kvc_cluster_coupling(const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    bool own_clients =
        workload->arrival == KVC_ARRIVAL_SATURATE && workload->clients_for == KVC_CLIENTS_FOR_SOCKET;
    if (scenario->model->has_links_between_nodes) {
        return "the network between the store's nodes";
    }
    if (scenario->cluster.database == KVC_CLUSTER_SHARED &&
        first_class(scenario, true) < kvc_cluster_classes(scenario)) {
        return "the database behind them; allowed: cluster.database = \"per_node\"";
    }
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return "the trace, which has the requests for all of them";
    }
    if (workload->arrival == KVC_ARRIVAL_MMPP) {
        return "workload.arrival.mmpp, whose state is that of all of them";
    }
    if (!kvc_workload_has_rate(workload) && !own_clients) {
        return "clients that wait for all of them; allowed: an open load, such as arrival = { poisson_mops = 100 }, "
               "or clients_for = \"socket\"";
    }
    if (kvc_workload_popularity_changes(workload)) {
        return "workload.churn or workload.storms";
    }
    if (workload->action_count > 0 || workload->phase_count > 0 || workload->tenant_count > 0) {
        return "workload.actions, workload.phases or workload.tenants";
    }
    return scenario->run.change_count > 0 ? "run.changes" : NULL;
}

/* Returns the option that needs nodes simulated apart, or NULL. */
static const char *needs_apart(const struct kvc_cluster *cluster)
{
    return cluster->simulate == KVC_CLUSTER_APART ? "cluster.simulate"
           : cluster->change_count > 0            ? "cluster.changes"
           : cluster->member_count > 0            ? "cluster.members"
           : cluster->multiget > 0                ? "cluster.multiget"
                                                  : NULL;
}

bool kvc_cluster_is_apart(const struct kvc_scenario *scenario)
{
    const struct kvc_cluster *cluster = &scenario->cluster;
    return (kvc_cluster_nodes(cluster) > 1 || needs_apart(cluster) != NULL) &&
           cluster->simulate != KVC_CLUSTER_TOGETHER && kvc_cluster_coupling(scenario) == NULL;
}

static enum kvc_status check_changes(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_run *run = &scenario->run;
    const struct kvc_workload *workload = &scenario->workload;
    if (workload->arrival != KVC_ARRIVAL_POISSON || kvc_workload_sends_together(workload)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "cluster.changes: allowed with arrival = { poisson_mops = ... } and fill = "
                             "\"gradually\"");
    }
    if (!kvc_run_is_whole(run)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "cluster.changes: allowed with run.functional = \"compact\" or \"full\", because keys move");
    }
    if (run->warmup_ns < 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.warmup: found auto, allowed with cluster.changes: a time, because all nodes "
            "change at the same time");
    }
    for (uint32_t i = 0; i < scenario->cluster.change_count; i++) {
        if (scenario->cluster.change[i].at_ns >= run->duration_ns) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "cluster.changes.%u.at: found %g ms, allowed: less than run.duration, %g ms",
                                 i + 1, scenario->cluster.change[i].at_ns * 1e-6, run->duration_ns * 1e-6);
        }
    }
    struct kvc_cluster_epochs epochs;
    enum kvc_status status = kvc_cluster_epochs_open(&epochs, scenario, diag);
    kvc_cluster_epochs_close(&epochs);
    return status;
}

/* Checks that every node can have its own database if cluster.database requires it. */
static enum kvc_status check_databases(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    uint32_t without = first_class(scenario, false);
    if (scenario->cluster.database != KVC_CLUSTER_PER_NODE) {
        return KVC_OK;
    }
    if (scenario->model->has_links_between_nodes) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "cluster.database: found \"per_node\", allowed with %s: shared, because its nodes "
            "are one cache in front of one database",
            scenario->model->name);
    }
    if (without < kvc_cluster_classes(scenario)) {
        const char *name = kvc_cluster_class_name(scenario, without);
        return scenario->cluster.member_count > 0
                   ? kvc_diag_fail(
                         diag, KVC_ERR_SCENARIO,
                         "cluster.database: found \"per_node\", but the nodes of member \"%s\" have no "
                         "node.database",
                         name)
                   : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                   "cluster.database: found \"per_node\", but no node.database");
    }
    return KVC_OK;
}

/* Checks that every class can be resolved and has enough memory. The devices of equal nodes have already been
 * checked with the whole scenario. */
static enum kvc_status check_classes(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario) && status == KVC_OK; i++) {
        struct kvc_scenario *class = kvc_cluster_class_scenario(scenario, i, diag);
        status = class != NULL ? KVC_OK : diag->status;
        if (status == KVC_OK && class->model->check != NULL) {
            status = class->model->check(class, diag);
        }
        if (status == KVC_OK && scenario->cluster.member_count > 0) {
            status = kvc_scenario_check_devices(class, diag);
        }
        size_t used = strlen(diag->message);
        if (status != KVC_OK && scenario->cluster.member_count > 0) {
            snprintf(diag->message + used, sizeof(diag->message) - used, " (cluster.members.%u)", i + 1);
        }
        kvc_cluster_free_class(class);
    }
    return status;
}

enum kvc_status kvc_cluster_check_scenario(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_cluster *cluster = &scenario->cluster;
    const char *needs = needs_apart(cluster), *coupling = kvc_cluster_coupling(scenario);
    enum kvc_status status = kvc_cluster_check(cluster, diag);
    status = status == KVC_OK ? check_databases(scenario, diag) : status;
    if (status != KVC_OK) {
        return status;
    }
    if (kvc_workload_has_multigets(&scenario->workload) &&
        (kvc_cluster_nodes(cluster) > 1 || cluster->multiget > 0)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.multiget: allowed with one node; cluster.multiget says what keys on "
                             "several nodes wait for");
    }
    if (needs != NULL && coupling != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "%s: needs nodes that are simulated apart, but what couples them is %s", needs,
                             coupling);
    }
    if (needs != NULL && cluster->simulate == KVC_CLUSTER_TOGETHER) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "cluster.simulate: found \"together\", but %s needs nodes that are simulated apart", needs);
    }
    double points = 0;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario); i++) {
        points += (double)kvc_cluster_class_nodes(scenario, i) * kvc_cluster_class_points(scenario, i);
    }
    if (points > KVC_HASH_RING_POINTS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "cluster.members: found %.0f points on the ring, allowed: %d of all nodes",
                             points, KVC_HASH_RING_POINTS_MAX);
    }
    if (cluster->change_count > 0) {
        status = check_changes(scenario, diag);
    }
    return status == KVC_OK && kvc_cluster_is_apart(scenario) ? check_classes(scenario, diag) : status;
}

uint32_t kvc_cluster_classes(const struct kvc_scenario *scenario)
{
    return scenario->cluster.member_count > 0 ? scenario->cluster.member_count : 1;
}

const char *kvc_cluster_class_name(const struct kvc_scenario *scenario, uint32_t class)
{
    return scenario->cluster.member_count > 0 ? scenario->cluster.member[class].name : "node";
}

uint64_t kvc_cluster_class_nodes(const struct kvc_scenario *scenario, uint32_t class)
{
    return scenario->cluster.member_count > 0 ? scenario->cluster.member[class].nodes
                                              : scenario->cluster.nodes;
}

uint32_t kvc_cluster_class_of(const struct kvc_scenario *scenario, uint32_t node)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < scenario->cluster.member_count; i++) {
        end += scenario->cluster.member[i].nodes;
        if (node < end) {
            return i;
        }
    }
    return 0;
}

uint32_t kvc_cluster_class_points(const struct kvc_scenario *scenario, uint32_t class)
{
    const struct kvc_cluster *cluster = &scenario->cluster;
    double points = cluster->virtual_nodes > 0 ? (double)cluster->virtual_nodes : KVC_HASH_RING_POINTS;
    double weight = cluster->member_count > 0 ? cluster->member[class].weight : 1;
    return (uint32_t)fmax(round(points * weight), 1);
}

double kvc_cluster_class_share(const struct kvc_scenario *scenario, uint32_t class)
{
    double all = 0;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario); i++) {
        all += (double)kvc_cluster_class_nodes(scenario, i) * kvc_cluster_class_points(scenario, i);
    }
    return kvc_cluster_class_points(scenario, class) / all;
}

double kvc_cluster_limit_mops(const struct kvc_scenario *scenario, uint32_t class, double mops)
{
    return mops / kvc_cluster_class_share(scenario, class);
}

double kvc_cluster_held_back_frac(const struct kvc_scenario *scenario, uint32_t class, double mops,
                                  double all_mops)
{
    bool waits = scenario->workload.arrival == KVC_ARRIVAL_SATURATE &&
                 scenario->workload.clients_for == KVC_CLIENTS_FOR_CLUSTER;
    return waits && mops > 0 ? all_mops * kvc_cluster_class_share(scenario, class) / mops : 1;
}

/* Copies a scenario, but not the unused places of its largest tables, which are most of its bytes. */
static void copy_used(struct kvc_scenario *to, const struct kvc_scenario *from)
{
    enum {
        WORKLOAD = offsetof(struct kvc_scenario, workload),
        BEHIND_WORKLOAD = WORKLOAD + sizeof(from->workload),
        CHANGES = offsetof(struct kvc_scenario, run.changes),
        BEHIND_CHANGES = CHANGES + sizeof(from->run.changes),
    };
    memcpy(to, from, WORKLOAD);
    kvc_workload_copy(&to->workload, &from->workload);
    memcpy((char *)to + BEHIND_WORKLOAD, (const char *)from + BEHIND_WORKLOAD,
           CHANGES - BEHIND_WORKLOAD + from->run.change_count * sizeof(*from->run.changes));
    memcpy((char *)to + BEHIND_CHANGES, (const char *)from + BEHIND_CHANGES, sizeof(*from) - BEHIND_CHANGES);
}

struct kvc_scenario *kvc_cluster_class_scenario(const struct kvc_scenario *scenario, uint32_t class,
                                                struct kvc_diag *diag)
{
    struct kvc_scenario *made = kvc_array_grown(NULL, 1, sizeof(*made));
    double share = kvc_cluster_class_share(scenario, class);
    copy_used(made, scenario);
    made->config = NULL;
    made->cluster = (struct kvc_cluster){.nodes = 1};
    if (scenario->cluster.member_count > 0) {
        made->options = scenario->cluster.member[class].options;
        made->node = scenario->cluster.member[class].node;
    }
    made->workload.keys = (uint64_t)fmax(ceil((double)scenario->workload.keys * share), 1);
    kvc_workload_scale_rates(&made->workload, share);
    if (kvc_scenario_resolve(made, diag) != KVC_OK) {
        kvc_cluster_free_class(made);
        return NULL;
    }
    return made;
}

void kvc_cluster_free_class(struct kvc_scenario *class)
{
    if (class == NULL) {
        return;
    }
    kvc_scenario_unresolve(class);
    free(class);
}

/* Returns how many of a part's keys have ids below `end`. */
static uint64_t keys_before(const struct kvc_key_part *part, uint64_t end)
{
    uint64_t low = 0, high = part->count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (part->key[middle] < end) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

enum kvc_status kvc_cluster_take_part(struct kvc_scenario *node, const struct kvc_scenario *whole,
                                      const struct kvc_key_part *part, struct kvc_diag *diag)
{
    const struct kvc_workload *all = &whole->workload;
    uint64_t usual = node->workload.keys;
    /* A sample's hot keys are at most half of the usual number of keys. */
    uint64_t least = node->run.functional == KVC_FUNCTIONAL_SAMPLED ? usual / 2 + 1 : 1;
    if (part->count < least) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "cluster.virtual_nodes: a node owns %llu keys, allowed are at least %llu; use more "
            "virtual nodes or keys",
            (unsigned long long)part->count, (unsigned long long)least);
    }
    uint64_t preloaded = keys_before(part, (uint64_t)(all->preload_frac * (double)all->keys));
    node->workload = *all;
    node->workload.part = part;
    node->workload.keys = part->count;
    /* The added half prevents rounding from losing a key. */
    node->workload.preload_frac =
        preloaded < part->count ? ((double)preloaded + 0.5) / (double)part->count : 1;
    kvc_workload_scale_rates(&node->workload, kvc_key_part_share_max(part));
    return KVC_OK;
}

/* ---- memory ---- */

/* Returns the memory of a scenario in one engine with `databases` databases. */
static double engine_bytes(const struct kvc_scenario *scenario, double databases)
{
    const struct kvc_database *database = kvc_database_of(&scenario->node);
    double pool_bytes = database != NULL ? databases * kvc_database_memory_bytes(database) : 0;
    return pool_bytes + (scenario->model->memory_bytes != NULL ? scenario->model->memory_bytes(scenario) : 0);
}

/* Returns the memory of one node of a cluster whose nodes are simulated apart. */
static double node_bytes(const struct kvc_scenario *scenario)
{
    double most = 0;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario); i++) {
        struct kvc_diag unused = {0};
        struct kvc_scenario *class = kvc_cluster_class_scenario(scenario, i, &unused);
        if (class != NULL) {
            most = fmax(most, engine_bytes(class, 1));
        }
        kvc_cluster_free_class(class);
    }
    return most;
}

double kvc_scenario_memory_bytes(const struct kvc_scenario *scenario)
{
    bool own = scenario->cluster.database == KVC_CLUSTER_PER_NODE;
    if (kvc_cluster_is_apart(scenario)) {
        uint32_t epochs = scenario->cluster.change_count > 0 ? 2 : 1;
        return fmax(node_bytes(scenario) + kvc_key_parts_bytes(scenario->workload.keys, epochs),
                    kvc_key_parts_create_bytes(scenario->workload.keys, epochs));
    }
    return engine_bytes(scenario, own ? (double)scenario->cluster.nodes : 1);
}

/* ---- closed form ---- */

/* The classes of a cluster, and the throughput of a node of each class. */
struct classes {
    uint32_t count;
    struct kvc_scenario *scenario[KVC_CLUSTER_MEMBERS_MAX];
    double nodes[KVC_CLUSTER_MEMBERS_MAX];
};

static enum kvc_status open_classes(struct classes *classes, const struct kvc_scenario *scenario,
                                    struct kvc_diag *diag)
{
    classes->count = kvc_cluster_classes(scenario);
    for (uint32_t i = 0; i < classes->count; i++) {
        classes->nodes[i] = (double)kvc_cluster_class_nodes(scenario, i);
        classes->scenario[i] = kvc_cluster_class_scenario(scenario, i, diag);
        if (classes->scenario[i] == NULL) {
            return diag->status;
        }
    }
    return KVC_OK;
}

static void close_classes(struct classes *classes)
{
    for (uint32_t i = 0; i < classes->count; i++) {
        kvc_cluster_free_class(classes->scenario[i]);
    }
}

static void add_stages(struct kvc_result *sum, const struct kvc_result *class, double factor)
{
    for (uint32_t i = 0; i < class->stage_count; i++) {
        const struct kvc_stage_result *other = &class->stage[i];
        uint32_t at = 0;
        while (at < sum->stage_count && (strcmp(sum->stage[at].name, other->name) != 0 ||
                                         strcmp(sum->stage[at].device, other->device) != 0)) {
            at++;
        }
        if (at == sum->stage_count) {
            kvc_result_add_stage(sum, other->name, other->device, 0);
        }
        sum->stage[at].utilization_frac =
            fmax(sum->stage[at].utilization_frac, factor * other->utilization_frac);
    }
}

static void add_class(const struct kvc_scenario *scenario, uint32_t i, double nodes, double all_mops,
                      const struct kvc_result *class, struct kvc_result *sum)
{
    double factor = kvc_cluster_held_back_frac(scenario, i, class->throughput_mops, all_mops);
    double mops = nodes * factor * class->throughput_mops;
    char name[KVC_NAME_MAX];
    sum->throughput_mops += mops;
    kvc_latencies_add_class(&sum->predicted, &class->predicted, mops);
    sum->watts_mean += nodes * class->watts_mean;
    kvc_missing_add(sum->watts_missing, class->watts_missing);
    add_stages(sum, class, factor);
    snprintf(name, sizeof(name), "%.40s_node_mops", kvc_cluster_class_name(scenario, i));
    kvc_metrics_set(&sum->model, name, factor * class->throughput_mops);
    snprintf(name, sizeof(name), "%.40s_node_share_frac", kvc_cluster_class_name(scenario, i));
    kvc_metrics_set(&sum->model, name, kvc_cluster_class_share(scenario, i));
    for (uint32_t k = 0; k < class->note_count; k++) {
        kvc_result_note(sum, "%.40s: %.260s", kvc_cluster_class_name(scenario, i), class->note[k]);
    }
}

static enum kvc_status predict_members(const struct kvc_scenario *scenario, struct kvc_result *result,
                                       struct kvc_diag *diag)
{
    struct classes classes = {0};
    struct kvc_result *class = kvc_array_of(KVC_CLUSTER_MEMBERS_MAX, sizeof(*class));
    double all_mops = INFINITY;
    enum kvc_status status = open_classes(&classes, scenario, diag);
    for (uint32_t i = 0; i < classes.count && status == KVC_OK; i++) {
        status = scenario->model->predict(classes.scenario[i], &class[i], diag);
        all_mops = fmin(all_mops, kvc_cluster_limit_mops(scenario, i, class[i].throughput_mops));
    }
    for (uint32_t i = 0; i < classes.count && status == KVC_OK; i++) {
        add_class(scenario, i, classes.nodes[i], all_mops, &class[i], result);
    }
    if (status == KVC_OK) {
        kvc_latencies_end_sum(&result->predicted, result->throughput_mops);
        kvc_bottleneck_find(result);
    }
    close_classes(&classes);
    free(class);
    return status;
}

enum kvc_status kvc_scenario_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag)
{
    enum kvc_status status = scenario->cluster.member_count > 0
                                 ? predict_members(scenario, result, diag)
                                 : scenario->model->predict(scenario, result, diag);
    if (status == KVC_OK && scenario->cluster.change_count > 0) {
        kvc_result_note(
            result,
            "the closed form ignores cluster.changes: it holds for the nodes before the first change");
    }
    if (status == KVC_OK && scenario->cluster.multiget > 0) {
        kvc_result_note(result,
                        "the closed form ignores cluster.multiget: it has no distribution of latencies");
    }
    if (status == KVC_OK && kvc_workload_has_multigets(&scenario->workload)) {
        kvc_result_note(result,
                        "the closed form ignores workload.multiget: its latencies are those of requests "
                        "that arrive one by one");
    }
    return status;
}

/* ---- resources ---- */

bool kvc_cluster_resource_is_used(const struct kvc_model_resource *resource,
                                  const struct kvc_scenario *scenario)
{
    bool used = false;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario) && !used; i++) {
        struct kvc_diag unused = {0};
        struct kvc_scenario *class = kvc_cluster_class_scenario(scenario, i, &unused);
        used = class != NULL && kvc_resource_is_used(resource, class);
        kvc_cluster_free_class(class);
    }
    return used;
}

/* Makes the resource of a class faster in the copy, which owns the changed options and devices. */
static enum kvc_status speed_class(const struct kvc_scenario *scenario, uint32_t class,
                                   const struct kvc_model_resource *resource, double factor,
                                   struct kvc_scenario *copy, struct kvc_diag *diag)
{
    bool is_member = copy->cluster.member_count > 0;
    void *options = is_member ? copy->cluster.member[class].options : copy->options;
    struct kvc_node *node = is_member ? &copy->cluster.member[class].node : &copy->node;
    /* The copy keeps the original's configuration, which speed_up reads. */
    struct kvc_scenario *faster = kvc_cluster_class_scenario(scenario, class, diag);
    if (faster == NULL) {
        return diag->status;
    }
    if (kvc_resource_is_used(resource, faster)) {
        faster->options = options;
        faster->node = *node;
        resource->speed_up(faster, factor);
        *node = faster->node;
    }
    kvc_cluster_free_class(faster);
    return KVC_OK;
}

struct kvc_scenario *kvc_cluster_faster(const struct kvc_scenario *scenario,
                                        const struct kvc_model_resource *resource, double factor,
                                        struct kvc_diag *diag)
{
    struct kvc_scenario *copy = kvc_scenario_copy(scenario);
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < kvc_cluster_classes(scenario) && status == KVC_OK; i++) {
        status = speed_class(scenario, i, resource, factor, copy, diag);
    }
    if (status == KVC_OK) {
        status = kvc_scenario_resolve(copy, diag);
    }
    if (status != KVC_OK) {
        kvc_scenario_free_copy(copy);
        return NULL;
    }
    return copy;
}
