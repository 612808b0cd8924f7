/* The simulation of a replica, as far as it is the same for every store.
 *
 * kvc_simulate_replica() allocates the store's state, lets the store describe its machines, opens the engine
 * and the clients, runs them, and fills in the result. A store gives a struct kvc_simulator, whose functions
 * are called in the order in which they stand there. Each gets the store's state, and none is called for
 * every request: requests are up to the actors that `open` starts.
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

/* What a store does for its simulation. */
struct kvc_simulator {
    /* Size of the state, whose first member is the struct kvc_replica [bytes]. It comes zeroed, and stays
     * where it is. */
    size_t state_bytes;

    /* Takes the task, whose state is the store as it was prepared, and adds the machines to the empty
     * platform. Both outlive the simulation. The replica is not open yet. */
    void (*machine)(void *state, const struct kvc_run_context *context, struct kvc_platform *platform);

    /* Says what the replica is opened with. *options comes with the platform and the clients of one server
     * a node (kvc_scenario_source()); window_ns is left to the store. */
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

    /* After the run: sets how many requests were completed, in all and of each kind, and how long it took to
     * preload the store. */
    void (*totals)(const void *state, struct kvc_result *result);

    /* The stages, which are added to the result next. */
    kvc_stages_fn *stages;
    /* Whether the store works in slices (sim/run/slices/slices.h): the busy time of a slice may reach beyond
     * the measured time, and is cut so that no utilization is above 1. */
    bool sliced;

    /* Adds the store's own values and notes to the result, which has the throughput, the latencies and the
     * stages. NULL: there are none. */
    void (*report)(void *state, struct kvc_result *result);

    /* Frees what the state holds, after a run or an error. Functions after `machine` may not have been
     * called. NULL: it holds nothing. */
    void (*close)(void *state);
};

/* Simulates the replica of `context`. Returns the errors of kvc_replica_open() and kvc_replica_run(). */
enum kvc_status kvc_simulate_replica(const struct kvc_simulator *simulator,
                                     const struct kvc_run_context *context, struct kvc_diag *diag);

/* Starts a server that works in slices, and its row of the timeline, which shows `operations` of the process
 * `name`. The owner has set all fields of the server. */
void kvc_simulate_slices(struct kvc_slice_server *server, const char *name, const char *operations);

#endif
