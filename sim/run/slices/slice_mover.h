/** @file
 * A mover posts a sliced server's use of shared devices, and measures how fast they served it.
 *
 * A sliced server (sim/run/slices/slices.h) serves single operations in its own event queue. Its use of
 * devices that it shares with others, such as memory or a root complex, is posted after each slice as one
 * activity of the engine: work on hosts, spread evenly, or a transfer. The activity is bounded by what the
 * server could draw if it were alone. SimGrid shares the devices among all activities, and the time that this
 * one takes, over the time that it would take alone, is the stretch with which the server serves its next
 * slices. It is averaged over the last KVC_SLICE_MOVER_MEMORY_NS, so that servers which slow down together do
 * not all speed up together a slice later, and so that the length of a slice does not matter. If nobody else
 * is there the stretch is 1. If an activity takes longer than a slice, what is posted meanwhile waits and is
 * one activity afterwards, so nothing is lost.
 *
 * The time of an outage is no contention and does not count: the server stands still meanwhile.
 *
 * A server that is the only user of a device cannot be slowed down there. Its mover
 * (kvc_slice_mover_own_host()) then only keeps the device's meters, without an actor and activities.
 *
 * Not modelled: contention within less than a slice, and contention that begins within a few slices. */
#ifndef KVC_SIM_RUN_SLICES_SLICE_MOVER_H
#define KVC_SIM_RUN_SLICES_SLICE_MOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine.h"
#include "sim/run/slices/slice_outages.h"

enum { KVC_SLICE_MOVER_MEMORY_NS = 20000 /**< Time after which an activity counts 1/e in the stretch. */ };

/** A mover. The owner fills the first fields in and opens it before the engine runs. */
struct kvc_slice_mover {
    uint32_t hosts;               /**< Work: number of hosts; 0: the mover transfers bytes. */
    uint32_t host[KVC_DRAWS_MAX]; /**< Work: hosts that each do an equal part of the amount. */
    uint32_t from;                /**< Transfer: host that the bytes come from. */
    uint32_t to;                  /**< Transfer: host that they go to. */

    /** Transfer: links whose outages do not count as contention; a zeroed struct: none can fail. */
    struct kvc_slice_outages outages;

    bool alone;             /**< The devices have no other user; the fields below stay 0. */
    struct kvc_gate *gate;  /**< Opens when something is posted and the mover is idle. */
    bool moves;             /**< Whether an activity is in progress. */
    double amount;          /**< Amount posted and not yet begun [ns or bytes]. */
    double alone_ns;        /**< Time that this would take alone [ns]. */
    double stretch;         /**< Time of recent activities over their time alone, at least 1; 0: none yet. */
    double recent_ns;       /**< Time of recent activities [ns]. */
    double recent_alone_ns; /**< Time that they would have taken alone [ns]. */
    double ended_ns;        /**< End of the latest activity [ns]. */
    double moved;           /**< Amount of all activities that have ended. */
    double moved_ns;        /**< Time that all ended activities took [ns]. */
    double moved_alone_ns;  /**< Time that all ended activities would have taken alone [ns]. */
};

/** Creates the mover's gate and starts its actor. The mover must stay where it is. */
void kvc_slice_mover_open(struct kvc_slice_mover *mover);

/** Opens a mover that works on one host. */
void kvc_slice_mover_open_work(struct kvc_slice_mover *mover, uint32_t host);

/** Opens a mover that transfers between two hosts. The owner has set the outages of its links, if any. */
void kvc_slice_mover_open_transfer(struct kvc_slice_mover *mover, uint32_t from, uint32_t to);

/** Makes the mover the only user of a host, for which kvc_engine_queue_work() has conditions. Such a mover is
 * neither opened nor closed. */
void kvc_slice_mover_own_host(struct kvc_slice_mover *mover, uint32_t host);

/** Makes the mover one that keeps the meters of the links between two hosts, for which
 * kvc_engine_queue_bytes() has conditions. Such a mover is neither opened nor closed. */
void kvc_slice_mover_own_link(struct kvc_slice_mover *mover, uint32_t from, uint32_t to);

/** Frees the gate, after the engine has ended. */
void kvc_slice_mover_close(struct kvc_slice_mover *mover);

/** Posts an amount, work [ns] or bytes, that the server alone would draw in alone_ns. Amounts of 0 are
 * ignored. */
void kvc_slice_mover_post(struct kvc_slice_mover *mover, double amount, double alone_ns);

/** Posts the amount for the time that a stage was busy since the last call, `per_ns` for each nanosecond: 1
 * for work, the rate of a link for bytes. `*before_ns` is how long it had been busy by then, and is updated.
 */
void kvc_slice_mover_post_busy(struct kvc_slice_mover *mover, double *before_ns, double busy_ns,
                               double per_ns);

#endif
