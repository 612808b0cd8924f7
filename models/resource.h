/* Stages and resources of a store.
 *
 * A stage is a step that requests pass through, such as receiving or the search of the index. A store lists
 * its stages once. The results of its simulation and of its closed form name them in this order, and
 * resources refer to them by their places in the list.
 *
 * A resource is a part of the store's machine that could be bought faster, such as the cores or the NIC. The
 * bottleneck of a scenario is the resource whose speedup by a small factor gains the most throughput. A
 * resource is therefore a part that can be made faster by itself: it covers all of its times and rates, and
 * nothing else. The time of a stage may come from several resources, such as cores and their memory. */
#ifndef KVC_MODELS_RESOURCE_H
#define KVC_MODELS_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/recorder.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

enum { KVC_MODEL_STAGES_MAX = KVC_BATCH_STAGES, KVC_RESOURCES_MAX = 12 };

/* A stage of a resolved scenario. */
struct kvc_model_stage {
    const char *name;   /* "receive". */
    const char *device; /* Kind of device that it occupies, as platforms name it: "cpu". */
    /* Servers that share its work, all nodes together; 0: the scenario does not use the stage. */
    double servers;
    unsigned
        /* Bits of the recorder's stages that it consists of; 0: the recorder's stage with its index. */
        busy;
    bool if_busy; /* A simulation lists the stage only if it was busy. */
};

/* Fills the list of a resolved scenario's stages and returns its length, at most KVC_MODEL_STAGES_MAX. */
typedef uint32_t kvc_stages_fn(const struct kvc_scenario *scenario, struct kvc_model_stage *stage);

/* Adds the stages of a simulation to a result whose `completed` is set, after kvc_recorder_report(). If
 * `at_most_one`, utilizations above 1 count as 1; jobs that extend beyond the measured time cause them. */
void kvc_stages_report(kvc_stages_fn *stages, const struct kvc_scenario *scenario,
                       const struct kvc_recorder *recorder, bool at_most_one, struct kvc_result *result);

/* Returns the stage of a result with this name, or NULL. */
struct kvc_stage_result *kvc_stages_find(struct kvc_result *result, const char *name);

/* Adds the stages of a closed form to its result. utilization_frac[i] belongs to stage i; NaN: the closed
 * form does not know it. Utilizations above 1 count as 1. */
void kvc_stages_predict(kvc_stages_fn *stages, const struct kvc_scenario *scenario,
                        const double *utilization_frac, struct kvc_result *result);

/* Adds the stages from the rate at which each would be fully busy and the served rate per_ns [requests/ns].
 * Adds each limit to the model's metrics as "NAME_limit_mops". An infinite limit means that the closed form
 * does not know the stage. */
void kvc_stages_limit(kvc_stages_fn *stages, const struct kvc_scenario *scenario, const double *limit_per_ns,
                      double per_ns, struct kvc_result *result);

struct kvc_model_resource {
    const char *name;   /* "gpu", "host-memory". */
    const char *device; /* Kind of device, as stages and devices of results name it. */
    unsigned stages;    /* Stages that spend time on it: a bit for each place in the list. */
    /* The same for a store whose scenario states the stages. NULL: `stages`. */
    unsigned (*stages_of)(const struct kvc_scenario *scenario);
    /* Returns whether the requests of a resolved scenario take any of it. NULL: if one of its stages has
     * servers, or is not in the list, as those are of which DIDO may still plan more. */
    bool (*used)(const struct kvc_scenario *scenario);
    /* Makes it faster in a scenario that owns its options and devices: multiplies rates by the factor and
     * divides times by it. The scenario still has the configuration of the original, and is resolved again
     * afterwards. "auto" options that depend on the speed of devices must be set to the values that the
     * original resolved, so that only the speed differs. */
    void (*speed_up)(struct kvc_scenario *scenario, double factor);
};

#endif
