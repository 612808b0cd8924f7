/* The policy of a composed store: the function system.policy, which is called every policy_every of a
 * server's time. It sees the server since its previous look, over all pipelines, and chooses the limits of
 * batches, the cores of pools and the shares of routes. Cores move within a pipeline, each once its job is
 * done; requests that have left their clients stay on their routes. */
#ifndef KVC_MODELS_COMPOSED_FLOW_POLICY_H
#define KVC_MODELS_COMPOSED_FLOW_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "models/composed/state.h"
#include "sim/metrics/result.h"

/* Opens the policy of an open server; without a function, it stays NULL. */
void kvc_composed_policy_open(struct kvc_composed_server *server);
void kvc_composed_policy_close(struct kvc_composed_policy *policy); /* NULL is allowed. */

/* Lets the policy look at a server that has one, and sets its limits and what its stations want. Returns
 * whether something has changed. An error ends the run, and the policy looks no more. */
bool kvc_composed_policy_look(struct kvc_composed_server *server, double now_ns);

/* Notes the latencies of answered requests. */
void kvc_composed_policy_latencies(struct kvc_composed_policy *policy, const double *sent_ns,
                                   const double *done_ns, uint32_t count);

/* Sets the metrics of the policies of `count` servers, `stride` bytes apart: how often they looked and
 * changed something, and the mean of each choice over the measured time. */
void kvc_composed_policy_report(const struct kvc_composed_server *servers, uint32_t count, size_t stride,
                                struct kvc_metrics *metrics);

#endif
