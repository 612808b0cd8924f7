#include "sim/devices/gpu_streams.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

enum phase { IDLE, COPYING_IN, WAITING, RUNNING, COPYING_OUT, ENDED };

struct stream {
    enum phase phase;
    uint64_t turn;  /* Order in which streams entered their phase. */
    double left_ns; /* Work of the phase that is left [ns]. */
    double rate;    /* Progress of this work in time. */
    struct kvc_gpu_stream_job job;
};

/* The streams at one time. */
struct state {
    double now_ns;
    double worked_ns;
    uint64_t turns;
    struct stream *stream;
};

struct kvc_gpu_streams {
    uint32_t count;
    struct state now, ahead;
    double next_ns; /* Result of kvc_gpu_streams_next_ns(), or NaN if it is not known. */
    struct kvc_outage outage[KVC_GPU_PARTS];
};

struct kvc_gpu_streams *kvc_gpu_streams_create(uint32_t count)
{
    struct kvc_gpu_streams *streams = kvc_array_of(1, sizeof(*streams));
    streams->count = count;
    streams->next_ns = INFINITY;
    streams->now.stream = kvc_array_of(count, sizeof(*streams->now.stream));
    streams->ahead.stream = kvc_array_of(count, sizeof(*streams->ahead.stream));
    return streams;
}

void kvc_gpu_streams_free(struct kvc_gpu_streams *streams)
{
    if (streams != NULL) {
        free(streams->now.stream);
        free(streams->ahead.stream);
        free(streams);
    }
}

static bool is_off(const struct kvc_gpu_streams *streams, enum kvc_gpu_part part, double now_ns)
{
    return now_ns >= streams->outage[part].from_ns && now_ns < streams->outage[part].until_ns;
}

/* Returns the stream that has been in a phase for longest, or NULL. */
static struct stream *first_in(const struct kvc_gpu_streams *streams, const struct state *state,
                               enum phase phase)
{
    struct stream *first = NULL;
    for (uint32_t i = 0; i < streams->count; i++) {
        struct stream *stream = &state->stream[i];
        if (stream->phase == phase && (first == NULL || stream->turn < first->turn)) {
            first = stream;
        }
    }
    return first;
}

/* Returns the share of the card that a kernel can use alone. */
static double bound_of(const struct kvc_gpu_kernel *kernel)
{
    return kernel->amount_ns > 0 && kernel->alone_ns > kernel->amount_ns
               ? kernel->amount_ns / kernel->alone_ns
               : 1;
}

/* Divides the card among the running kernels. */
static void share_card(const struct kvc_gpu_streams *streams, const struct state *state)
{
    double left = 1;
    uint32_t unbounded = 0;
    for (uint32_t i = 0; i < streams->count; i++) {
        state->stream[i].rate = 0;
        unbounded += state->stream[i].phase == RUNNING;
    }
    for (bool found = true; found && unbounded > 0;) {
        double share = left / unbounded;
        found = false;
        for (uint32_t i = 0; i < streams->count; i++) {
            struct stream *stream = &state->stream[i];
            double bound = bound_of(&stream->job.kernel);
            if (stream->phase == RUNNING && stream->rate == 0 && bound <= share) {
                stream->rate = bound;
                left -= bound;
                unbounded--;
                found = true;
            }
        }
    }
    for (uint32_t i = 0; i < streams->count; i++) {
        if (state->stream[i].phase == RUNNING && state->stream[i].rate == 0) {
            state->stream[i].rate = left / unbounded;
        }
    }
}

static void set_rates(const struct kvc_gpu_streams *streams, const struct state *state)
{
    share_card(streams, state);
    for (uint32_t i = 0; i < streams->count; i++) {
        struct stream *stream = &state->stream[i];
        if (stream->phase == WAITING) {
            stream->rate = 1;
        } else if (stream->phase == RUNNING && is_off(streams, KVC_GPU_CARD, state->now_ns)) {
            stream->rate = 0;
        }
    }
    struct stream *in = first_in(streams, state, COPYING_IN), *out = first_in(streams, state, COPYING_OUT);
    if (in != NULL) {
        in->rate = !is_off(streams, KVC_GPU_COPY_IN, state->now_ns);
    }
    if (out != NULL) {
        out->rate = !is_off(streams, KVC_GPU_COPY_OUT, state->now_ns);
    }
}

static void enter(struct state *state, struct stream *stream, enum phase phase)
{
    const struct kvc_gpu_stream_job *job = &stream->job;
    const double work_ns[] = {[COPYING_IN] = job->in_ns,
                              [WAITING] = job->kernel.latency_ns,
                              [RUNNING] = job->kernel.amount_ns,
                              [COPYING_OUT] = job->out_ns,
                              [ENDED] = 0};
    stream->phase = phase;
    stream->turn = state->turns++;
    stream->left_ns = work_ns[phase];
}

/* Returns the time to the next end of a phase, or begin or end of an outage [ns]. */
static double step_ns(const struct kvc_gpu_streams *streams, const struct state *state)
{
    double step_ns = INFINITY;
    for (uint32_t i = 0; i < streams->count; i++) {
        const struct stream *stream = &state->stream[i];
        if (stream->phase != IDLE && stream->rate > 0) {
            step_ns = fmin(step_ns, stream->left_ns / stream->rate);
        }
    }
    for (uint32_t part = 0; part < KVC_GPU_PARTS; part++) {
        const struct kvc_outage *outage = &streams->outage[part];
        double change_ns = outage->from_ns > state->now_ns ? outage->from_ns : outage->until_ns;
        if (change_ns > state->now_ns) {
            step_ns = fmin(step_ns, change_ns - state->now_ns);
        }
    }
    return step_ns;
}

/* Lets the streams work for some time, in which no phase ends earlier. */
static void move(const struct kvc_gpu_streams *streams, struct state *state, double by_ns)
{
    static const double least_rounding_ns = 1e-6;
    double failure_ns = streams->outage[KVC_GPU_CARD].from_ns, before_ns = state->now_ns;
    state->now_ns += by_ns;
    /* A late time has few digits behind the point, and work that is shorter would never end. */
    double rounding_ns = fmax(least_rounding_ns, state->now_ns * 0x1p-50);
    for (uint32_t i = 0; i < streams->count; i++) {
        struct stream *stream = &state->stream[i];
        if (stream->phase == IDLE || stream->phase == ENDED) {
            continue;
        }
        state->worked_ns += stream->phase == RUNNING ? by_ns * stream->rate : 0;
        stream->left_ns -= by_ns * stream->rate;
        if (stream->rate > 0 && stream->left_ns <= rounding_ns) {
            enter(state, stream, stream->phase + 1);
        } else if (stream->phase == RUNNING && before_ns < failure_ns && state->now_ns >= failure_ns) {
            stream->left_ns = stream->job.kernel.amount_ns;
        }
    }
}

/* Advances until a stream ends, but not beyond until_ns. Returns that stream, or NULL. */
static struct stream *advance(const struct kvc_gpu_streams *streams, struct state *state, double until_ns)
{
    for (;;) {
        struct stream *ended = first_in(streams, state, ENDED);
        if (ended != NULL) {
            return ended;
        }
        double left_ns = until_ns - state->now_ns;
        set_rates(streams, state);
        double by_ns = step_ns(streams, state);
        if (isinf(by_ns) && isinf(left_ns)) {
            return NULL;
        }
        if (by_ns > left_ns) {
            move(streams, state, fmax(left_ns, 0));
            return first_in(streams, state, ENDED);
        }
        move(streams, state, by_ns);
    }
}

void kvc_gpu_streams_begin(struct kvc_gpu_streams *streams, uint32_t number, double now_ns,
                           const struct kvc_gpu_stream_job *job)
{
    struct stream *stream = &streams->now.stream[number];
    advance(streams, &streams->now, now_ns); /* What runs has come further since the last call. */
    streams->now.now_ns = fmax(streams->now.now_ns, now_ns);
    stream->job = *job;
    enter(&streams->now, stream, COPYING_IN);
    streams->next_ns = NAN;
}

double kvc_gpu_streams_next_ns(struct kvc_gpu_streams *streams)
{
    if (isnan(streams->next_ns)) {
        struct stream *copy = streams->ahead.stream;
        memcpy(copy, streams->now.stream, streams->count * sizeof(*copy));
        streams->ahead = streams->now;
        streams->ahead.stream = copy;
        streams->next_ns =
            advance(streams, &streams->ahead, INFINITY) != NULL ? streams->ahead.now_ns : INFINITY;
    }
    return streams->next_ns;
}

uint32_t kvc_gpu_streams_ended(struct kvc_gpu_streams *streams, double now_ns)
{
    struct stream *ended = advance(streams, &streams->now, now_ns);
    if (ended == NULL) {
        return KVC_GPU_STREAM_NONE;
    }
    ended->phase = IDLE;
    streams->next_ns = NAN;
    return (uint32_t)(ended - streams->now.stream);
}

void kvc_gpu_streams_outage(struct kvc_gpu_streams *streams, enum kvc_gpu_part part, struct kvc_outage outage)
{
    if (outage.until_ns != streams->outage[part].until_ns) {
        streams->next_ns = NAN;
    }
    streams->outage[part] = outage;
}

double kvc_gpu_streams_take_work_ns(struct kvc_gpu_streams *streams)
{
    double worked_ns = streams->now.worked_ns;
    streams->now.worked_ns = 0;
    return worked_ns;
}
