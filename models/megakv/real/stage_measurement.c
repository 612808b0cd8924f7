#include "models/megakv/real/stage_measurement.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "models/megakv/costs.h"
#include "models/megakv/real/testbench.h"

enum {
    SETTLING_ROUNDS = 3,
    ROWS = 4096,                   /* GETs of a batch if its size does not matter. */
    WARM_UP_REQUESTS = 20000000,   /* Most reads that settle the caches. */
    READ_MOST_REQUESTS = 20000000, /* Most reads that set reference bits. */
    READS_MIN = 64,                /* Fewest GETs of a batch whose reads are timed. */
    SETS_MIN = 64,                 /* Fewest SETs of a batch whose writes are timed. */
    SEARCHES_MIN = 64,             /* Smallest launch of searches, in each stream. */
    INSERTS_MIN = 256,             /* Smallest launch of inserts and deletes. */
    INSERTS_MAX = 65536,           /* Largest launch of inserts and deletes. */
    SEARCHES_BESIDE = 1024, /* Searches that run before a measured launch of inserts, in each stream. */
    THREADS_MAX = 2,        /* Numbers of threads that are measured. */
};

/* Upper bound for the free places that storing all keys leaves in the slabs, as a fraction of the items. */
static const double free_frac_max = 0.02;

/* Fraction of a store's items that the SETs of one measurement evict. */
static const double evicted_frac = 0.05;

/* Fraction of a store's items whose reference bits reads may set before the share of set bits counts as
 * changed. */
static const double overlooked_frac = 0.05;

/* Reads, relative to the items, that bring the cleared reference bits back into the caches; a line holds 512
 * bits. */
static const double warm_frac = 4.0 / 512;

/* Items of a store with a high load factor, relative to one with the normal load factor. */
static const double high_load = KVC_MEGAKV_HIGH_LOAD_FRAC / KVC_MEGAKV_USUAL_LOAD_FRAC;

/* Time between two launches, as in Mega-KV's scheduler. */
static const double cycle_s = 300e-6;

/* Lengths of values whose items take from 1 to 32 cache lines [bytes]. */
static const uint32_t values[] = {8, 40, 104, 232, 488, 1000, 2024};
enum { VALUES = sizeof(values) / sizeof(*values) };

/* Requests of the measured frames; a full frame is measured in addition. */
static const uint32_t frames[] = {1, 8, 32};
enum { FRAMES = sizeof(frames) / sizeof(*frames) };

/* The numbers of pipelines that are measured: one alone, and as many as the machine has cores for. */
struct threads {
    uint32_t count, value[THREADS_MAX], most;
    bool shared_cores; /* There are too few cores to give every thread of a pipeline its own. */
};

static struct threads threads_of(uint32_t cores)
{
    uint32_t own = (cores - 1) / 2, most = own > 0 ? own : 1;
    struct threads threads = {.most =
                                  most < KVC_MEGAKV_REAL_PIPELINES_MAX ? most : KVC_MEGAKV_REAL_PIPELINES_MAX,
                              .shared_cores = own == 0};
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
    struct kvc_megakv_testbench testbench; /* Its slab_bytes are the footprint of items in the curves. */
    double pass_ns;                        /* Time in which the CLOCK hand passes an item [ns]. */
};

/* Opens a new store for each number of pipelines, because a store's resources (GPU streams, packets,
 * buffers) contribute to the costs of its stages. */
static enum kvc_status open_testbench(struct survey *survey, uint32_t value_bytes, double slab_bytes,
                                      uint32_t frame_requests, uint32_t pipelines, struct kvc_diag *diag)
{
    const struct kvc_megakv_testbench_options params = {
        .value_bytes = value_bytes,
        .slab_bytes = slab_bytes,
        .pipelines = pipelines,
        .on_gpu = survey->params->on_gpu,
        .shared_cores = survey->threads.shared_cores,
        .cores = survey->params->cores,
    };
    return kvc_megakv_testbench_open(&survey->testbench, &params, frame_requests, survey->pool, diag);
}

static const struct kvc_megakv_testbench_work reads = {.gets = ROWS, .search = KVC_MEGAKV_TESTBENCH_KEYS};

static void read_many(struct survey *survey, double requests)
{
    struct kvc_megakv_testbench_round round;
    for (double done = 0; done < requests; done += (double)ROWS * survey->testbench.params.pipelines) {
        kvc_megakv_testbench_run(&survey->testbench, &reads, &round);
    }
}

static enum kvc_status check_misses(uint64_t misses, uint64_t gets, struct kvc_diag *diag)
{
    return misses * 100 <= gets
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu of %llu items that were stored are not found",
                               (unsigned long long)misses, (unsigned long long)gets);
}

/* Returns the time of a sender for one GET [ns]. */
static double read_ns(const struct kvc_megakv_testbench_round *round)
{
    return round->send_s * 1e9 / round->send_rows;
}

/* Runs rounds of the same work, the first ones only to settle. */
static void run_rounds(struct survey *survey, const struct kvc_megakv_testbench_work *work,
                       struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS])
{
    for (int i = -SETTLING_ROUNDS; i < KVC_MEGAKV_REPETITIONS; i++) {
        kvc_megakv_testbench_run(&survey->testbench, work, &rounds[i < 0 ? 0 : i]);
    }
}

/* Measures the time of a receiver for a frame of GETs. */
static void measure_receive(struct survey *survey, uint32_t frame_requests)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS];
    run_rounds(survey, &reads, rounds);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] = rounds[i].receive_gets_s * 1e9 / rounds[i].gets_rows * frame_requests;
    }
    kvc_megakv_measured_curve_add(&survey->measurement->receive, frame_requests, 0,
                                  survey->testbench.params.pipelines, ns);
}

static double item_bytes(const struct survey *survey)
{
    return kvc_megakv_touched_bytes(KVC_MEGAKV_TESTBENCH_KEY_BYTES, survey->testbench.params.value_bytes);
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
    double ns[KVC_MEGAKV_REPETITIONS], slowest_ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS];
    uint32_t threads = survey->testbench.params.pipelines;
    uint64_t misses = 0;
    run_rounds(survey, &reads, rounds);
    uint32_t slowest = slowest_of(rounds, threads);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] = read_ns(&rounds[i]);
        slowest_ns[i] = rounds[i].each_send_s[slowest] * 1e9 / rounds[i].send_rows;
        misses += rounds[i].misses;
    }
    kvc_megakv_measured_curve_add(&survey->measurement->read, item_bytes(survey),
                                  survey->testbench.params.slab_bytes, threads, ns);
    kvc_megakv_measured_curve_add(&survey->measurement->read_slowest, item_bytes(survey),
                                  survey->testbench.params.slab_bytes, threads, slowest_ns);
    return check_misses(misses, (uint64_t)KVC_MEGAKV_REPETITIONS * ROWS * threads, diag);
}

/* Measures what a sender saves with each GET if the client compares the keys. A repetition is a round with
 * comparison and one without, whose order alternates. Noise can make the difference negative, the comparison
 * cannot. */
static void measure_comparison(struct survey *survey)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    for (int i = -SETTLING_ROUNDS; i < KVC_MEGAKV_REPETITIONS; i++) {
        double difference_ns = 0;
        for (int second = 0; second < 2; second++) {
            struct kvc_megakv_testbench_round round;
            struct kvc_megakv_testbench_work work = reads;
            work.client_compares = (i & 1) != second;
            kvc_megakv_testbench_run(&survey->testbench, &work, &round);
            difference_ns += round.client_compared ? -read_ns(&round) : read_ns(&round);
        }
        ns[i < 0 ? 0 : i] = fmax(difference_ns, 0);
    }
    kvc_megakv_measured_curve_add(&survey->measurement->compare, item_bytes(survey),
                                  survey->testbench.params.slab_bytes, survey->testbench.params.pipelines,
                                  ns);
}

/* Measures the time of a sender for a GET if all GETs, or a random half of them, are misses. */
static void measure_misses(struct survey *survey, enum kvc_megakv_testbench_search search,
                           double ns[KVC_MEGAKV_REPETITIONS])
{
    struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_work work = reads;
    work.search = search;
    run_rounds(survey, &work, rounds);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] = read_ns(&rounds[i]);
    }
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
    measure_misses(survey, KVC_MEGAKV_TESTBENCH_NO_SEARCH, ns);
    for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
        kvc_megakv_measured_curve_add(curves[i], 0, survey->testbench.params.slab_bytes,
                                      survey->testbench.params.pipelines, ns);
    }
}

/* Measures reads in a store in which one of `one_in` reference bits is clear. The bits that the reads set
 * are cleared again before there are too many of them. */
static void measure_marks(struct survey *survey, uint32_t one_in, struct kvc_megakv_measured_curve *curve)
{
    double ns[KVC_MEGAKV_REPETITIONS], read = INFINITY, keys = (double)survey->testbench.keys;
    struct kvc_megakv_testbench_round round;
    struct kvc_megakv_testbench_work work = reads;
    work.gets =
        (uint32_t)fmin(fmax(overlooked_frac * keys / survey->testbench.params.pipelines, READS_MIN), ROWS);
    double reads_in_round = (double)work.gets * survey->testbench.params.pipelines;
    int settling = SETTLING_ROUNDS + (int)(warm_frac * keys / reads_in_round);
    for (int i = -settling; i < KVC_MEGAKV_REPETITIONS; i++) {
        if (read + reads_in_round > overlooked_frac * keys) {
            kvc_megakv_slab_forget_reads(survey->testbench.store->shards[0].slab, one_in);
            read = 0;
        }
        kvc_megakv_testbench_run(&survey->testbench, &work, &round);
        read += (double)round.send_rows * survey->testbench.params.pipelines;
        ns[i < 0 ? 0 : i] = read_ns(&round);
    }
    kvc_megakv_measured_curve_add(curve, item_bytes(survey), survey->testbench.params.slab_bytes,
                                  survey->testbench.params.pipelines, ns);
}

/* Returns the number of SETs of a batch: few enough that the store hardly changes, and enough to be timed. */
static uint32_t sets_of(const struct survey *survey)
{
    double some = evicted_frac * (double)survey->testbench.keys / (KVC_MEGAKV_REPETITIONS + SETTLING_ROUNDS) /
                  survey->testbench.params.pipelines;
    return (uint32_t)fmin(fmax(some, SETS_MIN), ROWS / 2.0);
}

/* Uses up the slabs' last free places, so that from then on every SET evicts. Returns the time in which the
 * CLOCK hand passed an item if it passed most of them in one round [ns]; else 0. */
static double fill_up(struct survey *survey)
{
    struct kvc_megakv_testbench_round round;
    const struct kvc_megakv_testbench_work work = {.sets = ROWS / 2};
    double sets = free_frac_max * (double)survey->testbench.keys, pass_ns = 0;
    for (double done = 0; done < sets; done += (double)work.sets * survey->testbench.params.pipelines) {
        kvc_megakv_testbench_run(&survey->testbench, &work, &round);
        if (round.passed > survey->testbench.keys / 2) {
            pass_ns = round.receive_mix_s * 1e9 / (double)round.passed;
        }
    }
    return pass_ns;
}

/* Measures SETs in a store in operation, in which most items have been read. The receiver's time for the
 * requests themselves and the time in which the CLOCK hand passes items are subtracted. */
static void measure_writes(struct survey *survey)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS];
    uint32_t threads = survey->testbench.params.pipelines;
    uint32_t frame_requests =
        kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_MIX, survey->testbench.params.value_bytes);
    struct kvc_curve receive =
        kvc_megakv_cost_curve_by_size(&survey->measurement->receive.curve, threads, NULL);
    double request_ns = kvc_curve_at(&receive, frame_requests) / frame_requests;
    struct kvc_megakv_testbench_work work = reads;
    work.sets = sets_of(survey);
    fill_up(survey);
    read_many(survey, fmin(2 * (double)survey->testbench.keys, READ_MOST_REQUESTS));
    run_rounds(survey, &work, rounds);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        double passed = (double)rounds[i].passed / threads;
        ns[i] = rounds[i].receive_mix_s * 1e9 - rounds[i].mix_rows * request_ns - passed * survey->pass_ns;
        ns[i] = fmax(ns[i] / rounds[i].mix_sets, 0);
    }
    kvc_megakv_measured_curve_add(&survey->measurement->write, item_bytes(survey),
                                  survey->testbench.params.slab_bytes, threads, ns);
}

/* Measures launches of searches of all sizes. */
static void measure_searches(struct survey *survey, enum kvc_megakv_testbench_search search,
                             struct kvc_megakv_measured_curve *curve)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS];
    uint32_t streams = survey->params->on_gpu ? survey->testbench.params.pipelines : 1;
    survey->testbench.period_s = cycle_s;
    for (uint32_t jobs = SEARCHES_MIN; jobs <= KVC_MEGAKV_ROWS_MAX; jobs *= 4) {
        const struct kvc_megakv_testbench_work work = {
            .gets = jobs * streams / survey->testbench.params.pipelines, .search = search};
        run_rounds(survey, &work, rounds);
        for (int i = 0; i < KVC_MEGAKV_REPETITIONS;
             i++) { /* Frames are whole, so the jobs are not exactly `jobs`. */
            ns[i] = rounds[i].search_s * 1e9 * jobs * streams / rounds[i].search_jobs;
        }
        kvc_megakv_measured_curve_add(curve, jobs, survey->testbench.index_bytes,
                                      survey->testbench.params.pipelines, ns);
    }
    survey->testbench.period_s = 0;
}

/* Measures launches of inserts and deletes, which always follow a launch of searches, and the scheduler's
 * time to collect their jobs. `collect` may be NULL. */
static void measure_inserts(struct survey *survey, struct kvc_megakv_measured_curve *curve,
                            struct kvc_megakv_measured_curve *collect)
{
    double launch_ns[KVC_MEGAKV_REPETITIONS], collect_ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS];
    uint32_t threads = survey->testbench.params.pipelines;
    survey->testbench.period_s = cycle_s;
    for (uint32_t jobs = INSERTS_MIN; jobs <= INSERTS_MAX; jobs *= 4) {
        const struct kvc_megakv_testbench_work work = {.gets = SEARCHES_BESIDE,
                                                       .search = KVC_MEGAKV_TESTBENCH_KEYS,
                                                       .sets = (jobs / 2 + threads - 1) / threads};
        run_rounds(survey, &work, rounds);
        for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
            launch_ns[i] = rounds[i].insert_s * 1e9 * jobs / rounds[i].insert_jobs;
            collect_ns[i] = rounds[i].collect_s * 1e9 * jobs / rounds[i].insert_jobs;
        }
        kvc_megakv_measured_curve_add(curve, jobs, survey->testbench.index_bytes, threads, launch_ns);
        if (collect != NULL) {
            kvc_megakv_measured_curve_add(collect, jobs, survey->testbench.index_bytes, threads, collect_ns);
        }
    }
    survey->testbench.period_s = 0;
}

static enum kvc_status survey_frames(struct survey *survey, uint32_t pipelines, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t f = 0; status == KVC_OK && f <= FRAMES; f++) {
        uint32_t requests = f < FRAMES
                                ? frames[f]
                                : kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_GETS, values[0]);
        status = open_testbench(survey, values[0], survey->params->slab_bytes[0], requests, pipelines, diag);
        if (status == KVC_OK) {
            measure_receive(survey, requests);
        }
        kvc_megakv_testbench_close(&survey->testbench);
    }
    return status;
}

/* Measures the first SET that finds no free place: it sends the CLOCK hand around, past items that all
 * count as read since they were stored. */
static enum kvc_status survey_pass(struct survey *survey, struct kvc_diag *diag)
{
    double ns[KVC_MEGAKV_REPETITIONS],
        slab_bytes = survey->params->slab_bytes[survey->params->footprints - 1];
    enum kvc_status status = open_testbench(survey, values[0], slab_bytes, 0, 1, diag);
    survey->pass_ns = status == KVC_OK ? fill_up(survey) : 0;
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) { /* There is only one such SET. */
        ns[i] = survey->pass_ns;
    }
    kvc_megakv_measured_curve_add(&survey->measurement->pass, 1, slab_bytes, 1, ns);
    kvc_megakv_testbench_close(&survey->testbench);
    return status;
}

static enum kvc_status survey_items(struct survey *survey, uint32_t value_bytes, double slab_bytes,
                                    uint32_t pipelines, struct kvc_diag *diag)
{
    bool smallest = value_bytes == values[0];
    enum kvc_status status = open_testbench(survey, value_bytes, slab_bytes, 0, pipelines, diag);
    if (status == KVC_OK) {
        read_many(survey, fmin(2 * (double)survey->testbench.keys, WARM_UP_REQUESTS));
        status = measure_reads(survey, diag);
    }
    if (status == KVC_OK) {
        measure_comparison(survey);
        double ns[KVC_MEGAKV_REPETITIONS];
        measure_misses(survey, KVC_MEGAKV_TESTBENCH_HALF_ABSENT, ns);
        kvc_megakv_measured_curve_add(&survey->measurement->read_half_missed, item_bytes(survey), slab_bytes,
                                      pipelines, ns);
    }
    if (status == KVC_OK && smallest) {
        note_misses(survey);
        measure_searches(survey, KVC_MEGAKV_TESTBENCH_KEYS, &survey->measurement->search);
        measure_searches(survey, KVC_MEGAKV_TESTBENCH_ABSENT_KEYS, &survey->measurement->search_miss);
    }
    if (status == KVC_OK) {
        measure_marks(survey, KVC_MEGAKV_SLAB_SURE_ITEMS, &survey->measurement->read_checked);
        measure_marks(survey, 2, &survey->measurement->read_half_marked);
        measure_marks(survey, 1, &survey->measurement->read_marked);
        measure_writes(survey);
    }
    if (status == KVC_OK && smallest) {
        measure_inserts(survey, &survey->measurement->insert, &survey->measurement->drain);
    }
    kvc_megakv_testbench_close(&survey->testbench);
    return status;
}

/* Measures stores with half as many items again, which raise the load factor of an index of the same size
 * by half. */
static enum kvc_status survey_high_load(struct survey *survey, double slab_bytes, struct kvc_diag *diag)
{
    enum kvc_status status =
        open_testbench(survey, values[0], high_load * slab_bytes, 0, survey->threads.most, diag);
    if (status == KVC_OK) {
        read_many(survey, fmin(2 * (double)survey->testbench.keys, WARM_UP_REQUESTS));
        measure_searches(survey, KVC_MEGAKV_TESTBENCH_KEYS, &survey->measurement->search_high_load);
        fill_up(survey);
        measure_inserts(survey, &survey->measurement->insert_high_load, NULL);
    }
    kvc_megakv_testbench_close(&survey->testbench);
    return status;
}

/* Measures everything once. */
static enum kvc_status survey_all(struct survey *survey, uint32_t pass, struct kvc_steadiness *steadiness,
                                  const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_megakv_measurement_options *params = survey->params;
    const struct threads *threads = &survey->threads;
    uint32_t testbenches = params->footprints * VALUES * threads->count, done = pass * testbenches;
    enum kvc_status status = KVC_OK;
    for (uint32_t t = 0; status == KVC_OK && t < threads->count; t++) {
        status = survey_frames(survey, threads->value[t], diag);
    }
    if (status == KVC_OK) {
        status = survey_pass(survey, diag);
    }
    for (uint32_t f = 0; status == KVC_OK && f < params->footprints; f++) {
        for (uint32_t v = 0; status == KVC_OK && v < VALUES * threads->count; v++) {
            kvc_progress_report(progress, "stages", (double)done++ / testbenches / params->passes);
            status = survey_items(survey, values[v / threads->count], params->slab_bytes[f],
                                  threads->value[v % threads->count], diag);
            kvc_steadiness_check(steadiness);
        }
        if (status == KVC_OK) {
            status = survey_high_load(survey, params->slab_bytes[f], diag);
        }
    }
    return status;
}

#define CURVE(field)                                                                                         \
    {                                                                                                        \
#field, offsetof(struct kvc_megakv_measurement, field)                                               \
    }
/* clang-format off */
const struct kvc_megakv_named_curve kvc_megakv_named_curves[KVC_MEGAKV_MEASURED_CURVES] = {
    CURVE(receive), CURVE(write), CURVE(pass),
    CURVE(read), CURVE(read_checked), CURVE(read_half_marked), CURVE(read_marked), CURVE(read_half_missed),
    CURVE(read_slowest), CURVE(compare),
    CURVE(search), CURVE(search_miss), CURVE(drain), CURVE(search_high_load),
    CURVE(insert), CURVE(insert_high_load),
};
/* clang-format on */

const struct kvc_megakv_measured_curve *kvc_megakv_curve_of(const struct kvc_megakv_measurement *measurement,
                                                            const struct kvc_megakv_named_curve *named)
{
    return (const struct kvc_megakv_measured_curve *)((const char *)measurement + named->offset);
}

/* Fits the curves that the values of cpu, dram and gpu come from, and that the summary shows. */
static enum kvc_status fit_curves(struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    struct kvc_megakv_measured_curve *const curves[] = {&measurement->search, &measurement->receive,
                                                        &measurement->write, &measurement->read,
                                                        &measurement->insert};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; status == KVC_OK && i < sizeof(curves) / sizeof(*curves); i++) {
        status = kvc_megakv_measured_curve_fit(curves[i], curves[i] == &measurement->search, diag);
    }
    return status;
}

enum kvc_status kvc_megakv_measure_stages(const struct kvc_megakv_measurement_options *params,
                                          struct kvc_steadiness *steadiness,
                                          const struct kvc_progress *progress,
                                          struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    *measurement = (struct kvc_megakv_measurement){0};
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
    for (uint32_t pass = 0; status == KVC_OK && pass < params->passes; pass++) {
        status = survey_all(survey, pass, steadiness, progress, diag);
    }
    kvc_thread_pool_free(survey->pool);
    free(survey);
    return status == KVC_OK ? fit_curves(measurement, diag) : status;
}
