/** @file
 * One replica of a simulated run, from its engine to its result.
 *
 * A replica owns what every store's simulation needs: the engine with its platform, the request
 * source, the recorder and the monitor. A store opens it, spawns its own actors, runs it,
 * fills the result, and closes it.
 *
 * A monitor watches a simulation: it ends the warm-up and the run, and reports progress. It looks at the
 * simulation once per window of the recorder. It runs as an actor of its own, or an actor of the store calls
 * kvc_monitor_look(). */
#ifndef KVC_SIM_RUN_REPLICA_H
#define KVC_SIM_RUN_REPLICA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/engine.h"
#include "sim/metrics/recorder.h"
#include "sim/run/changes.h"
#include "sim/run/context.h"
#include "sim/run/meters.h"
#include "sim/run/policy.h"
#include "sim/workload/source/source.h"

/** A monitor. */
struct kvc_monitor {
    struct kvc_recorder *recorder;       /**< Decides when the warm-up and the run are over. */
    const struct kvc_source *source;     /**< Source of requests; its errors end the run. */
    const struct kvc_progress *progress; /**< Listener; may be NULL. */
    struct kvc_meters *meters;           /**< Read when the measured time begins and ends. */
    struct kvc_changes *changes;         /**< Started once the start of the measured time is known. */
    struct kvc_policy *policy;           /**< Started at the same time. */
    /** Returns whether the store has answered all requests that it received. Once the source has ended, this
     * ends the run. NULL: never. */
    bool (*drained)(const void *data);
    /** Takes the store's counters and samples them (kvc_recorder_sample()): `begins` is true when the
     * measured time begins, and false at the end of each later window, the last time when the measured time
     * is over. NULL: the store has none. */
    void (*count)(void *data, bool begins);
    void *data;           /**< Handed to drained() and count(). */
    double expected_ns;   /**< How long the measured time is, or the trace if that is shorter [ns]. */
    double wall_limit_s;  /**< Wall-clock time that the run may need; 0: any [s]. */
    double first_wall_s;  /**< When the first look was (kvc_clock_wall_s) [s]; 0: it has not been. */
    double needed_wall_s; /**< Wall-clock time that the run would need, if this ended it; otherwise 0 [s]. */
};

/** Looks at the simulation at now_ns, the current time. Ends the simulation (kvc_engine_stop) if the measured
 * time has passed, the source has failed, or everything is drained; then it does not return. Only an actor
 * may call this. */
void kvc_monitor_look(struct kvc_monitor *monitor, double now_ns);

/** Parameters of a replica. */
struct kvc_replica_options {
    const struct kvc_platform *platform; /**< The machines; it must outlive the replica. */
    struct kvc_source_params source;     /**< The clients, with the seed of the context. */
    double window_ns;                    /**< Length of a window of the recorder [ns]. */
};

/** A replica. A zeroed one can be closed. */
struct kvc_replica {
    const struct kvc_run_context *context; /**< The task. */
    struct kvc_source *source;             /**< The clients. */
    uint32_t shards;                       /**< Shards that the source has. */
    struct kvc_recorder recorder;          /**< Takes the measurements. */
    struct kvc_monitor monitor;            /**< The store may set `drained` and `data`. */
    struct kvc_meters meters;              /**< Work and energy of the platform's devices. */
    struct kvc_changes changes;            /**< Changes of devices that the scenario states. */
    struct kvc_policy policy;              /**< The power policy; a store that follows one opens it. */
    uint64_t source_ticks; /**< Ticks spent in the source, added up by the store (kvc_clock_ticks). */
    uint64_t kernel_ticks; /**< Ticks spent in real data structures, added up by the store. */
    uint64_t opened_ticks; /**< When the replica was opened [ticks]. */
    double opened_s;       /**< When the replica was opened (kvc_clock_wall_s) [s]. */
    double opened_cpu_s;   /**< Processor time of the process until then [s]. */
};

/** Opens a replica. A process can do so once, because SimGrid allows one engine in a process. Returns an
 * error if the platform file cannot be written, the trace cannot be opened, or memory is short. Whatever it
 * returns, the replica must be closed. */
enum kvc_status kvc_replica_open(struct kvc_replica *replica, const struct kvc_run_context *context,
                                 const struct kvc_replica_options *options, struct kvc_diag *diag);

/** Frees the contents of a replica, not the struct. */
void kvc_replica_close(struct kvc_replica *replica);

/** Simulates until the monitor ends the run. If `monitor_has_actor`, the monitor becomes the last actor;
 * otherwise one of the store's actors calls kvc_monitor_look(). Returns the error of the source, if it had
 * one. */
enum kvc_status kvc_replica_run(struct kvc_replica *replica, bool monitor_has_actor, struct kvc_diag *diag);

/** Sets those fields of the context's result that do not depend on the store: utilization and energy of the
 * devices, the activities of the engine and the wall-clock times, except the preload's. The wall-clock time
 * counts from kvc_replica_open().
 */
void kvc_replica_report(const struct kvc_replica *replica);

#endif
