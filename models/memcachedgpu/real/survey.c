#include "models/memcachedgpu/real/survey.h"

#include <stdlib.h>

#include "models/memcachedgpu/real/survey_internal.h"
#include "sim/base/clock.h"

enum {
    REPETITIONS = 31,
    CALL_REPETITIONS = 401,
    SET_REPETITIONS = 201,
    CHASE_STEPS = 20000,
    POOL_PACKETS = 1 << 20,
    CALL_PACKETS = 512,
    NEAR_BYTES = 1 << 21, /* Fits into the second-level cache of any GPU, but into no first-level cache. */
};

/* Sizes of the table [bytes], lengths of keys, and batches; 0 ends a list. */
static const uint64_t table_bytes = UINT64_C(1) << 31, quick_table_bytes = UINT64_C(1) << 28;
static const uint32_t key_bytes_list[] = {16, 64, 128, 0};
static const uint32_t packets_list[] = {32, 256, 512, 2048, 8192, 65536, 0};
static const uint32_t quick_packets_list[] = {32, 512, 8192, 0};

enum kvc_status kvc_memcachedgpu_survey_failed(struct kvc_diag *diag)
{
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed while it was measured");
}

/* ---- batches alone ---- */

/* What one batch took. */
struct timed {
    double block_cycles, kernel_ns, host_ns;
};

/* Takes the times of a batch from the clocks of its blocks. */
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

/* Brings the lines of batch `number` to where `lines` says. The kernel's code is in the caches in any case,
 * as it is while batches follow each other: the batch itself or the next one runs before. Returns the image
 * that the batch shall be read from, or NULL if the device failed. */
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
        status = measure_batch(&own, lines, row) ? KVC_OK : kvc_memcachedgpu_survey_failed(diag);
    }
    kvc_memcachedgpu_real_lane_close(&own.lane);
    kvc_cuda_free_pinned(own.clocks);
    return status;
}

/* ---- SETs ---- */

/* Measures SETs that are launched one by one, of keys that the table has or of new ones. */
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

/* Adds the time since *from_s to a call, and moves *from_s to now. */
static void took(double *from_s, double *ns)
{
    double now_s = kvc_clock_wall_s();
    *ns = (now_s - *from_s) * 1e9;
    *from_s = kvc_clock_wall_s();
}

/* Makes the calls of one batch, and takes the time of each. */
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
    done &= kvc_cuda_event_query(lane->end) != KVC_CUDA_EVENT_FAILED; /* The first one also submits work. */
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
    return status == KVC_OK && !done ? kvc_memcachedgpu_survey_failed(diag) : status;
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

/* Measures what needs a table for keys of one length; all but the batches for the first length only. */
static enum kvc_status survey_table(struct kvc_memcachedgpu_survey *survey,
                                    struct kvc_memcachedgpu_testbench *bench, bool quick, bool first,
                                    struct kvc_diag *diag)
{
    const uint32_t *packets = quick ? quick_packets_list : packets_list;
    enum kvc_status status = KVC_OK;
    if (first && !measure_chases(survey, bench)) {
        return kvc_memcachedgpu_survey_failed(diag);
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
        status = kvc_memcachedgpu_survey_all_streams(survey, bench, quick, diag);
    }
    if (status == KVC_OK) {
        status = kvc_memcachedgpu_survey_polled(survey, bench, diag);
    }
    if (status == KVC_OK) {
        status = kvc_memcachedgpu_survey_background(survey, bench, quick, diag);
    }
    if (status == KVC_OK && (!measure_sets(bench, true, &survey->set_cycles) ||
                             !measure_sets(bench, false, &survey->set_fresh_cycles))) {
        status = kvc_memcachedgpu_survey_failed(diag);
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
