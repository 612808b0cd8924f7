/** @file
 * Watches a simulation: ends the warm-up and the run, and reports progress.
 *
 * A monitor looks at the simulation once per window of the recorder. It runs as an actor of its own, or an
 * actor of the store calls kvc_monitor_look(). */
#ifndef KVC_SIM_RUN_MONITOR_H
#define KVC_SIM_RUN_MONITOR_H

#include <stdbool.h>

#include "sim/base/progress.h"
#include "sim/metrics/recorder.h"
#include "sim/run/changes.h"
#include "sim/run/meters.h"
#include "sim/run/policy.h"
#include "sim/workload/source/source.h"

/** A monitor. */
struct kvc_monitor {
    struct kvc_recorder *recorder;       /**< Decides when the warm-up and the run are over. */
    const struct kvc_source *source;     /**< Its errors end the run. */
    const struct kvc_progress *progress; /**< Listener; may be NULL. */
    struct kvc_meters *meters;           /**< Read when the measured time begins and ends. */
    struct kvc_changes *changes;         /**< Started once the begin of the measured time is known. */
    struct kvc_policy *policy;           /**< Started likewise. */
    /** Returns whether the store has answered all requests that it received. Once the source has ended, this
     * ends the run. NULL: never. */
    bool (*drained)(const void *data);
    /** Takes the store's counters and samples them (kvc_recorder_sample()): `begins` is true when the
     * measured time begins, and false at the end of each later window, the last time when the measured time
     * is over. NULL: the store has none. */
    void (*count)(void *data, bool begins);
    void *data;           /**< Handed to drained() and count(). */
    double wall_limit_s;  /**< Wall-clock time that the run may need; 0: any [s]. */
    double first_wall_s;  /**< When the first look was (kvc_clock_wall_s) [s]; 0: it has not been. */
    double needed_wall_s; /**< What the run would need, if that ended it; otherwise 0 [s]. */
};

/** Looks at the simulation at now_ns, the current time. Ends the simulation (kvc_engine_stop) if the measured
 * time has passed, the source has failed, or everything is drained; then it does not return. Only an actor
 * may call this. */
void kvc_monitor_look(struct kvc_monitor *monitor, double now_ns);

/** The body of an actor that looks at the begin of the run and at the end of every window. `monitor` is a
 * struct kvc_monitor. */
void kvc_monitor_main(void *monitor);

#endif
