/* The part of a replica's simulation that is the same for every store.
 *
 * kvc_simulate_replica() allocates the store's state, lets the store describe its machines, opens the engine
 * and the clients, runs them, and fills in the result. A store provides a struct kvc_simulator, whose
 * functions are called in the order of declaration. Each receives the store's state. None is called for every
 * request; the actors that `open` starts handle requests.
 *
 * A function that lacks memory ends the program (kvc_out_of_memory), so only `source` and the engine can
 * fail. */
#ifndef KVC_MODELS_SIMULATE_H
#define KVC_MODELS_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>

#include "models/resource.h"
#include "sim/base/diag.h"
#include "sim/platform.h"
#include "sim/run/context.h"
#include "sim/run/replica.h"
#include "sim/run/slices/slices.h"

/* Functions of a store's simulation. */
struct kvc_simulator {
    /* Size of the state, whose first member is the struct kvc_replica [bytes]. It is zeroed, and its address
     * does not change. */
    size_t state_bytes;

    /* Receives the task, whose state is the prepared store, and adds the machines to the empty platform. Both
     * outlive the simulation. The replica is not open yet. */
    void (*machine)(void *state, const struct kvc_run_context *context, struct kvc_platform *platform);

    /* Completes the options of the replica. *options already has the platform and the clients of one server a
     * node (kvc_scenario_source()); the store sets window_ns. */
    void (*source)(void *state, struct kvc_replica_options *options);

    /* Opens the parts of the store and starts their actors. The replica is open. */
    void (*open)(void *state);

    /* Whether an actor of the store calls kvc_monitor_look(), so that the monitor needs no actor of its own.
     */
    bool looks;

    /* See struct kvc_monitor (sim/run/replica.h), which calls both while the engine runs. Each may be NULL.
     */
    bool (*drained)(const void *state);
    void (*count)(void *state, bool begins);

    /* Names of the parts of a request's way (sim/metrics/paths.h), in their order; the last one is NULL.
     * NULL: the store names them in `report`, or records none. */
    const char *const *parts;

    /* Sets the number of completed requests, in total and of each kind but GETs, which are hits and misses,
     * and the time of preloading, after the run. */
    void (*totals)(const void *state, struct kvc_result *result);

    /* The stages, which are added to the result next. */
    kvc_stages_fn *stages;
    /* Whether the store works in slices (sim/run/slices/slices.h): the busy time of a slice may extend beyond
     * the measured time, and is cut so that no utilization exceeds 1. */
    bool sliced;

    /* Adds the store's own values and notes to the result, which has the throughput, the latencies and the
     * stages. NULL: there are none. */
    void (*report)(void *state, struct kvc_result *result);

    /* Frees the contents of the state, after a run or an error. Functions after `machine` may not have been
     * called. NULL: there is nothing to free. */
    void (*close)(void *state);
};

/* Simulates the replica of `context`. Returns the errors of kvc_replica_open() and kvc_replica_run(). */
enum kvc_status kvc_simulate_replica(const struct kvc_simulator *simulator,
                                     const struct kvc_run_context *context, struct kvc_diag *diag);

/* Starts a server that works in slices, and its row of the timeline, which shows `operations` of the process
 * `name`. The owner has set all fields of the server. */
void kvc_simulate_slices(struct kvc_slice_server *server, const char *name, const char *operations);

#endif
