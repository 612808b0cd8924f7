/** @file
 * The input of a store that simulates one replica of a scenario, and the result that it fills. */
#ifndef KVC_SIM_RUN_CONTEXT_H
#define KVC_SIM_RUN_CONTEXT_H

#include <stdint.h>

#include "sim/base/files/partial_file.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"
#include "sim/metrics/timeline.h"
#include "sim/scenario.h"

/** The task of one replica. */
struct kvc_run_context {
    const struct kvc_scenario *scenario; /**< The scenario to simulate. */
    const struct kvc_scenario *usual;    /**< Scenario to compare with, window by window; NULL: none. */
    void *state;                         /**< The prepared store; the run changes it. */
    uint64_t seed;                       /**< Seed of this replica (sim/base/seeds.h). */
    uint32_t replica;                    /**< Number of this replica, from 0. */
    struct kvc_timeline *timeline;       /**< Timeline of the run's activities; NULL: there is none. */
    const struct kvc_progress *progress; /**< Listener of progress reports; may be NULL. */
    struct kvc_partial_file *platform;   /**< File for SimGrid's platform, see kvc_engine_open; NULL: none. */
    double wall_limit_s; /**< Wall-clock time that the run may need, told after two seconds; 0: any [s]. */
    struct kvc_result *result; /**< Comes zeroed; the run fills it. */
};

#endif
