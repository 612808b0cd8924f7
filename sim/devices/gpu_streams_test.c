/* Streams of a GPU, whose times must be those of the same steps as activities of the engine. */
#include "sim/devices/gpu_streams.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/base/rng.h"
#include "sim/engine_fixture.h"

enum { STREAMS = 5, JOBS = 40 };

/* A stream as an actor, which does its jobs one after another, and when it began and ended each [ns]. */
struct actor {
    struct kvc_gpu_stream_job job[JOBS];
    double pause_ns[JOBS]; /* Time before each job [ns]. */
    double began_ns[JOBS], ended_ns[JOBS];
};

static struct actor actors[STREAMS];
static struct kvc_gate *copy_in, *copy_out;
static uint32_t card;

static void sleep_ns(double time_ns)
{
    kvc_engine_sleep_until_ns(kvc_engine_now_ns() + time_ns);
}

static void run_jobs(void *data)
{
    struct actor *actor = data;
    for (uint32_t i = 0; i < JOBS; i++) {
        const struct kvc_gpu_stream_job *job = &actor->job[i];
        sleep_ns(actor->pause_ns[i]);
        actor->began_ns[i] = kvc_engine_now_ns();
        kvc_gate_wait(copy_in);
        sleep_ns(job->in_ns);
        kvc_gate_post(copy_in);
        sleep_ns(job->kernel.latency_ns);
        kvc_engine_work(&(struct kvc_draw){card, job->kernel.amount_ns, job->kernel.alone_ns}, 1);
        kvc_gate_wait(copy_out);
        sleep_ns(job->out_ns);
        kvc_gate_post(copy_out);
        actor->ended_ns[i] = kvc_engine_now_ns();
    }
}

static void run_engine(void)
{
    struct kvc_platform *platform = kvc_test_platform();
    card = kvc_test_add_host(platform, "gpu", 1);
    kvc_test_open(platform);
    copy_in = kvc_gate_create(1);
    copy_out = kvc_gate_create(1);
    for (uint32_t i = 0; i < STREAMS; i++) {
        kvc_engine_spawn("stream", run_jobs, &actors[i]);
    }
    kvc_engine_run();
    kvc_gate_free(copy_in);
    kvc_gate_free(copy_out);
    kvc_platform_free(platform);
}

/* Begins the jobs when their actors did, and asks for ends only when there is one. */
static void expect_the_same_ends(void)
{
    struct kvc_gpu_streams *streams = kvc_gpu_streams_create(STREAMS);
    uint32_t begun[STREAMS] = {0}, ended[STREAMS] = {0};
    for (uint32_t left = STREAMS * JOBS; left > 0;) {
        uint32_t first = KVC_GPU_STREAM_NONE;
        for (uint32_t i = 0; i < STREAMS; i++) {
            if (begun[i] == ended[i] && begun[i] < JOBS &&
                (first == KVC_GPU_STREAM_NONE ||
                 actors[i].began_ns[begun[i]] < actors[first].began_ns[begun[first]])) {
                first = i;
            }
        }
        double next_ns = kvc_gpu_streams_next_ns(streams);
        double begin_ns = first == KVC_GPU_STREAM_NONE ? INFINITY : actors[first].began_ns[begun[first]];
        if (next_ns <= begin_ns) {
            uint32_t number = kvc_gpu_streams_ended(streams, next_ns);
            cr_assert_neq(number, KVC_GPU_STREAM_NONE);
            cr_assert_float_eq(next_ns, actors[number].ended_ns[ended[number]], 1e-2);
            ended[number]++;
            left--;
        } else {
            cr_assert_neq(first, KVC_GPU_STREAM_NONE);
            kvc_gpu_streams_begin(streams, first, begin_ns, &actors[first].job[begun[first]]);
            begun[first]++;
        }
    }
    cr_expect(isinf(kvc_gpu_streams_next_ns(streams)));
    kvc_gpu_streams_free(streams);
}

Test(gpu_streams, take_the_times_of_activities)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, 7, "gpu_streams", 0);
    for (uint32_t i = 0; i < STREAMS; i++) {
        for (uint32_t j = 0; j < JOBS; j++) {
            double amount_ns = 1e3 + 9e3 * kvc_rng_unit(&rng);
            actors[i].pause_ns[j] = (kvc_rng_unit(&rng) < 0.5 ? 1e2 : 4e4) * kvc_rng_unit(&rng);
            actors[i].job[j] = (struct kvc_gpu_stream_job){
                .in_ns = 1 + 3e3 * kvc_rng_unit(&rng),
                .kernel = {.latency_ns = 1 + 2e3 * kvc_rng_unit(&rng),
                           .amount_ns = amount_ns,
                           .alone_ns = amount_ns * (1 + (j % 3) * kvc_rng_unit(&rng))},
                .out_ns = 1 + 3e3 * kvc_rng_unit(&rng),
            };
        }
    }
    run_engine();
    expect_the_same_ends();
}

/* Ends a job of 10 us of copying, 20 us of a kernel and 10 us of copying back, during which a part was off.
 */
static double end_with_outage_ns(enum kvc_gpu_part part, struct kvc_outage outage, double *work_ns)
{
    struct kvc_gpu_streams *streams = kvc_gpu_streams_create(1);
    const struct kvc_gpu_stream_job job = {1e4, {0, 2e4, 2e4}, 1e4};
    kvc_gpu_streams_begin(streams, 0, 0, &job);
    cr_expect_float_eq(kvc_gpu_streams_next_ns(streams), 4e4, 1e-3);
    kvc_gpu_streams_outage(streams, part, outage);
    double end_ns = kvc_gpu_streams_next_ns(streams);
    cr_expect_eq(kvc_gpu_streams_ended(streams, end_ns), 0);
    *work_ns = kvc_gpu_streams_take_work_ns(streams);
    kvc_gpu_streams_free(streams);
    return end_ns;
}

Test(gpu_streams, wait_while_a_part_is_off)
{
    double work_ns;
    /* Half of the copy is done before the outage and half afterwards. */
    cr_expect_float_eq(end_with_outage_ns(KVC_GPU_COPY_IN, (struct kvc_outage){5e3, 1e5}, &work_ns),
                       4e4 + 9.5e4, 1e-3);
    cr_expect_float_eq(work_ns, 2e4, 1e-3);
    /* The kernel had worked for 15 us and begins anew. */
    cr_expect_float_eq(end_with_outage_ns(KVC_GPU_CARD, (struct kvc_outage){2.5e4, 1e5}, &work_ns),
                       1e5 + 2e4 + 1e4, 1e-3);
    cr_expect_float_eq(work_ns, 3.5e4, 1e-3);
    cr_expect_float_eq(end_with_outage_ns(KVC_GPU_COPY_OUT, (struct kvc_outage){3.5e4, 1e5}, &work_ns),
                       1e5 + 5e3, 1e-3);
}

/* After seconds of simulated time, the clock has fewer digits than the end of a step needs. */
Test(gpu_streams, end_late_in_a_long_run, .timeout = 10)
{
    enum { COUNT = 3, ROUNDS = 20000 };
    struct kvc_gpu_streams *streams = kvc_gpu_streams_create(COUNT);
    struct kvc_rng rng;
    double now_ns = 17.2e9;
    uint32_t ended = 0, number;
    bool busy[COUNT] = {false};
    kvc_rng_init(&rng, 1, "late", 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            const struct kvc_gpu_stream_job job = {.in_ns = 1e3 * kvc_rng_unit(&rng),
                                                   .kernel = {.latency_ns = 1e4 * kvc_rng_unit(&rng),
                                                              .amount_ns = 1e4 * kvc_rng_unit(&rng),
                                                              .alone_ns = 2e4},
                                                   .out_ns = 1e3 * kvc_rng_unit(&rng)};
            if (!busy[i]) {
                kvc_gpu_streams_begin(streams, i, now_ns, &job);
                busy[i] = true;
            }
        }
        do {
            now_ns = kvc_gpu_streams_next_ns(streams);
            number = kvc_gpu_streams_ended(streams, now_ns);
        } while (number == KVC_GPU_STREAM_NONE);
        busy[number] = false;
        ended++;
    }
    cr_expect_eq(ended, ROUNDS);
    kvc_gpu_streams_free(streams);
}
