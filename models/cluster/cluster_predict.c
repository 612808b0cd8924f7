#include "models/cluster/cluster_predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "sim/base/array.h"
#include "sim/metrics/bottleneck.h"

/* The classes of a cluster and what each node of them serves. */
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
    sum->latency_mean_us += mops * class->latency_mean_us;
    sum->latency_p95_us = fmax(sum->latency_p95_us, class->latency_p95_us);
    sum->watts_mean += nodes * class->watts_mean;
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
        result->latency_mean_us /= result->throughput_mops;
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
        kvc_result_note(result,
                        "the closed form ignores cluster.changes: it holds for the nodes at the begin");
    }
    if (status == KVC_OK && scenario->cluster.multiget > 0) {
        kvc_result_note(result,
                        "the closed form ignores cluster.multiget: it has no distribution of latencies");
    }
    return status;
}
