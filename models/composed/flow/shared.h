/* What the stages of a composed store share: host memory, the root complex, and the wire to the clients. */
#ifndef KVC_MODELS_COMPOSED_FLOW_SHARED_H
#define KVC_MODELS_COMPOSED_FLOW_SHARED_H

#include "models/composed/state.h"

/* Returns the time after which all has left that goes the way of a job's responses [ns]. */
double kvc_composed_left_to_send(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                                 double now_ns);

/* Asks the shared devices for what a stage needs of them for a job, over over_ns or at once. Returns the
 * longest time for which one of them has work from before [ns]. */
double kvc_composed_take_shared(struct kvc_composed_server *server, struct kvc_composed_job *job,
                                const struct kvc_composed_price *price, double now_ns, double over_ns);

/* Lets the next port take the responses of a job, over over_ns or at once. Returns the time of what the port
 * had left before [ns]. */
double kvc_composed_take_wire(struct kvc_composed_server *server, struct kvc_composed_job *job,
                              const struct kvc_composed_price *price, double now_ns, double over_ns);

/* Counts a job with which a stage begins: requests that have waited for it. */
static inline void kvc_composed_count_job(struct kvc_composed_server *server, uint32_t stage, double requests,
                                          double wait_ns)
{
    server->stage_requests[stage] += requests;
    server->traffic[stage].jobs++;
    server->traffic[stage].wait_ns += requests * wait_ns;
}

/* Counts the messages of a job on the wire, at the place of its ports, for which they have waited. */
void kvc_composed_count_messages(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                                 enum kvc_composed_place place, uint32_t stage, double busy_ns,
                                 double wait_ns);

/* Counts by how much storage took longer for a job, which is done, than for one that finds it idle. */
void kvc_composed_count_storage(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                                uint32_t stage, double now_ns);

/* Lets memory work for a kernel of a GPU that uses it. Kernels share the card, so that it is known at the end
 * only how long one runs; until then, it is taken to have an equal part of the card. */
void kvc_composed_take_memory(struct kvc_composed_server *server, struct kvc_composed_job *job,
                              const struct kvc_composed_price *price, double now_ns);

/* Ends what kvc_composed_take_shared() began over a time. Returns for how long the stage still waits [ns]:
 * cores for memory, and links for all but the wire that takes what they leave. A pipeline holds the requests
 * that come within its latency, so that it takes others until memory is behind by as much; those wait
 * longer. */
double kvc_composed_end_shared(struct kvc_composed_server *server, struct kvc_composed_job *job,
                               uint32_t stage, double now_ns);

#endif
