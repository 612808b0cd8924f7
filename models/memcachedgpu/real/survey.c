#include "models/memcachedgpu/real/survey.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/memcachedgpu/background_cuda.h"
#include "models/memcachedgpu/real/answer.h"
#include "models/memcachedgpu/real/testbench.h"
#include "models/memcachedgpu/real/traffic.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"

/* Reports that the device failed. */
static enum kvc_status failed(struct kvc_diag *diag)
{
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed while it was measured");
}

/* ---- text ---- */

static const char *const lines_names[KVC_MEMCACHEDGPU_LINES_COUNT] = {"far", "arrived", "near"};

static void write_median(FILE *out, const char *what, const struct kvc_memcachedgpu_median *median,
                         const char *unit)
{
    fprintf(out, "%-34s %9.1f %s (quartiles %.1f .. %.1f)\n", what, median->middle, unit, median->low,
            median->high);
}

static void write_batches(const struct kvc_memcachedgpu_survey *survey, FILE *out)
{
    fprintf(out,
            "\nA batch alone: cycles of its median block; us from first to last block, and on the host\n");
    fprintf(
        out,
        "key packets keys   lines    cycles (quartiles)            kernel us (quartiles)       host us\n");
    for (uint32_t i = 0; i < survey->batches; i++) {
        const struct kvc_memcachedgpu_survey_batch *row = &survey->batch[i];
        fprintf(out, "%3u %7u %-6s %-7s %7.0f (%6.0f .. %6.0f) %9.3f (%8.3f .. %8.3f) %9.3f\n",
                row->key_bytes, row->packets, row->hits ? "hits" : "misses", lines_names[row->lines],
                row->block_cycles.middle, row->block_cycles.low, row->block_cycles.high,
                row->kernel_ns.middle / 1e3, row->kernel_ns.low / 1e3, row->kernel_ns.high / 1e3,
                row->host_ns.middle / 1e3);
    }
}

static void write_streams(const struct kvc_memcachedgpu_survey *survey, FILE *out)
{
    fprintf(out,
            "\nBatches of hits that follow each other; background: blocks, kernels, ms beside and alone\n");
    fprintf(out, "key packets streams copied polled      M/s   mean us  95 %% us    max us  background\n");
    for (uint32_t i = 0; i < survey->streams_count; i++) {
        const struct kvc_memcachedgpu_survey_streams *row = &survey->streams[i];
        fprintf(out, "%3u %7u %7u %-6s %-6s %8.2f %9.2f %8.2f %9.2f  %u %u %.3f %.3f\n", row->key_bytes,
                row->packets, row->streams, row->copied ? "yes" : "no", row->polled ? "yes" : "no", row->mops,
                row->batch_mean_ns / 1e3, row->batch_95th_ns / 1e3, row->batch_max_ns / 1e3,
                row->background_blocks, row->background_kernels, row->background_ns / 1e6,
                row->background_alone_ns / 1e6);
    }
}

void kvc_memcachedgpu_survey_write(const struct kvc_memcachedgpu_survey *survey, FILE *out)
{
    fprintf(out, "multiprocessors %u\n", survey->multiprocessors);
    fprintf(out, "dependent access of a warp, cache  %8.1f ns, %8.1f cycles\n", survey->near.ns,
            survey->near.cycles);
    fprintf(out, "dependent access of a warp, memory %8.1f ns, %8.1f cycles\n", survey->far.ns,
            survey->far.cycles);
    fprintf(out, "the same of one thread             %8.1f ns, %8.1f cycles\n", survey->far_alone.ns,
            survey->far_alone.cycles);
    write_median(out, "empty kernel, launched and awaited", &survey->launch_ns, "ns");
    for (int c = 0; c < KVC_MEMCACHEDGPU_CALLS; c++) {
        write_median(out, kvc_memcachedgpu_call_names[c], &survey->call_ns[c], "ns");
    }
    write_median(out, "response, all in caches", &survey->answer_near_ns, "ns");
    write_median(out, "response, values in memory", &survey->answer_far_ns, "ns");
    write_median(out, "SET of a held key", &survey->set_cycles, "cycles");
    write_median(out, "SET of a new key", &survey->set_fresh_cycles, "cycles");
    write_batches(survey, out);
    write_streams(survey, out);
}

/* ---- answers ---- */

/* Responses of a GNoM-post thread. */

enum {
    BATCH = 512,
    KEY_BYTES = 16,
    VALUE_BYTES = 2,
    STRIDE_BYTES = 128,
    FRAMES = 512,
    ANSWER_REPETITIONS = 201,
    SETTLING = 20,
};

static const uint64_t near_slabs_bytes = 1 << 16, far_slabs_bytes = UINT64_C(1) << 30,
                      far_quick_bytes = UINT64_C(1) << 28;

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

struct kvc_memcachedgpu_median kvc_memcachedgpu_median_of(double *value, uint32_t count)
{
    qsort(value, count, sizeof(*value), by_value);
    return (struct kvc_memcachedgpu_median){
        .middle = value[count / 2], .low = value[count / 4], .high = value[3 * count / 4]};
}

/* Heads and results of a batch of hits, as the kernel writes them. */
struct batch {
    uint8_t *heads;
    struct kvc_memcachedgpu_get_result result[BATCH];
};

static void write_heads(struct batch *batch)
{
    struct kvc_memcachedgpu_real_layout layout = kvc_memcachedgpu_real_layout_of(1, KEY_BYTES);
    uint8_t *image = calloc(1, layout.image_bytes), key[KVC_MEMCACHEDGPU_REAL_KEY_ROOM];
    if (image == NULL) {
        kvc_out_of_memory("a packet");
    }
    for (uint32_t i = 0; i < BATCH; i++) {
        const struct kvc_memcachedgpu_packet_item item = {.found = true, .value_bytes = VALUE_BYTES};
        struct kvc_memcachedgpu_get_batch one;
        kvc_memcachedgpu_text_key(key, i, KEY_BYTES);
        kvc_memcachedgpu_real_put(&layout, image, 0, key, KEY_BYTES);
        one = kvc_memcachedgpu_real_batch_of(&layout, image, 1, 0);
        batch->result[i] = (struct kvc_memcachedgpu_get_result){
            .value_bytes = VALUE_BYTES,
            .key_bytes = KEY_BYTES,
            .response_bytes = (uint16_t)kvc_memcachedgpu_packet_respond(
                one.packets, one.packet->bytes, KEY_BYTES, &item,
                batch->heads + (uint64_t)i * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES)};
    }
    free(image);
}

/* Times batches whose values lie at random places in the slabs. Sets *ns to the time of a response. */
static bool time_answers(struct batch *batch, uint64_t slabs_bytes, struct kvc_memcachedgpu_median *ns)
{
    struct kvc_memcachedgpu_real_slabs slabs;
    struct kvc_memcachedgpu_real_answerer answerer = {.answered = 0};
    struct kvc_rng rng;
    double took_ns[ANSWER_REPETITIONS];
    bool opened = kvc_memcachedgpu_real_slabs_open(&slabs, slabs_bytes / STRIDE_BYTES, STRIDE_BYTES) &&
                  kvc_memcachedgpu_real_answerer_open(&answerer, &slabs, FRAMES);
    kvc_rng_init(&rng, 1, "answer measurement", 0);
    for (int i = -SETTLING; opened && i < ANSWER_REPETITIONS; i++) {
        for (uint32_t p = 0; p < BATCH; p++) {
            batch->result[p].location = (uint32_t)kvc_rng_below(&rng, slabs.count);
        }
        double from_s = kvc_clock_wall_s();
        kvc_memcachedgpu_real_answer(&answerer, batch->heads, batch->result, BATCH);
        if (i >= 0) {
            took_ns[i] = (kvc_clock_wall_s() - from_s) * 1e9 / BATCH;
        }
    }
    if (opened) {
        *ns = kvc_memcachedgpu_median_of(took_ns, ANSWER_REPETITIONS);
    }
    kvc_memcachedgpu_real_answerer_close(&answerer);
    kvc_memcachedgpu_real_slabs_close(&slabs);
    return opened;
}

enum kvc_status kvc_memcachedgpu_survey_answers(struct kvc_memcachedgpu_survey *survey, bool quick,
                                                struct kvc_diag *diag)
{
    struct batch *batch = calloc(1, sizeof(*batch));
    bool measured = batch != NULL;
    if (measured) {
        batch->heads = aligned_alloc(64, (uint64_t)BATCH * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
        measured = batch->heads != NULL;
    }
    if (measured) {
        write_heads(batch);
        measured = time_answers(batch, near_slabs_bytes, &survey->answer_near_ns) &&
                   time_answers(batch, quick ? far_quick_bytes : far_slabs_bytes, &survey->answer_far_ns);
        free(batch->heads);
    }
    free(batch);
    return measured ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for values and frames");
}

/* ---- streams ---- */

/* Back-to-back batches in several streams, alone and next to the background task. */

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
static const uint32_t streams_packets_list[] = {256, 512, 2048, 8192, 65536, 0};
static const uint32_t quick_streams_packets_list[] = {512, 8192, 0};

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

/* Polls all lanes once: records the batches that have ended and, if `more`, begins the next ones. Returns
 * false if the device failed. */
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

/* Keeps all lanes busy for `seconds` or, if `task` is not NULL, until this event is reached. Only batches
 * that end within this time count. Returns the time, or a negative one if the device failed. */
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

/* Fills a row with the rate and the times of the batches that ended within `seconds`. */
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

/* Measures back-to-back batches in several streams. */
static enum kvc_status survey_all_streams(struct kvc_memcachedgpu_survey *survey,
                                          struct kvc_memcachedgpu_testbench *bench, bool quick,
                                          struct kvc_diag *diag)
{
    const uint32_t *packets = quick ? quick_streams_packets_list : streams_packets_list;
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
                    status = failed(diag);
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

/* Returns the number of rounds for which the task, as one kernel on the idle GPU, takes background_s, or 0 if
 * the device failed.
 */
static uint32_t find_rounds(struct kvc_background *task, struct kvc_cuda_stream *stream)
{
    task_alone_s(task, 1, stream); /* Loads the kernel. */
    double trial_s = task_alone_s(task, TRIAL_ROUNDS, stream);
    return trial_s > 0 ? (uint32_t)fmax(TRIAL_ROUNDS * background_s / trial_s, 1) : 0;
}

/* ---- beside a thread that polls ---- */

struct poller {
    struct kvc_cuda_event *event; /* Stays pending while the thread polls. */
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

/* Measures batches of 512 in all streams while another thread polls a pending event. */
static enum kvc_status survey_polled(struct kvc_memcachedgpu_survey *survey,
                                     struct kvc_memcachedgpu_testbench *bench, struct kvc_diag *diag)
{
    struct runner runner;
    enum kvc_status status = open_runner(&runner, bench, POLLED_PACKETS, diag);
    runner.streams = STREAMS_MAX;
    runner.copied = true;
    if (status == KVC_OK && !measure_polled(survey, &runner)) {
        status = failed(diag);
    }
    close_runner(&runner);
    return status;
}

/* ---- beside the background task ---- */

/* Measures batches while a background task with this number of blocks and kernels runs. */
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

/* Finds the number of rounds for the published task: 256 blocks in one kernel. */
static uint32_t published_rounds(void)
{
    struct kvc_background_params params = {
        .blocks = 256, .threads = background_threads, .kernels = 1, .part_bytes = background_part_bytes};
    struct kvc_background *task = kvc_background_create(&params);
    uint32_t rounds = task != NULL ? find_rounds(task, NULL) : 0;
    kvc_background_free(task);
    return rounds;
}

/* Measures batches while the background task runs. */
static enum kvc_status survey_background(struct kvc_memcachedgpu_survey *survey,
                                         struct kvc_memcachedgpu_testbench *bench, bool quick,
                                         struct kvc_diag *diag)
{
    /* The published task, and one with two waves of blocks that leave no room on any multiprocessor of
     * today's cards. */
    const struct {
        uint32_t blocks, kernels;
    } tasks[] = {{256, 1}, {256, 16}, {4 * survey->multiprocessors, 1}};
    const uint32_t *packets = quick ? quick_streams_packets_list : streams_packets_list;
    uint32_t rounds = published_rounds();
    enum kvc_status status = rounds > 0 ? KVC_OK : failed(diag);
    for (int p = 0; status == KVC_OK && packets[p] > 0; p++) {
        struct runner runner;
        status = open_runner(&runner, bench, packets[p], diag);
        for (int s = 0; status == KVC_OK && streams_beside_list[s] > 0; s++) {
            for (size_t t = 0; status == KVC_OK && t < sizeof(tasks) / sizeof(*tasks); t++) {
                runner.streams = streams_beside_list[s];
                runner.copied = true;
                if (!measure_beside(survey, &runner, tasks[t].blocks, tasks[t].kernels, rounds)) {
                    status = failed(diag);
                }
            }
        }
        close_runner(&runner);
    }
    return status;
}

/* ---- batches and calls ---- */

enum {
    REPETITIONS = 31,
    CALL_REPETITIONS = 401,
    SET_REPETITIONS = 201,
    CHASE_STEPS = 20000,
    CALL_PACKETS = 512,
    NEAR_BYTES = 1 << 21, /* Fits into the second-level cache of any GPU, but into no first-level cache. */
};

/* Sizes of the table [bytes], lengths of keys, and batches; 0 ends a list. */
static const uint64_t table_bytes = UINT64_C(1) << 31, quick_table_bytes = UINT64_C(1) << 28;
static const uint32_t key_bytes_list[] = {16, 64, 128, 0};
static const uint32_t packets_list[] = {32, 256, 512, 2048, 8192, 65536, 0};
static const uint32_t quick_packets_list[] = {32, 512, 8192, 0};

/* ---- batches alone ---- */

/* Times of one batch. */
struct timed {
    double block_cycles, kernel_ns, host_ns;
};

/* Computes the times of a batch from the clocks of its blocks. */
static void read_clocks(const struct kvc_memcachedgpu_get_clock *clocks, uint32_t blocks, struct timed *timed)
{
    double *cycles = malloc(blocks * sizeof(*cycles));
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    if (cycles == NULL) {
        kvc_out_of_memory("the clocks of %u blocks", blocks);
    }
    for (uint32_t b = 0; b < blocks; b++) {
        cycles[b] = (double)clocks[b].cycles;
        begin_ns = clocks[b].begin_ns < begin_ns ? clocks[b].begin_ns : begin_ns;
        end_ns = clocks[b].end_ns > end_ns ? clocks[b].end_ns : end_ns;
    }
    timed->block_cycles = kvc_memcachedgpu_median_of(cycles, blocks).middle;
    timed->kernel_ns = (double)(end_ns - begin_ns);
    free(cycles);
}

/* A lane, and pinned memory for the clocks of its blocks. */
struct batch_bench {
    struct kvc_memcachedgpu_testbench *bench;
    struct kvc_memcachedgpu_real_lane lane;
    struct kvc_memcachedgpu_get_clock *clocks;
};

/* Prepares a batch of the lane whose packets are in an image of the device. */
static struct kvc_memcachedgpu_get_batch batch_of(struct batch_bench *own, const uint8_t *image)
{
    const struct kvc_memcachedgpu_real_lane *lane = &own->lane;
    struct kvc_memcachedgpu_get_batch batch =
        kvc_memcachedgpu_real_batch_of(&lane->layout, image, lane->layout.batch, own->bench->now++);
    batch.responses = lane->responses;
    batch.results = lane->results;
    return batch;
}

/* Moves the lines of batch `number` to where `lines` says. The kernel's code is always in the caches, as it
 * is between back-to-back batches, because a batch runs first. Returns the image to read the batch from, or
 * NULL if the device failed. */
static const uint8_t *place_lines(struct batch_bench *own, uint64_t number, enum kvc_memcachedgpu_lines lines)
{
    struct kvc_memcachedgpu_testbench *bench = own->bench;
    struct kvc_memcachedgpu_real_lane *lane = &own->lane;
    bool near = lines == KVC_MEMCACHEDGPU_LINES_NEAR, arrived = lines == KVC_MEMCACHEDGPU_LINES_ARRIVED;
    const uint8_t *image = kvc_memcachedgpu_testbench_image(bench, number, true);
    struct kvc_memcachedgpu_get_batch before =
        batch_of(own, near ? image : kvc_memcachedgpu_testbench_image(bench, number + 1, true));
    bool placed = near || kvc_memcachedgpu_testbench_flush(bench);
    kvc_memcachedgpu_get_cuda_timed(bench->index, &before, own->clocks, lane->stream);
    if (arrived) {
        placed =
            placed && kvc_cuda_copy_begin(lane->image, kvc_memcachedgpu_testbench_image(bench, number, false),
                                          lane->layout.image_bytes, lane->stream);
    }
    placed = kvc_cuda_stream_wait(lane->stream) && placed;
    return !placed ? NULL : arrived ? lane->image : image;
}

/* Runs one batch alone; `lines` says where its lines are. */
static bool run_batch(struct batch_bench *own, uint64_t number, enum kvc_memcachedgpu_lines lines,
                      struct timed *timed)
{
    const uint8_t *image = place_lines(own, number, lines);
    if (image == NULL) {
        return false;
    }
    struct kvc_memcachedgpu_get_batch batch = batch_of(own, image);
    double from_s = kvc_clock_wall_s();
    kvc_memcachedgpu_get_cuda_timed(own->bench->index, &batch, own->clocks, own->lane.stream);
    bool done = kvc_cuda_stream_wait(own->lane.stream);
    timed->host_ns = (kvc_clock_wall_s() - from_s) * 1e9;
    read_clocks(own->clocks, (batch.count - 1) / KVC_MEMCACHEDGPU_GET_BLOCK_PACKETS + 1, timed);
    return done;
}

static bool measure_batch(struct batch_bench *own, enum kvc_memcachedgpu_lines lines,
                          struct kvc_memcachedgpu_survey_batch *row)
{
    double cycles[REPETITIONS], kernel_ns[REPETITIONS], host_ns[REPETITIONS];
    struct timed timed;
    for (int i = -3; i < REPETITIONS; i++) {
        if (!run_batch(own, (uint64_t)(i + 3), lines, &timed)) {
            return false;
        }
        if (i >= 0) {
            cycles[i] = timed.block_cycles;
            kernel_ns[i] = timed.kernel_ns;
            host_ns[i] = timed.host_ns;
        }
    }
    row->block_cycles = kvc_memcachedgpu_median_of(cycles, REPETITIONS);
    row->kernel_ns = kvc_memcachedgpu_median_of(kernel_ns, REPETITIONS);
    row->host_ns = kvc_memcachedgpu_median_of(host_ns, REPETITIONS);
    return true;
}

static enum kvc_status measure_packets(struct kvc_memcachedgpu_survey *survey,
                                       struct kvc_memcachedgpu_testbench *bench, uint32_t packets, bool hits,
                                       struct kvc_diag *diag)
{
    uint32_t prepared = packets * REPETITIONS < POOL_PACKETS / 4 ? packets * REPETITIONS : POOL_PACKETS / 4;
    enum kvc_status status = kvc_memcachedgpu_testbench_prepare(bench, packets, prepared, hits, diag);
    struct batch_bench own = {
        .bench = bench,
        .clocks = kvc_cuda_alloc_pinned(((uint64_t)packets / KVC_MEMCACHEDGPU_GET_BLOCK_PACKETS + 1) *
                                        sizeof(*own.clocks))};
    bool opened = kvc_memcachedgpu_real_lane_open(&own.lane, &bench->layout) && own.clocks != NULL;
    if (status == KVC_OK && !opened) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a batch of %u packets", packets);
    }
    for (uint32_t lines = 0; status == KVC_OK && lines < KVC_MEMCACHEDGPU_LINES_COUNT; lines++) {
        if (survey->batches == KVC_MEMCACHEDGPU_SURVEY_BATCHES_MAX) {
            KVC_BUG("a survey of more than %d batches", KVC_MEMCACHEDGPU_SURVEY_BATCHES_MAX);
        }
        struct kvc_memcachedgpu_survey_batch *row = &survey->batch[survey->batches++];
        *row = (struct kvc_memcachedgpu_survey_batch){
            .key_bytes = bench->key_bytes, .packets = packets, .hits = hits, .lines = lines};
        status = measure_batch(&own, lines, row) ? KVC_OK : failed(diag);
    }
    kvc_memcachedgpu_real_lane_close(&own.lane);
    kvc_cuda_free_pinned(own.clocks);
    return status;
}

/* ---- SETs ---- */

/* Measures SETs that are launched one at a time, for stored keys or for new ones. */
static bool measure_sets(struct kvc_memcachedgpu_testbench *bench, bool held,
                         struct kvc_memcachedgpu_median *cycles)
{
    struct kvc_memcachedgpu_testbench_sets sets;
    double took[SET_REPETITIONS];
    bool done = kvc_memcachedgpu_testbench_sets_open(&sets, 1, bench->key_bytes);
    for (int i = -3; done && i < SET_REPETITIONS; i++) {
        uint64_t id = held ? kvc_rng_below(&bench->rng, bench->stored)
                           : 2 * bench->stored + kvc_rng_below(&bench->rng, bench->stored);
        kvc_memcachedgpu_testbench_sets_put(&sets, 0, id);
        done = kvc_memcachedgpu_testbench_sets_begin(&sets, bench->index, 1, bench->now++, NULL) &&
               kvc_cuda_stream_wait(NULL);
        if (i >= 0) {
            took[i] = (double)sets.cycles[0];
        }
    }
    kvc_memcachedgpu_testbench_sets_close(&sets);
    if (done) {
        *cycles = kvc_memcachedgpu_median_of(took, SET_REPETITIONS);
    }
    return done;
}

/* ---- calls of a host thread ---- */

const char *const kvc_memcachedgpu_call_names[KVC_MEMCACHEDGPU_CALLS] = {
    "copy in", "launch", "copy out", "copy rows out", "record", "ask, pending", "ask, reached"};

/* Stores the time since *from_s, and moves *from_s to now. */
static void took(double *from_s, double *ns)
{
    double now_s = kvc_clock_wall_s();
    *ns = (now_s - *from_s) * 1e9;
    *from_s = kvc_clock_wall_s();
}

/* Makes the calls of one batch and times each. */
static bool call_once(struct kvc_memcachedgpu_testbench *bench, struct kvc_memcachedgpu_real_lane *lane,
                      uint64_t number, double ns[KVC_MEMCACHEDGPU_CALLS])
{
    const struct kvc_memcachedgpu_real_layout *layout = &lane->layout;
    struct kvc_memcachedgpu_get_batch batch =
        kvc_memcachedgpu_real_batch_of(layout, lane->image, layout->batch, bench->now++);
    batch.responses = lane->responses;
    batch.results = lane->results;
    double from_s = kvc_clock_wall_s();
    bool done = kvc_cuda_copy_begin(lane->image, kvc_memcachedgpu_testbench_image(bench, number, false),
                                    layout->image_bytes, lane->stream);
    took(&from_s, &ns[KVC_MEMCACHEDGPU_CALL_COPY_IN]);
    kvc_memcachedgpu_get_cuda(bench->index, &batch, lane->stream);
    took(&from_s, &ns[KVC_MEMCACHEDGPU_CALL_LAUNCH]);
    done &= kvc_cuda_copy_begin(lane->answers, lane->results, layout->batch * sizeof(*lane->answers),
                                lane->stream);
    took(&from_s, &ns[KVC_MEMCACHEDGPU_CALL_COPY_OUT]);
    done &= kvc_cuda_copy_rows_begin(lane->heads, lane->responses, KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES,
                                     layout->head_bytes, layout->batch, lane->stream);
    took(&from_s, &ns[KVC_MEMCACHEDGPU_CALL_COPY_ROWS]);
    done &= kvc_cuda_event_record(lane->end, lane->stream);
    took(&from_s, &ns[KVC_MEMCACHEDGPU_CALL_RECORD]);
    done &= kvc_cuda_event_query(lane->end) != KVC_CUDA_EVENT_FAILED; /* The first query also submits work. */
    took(&from_s, &ns[KVC_MEMCACHEDGPU_CALL_PENDING]);
    kvc_cuda_event_query(lane->end);
    took(&from_s, &ns[KVC_MEMCACHEDGPU_CALL_PENDING]);
    done &= kvc_cuda_stream_wait(lane->stream);
    from_s = kvc_clock_wall_s();
    done &= kvc_cuda_event_query(lane->end) == KVC_CUDA_EVENT_REACHED;
    took(&from_s, &ns[KVC_MEMCACHEDGPU_CALL_REACHED]);
    return done;
}

static enum kvc_status measure_calls(struct kvc_memcachedgpu_survey *survey,
                                     struct kvc_memcachedgpu_testbench *bench, struct kvc_diag *diag)
{
    double one[KVC_MEMCACHEDGPU_CALLS];
    double ns[KVC_MEMCACHEDGPU_CALLS][CALL_REPETITIONS], launch_ns[CALL_REPETITIONS];
    struct kvc_memcachedgpu_real_lane lane = {.count = 0};
    enum kvc_status status =
        kvc_memcachedgpu_testbench_prepare(bench, CALL_PACKETS, CALL_PACKETS * 64, true, diag);
    bool done = status == KVC_OK && kvc_memcachedgpu_real_lane_open(&lane, &bench->layout);
    for (int i = -20; done && i < CALL_REPETITIONS; i++) {
        done = call_once(bench, &lane, (uint64_t)(i + 20), one);
        double from_s = kvc_clock_wall_s();
        done = done && kvc_cuda_probe_launch();
        if (i >= 0) {
            launch_ns[i] = (kvc_clock_wall_s() - from_s) * 1e9;
            for (int c = 0; c < KVC_MEMCACHEDGPU_CALLS; c++) {
                ns[c][i] = one[c];
            }
        }
    }
    for (int c = 0; done && c < KVC_MEMCACHEDGPU_CALLS; c++) {
        survey->call_ns[c] = kvc_memcachedgpu_median_of(ns[c], CALL_REPETITIONS);
    }
    if (done) {
        survey->launch_ns = kvc_memcachedgpu_median_of(launch_ns, CALL_REPETITIONS);
    }
    kvc_memcachedgpu_real_lane_close(&lane);
    return status == KVC_OK && !done ? failed(diag) : status;
}

/* ---- everything ---- */

static bool measure_chases(struct kvc_memcachedgpu_survey *survey,
                           const struct kvc_memcachedgpu_testbench *bench)
{
    const uint64_t far_bytes = KVC_MEMCACHEDGPU_TESTBENCH_SCRATCH_BYTES;
    return kvc_cuda_probe_chase(bench->scratch, NEAR_BYTES, 32, CHASE_STEPS, &survey->near) &&
           kvc_cuda_probe_chase(bench->scratch, far_bytes, 32, CHASE_STEPS, &survey->far) &&
           kvc_cuda_probe_chase(bench->scratch, far_bytes, 1, CHASE_STEPS, &survey->far_alone);
}

/* Measures everything that needs a table for keys of one length. Only the batches are measured for every
 * length, the rest for the first. */
static enum kvc_status survey_table(struct kvc_memcachedgpu_survey *survey,
                                    struct kvc_memcachedgpu_testbench *bench, bool quick, bool first,
                                    struct kvc_diag *diag)
{
    const uint32_t *packets = quick ? quick_packets_list : packets_list;
    enum kvc_status status = KVC_OK;
    if (first && !measure_chases(survey, bench)) {
        return failed(diag);
    }
    for (int i = 0; status == KVC_OK && packets[i] > 0; i++) {
        status = measure_packets(survey, bench, packets[i], true, diag);
        if (status == KVC_OK) {
            status = measure_packets(survey, bench, packets[i], false, diag);
        }
    }
    if (!first || status != KVC_OK) {
        return status;
    }
    status = measure_calls(survey, bench, diag);
    if (status == KVC_OK) {
        status = survey_all_streams(survey, bench, quick, diag);
    }
    if (status == KVC_OK) {
        status = survey_polled(survey, bench, diag);
    }
    if (status == KVC_OK) {
        status = survey_background(survey, bench, quick, diag);
    }
    if (status == KVC_OK && (!measure_sets(bench, true, &survey->set_cycles) ||
                             !measure_sets(bench, false, &survey->set_fresh_cycles))) {
        status = failed(diag);
    }
    return status;
}

enum kvc_status kvc_memcachedgpu_survey_run(struct kvc_memcachedgpu_survey *survey, bool quick,
                                            const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_cuda_device device;
    struct kvc_memcachedgpu_testbench bench;
    if (!kvc_cuda_device(&device)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no GPU was found; MemcachedGPU's kernels need one");
    }
    *survey = (struct kvc_memcachedgpu_survey){.multiprocessors = (uint32_t)device.multiprocessors};
    enum kvc_status status = kvc_memcachedgpu_survey_answers(survey, quick, diag);
    for (int k = 0; status == KVC_OK && key_bytes_list[k] > 0; k++) {
        kvc_progress_report(progress, "GETs", k / 3.0);
        status = kvc_memcachedgpu_testbench_open(&bench, quick ? quick_table_bytes : table_bytes,
                                                 key_bytes_list[k], diag);
        if (status == KVC_OK) {
            status = survey_table(survey, &bench, quick, k == 0, diag);
        }
        kvc_memcachedgpu_testbench_close(&bench);
    }
    return status;
}
