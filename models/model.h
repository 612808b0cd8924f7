/* A store: its options, its closed form and its simulation. One explicit registry lists them all. */
#ifndef KVC_MODELS_MODEL_H
#define KVC_MODELS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/option.h"
#include "sim/metrics/timeline.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Told how far a step is, 0..1; NULL: nobody listens. */
struct kvc_progress {
    void (*report)(void *data, const char *step, double fraction);
    void *data;
};

/* A device that a store looks at. */
struct kvc_model_device {
    const struct kvc_device_kind *kind;
    const char *profile; /* Profile of the hardware library for a node that names none: "tesla-k40c". */
};

struct kvc_model {
    const char *name;
    const char *help;
    const char *paper;
    const struct kvc_option_table *options; /* of the `system` table, `kind` excepted */
    bool has_sockets;                       /* node.sockets: each a shard with devices of its own */
    const struct kvc_model_device *devices; /* In the order of the echo; kind NULL ends the list. */

    /* What the options' ranges cannot say. */
    enum kvc_status (*check)(const struct kvc_scenario *scenario, struct kvc_diag *diag);

    /* Memory that a functional run needs in this process. */
    double (*memory_bytes)(const struct kvc_scenario *scenario);

    enum kvc_status (*predict)(const struct kvc_scenario *scenario, struct kvc_result *result,
                               struct kvc_diag *diag);

    /* Builds and preloads the store. Runs once; replicas are forked from it. *state may stay NULL. */
    enum kvc_status (*prepare)(const struct kvc_scenario *scenario, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag);
    /* Simulates one replica. Called at most once in a process (one engine per process). */
    enum kvc_status (*run)(const struct kvc_scenario *scenario, void *state, uint32_t replica,
                           struct kvc_timeline *timeline, const struct kvc_progress *progress,
                           const char *platform_path, struct kvc_result *result, struct kvc_diag *diag);
    void (*free)(void *state);
};

#endif
