/** @file
 * Servers that simulate themselves in slices of time, without an actor for each of their parts.
 *
 * A server whose parts depend on little outside, such as a NIC, keeps its own event queue
 * (sim/base/events.h), which is much faster than an actor per part. The engine wakes its actor at the end of
 * every slice; the actor then processes all events of the slice and records the answers. A slice must be
 * shorter than the time in which a response can cause a new request to arrive, unless the server tells the
 * source about its answers itself. */
#ifndef KVC_SIM_RUN_SLICES_SLICES_H
#define KVC_SIM_RUN_SLICES_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/result.h"
#include "sim/run/answers.h"
#include "sim/run/replica.h"

/** The state that the sliced servers of a simulation share, and the sums over them. */
struct kvc_slices {
    struct kvc_replica *replica; /**< The replica they belong to. */
    double slice_ns;             /**< Length of a slice [ns]. */
    uint32_t stages;             /**< Stages of a server, at most KVC_BATCH_STAGES. */
    /** Whether the actor calls kvc_monitor_look() at the start and after the first slice that ends in every
     * window, because the monitor has no actor. Only if all servers have the same actor. */
    bool looks;
    /** Whether the servers themselves report each answer to the source at once (kvc_source_complete()), not
     * at the end of a slice, so that clients of a closed loop can send within it. */
    bool completes;
    uint64_t answered[KVC_ANSWERED_KINDS]; /**< Requests answered within the measured time. */
};

/** One server. */
struct kvc_slice_server {
    struct kvc_slices *slices; /**< The run that the server belongs to. */
    /** Next server of the same actor; its slices end at the same times and are processed after this one's.
     * NULL: there is none. */
    struct kvc_slice_server *next;
    uint32_t number;             /**< Number of its process in the timeline; its row is thread 0. */
    double ahead_ns;             /**< Time by which its slices end before multiples of slice_ns [ns]. */
    struct kvc_answers *answers; /**< Filled by advance(), emptied after every slice. */
    /** Processes everything that happens up to until_ns. Returns the number of operations that the timeline
     * shows for this slice. */
    uint64_t (*advance)(void *data, double until_ns);
    /** Posts the slice's use of devices that the server shares with others (sim/run/slices/slice_mover.h).
     * NULL: it shares none. */
    void (*share)(void *data);
    /** Sets the busy time of every stage since the run began [ns]. A stage may count a job when it starts. */
    void (*busy)(const void *data, double *busy_ns);
    void *data;                              /**< Handed to advance() and busy(). */
    double busy_before_ns[KVC_BATCH_STAGES]; /**< Result of busy() after the last slice [ns]. */
};

/** The body of the actor of a server and of those that follow it. `server` is a struct kvc_slice_server. */
void kvc_slice_server_main(void *server);

/** Adds a stage to a result whose `completed` is set. `servers` is the number of servers that the stage's
 * busy time is spread over. The utilization is at most 1, even if a job reaches beyond the measured time. */
void kvc_slices_report_stage(const struct kvc_slices *slices, uint32_t stage, const char *name,
                             const char *device, double servers, struct kvc_result *result);

/** Sets the numbers of requests that were answered within the measured time. */
void kvc_slices_totals(const struct kvc_slices *slices, struct kvc_result *result);

#endif
