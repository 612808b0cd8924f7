/* How a pool's tasks are divided among ranks (scenarios/run/ranks.h).
 *
 * Tasks are drawn from one counter, which the first rank keeps. A rank with room for another task asks it for
 * one, and sends it every answer; the first rank passes all answers on to all others. The first rank draws
 * before it listens, so that it always runs task 0. The first failure ends the pool on all ranks with the
 * same message.
 *
 * The counter is no window of memory that ranks read and add to by themselves. With Open MPI 4.1 and sockets
 * (osc/pt2pt), such a draw ends only when the first rank calls MPI again: it took 2 s while that rank slept
 * for 2 s, and 8 ms on average while it looked every millisecond. All answers come together at the first rank
 * anyway. */
#ifndef KVC_SCENARIOS_RUN_POOL_RANKS_H
#define KVC_SCENARIOS_RUN_POOL_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenarios/run/pool.h"
#include "sim/base/diag.h"

/* One rank's view of a pool. */
struct kvc_pool_ranks {
    const struct kvc_pool_options *pool;
    uint32_t drawn;      /* First rank, or the only one: the counter. */
    bool asked, drained; /* Others: the first rank has not replied; it has no tasks left. */
    bool has_granted;    /* Others: `granted` is a task that has not started yet. */
    uint32_t granted;
    bool over;              /* Others: the first rank has ended the pool. */
    enum kvc_status status; /* Others: how it ended. */
};

/* An answer from another rank. */
struct kvc_pool_arrival {
    uint32_t task;
    void *answer; /* As the pool's own; the receiver frees it. */
};

/* Begins a pool. All ranks begin the same pools in the same order. */
void kvc_pool_ranks_begin(struct kvc_pool_ranks *ranks, const struct kvc_pool_options *pool);

/* Returns whether the pool goes on after `taken` answers. */
bool kvc_pool_ranks_go_on(const struct kvc_pool_ranks *ranks, uint32_t taken);

/* Returns whether there is a task for this rank now, the same one until it is drawn. Others than the first
 * ask for one if there is none. */
bool kvc_pool_ranks_peek(struct kvc_pool_ranks *ranks, uint32_t *task);

/* Takes the task that kvc_pool_ranks_peek() showed. */
void kvc_pool_ranks_draw(struct kvc_pool_ranks *ranks);

/* Sends the answer of this rank's task to the others. */
void kvc_pool_ranks_tell(struct kvc_pool_ranks *ranks, uint32_t task, void *answer);

/* Handles messages of other ranks until there are none or an answer comes. Sets arrival->answer to NULL if
 * none came. Returns the failure of another rank, if there is one. */
enum kvc_status kvc_pool_ranks_hear(struct kvc_pool_ranks *ranks, struct kvc_pool_arrival *arrival,
                                    struct kvc_diag *diag);

/* Ends the pool on all ranks, after success or failure. Returns the status that all of them have. */
enum kvc_status kvc_pool_ranks_end(struct kvc_pool_ranks *ranks, enum kvc_status status,
                                   struct kvc_diag *diag);

#endif
