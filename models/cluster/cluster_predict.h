/* The closed form of a cluster of different machines (cluster.members).
 *
 * Every class of nodes is forecast as a single node with its average share of the keys and of the requests.
 * What the nodes serve adds up; a mean latency is that of all requests, and a percentile that of the slowest
 * class. Where one set of saturating clients waits for all nodes, the class whose nodes have most of the load
 * for their speed limits all others. Not in the closed form: that shares vary between nodes of a class by
 * chance. */
#ifndef KVC_MODELS_CLUSTER_CLUSTER_PREDICT_H
#define KVC_MODELS_CLUSTER_CLUSTER_PREDICT_H

#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Predicts a scenario, whether its nodes are alike or not. `result` comes zeroed. */
enum kvc_status kvc_scenario_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag);

#endif
