#include "models/megakv/real/stage_measurement.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/costs.h"
#include "models/megakv/real/testbench.h"

enum {
    ROWS = 4096,                /* GETs of a batch if its size does not matter. */
    MANY_ROWS = 60000,          /* GETs of a batch that is not timed. */
    MANY_SETS = 24000,          /* SETs of a batch that is not timed. */
    WARM_UP_REQUESTS = 8000000, /* Most reads that settle the caches. */
    READS_MIN = 64,             /* Fewest GETs of a batch whose reads are timed. */
    SETS_MIN = 64,              /* Fewest SETs of a batch whose writes are timed. */
    SETS_MAX = 256,             /* Most of them. */
    ROOM_BYTES = 16 << 20,      /* About what the SETs of a measurement take of the slabs. */
    FEW_JOBS = 256,             /* Fewest index jobs whose collection is timed. */
    MANY_JOBS = 65536,          /* Most of them. */
    THREADS_MAX = 2,            /* Numbers of threads that are measured. */
};

/* Upper bound for the free places that storing all keys leaves in the slabs, as a fraction of the items. */
static const double free_frac_max = 0.02;

/* Fraction of a store's items whose reference bits reads may set before the share of set bits counts as
 * changed. */
static const double overlooked_frac = 0.05;

/* Reads, relative to the items, that bring the cleared reference bits back into the caches; a line holds 512
 * bits. */
static const double warm_frac = 4.0 / 512;

/* Rounds of SETs in which free places are used up: repetitions and those that settle. */
static const double write_rounds = KVC_MEGAKV_REPETITIONS + 8;

/* The numbers of pipelines that are measured: one alone, and as many as the machine has cores for. */
struct threads {
    uint32_t count, value[THREADS_MAX], most;
    bool shared_cores; /* There are too few cores to give every thread of a pipeline its own. */
};

uint32_t kvc_megakv_pipelines_of(uint32_t cores)
{
    uint32_t own = (cores - 1) / 2, most = own > 0 ? own : 1;
    return most < KVC_MEGAKV_REAL_PIPELINES_MAX ? most : KVC_MEGAKV_REAL_PIPELINES_MAX;
}

static struct threads threads_of(uint32_t cores)
{
    struct threads threads = {.most = kvc_megakv_pipelines_of(cores), .shared_cores = cores < 3};
    threads.value[threads.count++] = 1;
    if (threads.most > 1) {
        threads.value[threads.count++] = threads.most;
    }
    return threads;
}

/* A measurement under way. */
struct survey {
    const struct kvc_megakv_measurement_options *params;
    struct threads threads;
    struct kvc_thread_pool *pool;
    struct kvc_megakv_measurement *measurement;
    struct kvc_megakv_testbench testbench;
    double pass_ns; /* Time in which the CLOCK hand passes an item [ns]. */

    /* The point that is measured. */
    struct kvc_megakv_testbench_work work;
    struct kvc_megakv_testbench_round round[KVC_MEGAKV_REPETITIONS];
    double frame_requests; /* Requests of its frames. */
    uint32_t one_in;       /* One in this many reference bits is clear. */
    double marked;         /* Bits that reads may have set since then. */
};

/* Opens a new store for each number of pipelines, because a store's resources (packets, buffers) contribute
 * to the costs of its stages. `roomy` says whether SETs shall find free places. */
static enum kvc_status open_testbench(struct survey *survey, uint32_t key_bytes, uint32_t value_bytes,
                                      double items_bytes, bool roomy, uint32_t frame_requests,
                                      uint32_t pipelines, struct kvc_diag *diag)
{
    double item_bytes = kvc_megakv_slab_item_bytes(key_bytes, value_bytes);
    double sets = fmin(fmax(ROOM_BYTES / (item_bytes * pipelines * write_rounds), SETS_MIN), SETS_MAX);
    uint32_t frame_sets =
        kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_MIX, key_bytes, value_bytes);
    const struct kvc_megakv_testbench_options params = {
        .key_bytes = key_bytes,
        .value_bytes = value_bytes,
        .items_bytes = items_bytes,
        .room_bytes = roomy ? (sets + frame_sets) * write_rounds * pipelines * item_bytes : 0,
        .pipelines = pipelines,
        .shared_cores = survey->threads.shared_cores,
        .cores = survey->params->cores,
    };
    survey->work = (struct kvc_megakv_testbench_work){.sets = (uint32_t)sets};
    survey->frame_requests = frame_sets;
    return kvc_megakv_testbench_open(&survey->testbench, &params, frame_requests, survey->pool, diag);
}

static const struct kvc_megakv_testbench_work reads = {.gets = ROWS, .search = KVC_MEGAKV_TESTBENCH_KEYS};

static void read_many(struct survey *survey, double requests)
{
    struct kvc_megakv_testbench_round round;
    struct kvc_megakv_testbench_work work = reads;
    double pipelines = survey->testbench.params.pipelines;
    work.gets = (uint32_t)fmin(fmax(requests / pipelines / 8, ROWS), MANY_ROWS);
    for (double done = 0; done < requests; done += work.gets * pipelines) {
        kvc_megakv_testbench_run(&survey->testbench, &work, &round);
    }
}

/* Runs a round of survey->work and keeps it. */
static const struct kvc_megakv_testbench_round *run_round(struct survey *survey, int repetition)
{
    struct kvc_megakv_testbench_round *round = &survey->round[repetition < 0 ? 0 : repetition];
    kvc_megakv_testbench_run(&survey->testbench, &survey->work, round);
    return round;
}

/* Returns where the testbench is on a curve over items. */
static struct kvc_megakv_cost_point place_of(const struct survey *survey, double size)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    return (struct kvc_megakv_cost_point){.size = size,
                                          .key_bytes = params->key_bytes,
                                          .footprint_bytes = params->items_bytes,
                                          .threads = params->pipelines};
}

static double touched_bytes(const struct survey *survey)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    return kvc_megakv_touched_bytes(params->key_bytes, params->value_bytes);
}

/* Measures a point over the item's bytes, and writes its times to `ns`. */
static void measure(struct survey *survey, kvc_megakv_repetition_fn *fn, int settling,
                    struct kvc_megakv_measured_curve *curve, double ns[KVC_MEGAKV_REPETITIONS])
{
    struct kvc_megakv_cost_point where = place_of(survey, touched_bytes(survey));
    kvc_megakv_repeat(fn, survey, settling, ns);
    kvc_megakv_measured_curve_add(curve, &where, ns);
}

/* ---- senders ---- */

/* Returns the time of a sender for one GET [ns]. */
static double read_ns(const struct kvc_megakv_testbench_round *round)
{
    return round->send_s * 1e9 / round->send_rows;
}

static double read_again(void *data, int repetition)
{
    return read_ns(run_round(data, repetition));
}

static enum kvc_status check_misses(uint64_t misses, uint64_t gets, struct kvc_diag *diag)
{
    return misses * 100 <= gets
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu of %llu items that were stored are not found",
                               (unsigned long long)misses, (unsigned long long)gets);
}

/* Returns the sender that took longest in all rounds together. */
static uint32_t slowest_of(const struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS],
                           uint32_t threads)
{
    double slowest_s = 0;
    uint32_t slowest = 0;
    for (uint32_t sender = 0; sender < threads; sender++) {
        double sum_s = 0;
        for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
            sum_s += rounds[i].each_send_s[sender];
        }
        if (sum_s > slowest_s) {
            slowest = sender;
        }
        slowest_s = fmax(slowest_s, sum_s);
    }
    return slowest;
}

static enum kvc_status measure_reads(struct survey *survey, struct kvc_diag *diag)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    uint32_t threads = survey->testbench.params.pipelines;
    struct kvc_megakv_cost_point where = place_of(survey, touched_bytes(survey));
    uint64_t misses = 0;
    survey->work = reads;
    measure(survey, read_again, 0, &survey->measurement->read, ns);
    uint32_t slowest = slowest_of(survey->round, threads);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] = survey->round[i].each_send_s[slowest] * 1e9 / survey->round[i].send_rows;
        misses += survey->round[i].misses;
    }
    kvc_megakv_measured_curve_add(&survey->measurement->read_slowest, &where, ns);
    return check_misses(misses, (uint64_t)KVC_MEGAKV_REPETITIONS * ROWS * threads, diag);
}

/* A repetition is a round with comparison and one without, whose order alternates. Noise can make the
 * difference negative, the comparison cannot. */
static double compare_again(void *data, int repetition)
{
    struct survey *survey = data;
    double difference_ns = 0;
    for (int second = 0; second < 2; second++) {
        survey->work.client_compares = (repetition & 1) != second;
        const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
        difference_ns += round->client_compared ? -read_ns(round) : read_ns(round);
    }
    return fmax(difference_ns, 0);
}

/* Measures the time of a miss and adds it to all curves of reads as their point of size 0, because a miss
 * has no item whose state could matter. */
static void note_misses(struct survey *survey)
{
    struct kvc_megakv_measurement *measurement = survey->measurement;
    struct kvc_megakv_measured_curve *const curves[] = {
        &measurement->read,         &measurement->read_checked,
        &measurement->read_marked,  &measurement->read_half_marked,
        &measurement->read_slowest, &measurement->read_half_missed};
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_cost_point where = place_of(survey, 0);
    survey->work.search = KVC_MEGAKV_TESTBENCH_NO_SEARCH;
    kvc_megakv_repeat(read_again, survey, 0, ns);
    for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
        kvc_megakv_measured_curve_add(curves[i], &where, ns);
    }
}

/* Reads items in a store in which one of survey->one_in reference bits is clear. The bits that the reads set
 * are cleared again before there are too many of them. */
static double read_marks_again(void *data, int repetition)
{
    struct survey *survey = data;
    const struct kvc_megakv_testbench *testbench = &survey->testbench;
    double reads_in_round = (double)survey->work.gets * testbench->params.pipelines;
    if (survey->marked + reads_in_round > overlooked_frac * (double)testbench->keys) {
        kvc_megakv_slab_forget_reads(testbench->store->shards[0].slab, survey->one_in);
        survey->marked = 0;
    }
    const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
    survey->marked += (double)round->send_rows * testbench->params.pipelines;
    return read_ns(round);
}

static void measure_marks(struct survey *survey, uint32_t one_in, struct kvc_megakv_measured_curve *curve)
{
    double ns[KVC_MEGAKV_REPETITIONS], keys = (double)survey->testbench.keys;
    uint32_t pipelines = survey->testbench.params.pipelines;
    survey->work = reads;
    survey->work.gets = (uint32_t)fmin(fmax(overlooked_frac * keys / pipelines, READS_MIN), ROWS);
    survey->one_in = one_in;
    survey->marked = INFINITY;
    int settling = (int)(warm_frac * keys / ((double)survey->work.gets * pipelines));
    measure(survey, read_marks_again, settling, curve, ns);
}

static enum kvc_status measure_senders(struct survey *survey, bool first_of_key, struct kvc_diag *diag)
{
    struct kvc_megakv_measurement *measurement = survey->measurement;
    double ns[KVC_MEGAKV_REPETITIONS];
    read_many(survey, fmin(2 * (double)survey->testbench.keys, WARM_UP_REQUESTS));
    enum kvc_status status = measure_reads(survey, diag);
    if (status != KVC_OK) {
        return status;
    }
    measure(survey, compare_again, 0, &measurement->compare, ns);
    survey->work = reads;
    survey->work.search = KVC_MEGAKV_TESTBENCH_HALF_ABSENT;
    measure(survey, read_again, 0, &measurement->read_half_missed, ns);
    if (first_of_key) {
        note_misses(survey);
    }
    measure_marks(survey, KVC_MEGAKV_SLAB_SURE_ITEMS, &measurement->read_checked);
    measure_marks(survey, 2, &measurement->read_half_marked);
    measure_marks(survey, 1, &measurement->read_marked);
    return KVC_OK;
}

/* ---- receivers ---- */

static double receive_again(void *data, int repetition)
{
    struct survey *survey = data;
    const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
    return round->receive_gets_s * 1e9 / round->gets_rows * survey->frame_requests;
}

/* Measures the time of a receiver for a frame of GETs. */
static void measure_receive(struct survey *survey, uint32_t frame_requests)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_cost_point where = place_of(survey, frame_requests);
    where.footprint_bytes = 0;
    survey->work = reads;
    survey->frame_requests = frame_requests;
    kvc_megakv_repeat(receive_again, survey, 0, ns);
    kvc_megakv_measured_curve_add(&survey->measurement->receive, &where, ns);
}

/* Returns what a SET costs beyond a GET [ns]. The receiver's time for the requests themselves and the time in
 * which the CLOCK hand passes items are subtracted. */
static double write_again(void *data, int repetition)
{
    struct survey *survey = data;
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    struct kvc_curve receive = kvc_megakv_cost_curve_by_size(&survey->measurement->receive.curve,
                                                             params->key_bytes, 0, params->pipelines, NULL);
    double request_ns = kvc_curve_at(&receive, survey->frame_requests) / survey->frame_requests;
    const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
    double passed = (double)round->passed / params->pipelines;
    double ns = round->receive_mix_s * 1e9 - round->mix_rows * request_ns - passed * survey->pass_ns;
    return fmax(ns / round->mix_sets, 0);
}

/* Uses up the slabs' free places with batches of `sets` SETs, so that from then on every SET evicts. Returns
 * the time in which the CLOCK hand passed an item if it passed most of them in one round [ns]; else 0. */
static double fill_up(struct survey *survey, uint32_t sets)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    const struct kvc_megakv_testbench_work work = {.sets = sets};
    struct kvc_megakv_testbench_round round;
    double item_bytes = kvc_megakv_slab_item_bytes(params->key_bytes, params->value_bytes), pass_ns = 0;
    double slabs = ceil((params->items_bytes + params->room_bytes) / KVC_MEGAKV_SLAB_BYTES);
    double places = slabs * KVC_MEGAKV_SLAB_BYTES / item_bytes;
    double wanted = places - (1 - free_frac_max) * (double)survey->testbench.keys;
    for (double done = 0; done < wanted; done += (double)sets * params->pipelines) {
        kvc_megakv_testbench_run(&survey->testbench, &work, &round);
        if (round.passed > survey->testbench.keys / 2) {
            pass_ns = round.receive_mix_s * 1e9 / (double)round.passed;
        }
    }
    return pass_ns;
}

/* Measures SETs that find free places, and then SETs that evict. */
static void measure_writes(struct survey *survey, uint32_t sets)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    survey->work = (struct kvc_megakv_testbench_work){.sets = sets};
    measure(survey, write_again, 0, &survey->measurement->write, ns);
    fill_up(survey, MANY_SETS);
    measure(survey, write_again, 0, &survey->measurement->evict, ns);
}

/* ---- scheduler ---- */

static double collect_again(void *data, int repetition)
{
    struct survey *survey = data;
    const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
    double jobs = 2.0 * survey->work.sets * survey->testbench.params.pipelines;
    return round->insert_jobs > 0 ? round->collect_s * 1e9 * jobs / round->insert_jobs : 0;
}

/* Measures the scheduler's time to collect the jobs of SETs that evict. */
static void measure_drain(struct survey *survey)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    uint32_t pipelines = survey->testbench.params.pipelines;
    for (uint32_t jobs = FEW_JOBS; jobs <= MANY_JOBS; jobs *= 4) {
        struct kvc_megakv_cost_point where = {.size = jobs, .threads = pipelines};
        survey->work = (struct kvc_megakv_testbench_work){.sets = (jobs / 2 + pipelines - 1) / pipelines};
        kvc_megakv_repeat(collect_again, survey, 0, ns);
        kvc_megakv_measured_curve_add(&survey->measurement->drain, &where, ns);
    }
}

/* ---- surveys ---- */

static enum kvc_status survey_frames(struct survey *survey, uint32_t key_bytes, uint32_t pipelines,
                                     struct kvc_diag *diag)
{
    const struct kvc_megakv_measurement_options *params = survey->params;
    enum kvc_status status = KVC_OK;
    for (int f = 0; status == KVC_OK && f < KVC_MEGAKV_FRAMES_MAX && params->frames[f] > 0; f++) {
        uint32_t value_bytes = params->shapes[0].value_bytes[0];
        status = open_testbench(survey, key_bytes, value_bytes, params->items_bytes[0], false,
                                params->frames[f], pipelines, diag);
        if (status == KVC_OK) {
            measure_receive(survey, params->frames[f]);
        }
        kvc_megakv_testbench_close(&survey->testbench);
    }
    return status;
}

/* Measures the collection of index jobs, and before that the first SET that finds no free place: it sends the
 * CLOCK hand around, past items that all count as read since they were stored. */
static enum kvc_status survey_full_store(struct survey *survey, uint32_t pipelines, struct kvc_diag *diag)
{
    const struct kvc_megakv_measurement_options *params = survey->params;
    double ns[KVC_MEGAKV_REPETITIONS],
        items_bytes = params->items_bytes[1] > 0 ? params->items_bytes[1] : params->items_bytes[0];
    enum kvc_status status =
        open_testbench(survey, params->shapes[0].key_bytes, params->shapes[0].value_bytes[0], items_bytes,
                       false, 0, pipelines, diag);
    double pass_ns = status == KVC_OK ? fill_up(survey, ROWS / 2) : 0;
    if (pipelines == 1) { /* There is only one such SET. */
        const struct kvc_megakv_cost_point where = {.size = 1, .footprint_bytes = items_bytes, .threads = 1};
        survey->pass_ns = pass_ns;
        for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
            ns[i] = pass_ns;
        }
        kvc_megakv_measured_curve_add(&survey->measurement->pass, &where, ns);
    }
    if (status == KVC_OK) {
        measure_drain(survey);
    }
    kvc_megakv_testbench_close(&survey->testbench);
    return status;
}

static enum kvc_status survey_items(struct survey *survey, uint32_t key_bytes, uint32_t value_bytes,
                                    bool first_of_key, double items_bytes, uint32_t pipelines,
                                    struct kvc_diag *diag)
{
    enum kvc_status status =
        open_testbench(survey, key_bytes, value_bytes, items_bytes, true, 0, pipelines, diag);
    uint32_t sets = survey->work.sets;
    if (status == KVC_OK) {
        status = measure_senders(survey, first_of_key, diag);
    }
    if (status == KVC_OK) {
        survey->frame_requests =
            kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_MIX, key_bytes, value_bytes);
        measure_writes(survey, sets);
    }
    kvc_megakv_testbench_close(&survey->testbench);
    return status;
}

/* Measures all values of one length of keys in stores of one size. */
static enum kvc_status survey_values(struct survey *survey, const struct kvc_megakv_shapes *shapes,
                                     double items_bytes, uint32_t pipelines, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (int v = 0; status == KVC_OK && v < KVC_MEGAKV_VALUES_MAX && shapes->value_bytes[v] > 0; v++) {
        status = survey_items(survey, shapes->key_bytes, shapes->value_bytes[v], v == 0, items_bytes,
                              pipelines, diag);
    }
    return status;
}

static uint32_t keys_of(const struct kvc_megakv_measurement_options *params)
{
    uint32_t keys = 0;
    while (keys < KVC_MEGAKV_COST_KEYS_MAX && params->shapes[keys].key_bytes > 0) {
        keys++;
    }
    return keys;
}

/* Measures everything with a number of pipelines. Items of other lengths of keys than the first are measured
 * with the most pipelines only, which saves minutes. */
static enum kvc_status survey_pipelines(struct survey *survey, uint32_t pipelines, double done_frac,
                                        struct kvc_steadiness *steadiness,
                                        const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_megakv_measurement_options *params = survey->params;
    uint32_t keys = keys_of(params), items = pipelines < survey->threads.most ? 1 : keys;
    enum kvc_status status = KVC_OK;
    for (uint32_t k = 0; status == KVC_OK && k < keys; k++) {
        status = survey_frames(survey, params->shapes[k].key_bytes, pipelines, diag);
    }
    if (status == KVC_OK) {
        status = survey_full_store(survey, pipelines, diag);
    }
    for (uint32_t k = 0; status == KVC_OK && k < items; k++) {
        kvc_progress_report(progress, "stages", done_frac + (double)k / items / survey->threads.count);
        for (int f = 0; status == KVC_OK && f < KVC_MEGAKV_FOOTPRINTS_MAX && params->items_bytes[f] > 0;
             f++) {
            status = survey_values(survey, &params->shapes[k], params->items_bytes[f], pipelines, diag);
            kvc_steadiness_check(steadiness);
        }
    }
    return status;
}

enum kvc_status kvc_megakv_measure_stages(const struct kvc_megakv_measurement_options *params,
                                          struct kvc_steadiness *steadiness,
                                          const struct kvc_progress *progress,
                                          struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    struct survey *survey = calloc(1, sizeof(*survey));
    if (survey == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a testbench");
    }
    *survey = (struct survey){.params = params,
                              .threads = threads_of(params->cores),
                              .pool = kvc_thread_pool_create(params->cores),
                              .measurement = measurement};
    enum kvc_status status = KVC_OK;
    if (survey->pool == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%u threads cannot be started", params->cores);
    }
    for (uint32_t t = 0; status == KVC_OK && t < survey->threads.count; t++) {
        status = survey_pipelines(survey, survey->threads.value[t], (double)t / survey->threads.count,
                                  steadiness, progress, diag);
    }
    kvc_thread_pool_free(survey->pool);
    free(survey);
    return status;
}
