/** @file
 * A replay turns the rows of a trace into the requests of a run: it samples keys, multiplies users, and
 * scales time.
 *
 * Rows whose times are whole seconds are spread over their second as a Poisson process spreads a known number
 * of arrivals: at independent uniform times, in order. Copies stand for further users who do the same with
 * keys of their own; their requests are spread evenly until the next one. The key of a copy is the key with a
 * tilde and the copy's number at its end. */
#ifndef KVC_SIM_WORKLOAD_TRACE_REPLAY_H
#define KVC_SIM_WORKLOAD_TRACE_REPLAY_H

#include <stdint.h>

#include "sim/workload/trace/trace.h"

/** Parameters of a replay. */
struct kvc_replay_params {
    const char *path;    /**< The trace. */
    uint64_t seed;       /**< Draws the times within a second. */
    double speed;        /**< Times and times to live are divided by it, above 0. */
    double sampled_frac; /**< Share of the keys, chosen by their hashes, above 0, at most 1. */
    uint32_t copies;     /**< Sets of users, at least 1. */
};

/** A replay. */
struct kvc_replay;

/** Closes a replay. NULL is allowed. */
void kvc_replay_close(struct kvc_replay *replay);

/** Opens a replay. Returns NULL and fills `diag` if the trace cannot be opened or memory is short. */
struct kvc_replay *kvc_replay_open(const struct kvc_replay_params *params, struct kvc_diag *diag);

/** Reads the next request. See kvc_trace_read(). */
enum kvc_trace_next kvc_replay_read(struct kvc_replay *replay, struct kvc_trace_row *row,
                                    struct kvc_diag *diag);

#endif
