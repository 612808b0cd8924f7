/* Batches that follow each other in several streams, alone and beside the background task. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "kernels/memcachedgpu/background_cuda.h"
#include "models/memcachedgpu/real/survey_internal.h"
#include "sim/base/clock.h"

enum {
    STREAMS_MAX = 8,
    POOL_PACKETS = 1 << 20,
    BATCHES_MAX = 1 << 20, /* Batches of a measurement whose times are kept. */
    TRIAL_ROUNDS = 50,
    POLLED_PACKETS = 512,
};

static const double measured_s = 0.06, settling_s = 0.01;

/* The background task as published, and how long it takes alone. */
static const uint32_t background_threads = 1024;
static const uint64_t background_part_bytes = 1 << 18;
static const double background_s = 32e-3;

static const uint32_t streams_list[] = {1, 2, 4, 8, 0}, streams_beside_list[] = {1, 8, 0};
static const uint32_t packets_list[] = {256, 512, 2048, 8192, 65536, 0};
static const uint32_t quick_packets_list[] = {512, 8192, 0};

/* Lanes that are served in turn, and the times of their batches. */
struct runner {
    struct kvc_memcachedgpu_testbench *bench;
    struct kvc_memcachedgpu_real_lane lane[STREAMS_MAX];
    uint32_t streams;
    bool copied;
    uint64_t begun; /* Batches. */
    double *took_ns;
    uint32_t taken; /* Batches that ended since the measurement began. */
};

static double now_ns(void)
{
    return kvc_clock_wall_s() * 1e9;
}

static bool begin_batch(struct runner *runner, struct kvc_memcachedgpu_real_lane *lane)
{
    struct kvc_memcachedgpu_testbench *bench = runner->bench;
    struct kvc_memcachedgpu_real_job job = {
        .index = bench->index,
        .image = kvc_memcachedgpu_testbench_image(bench, runner->begun++, !runner->copied),
        .count = bench->layout.batch,
        .now = bench->now++,
        .copied = runner->copied};
    lane->begun_ns = now_ns();
    return kvc_memcachedgpu_real_lane_begin(lane, &job);
}

/* Serves all lanes once: notes the batches that have ended and begins the next ones, if `more`. Returns false
 * if the device failed. */
static bool serve(struct runner *runner, bool more)
{
    for (uint32_t s = 0; s < runner->streams; s++) {
        struct kvc_memcachedgpu_real_lane *lane = &runner->lane[s];
        if (lane->count > 0) {
            enum kvc_cuda_event_state state = kvc_cuda_event_query(lane->end);
            if (state == KVC_CUDA_EVENT_FAILED) {
                return false;
            }
            if (state == KVC_CUDA_EVENT_PENDING) {
                continue;
            }
            if (runner->taken < BATCHES_MAX) {
                runner->took_ns[runner->taken++] = now_ns() - lane->begun_ns;
            }
            lane->count = 0;
        }
        if (more && !begin_batch(runner, lane)) {
            return false;
        }
    }
    return true;
}

static bool is_busy(const struct runner *runner)
{
    for (uint32_t s = 0; s < runner->streams; s++) {
        if (runner->lane[s].count > 0) {
            return true;
        }
    }
    return false;
}

/* Keeps all lanes busy for `seconds`, or, if `task` is not NULL, until it is reached. Only batches that end
 * in this time count. Returns the time, or a negative one if the device failed. */
static double keep_busy(struct runner *runner, double seconds, struct kvc_cuda_event *task)
{
    double from_s = kvc_clock_wall_s();
    runner->taken = 0;
    for (;;) {
        double now_s = kvc_clock_wall_s();
        enum kvc_cuda_event_state state = task != NULL ? kvc_cuda_event_query(task) : KVC_CUDA_EVENT_PENDING;
        if (state == KVC_CUDA_EVENT_FAILED || !serve(runner, true)) {
            return -1;
        }
        if (state == KVC_CUDA_EVENT_REACHED || (task == NULL && now_s - from_s >= seconds)) {
            return now_s - from_s;
        }
    }
}

static bool drain(struct runner *runner)
{
    while (is_busy(runner)) {
        if (!serve(runner, false)) {
            return false;
        }
    }
    return true;
}

/* Fills in what the batches of `seconds` took. */
static void note(struct runner *runner, double seconds, struct kvc_memcachedgpu_survey_streams *row)
{
    double sum_ns = 0, max_ns = 0;
    for (uint32_t i = 0; i < runner->taken; i++) {
        sum_ns += runner->took_ns[i];
        max_ns = fmax(max_ns, runner->took_ns[i]);
    }
    row->key_bytes = runner->bench->key_bytes;
    row->packets = runner->bench->layout.batch;
    row->streams = runner->streams;
    row->copied = runner->copied;
    row->mops = (double)runner->taken * row->packets / seconds / 1e6;
    row->batch_mean_ns = sum_ns / runner->taken;
    row->batch_max_ns = max_ns;
    kvc_memcachedgpu_median_of(runner->took_ns, runner->taken); /* Sorts. */
    row->batch_95th_ns = runner->took_ns[(uint64_t)runner->taken * 95 / 100];
}

static struct kvc_memcachedgpu_survey_streams *next_row(struct kvc_memcachedgpu_survey *survey)
{
    if (survey->streams_count == KVC_MEMCACHEDGPU_SURVEY_STREAMS_MAX) {
        KVC_BUG("a survey of more than %d rows of streams", KVC_MEMCACHEDGPU_SURVEY_STREAMS_MAX);
    }
    return &survey->streams[survey->streams_count++];
}

static void close_runner(struct runner *runner)
{
    for (uint32_t s = 0; s < STREAMS_MAX; s++) {
        kvc_memcachedgpu_real_lane_close(&runner->lane[s]);
    }
    free(runner->took_ns);
}

static enum kvc_status open_runner(struct runner *runner, struct kvc_memcachedgpu_testbench *bench,
                                   uint32_t packets, struct kvc_diag *diag)
{
    *runner = (struct runner){.bench = bench, .took_ns = malloc(BATCHES_MAX * sizeof(double))};
    bool opened = runner->took_ns != NULL;
    enum kvc_status status = kvc_memcachedgpu_testbench_prepare(bench, packets, POOL_PACKETS, true, diag);
    for (uint32_t s = 0; opened && status == KVC_OK && s < STREAMS_MAX; s++) {
        opened = kvc_memcachedgpu_real_lane_open(&runner->lane[s], &bench->layout);
    }
    if (status == KVC_OK && !opened) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for batches of %u packets", packets);
    }
    return status;
}

enum kvc_status kvc_memcachedgpu_survey_all_streams(struct kvc_memcachedgpu_survey *survey,
                                                    struct kvc_memcachedgpu_testbench *bench, bool quick,
                                                    struct kvc_diag *diag)
{
    const uint32_t *packets = quick ? quick_packets_list : packets_list;
    enum kvc_status status = KVC_OK;
    for (int p = 0; status == KVC_OK && packets[p] > 0; p++) {
        struct runner runner;
        status = open_runner(&runner, bench, packets[p], diag);
        for (int s = 0; status == KVC_OK && streams_list[s] > 0; s++) {
            for (int copied = 0; status == KVC_OK && copied < 2; copied++) {
                runner.streams = streams_list[s];
                runner.copied = copied != 0;
                double settled_s = keep_busy(&runner, settling_s, NULL);
                double seconds = settled_s < 0 ? -1 : keep_busy(&runner, measured_s, NULL);
                if (seconds < 0 || !drain(&runner)) {
                    status = kvc_memcachedgpu_survey_failed(diag);
                } else {
                    note(&runner, seconds, next_row(survey));
                }
            }
        }
        close_runner(&runner);
    }
    return status;
}

/* ---- tasks of a known time ---- */

/* Runs the task alone and waits for it. Returns its time, or a negative one if the device failed. */
static double task_alone_s(struct kvc_background *task, uint32_t rounds, struct kvc_cuda_stream *stream)
{
    double from_s = kvc_clock_wall_s();
    kvc_background_begin(task, rounds, stream);
    return kvc_cuda_stream_wait(stream) ? kvc_clock_wall_s() - from_s : -1;
}

/* The number of rounds for which the task as one kernel takes background_s alone, or 0 if the device failed.
 */
static uint32_t find_rounds(struct kvc_background *task, struct kvc_cuda_stream *stream)
{
    task_alone_s(task, 1, stream); /* Loads the kernel. */
    double trial_s = task_alone_s(task, TRIAL_ROUNDS, stream);
    return trial_s > 0 ? (uint32_t)fmax(TRIAL_ROUNDS * background_s / trial_s, 1) : 0;
}

/* ---- beside a thread that polls ---- */

struct poller {
    struct kvc_cuda_event *event; /* Pending as long as the thread polls. */
    atomic_bool stop;
    pthread_t thread;
};

static void *poll_main(void *data)
{
    struct poller *poller = data;
    while (!atomic_load_explicit(&poller->stop, memory_order_relaxed)) {
        kvc_cuda_event_query(poller->event);
    }
    return NULL;
}

/* Measures while a kernel of one block keeps the event of the poller pending. */
static bool measure_polled(struct kvc_memcachedgpu_survey *survey, struct runner *runner)
{
    static const double pending_s = 0.4;
    const struct kvc_background_params params = {
        .blocks = 1, .threads = background_threads, .kernels = 1, .part_bytes = background_part_bytes};
    struct kvc_background *task = kvc_background_create(&params);
    struct kvc_cuda_stream *stream = kvc_cuda_stream_create();
    struct poller poller = {.event = kvc_cuda_event_create()};
    uint32_t rounds = task != NULL && stream != NULL ? find_rounds(task, stream) : 0;
    double seconds = -1;
    if (rounds > 0 && poller.event != NULL) {
        kvc_background_begin(task, (uint32_t)(rounds * pending_s / background_s), stream);
        if (kvc_cuda_event_record(poller.event, stream) &&
            pthread_create(&poller.thread, NULL, poll_main, &poller) == 0) {
            seconds = keep_busy(runner, settling_s, NULL) > 0 ? keep_busy(runner, measured_s, NULL) : -1;
            atomic_store(&poller.stop, true);
            pthread_join(poller.thread, NULL);
        }
    }
    bool done = drain(runner) && seconds > 0 && kvc_cuda_stream_wait(stream);
    if (done) {
        struct kvc_memcachedgpu_survey_streams *row = next_row(survey);
        note(runner, seconds, row);
        row->polled = true;
    }
    kvc_cuda_event_free(poller.event);
    kvc_cuda_stream_free(stream);
    kvc_background_free(task);
    return done;
}

enum kvc_status kvc_memcachedgpu_survey_polled(struct kvc_memcachedgpu_survey *survey,
                                               struct kvc_memcachedgpu_testbench *bench,
                                               struct kvc_diag *diag)
{
    struct runner runner;
    enum kvc_status status = open_runner(&runner, bench, POLLED_PACKETS, diag);
    runner.streams = STREAMS_MAX;
    runner.copied = true;
    if (status == KVC_OK && !measure_polled(survey, &runner)) {
        status = kvc_memcachedgpu_survey_failed(diag);
    }
    close_runner(&runner);
    return status;
}

/* ---- beside the background task ---- */

/* Measures batches beside a task of these blocks and kernels. */
static bool measure_beside(struct kvc_memcachedgpu_survey *survey, struct runner *runner, uint32_t blocks,
                           uint32_t kernels, uint32_t rounds)
{
    struct kvc_background_params params = {.blocks = blocks,
                                           .threads = background_threads,
                                           .kernels = kernels,
                                           .part_bytes = background_part_bytes};
    struct kvc_background *task = kvc_background_create(&params);
    struct kvc_cuda_stream *stream = kvc_cuda_stream_create();
    struct kvc_cuda_event *end = kvc_cuda_event_create();
    bool done = task != NULL && stream != NULL && end != NULL;
    double alone_s = done ? task_alone_s(task, rounds, stream) : -1, beside_s = -1;
    done = alone_s > 0 && keep_busy(runner, settling_s, NULL) > 0;
    if (done) {
        kvc_background_begin(task, rounds, stream);
        beside_s = kvc_cuda_event_record(end, stream) ? keep_busy(runner, 0, end) : -1;
        done = beside_s > 0 && drain(runner);
    }
    if (done) {
        struct kvc_memcachedgpu_survey_streams *row = next_row(survey);
        note(runner, beside_s, row);
        row->background_blocks = blocks;
        row->background_kernels = kernels;
        row->background_ns = beside_s * 1e9;
        row->background_alone_ns = alone_s * 1e9;
    }
    kvc_cuda_event_free(end);
    kvc_cuda_stream_free(stream);
    kvc_background_free(task);
    return done;
}

/* Finds the rounds with the task as published: 256 blocks in one kernel. */
static uint32_t published_rounds(void)
{
    struct kvc_background_params params = {
        .blocks = 256, .threads = background_threads, .kernels = 1, .part_bytes = background_part_bytes};
    struct kvc_background *task = kvc_background_create(&params);
    uint32_t rounds = task != NULL ? find_rounds(task, NULL) : 0;
    kvc_background_free(task);
    return rounds;
}

enum kvc_status kvc_memcachedgpu_survey_background(struct kvc_memcachedgpu_survey *survey,
                                                   struct kvc_memcachedgpu_testbench *bench, bool quick,
                                                   struct kvc_diag *diag)
{
    /* As published, and two waves of blocks that leave no room on any multiprocessor of today's cards. */
    const struct {
        uint32_t blocks, kernels;
    } tasks[] = {{256, 1}, {256, 16}, {4 * survey->multiprocessors, 1}};
    const uint32_t *packets = quick ? quick_packets_list : packets_list;
    uint32_t rounds = published_rounds();
    enum kvc_status status = rounds > 0 ? KVC_OK : kvc_memcachedgpu_survey_failed(diag);
    for (int p = 0; status == KVC_OK && packets[p] > 0; p++) {
        struct runner runner;
        status = open_runner(&runner, bench, packets[p], diag);
        for (int s = 0; status == KVC_OK && streams_beside_list[s] > 0; s++) {
            for (size_t t = 0; status == KVC_OK && t < sizeof(tasks) / sizeof(*tasks); t++) {
                runner.streams = streams_beside_list[s];
                runner.copied = true;
                if (!measure_beside(survey, &runner, tasks[t].blocks, tasks[t].kernels, rounds)) {
                    status = kvc_memcachedgpu_survey_failed(diag);
                }
            }
        }
        close_runner(&runner);
    }
    return status;
}
