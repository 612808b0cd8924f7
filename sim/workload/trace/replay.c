#include "sim/workload/trace/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "sim/base/rng.h"

enum {
    SAMPLE_SEED = 1, /* Other bits than those of tables. */
    SUFFIX_BYTES = 8,
    TICK_MAX = 1 << 25, /* Most requests of a second; more is no trace, but a file without end. */
};

/* Finds out how many rows have the time of the present one, by reading ahead of it. */
struct ahead {
    struct kvc_trace *trace;
    struct kvc_trace_row row;
    enum kvc_trace_next next;
};

struct kvc_replay {
    struct kvc_replay_params params;
    struct kvc_trace *trace;
    struct ahead ahead; /* Only where times are ticks. */
    double tick_ns;
    uint64_t left;        /* Rows of the present tick that have not been read. */
    double tick_begin_ns; /* Time of the present tick. */
    double place;         /* Place of the last row within the tick, 0 to 1. */
    struct kvc_rng rng;

    struct kvc_trace_row row, after; /* With copies: the present row and the one after it. */
    enum kvc_trace_next row_next, after_next;
    uint32_t copy; /* Copies of `row` that have been returned. */
};

void kvc_replay_close(struct kvc_replay *replay)
{
    if (replay == NULL) {
        return;
    }
    kvc_trace_close(replay->trace);
    kvc_trace_close(replay->ahead.trace);
    free(replay);
}

/* Reads the next row of a trace whose key belongs to the sample. */
static enum kvc_trace_next read_sampled(const struct kvc_replay *replay, struct kvc_trace *trace,
                                        struct kvc_trace_row *row, struct kvc_diag *diag)
{
    enum kvc_trace_next next;
    double share = replay->params.sampled_frac;
    do {
        next = kvc_trace_read(trace, row, diag);
    } while (next == KVC_TRACE_ROW && share < 1 &&
             (double)kvc_hash(row->key, row->key_bytes, SAMPLE_SEED) >= share * 0x1p64);
    return next;
}

/* Counts the rows of the tick that begins at time_ns, up to TICK_MAX. The present row is one of them. */
static uint64_t count_tick(struct kvc_replay *replay, double time_ns)
{
    struct ahead *ahead = &replay->ahead;
    uint64_t count = 0;
    while (count < TICK_MAX && ahead->next == KVC_TRACE_ROW && ahead->row.time_ns <= time_ns) {
        count++;
        ahead->next = read_sampled(replay, ahead->trace, &ahead->row, NULL);
    }
    return count > 0 ? count : 1;
}

/* Moves a row to its place within the tick: the smallest of the uniform places that are left. */
static enum kvc_trace_next spread(struct kvc_replay *replay, struct kvc_trace_row *row, struct kvc_diag *diag)
{
    if (replay->left == 0) {
        replay->tick_begin_ns = row->time_ns;
        replay->left = count_tick(replay, row->time_ns);
        replay->place = 0;
    }
    if (replay->left == TICK_MAX) {
        kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, replay->params.path, 0,
                         "found a trace (%s) with %d or more requests in one second, allowed: fewer",
                         kvc_trace_format(replay->trace), TICK_MAX);
        return KVC_TRACE_ERROR;
    }
    double exponential = -log1p(-kvc_rng_unit(&replay->rng));
    replay->place += (1 - replay->place) * -expm1(-exponential / (double)replay->left);
    replay->left--;
    row->time_ns = replay->tick_begin_ns + replay->place * replay->tick_ns;
    return KVC_TRACE_ROW;
}

/* Reads the next row of the sample, at its time in the run. */
static enum kvc_trace_next read_timed(struct kvc_replay *replay, struct kvc_trace_row *row,
                                      struct kvc_diag *diag)
{
    enum kvc_trace_next next = read_sampled(replay, replay->trace, row, diag);
    if (next == KVC_TRACE_ROW && replay->tick_ns > 0) {
        next = spread(replay, row, diag);
    }
    if (next == KVC_TRACE_ROW) {
        row->time_ns /= replay->params.speed;
        row->ttl_ns /= replay->params.speed;
    }
    return next;
}

static void make_copy(struct kvc_trace_row *row, uint32_t copy, double gap_ns)
{
    char suffix[SUFFIX_BYTES + 1];
    int bytes = snprintf(suffix, sizeof(suffix), "~%x", copy);
    int at = row->key_bytes + bytes <= KVC_TRACE_KEY_MAX ? row->key_bytes : KVC_TRACE_KEY_MAX - bytes;
    row->key_bytes = (uint8_t)(at + bytes);
    memset(row->key + at, 0, sizeof(row->key) - (size_t)at);
    memcpy(row->key + at, suffix, (size_t)bytes);
    row->time_ns += gap_ns;
}

enum kvc_trace_next kvc_replay_read(struct kvc_replay *replay, struct kvc_trace_row *row,
                                    struct kvc_diag *diag)
{
    uint32_t copies = replay->params.copies;
    if (copies == 1) {
        return read_timed(replay, row, diag);
    }
    if (replay->copy == copies) {
        replay->row = replay->after;
        replay->row_next = replay->after_next;
        replay->copy = 0;
        if (replay->row_next == KVC_TRACE_ROW) {
            replay->after_next = read_timed(replay, &replay->after, diag);
        }
    }
    if (replay->row_next == KVC_TRACE_ROW) {
        double gap_ns = replay->after_next == KVC_TRACE_ROW ? replay->after.time_ns - replay->row.time_ns : 0;
        *row = replay->row;
        if (replay->copy > 0) {
            make_copy(row, replay->copy, gap_ns * replay->copy / copies);
        }
        replay->copy++;
    }
    return replay->row_next;
}

static bool begin(struct kvc_replay *replay, struct kvc_diag *diag)
{
    const struct kvc_replay_params *params = &replay->params;
    replay->trace = kvc_trace_open(params->path, diag);
    if (replay->trace == NULL) {
        return false;
    }
    replay->tick_ns = kvc_trace_tick_ns(replay->trace);
    if (replay->tick_ns > 0) {
        replay->ahead.trace = kvc_trace_open(params->path, diag);
        if (replay->ahead.trace == NULL) {
            return false;
        }
        replay->ahead.next = read_sampled(replay, replay->ahead.trace, &replay->ahead.row, NULL);
    }
    kvc_rng_init(&replay->rng, params->seed, "workload.trace", 0);
    replay->copy = params->copies;
    if (params->copies > 1) {
        replay->after_next = read_timed(replay, &replay->after, diag);
    }
    return true;
}

struct kvc_replay *kvc_replay_open(const struct kvc_replay_params *params, struct kvc_diag *diag)
{
    struct kvc_replay *replay = calloc(1, sizeof(*replay));
    if (replay == NULL) {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the trace reader");
        return NULL;
    }
    replay->params = *params;
    if (!begin(replay, diag)) {
        kvc_replay_close(replay);
        return NULL;
    }
    return replay;
}
