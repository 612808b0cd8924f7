#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "sim/base/array.h"

/* What happens at one moment: to which nodes. A failure is one event when the node dies, and one when clients
 * notice. */
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

/* Lists the events in the order of time. Nodes that join have numbers in the order of the changes. */
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

/* Applies an event to the nodes of an epoch. */
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
