/* Where requests wait in a composed store that clients keep busy: in front of what limits it.
 *
 * Behind the point where batches form, as many wait as the buffers have room for beside those that are
 * served. The others wait in front of that point, stage by stage as far as queues have room, and the last of
 * them for the first stage.
 *
 * Some requests wait for a batch in front of cores that leave them to batches. They count as waiting for the
 * stage in front of the batches. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_REST_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_REST_H

#include "models/composed/config.h"

/* The waits that no queue of the network explains. */
struct kvc_composed_rest {
    double per_ns;              /* Requests of a socket [requests/ns]. */
    double ns;                  /* Wait of the mean request [ns]. */
    uint32_t pool;              /* The pool that limits the store; `pools`: no pool does. */
    double room_requests;       /* Requests that may wait in buffers. */
    const double *job_requests; /* By stage: requests of a job. */
};

/* Adds what the mean request waits for each stage [ns]. share[i] of all requests come to stage i and wait
 * for it. */
void kvc_composed_add_rest(const struct kvc_composed_config *config, const struct kvc_composed_rest *rest,
                           const double *share, double *wait_ns);

#endif
